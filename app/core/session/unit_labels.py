"""Text helpers: labels within a sentence, and recorded values with the units that vendors declare. No I/O."""

from __future__ import annotations

from backends.registry import declared_settings
from backends.sizes import exact_text


def within_sentence(label: str) -> str:
    """Return a label as within a sentence: `Read-ahead` as `read-ahead`; `FastPath` and `I/O policy` unchanged."""
    return f"{label[:1].lower()}{label[1:]}" if label.split(" ")[0][1:].islower() else label


def value_text(key: str, value: str) -> str:
    """Return a value of a setting with its unit, `4096 KiB`; unchanged if no vendor declares one."""
    setting = declared_settings().get(key)
    return value if setting is None or not value else text_in_unit(value, setting.unit)


def text_in_unit(value: str, unit: str) -> str:
    """Return a setting's value with its unit, never rounded: `262144` bytes as `256 KiB`, `75000` us as `75 ms`.

    A word (`unlimited`) is unchanged. Other units are appended: `4096 KiB`, `1024 requests`, `30 %`.
    """
    try:
        number = int(value)
    except ValueError:
        return value
    if unit == "bytes":
        return exact_text(number)
    steps = ("µs", "ms", "s") if unit == "us" else (unit,)
    at = 0
    while at < len(steps) - 1 and number and number % 1000 == 0:
        number //= 1000
        at += 1
    return f"{number} {steps[at]}".rstrip()
