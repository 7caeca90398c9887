"""Access to values of tool output, in which keys and value types are irregular. No I/O; it never raises.

A missing or blank value (`-`, `N/A`, `NA`) is None. A value of a different type than requested is None too.
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
"""Strings, in lower case, that the tool prints for a missing value."""

_DEPTH = 10
"""Maximum nesting depth to search."""

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


def normalise_key(key: object) -> str:
    """Return a key in lower case, with single blanks inside and no blanks at its ends."""
    return " ".join(str(key).lower().split())


_cleaned = lru_cache(maxsize=4096)(clean)
"""`clean` with a cache, because the same texts occur in every row."""


def cleaned_text(value: object) -> str | None:
    """Return a value as cleaned text, or None if it is blank or not a simple value."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if not isinstance(value, str | int):
        return None
    text = _cleaned(value) if isinstance(value, str) and len(value) < 64 else clean(str(value))
    return None if text.lower() in BLANK else text


class Data(dict[str, object]):
    """Data in the output of one command. Its nested tables are collected once, even if several parsers use them."""

    __slots__ = ("_nested", "_results", "_rows", "differing", "ends")

    def __init__(
        self, data: Mapping[str, object] | None = None, *, ends: bool | None = True, differing: tuple[str, ...] = ()
    ) -> None:
        """Store the data of one command's output.

        `ends`: whether the end of the output was found; None for text, which may be truncated unnoticed between two
        tables. `differing`: keys that occurred twice with different values and are left out.
        """
        super().__init__(data or {})
        self.ends = ends
        self.differing = differing
        self._results: dict[object, object] = {}

    def parse_once(self, parser: Callable[[Mapping[str, object]], T]) -> T:
        """Return the result of this parser, which runs only once for these data."""
        if parser not in self._results:
            self._results[parser] = parser(self)
        return cast("T", self._results[parser])

    def rows(self) -> list[tuple[str, dict[str, object], Mapping[str, str]]]:
        """Return the nested dicts with their normalised keys, cached because tables are searched for many columns."""
        try:
            return self._rows
        except AttributeError:
            self._rows: list[tuple[str, dict[str, object], Mapping[str, str]]] = [
                (heading, row, _names(tuple(row))) for heading, row in self.nested_dicts()
            ]
            return self._rows

    def nested_dicts(self) -> list[tuple[str, dict[str, object]]]:
        """Return every nested dict with its heading, like the function `nested_dicts`. They are collected only once."""
        try:
            return self._nested
        except AttributeError:
            self._nested: list[tuple[str, dict[str, object]]] = []
            _collect(self, "", _DEPTH, self._nested)
            return self._nested


class Fields:
    """Values under one heading, by key, regardless of case and repeated blanks."""

    __slots__ = ("_data", "_names")

    def __init__(self, data: object, names: Mapping[str, str] | None = None) -> None:
        """Wrap a dict; anything else counts as empty. Of keys that differ only in case or blanks, the first counts."""
        self._data: Mapping[str, object] = data if isinstance(data, dict) else {}
        self._names = _names(tuple(self._data)) if names is None else names

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __bool__(self) -> bool:
        return bool(self._data)

    def raw(self, *names: str) -> object:
        """Return the value of the first of these keys that exists (names in lower case)."""
        for name in names:
            key = self._names.get(name)
            if key is not None:
                return self._data[key]
        return None

    def text(self, *names: str) -> str | None:
        """Return the cleaned value under the first of these keys that has one; None if there is none."""
        for name in names:
            key = self._names.get(name)
            text = cleaned_text(self._data[key]) if key is not None else None
            if text is not None:
                return text
        return None

    def whole(self, *names: str) -> int | None:
        """Return the integer under the first of these keys that has a value; its unit is ignored."""
        return whole(self.text(*names))

    def flag(self, *names: str) -> bool | None:
        """Return the yes or no under the first of these keys that has a value; `Yes, with restrictions` is yes."""
        return flag(self.text(*names))

    def fields(self, *names: str) -> Fields:
        """Return the fields under a key."""
        return Fields(self.raw(*names))

    def rows(self, *names: str) -> tuple[Fields, ...]:
        """Return the rows of a table under a key."""
        value = self.raw(*names)
        return tuple(Fields(row) for row in value if isinstance(row, Mapping)) if isinstance(value, list) else ()


def whole(text: str | None) -> int | None:
    """Return the integer of `30 %`, `4s`, `168 hrs` or `8`; None for other text."""
    match = _WHOLE.fullmatch(text.strip()) if text is not None else None
    return int(match[1]) if match is not None else None


def number_value(text: str | None) -> ReportedValue | None:
    """Return a numeric setting as `whole` reads it, or None if it is not reported."""
    return reported_number(text, whole(text))


def celsius(text: str | None) -> int | None:
    """Return degrees Celsius of `37C`, `34C (93.20 F)`, `29 C` or `62`; None outside 1 to 199."""
    match = _CELSIUS.fullmatch(text.strip()) if text is not None else None
    if match is None:
        return None
    degrees = int(match[1])
    return degrees if 0 < degrees < 200 else None


def flag(text: str | None) -> bool | None:
    """Return whether `Yes`, `Off` or `Yes, Supports only Spin-Up` is a yes; None for other text."""
    return None if text is None else _FLAGS.get(text.partition(",")[0].strip().lower())


def nested_dicts(data: Mapping[str, object]) -> list[tuple[str, dict[str, object]]]:
    """Return every dict nested in the output, at any depth, with its heading (key)."""
    if isinstance(data, Data):
        return data.nested_dicts()
    pairs: list[tuple[str, dict[str, object]]] = []
    _collect(data, "", _DEPTH, pairs)
    return pairs


_NESTS = frozenset((dict, list))


def _collect(data: object, heading: str, depth: int, pairs: list[tuple[str, dict[str, object]]]) -> None:
    """Append every nested dict with its heading; the rows of a table have the heading of the table."""
    if isinstance(data, dict):
        nested = [(key, value) for key, value in data.items() if type(value) in _NESTS]
    else:
        nested = [(heading, value) for value in data if type(value) in _NESTS]  # type: ignore[attr-defined]
    for key, value in nested:
        if type(value) is dict:
            pairs.append((key, value))
        # Most dicts are rows of plain values: skip the call for these, because a table may have thousands.
        if depth and not _NESTS.isdisjoint(map(type, value.values() if type(value) is dict else value)):
            _collect(value, key, depth - 1, pairs)


def tables(data: Mapping[str, object], column: str) -> Iterator[tuple[str, Fields]]:
    """Yield every row, at any depth, that has this column (in lower case), with its heading."""
    rows = (
        data.rows() if isinstance(data, Data) else ((name, row, _names(tuple(row))) for name, row in nested_dicts(data))
    )
    for heading, row, names in rows:
        if column in names:
            yield heading, Fields(row, names)


@lru_cache(maxsize=2048)
def _names(keys: tuple[str, ...]) -> Mapping[str, str]:
    """Return the original keys by normalised key; cached, because all rows of a table have the same keys."""
    by_plain_key: dict[str, str] = {}
    for key in keys:
        by_plain_key.setdefault(normalise_key(key), key)
    return by_plain_key
