"""What a reader of a session wants first: figures and what was shown, the largest first."""

from __future__ import annotations

from dataclasses import replace

from app.core.session.events import LoggedEvent
from app.core.session.state import RunRecord, Session, replay
from app.features.report.session_summary import session_highlights
from tests.core import sessions
from tests.features.report.test_model import AHEAD, compared, swept


def runs(count: int, *, settings: bool = False) -> Session:
    """A session of runs by themselves; with `settings` each has others."""
    events: list[LoggedEvent] = [sessions.started()]
    for at in range(count):
        events += sessions.run(f"r{at}", settings={"b": str(at)} if settings else {})
    return replay(events)


def test_runs_are_told_by_their_figures() -> None:
    (sentence,) = session_highlights(runs(2))
    assert sentence == "Read 1.00k IOPS ±0.0 %, 3.91 MiB/s, p99 2.00 ms: 4k random read on block:sda (2 runs)."


def test_settings_that_differ_are_told_with_them() -> None:
    ends = [sentence.rpartition(" on ")[2] for sentence in session_highlights(runs(2, settings=True))]
    assert ends == ["block:sda, b 0.", "block:sda, b 1."]


def test_of_many_jobs_the_first_are_told_and_the_others_counted() -> None:
    assert list(session_highlights(runs(9, settings=True)))[-1] == "3 more jobs or settings are in the results."


def test_an_experiment_is_told_with_the_figures_of_both_sides() -> None:
    (sentence,) = session_highlights(compared())
    assert "read IOPS 1.00k with 128 KiB, 803 with 4096 KiB. Slower with read-ahead 4096 KiB" in sentence


def test_effects_of_experiments_and_sweeps_are_sorted_together() -> None:
    experiment = compared()
    sweep = swept(AHEAD, ahead_some=2000, ahead_all=950).sweep
    both = replace(swept(AHEAD, ahead_some=2000, ahead_all=950), experiments=experiment.experiments, sweep=sweep)
    both = replace(both, runs=(*both.runs, *renamed(experiment)))
    firsts = [sentence.split(" ")[1] for sentence in session_highlights(both)][:3]
    assert firsts == ["ahead=some", "block:sda:", "ahead=all"]


def renamed(session: Session) -> tuple[RunRecord, ...]:
    return tuple(
        replace(run, start=replace(run.start, id=f"e{run.id}"), end=replace(run.end, id=f"e{run.id}"))
        for run in session.runs
        if run.end is not None
    )
