"""Parses settings files, which are strict TOML. Errors name the line and the key."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from app.core.toml_table import TomlTable, flag, read_toml, text, whole_number
from backends.errors import InvalidValueError, NotFoundError
from backends.formats import FORMATS, FileFormat, is_newer
from backends.input_file import read_input
from backends.text import clean
from backends.values import dataclass
from backends.version import program_version

FORMAT = FORMATS[FileFormat.SETTINGS]
"""Version of the file format that is read and written."""

LARGEST = 1 << 20
"""Maximum size of a file in bytes."""

MOST = 2000
"""Maximum number of targets in a file."""

SELECTS = ("address", "vendor", "kind", "serial", "wwn", "model", "level", "media", "name", "mount")
"""Keys of a selector, in the order in which they are written."""

_KEY = re.compile(r"[a-z][a-z0-9_]*(\.[A-Za-z0-9_!+-]+)?")


class DesiredError(InvalidValueError):
    """The settings file is not valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredTarget:
    """One table of the settings file: a selector, and values for the devices that it matches."""

    table: TomlTable
    """The TOML table, for line numbers in messages."""
    select: Mapping[str, str]
    """The selector; a device has to match all of its keys."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Wanted values by setting key."""
    expect: Mapping[str, str] = field(default_factory=dict)
    """Values that are compared and never set, because only re-creating the device could change them."""
    confirm: tuple[str, ...] = ()
    """Confirmation tokens of devices with risky values."""
    optional: bool = False
    """Whether it is no difference if the selector matches no device."""

    @property
    def selector_text(self) -> str:
        """The selector as a string, for messages."""
        return ", ".join(f"{key} {clean(value, 60)}" for key, value in self.select.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredFile:
    """A parsed settings file."""

    targets: tuple[DesiredTarget, ...] = ()
    """The tables of the file."""
    persist: bool = False
    """Whether values that would be lost at a reboot are also written to a file that makes them persist."""
    trial: float | None = None
    """Seconds after which all changes are reverted unless the user keeps them; None for no trial."""


def read_file(path: Path) -> DesiredFile:
    """Return the parsed file. Raises NotFoundError when it cannot be read, DesiredError when it is not valid."""
    shown = clean(str(path), 300)
    try:
        data = read_input(path, LARGEST)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise DesiredError(f"{shown} is larger than {LARGEST >> 10} KiB. It is not a settings file.") from None
        raise NotFoundError(f"Cannot read {shown}: {error.strerror}.") from None
    return parse(data, shown)


def parse(data: bytes, shown: str) -> DesiredFile:
    """Return the parsed file; `shown` is its name in messages. No I/O. Raises DesiredError when it is not valid."""
    top = read_toml(data, shown, "a settings file", DesiredError, hint="The format is described in docs/apply.md.")
    top.require_keys("format", "persist", "trial", "target")
    if "format" not in top.given:
        raise top.error("format", "the format number is missing.", f"Add this line at the top: format = {FORMAT}")
    if is_newer(FileFormat.SETTINGS, number := top.given["format"]):
        raise top.error(
            "format",
            f"format {number} is of a newer raidbench; {program_version()} reads up to {FORMAT}.",
            f"Use a version after {program_version()}.",
        )
    top.get("format", whole_number(FORMAT, FORMAT), FORMAT)
    tables = top.tables("target")
    if len(tables) > MOST:
        raise top.error("target", f"there are {len(tables)} targets; at most {MOST} are allowed.")
    trial = top.get("trial", whole_number(10, 600), 0)
    return DesiredFile(
        targets=tuple(_target(table) for table in tables),
        persist=top.get("persist", flag, False),
        trial=float(trial) if trial else None,
    )


def _target(table: TomlTable) -> DesiredTarget:
    table.require_keys("select", "set", "expect", "confirm", "optional")
    selector = table.table("select")
    selector.require_keys(*SELECTS)
    select = {key: selector.parse(key, _selector_text, selector.given[key]) for key in SELECTS if key in selector.given}
    if not select:
        raise table.error("select", "no selector is given.", f"Use at least one of: {', '.join(SELECTS)}.")
    return DesiredTarget(
        table=table,
        select=select,
        values=_values(table.table("set")),
        expect=_values(table.table("expect")),
        confirm=table.get("confirm", _texts, ()),
        optional=table.get("optional", flag, False),
    )


def _values(table: TomlTable) -> dict[str, str]:
    values: dict[str, str] = {}
    for key, value in table.given.items():
        if not _KEY.fullmatch(key):
            raise table.error(key, f"{clean(key, 40)!r} is not a valid setting key.")
        values[key] = table.parse(key, _value, value)
    return values


def _value(value: Any) -> str:
    """Return a string or a whole number as a string, in the form that the command `set` accepts. Raises ValueError for
    other values.
    """
    if isinstance(value, bool):
        raise ValueError('must be a string such as "on", or a number; true and false are not allowed')
    if isinstance(value, int):
        return str(value)
    return text(value)


def _selector_text(value: Any) -> str:
    """Return the value of a selector key as a string.

    Raises ValueError for a value that consists only of wildcards: patterns are not supported.
    """
    selector = text(value)
    if set(selector) <= set("*?.%"):
        raise ValueError("must be a literal value; patterns are not supported")
    return selector


def _texts(value: Any) -> tuple[str, ...]:
    rows = value if isinstance(value, list) else [value]
    return tuple(text(row) for row in rows)
