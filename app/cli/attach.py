"""`attach`: a sweep that runs, or ran, in another process."""

from __future__ import annotations

import time
from pathlib import Path

import click

from app.cli.failures import FAILED
from app.cli.options import current
from app.cli.output import say
from backends.errors import NotFoundError, RefusedError
from backends.text import clean

_EVERY = 0.3
_QUIET = 2.0
"""Seconds without a writer after which a sweep that did not end counts as cut short."""


@click.command("attach")
@click.argument("session", required=False)
@click.option("--stop", is_flag=True, help="Ask it to stop; the settings are put back first.")
@click.option("--json", "as_json", is_flag=True, help="What it found, as JSON.")
def attach_command(session: str | None, stop: bool, as_json: bool) -> int:
    """Show the sweep of SESSION, the last one that has a sweep unless it is named, until it is over.

    Ctrl-C leaves it running.
    """
    folder = _folder(session)
    if stop:
        from app.engine.sweep.requests import is_written, request_stop

        if not is_written(folder):
            raise RefusedError("It is not running, so there is nothing to stop.")
        request_stop(folder)
        say("It was asked to stop; the settings are put back first.")
    return follow(folder, as_json=as_json)


def _folder(name: str | None) -> Path:
    from app.cli.opening import loaded_session
    from app.engine import store
    from app.engine.paths import Paths

    if name is not None or current().session is not None:
        loaded = loaded_session(name)
        if loaded.session.sweep is None:
            raise NotFoundError(f"The session {loaded.folder.name} has no sweep.")
        return loaded.folder
    for folder in store.folders(Paths.default().sessions):
        if store.load(folder).session.sweep is not None:
            return folder
    raise NotFoundError("There is no sweep yet.", hint="`raidbench sweep --list` lists the plans there are.")


def follow(folder: Path, *, as_json: bool) -> int:
    """Tell what the log of a sweep says as it grows, until it ended; then what it found."""
    from app.cli.sweep_live import SweepFollower
    from app.cli.sweep_report import report, status_of
    from app.engine import wire
    from app.engine.session import Session, fold
    from app.engine.store import LOG
    from app.engine.sweep.live import LiveReader
    from app.engine.sweep.requests import is_written

    session = Session()
    follower = SweepFollower()
    live = LiveReader(folder)
    rest, quiet, told = b"", 0.0, False
    say(f"Session {folder.name} in {clean(str(folder), 300)}")
    with (folder / LOG).open("rb") as log:
        while True:
            *whole, rest = (rest + log.read()).split(b"\n")
            for line in whole:
                event = wire.decode(line.decode("utf-8", "replace")) if line.strip() else None
                if event is not None:
                    session = fold(session, event)
                    if told:
                        follower.heard(session, event)
            told = True
            for moment in live.read():
                session = fold(session, moment)
                follower.heard(session, moment)
            record = session.sweep
            if record is not None and record.end is not None:
                break
            quiet = 0.0 if is_written(folder) else quiet + _EVERY
            if quiet > _QUIET:
                break
            time.sleep(_EVERY)
    follower.clear()
    assert session.sweep is not None
    report(session, session.sweep, str(folder), as_json=as_json)
    if session.sweep.end is None:
        say("Nothing runs it now: it was cut short.")
        return FAILED
    return status_of(session.sweep)
