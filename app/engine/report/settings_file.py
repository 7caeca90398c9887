"""The settings of a machine as a file on disk: a new one, or over an older one of settings, whose comments stay."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from app.engine.desired.exporting import ExportedTarget, document_of
from app.engine.desired.file import LARGEST
from app.engine.report.writing import write_file
from backends.errors import NotFoundError, RefusedError
from backends.hosts.local.replacing import replace_whole
from backends.input_file import read_input
from backends.text import clean


def write_settings(file: Path, targets: Sequence[ExportedTarget]) -> None:
    """Write them; see `document_of` for what becomes of an older file. It is replaced as a whole or not at all.

    Raises DesiredError, NotFoundError, RefusedError, StorageError, ToolFailedError.
    """
    older = _older(file)
    if older is None:
        write_file(file, document_of(targets), force=False)
    else:
        document = document_of(targets, _text(file, older))
        replace_whole(str(file.absolute()), document.encode(), older)


def _older(file: Path) -> bytes | None:
    """What is in the file; None where there is none. Raises NotFoundError where it cannot be read."""
    shown = clean(str(file), 300)
    try:
        return read_input(file, LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EFBIG:
            why = f"{shown} is larger than {LARGEST >> 10} KiB and no file of settings."
            raise RefusedError(why, hint="Name another.") from None
        raise NotFoundError(f"{shown} cannot be read: {error.strerror}.") from None


def _text(file: Path, data: bytes) -> str:
    """The text of an older file. Raises RefusedError where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError(f"{clean(str(file), 300)} is no text.", hint="Name another file.") from None
