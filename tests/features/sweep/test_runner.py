"""Sweeps on the simulated rack: measured, put back, and gone on with wherever a crash cut them short."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.session.events import AnyEvent, ChangeIntended, CommandRan
from app.core.session.locks import hold_lock
from app.core.session.paths import Paths
from app.core.session.state import Session
from app.core.session.sweep_record import SweepRecord, SweepStepEnded
from app.core.session.sweep_steps import StepResult, SweepResult
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import parse_plan
from app.features.sweep.engine.results import results
from app.features.sweep.engine.risk_assessment import assess_risk
from app.features.sweep.engine.runner import SweepRunner
from app.features.sweep.engine.targets import inspect_targets
from backends.errors import DeviceGoneError, NotFoundError, RefusedError
from backends.model import Scope, Target
from backends.simulator.firmware_rules import DEMO_KEY
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.state_file import RackFile
from backends.simulator.volume import Content
from tests.backends.simulator.asking import FAST, NOW

pytestmark = pytest.mark.slow

VOLUME = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
BEFORE = {"strip_size": "65536", "read_ahead": "none", "write_cache": "write-through", "io_policy": "direct"}

HEAD = """
[targets]
array = "megaraid:/c0/v1"
card = "megaraid:/c0"
[measure]
target = "array"
repeats = 1
pairs = 0
[job]
rw = "randread"
runtime = "2s"
ramp = "0s"
"""
AHEAD = '[[axis]]\ntarget="array"\nsetting="read_ahead"\nvalues=["none","read-ahead"]\n'
STRIP = '[[axis]]\ntarget="array"\nsetting="strip_size"\nvalues=["64k","128k"]\n'
FEATURE = f"""
[feature.FastPath]
target = "card"
simulated_key = "{DEMO_KEY}"
[[setup]]
name = "without"
lacks = "FastPath"
[[setup]]
name = "with"
needs = "FastPath"
"""


class Bed:
    """A state folder with a rack in it, and as many workbenches on it as there are processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = Paths(
            sessions=folder / "sessions",
            journal=folder / "journal",
            locks=folder / "locks",
            config=folder / "config.toml",
        )

    def rack(self) -> RackFile:
        return RackFile(self.folder / "rack.json", make=lambda: demo_rack(lambda: NOW))

    def bench(self) -> Workbench:
        return Workbench(SimulatedHost(self.rack(), speed=FAST), paths=self.paths, advisor=advise)

    async def begun(self, text: str) -> Workbench:
        bench = self.bench()
        await bench.hardware.probe()
        plan = parse_plan((HEAD + text).encode(), "plan.toml")
        known = await inspect_targets(bench, plan, {})
        surveyed = await assess_risk(bench, expand(plan, known, 1), known)
        assert not surveyed.refused
        await bench.open(fresh=True)
        await bench.hardware.probe()
        SweepRunner(bench).begin(surveyed.design)
        return bench

    async def go(self, text: str) -> Workbench:
        bench = await self.begun(text)
        await SweepRunner(bench).run_all()
        return bench

    async def resumed(self, session: Path) -> Workbench:
        bench = self.bench()
        await bench.open(session)
        await bench.hardware.probe()
        await made_again(bench)
        runner = SweepRunner(bench)
        if not runner.record.finished:
            await runner.resume()
            await runner.run_all()
        return bench


async def made_again(bench: Workbench) -> None:
    """What `recover` does after its word: a volume that was deleted and not made is made again."""
    for left in bench.changes.journal._newest_open_first():
        if left.change.members:
            try:
                await bench.hardware.read(left.change.target)
            except (NotFoundError, DeviceGoneError):
                _, plate = await bench.changes.plan_remake(left)
                await bench.changes.remake(left, plate.token)
                await bench.hardware.probe()


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    (tmp_path / "bed").mkdir()
    return Bed(tmp_path / "bed")


def record_of(bench: Workbench) -> SweepRecord:
    record = bench.session.sweep
    assert record is not None
    return record


def after_each(bench: Workbench, act: Callable[[SweepStepEnded], None]) -> None:
    """Do something when a step has ended."""
    bench.subscribe(lambda _session, event: act(event) if isinstance(event, SweepStepEnded) else None)


