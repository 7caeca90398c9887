"""Identify processes. A PID alone is not enough, because the kernel reuses it."""

from __future__ import annotations

import os
from pathlib import Path


def pid_namespace() -> int:
    """Return the number of the PID namespace in which this process's PID is valid; 0 without /proc."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def process_start(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot; "" if it has ended or is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return "" if stat[0] in "ZX" else stat[19]
    except (OSError, IndexError):
        return ""
