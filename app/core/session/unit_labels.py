"""Names within a sentence, and recorded values with the units that vendors declare for their settings. Pure."""

from __future__ import annotations

from backends.registry import declared_settings
from backends.sizes import exact_text


def within_sentence(label: str) -> str:
    """A name within a sentence: `read-ahead` of `Read-ahead`; `FastPath` and `I/O policy` stay as they are."""
    return f"{label[:1].lower()}{label[1:]}" if label.split(" ")[0][1:].islower() else label


def value_text(key: str, value: str) -> str:
    """A value of a setting with its unit, `4096 KiB`; as it is where nobody declares one."""
    setting = declared_settings().get(key)
    return value if setting is None or not value else text_in_unit(value, setting.unit)


def text_in_unit(value: str, unit: str) -> str:
    """A setting's value with its unit, never rounded: `256 KiB` of `262144` bytes, `75 ms` of `75000` us.

    A word (`unlimited`) stays as it is; so do figures in other units: `4096 KiB`, `1024 requests`, `30 %`.
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