async def settings(bench: Workbench) -> dict[str, str | None]:
    readings = await bench.hardware.read(VOLUME)
    return {key: readings[key].now for key in BEFORE}


def options(bed: Bed) -> list[str]:
    return list(json.loads((bed.folder / "rack.json").read_text())["cards"][0]["options"])


@pytest.mark.long
async def test_every_step_is_done_and_everything_put_back(bed: Bed) -> None:
    bench = await bed.go(AHEAD + STRIP)
    record = record_of(bench)
    assert record.finished
    assert {end.result for end in record.ended} == {StepResult.DONE}
    assert len(record.ended) == len(record.steps)
    assert await settings(bench) == BEFORE
    assert bench.session.in_force == ()


@pytest.mark.long
async def test_every_run_is_made_with_its_own_settings(bed: Bed) -> None:
    bench = await bed.go(AHEAD + STRIP)
    record = record_of(bench)
    for step in record.steps:
        end = record.final_end(step)
        assert end is not None
        assert end.run is not None
        run = bench.session.run(end.run)
        wanted = {one.key: one.value for one in record.cell(step.cell).settings}
        assert run is not None
        assert {key: run.start.settings[key] for key in wanted} == wanted


async def test_a_feature_is_activated_on_the_way_and_forgotten_afterwards(bed: Bed) -> None:
    bench = await bed.go(FEATURE)
    assert record_of(bench).finished
    assert "FastPath" not in " ".join(options(bed))
    assert bench.session.in_force == ()


async def test_a_machine_that_nobody_may_restart_is_waited_for(bed: Bed) -> None:
    bench = await bed.begun(AHEAD + FEATURE)
    bench.restarts = None
    record = await SweepRunner(bench).run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.WAITING
    assert "restart the machine" in record.end.reason
    assert {record.cell(step.cell).needs for step in record.todo} == {("FastPath",)}
    assert await settings(bench) == BEFORE


async def test_a_stop_puts_everything_back_first(bed: Bed) -> None:
    bench = await bed.begun(AHEAD + STRIP)
    runner = SweepRunner(bench)
    after_each(bench, lambda _ended: runner.stop())
    record = await runner.run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.STOPPED
    assert record.todo
    assert await settings(bench) == BEFORE


@pytest.mark.long
async def test_a_stopped_sweep_goes_on_where_it_was(bed: Bed) -> None:
    bench = await bed.begun(AHEAD + STRIP)
    runner = SweepRunner(bench)
    after_each(bench, lambda _ended: runner.stop())
    await runner.run_all()
    bench.close()
    assert bench.folder is not None
    assert_whole(await bed.resumed(bench.folder))


async def test_what_somebody_else_set_meanwhile_is_left_alone_and_told(bed: Bed) -> None:
    bench = await bed.begun(AHEAD)

    def meddle(_ended: SweepStepEnded) -> None:
        with bed.rack().edit() as rack:
            rack.cards[0].volumes[1].read_ahead = "adaptive"

    after_each(bench, meddle)
    record = await SweepRunner(bench).run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.FAILED
    assert "another program" in record.end.left[0]
    assert (await settings(bench))["read_ahead"] == "adaptive"


async def test_what_somebody_else_set_after_a_crash_in_a_change_is_left_alone(bed: Bed, tmp_path: Path) -> None:
    bench = await bed.begun(AHEAD)
    copy = tmp_path / "copy"

    def keep(_session: Session, event: AnyEvent) -> None:
        if isinstance(event, ChangeIntended) and not copy.exists():
            shutil.copytree(bed.folder, copy)

    bench.subscribe(keep)
    await SweepRunner(bench).run_all()
    bench.close()
    assert bench.folder is not None
    shutil.rmtree(bed.folder)
    shutil.copytree(copy, bed.folder)
    with bed.rack().edit() as rack:
        rack.cards[0].volumes[1].read_ahead = "adaptive"
    again = bed.bench()
    await again.open(bench.folder)
    await again.hardware.probe()
    record = await SweepRunner(again).restore_and_stop()
    assert record.end is not None
    assert (await settings(again))["read_ahead"] == "adaptive"


async def test_a_second_sweep_in_a_session_is_refused(bed: Bed) -> None:
    bench = await bed.go(AHEAD)
    with pytest.raises(RefusedError):
        SweepRunner(bench).begin(record_of(bench).design)


