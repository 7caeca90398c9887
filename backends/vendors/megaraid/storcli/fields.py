"""Looking things up in what a tool printed: keys with blanks and odd spelling, values of any type. Pure, never raises.

A value that is not there, or blank (`-`, `N/A`, `NA`), is None. A value of another type than wanted is None too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backends.text import clean

BLANK = {"", "-", "n/a", "na", "unavailable"}
"""Words for "nothing to say"."""

_WHOLE = re.compile(r"(\d{1,15}) ?(?:%|s|sec|secs|seconds|hrs|hours|h|d|C|MB|KB|GB)?", re.IGNORECASE)
_CELSIUS = re.compile(r"(\d{1,3})(?:\.0+)? ?(?:degrees? )?(?:C|Celsius|Celcius)?(?: \([\d.]+ F\))?", re.IGNORECASE)
_FLAGS = {
    "yes": True,
    "no": False,
    "on": True,
    "off": False,
    "y": True,
    "n": False,
    "enabled": True,
    "disabled": False,
    "supported": True,
    "not supported": False,
    "true": True,
    "false": False,
}


def plain(key: object) -> str:
    """A key in lower case, blanks at its ends taken off and those inside made one."""
    return " ".join(str(key).lower().split())


def spoken(value: object) -> str | None:
    """A value as text, cleaned; None if it is blank or no plain value."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if not isinstance(value, str | int):
        return None
    text = clean(str(value))
    return None if text.lower() in BLANK else text


class Fields:
    """The values under one heading, by key in whatever spelling."""

    __slots__ = ("_values",)

    def __init__(self, data: object) -> None:
        """Of a dict; of anything else it is empty. The first of two keys that are the same counts."""
        self._values: dict[str, object] = {}
        if isinstance(data, Mapping):
            for key, value in data.items():
                self._values.setdefault(plain(key), value)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __bool__(self) -> bool:
        return bool(self._values)

    def items(self) -> Iterator[tuple[str, object]]:
        """Plain keys and raw values."""
        return iter(self._values.items())

    def raw(self, *names: str) -> object:
        """The first of these keys that is there (names in lower case)."""
        return next((self._values[name] for name in names if name in self._values), None)

    def text(self, *names: str) -> str | None:
        """The first of these that says something."""
        return next((text for name in names if (text := spoken(self._values.get(name))) is not None), None)

    def whole(self, *names: str) -> int | None:
        """A whole number, with or without a unit behind it."""
        return whole(self.text(*names))

    def flag(self, *names: str) -> bool | None:
        """Yes or no; `Yes, with restrictions` is yes."""
        return flag(self.text(*names))

    def fields(self, *names: str) -> Fields:
        """What lies under a key."""
        return Fields(self.raw(*names))

    def rows(self, *names: str) -> tuple[Fields, ...]:
        """The rows of a table under a key."""
        found = self.raw(*names)
        return tuple(Fields(row) for row in found if isinstance(row, Mapping)) if isinstance(found, list) else ()


def whole(text: str | None) -> int | None:
    """`30 %`, `4s`, `168 hrs`, `8`."""
    found = _WHOLE.fullmatch(text.strip()) if text is not None else None
    return int(found[1]) if found is not None and found[1].isascii() else None


def celsius(text: str | None) -> int | None:
    """`37C`, `34C (93.20 F)`, `29 C`, `62`; None for what no card can have."""
    found = _CELSIUS.fullmatch(text.strip()) if text is not None else None
    if found is None or not found[1].isascii():
        return None
    degrees = int(found[1])
    return degrees if 0 < degrees < 200 else None


def flag(text: str | None) -> bool | None:
    """`Yes`, `Off`, `Yes, Supports only Spin-Up`."""
    return None if text is None else _FLAGS.get(text.partition(",")[0].strip().lower())


def walk(data: object, depth: int = 10) -> Iterator[tuple[str, object]]:
    """Every (key, value) at any depth, lists passed through; deeper than `depth` is not looked at."""
    if depth <= 0:
        return
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield str(key), value
            if isinstance(value, Mapping | list):
                yield from walk(value, depth - 1)
    elif isinstance(data, list):
        for value in data:
            yield "", value
            if isinstance(value, Mapping | list):
                yield from walk(value, depth - 1)


def tables(data: object, column: str) -> Iterator[tuple[str, Fields]]:
    """Every row, at any depth, that has this column (in lower case), with the heading it stands under."""
    for heading, value in walk({"": data}):
        if isinstance(value, list):
            for row in value:
                if isinstance(row, Mapping) and _has(row, column):
                    yield heading, Fields(row)
        elif isinstance(value, Mapping) and heading and _has(value, column):
            yield heading, Fields(value)


def _has(row: Mapping[object, object], column: str) -> bool:
    return any(isinstance(key, str) and len(key) < 40 and plain(key) == column for key in row)
