"""A setting measured in pairs: in order, at its value, and put back however it ends."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.analysis.comparison import compare_experiment
from app.core.analysis.noise import RunNoise
from app.core.analysis.pair_design import STANDARD, letters_of, one_look
from app.core.analysis.stored_verdicts import stored_comparison
from app.core.analysis.verdict import Verdict
from app.core.benchmark.idle_wait import wait_until_idle
from app.core.benchmark.runner import BenchmarkRequest, RunPlan
from app.core.fio.job import Engine, Job, JobTarget
from app.core.presentation.comparison_text import comparison_sentence, interim_text
from app.core.session.event_types import InterimAnalysis, LoadEvent, PhaseChanged, SteadyPlan, WorkloadFinished
from app.core.session.results import Phase, RunStatus
from app.core.session.state import replay
from app.core.session.store import load
from app.features.ab.experiment import run_experiment
from app.features.ab.plan import AbPlan, plan_ab, plan_null, resumable_experiment
from app.features.ab.presentation import plan_noise_text
from backends.change import Change
from backends.errors import InvalidValueError, RefusedError, StorageError
from backends.model import Target
from backends.settings import Effect, Risk
from tests.backends.fakes import FakeHost
from tests.core.broken_disk import taking_nothing
from tests.tui.stage import SECTOR, Table, figures, kernel, set_table

SDA = Target(backend="block", address="sda")
KB = f"{SECTOR}/read_ahead_kb"


class ScriptedLoad:
    """Every run ends at once; what it measures depends on the machine, and `at_run` may interfere."""

    def __init__(self, host: FakeHost, iops: Callable[[FakeHost, int], float]) -> None:
        self.host = host
        self.iops = iops
        self.values: list[str] = []
        self.at_run: dict[int, Callable[[], RunStatus]] = {}

    async def run(
        self,
        job: Job,
        targets: Sequence[JobTarget],
        workdir: Path,
        stop: asyncio.Event,
        *,
        steady: SteadyPlan | None = None,
    ) -> AsyncGenerator[LoadEvent, None]:
        yield PhaseChanged(phase=Phase.MEASURING)
        self.values.append(self.host.files[KB])
        number = len(self.values)
        status = self.at_run[number]() if number in self.at_run else RunStatus.OK
        if stop.is_set():
            status = RunStatus.STOPPED
        ended = figures(status, None if status is RunStatus.OK else "it went wrong", self.iops(self.host, number))
        yield WorkloadFinished(figures=ended, raw=workdir / "fio.out")

    def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        raise NotImplementedError

    def fill(
        self, target: JobTarget, workdir: Path, stop: asyncio.Event, *, loops: int, engine: Engine, block: int
    ) -> AsyncGenerator[LoadEvent, None]:
        raise NotImplementedError


def iops_of(host: FakeHost, number: int) -> float:
    """A fifth less with the larger read-ahead, and a little chance."""
    return (80_000.0 if host.files[KB] == "4096" else 100_000.0) * (1 + 0.002 * (number % 3))


@pytest.fixture
async def table(tmp_path: Path) -> Table:
    table = set_table(tmp_path)
    table.load = ScriptedLoad(table.host, iops_of)  # type: ignore[assignment]
    measurer = table.bench.jobs._measurer

    def scripted(folder: Path) -> object:
        made = measurer(folder)
        made._load = table.load
        return made

    table.bench.jobs._measurer = scripted  # type: ignore[method-assign, assignment]
    await table.bench.open(tmp_path / "sessions" / "s1")
    await table.bench.hardware.probe()
    return table


def script(table: Table) -> ScriptedLoad:
    assert isinstance(table.load, ScriptedLoad)
    return table.load


async def planned(table: Table, *, pairs: int = 3, key: str = "read_ahead_kb", value: str = "4096") -> AbPlan:
    change = await table.bench.hardware.plan(SDA, key, value)
    ready = await table.bench.jobs.prepare(BenchmarkRequest(where="/dev/sda", name="block:sda", job=Job()))
    return plan_ab(change, ready, looks=one_look(pairs), rest_seconds=None, seed=1)


async def test_every_run_is_measured_at_the_value_of_its_letter(table: Table) -> None:
    plan = await planned(table)
    await run_experiment(table.bench, plan)
    values = {"A": "128", "B": "4096"}
    assert script(table).values == [values[letter] for letter in plan.order]


async def test_the_setting_is_put_back_and_nothing_is_left_in_force(table: Table) -> None:
    record = await run_experiment(table.bench, await planned(table))
    assert record.end is not None
    assert (table.host.files[KB], record.end.restored, table.bench.changes.undoable()) == ("128", True, ())


async def test_it_is_set_as_often_as_the_plan_says(table: Table) -> None:
    plan = await planned(table, pairs=4)
    await run_experiment(table.bench, plan)
    assert len(table.host.written) == plan.switches


async def test_the_runs_carry_their_place(table: Table) -> None:
    plan = await planned(table)
    await run_experiment(table.bench, plan)
    marks = [run.start.mark for run in table.bench.session.runs]
    assert [(mark.experiment, mark.letter, mark.pair) for mark in marks if mark is not None] == [
        ("e1", letter, at // 2 + 1) for at, letter in enumerate(plan.order)
    ]


def told(table: Table, experiment: str) -> str:
    """What a reader of the session is told of an experiment that has ended."""
    both = stored_comparison(table.bench.session, experiment)
    assert both is not None
    return comparison_sentence(both)


async def test_the_verdict_is_in_one_sentence(table: Table) -> None:
    record = await run_experiment(table.bench, await planned(table))
    assert record.end is not None
    assert told(table, "e1").startswith("Slower with read-ahead 4096 KiB than with 128 KiB: read IOPS -19.")


async def test_what_is_shown_on_the_way_is_no_verdict(table: Table) -> None:
    said: list[str] = []
    table.bench.subscribe(lambda session, _: said.append(interim_text(session, "e1")))
    await run_experiment(table.bench, await planned(table))
    assert all(text.endswith("not yet decided") for text in said if text)
    assert any(said)


async def test_the_session_on_disk_tells_the_same(table: Table) -> None:
    await run_experiment(table.bench, await planned(table))
    assert table.bench.folder is not None
    again = load(table.bench.folder).session
    assert again.experiments == table.bench.session.experiments
    assert compare_experiment(again, "e1") == compare_experiment(replay(table.bench.session.events), "e1")


@pytest.mark.parametrize("number", [1, 2, 4])
async def test_a_run_that_fails_ends_it_with_the_old_value(table: Table, number: int) -> None:
    script(table).at_run[number] = lambda: RunStatus.FAILED
    record = await run_experiment(table.bench, await planned(table))
    assert record.end is not None
    assert (record.end.status, record.end.restored, table.host.files[KB]) == (RunStatus.FAILED, True, "128")
    assert len(script(table).values) == number


async def test_a_stop_ends_it_with_the_whole_pairs_so_far(table: Table) -> None:
    def stop() -> RunStatus:
        table.bench.jobs.stop()
        return RunStatus.OK

    script(table).at_run[4] = stop
    record = await run_experiment(table.bench, await planned(table))
    sides = compare_experiment(table.bench.session, "e1")
    assert record.end is not None
    assert sides is not None
    assert (record.end.status, len(sides.sides.a), table.host.files[KB]) == (RunStatus.STOPPED, 1, "128")


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_cancellation_puts_it_back_first(table: Table, number: int) -> None:
    plan = await planned(table)
    task = asyncio.create_task(run_experiment(table.bench, plan))

    def cancel() -> RunStatus:
        task.cancel()
        return RunStatus.OK

    script(table).at_run[number] = cancel
    with pytest.raises(asyncio.CancelledError):
        await task
    ended = table.bench.session.experiments[0].end
    assert ended is not None
    assert (ended.status, ended.restored, table.host.files[KB]) == (RunStatus.STOPPED, True, "128")
    assert not table.bench.jobs.running


async def test_a_value_that_cannot_be_put_back_is_told(table: Table) -> None:
    def jam() -> RunStatus:
        table.host.refusing[KB] = "Input/output error"
        return RunStatus.OK

    plan = await planned(table)
    script(table).at_run[plan.order.index("B") + 1] = jam
    record = await run_experiment(table.bench, plan)
    assert record.end is not None
    assert (record.end.status, record.end.restored) == (RunStatus.FAILED, False)
    assert "Input/output error" in record.end.reason
    assert len(table.bench.changes.undoable()) == 1


async def test_a_run_that_ended_itself_is_told_with_its_reason(table: Table) -> None:
    script(table).at_run[2] = lambda: RunStatus.STOPPED
    record = await run_experiment(table.bench, await planned(table))
    assert record.end is not None
    assert (record.end.status, record.end.reason) == (RunStatus.STOPPED, "r2 was stopped: it went wrong")
    assert table.host.files[KB] == "128"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
async def test_what_can_be_neither_put_back_nor_recorded_is_told(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    plan = await planned(table)
    first_b = plan.order.index("B") + 1
    with ExitStack() as broken:

        def fail() -> RunStatus:
            broken.enter_context(taking_nothing(monkeypatch, tmp_path, code))
            return RunStatus.OK

        script(table).at_run[first_b] = fail
        with pytest.raises(StorageError) as caught:
            await run_experiment(table.bench, plan)
    assert table.host.files[KB] == "4096"
    assert "Read-ahead of block:sda was not restored to 128." in caught.value.message
    assert "run `raidbench recover` to restore the values" in caught.value.hint


async def test_what_somebody_else_set_meanwhile_is_left_alone(table: Table) -> None:
    def meddle() -> RunStatus:
        table.host.files[KB] = "777"
        return RunStatus.OK

    plan = await planned(table)
    script(table).at_run[plan.order.index("B") + 1] = meddle
    record = await run_experiment(table.bench, plan)
    assert record.end is not None
    assert (record.end.restored, table.host.files[KB]) == (False, "777")
    assert "Another program changed it" in record.end.reason


async def test_what_moves_along_is_put_back_and_told(table: Table) -> None:
    def resets(host: FakeHost, path: str, text: str) -> None:
        kernel(host, path, text)
        if path == KB:
            host.files[f"{SECTOR}/nomerges"] = "2"

    table.host.kernel = resets
    record = await run_experiment(table.bench, await planned(table))
    assert record.end is not None
    assert (record.end.moved, table.host.files[f"{SECTOR}/nomerges"]) == ({"nomerges": "0 -> 2"}, "0")
    assert table.bench.changes.undoable() == ()


async def test_what_moves_along_and_back_by_itself_is_told_too(table: Table) -> None:
    def follows(host: FakeHost, path: str, text: str) -> None:
        kernel(host, path, text)
        if path == KB:
            host.files[f"{SECTOR}/nomerges"] = "2" if text == "4096" else "0"

    table.host.kernel = follows
    record = await run_experiment(table.bench, await planned(table))
    assert record.end is not None
    assert record.end.moved == {"nomerges": "0 -> 2"}


async def test_what_moves_along_and_cannot_be_set_meanwhile_is_told_too(table: Table) -> None:
    table.host.files |= {f"{SECTOR}/max_sectors_kb": "1280", f"{SECTOR}/max_hw_sectors_kb": "4096"}

    def closes(host: FakeHost, path: str, text: str) -> None:
        kernel(host, path, text)
        if path == KB:
            host.files[f"{SECTOR}/max_sectors_kb"] = "64" if text == "4096" else "1280"
            host.files[f"{SECTOR}/max_hw_sectors_kb"] = "" if text == "4096" else "4096"

    table.host.kernel = closes
    record = await run_experiment(table.bench, await planned(table))
    assert record.end is not None
    assert (record.end.moved, record.end.restored) == ({"max_sectors_kb": "1280 -> 64"}, True)


LARGEST = f"{SECTOR}/max_sectors_kb"


def limits(host: FakeHost, path: str, text: str) -> None:
    """As Linux 6.18: a smaller largest request raises read-ahead to its default."""
    kernel(host, path, text)
    if path == LARGEST:
        host.files[KB] = str(max(int(host.files[KB]), 2 * int(text), 128))


async def test_what_the_kernel_resets_with_the_tried_setting_comes_back(table: Table) -> None:
    table.host.files |= {LARGEST: "1280", f"{SECTOR}/max_hw_sectors_kb": "1280", KB: "64"}
    table.host.kernel = limits
    plan = await planned(table, key="max_sectors_kb", value="256")
    record = await run_experiment(table.bench, plan)
    assert record.end is not None
    assert (record.end.restored, record.end.moved) == (True, {"read_ahead_kb": "64 -> 512"})
    assert (table.host.files[LARGEST], table.host.files[KB]) == ("1280", "64")
    assert script(table).values == [{"A": "64", "B": "512"}[letter] for letter in plan.order]


async def test_what_somebody_sets_during_a_run_is_no_side_effect(table: Table) -> None:
    def meddle() -> RunStatus:
        table.host.files[f"{SECTOR}/nomerges"] = "2"
        return RunStatus.OK

    plan = await planned(table)
    script(table).at_run[plan.order.index("B") + 1] = meddle
    record = await run_experiment(table.bench, plan)
    assert record.end is not None
    assert (record.end.status, record.end.moved) == (RunStatus.OK, {})
    assert table.host.files[f"{SECTOR}/nomerges"] == "2"


async def test_what_moved_along_and_was_set_since_is_left_alone(table: Table) -> None:
    def resets(host: FakeHost, path: str, text: str) -> None:
        kernel(host, path, text)
        if path == KB and text == "4096":
            host.files[f"{SECTOR}/nomerges"] = "2"

    def meddle() -> RunStatus:
        table.host.files[f"{SECTOR}/nomerges"] = "1"
        return RunStatus.OK

    table.host.kernel = resets
    plan = await planned(table)
    script(table).at_run[plan.order.index("B") + 1] = meddle
    record = await run_experiment(table.bench, plan)
    assert record.end is not None
    assert (record.end.moved, table.host.files[f"{SECTOR}/nomerges"]) == ({"nomerges": "0 -> 2"}, "1")


@pytest.mark.parametrize("letter", ["A", "B"])
async def test_a_run_whose_setting_was_changed_meanwhile_does_not_count(table: Table, letter: str) -> None:
    def meddle() -> RunStatus:
        table.host.files[KB] = "777"
        return RunStatus.OK

    plan = await planned(table)
    number = len(plan.order) - plan.order[::-1].index(letter)
    script(table).at_run[number] = meddle
    record = await run_experiment(table.bench, plan)
    assert record.end is not None
    assert (record.end.status, record.end.not_counted) == (RunStatus.FAILED, (f"r{number}",))
    assert f"was 777, not {'128' if letter == 'A' else '4096'}, at the end of r{number}" in record.end.reason
    shown = compare_experiment(table.bench.session, record.id)
    counted = [] if shown is None else [run.id for run in (*shown.sides.a, *shown.sides.b)]
    assert f"r{number}" not in counted


async def test_nothing_else_is_measured_meanwhile(table: Table) -> None:
    plan = await planned(table)
    refused: list[Exception] = []

    async def other() -> None:
        try:
            await table.bench.jobs.measure(plan.ready)
        except RefusedError as error:
            refused.append(error)

    tasks: list[asyncio.Task[None]] = []
    table.bench.subscribe(lambda *_: tasks.append(asyncio.create_task(other())) if not tasks else None)
    await run_experiment(table.bench, plan)
    await asyncio.gather(*tasks)
    assert len(refused) == 1


@pytest.fixture
async def both(table: Table) -> tuple[Change, RunPlan]:
    plan = await planned(table)
    return plan.change, plan.ready


@pytest.mark.parametrize("effect", [Effect.REBOOT, Effect.RESET, Effect.RESHAPE, Effect.RECREATED])
async def test_what_cannot_be_set_in_turn_is_refused_with_what_to_do(
    both: tuple[Change, RunPlan], effect: Effect
) -> None:
    with pytest.raises(RefusedError) as caught:
        plan_ab(replace(both[0], effect=effect), both[1])
    assert "raidbench compare" in caught.value.hint


async def test_what_destroys_data_is_refused(both: tuple[Change, RunPlan]) -> None:
    with pytest.raises(RefusedError, match="destroys data"):
        plan_ab(replace(both[0], risk=Risk.DESTROYS_DATA), both[1])


async def test_a_value_that_is_not_known_cannot_be_gone_back_to(both: tuple[Change, RunPlan]) -> None:
    with pytest.raises(RefusedError, match="its current value is unknown"):
        plan_ab(replace(both[0], before=None, undo=()), both[1])


async def test_the_value_in_force_is_nothing_to_compare_with(both: tuple[Change, RunPlan]) -> None:
    with pytest.raises(InvalidValueError, match="already"):
        plan_ab(replace(both[0], after="128"), both[1])


async def test_a_job_without_a_run_time_is_refused(both: tuple[Change, RunPlan]) -> None:
    job = Job(passes=1, runtime=0, ramp=0)
    with pytest.raises(InvalidValueError, match="no run time"):
        plan_ab(both[0], replace(both[1], job=job))


async def test_the_time_of_a_plan_is_that_of_all_runs_and_pauses(both: tuple[Change, RunPlan]) -> None:
    plan = plan_ab(both[0], both[1], looks=one_look(6), rest_seconds=5.0)
    assert plan.seconds == 12 * (10 + 60) + sum(plan.rests)


async def test_no_two_pauses_are_of_one_length_and_none_is_shorter_than_asked(both: tuple[Change, RunPlan]) -> None:
    plan = plan_ab(both[0], both[1], rest_seconds=5.0)
    assert len(set(plan.rests)) == len(plan.order)
    assert all(5.0 <= pause <= 5.0 + 70 / 3 for pause in plan.rests)


async def test_pauses_are_drawn_also_where_none_was_asked_for(both: tuple[Change, RunPlan]) -> None:
    plan = plan_ab(both[0], both[1], rest_seconds=0.0)
    assert len(set(plan.rests)) == len(plan.order)
    assert max(plan.rests) > 70 / 6


async def test_what_is_simulated_has_no_pauses(both: tuple[Change, RunPlan]) -> None:
    assert set(plan_ab(both[0], both[1], rest_seconds=None).rests) == {0.0}


@pytest.mark.parametrize("pairs", [1, 2])
async def test_fewer_than_three_pairs_are_said_to_carry_no_verdict(both: tuple[Change, RunPlan], pairs: int) -> None:
    plan = plan_ab(both[0], both[1], looks=one_look(pairs), noise=RunNoise(sd=0.02, dof=7, runs=8))
    assert plan.sights == ()
    assert plan_noise_text(plan) == "Fewer than 3 pairs give no verdict."


async def test_a_difference_that_shows_early_ends_it_at_the_first_look(table: Table) -> None:
    change = await table.bench.hardware.plan(SDA, "read_ahead_kb", "4096")
    ready = await table.bench.jobs.prepare(BenchmarkRequest(where="/dev/sda", name="block:sda", job=Job()))
    record = await run_experiment(table.bench, plan_ab(change, ready, rest_seconds=None, seed=1))
    assert record.end is not None
    assert (record.end.status, len(script(table).values), record.start.pairs) == (RunStatus.OK, 12, 20)
    assert "in 6 pairs" in told(table, "e1")


async def test_a_stopped_experiment_is_not_decided_and_goes_on_by_its_plan(table: Table) -> None:
    def stop() -> RunStatus:
        table.bench.jobs.stop()
        return RunStatus.OK

    change = await table.bench.hardware.plan(SDA, "read_ahead_kb", "4096")
    ready = await table.bench.jobs.prepare(BenchmarkRequest(where="/dev/sda", name="block:sda", job=Job()))
    script(table).at_run[6] = stop
    stopped = await run_experiment(table.bench, plan_ab(change, ready, rest_seconds=None, seed=1))
    assert stopped.end is not None
    assert "the verdict is due after 6 pairs, 4 pairs more" in told(table, "e1")
    record, done = resumable_experiment(table.bench.session, "e1", change, ready)
    more = plan_ab(change, ready, rest_seconds=None, goes_on=record, done=done)
    ended = await run_experiment(table.bench, more)
    assert ended.end is not None
    assert [each.id for each in table.bench.session.experiments] == ["e1"]
    assert "Slower with" in told(table, "e1")
    assert "in 6 pairs" in told(table, "e1")
    assert table.host.files[KB] == "128"


async def test_an_experiment_that_is_complete_has_no_more_pairs(table: Table) -> None:
    plan = await planned(table)
    await run_experiment(table.bench, plan)
    with pytest.raises(RefusedError, match="is complete"):
        resumable_experiment(table.bench.session, "e1", plan.change, plan.ready)


async def test_another_value_is_another_experiment(table: Table) -> None:
    plan = await planned(table)
    await run_experiment(table.bench, plan)
    other = await table.bench.hardware.plan(SDA, "read_ahead_kb", "2048")
    with pytest.raises(RefusedError, match="e1 measured Read-ahead of block:sda, 128 KiB against 4096 KiB"):
        resumable_experiment(table.bench.session, "e1", other, plan.ready)


STAT = "/sys/class/block/sda/stat"


class Counting(FakeHost):
    """A disk whose counters stand still after some looks."""

    looks = 0
    busy = 0

    async def read(self, path: str) -> str | None:
        if path != STAT:
            return await super().read(path)
        self.looks += 1
        done = min(self.looks, self.busy)
        return f"{done} 0 {done * 8} 1 0 0 0 0 {int(self.looks < self.busy)} 5 5"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.benchmark.idle_wait.POLL_SECONDS", 0.001)


async def test_a_device_at_rest_is_not_waited_for(at_once: None) -> None:
    host = Counting({})
    assert (await wait_until_idle(host, "/dev/sda", 0.0, asyncio.Event()), host.looks) == (True, 2)


async def test_a_busy_device_is_waited_for(at_once: None) -> None:
    host = Counting({})
    host.busy = 6
    assert (await wait_until_idle(host, "/dev/sda", 0.0, asyncio.Event()), host.looks) == (True, 7)


async def test_a_device_that_never_rests_is_told(at_once: None) -> None:
    host = Counting({})
    host.busy = 10_000
    assert not await wait_until_idle(host, "/dev/sda", 0.0, asyncio.Event(), patience=0.02)


async def test_the_pause_ends_with_a_stop() -> None:
    stop = asyncio.Event()
    stop.set()
    assert await wait_until_idle(FakeHost({}), "/dev/sda", 3600.0, stop)


async def test_a_restless_device_is_in_the_warnings_of_the_run(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async def restless(*_: object) -> bool:
        return False

    monkeypatch.setattr("app.features.ab.experiment.wait_until_idle", restless)
    await run_experiment(table.bench, await planned(table))
    assert "The device was not idle before this run." in " ".join(table.bench.session.runs[0].figures.warnings)


@pytest.mark.parametrize(("pairs", "few"), [(3, "27 %"), (5, "13 %"), (7, "13 %")])
async def test_a_plan_of_few_pairs_says_what_it_does_not_protect_from(
    both: tuple[Change, RunPlan], pairs: int, few: str
) -> None:
    plan = plan_ab(both[0], both[1], looks=one_look(pairs))
    assert plan_noise_text(plan).endswith(
        f"up to {few} of equal settings are reported as different; from 8 pairs on, 6 %."
    )


async def test_a_plan_of_many_pairs_has_nothing_to_warn_of(both: tuple[Change, RunPlan]) -> None:
    for looks in (STANDARD, one_look(8)):
        assert "protect" not in plan_noise_text(plan_ab(both[0], both[1], looks=looks))
    assert "protect" not in plan_noise_text(plan_null(SDA, both[1], pairs=6))


async def test_an_experiment_goes_on_in_its_order_by_its_levels(table: Table) -> None:
    """It was planned with other looks, and drew another order from its seed."""
    change = await table.bench.hardware.plan(SDA, "read_ahead_kb", "4096")
    ready = await table.bench.jobs.prepare(BenchmarkRequest(where="/dev/sda", name="block:sda", job=Job()))
    old = (InterimAnalysis(pairs=3, level=0.008), InterimAnalysis(pairs=5, level=0.017))
    planned = plan_ab(change, ready, looks=old, rest_seconds=None, seed=1)
    reversed_order = tuple("B" if letter == "A" else "A" for letter in planned.order)

    def stop() -> RunStatus:
        table.bench.jobs.stop()
        return RunStatus.OK

    script(table).at_run[3] = stop
    await run_experiment(table.bench, replace(planned, order=letters_of(reversed_order)))
    record, done = resumable_experiment(table.bench.session, "e1", change, ready)
    more = plan_ab(change, ready, rest_seconds=None, goes_on=record, done=done)
    assert (more.order, more.looks, done) == (reversed_order, old, 1)
    ended = await run_experiment(table.bench, more)
    shown = stored_comparison(table.bench.session, "e1")
    assert ended.end is not None
    assert shown is not None
    assert (shown.level, len(shown.sides.a)) == (0.008, 3)
    assert shown.headline is not None
    assert shown.headline.judgement is not None
    assert shown.headline.judgement.verdict is Verdict.SLOWER
