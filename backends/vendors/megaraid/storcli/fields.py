"""Looking things up in what a tool printed: keys with blanks and odd spelling, values of any type. Pure, never raises.

A value that is not there, or blank (`-`, `N/A`, `NA`), is None. A value of another type than wanted is None too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar, cast

from backends.text import clean
from backends.vendors._cards import ReportedValue, reported_number

T = TypeVar("T")

BLANK = {"", "-", "n/a", "na", "unavailable"}
"""Words for "nothing to say"."""

_DEPTH = 10
"""Deeper than this nothing is looked at."""

_WHOLE = re.compile(r"(\d{1,15}) ?(?:%|s|sec|secs|seconds|hrs|hours|h|d|C|MB|KB|GB)?", re.IGNORECASE | re.ASCII)
_CELSIUS = re.compile(
    r"(\d{1,3})(?:\.0+)? ?(?:degrees? )?(?:C|Celsius|Celcius)?(?: \([\d.]+ F\))?", re.IGNORECASE | re.ASCII
)
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


_cleaned = lru_cache(maxsize=4096)(clean)
"""The same words come again in every row."""


def cleaned_text(value: object) -> str | None:
    """A value as text, cleaned; None if it is blank or no plain value."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if not isinstance(value, str | int):
        return None
    text = _cleaned(value) if isinstance(value, str) and len(value) < 64 else clean(str(value))
    return None if text.lower() in BLANK else text


class Data(dict[str, object]):
    """The data of one answer. What is in it is looked through once, however many parsers ask."""

    __slots__ = ("_found", "_inside", "_rows", "differing", "ends")

    def __init__(
        self, data: Mapping[str, object] | None = None, *, ends: bool | None = True, differing: tuple[str, ...] = ()
    ) -> None:
        """`ends`: whether its end was seen; None for text, which may stop between two tables and show nothing of it.

        `differing`: keys that it had twice with different values, of which it has neither.
        """
        super().__init__(data or {})
        self.ends = ends
        self.differing = differing
        self._found: dict[object, object] = {}

    def once(self, parser: Callable[[Mapping[str, object]], T]) -> T:
        """What this parser finds in it."""
        if parser not in self._found:
            self._found[parser] = parser(self)
        return cast("T", self._found[parser])

    def rows(self) -> list[tuple[str, dict[str, object], Mapping[str, str]]]:
        """What is `inside`, with the plain keys of each: every table is asked for many columns."""
        try:
            return self._rows
        except AttributeError:
            self._rows: list[tuple[str, dict[str, object], Mapping[str, str]]] = [
                (heading, row, _names(tuple(row))) for heading, row in self.inside()
            ]
            return self._rows

    def inside(self) -> list[tuple[str, dict[str, object]]]:
        """See `inside`."""
        try:
            return self._inside
        except AttributeError:
            self._inside: list[tuple[str, dict[str, object]]] = []
            _collect(self, "", _DEPTH, self._inside)
            return self._inside


class Fields:
    """The values under one heading, by key in whatever spelling."""

    __slots__ = ("_data", "_names")

    def __init__(self, data: object, names: Mapping[str, str] | None = None) -> None:
        """Of a dict; of anything else it is empty. The first of two keys that are the same counts."""
        self._data: Mapping[str, object] = data if isinstance(data, dict) else {}
        self._names = _names(tuple(self._data)) if names is None else names

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __bool__(self) -> bool:
        return bool(self._data)

    def raw(self, *names: str) -> object:
        """The first of these keys that is there (names in lower case)."""
        for name in names:
            key = self._names.get(name)
            if key is not None:
                return self._data[key]
        return None

    def text(self, *names: str) -> str | None:
        """The first of these that says something."""
        for name in names:
            key = self._names.get(name)
            text = cleaned_text(self._data[key]) if key is not None else None
            if text is not None:
                return text
        return None

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
        value = self.raw(*names)
        return tuple(Fields(row) for row in value if isinstance(row, Mapping)) if isinstance(value, list) else ()


def whole(text: str | None) -> int | None:
    """`30 %`, `4s`, `168 hrs`, `8`."""
    match = _WHOLE.fullmatch(text.strip()) if text is not None else None
    return int(match[1]) if match is not None else None


def number_value(text: str | None) -> ReportedValue | None:
    """Return a setting that is a number, as `whole` reads it; None where the tool says nothing."""
    return reported_number(text, whole(text))


def celsius(text: str | None) -> int | None:
    """`37C`, `34C (93.20 F)`, `29 C`, `62`; None for what no card can have."""
    match = _CELSIUS.fullmatch(text.strip()) if text is not None else None
    if match is None:
        return None
    degrees = int(match[1])
    return degrees if 0 < degrees < 200 else None


def flag(text: str | None) -> bool | None:
    """`Yes`, `Off`, `Yes, Supports only Spin-Up`."""
    return None if text is None else _FLAGS.get(text.partition(",")[0].strip().lower())


def inside(data: Mapping[str, object]) -> list[tuple[str, dict[str, object]]]:
    """Every dict in an answer, at any depth, with the heading (key) that it stands under; the answer itself is none."""
    if isinstance(data, Data):
        return data.inside()
    pairs: list[tuple[str, dict[str, object]]] = []
    _collect(data, "", _DEPTH, pairs)
    return pairs


_NESTS = frozenset((dict, list))


def _collect(data: object, heading: str, depth: int, pairs: list[tuple[str, dict[str, object]]]) -> None:
    """Rows of a table stand under the heading of the table. JSON makes plain dicts and lists, and thousands of rows."""
    if isinstance(data, dict):
        nested = [(key, value) for key, value in data.items() if type(value) in _NESTS]
    else:
        nested = [(heading, value) for value in data if type(value) in _NESTS]  # type: ignore[attr-defined]
    for key, value in nested:
        if type(value) is dict:
            pairs.append((key, value))
        # Most are rows of plain values: that is seen without a call for each.
        if depth and not _NESTS.isdisjoint(map(type, value.values() if type(value) is dict else value)):
            _collect(value, key, depth - 1, pairs)


def tables(data: Mapping[str, object], column: str) -> Iterator[tuple[str, Fields]]:
    """Every row, at any depth, that has this column (in lower case), with the heading it stands under."""
    rows = data.rows() if isinstance(data, Data) else ((name, row, _names(tuple(row))) for name, row in inside(data))
    for heading, row, names in rows:
        if column in names:
            yield heading, Fields(row, names)


@lru_cache(maxsize=2048)
def _names(keys: tuple[str, ...]) -> Mapping[str, str]:
    """Plain keys and the very ones. Rows of a table all have the same, so each table is looked at once."""
    by_plain_key: dict[str, str] = {}
    for key in keys:
        by_plain_key.setdefault(plain(key), key)
    return by_plain_key
