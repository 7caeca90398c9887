"""Writes the session's report from the TUI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.session.state import Session
from backends.errors import RaidbenchError
from widgets.field_dialog import TextDialog
from widgets.thread_work import in_thread

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface


def ask_export(app: AppInterface, session: Session, folder: Path) -> None:
    """Ask for a file name, then write the report. `folder`: folder of the session."""
    start = f"raidbench-{folder.name}.md"
    help = "A file name ending in .md, .html, .csv or .json. An existing file is not overwritten."
    dialog = TextDialog("Write the report to", start, help=help)
    app.push_screen(dialog, lambda name: export(app, session, folder, name))


def export(app: AppInterface, session: Session, folder: Path, name: str | None) -> None:
    """Write the report to a new file, in the format that its suffix implies. Do nothing without a name.

    An existing file is never overwritten.
    """
    if name:
        write = in_thread(_write, app, session, Path(os.path.expanduser(name)), folder)
        app.run_worker(write, group="export")


def _write(app: AppInterface, session: Session, file: Path, folder: Path) -> None:
    """Write the report. This runs in a thread, because reading all output of fio for the graphs takes a while."""
    from app.features.report.output import format_of, write_report

    try:
        path = write_report(session, folder, file, format_of(file))[0].absolute()
    except RaidbenchError as error:
        app.call_from_thread(app.show_error, error, title="Cannot write the report")
    else:
        app.call_from_thread(app.notify_copyable, f"Report written to {path}.", str(path))
