"""Sweeps over levels on the rack with free drives: arrays are made in turn, and nothing of them is left."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from app.core.analysis.reasons import Reason
from app.core.analysis.verdict import Verdict
from app.core.session.events import AnyEvent, ChangeIntended, CommandRan, NoteAdded, PreconditionEnded, RunEnded
from app.core.session.paths import Paths
from app.core.session.state import Session
from app.core.session.sweep_record import SweepRecord, SweepStepEnded
from app.core.session.sweep_steps import Purpose, StepResult, SweepResult
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.features.sweep.engine.plan import PlanError
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import parse_plan
from app.features.sweep.engine.results import results
from app.features.sweep.engine.risk_assessment import RiskAssessment, assess_risk
from app.features.sweep.engine.runner import SweepRunner
from app.features.sweep.engine.targets import inspect_targets
from app.features.sweep.presentation.json_schema import design_json
from app.features.sweep.presentation.plan import plan_facts
from backends.model import Level
from backends.settings import Risk
from backends.simulator.calibration import DRIVES
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.arrays import arrays_rack
from backends.simulator.profiles.lsi import SM883
from backends.simulator.state_file import RackFile
from backends.simulator.volume import Content
from tests.backends.simulator.asking import FAST
from tests.case_loop import loop_over
from tests.features.sweep.making import measured

pytestmark = pytest.mark.slow

HEAD = """
[measure]
repeats = {repeats}
pairs = 0
[job]
rw = "randread"
runtime = "2s"
ramp = "0s"
[[axis]]
array = "level"
values = {levels}
drives = ["sdb", "sdc", "sdd", "sde"]
strip = "64k"
"""
CLEAN = "assume_clean = true\n"
AHEAD = '[[axis]]\ntarget="array"\nsetting="read_ahead_kb"\nvalues=[128,4096]\n'
CARD_AHEAD = '[[axis]]\ntarget="array"\nsetting="read_ahead"\nvalues=["none","read-ahead"]\n'
DRIVES_OF_MD = '["sdb", "sdc", "sdd", "sde"]'
SERIALS = [f"S47FNA0M20170{number}" for number in range(4)]


def plan(*levels: str, repeats: int = 1, more: str = "") -> str:
    return HEAD.format(levels=[*levels], repeats=repeats).replace("'", '"') + more


class Bed:
    """A state folder with the rack in it, and as many workbenches on it as there are processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = Paths(
            sessions=folder / "sessions",
            journal=folder / "journal",
            locks=folder / "locks",
            config=folder / "config.toml",
        )
        self.file = RackFile(folder / "rack.json", make=arrays_rack, speed=FAST)

    def bench(self) -> Workbench:
        return Workbench(SimulatedHost(self.file, speed=FAST), paths=self.paths, advisor=advise)

    async def surveyed(self, bench: Workbench, text: str) -> RiskAssessment:
        await bench.hardware.probe()
        wanted = parse_plan(text.encode(), "plan.toml")
        known = await inspect_targets(bench, wanted, {})
        return await assess_risk(bench, expand(wanted, known, 1), known)

    async def begun(self, text: str) -> Workbench:
        bench = self.bench()
        surveyed = await self.surveyed(bench, text)
        assert not surveyed.refused
        await bench.open(fresh=True)
        await bench.hardware.probe()
        SweepRunner(bench).begin(surveyed.design)
        return bench

    def lies(self, name: str, content: Content) -> None:
        """Somebody puts something on a drive."""
        with self.file.edit() as rack:
            rack.lying[name] = content


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    (tmp_path / "bed").mkdir()
    return Bed(tmp_path / "bed")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drives of which a whole array is written in a moment."""
    monkeypatch.setitem(DRIVES, SM883, replace(DRIVES[SM883], size_bytes=2 << 30))


def record_of(bench: Workbench) -> SweepRecord:
    record = bench.session.sweep
    assert record is not None
    return record


def notes(bench: Workbench, begin: str) -> list[str]:
    """The name and level of each array, as it is made or deleted from now on."""
    told: list[str] = []

    def hear(_session: Session, event: AnyEvent) -> None:
        if isinstance(event, NoteAdded) and event.text.startswith(begin):
            told.append(event.text.removeprefix(begin).split(" of ")[0].rstrip("."))

    bench.subscribe(hear)
    return told


async def require_nothing_left(bench: Workbench) -> None:
    """No array of ours, no mark of one, nothing in a journal."""
    found = await bench.hardware.probe()
    assert [str(array.target) for array in found.arrays if array.target.backend == "md"] == []
    assert bench.arrays.journal.entries() == ()
    assert bench.changes.journal.unresolved() == ()
    assert bench.session.in_force == ()
    again = await Bed.surveyed(Bed.__new__(Bed), bench, plan("raid0"))
    making = again.design.making
    assert making is not None
    assert [drive.lies for drive in making.drives] == [()] * 4


# -- the plan ---------------------------------------------------------------------------------------------------------


async def test_the_plan_has_arrays_commands_time_drives_and_their_word(bed: Bed, small: None) -> None:
    surveyed = await bed.surveyed(bed.bench(), plan("raid0", "raid5", more=CLEAN, repeats=3))
    assert surveyed.risk is Risk.DESTROYS_DATA
    assert [plate.token for plate in surveyed.plates] == ["201700", "201701", "201702", "201703"]
    text = "\n".join(fact.value for group in plan_facts(surveyed) for fact in group.facts)
    assert "created 3 times" in text
    assert "preparation writes each drive in full 6 times" in text
    assert "--level=raid5 --raid-devices=4 --chunk=64K" in text
    assert all(serial in text for serial in SERIALS)
    made = design_json(surveyed.design)["making"]
    assert [(array["level"], array["made"]) for array in made["arrays"]] == [("raid0", 3), ("raid5", 3)]
    assert surveyed.design.seconds > 6 * sum(array["preparing_seconds"] for array in made["arrays"]) / 2


async def test_what_these_drives_do_not_make_is_left_out_of_the_plan(bed: Bed, small: None) -> None:
    design = (await bed.surveyed(bed.bench(), plan("raid0", "raid50"))).design
    assert {cell.row for cell in design.cells} == {"raid0, strip 64 KiB"}
    assert [(one.row, "at least 6 drives" in one.reason) for one in design.skipped] == [("raid50, strip 64 KiB", True)]


EIGHT = str([f"sd{letter}" for letter in "bcdefghi"])


@pytest.mark.parametrize(
    ("spans", "made"),
    [
        ("[2]", ["raid0", "raid50, 2 spans", "raid60, 2 spans"]),
        ('"every"', ["raid0", "raid50, 2 spans", "raid60, 2 spans", "raid10, 4 spans"]),
        ("{ raid10 = 4 }", ["raid0", "raid50", "raid60", "raid10, 4 spans"]),
        ('{ raid60 = "every", raid50 = [2, 4] }', ["raid0", "raid50, 2 spans", "raid60, 2 spans", "raid10"]),
    ],
)
async def test_each_level_with_spans_is_made_with_each_of_them_that_fits(
    bed: Bed, small: None, spans: str, made: list[str]
) -> None:
    text = plan("raid0", "raid50", "raid60", "raid10", more=f"spans = {spans}\n").replace('strip = "64k"\n', "")
    text = text.replace(DRIVES_OF_MD, EIGHT)
    design = (await bed.surveyed(bed.bench(), text)).design
    assert list(dict.fromkeys(cell.row for cell in design.cells)) == made
    left = {one.row: one.reason for one in design.skipped}
    wanted = {"[2]": {"raid10, 2 spans"}, '"every"': {"raid10, 2 spans"}, "{ raid10 = 4 }": set()}
    assert left.keys() == wanted.get(spans, {"raid50, 4 spans"})
    without, uneven = "md always creates a RAID10 without spans.", "cannot be divided into 4 spans."
    assert all(without in one or uneven in one for one in left.values())


@pytest.mark.parametrize(
    "more", ['layout = ["n2", "far", "o3"]\n', '[[axis]]\narray = "layout"\nvalues = ["n2", "f2", "offset=3"]\n']
)
async def test_a_raid_10_is_made_with_each_layout(bed: Bed, small: None, more: str) -> None:
    design = (await bed.surveyed(bed.bench(), plan("raid0", "raid10", more=more))).design
    assert design.making is not None
    rows = list(dict.fromkeys(cell.row for cell in design.cells))
    assert rows == ["raid0, strip 64 KiB", *(f"raid10, layout {one}, strip 64 KiB" for one in ("n2", "f2", "o3"))]
    told = [(array.layout, f"--layout={array.layout} " in array.steps[0]) for array in design.making.arrays]
    assert told == [(None, False), ("n2", True), ("f2", True), ("o3", True)]


async def test_an_axis_of_spans_stands_beside_that_of_levels_and_of_strips(bed: Bed, small: None) -> None:
    beside = '[[axis]]\narray = "spans"\nvalues = [2, 4]\n[[axis]]\narray = "strip"\nvalues = ["64k", "128k"]\n'
    text = plan("raid10", more=beside).replace('strip = "64k"\n', "")
    text = text.replace(DRIVES_OF_MD, str([f"245:{slot}" for slot in range(8)]))
    making = (await bed.surveyed(bed.bench(), text)).design.making
    assert making is not None
    told = [(array.spans, array.strip_bytes, array.steps[0].count("-Array")) for array in making.arrays]
    assert told == [(2, 64 << 10, 2), (2, 128 << 10, 2), (4, 64 << 10, 4), (4, 128 << 10, 4)]
    assert [(array.size_bytes, array.full_stripe_bytes) for array in making.arrays[::2]] == [
        (making.arrays[0].size_bytes, 256 << 10)
    ] * 2


async def test_policies_at_birth_are_those_of_the_plan_and_of_md_there_are_none(bed: Bed, small: None) -> None:
    card = '["252:0", "252:1", "252:2"]'
    text = plan("raid0", more='policies = { write_cache = "write-back", drive_cache = "off" }\n')
    making = (await bed.surveyed(bed.bench(), text.replace(DRIVES_OF_MD, card))).design.making
    assert making is not None
    assert " pdcache=off wb nora direct " in making.arrays[0].steps[0]
    with pytest.raises(PlanError, match="None of the arrays") as caught:
        await bed.surveyed(bed.bench(), text)
    assert "An md array takes no policies at creation." in caught.value.hint


async def test_one_drive_alone_is_planned_without_a_command_and_of_a_card_left_out(bed: Bed, small: None) -> None:
    surveyed = await bed.surveyed(bed.bench(), plan("raid0", "jbod"))
    making = surveyed.design.making
    assert making is not None
    assert [(array.level, array.members, array.steps == ()) for array in making.arrays] == [
        (Level.RAID0, None, False),
        (Level.JBOD, 1, True),
    ]
    sizes = {cell.row: cell.job["size"] for cell in surveyed.design.cells}
    assert sizes["one drive"] == f"{(making.drives[0].size_bytes or 0) >> 20}M"
    assert sizes["raid0, strip 64 KiB"] == f"{(making.arrays[0].size_bytes or 0) >> 20}M"
    text = "\n".join(fact.value for group in plan_facts(surveyed) for fact in group.facts)
    assert "no array: the drive is measured directly" in text
    card = plan("raid0", "jbod").replace(DRIVES_OF_MD, '["252:0", "252:1", "252:2"]')
    (left,) = (await bed.surveyed(bed.bench(), card)).design.skipped
    assert (left.row, "the kernel cannot access them individually" in left.reason) == ("one drive", True)
    with pytest.raises(PlanError, match="None of the arrays"):
        await bed.surveyed(bed.bench(), plan("jbod"))


async def test_arrays_that_take_long_are_made_once_and_the_first_again(bed: Bed) -> None:
    design = (await bed.surveyed(bed.bench(), plan("raid0", "raid5", "raid10", repeats=2, more=AHEAD))).design
    assert design.making is not None
    assert design.making.once
    order = [array for array, _ in groupby(design.cell(step.cell).array for step in design.steps)]
    assert (order[0], order[-1], sorted(map(str, order))) == ("a1", "a1", ["a1", "a1", "a2", "a3"])
    again = [step for step in design.steps if step.purpose is Purpose.BASELINE]
    assert {design.cell(step.cell).row for step in again} == {"raid0, strip 64 KiB, read_ahead_kb=128"}
    record, runs = measured(design, {"raid5, strip 64 KiB, read_ahead_kb=128": 500.0})
    judged = {result.cell.row: result.judgement for result in results(record, runs).cells}
    between = judged["raid5, strip 64 KiB, read_ahead_kb=128"]
    assert between is not None
    assert between.interval is not None
    assert (between.verdict, between.reason) == (Verdict.NOT_DECIDED, Reason.MADE_ONCE)


async def test_settings_are_compared_on_their_own_array_and_arrays_with_each_other(bed: Bed, small: None) -> None:
    design = (await bed.surveyed(bed.bench(), plan("raid0", "raid5", more=CLEAN + AHEAD))).design
    rows = {cell.id: cell.row.replace(", strip 64 KiB, read_ahead_kb=", " ") for cell in design.cells}
    against = {rows[cell.id]: cell.against and rows[cell.against] for cell in design.cells}
    assert against == {
        "raid0 128": None,
        "raid0 4096": "raid0 128",
        "raid5 128": "raid0 128",
        "raid5 4096": "raid5 128",
    }
    assert {cell.job["size"] for cell in design.cells} == {"5760M"}


@pytest.mark.long
async def test_a_card_makes_the_arrays_of_its_drives_and_none_is_measured_while_it_initialises(bed: Bed) -> None:
    text = plan("raid0", "raid5", more=CARD_AHEAD).replace(DRIVES_OF_MD, '["252:0", "252:1", "252:2"]')
    bench = await bed.begun(text)
    record = await SweepRunner(bench).run_all()
    assert record.finished, record.end
    assert {end.result for end in record.ended} == {StepResult.DONE}
    assert len(record.ended) == 4
    assert bench.arrays.journal.entries() == ()
    assert (bench.session.in_force, bench.changes.journal.unresolved()) == ((), ())
    found = await bench.hardware.probe()
    there = [str(array.target) for array in found.arrays if array.controller is not None]
    assert there == ["megaraid:/c0/v0", "smartarray:/slot0/ld1"]
    with pytest.raises(PlanError, match="assume_clean is only for md"):
        await bed.surveyed(bed.bench(), text.replace(CARD_AHEAD, CLEAN))


async def test_what_a_card_initialises_by_itself_is_known_before(bed: Bed) -> None:
    text = plan("raid10", "raid5").replace(DRIVES_OF_MD, "[" + ", ".join(f'"252:{slot}"' for slot in range(6)) + "]")
    making = (await bed.surveyed(bed.bench(), text)).design.making
    assert making is not None
    assert making.once
    assert ["starts automatically" in array.prepared for array in making.arrays] == [False, True]


async def test_each_round_has_its_own_order(bed: Bed, small: None) -> None:
    design = (await bed.surveyed(bed.bench(), plan("raid0", "raid5", "raid10", more=CLEAN, repeats=8))).design
    order = [
        tuple(array for array, _ in groupby(design.cell(step.cell).array for step in turn))
        for _, turn in groupby(design.steps, key=lambda step: step.round)
    ]
    assert {tuple(sorted(str(array) for array in turn)) for turn in order} == {("a1", "a2", "a3")}
    assert len(set(order)) > 2


@loop_over(
    ("text", "says"),
    [
        (plan("raid0", more="[saturation]\n"), "cannot include a search"),
        (plan("raid0").replace("drives =", "# "), "use either drives"),
        (plan("raid7"), "can be raid0"),
        (plan("raid0", more='[[axis]]\narray = "strip"\nvalues = ["64k"]\n'), "already set by its own axis"),
        ("[targets]\narray = 'md:md0'\n" + plan("raid0"), "has no address"),
        (plan("raid50", more='spans = [2]\n[[axis]]\narray = "spans"\nvalues = [3]\n'), "already set by its own axis"),
        (
            plan("raid0", more='[[axis]]\narray = "span"\nvalues = [2]\n'),
            "must be `level`, `strip`, `spans` or `layout`",
        ),
        (plan("raid0", "raid5", more="spans = [2]\n"), "spans need raid10, raid50, raid60"),
        (plan("raid50", more="spans = { raid60 = 2 }\n"), "which must be levels of the axis"),
        (plan("raid50", more="spans = [2, 2]\n"), "must be different numbers of spans"),
        (plan("raid50", more="spans = [1]\n"), "spans"),
        (plan("raid50", more='spans = "all"\n'), "spans"),
        (plan("raid50", more='policies = "write-back"\n'), "policies"),
        (plan("raid0", more='layout = "f2"\n'), "a layout applies only to raid10"),
        (plan("raid10", more='layout = "left"\n'), "near, far or offset"),
        (plan("raid10", more='layout = ["f2", "far"]\n'), "different layouts"),
    ],
)
def test_a_plan_that_makes_no_sense_says_so(text: str, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        parse_plan(text.encode(), "plan.toml")


async def test_a_pool_gives_blank_drives_of_one_model(bed: Bed, small: None) -> None:
    bed.lies("sdb", Content(filesystem="ext4", label="x", uuid="41f7c2d8-0b96-4e5a-a3d1-7c58e92b60f4"))
    text = plan("raid0").replace(
        'drives = ["sdb", "sdc", "sdd", "sde"]', 'members = 3\npool = "unassigned ssd of kernel"'
    )
    making = (await bed.surveyed(bed.bench(), text)).design.making
    assert making is not None
    assert [drive.place for drive in making.drives] == ["/dev/sdc", "/dev/sdd", "/dev/sde"]
    with pytest.raises(PlanError, match="0 free drives of one model, but 3 are needed"):
        await bed.surveyed(bed.bench(), text.replace("ssd", "hdd"))


# -- the sweep --------------------------------------------------------------------------------------------------------


@pytest.mark.long
async def test_every_array_is_made_prepared_measured_and_deleted_in_each_round(bed: Bed, small: None) -> None:
    bench = await bed.begun(plan("raid0", "raid5", "raid10", more=CLEAN + AHEAD, repeats=2))
    made, gone, checked = notes(bench, "Created the array "), notes(bench, "Deleted the array "), notes(bench, "Parity")
    written: list[bool] = []
    bench.subscribe(lambda _, event: written.append(True) if isinstance(event, PreconditionEnded) else None)
    record = await SweepRunner(bench).run_all()
    assert record.finished, record.end
    assert {end.result for end in record.ended} == {StepResult.DONE}
    assert len(record.ended) == len(record.steps) == 12
    planned = [array for array, _ in groupby((step.round, record.cell(step.cell).array) for step in record.steps)]
    levels = {"a1": "raid0", "a2": "raid5", "a3": "raid10"}
    assert [name.split(": ")[1] for name in made] == [levels[str(array)] for _, array in planned]
    assert [name.split(": ")[0] for name in made] == gone
    assert (len(written), len(checked)) == (6, 2)
    for step in record.steps:
        end = record.final_end(step)
        run = None if end is None or end.run is None else bench.session.run(end.run)
        assert run is not None
        assert run.start.settings["read_ahead_kb"] == record.cell(step.cell).row.rpartition("=")[2]
    await require_nothing_left(bench)


@pytest.mark.long
@pytest.mark.parametrize("level", ["raid5", "raid50"])
async def test_nothing_is_measured_before_the_resync_is_over(bed: Bed, small: None, level: str) -> None:
    bench = await bed.begun(plan(level).replace('"sde"', '"sde", "sdf", "sdg"'))
    seen: list[object] = []

    def hear(session: Session, event: AnyEvent) -> None:
        if isinstance(event, SweepStepEnded):
            seen.extend(
                (array.state.value, array.tasks) for array in session.inventory.arrays if array.level is Level.RAID5
            )

    bench.subscribe(hear)
    record = await SweepRunner(bench).run_all()
    assert record.finished, record.end
    assert seen == [("optimal", ())] * (2 if level == "raid50" else 1)
    await require_nothing_left(bench)


@pytest.mark.long
async def test_a_run_during_which_something_began_in_the_array_does_not_count(
    bed: Bed, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await bed.begun(plan("raid0", "raid10", more=CLEAN))

    def hear(session: Session, event: AnyEvent) -> None:
        if isinstance(event, RunEnded) and session.sweep is not None and session.sweep.current is not None:
            with bed.file.edit() as rack:
                for array in (each for each in rack.md.values() if each.level == "raid10"):
                    array.begin("check", rack.now())
                    array.component_kib *= 10**5

    bench.subscribe(hear)
    record = await SweepRunner(bench).run_all()
    ends = {record.cell(record.steps[end.step - 1].cell).array: end for end in record.ended}
    assert "started a" in ends["a2"].reason
    assert (ends["a2"].result, ends["a1"].result) == (StepResult.FAILED, StepResult.DONE)


@pytest.mark.long
async def test_parity_that_is_not_right_fails_the_cells_and_the_sweep_goes_on(
    bed: Bed, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wrong(*_: object) -> int:
        return 128

    monkeypatch.setattr("backends.vendors.mdraid.backend.MdRaid.mismatches", wrong)
    bench = await bed.begun(plan("raid5", "raid0", more=CLEAN))
    record = await SweepRunner(bench).run_all()
    ends = {record.cell(record.steps[end.step - 1].cell).array: end for end in record.ended}
    assert (ends["a1"].result, ends["a2"].result) == (StepResult.FAILED, StepResult.DONE)
    assert "has a mismatch_cnt of 128 after the whole array was written: its parity is wrong." in ends["a1"].reason
    await require_nothing_left(bench)


@pytest.mark.long
async def test_what_the_maker_refuses_is_left_out_in_its_words(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, small: None
) -> None:
    from backends.errors import ToolFailedError
    from backends.vendors.mdraid.backend import MdRaid

    run_making = MdRaid.run_making

    async def refusing(self: MdRaid, controller: object, steps: object) -> None:
        if "--level=raid10" in str(steps):
            raise ToolFailedError("no room for the layout.")
        await run_making(self, controller, steps)  # type: ignore[arg-type]

    monkeypatch.setattr(MdRaid, "run_making", refusing)
    bench = await bed.begun(plan("raid10", "raid0", more=CLEAN, repeats=2))
    record = await SweepRunner(bench).run_all()
    assert record.finished, record.end
    assert {array: "no room for the layout" in reason for array, reason in record.refused.items()} == {"a1": True}
    assert len(record.ended) == 2
    await require_nothing_left(bench)


@pytest.mark.long
async def test_one_drive_alone_is_measured_between_the_arrays_and_written_to(bed: Bed, small: None) -> None:
    text = plan("raid0", "jbod", repeats=2).replace('rw = "randread"', 'rw = "randwrite"')
    bed.lies("sdb", Content(filesystem="ext4", label="x", uuid="41f7c2d8-0b96-4e5a-a3d1-7c58e92b60f4"))
    bench = await bed.begun(text)
    record = await SweepRunner(bench).run_all()
    assert record.finished, record.end
    assert {end.result for end in record.ended} == {StepResult.DONE}
    measured_on = {run.start.device for run in bench.session.runs}
    assert len(measured_on) == 2
    assert any((where or "").endswith("sdb") for where in measured_on)
    assert bench.arrays.journal.entries() == ()


async def test_one_drive_alone_that_gets_a_filesystem_is_not_written_to(bed: Bed, small: None) -> None:
    text = plan("raid0", "jbod", repeats=2).replace('rw = "randread"', 'rw = "randwrite"')
    bench = await bed.begun(text)
    content = Content(filesystem="ext4", label="x", uuid="41f7c2d8-0b96-4e5a-a3d1-7c58e92b60f4")
    written: list[str] = []

    def hear(_: Session, event: AnyEvent) -> None:
        if isinstance(event, SweepStepEnded) and "md100" not in bed.file.rack.md:
            bed.lies("sdb", content)
        if isinstance(event, RunEnded) and bed.file.rack.lying.get("sdb") == content:
            written.append(event.id)

    bench.subscribe(hear)
    record = await SweepRunner(bench).run_all()
    assert record.end is not None
    assert record.end.result is not SweepResult.FINISHED
    assert written == []
    assert bed.file.rack.lying["sdb"] == content


@pytest.mark.long
async def test_a_drive_that_gets_a_filesystem_ends_it_and_keeps_the_filesystem(bed: Bed, small: None) -> None:
    bench = await bed.begun(plan("raid0", "raid10", more=CLEAN, repeats=2))
    gone = notes(bench, "Deleted the array ")
    content = Content(filesystem="ext4", label="x", uuid="41f7c2d8-0b96-4e5a-a3d1-7c58e92b60f4")

    def hear(_: Session, event: AnyEvent) -> None:
        if isinstance(event, NoteAdded) and gone and "sdd" not in bed.file.rack.lying:
            bed.lies("sdd", content)

    bench.subscribe(hear)
    record = await SweepRunner(bench).run_all()
    assert record.end is not None
    assert (record.end.result, record.end.left) == (SweepResult.FAILED, ())
    assert "The content of /dev/sdd changed after you confirmed it" in record.end.reason
    assert len(record.ended) == 1
    assert bed.file.rack.lying["sdd"] == content


@pytest.mark.long
@pytest.mark.parametrize("confirmed", [True, False])
async def test_what_an_array_leaves_of_a_confirmed_filesystem_does_not_end_it(
    bed: Bed, small: None, confirmed: bool
) -> None:
    rest = Content(filesystem="former ext4 (a copy of its superblock at 128 MiB)")
    if confirmed:
        bed.lies("sdd", Content(filesystem="ext4", label="x", uuid="41f7c2d8-0b96-4e5a-a3d1-7c58e92b60f4"))
    bench = await bed.begun(plan("raid0", "raid10", more=CLEAN, repeats=2))
    gone = notes(bench, "Deleted the array ")

    def hear(_: Session, event: AnyEvent) -> None:
        if isinstance(event, NoteAdded) and gone and bed.file.rack.lying.get("sdd") != rest:
            bed.lies("sdd", rest)

    bench.subscribe(hear)
    record = await SweepRunner(bench).run_all()
    assert record.finished is confirmed, record.end
    assert bed.file.rack.lying["sdd"] == rest or confirmed


@pytest.mark.long
async def test_a_stop_deletes_the_array_and_it_goes_on_later(bed: Bed, small: None) -> None:
    bench = await bed.begun(plan("raid0", "raid10", more=CLEAN))
    runner = SweepRunner(bench)
    bench.subscribe(lambda _, event: runner.stop() if isinstance(event, SweepStepEnded) else None)
    record = await runner.run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.STOPPED
    assert len(record.todo) == 1
    await require_nothing_left(bench)
    folder = bench.require_recording()
    bench.close()
    later = bed.bench()
    await later.open(folder)
    await later.hardware.probe()
    runner = SweepRunner(later)
    await runner.resume()
    assert (await runner.run_all()).finished
    await require_nothing_left(later)


@pytest.mark.long
@pytest.mark.parametrize("goes_on", [True, False])
async def test_killed_after_any_command_it_goes_on_or_is_put_back_and_leaves_nothing(
    bed: Bed, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    bench = await bed.begun(plan("raid50", more=CLEAN + AHEAD).replace('"sde"', '"sde", "sdf", "sdg"'))
    kept: list[Path] = []

    def keep(_: Session, event: AnyEvent) -> None:
        if (isinstance(event, CommandRan) and event.mutates) or isinstance(event, ChangeIntended):
            kept.append(tmp_path / f"copy{len(kept)}")
            shutil.copytree(bed.folder, kept[-1])

    bench.subscribe(keep)
    assert (await SweepRunner(bench).run_all()).finished
    folder = bench.require_recording()
    bench.close()
    assert len(kept) >= 10
    monkeypatch.setattr("app.core.changes.arrays.array_journal.is_running", lambda _pid, _start: False)
    for copy in kept[goes_on::2]:
        shutil.rmtree(bed.folder)
        shutil.copytree(copy, bed.folder)
        later = Bed(bed.folder).bench()
        await later.open(folder)
        await later.hardware.probe()
        runner = SweepRunner(later)
        if goes_on:
            await runner.resume()
            record = await runner.run_all()
            assert record.finished, (copy, record.end)
            assert {end.result for end in record.ended} == {StepResult.DONE}
        else:
            record = await runner.restore_and_stop()
        assert record.end is not None
        assert record.end.left == (), copy
        await require_nothing_left(later)
        later.close()
