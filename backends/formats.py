"""The formats of what is kept: which of them this program reads, and what it says of one that a newer program wrote.

A format's number is raised when an older program would misread or lose something: a new kind of event or record,
another meaning of a field. A field more is none of that. Every program reads all formats up to its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from backends.errors import NewerError
from backends.text import clean
from backends.version import program_version


class FileFormat(StrEnum):
    """What is kept in files, by the name that `raidbench --version --json` has."""

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
"""What this program writes, and the newest that it reads."""


def is_newer(kept: FileFormat, number: object) -> bool:
    """Whether a format is one that only a newer program reads."""
    return isinstance(number, int) and number > FORMATS[kept]


def require_known(kept: FileFormat, number: object, program: object, subject: str) -> None:
    """Raises NewerError for a format that only a newer program reads, ValueError for what is none.

    `program`: the version that wrote it, as far as it says so. `subject`: the thing, as a sentence begins with it.
    """
    if not isinstance(number, int) or number < 1:
        raise ValueError(f"format {number!r}")
    if is_newer(kept, number):
        raise newer_error(kept, number, program, subject)


def newer_error(kept: FileFormat, number: object, program: object, subject: str) -> NewerError:
    """The sentence for what this program is too old for."""
    named = isinstance(program, str) and program
    by = f"raidbench {clean(program, 40)}" if isinstance(program, str) and program else "a newer raidbench"
    return NewerError(
        f"{subject} was written by {by}; this is {program_version()}.",
        hint=f"Use {f'{by} or newer' if named else by}.",
        evidence=f"{kept} format {number}, read up to {FORMATS[kept]}",
    )
