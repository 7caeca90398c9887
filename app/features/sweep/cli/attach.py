"""Print the progress of a sweep, and the `attach` command, which follows a sweep in another process."""

from __future__ import annotations

import time
from pathlib import Path

import click

from app.cli.bench_progress import REDRAW_S, LiveLine, progress_text
from app.cli.command import command
from app.cli.exit_status import FAILED
from app.cli.options import current
from app.cli.output import say
from app.cli.session_context import loaded_session, readable_sessions
from app.cli.shared_options import json_option
from app.core.presentation.labels import cell_with_labels
from app.core.session import store
from app.core.session.event_types import PhaseChanged, SampleTaken
from app.core.session.events import AnyEvent, LiveEvent, NoteAdded
from app.core.session.flag_files import STOP
from app.core.session.state import Session
from app.core.session.sweep_record import SweepArrayRefused, SweepExtended, SweepStepEnded, SweepStepStarted
from app.features.sweep.cli.text import report, status_of, step_line
from app.features.sweep.engine.estimate import seconds_left
from app.features.sweep.engine.live_log import Follower
from app.features.sweep.presentation.arrays import array_name_of
from backends.errors import NotFoundError, RefusedError
from backends.text import clean
from widgets.text_utils import units

_EVERY = 0.3


@command("attach", "raidbench attach", "raidbench attach --stop")
@click.argument("session", required=False)
@click.option("--stop", is_flag=True, help="Stop the sweep. The settings are restored first.")
@json_option
def attach_command(session: str | None, stop: bool, as_json: bool) -> int:
    """Follow or stop a sweep that runs in the background.

    Without SESSION, this is the last session that has a sweep. Ctrl-C ends the display and leaves the sweep running.
    """
    folder = _folder(session)
    if stop:
        if not store.is_being_written(folder):
            raise RefusedError("The sweep is not running.")
        STOP.create(folder)
        say("The sweep was asked to stop. It restores the settings first.")
    return follow(folder, as_json=as_json)


def _folder(name: str | None) -> Path:
    if name is not None or current().session is not None:
        loaded = loaded_session(name)
        if loaded.session.sweep is None:
            raise NotFoundError(f"The session {loaded.folder.name} has no sweep.")
        return loaded.folder
    for loaded in readable_sessions():
        if loaded.session.sweep is not None:
            return loaded.folder
    raise NotFoundError("There is no sweep yet.", hint="List the plans with `raidbench sweep --list`.")


def follow(folder: Path, *, as_json: bool) -> int:
    """Print the progress of a sweep from its log until it ends, then its results; return the exit status."""
    progress = SweepFollower()
    follower = Follower(folder)
    say(f"Session {folder.name} in {clean(str(folder), 300)}")
    follower.read()
    follower.listener = progress.handle_event  # set only now, so that earlier events are not printed
    while not follower.over:
        time.sleep(_EVERY)
        follower.read()
    progress.clear()
    session = follower.session
    assert session.sweep is not None
    report(session, session.sweep, str(folder), as_json=as_json)
    if session.sweep.end is None:
        say("The sweep was interrupted and is not running.")
        return FAILED
    return status_of(session.sweep)


class SweepFollower:
    """Prints the progress of a sweep from the events of its session."""

    def __init__(self, *, speed: float = 1.0) -> None:
        """`speed` is the speed-up of a simulation, which the estimate of the remaining time needs."""
        self._speed = speed
        self._line = LiveLine()
        self._last = 0.0

    def handle_event(self, session: Session, event: AnyEvent) -> None:
        """Print the progress that an event reports. `session` is the session including that event."""
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
                say(f"{name} is skipped, because the controller or md refuses it: {clean(event.reason, 300)}")
            case SweepExtended() if event.steps:
                self.clear()
                say(f"{units.plural(len(event.steps), 'more step')} for {event.purpose}.")
            case LiveEvent(progress=SampleTaken() | PhaseChanged()) | SweepStepStarted():
                self._draw(session)
            case _:
                pass

    def clear(self) -> None:
        """Remove the progress line from the terminal, so that other output can follow."""
        self._line.clear()

    def _draw(self, session: Session) -> None:
        now = time.monotonic()
        if self._line.able and session.sweep is not None and now - self._last >= REDRAW_S:
            self._last = now
            self._line.draw(status_line(session, self._speed))


def status_line(session: Session, speed: float = 1.0) -> str:
    """Return the progress of a sweep in one line: steps, remaining time and the running job."""
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
