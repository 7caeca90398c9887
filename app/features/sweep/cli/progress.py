"""What is said while a sweep goes on: a line for every step that ends, and one that redraws itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.cli.bench_progress import REDRAW_S, LiveLine, progress_text
from app.cli.output import say
from app.core.presentation.labels import cell_with_labels
from app.core.session.event_types import PhaseChanged, SampleTaken
from app.core.session.events import AnyEvent, LiveEvent, NoteAdded
from app.core.session.sweep_record import SweepArrayRefused, SweepExtended, SweepStepEnded, SweepStepStarted
from app.features.sweep.cli.text import step_line
from app.features.sweep.engine.estimate import seconds_left
from app.features.sweep.presentation.arrays import array_name_of
from backends.text import clean
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.session.state import Session


class SweepFollower:
    """Hears the events of a session and tells how its sweep goes."""

    def __init__(self, *, speed: float = 1.0) -> None:
        """`speed`: how many times as fast the simulation runs, for the time that is left."""
        self._speed = speed
        self._line = LiveLine()
        self._last = 0.0

    def handle_event(self, session: Session, event: AnyEvent) -> None:
        """One event, with the session after it."""
        record = session.sweep
        if record is None:
            return
        match event:
            case SweepStepEnded() if record.ended:
                self.clear()
                say(step_line(record, session))
            case NoteAdded() if record.design.making is not None:
                self.clear()
                say(event.text)
            case SweepArrayRefused():
                self.clear()
                name = array_name_of(record, event.array)
                say(f"{name} is left out, its maker refuses it: {clean(event.reason, 300)}")
            case SweepExtended() if event.steps:
                self.clear()
                say(f"{units.plural(len(event.steps), 'more step')} for {event.purpose}.")
            case LiveEvent(progress=SampleTaken() | PhaseChanged()) | SweepStepStarted():
                self._draw(session)
            case _:
                pass

    def clear(self) -> None:
        """Leave no half line behind."""
        self._line.clear()

    def _draw(self, session: Session) -> None:
        now = time.monotonic()
        if self._line.able and session.sweep is not None and now - self._last >= REDRAW_S:
            self._last = now
            self._line.draw(status_line(session, self._speed))


def status_line(session: Session, speed: float = 1.0) -> str:
    """The sweep in one line: how many steps, time left, and the running job."""
    record = session.sweep
    if record is None:
        return "no sweep"
    at = record.current.step.number if record.current is not None else record.done
    left = units.duration(round(seconds_left(record, time.time(), speed)))
    parts = [f"step {at}/{len(record.steps)}", f"{left} left"]
    if session.active is not None:
        parts.append(progress_text(session.active, time.time()))
    elif record.current is not None:
        cell = cell_with_labels(record.cell(record.current.step.cell))
        parts.append(f"{cell.row}, {cell.column}")
    return " · ".join(parts)
