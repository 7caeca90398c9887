"""Measures on the kernel at hand which setting of a request queue it resets when another one is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from backends.vendors.block.settings import BY_KEY

ODD = {"read_ahead_kb": "12", "nr_requests": "9", "wbt_lat_usec": "1234"}
"""Values that no kernel has as a default, set before each write."""

_OTHERS = {
    "rq_affinity": ("0", "1", "2"),
    "nomerges": ("0", "1", "2"),
    "write_cache": ("write through", "write back"),
    "add_random": ("1", "0"),
    "iostats": ("0", "1"),
}


def measured_effects(queue: Path) -> dict[str, dict[str, set[str]]]:
    """Return the values that each write has moved other settings to, by key written and key moved.

    `queue`: the folder of a disk that may be spoilt; it has its old values again afterwards.
    """
    before = _now(queue)
    found: dict[str, dict[str, set[str]]] = {}
    for key in before:
        for value in _values(queue, key):
            for odd, text in ODD.items():
                if odd != key:
                    _write(queue, odd, text)
            start = _now(queue)
            if not _write(queue, key, value):
                continue
            for other, now in _now(queue).items():
                if other != key and now != start.get(other):
                    found.setdefault(key, {}).setdefault(other, set()).add(now)
        _restore(queue, before)
    return found


def effects_words(found: Mapping[str, Mapping[str, object]], key: str) -> str:
    """Return the keys that a write has moved, as the tables have them."""
    return ", ".join(sorted(found.get(key, {}))) or "nothing"


def _now(queue: Path) -> dict[str, str]:
    texts = {}
    for key in BY_KEY:
        with suppress(OSError):
            texts[key] = (queue / key).read_text().strip()
    return texts


def _write(queue: Path, key: str, value: str) -> bool:
    try:
        (queue / key).write_text(value)
    except OSError:
        return False
    return True


def _values(queue: Path, key: str) -> tuple[str, ...]:
    """Return values that a key may be given."""
    if key == "scheduler":
        return tuple(re.sub(r"[][]", "", (queue / key).read_text()).split())
    if key in ("read_ahead_kb", "max_sectors_kb"):
        return ("64", "128", "256")
    if key in ("nr_requests", "wbt_lat_usec"):
        return ("32", "16")
    if key == "io_timeout":
        return ("20000", "60000")
    return _OTHERS[key]


def _restore(queue: Path, before: Mapping[str, str]) -> None:
    """Write the old values, read-ahead and what a scheduler resets last."""
    last = tuple(ODD)
    for key in (*(key for key in before if key not in last), *(key for key in last if key in before)):
        text = before[key]
        _write(queue, key, match[1] if (match := re.search(r"\[(.+)\]", text)) and key == "scheduler" else text)
