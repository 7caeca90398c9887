"""A run that is over in a few lines: its figures, what speaks against them, and what may be done next. Pure."""

from __future__ import annotations

from app.engine.judge.grouping import condition
from app.engine.session.figures import RunStatus
from app.engine.session.state import RunRecord, Session
from app.engine.view.caches import cache_line
from app.engine.view.events import after_words
from app.engine.view.run import result_line


def summary_lines(run: RunRecord) -> tuple[str, ...]:
    """Which run, what it measured, what caches served of it, why it ended, what speaks against it."""
    caches = cache_line(run.figures.caches)
    return (f"{run.id} {result_line(run.figures)}", *((caches,) if caches else ()), *after_words(run.figures))


def next_words(run: RunRecord, session: Session) -> str:
    """`Next: B measure against another value, c compare with r1, E export`; of a run that failed, r again."""
    if run.figures.status is RunStatus.FAILED:
        return "Next: r run it again, e change the job, T choose another target."
    other = compared_with(run, session)
    compare = f"c compare with {other.id}" if other is not None else "r run it again"
    if run.start.sections:  # an A/B judges one section
        return f"Next: {compare}, ] show each section alone, E export."
    return f"Next: B measure against another value, {compare}, E export."


def compared_with(run: RunRecord, session: Session) -> RunRecord | None:
    """The baseline, or else the last run before it that did the same job on the same thing; None if there is none."""
    baseline = session.run(session.baseline) if session.baseline is not None else None
    if baseline is not None and baseline.id != run.id:
        return baseline
    before = session.runs[: next((at for at, one in enumerate(session.runs) if one.id == run.id), 0)]
    alike = (one for one in reversed(before) if one.end is not None and _same_job(one, run))
    return next(alike, None)


def _same_job(one: RunRecord, other: RunRecord) -> bool:
    """Whether they measured the same, whatever the settings were."""
    (where, job, _, subject), (place, task, _, thing) = condition(one), condition(other)
    return (where, job, subject) == (place, task, thing)
