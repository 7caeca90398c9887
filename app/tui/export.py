"""Writing the session's report from the screen."""

from __future__ import annotations

import json
from pathlib import Path

from app.engine.report.as_json import to_json
from app.engine.report.markdown import to_markdown
from app.engine.report.model import report_of
from app.engine.session import Session
from backends.errors import InvalidValueError, RefusedError, StorageError


def write_report(session: Session, path: Path, *, folder: str) -> Path:
    """Write the report, Markdown or JSON by the ending of `path`; never over an existing file.

    Raises InvalidValueError, RefusedError, StorageError.
    """
    match path.suffix:
        case ".md":
            text = to_markdown(report_of(session))
        case ".json":
            text = json.dumps(to_json(session, folder=folder), indent=2) + "\n"
        case _:
            raise InvalidValueError("The name must end in .md or .json.")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise RefusedError(f"{path} is there already.", hint="Name a file that does not exist yet.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", evidence=str(error)) from error
    return path.absolute()
