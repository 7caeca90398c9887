"""Versions of file formats: the versions that this program reads, and the error for a newer one.

The version of a format is raised if an older program would misread or lose data: for a new kind of event or record, or
a new meaning of a field. It is not raised for a new field. Every program reads all versions up to its own.
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
"""Versions that this program writes. They are also the newest versions that it reads."""


def is_newer(file_format: FileFormat, number: object) -> bool:
    """Return whether this version of a format is newer than this program can read."""
    return isinstance(number, int) and number > FORMATS[file_format]


def require_known(file_format: FileFormat, number: object, program: object, subject: str) -> None:
    """Raise NewerError for a format version that only a newer program reads, ValueError for an invalid number.

    `program`: version of raidbench that wrote the data, if known. `subject`: subject of the error sentence.
    """
    if not isinstance(number, int) or number < 1:
        raise ValueError(f"format {number!r}")
    if is_newer(file_format, number):
        raise newer_error(file_format, number, program, subject)


def newer_error(file_format: FileFormat, number: object, program: object, subject: str) -> NewerError:
    """Return the error for a format version that is too new for this program."""
    named = isinstance(program, str) and program
    by = f"raidbench {clean(program, 40)}" if isinstance(program, str) and program else "a newer raidbench"
    return NewerError(
        f"{subject} was written by {by}; this is {program_version()}.",
        hint=f"Use {(f'{by} or newer' if named else by)} to read it.",
        evidence=f"{file_format} format {number}, read up to {FORMATS[file_format]}",
    )
