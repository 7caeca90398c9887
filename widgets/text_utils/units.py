"""Functions that format numbers with their units, for all screens, tables and reports."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

NOTHING = "-"
"""Text that stands for a missing number."""

_MEBI = 1 << 20


def three(value: float) -> str:
    """Return a number with three significant digits, but all integer digits: 8.54, 85.4, 854, 12345."""
    if not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    decimals = max(0, min(3, 2 - magnitude))
    # With two decimals, 9.996 would become 10.00, which has four significant digits.
    if decimals and abs(round(value, decimals)) >= 10.0 ** (magnitude + 1):
        decimals -= 1
    return f"{value:.{decimals}f}"


def _scale_to_step(value: float, steps: tuple[str, ...], factor: float) -> tuple[str, str]:
    """Return the number in the largest unit in which it is at least 1 after rounding, and the name of that unit."""
    index = 0
    while index < len(steps) - 1 and abs(value) >= factor * (1 - 0.0005):
        value /= factor
        index += 1
    return three(value), steps[index]


def iops(value: float | None) -> str:
    """Return I/Os per second as a string, such as `854`, `85.4k` or `1.20M`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    figure, step = _scale_to_step(value, ("", "k", "M", "G"), 1000)
    return figure + step


def mib_per_s(bytes_per_second: float | None) -> str:
    """Return a rate in MiB/s without the unit, for a column whose heading has the unit."""
    return NOTHING if bytes_per_second is None else three(bytes_per_second / _MEBI)


def rate(bytes_per_second: float | None) -> str:
    """Return a rate as a string, such as `332 MiB/s`. It is always in MiB/s, so that rows can be compared."""
    figure = mib_per_s(bytes_per_second)
    return figure if figure == NOTHING else f"{figure} MiB/s"


def latency(nanoseconds: float | None) -> str:
    """Return a latency as a string with three significant digits: `0.854 µs`, `741 µs`, `12.3 ms` or `1.20 s`."""
    if nanoseconds is None or not math.isfinite(nanoseconds):
        return NOTHING
    figure, step = _scale_to_step(nanoseconds / 1000, ("µs", "ms", "s"), 1000)
    return f"{figure} {step}"


def percent(value: float | None) -> str:
    """Return a percentage as a string, such as `9.1 %` or `67 %`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value:.0f} %" if abs(value) >= 9.95 else f"{value:.1f} %"


def fraction(value: float | None) -> str:
    """Return a fraction from 0 to 1 as a percentage, such as `12 %`."""
    return percent(None if value is None else value * 100)


def difference(old: float | None, new: float | None) -> str:
    """Return by how much `new` differs from `old`, such as `+3.1 %`; "-" if one is missing or `old` is zero."""
    if old is None or new is None or not old:
        return NOTHING
    change = (new - old) / old * 100
    if not math.isfinite(change):
        return NOTHING
    return f"{change:+.1f} %"


def duration(seconds: float | None) -> str:
    """Return a duration as a string, such as `0.42 s`, `60 s`, `5 min 20 s` or `2 h 05 min`."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    if seconds < 10 and seconds != int(seconds):
        return f"{three(seconds)} s"
    rounded = round(seconds)
    if rounded < 120:
        return f"{rounded} s"
    minutes, rest = divmod(rounded, 60)
    if minutes < 120:
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(rounded / 60), 60)
    return f"{hours} h {minutes:02d} min"


def ago(seconds: float) -> str:
    """Return how long ago an event was, such as `just now`, `5 min ago`, `3 h ago` or `12 days ago`."""
    for length, limit, unit in ((60, 3600, "min"), (3600, 2 * 86400, "h"), (86400, None, "days")):
        if seconds >= length and (limit is None or seconds < limit):
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def clock(at: float) -> str:
    """Return a time in seconds since 1970 as local time of day, such as `14:03:27`."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def moment(at: float) -> str:
    """Return a time in seconds since 1970 as local time, such as `2026-09-30 14:03:27 +0200`; "-" if out of range."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return NOTHING


def first_of(names: Sequence[str], most: int) -> str:
    """Return at most `most` names, and how many more there are: `sda, sdb and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def plural(count: int, name: str, many: str = "") -> str:
    """Return a count with the noun in singular or plural, such as `1 run` or `3 runs`. `many`: irregular plural."""
    return f"{count} {name if count == 1 else many or name + 's'}"


def elapsed(seconds: float) -> str:
    """Return a time as minutes and seconds, with hours if there are any, such as `0:25` or `1:02:03`."""
    if not math.isfinite(seconds):
        return "?"
    rounded = round(abs(seconds))
    hours, minutes, rest = rounded // 3600, rounded // 60 % 60, rounded % 60
    sign = "-" if seconds < 0 and rounded else ""
    return f"{sign}{hours}:{minutes:02d}:{rest:02d}" if hours else f"{sign}{minutes}:{rest:02d}"
