"""Writing the session's report from the screen."""

from __future__ import annotations

from pathlib import Path

from app.engine.session import Session
from backends.errors import InvalidValueError, RefusedError, StorageError


def write_report(session: Session, path: Path) -> Path:
    """Write the report, Markdown or JSON by the ending of `path`; never over an existing file.

    Raises InvalidValueError, RefusedError, StorageError.
    """
    from app.engine.report.writing import render_report

    kinds = {".md": "md", ".json": "json"}
    kind = kinds.get(path.suffix)
    if kind is None:
        raise InvalidValueError("The name must end in .md or .json.")
    text = render_report(session, kind)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise RefusedError(f"{path} is there already.", hint="Name a file that does not exist yet.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", evidence=str(error)) from error
    return path.absolute()
