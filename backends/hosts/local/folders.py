"""Working folders of programs: private, named after the process that made them, so that a killed one's can be told."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile

from backends.errors import ToolFailedError
from backends.processes import process_start

_OURS = re.compile(r"raidbench-(\d{1,10})-(\d{1,20})-[a-z0-9_]{1,16}")

_tidied = False


def private_folder() -> str:
    """An empty working directory: some tools drop log files where they stand. Raises ToolFailedError."""
    global _tidied
    if not _tidied:
        _tidied = True
        remove_folders(left_folders())
    pid = os.getpid()
    try:
        return tempfile.mkdtemp(prefix=f"raidbench-{pid}-{process_start(pid) or 0}-")
    except OSError as error:
        raise ToolFailedError(
            f"No working directory could be made for a program: {error.strerror}.",
            hint=f"Free space or correct the permissions in {tempfile.gettempdir()}.",
            evidence=str(error),
        ) from error


def left_folders() -> tuple[str, ...]:
    """Empty working folders of this user whose process is gone and in which no program stands. Never raises."""
    try:
        parent = tempfile.gettempdir()
        ours = [os.path.join(parent, name) for name in sorted(os.listdir(parent)) if _is_left(parent, name)]
    except OSError:
        return ()
    if not ours:
        return ()
    stood_in = _stood_in()
    return tuple(folder for folder in ours if folder not in stood_in)


def remove_folders(folders: tuple[str, ...]) -> int:
    """Remove those that are empty still; how many went."""
    gone = 0
    for folder in folders:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
            gone += 1
    return gone


def _is_left(parent: str, name: str) -> bool:
    made = _OURS.fullmatch(name)
    if made is None or process_start(int(made[1])) == made[2]:
        return False
    path = os.path.join(parent, name)
    try:
        info = os.lstat(path)
        own = stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and stat.S_IMODE(info.st_mode) == 0o700
        return own and not os.listdir(path)
    except OSError:
        return False


def _stood_in() -> set[str]:
    """Working directories of all processes that can be seen: a program outlives the raidbench that was killed."""
    found: set[str] = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                found.add(os.readlink(f"/proc/{entry}/cwd"))
    return found
