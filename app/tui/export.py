"""Writing the session's report from the screen."""

from __future__ import annotations

from pathlib import Path

from app.engine.report.writing import form_of, write_report
from app.engine.session.state import Session


def export_report(session: Session, path: Path, *, folder: Path) -> Path:
    """Write the report in the format that the ending of `path` names; never over an existing file.

    Reads what fio wrote, so it takes a second or more of a long session. Raises InvalidValueError, RefusedError,
    StorageError.
    """
    return write_report(session, folder, path, form_of(path))[0].absolute()
