"""Versions of file formats: which ones this program reads, and the error for a newer one.

A format's number is raised if an older program would misread or lose something: a new kind of event or record, another
meaning of a field. A new field does not raise it. Every program reads all formats up to its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from backends.errors import NewerError
from backends.text import clean
from backends.version import program_version


class FileFormat(StrEnum):
    """File formats by their names in `raidbench --version --json`."""

    SESSION = "session"
    JOURNAL = "journal"
    ARRAYS = "arrays"
    DEVICE = "device"
    BASELINE = "baseline"
    ARCHIVE = "archive"
    INDEX = "index"
    MACHINE = "machine"
    STREAM = "stream"
    RACK = "rack"
    JOINT = "joint"


_RAISED = {FileFormat.SESSION: 3, FileFormat.INDEX: 2, FileFormat.RACK: 3}

FORMATS: Mapping[FileFormat, int] = {kept: _RAISED.get(kept, 1) for kept in FileFormat}
"""Versions that this program writes, which are the newest that it reads."""


def is_newer(file_format: FileFormat, number: object) -> bool:
    """Return whether only a newer program reads a format."""
    return isinstance(number, int) and number > FORMATS[file_format]


def require_known(file_format: FileFormat, number: object, program: object, subject: str) -> None:
    """Raise NewerError for a format that only a newer program reads, ValueError for an invalid number.

    `program`: version that wrote it, if known. `subject`: subject of the error sentence.
    """
    if not isinstance(number, int) or number < 1:
        raise ValueError(f"format {number!r}")
    if is_newer(file_format, number):
        raise newer_error(file_format, number, program, subject)


def newer_error(file_format: FileFormat, number: object, program: object, subject: str) -> NewerError:
    """Return the error for a format that this program is too old for."""
    named = isinstance(program, str) and program
    by = f"raidbench {clean(program, 40)}" if isinstance(program, str) and program else "a newer raidbench"
    return NewerError(
        f"{subject} was written by {by}; this is {program_version()}.",
        hint=f"Use {(f'{by} or newer' if named else by)} to read it.",
        evidence=f"{file_format} format {number}, read up to {FORMATS[file_format]}",
    )
