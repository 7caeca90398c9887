"""A wall clock that is set, forward or back, changes no order and no deadline."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.analysis.drift import RunPattern, disturbances
from app.core.analysis.pair_design import RULE
from app.core.analysis.sample_groups import ComparisonSides, RunOrder, sides_of
from app.core.changes import watchdog
from app.core.changes.side_effects import without_earlier
from app.core.changes.trial import check_seconds
from app.core.interrupted_experiments import _changes_in_force, open_experiments
from app.core.presentation.change import change_facts
from app.core.presentation.table import text_of
from app.core.session import folders as pool
from app.core.session import journal, store
from app.core.session.event_types import MovedSetting
from app.core.session.events import ExperimentEnded, ExperimentStarted, LoggedEvent, NoteAdded
from app.core.session.flag_files import EXPERIMENT, SWEEP, SessionFlag
from app.core.session.folders import LOG, session_folders
from app.core.session.journal import boot_clock
from app.core.session.paths import Paths
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord, Session, replay
from app.core.session.store import SessionLog, create_session_folder, find_continuable, latest_session
from backends.settings import Persistence
from tests.case_loop import loop_over
from tests.core import sessions
from tests.core.changes.test_trials import Trial, watch
from tests.core.doubles import TARGET, planned
from tests.core.session.test_state import STARTED, ended, intended

HOUR, YEARS = 3600.0, 10 * 365.25 * 86400.0
BACK = [pytest.param(HOUR, id="an hour"), pytest.param(YEARS, id="years")]


def paths_at(state: Path) -> Paths:
    return Paths.at(state)


def used(paths: Paths, name: str, *, ahead: float = 0.0) -> Path:
    """A session that was used; `ahead`: with a clock that was so many seconds ahead of the one of now."""
    folder = paths.sessions / name
    log = SessionLog(folder, among=paths.sessions)
    log.append(STARTED)
    log.close()
    if ahead:
        when = time.time() + ahead
        os.utime(folder / LOG, (when, when))
    return folder


def at_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the wall clock by so many seconds from now."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)


# -- sessions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("back", BACK)
def test_the_last_session_is_the_one_used_last_though_the_clock_was_set_back(tmp_path: Path, back: float) -> None:
    paths = paths_at(tmp_path)
    first = used(paths, "2040-01-01-000000", ahead=back)
    second = used(paths, "2026-01-01-000000")
    third = used(paths, "2025-01-01-000000")
    assert (latest_session(paths), session_folders(paths)) == (third, [third, second, first])


@pytest.mark.parametrize("back", BACK)
def test_a_session_that_is_continued_after_the_clock_was_set_back_is_the_last_one(tmp_path: Path, back: float) -> None:
    paths = paths_at(tmp_path)
    first, second = used(paths, "a"), used(paths, "b", ahead=back)
    for _ in range(2):
        assert used(paths, "a") == first
    assert session_folders(paths) == [first, second]


def test_an_order_is_kept_where_times_are_of_two_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.utime

    def coarse(where: int | str, ns: tuple[int, int]) -> None:
        real(where, ns=(ns[0] // 2_000_000_000 * 2_000_000_000,) * 2)

    paths = paths_at(tmp_path)
    used(paths, "b", ahead=HOUR)
    monkeypatch.setattr(store, "os", SimpleNamespace(**{**vars(os), "utime": coarse}))
    assert session_folders(paths)[0] != used(paths, "a") == latest_session(paths)


def test_an_open_log_keeps_its_time_when_the_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, kept = [2_000], list[int]()

    def fstat(descriptor: int) -> SimpleNamespace:
        return SimpleNamespace(st_mtime_ns=clock[0], st_size=os.fstat(descriptor).st_size)

    def utime(_: int, ns: tuple[int, int]) -> None:
        kept.append(ns[1])

    log = SessionLog(tmp_path / "a")
    monkeypatch.setattr(store, "os", SimpleNamespace(**{**vars(os), "fstat": fstat, "utime": utime}))
    for clock[0] in (2_000, 1_000, 1_500, 3_000):
        log.append(STARTED)
    log.close()
    assert kept == [2_000, 2_000]


def test_a_filesystem_that_sets_no_times_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    paths = paths_at(tmp_path)
    used(paths, "a", ahead=HOUR)
    monkeypatch.setattr(os, "utime", refuse)
    assert pool.last_use_time(used(paths, "b")) is not None


def test_with_a_clock_that_goes_on_a_log_has_the_time_of_its_last_line(tmp_path: Path) -> None:
    paths, before = paths_at(tmp_path), time.time()
    used(paths, "a")
    when = pool.last_use_time(used(paths, "b"))
    assert when is not None
    assert before - 1 <= when <= time.time() + 1


@pytest.mark.parametrize("back", BACK)
def test_after_the_clock_was_set_back_commands_go_on_with_one_session(tmp_path: Path, back: float) -> None:
    paths = paths_at(tmp_path)
    used(paths, "a", ahead=back)
    second = used(paths, "b")
    assert find_continuable(paths, host=STARTED.machine.host, simulated=False) == second


@pytest.mark.parametrize("back", BACK)
def test_a_session_of_before_the_clock_was_set_back_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: float
) -> None:
    paths = paths_at(tmp_path)
    used(paths, "a")
    at_clock(monkeypatch, -back)
    assert find_continuable(paths, host=STARTED.machine.host, simulated=False) is None


def test_the_tenth_session_of_one_second_is_newer_than_the_ninth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = paths_at(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda _form: "1970-01-01-000005")
    made = [used(paths, create_session_folder(paths.sessions).name) for _ in range(12)]
    for folder in made:
        os.utime(folder / LOG, (5, 5))
    assert session_folders(paths) == made[::-1]


@pytest.mark.parametrize("mark", [EXPERIMENT, SWEEP])
def test_marked_sessions_come_in_the_order_of_their_use(tmp_path: Path, mark: SessionFlag) -> None:
    paths = paths_at(tmp_path)
    first, second = used(paths, "2040-01-01-000000", ahead=HOUR), used(paths, "2026-01-01-000000")
    for folder in (first, second):
        mark.create(folder)
    assert mark.folders(paths) == (second, first)


# -- trials ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [HOUR, -HOUR, YEARS, -YEARS, pytest.param(-time.time(), id="to 1970")])
async def test_a_deadline_holds_whatever_the_wall_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    bench, clock = Trial(tmp_path), [boot_clock()]
    until = clock[0] + check_seconds(10.0)
    seen: list[tuple[bool, str | None]] = []

    async def sleep(waited: float) -> None:
        seen.append((clock[0] < until, bench.backend.value))
        clock[0] += max(waited, 1.0)

    monkeypatch.setattr(watchdog, "asyncio", SimpleNamespace(sleep=sleep))
    for module in (watchdog, journal):
        monkeypatch.setattr(module, "boot_clock", lambda: clock[0])
    await bench.changer.apply(planned("128", "256"), until=until)
    at_clock(monkeypatch, seconds)
    assert await watch(bench, tmp_path, until) == "restored"
    assert bench.backend.value == "128"
    assert len(seen) >= 10
    assert set(seen) == {(True, "256")}


@pytest.mark.parametrize("seconds", [YEARS, -YEARS])
def test_the_clock_of_deadlines_is_not_the_wall_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    before = boot_clock()
    at_clock(monkeypatch, seconds)
    assert 0 <= boot_clock() - before < HOUR


@pytest.mark.parametrize("persistence", Persistence)
async def test_after_a_reboot_at_1970_no_trial_is_under_way_and_what_stays_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, persistence: Persistence
) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256", persistence=persistence), until=boot_clock() + 600)
    monkeypatch.setattr(journal, "boot_id", lambda: "another")
    monkeypatch.setattr(journal, "boot_clock", lambda: 5.0)
    monkeypatch.setattr(time, "time", lambda: 5.0)
    left = () if persistence is Persistence.LOST_AT_REBOOT else ("c1",)
    assert (bench.journal.trials(), tuple(one.id for one in bench.journal.unresolved())) == ((), left)


# -- within a session --------------------------------------------------------------------------------------------------


def of_an_experiment(*, at: Sequence[float]) -> Session:
    """An experiment that was killed, with the clock so at its start, its change, the next start, a wish of the user."""
    start = ExperimentStarted(
        at=at[0],
        id="e1",
        target=TARGET,
        key="read_ahead_kb",
        label="",
        a="128",
        b="256",
        order=("A", "B"),
        title="",
        measured="",
        rule=RULE,
    )
    own, later = replace(intended("c1"), at=at[1]), replace(intended("c2"), at=at[3])
    return replay(
        [STARTED, start, own, ended("verified", "c1"), replace(STARTED, at=at[2]), later, ended("verified", "c2")]
    )


@pytest.mark.parametrize(
    "at",
    [
        pytest.param((100.0, 110.0, 120.0, 130.0), id="goes on"),
        pytest.param((100.0, 50.0, 60.0, 70.0), id="set back after its start"),
        pytest.param((100.0, 110.0, 20.0, 30.0), id="set back after the kill"),
        pytest.param((100.0, 110.0, 20.0, 105.0), id="set back to its time"),
        pytest.param((100.0, 9e9, 9e9, 105.0), id="set forward and back"),
    ],
)
def test_a_killed_experiment_leaves_its_own_change_and_no_other(at: tuple[float, ...]) -> None:
    session = of_an_experiment(at=at)
    (record,) = open_experiments(session)
    assert [change.id for change in _changes_in_force(session, record)] == ["c1"]


def test_an_experiment_that_restored_its_value_or_changed_nothing_is_not_open() -> None:
    session = of_an_experiment(at=(100.0, 110.0, 120.0, 130.0))
    (record,) = session.experiments
    end = ExperimentEnded(at=115.0, id="e1", status=RunStatus.STOPPED, restored=True)
    assert open_experiments(replace(session, experiments=(replace(record, end=end),))) == ()
    assert open_experiments(replace(session, changes=())) == ()


@pytest.mark.parametrize("clock", [10.0, 1.0, 9e9])
@pytest.mark.parametrize("after", [True, False])
def test_what_a_reverted_trial_had_moved_is_known_by_the_order_of_the_log(clock: float, after: bool) -> None:
    """A trial led 128 to 512; a change was made that found 512 there. It goes back to 128 if the trial ended later."""
    moved = (MovedSetting(target=TARGET, key="read_ahead_kb", before="128", now="512", explained=True, restored=False),)
    trial = replace(intended("c1"), change=replace(intended().change, key="max_sectors_kb"), trial_until=1.0)
    verified = replace(ended("verified", "c1"), moved=moved)
    other = replace(intended("c2", before="512"), at=5.0)
    reverted = replace(ended("restored", "c1"), at=clock)
    events: list[LoggedEvent] = [STARTED, trial, verified]
    events += [other, ended("verified", "c2"), reverted] if after else [reverted, other, ended("verified", "c2")]
    made = replay(events).changes
    assert without_earlier(made[1], made).before == ("128" if after else "512")


def runs_at(*at: float, letters: str) -> Session:
    """Whole runs, begun at these times, with the settings A and B."""
    events: list[LoggedEvent] = [STARTED]
    for number, (when, letter) in enumerate(zip(at, letters, strict=True), 1):
        events += sessions.run(f"r{number}", at=when, settings={"read_ahead_kb": letter}, iops=100.0 + number)
    return replay(events)


@loop_over(("letters", "order"), [("ABBA", RunOrder.IN_TURN), ("ABBBA", RunOrder.BETWEEN), ("AABB", RunOrder.GROUPS)])
@loop_over("set_after", [1, 2, 3, 4])
def test_runs_are_in_the_order_of_the_log(letters: str, order: RunOrder, set_after: int) -> None:
    at = [1000.0 + 100 * number - (HOUR if number >= set_after else 0) for number in range(len(letters))]
    session = runs_at(*at, letters=letters)
    found = sides_of(session.runs[0], session.runs[letters.index("B")], session.runs, session.runs)
    assert found.order is order


def test_a_drift_is_seen_through_a_clock_that_was_set_back() -> None:
    letters = "ABBA" * 6
    session = runs_at(*(9000.0 - 100 * number for number in range(len(letters))), letters=letters)
    a, b = (tuple(run for run, one in zip(session.runs, letters, strict=True) if one == side) for side in "AB")

    def value(run: RunRecord) -> float:
        return 100.0 * 1.01**run.number

    found = disturbances(ComparisonSides(a=a, b=b, interleaved=True), value)
    (trend,) = [one for one in found if one.pattern is RunPattern.TREND]
    assert trend.size > 0  # it grows, while the times run backwards


@loop_over("missing", [None, 0.0])
def test_no_drift_is_seen_where_a_run_has_no_result(missing: float | None) -> None:
    letters = "ABBA" * 6
    session = runs_at(*(1000.0 + 100 * number for number in range(len(letters))), letters=letters)
    a, b = (tuple(run for run, one in zip(session.runs, letters, strict=True) if one == side) for side in "AB")

    def value(run: RunRecord) -> float | None:
        return missing if run is session.runs[3] else 100.0 * 1.01**run.number

    assert [*disturbances(ComparisonSides(a=a, b=b, interleaved=True), value)] == []


def test_a_change_never_ended_before_it_began() -> None:
    session = replay([STARTED, replace(intended(), at=5000.0), replace(ended("verified"), at=2.0)])
    (line,) = [line for line in change_facts(session.changes[0]).facts if line.label == "Ended"]
    assert text_of(line.value).endswith(", 0 s later")


def test_a_log_holds_its_lines_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    log = SessionLog(tmp_path / "a")
    for at in (9e9, 5.0, 7.0):
        log.append(NoteAdded(at=at, text=str(at)))
    log.close()
    assert [event.at for event in store.load(tmp_path / "a").session.events] == [9e9, 5.0, 7.0]
