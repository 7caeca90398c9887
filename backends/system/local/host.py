"""The local machine as a `Host`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import Mapping, Sequence

from backends.errors import RefusedError
from backends.firmware_queries import FirmwareQuery
from backends.host import (
    THIS_MACHINE,
    Capabilities,
    Command,
    Completed,
    FileStat,
    FilesystemSpace,
    WriteDenied,
    custody,
    shield_to_completion,
)
from backends.system.local.command import run_change, run_read
from backends.system.local.file_replacement import read_whole, replace_whole
from backends.system.local.files import match_paths, read_small, write_once
from backends.system.local.process import LocalProcess, Stream
from backends.system.local.programs import find_program
from backends.text import clean

_FILE_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFBLK: "block",
    stat.S_IFCHR: "char",
}
"""Kind of a file (`FileStat.kind`) by the format bits of its mode. All other kinds are `other`."""


class LocalHost:
    """The local machine."""

    simulated: bool = False
    """Always False."""
    capabilities: Capabilities = THIS_MACHINE
    """Those of the local machine."""
    root_side: None = None
    """Always None: this process performs privileged operations itself, if it is root."""

    def __init__(self, *, child_nice: int | None = None, firmware_queries: bool = False) -> None:
        """`child_nice`: nice value of the programs that are started (root only).

        `firmware_queries`: whether controllers may be queried.
        """
        self._child_nice = child_nice
        self.firmware_queries = firmware_queries
        """Whether controllers may be queried through their driver."""
        self.name = clean(socket.gethostname(), 64) or "localhost"
        """Host name without control characters."""

    @property
    def firmware(self) -> LocalHost:
        """Return the host through which controllers are queried: this host itself."""
        return self

    @property
    def is_root(self) -> bool:
        """Return whether the effective user is root."""
        return os.geteuid() == 0

    def which(self, names: Sequence[str]) -> str | None:
        """Return the path of the first of these programs that is installed and safe (`find_program`), or None."""
        return find_program(names)

    def stream(self, command: Command) -> contextlib.AbstractAsyncContextManager[LocalProcess]:
        """Return a context that starts a program on entry. Its output can be read while it runs."""
        return Stream(command, self._child_nice)

    async def run(self, command: Command) -> Completed:
        """Run a command to its end. A mutating command is never interrupted: a cancelled caller waits for its end."""
        if command.mutates:  # in a thread, because even a closing event loop does not interrupt a thread
            return await shield_to_completion(
                asyncio.get_running_loop().run_in_executor(None, run_change, command, self._child_nice, custody.get())
            )
        return await run_read(command, self._child_nice)

    async def read(self, path: str) -> str | None:
        """Return the text of a small file without trailing white space, or None."""
        return read_small(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of many small files by path, without the unreadable ones."""
        return {path: text for path in paths if (text := read_small(path)) is not None}

    async def write(self, path: str, text: str) -> None:
        """Write to an existing file with one call.

        The call is made in a thread, because it may take long, for example for a change of the scheduler.
        """
        await shield_to_completion(asyncio.get_running_loop().run_in_executor(None, write_once, path, text))

    async def read_whole(self, path: str) -> bytes | None:
        """Return all bytes of a file that may be replaced, or None if there is none. Raises RefusedError."""
        return await asyncio.get_running_loop().run_in_executor(None, read_whole, path)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Replace a file atomically; b"" removes it."""
        await shield_to_completion(
            asyncio.get_running_loop().run_in_executor(None, replace_whole, path, content, before)
        )

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that match a glob pattern, sorted."""
        return tuple(sorted(match_paths(pattern)))

    async def link(self, path: str) -> str | None:
        """Return the path with all links resolved, or None.

        For a magic link such as /proc/PID/ns/mnt, return the link's text.
        """
        try:
            return os.path.realpath(path, strict=True)
        except OSError:
            with contextlib.suppress(OSError):
                target = os.readlink(path)
                return target if ":[" in target else None
            return None

    async def stat(self, path: str) -> FileStat | None:
        """Return kind, size and identity of a file, or None."""
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            return None
        kind = _FILE_KINDS.get(stat.S_IFMT(info.st_mode), "other")
        device = f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}" if kind in ("block", "char") else None
        inode = f"{os.major(info.st_dev)}:{os.minor(info.st_dev)}:{info.st_ino}"
        return FileStat(
            kind=kind,
            size=info.st_size,
            devno=device,
            place=inode if kind == "file" else None,
            node=inode if kind == "block" else None,
            allocated=info.st_blocks * 512 if kind == "file" else None,
        )

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """Return size and free space of the filesystem at the path, or None."""
        try:
            info = os.statvfs(path)
        except (OSError, ValueError):
            return None
        return FilesystemSpace(size=info.f_blocks * info.f_frsize, free=info.f_bavail * info.f_frsize)

    async def writable(self, path: str) -> str | None:
        """Return None if a write may be tried, or the reason why not."""
        if not os.path.exists(path):
            return "the kernel does not support it for this device"
        if os.access(path, os.W_OK):
            return None
        return WriteDenied.NEEDS_ROOT if not self.is_root else "the kernel attribute is read-only"

    async def firmware_reachable(self) -> str | None:
        """Return None if controllers can be queried, or the reason why not."""
        if not self.firmware_queries:
            return "firmware_queries is false in the configuration"
        from backends.system.local.firmware import reachable

        return reachable()

    async def ask_firmware(
        self, host_number: int, question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> bytes:
        """Return the controller's reply.

        If `firmware_queries` is False, raise RefusedError without opening the device.
        """
        if not self.firmware_queries:
            raise RefusedError("Firmware queries are disabled: firmware_queries is false in the configuration.")
        from backends.system.local.firmware import ask

        return await ask(host_number, question, subject, size)
