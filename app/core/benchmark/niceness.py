"""Process priorities: fio gets a higher CPU priority than raidbench itself."""

from __future__ import annotations

import contextlib
import os
import resource

STEP = 5
"""Number by which the niceness of raidbench exceeds that of the programs that it starts."""


def lower_priority() -> int | None:
    """Lower the priority of this process, and return the niceness for the programs that it starts.

    Return None if nothing was lowered. This happens if the process could not give a program the higher priority again
    (no root, no RLIMIT_NICE), because fio would then run at the lower priority too.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    limit, _ = resource.getrlimit(resource.RLIMIT_NICE)
    if os.geteuid() != 0 and 20 - limit > niceness:
        return None
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, min(niceness + STEP, 19))
        return niceness
    return None
