"""Fields of JSON that somebody else wrote: what is not of the kind that is asked for is missing. Pure, never raises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from backends.text import clean

_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


def document(text: str, begin: str = "{") -> object:
    """What a text says from `begin` on, which is `{` or `[`; None where that is not JSON."""
    start = text.find(begin)
    try:
        return json.loads(text[start:], strict=False) if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def table(value: object) -> Mapping[str, object]:
    """An object; an empty one for all else."""
    return value if isinstance(value, dict) else {}


def rows(value: object, most: int = 4096) -> Iterator[Mapping[str, object]]:
    """The objects in a list, `most` of its items."""
    return (row for row in value[:most] if isinstance(row, dict)) if isinstance(value, list) else iter(())


def word(value: object, limit: int = 128) -> str | None:
    """A text that is not blank, cleaned."""
    return clean(value, limit) or None if isinstance(value, str) else None


def flag(value: object) -> bool | None:
    """True or false, and nothing that only looks like it."""
    return value if isinstance(value, bool) else None


def whole(value: object, most: int = 10**18) -> int | None:
    """A whole number from 0 to `most`, also one in quotes."""
    if isinstance(value, str):
        value = int(value) if _WHOLE.fullmatch(value.strip()) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most else None
