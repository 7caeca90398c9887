"""Settings that survive a reboot: one line per disk in the rules file of request queues. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from backends.udev import assign, queue_rules
from backends.vendors.block.knobs import BY_KEY

RULES = queue_rules("queue", "disk")
"""The lines of request queues."""


def actions(values: Mapping[str, str]) -> tuple[str, ...]:
    """What the line of a disk does; the scheduler first, because it resets others. Raises BlockedError."""
    return tuple(assign(f"queue/{key}", values[key]) for key in BY_KEY if key in values)
