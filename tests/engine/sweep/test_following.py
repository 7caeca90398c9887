"""Looking on while another process runs a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.session import store
from app.engine.session.marks import SWEEP, left_behind, under_way
from app.engine.session.store import LOG
from app.engine.session.sweep_steps import SweepResult
from app.engine.sweep import following
from app.engine.sweep.following import Follower
from tests.tui.sweeps import WrittenSweep


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
    monkeypatch.setattr(following, "QUIET", -1.0)
    follower = Follower(sweep.folder)
    follower.read()
    follower.read()
    assert follower.running
    sweep.close()
    assert follower.read()
    assert follower.over


def test_sweeps_are_under_way_or_left_behind(sweep: WrittenSweep) -> None:
    sessions = sweep.folder.parent
    assert under_way(SWEEP, sessions, simulated=False) == (sweep.folder,)
    assert left_behind(SWEEP, sessions, simulated=False) == ()
    sweep.close()
    assert under_way(SWEEP, sessions, simulated=False) == ()
    assert left_behind(SWEEP, sessions, simulated=False) == (sweep.folder,)


def test_those_of_the_simulated_rack_are_another_machine_s(sweep: WrittenSweep) -> None:
    assert under_way(SWEEP, sweep.folder.parent, simulated=True) == ()


def test_a_finished_one_is_neither(sweep: WrittenSweep) -> None:
    sweep.end(SweepResult.FINISHED)
    sessions = sweep.folder.parent
    assert (*under_way(SWEEP, sessions, simulated=False), *left_behind(SWEEP, sessions, simulated=False)) == ()


def test_those_of_another_host_of_the_same_kind_are_too(sweep: WrittenSweep) -> None:
    begun = store.beginning(sweep.folder)
    assert begun is not None
    assert under_way(SWEEP, sweep.folder.parent, simulated=False, host=begun.machine.host) == (sweep.folder,)
    assert under_way(SWEEP, sweep.folder.parent, simulated=False, host="another") == ()
