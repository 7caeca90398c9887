"""Versions of file formats: the versions that this program reads, and the errors for files of other versions.

All formats begin with version 1 in the first release. The version of a format is raised if an older program would
misread or lose data: for a new kind of event or record, or a new meaning of a field. It is not raised for a new field.
Every program reads all versions up to its own. Builds before the first release numbered their formats otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from backends.errors import NewerError, UnreleasedError
from backends.text import clean
from backends.version import program_version

FIRST_RELEASE = "0.2.0"
"""The first released version. The formats of earlier builds are not read."""


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
    SETTINGS = "settings"
    WATCH = "watch"


FORMATS: Mapping[FileFormat, int] = dict.fromkeys(FileFormat, 1)
"""Versions that this program writes. They are also the newest versions that it reads."""

_RAW_OUTPUT = (FileFormat.MACHINE, FileFormat.STREAM)
"""Recordings of the output of other programs. They hold no state, so those of earlier builds are read, too."""


def is_newer(file_format: FileFormat, number: object) -> bool:
    """Return whether this version of a format is newer than this program can read."""
    return isinstance(number, int) and number > FORMATS[file_format]


def is_unreleased(program: object) -> bool:
    """Return whether a build before the first release wrote data.

    `program`: version of raidbench that is named in the data; anything else than a version counts as such a build.
    """
    if program == program_version():
        return False
    return _numbers(program) < _numbers(FIRST_RELEASE)


def _numbers(program: object) -> tuple[int, ...]:
    found = re.match(r"\d{1,9}(\.\d{1,9})*", program) if isinstance(program, str) else None
    return () if found is None else tuple(map(int, found[0].split(".")))


def require_known(file_format: FileFormat, number: object, program: object, subject: str, *, renewal: str = "") -> None:
    """Check that this program reads a file.

    `program`: version of raidbench that wrote the data, if known. `subject`: subject of the error sentence. `renewal`:
    the next step for data of a build before the first release, if it is a special one.

    Raises NewerError for a format version that only a newer program reads, UnreleasedError for data of a build before
    the first release, ValueError for an invalid number.
    """
    if not isinstance(number, int) or number < 1:
        raise ValueError(f"format {number!r}")
    if is_unreleased(program) and file_format not in _RAW_OUTPUT:
        raise unreleased_error(program, subject, renewal)
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


def build_text(program: object) -> str:
    """Return words for a build before the first release, such as `a build before 0.2.0 (0.1.0)`."""
    named = f" ({clean(program, 40)})" if isinstance(program, str) and program else ""
    return f"a build before {FIRST_RELEASE}{named}"


def unreleased_error(program: object, subject: str, hint: str = "") -> UnreleasedError:
    """Return the error for data of a build before the first release. `hint`: the next step, if it is a special one."""
    return UnreleasedError(
        f"{subject} was written by {build_text(program)}; this is {program_version()}, which cannot read it.",
        hint=hint or "Read it with that build, or remove it.",
    )