async def test_two_sweeps_of_the_same_array_do_not_go_on_together(bed: Bed) -> None:
    bench = await bed.begun(AHEAD)
    with hold_lock(bench.locks, f"sweep-{VOLUME}", "sweep of another program"):
        record = await SweepRunner(bench).run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.FAILED
    assert "sweep of another program" in record.end.reason
    assert record.done == 0


async def test_what_lies_on_the_device_since_it_was_confirmed_is_not_destroyed(bed: Bed) -> None:
    bench = await bed.begun('[[axis]]\njob="iodepth"\nvalues=[1,2]\n[[axis]]\njob="rw"\nvalues=["randwrite"]\n')

    def put_something_there(_ended: SweepStepEnded) -> None:
        with bed.rack().edit() as rack:
            rack.cards[0].volumes[1].content = Content(filesystem="ext4", uuid="new")

    after_each(bench, put_something_there)
    record = await SweepRunner(bench).run_all()
    assert [end.result for end in record.ended] == [StepResult.DONE, StepResult.FAILED]
    assert "ext4" in record.ended[1].reason
    assert bed.rack().rack.cards[0].volumes[1].content is not None


def assert_whole(bench: Workbench) -> None:
    """No step lost or done twice, nothing of the sweep in force."""
    record = record_of(bench)
    assert record.finished, record.end
    done = [end.step for end in record.ended if end.result is StepResult.DONE]
    assert sorted(done) == [step.number for step in record.steps]
    runs = [end.run for end in record.ended if end.result is StepResult.DONE]
    assert len(set(runs)) == len(runs)
    assert bench.session.in_force == ()


class Crashes:
    """Copies of a state folder as a crash would have left it: after each command that changes, and at some events."""

    EVERY = 25

    def __init__(self, bed: Bed, into: Path) -> None:
        self._bed = bed
        self._into = into
        self._heard = 0
        self.kept: list[Path] = []

    def heard(self, _session: Session, event: AnyEvent) -> None:
        self._heard += 1
        if (isinstance(event, CommandRan) and event.mutates) or self._heard % self.EVERY == 0:
            copy = self._into / str(len(self.kept))
            shutil.copytree(self._bed.folder, copy)
            self.kept.append(copy)


@pytest.mark.exhaustive
async def test_a_crash_at_any_moment_loses_no_step_and_no_setting(bed: Bed, tmp_path: Path) -> None:
    bench = await bed.begun(STRIP + FEATURE)
    crashes = Crashes(bed, tmp_path / "crashes")
    bench.subscribe(crashes.heard)
    await SweepRunner(bench).run_all()
    bench.close()
    assert bench.folder is not None
    assert len(crashes.kept) > 10
    for copy in crashes.kept:
        shutil.rmtree(bed.folder)
        shutil.copytree(copy, bed.folder)
        resumed = await bed.resumed(bench.folder)
        assert_whole(resumed)
        assert await settings(resumed) == BEFORE, copy
        assert "FastPath" not in " ".join(options(bed)), copy
        resumed.close()


CURVE = "[saturation]\nfrom = 64\nto = 64\n[curve]\npercents = [20, 80, 140]\n"


@pytest.mark.long
async def test_a_curve_ends_with_a_rate_that_the_simulated_array_cannot_carry(bed: Bed) -> None:
    bench = await bed.go(CURVE)
    [curve] = results(record_of(bench), bench.session.runs).load_curves
    assert [(one.percent, one.carried, len(one.scores)) for one in curve.points] == [
        (20, True, 3),
        (80, True, 3),
        (140, False, 3),
    ]


@pytest.mark.long
async def test_a_curve_that_was_killed_goes_on_with_the_rates_it_had(bed: Bed) -> None:
    first = await bed.begun(CURVE)
    runner = SweepRunner(first)
    after_each(first, lambda end: runner.stop() if end.step == 5 else None)
    record = await runner.run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.STOPPED
    asked = [cell.job["rate_iops"] for cell in record.cells if "rate_iops" in cell.job]
    folder = first.folder
    first.close()
    assert folder is not None
    second = record_of(await bed.resumed(folder))
    assert [cell.job["rate_iops"] for cell in second.cells if "rate_iops" in cell.job][:3] == asked
    assert len(second.ended) == len({end.step for end in second.ended})
