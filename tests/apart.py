"""A mount namespace for each worker that runs as root, with a folder of locks of its own.

Root's locks lie in one place whatever its environment says, and the guard asks what every process has mounted: so two
tests at once would hold each other's disk, and refuse what the other has mounted. In a namespace of its own a worker is
alone, as the one that runs the program on a server is; nothing of the product knows of this.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from app.core.session.paths import ROOTS_LOCKS

ALONE = (
    sys.executable,
    "-c",
    "import os, sys; from tests.apart import alone; alone(); os.execv(sys.argv[1], sys.argv[1:])",
)
"""Begins a program that shares no lock with another, as on machines of their own."""

_CLONE_NEWNS = 0x20000
_MS_REC, _MS_PRIVATE = 0x4000, 1 << 18


def alone(locks: Path = ROOTS_LOCKS) -> bool:
    """Go on in a mount namespace of our own; False where that is not allowed, as in most containers."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.unshare(_CLONE_NEWNS) != 0:
        return False
    if libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return False
    locks.mkdir(mode=0o700, exist_ok=True)
    return bool(libc.mount(b"tmpfs", os.fsencode(locks), b"tmpfs", 0, b"mode=0700") == 0)
