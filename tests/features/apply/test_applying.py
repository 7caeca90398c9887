"""A file on a rack: one set or nothing, no risk that it does not confirm, never what destroys data."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.apply.applying import apply_set, plan_set
from app.features.apply.drift import DESTRUCTIVE_EFFECTS, DriftKind, DriftScan
from app.features.apply.exporting import export_targets, render_document
from app.features.apply.selectors import all_devices
from app.features.apply.settings_file import DesiredError, parse
from backends.change import Change
from backends.errors import RefusedError, ToolFailedError
from backends.model import Target
from backends.settings import Reading, Setting, may_be_value
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.profiles.table import MACHINES
from tests.backends.simulator.asking import FAST, NOW
from tests.features.apply.racks import applied, file, opened, state_of

SDB = 'select = {address = "megaraid:/c0/v1"}\n'
HEAD = "format = 1\n[[target]]\n"


class DeafRack(SimulatedHost):
    """A rack whose kernel takes some values and does not heed them, or refuses them."""

    to = refuses = deafens = "-"

    async def write(self, path: str, text: str) -> None:
        if path.endswith(self.refuses):
            raise ToolFailedError("The kernel refused it.")
        if path.endswith(self.to):
            self.to = "-" if self.deafens == "-" else self.deafens
            return
        await super().write(path, text)


@pytest.fixture
def deaf() -> DeafRack:
    return DeafRack(demo_rack(lambda: NOW), speed=FAST)


@pytest.fixture
async def bench(tmp_path: Path, deaf: DeafRack) -> AsyncIterator[Workbench]:
    async with opened(tmp_path, host=deaf) as bench:
        yield bench


async def now(bench: Workbench, address: str, key: str) -> str | None:
    target = (await bench.hardware.find(address)).target
    return (await bench.hardware.read(bench.hardware.owner_of_setting(target, key)))[key].now


async def test_settings_of_the_card_and_of_the_queue_are_one_set(bench: Workbench) -> None:
    text = HEAD + SDB + '[target.set]\nread_ahead = "read-ahead"\nread_ahead_kb = 4096\n'
    outcome = await applied(bench, text)
    assert [(str(step.change.target), step.ended.result) for step in outcome.steps] == [
        ("megaraid:/c0/v1", "verified"),
        ("block:sdb", "verified"),
    ]
    assert (await state_of(bench, text)).drifts == ()


async def test_a_strip_is_told_with_its_command_and_never_set(bench: Workbench) -> None:
    text = HEAD + SDB + 'confirm = "6ef362"\n[target.set]\nstrip_size = 131072\n[target.expect]\nlevel = "raid0"\n'
    state = await state_of(bench, text)
    assert [(one.kind, one.key, one.now) for one in state.drifts] == [
        (DriftKind.ANEW, "strip_size", "65536"),
        (DriftKind.ANEW, "level", "raid5"),
    ]
    assert state.drifts[0].command == "raidbench set megaraid:/c0/v1 strip_size=131072"
    assert (await applied(bench, text)).steps == ()
    assert await now(bench, "/c0/v1", "strip_size") == "65536"


async def test_a_risk_is_refused_unless_the_file_means_the_device(bench: Workbench) -> None:
    hint, text = "", HEAD + 'select = {address = "megaraid:/c2/v0"}\n%s[target.set]\n'
    text += 'write_cache = "always-write-back"\n'
    for word in ("", 'confirm = "6ef362"\n'):
        with pytest.raises(RefusedError, match="does not confirm it") as caught:
            await applied(bench, text % word)
        hint = caught.value.hint
    word = hint.split("confirm = ")[1]
    assert (await applied(bench, text % f"confirm = {word}\n")).is_complete
    assert await now(bench, "/c2/v0", "write_cache") == "always-write-back"


async def test_one_unconfirmed_risk_refuses_the_whole_set(bench: Workbench) -> None:
    text = HEAD + SDB + '[target.set]\nread_ahead = "read-ahead"\n'
    text += '[[target]]\nselect = {address = "megaraid:/c2/v0"}\n[target.set]\nwrite_cache = "always-write-back"\n'
    with pytest.raises(RefusedError):
        await applied(bench, text)
    assert await now(bench, "/c0/v1", "read_ahead") == "none"


THREE = HEAD + SDB + '[target.set]\nread_ahead = "read-ahead"\nread_ahead_kb = 4096\nnomerges = 2\nrq_affinity = 2\n'


async def values(bench: Workbench) -> list[str | None]:
    return [await now(bench, "/c0/v1", key) for key in ("read_ahead", "read_ahead_kb", "nomerges", "rq_affinity")]


BEFORE = ["none", "128", "0", "1"]


async def test_the_first_step_that_does_not_take_takes_the_set_back(bench: Workbench, deaf: DeafRack) -> None:
    assert await values(bench) == BEFORE
    deaf.to = "queue/nomerges"
    outcome = await applied(bench, THREE)
    assert not outcome.is_complete
    assert [(step.change.key, step.ended.result) for step in outcome.steps] == [
        ("read_ahead", "verified"),
        ("read_ahead_kb", "verified"),
        ("nomerges", "differs"),
    ]
    assert [change.key for change in outcome.left] == ["rq_affinity"]
    assert await values(bench) == BEFORE
    assert bench.session.in_force == ()


async def test_what_is_taken_back_is_the_newest_first(bench: Workbench, deaf: DeafRack) -> None:
    deaf.to = "queue/nomerges"
    await applied(bench, THREE)
    undone = [record.change.key for record in bench.session.changes if record.intent.undoes is not None]
    assert undone[-2:] == ["read_ahead_kb", "read_ahead"]


async def test_a_step_that_is_refused_takes_the_set_back(bench: Workbench, deaf: DeafRack) -> None:
    deaf.refuses = "queue/nomerges"
    outcome = await applied(bench, THREE)
    assert not outcome.is_complete
    assert await values(bench) == BEFORE


async def test_the_rest_is_made_all_the_same_on_demand(bench: Workbench, deaf: DeafRack) -> None:
    deaf.to = "queue/nomerges"
    outcome = await applied(bench, THREE, keep_going=True)
    assert (outcome.is_complete, outcome.left) == (False, ())
    assert await values(bench) == ["read-ahead", "4096", "0", "2"]


async def test_what_cannot_be_taken_back_is_told(bench: Workbench, deaf: DeafRack) -> None:
    deaf.to = "queue/nomerges"
    deaf.deafens = "queue/read_ahead_kb"
    outcome = await applied(bench, THREE)
    stuck = [step.change.key for step in outcome.steps if step.stuck]
    assert stuck == ["read_ahead_kb"]
    assert await values(bench) == ["none", "4096", "0", "1"]


async def test_a_trial_of_somebody_else_refuses_the_set_beforehand(bench: Workbench) -> None:
    from contextlib import aclosing

    bench.changes.watches_itself = True
    target = (await bench.hardware.find("/c0/v0")).target
    change = await bench.hardware.plan(target, "read_ahead", "none")
    async with aclosing(bench.changes.apply_all([change], trial=600)) as outcomes:
        assert [ended.result async for _, ended in outcomes] == ["verified"]
    text = HEAD + SDB + '[target.set]\nread_ahead = "read-ahead"\n'
    plan = plan_set(bench, await state_of(bench, text), persist=False, trial=60)
    with pytest.raises(RefusedError, match="is still running, so"):
        await plan
    await bench.changes.end_watching()


async def test_a_set_on_trial_is_one_trial(bench: Workbench) -> None:
    bench.changes.watches_itself = True
    outcome = await applied(bench, THREE, trial=600)
    assert (outcome.is_complete, len(bench.changes.trials())) == (True, 4)
    await bench.changes.end_watching()
    assert await values(bench) == BEFORE


async def test_values_that_a_reboot_loses_are_kept_on_demand(bench: Workbench) -> None:
    text = "format = 1\npersist = true\n[[target]]\n" + SDB + "[target.set]\nread_ahead_kb = 4096\n"
    outcome = await applied(bench, text)
    (kept,) = outcome.kept
    assert (outcome.is_complete, dict(kept.values)) == (True, {"read_ahead_kb": "4096"})
    assert "4096" in (await bench.host.read(kept.rule.path) or "")
    plan = await plan_set(bench, await state_of(bench, text), persist=True, trial=None)
    assert plan.is_empty


async def test_several_things_are_selected_by_what_they_are(bench: Workbench) -> None:
    text = HEAD + 'select = {level = "raid10", vendor = "megaraid"}\n[target.set]\nread_ahead = "none"\n'
    state = await state_of(bench, text)
    assert [str(target) for target in state.values] == ["megaraid:/c1/v0", "megaraid:/c3/v0"]
    by_mount = HEAD + 'select = {mount = "/srv/vm"}\n[target.set]\nread_ahead_kb = 256\n'
    assert [str(target) for target in (await state_of(bench, by_mount)).values] == ["block:sdd"]


async def test_a_disk_is_selected_once(bench: Workbench) -> None:
    text = HEAD + 'select = {wwn = "naa.600605b00003e1a74b6e00013c6ef362"}\n[target.set]\nwrite_cache = "write-back"\n'
    assert [str(target) for target in (await state_of(bench, text)).values] == ["megaraid:/c0/v1"]


async def test_what_is_not_there_is_a_difference_unless_it_may_be_missing(bench: Workbench) -> None:
    text = HEAD + 'select = {serial = "NOWHERE"}\n'
    assert [one.kind for one in (await state_of(bench, text)).drifts] == [DriftKind.MISSING]
    assert (await state_of(bench, text + "optional = true\n")).drifts == ()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('read_ahed = "none"\n', "line 5: megaraid:/c0/v1 has no setting 'read_ahed'"),
        ('read_ahead = "nonne"\n', "line 5: read_ahead: read_ahead cannot be 'nonne' here"),
        ('activation_key = "X"\n', "line 5: megaraid:/c0/v1 has no setting"),
    ],
)
async def test_what_cannot_be_set_is_named_with_its_line(bench: Workbench, rows: str, said: str) -> None:
    with pytest.raises(DesiredError) as caught:
        await state_of(bench, HEAD + SDB + "[target.set]\n" + rows)
    assert said in caught.value.message


async def test_a_value_that_is_legal_once_another_is_set_is_set_after_it(bench: Workbench) -> None:
    target = (await bench.hardware.find("block:sdf")).target
    before = await bench.hardware.read(target)
    good = HEAD + 'select = {address = "block:sdf"}\n[target.set]\n'
    good += f'scheduler = "mq-deadline"\nnr_requests = {before["nr_requests"].now}\n'
    assert (await applied(bench, good)).is_complete
    deep = good.replace(f"nr_requests = {before['nr_requests'].now}", "nr_requests = 64")
    assert (await applied(bench, deep)).is_complete
    assert (
        await applied(bench, HEAD + 'select = {address = "block:sdf"}\n[target.set]\nscheduler = "none"\n')
    ).is_complete
    assert (await applied(bench, deep)).is_complete
    assert (await state_of(bench, deep)).drifts == ()


SDF = HEAD + 'select = {address = "block:sdf"}\n[target.set]\n'


async def test_a_number_that_is_out_of_its_bounds_by_now_is_blocked(bench: Workbench) -> None:
    (drift,) = (await state_of(bench, SDF + "nr_requests = 2000\n")).drifts
    assert (drift.kind, drift.why) == (DriftKind.BLOCKED, "valid values: from 4 to 32 requests at present")


async def test_what_is_blocked_keeps_nothing_else_from_being_set(bench: Workbench) -> None:
    text = SDF + "nr_requests = 2000\nread_ahead_kb = 256\n"
    state = await state_of(bench, text)
    assert [change.key for change in state.changes] == ["read_ahead_kb"]
    assert [(one.key, one.kind) for one in state.unsettable()] == [("nr_requests", DriftKind.BLOCKED)]
    assert (await applied(bench, text)).is_complete
    assert [one.key for one in (await state_of(bench, text)).drifts] == ["nr_requests"]


async def test_two_wishes_for_one_setting_are_an_error_with_both_lines(bench: Workbench) -> None:
    one, two = (SDB + f'[target.set]\nread_ahead = "{value}"\n' for value in ("none", "adaptive"))
    text = HEAD + one + "[[target]]\n" + two
    with pytest.raises(DesiredError, match=r"line 9: .*'adaptive' in this line and 'none' in line 5"):
        await state_of(bench, text)


async def test_no_plan_that_destroys_data_passes_whatever_its_setting_declares(bench: Workbench) -> None:
    state = await state_of(bench, HEAD + SDB + '[target.set]\nread_ahead = "read-ahead"\n')
    target = next(iter(state.values))
    forged = dataclasses.replace(
        state,
        changes=await bench.hardware.plan_all(target, {"strip_size": "131072"}),
        confirms={target: ("6ef362",)},
    )
    with pytest.raises(RefusedError, match="A settings file cannot do that"):
        await plan_set(bench, forged, persist=False, trial=None)


async def test_comments_of_an_older_file_stay(bench: Workbench) -> None:
    thing = await bench.hardware.find("/c0/v1")
    targets, _ = await export_targets(bench, [thing])
    mine = render_document(targets).replace('read_ahead = "none"', '# why: random load\nread_ahead = "adaptive" # mine')
    mine = mine.replace("format = 1", "# ours\nformat = 1") + "\n# the end\n"
    again = render_document(targets, mine)
    assert again == mine.replace('"adaptive"', '"none"')


async def test_new_things_come_at_the_end_of_an_older_file(bench: Workbench) -> None:
    one, two = [await bench.hardware.find(name) for name in ("/c0/v1", "/c1/v0")]
    first, both = (await export_targets(bench, [one]))[0], (await export_targets(bench, [one, two]))[0]
    grown = render_document(both, render_document(first))
    assert grown.startswith(render_document(first).rstrip())
    assert len(file(grown).targets) == 2


async def test_a_file_that_is_none_of_ours_is_left_alone(bench: Workbench) -> None:
    for older in ("x = 1\n", "format = 2\n", "no toml ["):
        with pytest.raises(DesiredError):
            render_document((), older)


async def test_what_cannot_be_read_hides_no_difference_of_the_others(bench: Workbench) -> None:
    wanted = parse(HEAD.encode() + b'select = {vendor = "megaraid", kind = "array"}\nset = {auto_bgi = "off"}\n', "f")

    async def read(target: Target) -> Mapping[str, Reading]:
        if target.address == "/c0/v0":
            raise ToolFailedError("It gave no answer.")
        return await bench.hardware.read(target)

    state = await DriftScan(bench, wanted, read).look()
    kinds = {str(one.target): one.kind for one in state.drifts}
    assert (kinds["megaraid:/c0/v0"], kinds["megaraid:/c0/v1"]) == (DriftKind.UNREAD, DriftKind.SETTABLE)


# -- what moves along, what is legal later, what is no difference -----------------------------------------------------

SDE = 'select = {address = "block:sde"}\n[target.set]\nwrite_cache = "write-back"\nread_ahead_kb = 128\n'
C3 = 'select = {address = "megaraid:/c3/v0"}\nconfirm = "156075"\n[target.set]\nwrite_cache = "write-back"\n'
TABLE = "[[target]]\n"


@pytest.mark.parametrize("text", [HEAD + C3 + TABLE + SDE, HEAD + SDE + TABLE + C3])
async def test_what_a_card_moves_on_its_disk_is_done_in_either_order(bench: Workbench, text: str) -> None:
    other = HEAD + C3.replace("write-back", "write-through")
    assert (await applied(bench, other)).is_complete
    assert await now(bench, "block:sde", "write_cache") == "write-through"
    outcome = await applied(bench, text)
    assert outcome.is_complete
    assert [(str(step.change.target), step.change.key, step.ended.was_set) for step in outcome.steps] == [
        ("megaraid:/c3/v0", "write_cache", True),
        ("block:sde", "write_cache", False),
        ("block:sde", "read_ahead_kb", False),
    ]
    assert (await state_of(bench, text)).drifts == ()
    await bench.changes.undo(outcome.steps[0].ended.id)
    assert await now(bench, "block:sde", "write_cache") == "write-through"


async def test_a_value_that_is_as_wanted_and_would_be_moved_is_set_as_well(bench: Workbench) -> None:
    """The disk's cache is as wanted before the card's is switched, and would not be so afterwards."""
    text = HEAD + SDE + TABLE + C3.replace("write-back", "write-through")
    places = [(str(change.target), change.key) for change in (await state_of(bench, text)).changes]
    assert places == [("megaraid:/c3/v0", "write_cache"), ("block:sde", "write_cache")]
    assert (await applied(bench, text)).is_complete
    assert await now(bench, "block:sde", "write_cache") == "write-back"
    assert await now(bench, "megaraid:/c3/v0", "write_cache") == "write-through"


async def test_a_default_by_another_name_is_no_difference(bench: Workbench) -> None:
    state = await state_of(bench, HEAD + 'select = {address = "block:sdb"}\n[target.set]\nwbt_lat_usec = -1\n')
    assert await now(bench, "block:sdb", "wbt_lat_usec") in ("2000", "75000")
    assert (state.drifts, state.changes) == ((), ())


async def test_what_is_kept_over_a_reboot_may_be_legal_only_with_the_rest(bench: Workbench) -> None:
    text = "format = 1\npersist = true\n[[target]]\n" + 'select = {address = "block:sdf"}\n[target.set]\n'
    outcome = await applied(bench, text + 'nr_requests = 1500\nscheduler = "mq-deadline"\n')
    assert (outcome.is_complete, [dict(one.values) for one in outcome.kept]) == (
        True,
        [{"nr_requests": "1500", "scheduler": "mq-deadline"}],
    )


async def test_values_that_contradict_each_other_block_one_of_them(bench: Workbench) -> None:
    text = SDF + 'scheduler = "mq-deadline"\nnr_requests = 1500\n'
    assert (await applied(bench, text)).is_complete
    other = SDF + 'scheduler = "none"\nnr_requests = 1500\n'
    (scheduler, size) = (await state_of(bench, other)).drifts
    assert (scheduler.kind, size.kind) == (DriftKind.SETTABLE, DriftKind.BLOCKED)
    assert size.why == "the value would not persist: valid values: from 4 to 32 requests at present"
    assert (await applied(bench, other)).is_complete
    assert [(one.key, one.now) for one in (await state_of(bench, other)).drifts] == [("nr_requests", "32")]


async def test_a_word_of_another_device_is_blocked(bench: Workbench) -> None:
    text = HEAD + 'select = {address = "megaraid:/c3/v0"}\n[target.set]\naccess_policy = "blocked"\n'
    (drift,) = (await state_of(bench, text)).drifts
    assert (drift.kind, drift.why) == (DriftKind.BLOCKED, "valid values: read-write, read-only at present")


async def test_the_workbench_plans_nothing_to_compare(bench: Workbench) -> None:
    async def read(target: Target) -> Mapping[str, Reading]:
        return await bench.hardware.read(target)

    text = SDF + "nr_requests = 2000\nread_ahead_kb = 256\n"
    state = await DriftScan(bench, file(text), read).look()
    assert [(one.key, one.kind, one.why) for one in state.drifts] == [
        ("nr_requests", DriftKind.BLOCKED, "valid values: from 4 to 32 requests at present"),
        ("read_ahead_kb", DriftKind.SETTABLE, ""),
    ]
    assert state.changes == ()


@pytest.fixture
async def hpe(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with opened(tmp_path, "hpe") as bench:
        yield bench


def cached(acceleration: str) -> str:
    return "".join(
        f'[[target]]\nselect = {{address = "smartarray:/slot0/ld{number}"}}\n[target.set]\nacceleration = "{wanted}"\n'
        for number, wanted in ((1, acceleration), (2, "none"), (3, "none"))
    )


RATIO = '[[target]]\nselect = {address = "smartarray:/slot0"}\n[target.set]\ncache_ratio = "50/50"\n'


async def test_what_others_make_possible_is_set_after_them_in_the_same_set(hpe: Workbench) -> None:
    assert (await applied(hpe, "format = 1\n" + cached("none"))).is_complete
    text = "format = 1\n" + RATIO + cached("controller-cache")
    blocked, _ = (await state_of(hpe, text)).drifts
    assert (blocked.key, blocked.kind) == ("cache_ratio", DriftKind.BLOCKED)
    outcome = await applied(hpe, text)
    assert [step.change.key for step in outcome.steps] == ["acceleration", "cache_ratio"]
    assert (outcome.is_complete, (await state_of(hpe, text)).drifts) == (True, ())


async def test_a_second_part_that_is_refused_takes_the_first_one_back(hpe: Workbench) -> None:
    assert (await applied(hpe, "format = 1\n" + cached("none"))).is_complete
    text = "format = 1\n" + RATIO + cached("controller-cache")

    async def refused(made: object) -> None:
        raise RefusedError("Nobody wants it.")

    plan = await plan_set(hpe, await state_of(hpe, text), persist=False, trial=None)
    outcome = await apply_set(hpe, plan, trial=None, keep_going=False, plan_more=refused)
    assert (outcome.is_complete, outcome.trouble is not None) == (False, True)
    assert [step.back is not None for step in outcome.steps] == [True]
    assert await now(hpe, "smartarray:/slot0/ld1", "acceleration") == "none"


@pytest.mark.parametrize("rack", MACHINES)
async def test_every_word_that_one_device_offers_may_be_a_value_of_another(tmp_path: Path, rack: str) -> None:
    """Else a file of another device or another time would be taken for wrong."""
    async with opened(tmp_path, rack) as bench:
        offered: dict[tuple[str, str], set[str]] = {}
        known: list[tuple[tuple[str, str], Setting, Reading]] = []
        for thing in all_devices(bench.session.inventory):
            declared = {one.key: one for one in bench.hardware.settings(thing.target)}
            for key, reading in (await bench.hardware.read(thing.target)).items():
                place = (thing.target.backend, key)
                if declared[key].effect in DESTRUCTIVE_EFFECTS or declared[key].stands_for:
                    continue
                offered.setdefault(place, set()).update(choice.value for choice in reading.choices)
                known.append((place, declared[key], reading))
        wrong = {
            (place, word)
            for place, setting, reading in known
            if reading.availability.available
            for word in offered[place]
            if not may_be_value(setting, reading, word)
        }
        assert wrong == set()


async def test_what_cannot_be_planned_for_another_reason_differs_and_refuses_the_set(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        raise ToolFailedError("The tool does not answer.")

    monkeypatch.setattr(bench.hardware, "plan_to_show", silent)
    state = await state_of(bench, THREE)
    assert {one.kind for one in state.drifts} == {DriftKind.SETTABLE}
    with pytest.raises(ToolFailedError, match="does not answer"):
        await plan_set(bench, state, persist=False, trial=None)
