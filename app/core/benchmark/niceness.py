"""Process priorities: fio goes before the program that watches it."""

from __future__ import annotations

import contextlib
import os
import resource

STEP = 5
"""Difference of niceness between the workbench and the programs that it starts."""


def lower_priority() -> int | None:
    """Lower the priority of this process; return the niceness for programs that it starts, or None to leave it.

    Nothing is lowered if the priority of a program could not be raised again (no root, no RLIMIT_NICE): fio would be
    measured at the lower priority too.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    limit, _ = resource.getrlimit(resource.RLIMIT_NICE)
    if os.geteuid() != 0 and 20 - limit > niceness:
        return None
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, min(niceness + STEP, 19))
        return niceness
    return None
