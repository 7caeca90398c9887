"""Small files, and private working folders of programs."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import re
import stat
import tempfile
from collections.abc import Callable
from functools import lru_cache

from backends.errors import ToolFailedError
from backends.processes import pid_namespace, process_start

# -- working folders of programs --------------------------------------------------------------------------------------

# A folder's name contains the ID and start time of the process that made it, so that folders of a killed process can be
# found. It also contains the PID namespace: processes outside a container that shares /tmp cannot be checked from it.

_OURS = re.compile(r"raidbench-(\d{1,20})-(\d{1,10})-(\d{1,20})-[a-z0-9_]{1,16}")

_tidied = False


def private_folder() -> str:
    """Create an empty working folder for a program, and return its path: some tools create log files in it.

    Raises ToolFailedError.
    """
    global _tidied
    if not _tidied:
        _tidied = True
        remove_folders(left_folders())
    pid = os.getpid()
    try:
        return tempfile.mkdtemp(prefix=f"raidbench-{pid_namespace()}-{pid}-{process_start(pid) or 0}-")
    except OSError as error:
        raise ToolFailedError(
            f"The working directory for a program could not be created: {error.strerror}.",
            hint=f"Free space or correct the permissions in {tempfile.gettempdir()}.",
            evidence=str(error),
        ) from error


def left_folders() -> tuple[str, ...]:
    """Return the empty working folders of this user whose process has ended and that no program uses. Never raises.

    Only folders made in this PID namespace are returned, because processes of other namespaces cannot be checked.
    """
    try:
        parent = tempfile.gettempdir()
        ours = [os.path.join(parent, name) for name in sorted(os.listdir(parent)) if _is_left(parent, name)]
    except OSError:
        return ()
    if not ours:
        return ()
    in_use = _working_directories()
    return tuple(folder for folder in ours if folder not in in_use)


def remove_folders(folders: tuple[str, ...]) -> int:
    """Remove the folders that are still empty; return how many were removed."""
    gone = 0
    for folder in folders:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
            gone += 1
    return gone


def _is_left(parent: str, name: str) -> bool:
    match = _OURS.fullmatch(name)
    if match is None or int(match[1]) != pid_namespace() or process_start(int(match[2])) == match[3]:
        return False
    path = os.path.join(parent, name)
    try:
        info = os.lstat(path)
        is_private = stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and stat.S_IMODE(info.st_mode) == 0o700
        return is_private and not os.listdir(path)
    except OSError:
        return False


def _working_directories() -> set[str]:
    """Return the working directories of all visible processes, because a program may outlive a killed raidbench."""
    names: set[str] = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                names.add(os.readlink(f"/proc/{entry}/cwd"))
    return names


# -- paths that match a pattern ----------------------------------------------------------------------------------------


def match_paths(pattern: str) -> list[str]:
    """Return the paths that match a glob pattern, in no order. Folders that cannot be read match nothing.

    The result is that of `glob.glob`, which asks the kernel about each folder on the way: for the patterns of /sys it
    takes half as long again. Patterns of other forms go to it.
    """
    if not pattern.startswith("/") or pattern.endswith("/") or "//" in pattern or "**" in pattern:
        return glob.glob(pattern)
    paths = [""]
    parts = pattern.split("/")[1:]
    for number, part in enumerate(parts, 1):
        if glob.has_magic(part):
            paths = _entries(paths, part, only_folders=number < len(parts))
        else:
            paths = [f"{path}/{part}" for path in paths]
    return paths if glob.has_magic(parts[-1]) else [path for path in paths if os.path.lexists(path)]


def _entries(folders: list[str], part: str, *, only_folders: bool) -> list[str]:
    """Return the paths in the folders whose names match a part of a pattern. A link may lead to a folder."""
    matches = _matcher(part)
    paths: list[str] = []
    for folder in folders:
        with contextlib.suppress(OSError, ValueError), os.scandir(folder or "/") as entries:
            paths += [
                f"{folder}/{entry.name}"
                for entry in entries
                if matches(entry.name) and not (only_folders and entry.is_file(follow_symlinks=False))
            ]
    return paths


@lru_cache(maxsize=256)
def _matcher(part: str) -> Callable[[str], object]:
    """Return the function that matches a name. As in a shell, only a pattern with a leading dot matches such a name."""
    expression = fnmatch.translate(part)
    return re.compile(expression if part.startswith(".") else rf"(?!\.){expression}").match


# -- small files: reading, and writing with one call -------------------------------------------------------------------

SMALL_FILE = 1024 * 1024
"""Maximum number of bytes that `read_small` reads from a file."""

_SYSFS = ("/sys/block/", "/sys/bus/", "/sys/class/", "/sys/devices/")
"""Where one read gives a whole value (Documentation/filesystems/sysfs.rst). Other filesystems are below /sys, too."""

_SYSFS_PAGE = 4096
"""Maximum number of bytes of a value in sysfs. Binary files have more."""


def read_small(path: str) -> str | None:
    """Return the text of a regular file without trailing white space; None if it cannot be read."""
    try:
        # O_NONBLOCK: opening a FIFO would wait forever for a writer.
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
                if len(part) < _SYSFS_PAGE and path.startswith(_SYSFS):
                    break
            return b"".join(parts).decode("utf-8", "replace").rstrip()
        return None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _permission_hint(error: OSError) -> str:
    """Return the hint for a permission error; "" for other errors."""
    if not isinstance(error, PermissionError):
        return ""
    if os.geteuid():
        return "Run raidbench as root."
    return "Root is refused as well: by the device, a container or the kernel lockdown. Check `dmesg` for the reason."


def write_once(path: str, text: str) -> None:
    """Write to an existing file with one call. Raises ToolFailedError with the kernel's message."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            # One call, because sysfs takes each write as a complete value.
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        hint = _permission_hint(error)
        raise ToolFailedError(
            f"The kernel refused the value {text!r}: {error.strerror}.", hint=hint, evidence=f"{path}: {error}"
        ) from error
