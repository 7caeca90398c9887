"""Looking on while another process runs a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.session.flag_files import SWEEP, abandoned_sessions, active_sessions
from app.core.session.folders import LOG
from app.core.session.paths import Paths
from app.core.session.sweep_steps import SweepResult
from app.features.sweep.engine import live_log
from app.features.sweep.engine.live_log import Follower
from tests.features.sweep.screen_sweeps import WrittenSweep


@pytest.fixture
def sweep(tmp_path: Path) -> WrittenSweep:
    return WrittenSweep(tmp_path / "sessions" / "2026-11-21-130000")


def test_what_was_done_so_far_is_read_at_once(sweep: WrittenSweep) -> None:
    sweep.steps(3)
    follower = Follower(sweep.folder)
    follower.read()
    assert follower.record is not None
    assert (follower.record.done, follower.running) == (3, True)


def test_without_news_there_is_nothing_to_tell(sweep: WrittenSweep) -> None:
    follower = Follower(sweep.folder)
    assert [follower.read(), follower.read()] == [True, False]


def test_the_samples_of_the_running_step_come_along(sweep: WrittenSweep) -> None:
    sweep.running(sweep.design.steps[0], samples=5)
    follower = Follower(sweep.folder)
    follower.read()
    assert follower.session.active is not None
    assert len(follower.session.active.samples) == 5


def test_half_a_line_of_the_log_waits(sweep: WrittenSweep) -> None:
    follower = Follower(sweep.folder)
    follower.read()
    sweep.steps(1)
    log = sweep.folder / LOG
    whole = log.read_bytes()
    log.write_bytes(whole[:-20])
    follower.read()
    assert follower.record is not None
    assert follower.record.done == 0
    log.write_bytes(whole)
    follower.read()
    assert follower.record.done == 1


def test_its_end_is_the_end(sweep: WrittenSweep) -> None:
    follower = Follower(sweep.folder)
    follower.read()
    sweep.end(SweepResult.FINISHED)
    follower.read()
    assert (follower.over, follower.running) == (True, False)


def test_one_that_nobody_writes_any_more_is_over(sweep: WrittenSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_log, "QUIET", -1.0)
    follower = Follower(sweep.folder)
    follower.read()
    follower.read()
    assert follower.running
    sweep.close()
    assert follower.read()
    assert follower.over


def pool_of(sweep: WrittenSweep) -> Paths:
    return Paths.at(sweep.folder.parents[1])


def test_sweeps_are_under_way_or_left_behind(sweep: WrittenSweep) -> None:
    paths = pool_of(sweep)
    assert (active_sessions(SWEEP, paths), abandoned_sessions(SWEEP, paths)) == ((sweep.folder,), ())
    sweep.close()
    assert (active_sessions(SWEEP, paths), abandoned_sessions(SWEEP, paths)) == ((), (sweep.folder,))


def test_a_finished_one_is_neither(sweep: WrittenSweep) -> None:
    sweep.end(SweepResult.FINISHED)
    assert (*active_sessions(SWEEP, pool_of(sweep)), *abandoned_sessions(SWEEP, pool_of(sweep))) == ()
