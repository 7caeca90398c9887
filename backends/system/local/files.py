"""Small files, and the private working folders of programs."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile

from backends.errors import ToolFailedError
from backends.processes import pid_namespace, process_start

# -- working folders of programs --------------------------------------------------------------------------------------

# Private, named after the process that made them, so that a killed one's can be told. Process numbers are those of a
# pid namespace: a container that shares /tmp sees nobody outside, and would take the folders of all of them for left.

_OURS = re.compile(r"raidbench-(\d{1,20})-(\d{1,10})-(\d{1,20})-[a-z0-9_]{1,16}")

_tidied = False


def private_folder() -> str:
    """An empty working directory: some tools drop log files where they stand. Raises ToolFailedError."""
    global _tidied
    if not _tidied:
        _tidied = True
        remove_folders(left_folders())
    pid = os.getpid()
    try:
        return tempfile.mkdtemp(prefix=f"raidbench-{pid_namespace()}-{pid}-{process_start(pid) or 0}-")
    except OSError as error:
        raise ToolFailedError(
            f"No working directory could be made for a program: {error.strerror}.",
            hint=f"Free space or correct the permissions in {tempfile.gettempdir()}.",
            evidence=str(error),
        ) from error


def left_folders() -> tuple[str, ...]:
    """Empty working folders of this user whose process is gone and in which no program stands. Never raises.

    Only those made in this pid namespace: of another one's it cannot be told.
    """
    try:
        parent = tempfile.gettempdir()
        ours = [os.path.join(parent, name) for name in sorted(os.listdir(parent)) if _is_left(parent, name)]
    except OSError:
        return ()
    if not ours:
        return ()
    stood_in = _working_directories()
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
    if made is None or int(made[1]) != pid_namespace() or process_start(int(made[2])) == made[3]:
        return False
    path = os.path.join(parent, name)
    try:
        info = os.lstat(path)
        own = stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and stat.S_IMODE(info.st_mode) == 0o700
        return own and not os.listdir(path)
    except OSError:
        return False


def _working_directories() -> set[str]:
    """Working directories of all processes that can be seen: a program outlives the raidbench that was killed."""
    names: set[str] = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                names.add(os.readlink(f"/proc/{entry}/cwd"))
    return names


# -- small files: read, written in one go, put in place whole ---------------------------------------------------------

SMALL_FILE = 1024 * 1024
"""Bytes read of one file at most."""


def read_small(path: str) -> str | None:
    """A regular file's text without trailing white space; None if there is none that can be read."""
    try:
        # O_NONBLOCK: opening a FIFO that somebody put there would wait for a writer for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            parts: list[bytes] = []
            size = 0
            while size < SMALL_FILE and (part := os.read(descriptor, 65536)):
                parts.append(part)
                size += len(part)
            return b"".join(parts).decode("utf-8", "replace").rstrip()
        return None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _permission_hint(error: OSError) -> str:
    """What to do where something is not permitted; "" where it is something else."""
    if not isinstance(error, PermissionError):
        return ""
    if os.geteuid():
        return "Run raidbench as root."
    return "Not even root may: the device refuses it, or a container or a lockdown of the kernel does. `dmesg` may say."


def write_once(path: str, text: str) -> None:
    """One write to a file that exists. Raises ToolFailedError in the kernel's words."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            # One write: sysfs takes each write as a whole value.
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        hint = _permission_hint(error)
        raise ToolFailedError(
            f"The kernel refused {text!r}: {error.strerror}.", hint=hint, evidence=f"{path}: {error}"
        ) from error
