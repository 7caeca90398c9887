"""Which process is which: a number alone is given again."""

from __future__ import annotations

import os
from pathlib import Path


def pid_namespace() -> int:
    """Number of the pid namespace that this process is in: only there its own number means it. 0 where /proc is not."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def process_start(pid: int) -> str:
    """Start time of a process in clock ticks since boot, "" if it is gone or only waits for its parent to notice."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return "" if stat[0] in "ZX" else stat[19]
    except (OSError, IndexError):
        return ""
