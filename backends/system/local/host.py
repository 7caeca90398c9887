"""This machine as a `Host`."""

from __future__ import annotations

import asyncio
import contextlib
import glob
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
from backends.system.local.files import read_small, write_once
from backends.system.local.process import LocalProcess, Stream
from backends.system.local.programs import find_program
from backends.text import clean


class LocalHost:
    """This machine."""

    def __init__(self, *, child_nice: int | None = None, firmware_queries: bool = False) -> None:
        """`child_nice`: absolute priority given to programs, where the user may (root).

        `firmware_queries`: whether cards may be asked through their driver; see `ask_firmware`.
        """
        self._child_nice = child_nice
        self._firmware_queries = firmware_queries
        self._name = clean(socket.gethostname(), 64) or "localhost"

    @property
    def name(self) -> str:
        """Host name, cleaned."""
        return self._name

    @property
    def simulated(self) -> bool:
        """Never."""
        return False

    @property
    def capabilities(self) -> Capabilities:
        """All there are."""
        return THIS_MACHINE

    @property
    def firmware(self) -> LocalHost:
        """This machine asks its cards itself."""
        return self

    @property
    def root_side(self) -> None:
        """None: this process is root, or nobody is."""
        return None

    @property
    def is_root(self) -> bool:
        """Whether the effective user is root."""
        return os.geteuid() == 0

    def which(self, names: Sequence[str]) -> str | None:
        """See `find_program`."""
        return find_program(names)

    def stream(self, command: Command) -> contextlib.AbstractAsyncContextManager[LocalProcess]:
        """Run and read as it goes."""
        return Stream(command, self._child_nice)

    async def run(self, command: Command) -> Completed:
        """Run to the end. A mutating command is never cut short: whoever cancels waits for it."""
        if command.mutates:  # in a thread: not even a closing event loop reaches it there
            return await shield_to_completion(
                asyncio.get_running_loop().run_in_executor(None, run_change, command, self._child_nice, custody.get())
            )
        return await run_read(command, self._child_nice)

    async def read(self, path: str) -> str | None:
        """A small file's text without trailing white space, or None."""
        return read_small(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Many small files; the unreadable are left out."""
        return {path: text for path in paths if (text := read_small(path)) is not None}

    async def write(self, path: str, text: str) -> None:
        """One write to an existing file.

        In a thread: sysfs may take its time, a scheduler switch waits for the queue to drain.
        """
        await shield_to_completion(asyncio.get_running_loop().run_in_executor(None, write_once, path, text))

    async def read_whole(self, path: str) -> bytes | None:
        """Return all bytes of a file that may be replaced."""
        return await asyncio.get_running_loop().run_in_executor(None, read_whole, path)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Replace a whole file atomically; b"" removes it."""
        await shield_to_completion(
            asyncio.get_running_loop().run_in_executor(None, replace_whole, path, content, before)
        )

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Paths matching a glob pattern."""
        return tuple(sorted(glob.glob(pattern)))

    async def link(self, path: str) -> str | None:
        """Real path, or None; what a magic link such as /proc/PID/ns/mnt says, which leads to no path."""
        try:
            return os.path.realpath(path, strict=True)
        except OSError:
            with contextlib.suppress(OSError):
                target = os.readlink(path)
                return target if ":[" in target else None
            return None

    async def stat(self, path: str) -> FileStat | None:
        """What is there."""
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            return None
        kinds = {
            stat.S_IFREG: "file",
            stat.S_IFDIR: "directory",
            stat.S_IFBLK: "block",
            stat.S_IFCHR: "char",
        }
        kind = kinds.get(stat.S_IFMT(info.st_mode), "other")
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
        """Room where it lies."""
        try:
            info = os.statvfs(path)
        except (OSError, ValueError):
            return None
        return FilesystemSpace(size=info.f_blocks * info.f_frsize, free=info.f_bavail * info.f_frsize)

    async def writable(self, path: str) -> str | None:
        """None if a write may be tried."""
        if not os.path.exists(path):
            return "the kernel does not offer it for this device"
        if os.access(path, os.W_OK):
            return None
        return WriteDenied.NEEDS_ROOT if not self.is_root else "the kernel offers it read-only"

    @property
    def firmware_queries(self) -> bool:
        """Whether cards may be asked through their driver."""
        return self._firmware_queries

    async def firmware_reachable(self) -> str | None:
        """None if a card may be asked, else why not."""
        if not self._firmware_queries:
            return "firmware_queries is false in the configuration"
        from backends.system.local.firmware import reachable

        return reachable()

    async def ask_firmware(
        self, host_number: int, question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> bytes:
        """A card's answer. Nothing is opened where `firmware_queries` is off."""
        if not self._firmware_queries:
            raise RefusedError("Cards are not asked: firmware_queries is false in the configuration.")
        from backends.system.local.firmware import ask

        return await ask(host_number, question, subject, size)
