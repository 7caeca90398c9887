"""Devices and settings turned into what the screen shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation import table as view
from app.core.presentation.device_table import WHOLE, DeviceListOptions, devices_table, matching_keys, search_texts
from app.core.presentation.risk_text import outcome_cell
from app.core.presentation.setting import TuningCells, settings_table
from app.tui import render
from app.tui.devices.device_list import SETTING_COLUMNS, next_value
from app.tui.devices.settings_panel import hosted_rows, settings_columns
from app.tui.devices.staged_changes import confirmation
from backends.change import Change, ChangeStep
from backends.device_label import device_label
from backends.identity import Identity, Use
from backends.model import Array, Controller, Drive, Inventory, Level, Problem, Scope, State, Target
from backends.settings import Availability, Choice, Reading, Risk, Setting, Span
from widgets.confirm import Confirmation
from widgets.table_layout import TableLayout, TableRow, plain

RISK = SETTING_COLUMNS.index("risk")
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


def keys(listing: DeviceListOptions = DeviceListOptions(), of: Inventory | None = None) -> list[str]:  # noqa: B008
    return [row.key for row in devices_table(of or rack(), listing).rows]


def cell(key: str, of: Inventory, listing: DeviceListOptions = WHOLE) -> str:
    """What a column says of the first row."""
    return view.text_of(devices_table(of, listing).only(key).rows[0].cells[0])


def found(words: str, of: Inventory | None = None, **listing: object) -> DeviceListOptions:
    """A list of what a filter wants."""
    return DeviceListOptions(matching=matching_keys(search_texts(of or rack(), {}), words), **listing)  # type: ignore[arg-type]


def test_arrays_that_are_well_are_closed_and_one_in_trouble_shows_what_is_bad() -> None:
    assert keys() == ["mega:/c0", "mega:bad", "mega:d2", "mega:bad/others", "mega:good", "mega:spare", "mega:sda"]


def test_the_members_of_a_closed_array_are_told_in_words() -> None:
    good = array("good")
    three = tuple(drive(f"d{number}", of=good, model="ACME 1") for number in range(3))
    assert cell("model", Inventory(arrays=(good,), drives=three)) == "3 x ACME 1, all online"


def test_members_that_are_not_well_are_counted_in_words() -> None:
    bad = array("bad", State.DEGRADED)
    members = (drive("d0", of=bad, model="ACME 1"), drive("d1", State.FAILED, of=bad, model="ACME 2"))
    assert cell("model", Inventory(arrays=(bad,), drives=members)) == "1 x ACME 1, 1 x ACME 2, 1 failed, 1 online"


def test_one_row_stands_for_the_members_that_are_well() -> None:
    row = devices_table(rack(), DeviceListOptions()).only("name", "state").rows[3]
    assert [view.text_of(one) for one in row.cells] == ["1 other", "online"]


def test_an_opened_array_shows_every_member() -> None:
    assert keys(DeviceListOptions(opened=frozenset({"mega:good", "mega:bad"}))) == keys(WHOLE)


def test_a_closed_controller_hides_what_is_behind_it() -> None:
    assert keys(DeviceListOptions(closed=frozenset({"mega:/c0"}))) == ["mega:/c0", "mega:sda"]


def test_a_degraded_array_says_so_in_words() -> None:
    assert cell("state", Inventory(arrays=(array("bad", State.DEGRADED),))) == "degraded"


@pytest.mark.parametrize("name", ["host:data", None])
def test_an_array_of_the_kernel_goes_by_the_kernels_name(name: str | None) -> None:
    md0 = Array(
        target=Target(backend="md", address="md0", scope=Scope.ARRAY), name=name, device="/dev/md0", level=Level.RAID5
    )
    assert cell("name", Inventory(arrays=(md0,))) == "md0"


def test_an_array_of_a_controller_goes_by_its_own_name() -> None:
    assert cell("name", Inventory(arrays=(replace(array("/c0/v1"), name="ssd"),))) == "ssd"


def test_a_drive_behind_a_controller_is_named_by_its_place() -> None:
    assert cell("name", Inventory(drives=(drive("/c0/e245/s10"),))) == "e245:s10"


def test_every_thing_stands_in_the_list_once() -> None:
    assert len(set(keys(WHOLE))) == len(keys(WHOLE))


def test_a_filter_keeps_the_branch_that_leads_to_a_match() -> None:
    assert keys(found("mega:d0")) == ["mega:/c0", "mega:good", "mega:d0"]


def test_a_branch_that_matches_keeps_all_below_it() -> None:
    assert keys(found("mega:bad", opened=frozenset({"mega:bad"}))) == ["mega:/c0", "mega:bad", "mega:d1", "mega:d2"]


def test_a_filter_wants_every_word() -> None:
    assert keys(found("bad sda")) == []


@pytest.mark.parametrize("words", ["btyf123", "/dev/sdf", "naa.5000", "ACME", "fw7"])
def test_a_filter_looks_at_every_fact(words: str) -> None:
    known = drive("x9", free=True, serial="BTYF1234", device="/dev/sdf", wwn="naa.5000c5", model="ACME", firmware="FW7")
    machine = Inventory(drives=(known, drive("y", free=True)))
    assert keys(found(words, machine), machine) == ["mega:x9"]


def test_a_filter_looks_at_how_a_device_is_tuned() -> None:
    volume = array("v0")
    texts = search_texts(Inventory(arrays=(volume,)), {volume.target: TuningCells(read_ahead=view.Cell("adaptive"))})
    assert matching_keys(texts, "adaptive") == {"mega:v0"}


def test_where_a_disk_is_mounted_stands_in_its_row() -> None:
    used = drive("sda", free=True, uses=(Use(kind="mount", detail="mounted on /srv"),))
    assert cell("use", Inventory(drives=(used,))) == "/srv"


def test_what_could_not_be_looked_at_has_a_row_of_its_own() -> None:
    broken = Inventory(problems=(Problem(where="acme", message="acme stopped."),))
    assert devices_table(broken).rows[0].banner == (
        view.Cell("acme: acme stopped.", view.Tone.BAD, view.StatusSymbol.FAILED),
    )


def test_a_problem_of_a_card_that_is_in_the_list_has_none() -> None:
    said = replace(rack(), problems=(Problem(where="mega:/c0", message="It wants a look."),))
    assert keys(of=said) == keys()


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
    return render.rows(table.only(*SETTING_COLUMNS))[0]


def cells(of: TableRow) -> list[str]:
    return [plain(cell) for cell in of.cells]


def test_a_setting_shows_the_worst_that_any_of_its_values_risks() -> None:
    assert cells(row(Reading(now="wt", choices=CHOICES)))[RISK] == "power loss"


def test_a_staged_value_shows_its_own_risk() -> None:
    assert cells(row(Reading(now="wb", choices=CHOICES), staged="wt"))[RISK] == "-"


def test_what_became_of_a_staged_value_stands_in_its_place() -> None:
    assert cells(row(Reading(now="wt", choices=CHOICES), staged="wb", outcome="failed"))[2] == "failed"


def test_an_outcome_stands_where_the_staged_value_was() -> None:
    assert cells(row(Reading(now="wt", choices=CHOICES), outcome="verified"))[2] == "verified"


def test_a_setting_that_cannot_be_changed_is_dim() -> None:
    assert row(Reading(now="wt", availability=Availability(why_not="needs root"))).dim


def test_risk_and_staged_value_are_whole_beside_a_long_present_value() -> None:
    table = settings_table((SCHEDULER,), {SCHEDULER.key: Reading(now="x" * 50, choices=CHOICES)}, Scope.DRIVE)
    layout = TableLayout(settings_columns(effect=True))
    layout.measure(render.rows(table.only(*SETTING_COLUMNS)))
    placed = {one.column.key: one.width for one in layout.place(74)}
    assert (placed["risk"], placed["staged"]) == (len("power loss"), 13)


@pytest.mark.parametrize(
    ("width", "outcomes", "shown"),
    [(46, {}, "→ bfq"), (46, {"scheduler": outcome_cell("verified")}, "● none"), (56, {}, "none")],
)
def test_a_staged_value_moves_no_column_and_is_beside_the_present_one_where_it_has_no_column(
    width: int, outcomes: dict[str, view.Cell], shown: str
) -> None:
    keys = ("setting", "now", "staged", "risk")
    settings = (replace(SCHEDULER, label="x" * 20),)
    table = settings_table(
        settings, {SCHEDULER.key: Reading(now="none")}, Scope.DRIVE, staged={SCHEDULER.key: "bfq"}, outcomes=outcomes
    )
    layout = TableLayout(settings_columns())
    layout.measure([TableRow(key="", cells=("x" * 20, "x" * 16))])
    (row,) = hosted_rows(render.rows(table.only(*keys)), keys, outcomes)
    now = next(column for column in layout.place(width) if column.column.key == "now")
    assert plain(now.cell_of(row)) == shown


def change(risk: Risk = Risk.NONE, *, target: str = "sda", undo: bool = True) -> Change:
    return Change(
        target=Target(backend="block", address=target),
        key="scheduler",
        label="Scheduler",
        before="none",
        after="bfq",
        writes=(ChangeStep(path="/sys/block/sda/queue/scheduler", text="bfq"),),
        undo=(ChangeStep(path="/sys/block/sda/queue/scheduler", text="none"),) if undo else (),
        risk=risk,
    )


def asked(changes: tuple[Change, ...], trial_label: str = "") -> Confirmation:
    disk = Identity(name="sda", serial="AB12345678", model="ACME X1", size_bytes=1 << 40)
    plates = {one.target: device_label(disk, name=str(one.target)) for one in changes}
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
    assert asked((moving,)).summary == "Changing Scheduler may also change: queue size, writeback throttling."


def test_the_dialog_says_what_cannot_be_taken_back() -> None:
    assert asked((change(undo=False),)).changes[0].undo == "cannot be undone"


def test_no_trial_is_offered_for_what_cannot_be_taken_back() -> None:
    assert asked((change(), change(undo=False)), trial_label="Trial").trial_label == ""


def test_changes_of_several_devices_name_them() -> None:
    shown = asked((change(), change(target="sdb"))).changes
    assert [one.setting for one in shown] == ["Scheduler of block:sda", "Scheduler of block:sdb"]


VITAL = ("name", "size", "level", "state", "write-cache", "read-ahead", "strip")
"""What it is, whether it is well, how it is tuned."""


def placed(width: int, name: str = "vmstore") -> dict[str, int]:
    """Columns of the list with their widths, of one array that is called so."""
    one = replace(array(name, State.REBUILDING), size_bytes=443 << 30, level=Level.RAID5, device="/dev/sdd")
    cache, ahead, strip = map(view.Cell, ("back ▲through", "adaptive", "256K"))
    tuning = TuningCells(write_cache=cache, read_ahead=ahead, strip=strip)
    table = devices_table(Inventory(arrays=(one,)), WHOLE, {one.target: tuning})
    layout = TableLayout(render.columns(table))
    layout.measure(render.rows(table))
    return {place.column.key: place.width for place in layout.place(width)}


@pytest.mark.parametrize("width", [66, 76, 96, 150])
def test_at_every_width_the_list_tells_how_a_device_is_and_how_it_is_tuned_before_anything_else(width: int) -> None:
    assert tuple(placed(width))[: len(VITAL)] == VITAL
    assert placed(width)["write-cache"] >= len("back ▲through")


@pytest.mark.parametrize("width", [72, 76, 96])
def test_a_name_of_three_hundred_characters_costs_no_column_and_cuts_no_setting(width: int) -> None:
    places = placed(width, "n" * 300)
    assert set(VITAL) <= set(places)
    contents = {"level": "raid5", "write-cache": "back ▲through", "read-ahead": "adaptive", "strip": "256K"}
    assert all(places[key] >= len(text) for key, text in contents.items())


@pytest.mark.parametrize("width", range(20, 76))
def test_on_a_narrow_terminal_columns_are_left_out_in_a_fixed_order_before_a_usual_name_is_cut(width: int) -> None:
    places = placed(width, "n" * 16)
    hidden = [key for key in ("read-ahead", "strip", "size") if key not in places]
    assert places.keys() >= {"name", "level", "state", "write-cache"}
    assert hidden in ([], ["size"], ["strip", "size"], ["read-ahead", "strip", "size"])
    assert len(hidden) == 3 or places["name"] == 16


@pytest.mark.parametrize(
    ("level", "strip", "shown"),
    [(Level.RAID1, None, "none"), (Level.RAID1, 64 << 10, "64K"), (Level.RAID5, None, ""), (Level.MAPPED, None, "")],
)
def test_an_array_whose_level_has_no_strip_says_so_unless_its_controller_reports_one(
    level: Level, strip: int | None, shown: str
) -> None:
    one = replace(array("md0"), level=level, strip_bytes=strip)
    table = devices_table(Inventory(arrays=(one,)), WHOLE, {one.target: TuningCells()})
    assert tuple(map(view.text_of, table.only("level", "strip").rows[0].cells)) == (level.value, shown)


def test_an_array_whose_settings_are_unread_does_not_say_that_it_has_no_strip() -> None:
    one = replace(array("md0"), level=Level.RAID1)
    assert cell("strip", Inventory(arrays=(one,))) == ""


def test_arrays_are_sorted_by_the_number_of_their_level_before_drives() -> None:
    arrays = tuple(replace(array(level.value), controller=None, level=level) for level in (Level.RAID10, Level.RAID5))
    found = Inventory(arrays=arrays, drives=(drive("sda", free=True),))
    rows = devices_table(found, DeviceListOptions(order="level")).rows
    assert [row.key for row in rows] == ["mega:raid5", "mega:raid10", "mega:sda"]


def test_a_filter_that_only_members_match_takes_the_array_for_no_match() -> None:
    found = matching_keys(search_texts(rack(), {}), "mega:d0")
    assert found == {"mega:d0"}
