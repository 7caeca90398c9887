"""`attach`: a sweep that runs, or ran, in another process."""

from __future__ import annotations

import time
from pathlib import Path

import click

from app.cli.command import command
from app.cli.exit_status import FAILED
from app.cli.options import current
from app.cli.output import say
from app.cli.session_context import loaded_session
from app.cli.shared_options import json_option
from app.core.session import folders, store
from app.core.session.flag_files import STOP, is_being_written
from app.features.sweep.cli.progress import SweepFollower
from app.features.sweep.cli.text import report, status_of
from app.features.sweep.engine.live_log import Follower
from backends.errors import NotFoundError, RefusedError
from backends.text import clean

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
        if not is_being_written(folder):
            raise RefusedError("It is not running, so there is nothing to stop.")
        STOP.create(folder)
        say("It was asked to stop; the settings are put back first.")
    return follow(folder, as_json=as_json)


def _folder(name: str | None) -> Path:
    if name is not None or current().session is not None:
        loaded = loaded_session(name)
        if loaded.session.sweep is None:
            raise NotFoundError(f"The session {loaded.folder.name} has no sweep.")
        return loaded.folder
    for folder in folders.session_folders(current().paths):
        if store.load(folder).session.sweep is not None:
            return folder
    raise NotFoundError("There is no sweep yet.", hint="`raidbench sweep --list` lists the plans there are.")


def follow(folder: Path, *, as_json: bool) -> int:
    """Tell what the log of a sweep says as it grows, until it ended; then what it found."""
    teller = SweepFollower()
    follower = Follower(folder)
    say(f"Session {folder.name} in {clean(str(folder), 300)}")
    follower.read()
    follower.listener = teller.handle_event  # what was before is not told again
    while not follower.over:
        time.sleep(_EVERY)
        follower.read()
    teller.clear()
    session = follower.session
    assert session.sweep is not None
    report(session, session.sweep, str(folder), as_json=as_json)
    if session.sweep.end is None:
        say("Nothing runs it now: it was cut short.")
        return FAILED
    return status_of(session.sweep)
