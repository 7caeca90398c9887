"""Times in words, and counts of CPUs. Pure."""

from __future__ import annotations

import re

_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def time_words(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`, `2.1 days`."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


def count_cpus(text: str | None) -> int | None:
    """How many CPUs `0-3,8` names (/sys/devices/system/cpu/online); None for anything else."""
    total = 0
    for part in (text or "").split(","):
        found = _RANGE.fullmatch(part)
        if found is None:
            return None
        first, last = int(found[1]), int(found[2] or found[1])
        total += max(last - first + 1, 0)
    return total or None
