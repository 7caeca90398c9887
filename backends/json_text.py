"""Read JSON of other programs, and write indented JSON.

The standard library's own indentation runs in Python instead of C and is ten times as slow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from json.encoder import JSONEncoder, encode_basestring_ascii

from backends.text import clean

_NESTED = (dict, list, tuple)


def indented_json(value: object, indent: int = 1, colon: str = ": ") -> str:
    """Return `json.dumps(value, indent=indent, separators=(",", colon))` for values whose keys are strings.

    Raises ValueError for values that strict JSON cannot express, such as NaN.
    """
    return _indented(value, " " * indent, colon, "\n")


def _indented(value: object, indent: str, colon: str, margin: str) -> str:
    deeper = margin + indent
    encode = _encoder(deeper, colon)
    if not value or not isinstance(value, _NESTED):
        return encode(value)
    if not any(isinstance(item, _NESTED) for item in (value.values() if isinstance(value, dict) else value)):
        flat = encode(value)
        return f"{flat[0]}{deeper}{flat[1:-1]}{margin}{flat[-1]}"
    if isinstance(value, dict):
        items = [
            f"{deeper}{encode_basestring_ascii(key)}{colon}{_indented(item, indent, colon, deeper)}"
            for key, item in value.items()
        ]
        return f"{{{','.join(items)}{margin}}}"
    return f"[{','.join([deeper + _indented(item, indent, colon, deeper) for item in value])}{margin}]"


@lru_cache(maxsize=256)
def _encoder(deeper: str, colon: str) -> Callable[[object], str]:
    """Return the standard library's C encoder for a list or object without nesting.

    `deeper`: line break and indentation to write after each comma.
    """
    return JSONEncoder(allow_nan=False, separators=(f",{deeper}", colon)).encode


# -- fields of JSON from other programs -------------------------------------------------------------------------------

# A value of an unexpected type counts as missing. These functions do no I/O and never raise.

_WHOLE = re.compile(r"\d{1,18}", re.ASCII)


def document(text: str, begin: str = "{") -> object:
    """Return the JSON value that starts at the first `begin` (`{` or `[`) in a text; None if it is not valid JSON."""
    start = text.find(begin)
    try:
        return json.loads(text[start:], strict=False, object_pairs_hook=keys_once) if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def keys_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object. A key that occurs twice with different values is left out: neither value is trusted."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        for key, value in pairs:
            if key in fields and fields[key] != value:
                del fields[key]
    return fields


def table(value: object) -> Mapping[str, object]:
    """Return the value if it is a JSON object, else an empty object."""
    return value if isinstance(value, dict) else {}


def rows(value: object, most: int = 4096) -> Iterator[Mapping[str, object]]:
    """Yield those of the first `most` items of a list that are objects; nothing if `value` is no list."""
    return (row for row in value[:most] if isinstance(row, dict)) if isinstance(value, list) else iter(())


def word(value: object, limit: int = 128) -> str | None:
    """Return the value, cleaned, if it is a string that is not blank, else None."""
    return clean(value, limit) or None if isinstance(value, str) else None


def flag(value: object) -> bool | None:
    """Return the value if it is a boolean, else None."""
    return value if isinstance(value, bool) else None


def whole_number(value: object, most: int = 10**18) -> int | None:
    """Return the value if it is a whole number from 0 to `most`, as a number or a string of digits, else None."""
    if isinstance(value, str):
        value = int(value) if _WHOLE.fullmatch(value.strip()) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most else None
