"""A device that stands still under a running job, in words. Pure."""

from __future__ import annotations

from app.engine.fio.standstill import Standstills
from app.engine.session.figures import Phase
from app.engine.session.state import ActiveRun
from widgets.plain import units


def stall_words(still: Standstills, measured_from: float) -> str:
    """A sentence on the stalls of a running job, whose measured phase began at this second; "" without one."""
    found = still.found
    if not found:
        return ""
    told = still.going_on or max(found, key=lambda one: one.seconds)
    when = units.elapsed(measured_from + told.at)
    if still.going_on:
        return f"{told.words}, since {when}."
    if len(found) == 1:
        return f"{told.words} at {when}."
    return f"{len(found)} stalls, the longest {told.seconds:.1f} s at {when}."


SILENT_S = 1.25
"""Seconds without a document of fio, which prints four a second, from which some I/O is stuck."""


def silence_words(active: ActiveRun) -> str:
    """What is said while fio tells nothing, because an I/O does not come back; "" while it tells.

    A simulated or recorded fio is silent when its own clock stands, which says nothing of a device.
    """
    if active.start.simulated or active.phase is not Phase.MEASURING or active.silent_s < SILENT_S:
        return ""
    return f"Stall: fio has told nothing for {active.silent_s:.1f} s, some I/O does not come back."
