"""Devices and settings turned into what the screen shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.engine.view import table as view
from app.engine.view.setting import settings_table
from app.tui.screens.devices.rows import (
    TreeLine,
    confirmation,
    filtered,
    next_value,
    nodes,
    setting_rows,
)
from backends.change import Change, Write
from backends.identity import Identity, Use
from backends.model import Array, Controller, Drive, Inventory, Level, Scope, State, Target
from backends.nameplate import nameplate
from backends.settings import Availability, Choice, Reading, Risk, Setting, Span
from widgets.confirm import Confirmation
from widgets.table_layout import TableRow, plain

CONTROLLER = Target(backend="mega", address="/c0", scope=Scope.CONTROLLER)
SCHEDULER = Setting(key="scheduler", label="Scheduler", help="Order of requests.")
CHOICES = (
    Choice(value="wt", label="write-through"),
    Choice(value="wb", label="write-back", risk=Risk.POWER_LOSS),
    Choice(value="no", label="none"),
)


def array(name: str, state: State = State.OPTIMAL) -> Array:
    target = Target(backend="mega", address=name, scope=Scope.ARRAY)
    return Array(target=target, controller=CONTROLLER, name=name, state=state)


def drive(
    name: str, state: State = State.ONLINE, *, of: Array | None = None, free: bool = False, **more: object
) -> Drive:
    return Drive(
        target=Target(backend="mega", address=name),
        controller=None if free else CONTROLLER,
        array=None if of is None else of.target,
        state=state,
        **more,  # type: ignore[arg-type]
    )


def keys(tree: tuple[TreeLine, ...]) -> list[str]:
    return [key for node in tree for key in (node.key, *keys(node.children))]


def rack() -> Inventory:
    good, bad = array("good"), array("bad", State.DEGRADED)
    return Inventory(
        controllers=(Controller(target=CONTROLLER, vendor="mega", model="LSI 9361"),),
        arrays=(good, bad),
        drives=(
            drive("d0", of=good),
            drive("d1", of=bad),
            drive("d2", State.FAILED, of=bad),
            drive("spare", State.SPARE),
            drive("sda", free=True),
        ),
    )


def test_what_needs_attention_comes_first_in_its_group() -> None:
    assert keys(nodes(rack())) == [
        "mega:/c0",
        "mega:bad",
        "mega:d2",
        "mega:d1",
        "mega:good",
        "mega:d0",
        "mega:spare",
        "mega:sda",
    ]


def test_a_degraded_array_says_so_in_words() -> None:
    assert "degraded" in nodes(rack())[0].children[0].label


@pytest.mark.parametrize(
    ("name", "label"), [("host:data", "+ md0 raid5 64 MiB host:data"), (None, "+ md0 raid5 64 MiB")]
)
def test_an_array_of_the_kernel_goes_by_the_kernels_name(name: str | None, label: str) -> None:
    md0 = Array(
        target=Target(backend="md", address="md0", scope=Scope.ARRAY),
        name=name,
        device="/dev/md0",
        level=Level.RAID5,
        state=State.OPTIMAL,
        size_bytes=64 << 20,
    )
    assert nodes(Inventory(arrays=(md0,)))[0].label == label


def test_an_array_of_a_controller_goes_by_its_own_name() -> None:
    assert nodes(rack())[0].children[1].label.startswith("+ good")


def test_every_drive_stands_in_the_tree_once() -> None:
    shown = keys(nodes(rack()))
    assert len(set(shown)) == len(shown)


def test_a_filter_keeps_the_branch_that_leads_to_a_match() -> None:
    assert keys(filtered(nodes(rack()), "d2")) == ["mega:/c0", "mega:bad", "mega:d2"]


def test_a_branch_that_matches_keeps_all_below_it() -> None:
    assert keys(filtered(nodes(rack()), "good")) == ["mega:/c0", "mega:good", "mega:d0"]


def test_a_filter_wants_every_word() -> None:
    assert filtered(nodes(rack()), "bad sda") == ()


def test_an_empty_filter_shows_everything() -> None:
    assert filtered(nodes(rack()), "  ") == nodes(rack())


def test_a_drive_in_use_carries_the_use_in_the_tree() -> None:
    used = drive("sda", free=True, uses=(Use(kind="mount", detail="mounted on /srv"),))
    assert "[mount]" in nodes(Inventory(drives=(used,)))[0].label


@pytest.mark.parametrize(
    ("current", "step", "then"),
    [("wt", 1, "wb"), ("no", 1, "wt"), ("wt", -1, "no"), ("gone", 1, "wt"), ("gone", -1, "no"), (None, 1, "wt")],
)
def test_choices_are_cycled_round_the_end(current: str | None, step: int, then: str) -> None:
    assert next_value(Reading(now="wt", choices=CHOICES), current, step) == then


@pytest.mark.parametrize(
    ("current", "step", "then"),
    [("3", 1, "4"), ("8", 1, "8"), ("0", -1, "0"), ("0", 1, "1"), ("x", 1, "0"), (None, -1, "0")],
)
def test_a_small_span_is_walked_step_by_step_and_ends(current: str | None, step: int, then: str) -> None:
    assert next_value(Reading(now="3", span=Span(minimum=0, maximum=8)), current, step) == then


@pytest.mark.parametrize(
    ("current", "step", "then"),
    [("128", 1, "256"), ("128", -1, "64"), ("4096", 1, "4096"), ("0", 1, "4"), ("6", 1, "12"), ("4", -1, "0")],
)
def test_a_wide_span_is_walked_in_doublings_on_the_grid(current: str, step: int, then: str) -> None:
    assert next_value(Reading(now="128", span=Span(minimum=0, maximum=4096, step=4)), current, step) == then


def test_what_has_no_legal_values_is_not_cycled() -> None:
    assert next_value(Reading(now="x"), "x", 1) is None


def row(reading: Reading, staged: str | None = None, outcome: str | None = None) -> TableRow:
    values = {} if staged is None else {SCHEDULER.key: staged}
    outcomes = {} if outcome is None else {SCHEDULER.key: view.Cell(outcome)}
    table = settings_table((SCHEDULER,), {SCHEDULER.key: reading}, Scope.DRIVE, staged=values, outcomes=outcomes)
    return setting_rows(table)[0]


def cells(of: TableRow) -> list[str]:
    return [plain(cell) for cell in of.cells]


def test_a_setting_shows_the_worst_that_any_of_its_values_risks() -> None:
    assert cells(row(Reading(now="wt", choices=CHOICES)))[-1] == "power loss"


def test_a_staged_value_shows_its_own_risk() -> None:
    assert cells(row(Reading(now="wb", choices=CHOICES), staged="wt"))[-1] == "-"


def test_what_became_of_a_staged_value_stands_in_its_place() -> None:
    assert cells(row(Reading(now="wt", choices=CHOICES), staged="wb", outcome="failed"))[2] == "failed"


def test_an_outcome_stands_where_the_staged_value_was() -> None:
    assert cells(row(Reading(now="wt", choices=CHOICES), outcome="verified"))[2] == "verified"


def test_a_setting_that_cannot_be_changed_is_dim() -> None:
    assert row(Reading(now="wt", availability=Availability(why_not="needs root"))).dim


def test_a_long_present_value_leaves_room_for_what_is_staged() -> None:
    table = settings_table((SCHEDULER,), {SCHEDULER.key: Reading(now="x" * 50)}, Scope.DRIVE)
    assert cells(setting_rows(table, now_width=8)[0])[1] == "x" * 7 + "…"


def change(risk: Risk = Risk.NONE, *, target: str = "sda", undo: bool = True) -> Change:
    return Change(
        target=Target(backend="block", address=target),
        key="scheduler",
        label="Scheduler",
        before="none",
        after="bfq",
        writes=(Write(path="/sys/block/sda/queue/scheduler", text="bfq"),),
        undo=(Write(path="/sys/block/sda/queue/scheduler", text="none"),) if undo else (),
        risk=risk,
    )


def asked(changes: tuple[Change, ...], trial_label: str = "") -> Confirmation:
    disk = Identity(name="sda", serial="AB12345678", model="ACME X1", size_bytes=1 << 40)
    plates = {one.target: nameplate(disk, name=str(one.target)) for one in changes}
    return confirmation(changes, plates, trial_label=trial_label)


@pytest.mark.parametrize(
    ("risk", "tier"),
    [
        (Risk.NONE, "harmless"),
        (Risk.PERFORMANCE, "harmless"),
        (Risk.POWER_LOSS, "risky"),
        (Risk.OUTAGE, "risky"),
        (Risk.DESTROYS_DATA, "destructive"),
    ],
)
def test_the_risk_decides_how_it_is_asked(risk: Risk, tier: str) -> None:
    assert asked((change(risk),)).tier == tier


def test_the_worst_of_several_decides() -> None:
    assert asked((change(), change(Risk.DESTROYS_DATA), change(Risk.OUTAGE))).tier == "destructive"


def test_what_destroys_data_wants_the_word_of_the_device_typed() -> None:
    assert asked((change(Risk.DESTROYS_DATA),)).required == "345678"


@pytest.mark.parametrize("risk", [Risk.POWER_LOSS, Risk.DESTROYS_DATA])
def test_what_is_dangerous_names_model_serial_and_size(risk: Risk) -> None:
    assert asked((change(risk),)).devices == ("block:sda is ACME X1, serial number AB12345678, 1 TiB.",)


def test_what_is_harmless_does_not() -> None:
    assert asked((change(),)).devices == ()


def test_the_dialog_shows_the_very_line_a_shell_would_take() -> None:
    assert asked((change(),)).commands == ("echo bfq > /sys/block/sda/queue/scheduler",)


def test_the_dialog_says_what_undoes_it() -> None:
    assert asked((change(),)).changes[0].undo == "echo none > /sys/block/sda/queue/scheduler"


def test_the_dialog_says_what_else_may_change() -> None:
    moving = replace(change(), moves=("nr_requests", "wbt_lat_usec"))
    assert asked((moving,)).summary == "Scheduler may also change nr_requests, wbt_lat_usec."


def test_the_dialog_says_what_cannot_be_taken_back() -> None:
    assert asked((change(undo=False),)).changes[0].undo == "cannot be taken back"


def test_no_trial_is_offered_for_what_cannot_be_taken_back() -> None:
    assert asked((change(), change(undo=False)), trial_label="Trial").trial_label == ""


def test_changes_of_several_devices_name_them() -> None:
    shown = asked((change(), change(target="sdb"))).changes
    assert [one.setting for one in shown] == ["block:sda Scheduler", "block:sdb Scheduler"]
