"""A session is the fold of its events, however they reach it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from app.core.session.event_types import CpuSampled, PhaseChanged, SampleTaken
from app.core.session.events import (
    AnyEvent,
    BaselineMarked,
    ChangeEnded,
    ChangeIntended,
    InventorySeen,
    LiveEvent,
    MachineFacts,
    NoteAdded,
    RunEnded,
    RunStarted,
    SessionEnded,
    SessionStarted,
)
from app.core.session.results import DirectionSample, Phase, RunResult, RunStatus, Sample
from app.core.session.state import Session, fold, replay
from backends.change import Change
from backends.formats import FORMATS, FileFormat
from backends.model import Drive, Inventory, Target
from tests.core import sessions
from tests.core.doubles import TARGET
from tests.core.generated import related_events

MACHINE = MachineFacts(
    host="apricot", cpu="CPU", cores=2, memory_bytes=1 << 30, kernel="6.1", system="Debian", root=True
)
STARTED = SessionStarted(
    at=1.0, id="s", version="1", simulated=False, machine=MACHINE, format=FORMATS[FileFormat.SESSION]
)
SEEN = Inventory(drives=(Drive(target=Target(backend="block", address="sda")),))


def folded(*events: AnyEvent) -> Session:
    session = Session()
    for event in events:
        session = fold(session, event)
    return session


def intended(change_id: str = "c1", *, undoes: str | None = None, before: str | None = "128") -> ChangeIntended:
    return ChangeIntended(
        at=2.0,
        id=change_id,
        undoes=undoes,
        change=Change(
            target=TARGET,
            key="read_ahead_kb",
            label="Read-ahead",
            before=before,
            after="256",
            writes=(),
            undo=(),
        ),
    )


def ended(result: str, change_id: str = "c1", now: str | None = "256") -> ChangeEnded:
    return ChangeEnded(at=3.0, id=change_id, result=result, now=now)


def run(run_id: str = "r1") -> RunStarted:
    return RunStarted(
        at=4.0, id=run_id, target="block:sda", device=None, profile=None, job={}, title="job", planned_seconds=5.0
    )


def phase(word: Phase, *, seconds: float | None = None, at: float = 5.0, run_id: str = "r1") -> LiveEvent:
    return LiveEvent(at=at, id=run_id, progress=PhaseChanged(phase=word, seconds=seconds))


def sample(at: float, word: Phase = Phase.MEASURING) -> LiveEvent:
    one = DirectionSample(iops=1.0, bytes_per_second=1.0, ios=1)
    return LiveEvent(at=at, id="r1", progress=SampleTaken(sample=Sample(at=at, seconds=1.0, phase=word, read=one)))


def ids(records: Iterable[Any]) -> list[str]:
    return [record.id for record in records]


@pytest.mark.exhaustive
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(related_events())
def test_replaying_a_log_is_folding_it_event_by_event(events: list[Any]) -> None:
    assert replay(events) == folded(*events)


def test_every_logged_event_is_kept_in_its_order() -> None:
    events = (STARTED, intended(), NoteAdded(at=9.0, text="x"))
    assert folded(*events).events == events


def test_live_events_are_not_kept() -> None:
    cpu = LiveEvent(at=1, id="r1", progress=CpuSampled(fio_percent_of_core=1, host_percent=1))
    assert folded(run(), phase(Phase.RAMP), sample(1), cpu).events == (run(),)


def test_an_incomplete_inventory_is_shown_and_not_kept() -> None:
    session = folded(InventorySeen(at=1, inventory=SEEN, complete=False))
    assert (session.inventory, session.probing, session.events) == (SEEN, True, ())


def test_a_complete_inventory_ends_the_probing() -> None:
    assert not folded(InventorySeen(at=1, inventory=SEEN)).probing


def test_a_continued_session_looks_at_the_hardware_again() -> None:
    assert folded(STARTED, InventorySeen(at=1, inventory=SEEN), STARTED).probing


def test_a_continued_session_keeps_its_name_and_start() -> None:
    again = SessionStarted(at=99.0, id="other", version="2", simulated=False, machine=MACHINE)
    session = folded(STARTED, again)
    assert (session.id, session.started, session.version) == ("s", 1.0, "2")


def test_a_session_once_simulated_stays_so() -> None:
    simulated = SessionStarted(at=1.0, id="s", version="1", simulated=True, machine=MACHINE)
    assert folded(simulated, STARTED).simulated


def test_a_session_that_was_left_is_ended_until_somebody_continues_it() -> None:
    left = folded(STARTED, SessionEnded(at=5.0))
    assert (left.ended, fold(left, STARTED).ended) == (True, False)


# -- changes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "now", "stands"),
    [
        ("verified", "256", True),
        ("differs", "250", True),
        ("kept", "256", True),
        ("failed", "128", False),
        ("failed", "256", True),
        ("failed", None, True),
        ("restored", "128", False),
    ],
)
def test_a_change_is_in_force_if_its_value_may_still_stand(result: str, now: str | None, stands: bool) -> None:
    assert bool(folded(intended(), ended(result, now=now)).in_force) is stands


def test_a_change_without_an_end_is_in_force() -> None:
    assert ids(folded(intended()).in_force) == ["c1"]


def test_a_verified_undo_takes_the_change_out_of_force() -> None:
    session = folded(intended(), ended("verified"), intended("c2", undoes="c1"), ended("verified", "c2"))
    assert (ids(session.in_force), session.changes[0].undone_by) == ([], "c2")


def test_a_failed_undo_does_not() -> None:
    session = folded(intended(), ended("verified"), intended("c2", undoes="c1"), ended("differs", "c2"))
    assert ids(session.in_force) == ["c1"]


def test_changes_in_force_come_newest_first() -> None:
    session = folded(intended("c1"), ended("verified", "c1"), intended("c2"), ended("verified", "c2"))
    assert ids(session.in_force) == ["c2", "c1"]


def test_the_end_of_an_unknown_change_changes_nothing() -> None:
    assert folded(ended("verified", "c9")).changes == ()


# -- runs ----------------------------------------------------------------------------------------------------------


def test_a_run_is_active_from_its_start_to_its_end() -> None:
    figures = RunResult(status=RunStatus.OK)
    running = folded(run())
    done = fold(running, RunEnded(at=9.0, id="r1", figures=figures, folder="runs/r1"))
    assert (running.active is not None, done.active, done.runs[0].figures) == (True, None, figures)


def test_a_run_that_never_ended_has_failed() -> None:
    assert folded(run(), STARTED).runs[0].figures.status is RunStatus.FAILED


def test_a_program_that_continues_a_session_has_no_run_of_its_own() -> None:
    assert folded(run(), STARTED).active is None


def test_a_run_remembers_the_machine_of_the_program_that_measured_it() -> None:
    later = replace(STARTED, version="2", machine=replace(MACHINE, kernel="6.9", boot_id="b2"))
    session = replay([STARTED, *sessions.run("r1"), later, *sessions.run("r2")])
    known = [[run.provenance.get(key) for key in ("kernel", "boot_id", "raidbench_version")] for run in session.runs]
    assert known == [["6.1", None, "1"], ["6.9", "b2", "2"]]


def test_what_lies_beneath_a_run_stands_beside_its_machine() -> None:
    session = replay([STARTED, *sessions.run("r1", fio="3.40", provenance={"pcie_link": "8.0 GT/s x4"})])
    known = session.runs[0].provenance
    assert [known[key] for key in ("host", "fio_version", "pcie_link")] == ["apricot", "3.40", "8.0 GT/s x4"]


def test_samples_of_another_run_are_not_shown() -> None:
    session = folded(run("r2"), sample(1.0))
    assert session.active is not None
    assert session.active.samples == ()


def test_samples_come_oldest_first() -> None:
    session = folded(run(), phase(Phase.MEASURING), sample(1.0), sample(2.0))
    assert session.active is not None
    assert [one.at for one in session.active.samples] == [1.0, 2.0]


def test_samples_of_the_layout_go_when_the_ramp_begins() -> None:
    session = folded(run(), phase(Phase.LAYOUT), sample(1.0, Phase.LAYOUT), phase(Phase.RAMP))
    assert session.active is not None
    assert session.active.samples == ()


def test_samples_of_the_ramp_stay_when_measuring_begins() -> None:
    session = folded(run(), phase(Phase.RAMP), sample(1.0, Phase.RAMP), phase(Phase.MEASURING))
    assert session.active is not None
    assert len(session.active.samples) == 1


def test_a_phase_told_twice_began_the_first_time() -> None:
    session = folded(run(), phase(Phase.RAMP, at=5.0, seconds=3.0), phase(Phase.RAMP, at=7.0))
    assert session.active is not None
    assert (session.active.phase_since, session.active.phase_seconds) == (5.0, 3.0)


def test_live_events_without_a_run_change_nothing() -> None:
    assert folded(phase(Phase.RAMP), sample(1.0)) == Session()


def test_the_baseline_can_be_taken_away() -> None:
    assert folded(BaselineMarked(at=1, run="r1"), BaselineMarked(at=2, run=None)).baseline is None


def test_a_session_can_be_compared_with_another() -> None:
    assert folded(STARTED, run()) == folded(STARTED, run())


def test_every_field_of_a_new_session_has_a_value_nobody_shares() -> None:
    assert all(getattr(Session(), field.name) == getattr(Session(), field.name) for field in fields(Session))
