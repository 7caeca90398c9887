"""Recorded values with the units that vendors declare for their settings. Pure."""

from __future__ import annotations

from backends.registry import declared
from widgets.plain import units


def in_words(key: str, value: str) -> str:
    """A value of a setting with its unit, `4096 KiB`; as it is where nobody declares one."""
    setting = declared().get(key)
    return value if setting is None or not value else units.in_unit(value, setting.unit)
