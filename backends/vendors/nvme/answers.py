"""Numbers and fields out of what nvme-cli prints, JSON or text, in any of its versions. Pure, never raises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from backends.json_text import keys_once
from backends.text import clean

_WHOLE = re.compile(r"\s*(0[xX][0-9a-fA-F]{1,32}|\d{1,3}(?:,\d{3}){1,12}|\d{1,39})(?:\.0{1,6})?(?![\w.,])", re.ASCII)


def tolerant(text: str) -> Mapping[str, Any]:
    """The JSON object in a text, whatever stands before and after it; empty if there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        found = json.loads(text[start : end + 1], strict=False, object_pairs_hook=keys_once)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def whole(value: object) -> int | None:
    """A number that is not negative: 30, 30.0, "30", "0x1e", "1,928", "5%", "1 (512.00 kB)"; None for all else.

    smart-log of 2.3 has printed the same fields as integers, floats and strings.
    """
    match value:
        case bool():
            return None
        case int():
            return value if 0 <= value < 1 << 128 else None
        case float():
            return int(value) if value.is_integer() and 0 <= value < 1e38 else None
        case str():
            found = _WHOLE.match(value)
            if found is None:
                return None
            digits = found[1].replace(",", "")
            return int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
        case {"value": inner}:  # critical_warning of 2.11 is an object
            return whole(inner) if not isinstance(inner, dict) else None
        case _:
            return None


def word(value: object) -> str | None:
    """A string from the device, cleaned; None if it is none or blank."""
    return clean(value) or None if isinstance(value, str) else None


def rows(text: str) -> dict[str, str]:
    """`key : value` lines by key in small letters with single blanks, without those of which two lines differ."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        name = " ".join(key.lower().replace("_", " ").split())
        told = colon and name and len(name) < 64 and not name.startswith("[")
        if told and found.setdefault(name, value.strip()) != value.strip():
            twice.add(name)
    return {name: value for name, value in found.items() if name not in twice}
