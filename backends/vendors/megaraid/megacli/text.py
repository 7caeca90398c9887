"""Parser for MegaCli's text: lines, `key : value` pairs and numbers. No I/O; it never raises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from backends.text import clean
from backends.values import dataclass
from backends.vendors._cards import ReportedValue, reported_number, reported_word

_WHOLE = re.compile(r"([0-9]{1,15}) ?([A-Za-z%]*)", re.ASCII)
_DEGREES = re.compile(r"(-?[0-9]{1,3}) {0,2}(?:C\b|degrees? C)", re.ASCII)
_WWN = re.compile(r"(?:0x)?([0-9a-f]{32}|[0-9a-f]{16})", re.ASCII | re.IGNORECASE)
_LONGEST_KEY = 80
_LONGEST_LINE = 1000
_NOTHING = frozenset({"", "n/a", "na", "none", "-", "unknown", "not available", "unavailable", "\ufffd"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output."""

    key: str
    """Key in lower case with single blanks, without the colon; "" if the line is not a `key : value` pair."""
    value: str
    """Cleaned text after the first colon; the complete cleaned line if it is not a pair."""
    label: str
    """Cleaned key in its original case."""
    raw: str
    """Uncleaned text after the colon and one blank, for fields of fixed width."""


def lines(text: str) -> Iterator[Line]:
    """Yield every line that is not blank.

    Keys never contain a colon, but values do (times, WWNs, `0:1:2`), so the first colon separates them. A few lines of
    -AdpBbuCmd have ` = ` instead. Only a line feed ends a line: a name may contain any other control character.
    """
    for row in text.split("\n"):
        line = row[:_LONGEST_LINE].rstrip("\r")
        if line.strip():
            yield _parsed(line)


@lru_cache(maxsize=2048)  # drives have most of their lines in common, and each output is parsed several times
def _parsed(line: str) -> Line:
    key, sign, value = line.partition(":")
    if not sign:
        key, sign, value = line.partition(" = ")
    label = tidy(key, _LONGEST_KEY * 2)
    if sign and label and len(label) <= _LONGEST_KEY:
        return Line(label.lower(), tidy(value), label, value.removeprefix(" "))
    return Line("", tidy(line), "", line)


def tidy(text: str, limit: int = 256) -> str:
    """Return the cleaned text, with a shortcut for plain ASCII, because nearly every line is plain ASCII."""
    if text.isascii() and text.isprintable() and len(text) <= limit:
        return " ".join(text.split())
    return clean(text, limit)


def value_or_none(value: str) -> str | None:
    """Return the value, or None if it is empty or the tool's text for a missing value, such as `N/A`."""
    return None if value.lower() in _NOTHING else value


def word(value: str, meanings: Mapping[str, str]) -> ReportedValue | None:
    """Return the meaning of the tool's text by `meanings` (keys in lower case), else `unknown`; None for no text."""
    return reported_word(value or None, meanings)


def pairs(text: str) -> dict[str, str]:
    """Return the values in the output by key in lower case. The first value of a key counts."""
    by_key: dict[str, str] = {}
    for line in lines(text):
        if line.key and line.value:
            by_key.setdefault(line.key, line.value)
    return by_key


def amount(text: str, *units: str) -> ReportedValue | None:
    """Return a number with one of these units as a setting; `unknown` for other text, None if it is not reported."""
    return None if value_or_none(text) is None else reported_number(text, whole(text, *units))


def whole(value: str, *units: str) -> int | None:
    """Return an integer of at most 15 digits, bare or with one of `units`; None for others (`-1`, `1e400`)."""
    match = _WHOLE.fullmatch(value)
    return int(match[1]) if match and (not match[2] or match[2] in units) else None


def degrees(value: str) -> int | None:
    """Return degrees Celsius of `33C (91.40 F)`, `36 C` or `46  degree Celsius`; None for `N/A` and `OK`."""
    match = _DEGREES.match(value)
    return int(match[1]) if match else None


def wwn(value: str) -> str | None:
    """Return a WWN in lower case hexadecimal; None for other lengths and for zeros."""
    match = _WWN.fullmatch(value)
    return match[1].lower() if match and match[1].strip("0") else None


def parse_yes(value: str) -> bool | None:
    """Return True for `Yes`, False for `No`, None for other text."""
    return {"yes": True, "no": False}.get(value.lower())
