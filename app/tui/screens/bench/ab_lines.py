"""A running or finished experiment as the lines that screens show. Pure."""

from __future__ import annotations

from app.engine.ab.plan import AbPlan
from app.engine.judge.comparison import compare_experiment, interim
from app.engine.session.state import ExperimentRecord, Session
from app.engine.view import change as view
from app.engine.view.ab_progress import ab_progress
from app.engine.view.comparison import experiment_lines, order_words, threshold_words
from app.engine.view.effects import effect_words
from app.tui.screens.devices.confirming import confirmation
from backends.nameplate import Nameplate
from widgets.confirm import Confirmation, PlannedChange


def running(session: Session) -> ExperimentRecord | None:
    """The experiment that has not ended; after a crash one that never will."""
    last = session.experiments[-1] if session.experiments else None
    return last if last is not None and last.end is None else None


def progress_line(session: Session, record: ExperimentRecord, left_of_run: float = 0.0) -> str:
    """`A/B e1: run 5 of 12, pair 3, B read-ahead · 6 min left at most · read IOPS -18.0 % [-19.1, -16.9], not yet
    decided`. `left_of_run`: seconds of the run that goes on.
    """
    start = record.start
    marks = [run.start.mark for run in session.runs if run.start.mark is not None]
    own = [mark for mark in marks if mark.experiment == record.id]
    if not own:
        return f"A/B {record.id}: about to begin"
    now = own[-1]
    value = start.a if now.letter == "A" else start.b
    at = f"run {len(own)} of {len(start.order)}, pair {now.pair} of {start.pairs}, {now.letter} {value}"
    resting = "" if session.active is not None else ", at rest"
    left = ab_progress(session, record, left_of_run).left_words
    so_far = interim(session, record.id)
    return " · ".join(filter(None, (f"A/B {record.id}: {at}{resting}", left, so_far)))


def ended_line(session: Session, record: ExperimentRecord) -> str:
    """What it has shown, or why it has not; whether the old value is back."""
    return " ".join(experiment_lines(record, compare_experiment(session, record.id)))


def plan_lines(plan: AbPlan) -> tuple[str, str]:
    """What is measured; how often and for how long."""
    return f"{plan.ready.job.describe()} on {plan.ready.request.name}", f"{order_words(plan)}. {threshold_words(plan)}"


def review(plan: AbPlan, plate: Nameplate) -> Confirmation:
    """The dialog before it: every command on the way there and back, how often, how long."""
    change = plan.change
    asked = confirmation((change,), {change.target: plate}, title=f"A/B: {change.label} of {change.target}")
    job, count = plan_lines(plan)
    often = f"Set {plan.switches} times, and at the end it is {view.before(change)} again, also after x or a failure."
    back = tuple(tuple(step.argv) if step.path is None else step.shown() for step in change.undo)
    return Confirmation(
        title=asked.title,
        tier=asked.tier,
        devices=asked.devices,
        summary=f"{job}\n{count} {often}",
        changes=(
            PlannedChange(
                setting=change.label,
                before=f"A {view.before(change)}",
                after=f"B {view.after(change)}",
                effect=effect_words(change.effect, change.target.scope),
                undo="by itself at the end",
            ),
        ),
        commands=(*asked.commands, *back),
        risks=(*asked.risks, *plan.ready.notes),
        apply_label="Begin",
    )
