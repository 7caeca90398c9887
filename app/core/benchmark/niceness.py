"""Who goes first on a busy machine: fio, never the program that watches it."""

from __future__ import annotations

import contextlib
import os
import resource

STEP = 5
"""How much nicer the workbench is than what it starts."""


def lower_priority() -> int | None:
    """Step behind fio; the niceness that programs are to be started with, None to leave it as it is.

    Where a program could not be raised again (no root, no RLIMIT_NICE) nothing is lowered: fio would be measured at
    the lower priority, too.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    limit, _ = resource.getrlimit(resource.RLIMIT_NICE)
    if os.geteuid() != 0 and 20 - limit > niceness:
        return None
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, min(niceness + STEP, 19))
        return niceness
    return None
