"""A finished run, or an experiment, in a few lines: results, caveats, and the next step. No I/O."""

from __future__ import annotations

from app.core.analysis.sample_groups import condition
from app.core.analysis.stored_verdicts import stored_comparison
from app.core.presentation.comparison import ab_progress, experiment_brief, experiment_lines
from app.core.presentation.comparison_text import interim_text
from app.core.presentation.events import run_end_texts
from app.core.presentation.members import cache_line
from app.core.presentation.run import result_line
from app.core.session.results import RunStatus
from app.core.session.state import ExperimentRecord, RunRecord, Session
from app.core.session.unit_labels import value_text


def summary_lines(run: RunRecord) -> tuple[str, ...]:
    """Return lines with the run, its results, the I/O served by caches, why the run ended, and the caveats."""
    caches = cache_line(run.figures.caches)
    return (f"{run.id} {result_line(run.figures)}", *((caches,) if caches else ()), *run_end_texts(run.figures))


def next_step_text(run: RunRecord, session: Session) -> str:
    """Return the possible next steps with their keys: `Next: <devices.ab> measure ..., <bench.compare> ...`.

    For a failed run, the next step is to run the job again.
    """
    if run.figures.status is RunStatus.FAILED:
        return "Next: <bench.run> run it again, <bench.edit> change the job, <bench.target> choose another target."
    other = comparison_run(run, session)
    compare = f"<bench.compare> compare with {other.id}" if other is not None else "<bench.run> run it again"
    if run.start.sections:  # an A/B compares jobs of one section
        return f"Next: {compare}, <bench.next-part> show each section alone, <bench.export> export."
    return f"Next: <devices.ab> measure against another value, {compare}, <bench.export> export."


def comparison_run(run: RunRecord, session: Session) -> RunRecord | None:
    """Return the baseline, or the last earlier run with the same job and target; None without one."""
    baseline = session.run(session.baseline) if session.baseline is not None else None
    if baseline is not None and baseline.id != run.id:
        return baseline
    before = session.runs[: next((at for at, record in enumerate(session.runs) if record.id == run.id), 0)]
    alike = (record for record in reversed(before) if record.end is not None and _same_job(record, run))
    return next(alike, None)


def _same_job(record: RunRecord, other: RunRecord) -> bool:
    """Return whether both runs have the same job and target. Their settings may differ."""
    (where, job, _, subject), (other_where, other_job, _, other_subject) = condition(record), condition(other)
    return (where, job, subject) == (other_where, other_job, other_subject)


# -- lines about an experiment ----------------------------------------------------------------------------------------


def running_experiment(session: Session) -> ExperimentRecord | None:
    """Return the last experiment if it has no recorded end, because it is running or was interrupted; or None."""
    last = session.experiments[-1] if session.experiments else None
    return last if last is not None and last.end is None else None


def progress_line(session: Session, record: ExperimentRecord, left_of_run: float = 0.0) -> str:
    """Return the progress and the interim result of an A/B in one line.

    Such as `A/B e1: run 5 of 12, pair 3, B read-ahead · 6 min left at most · read IOPS -18.0 % [-19.1, -16.9]`.
    `left_of_run`: seconds left of the current run.
    """
    start = record.start
    marks = [run.start.mark for run in session.runs if run.start.mark is not None]
    run_marks = [mark for mark in marks if mark.experiment == record.id]
    if not run_marks:
        return f"A/B {record.id}: starting"
    now = run_marks[-1]
    value = value_text(start.key, start.a if now.letter == "A" else start.b)
    at = f"run {len(run_marks)} of {len(start.order)}, pair {now.pair} of {start.pairs}, {now.letter} {value}"
    resting = "" if session.active is not None else ", pause"
    left = ab_progress(session, record, left_of_run).left_text
    shown = interim_text(session, record.id)
    return " · ".join(filter(None, (f"A/B {record.id}: {at}{resting}", left, shown)))


def ended_line(session: Session, record: ExperimentRecord, *, brief: bool = False) -> str:
    """Return the result of an experiment and whether the old value is restored. `brief`: in one or two lines."""
    comparison = stored_comparison(session, record.id)
    return experiment_brief(record, comparison) if brief else " ".join(experiment_lines(record, comparison))
