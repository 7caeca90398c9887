"""Text helpers for setting labels within a sentence, and for values with the units that vendors declare. No I/O."""

from __future__ import annotations

from backends.registry import declared_settings
from backends.units import text_in_unit


def within_sentence(label: str) -> str:
    """Return a label for use within a sentence: `Read-ahead` as `read-ahead`; `FastPath` and `I/O policy` unchanged."""
    return f"{label[:1].lower()}{label[1:]}" if label.split(" ")[0][1:].islower() else label


def value_text(key: str, value: str) -> str:
    """Return a recorded value of a setting by its label, such as `no merges`, or with its unit, such as `4096 KiB`.

    Return it unchanged if no vendor declares either.
    """
    setting = declared_settings().get(key)
    if setting is None or not value:
        return value
    labels = {choice.value: choice.label for choice in setting.choices}
    return labels.get(value) or text_in_unit(value, setting.unit)
