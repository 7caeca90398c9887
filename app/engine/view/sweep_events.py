"""The events of a sweep in words. Pure."""

from __future__ import annotations

from typing import assert_never

from app.engine.session.sweep_events import (
    SweepEnded,
    SweepEvent,
    SweepExtended,
    SweepResumed,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
)
from app.engine.session.sweep_steps import StepResult, SweepResult
from app.engine.view.table import Tone
from widgets.plain import units

_ENDS: dict[SweepResult, Tone] = {
    SweepResult.FINISHED: Tone.GOOD,
    SweepResult.STOPPED: Tone.ATTENTION,
    SweepResult.WAITING: Tone.ATTENTION,
    SweepResult.FAILED: Tone.BAD,
}
_STEP_TONES: dict[StepResult, Tone] = {StepResult.DONE: Tone.DIM, StepResult.FAILED: Tone.BAD}


def describe_sweep_event(event: SweepEvent) -> tuple[str, list[str], Tone]:
    """Headline, what belongs to it, and how it went."""
    match event:
        case SweepStarted(design=design):
            steps, cells = units.plural(len(design.steps), "step"), units.plural(len(design.cells), "cell")
            body = [f"{role} is {address}" for role, address in design.targets.items()]
            body += [f"destroys what is on {each.device}" for each in design.destroys]
            body += [f"before: {each.key} of {each.target} = {each.value}" for each in design.originals]
            body += [f"left out: {each.row}, {each.column}: {each.reason}" for each in design.skipped]
            return f"sweep {design.title}: {steps} for {cells}, seed {design.seed}", body, Tone.ACCENT
        case SweepResumed():
            return "sweep goes on", [], Tone.ACCENT
        case SweepExtended():
            return f"sweep: {units.plural(len(event.steps), 'more step')} for {event.purpose}", [], Tone.ACCENT
        case SweepStepStarted():
            return f"step {event.step}", [], Tone.DIM
        case SweepStepEnded():
            tone = _STEP_TONES.get(event.result, Tone.ATTENTION)
            run = f", {event.run}" if event.run else ""
            return f"step {event.step} {event.result}{run}", [event.reason] if event.reason else [], tone
        case SweepEnded():
            body = [*filter(None, (event.reason,)), *event.left]
            back = "the settings are as before" if not event.left else "NOT ALL SETTINGS ARE AS BEFORE"
            return f"sweep {event.result}: {back}", body, Tone.BAD if event.left else _ENDS[event.result]
        case _:
            assert_never(event)
