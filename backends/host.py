"""The host interface of the backends: run programs, stream their output, read, write and list files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import field
from enum import StrEnum
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

from backends.firmware_queries import FirmwareQueryHost
from backends.helper_interface import HelperClient
from backends.text import quote
from backends.values import dataclass

T = TypeVar("T")
P = ParamSpec("P")


async def shield_to_completion(future: asyncio.Future[T]) -> T:
    """Wait for work that must not be interrupted; a CancelledError is raised after it ends."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not future.cancelled():
            future.exception()  # retrieve the exception, so that asyncio does not log it
        raise cancelled
    return future.result()


def completed_when_cancelled(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the coroutine function run in its own task, which ends even if its caller is cancelled."""

    @wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await shield_to_completion(asyncio.create_task(work(*args, **kwargs)))

    return run


STALL = 10.0
"""Seconds in which a program that queries disks must make progress. A disk needs up to ten to spin up, and a scan is to
end within 15 although one disk never answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReply:
    """The only prompt of a program that is answered, and only in exactly this wording."""

    question: str
    """All output until the program waits; white space is not compared."""
    answer: str
    """Line that is typed."""

    def fits(self, printed: str) -> bool:
        """Return whether the output is exactly the question."""
        return printed.split() == self.question.split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run: words only, never a shell."""

    argv: tuple[str, ...]
    """Program (a path from `which`) and its arguments."""
    timeout: float = 60.0
    """Seconds after which a read is killed; a mutating command is never killed."""
    stall: float | None = None
    """Seconds without progress after which a read of a program that queries disks is given up; None for others."""
    mutates: bool = False
    """Whether it changes the machine; read-only hosts refuse it and it is never killed."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Additions to the clean environment (LC_ALL=C, PATH)."""
    secret: tuple[str, ...] = ()
    """Words never shown or logged (activation keys)."""
    reply: PromptReply | None = None
    """Answer to the prompt of a mutating command without a quiet flag; any other prompt is not answered."""

    def shown(self) -> str:
        """Return the command line as a person would type it, secrets masked."""
        return " ".join("***" if word in self.secret else quote(word) for word in self.argv)

    def mask(self, text: str) -> str:
        """Return output of the command without its secrets, because tools repeat their arguments."""
        for secret in sorted(filter(None, self.secret), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A finished program."""

    returncode: int
    """Exit status; -N when killed by signal N."""
    stdout: str
    """Decoded with replacement, at most 16 MiB."""
    stderr: str
    """Decoded with replacement, at most 16 MiB."""
    seconds: float = 0.0
    """Duration."""
    truncated: bool = False
    """Whether the output was longer than the limit and was truncated."""


class Process(Protocol):
    """A running program whose output is streamed."""

    @property
    def pid(self) -> int:
        """Process id, 0 if there is none (simulated)."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield standard output as it arrives, until end of file or until the process has exited and is silent."""

    def interrupt(self) -> None:
        """Ask the program to stop (SIGINT); it still writes its summary."""

    def terminate(self) -> None:
        """Terminate the program (SIGTERM)."""

    def kill(self) -> None:
        """Kill the program and all its children (SIGKILL)."""

    async def wait(self) -> int:
        """Wait for the exit status and return it; -N if killed by signal N."""

    def stderr(self) -> str:
        """Return standard error so far: the first 200 and the last 50 lines."""


class WriteDenied(StrEnum):
    """Why nothing at all may be changed: missing privileges, or the mode of this process."""

    NEEDS_ROOT = "needs root"
    READ_ONLY = "read-only mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """Result of `stat`, as far as it is used."""

    kind: str
    """`file`, `directory`, `block`, `char`, `link`, `other`."""
    size: int
    """Size in bytes."""
    devno: str | None = None
    """MAJ:MIN of a device node."""
    place: str | None = None
    """MAJ:MIN:INODE of a regular file, the same for all its names; None if unknown."""
    node: str | None = None
    """MAJ:MIN:INODE of a block device's node."""
    allocated: int | None = None
    """Bytes allocated on the filesystem: fewer than its size for a sparse file. None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemSpace:
    """Space on a filesystem."""

    size: int
    """Total size in bytes."""
    free: int
    """Bytes available to a user who is not root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTracking:
    """Tracking of the programs of a change, so that they are known if raidbench dies."""

    lock: int
    """Open file that the programs inherit: its lock lasts until the last of them ends."""
    begins: Callable[[int, str], None]
    """Receives process id and name of each program before it does anything. If it raises, nothing is run."""


custody: ContextVar[ProcessTracking | None] = ContextVar("custody", default=None)
"""Tracking of the change in progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Capabilities of a host that its protocol does not cover; the defaults are those of a remote machine."""

    opens_devices: bool = False
    """This process can open its device nodes: an open file does not pass through a host."""
    shares_files: bool = False
    """Its paths are this process's paths, so that files there can be created, locked and kept open."""
    shares_processes: bool = False
    """Its process ids are this machine's, so that /proc here describes its programs."""
    shares_watchdog: bool = False
    """A program that outlives this one can revert changes there."""
    live: bool = True
    """Its disks work on their own: their counters count, and they become idle."""
    counted: Callable[[], float] | None = None
    """For a simulated host with counters: returns the seconds of its own time that /proc/diskstats covers."""
    apart: str = ""
    """Name of the state of a simulated machine, which is separate from all others; "" for a real machine."""
    harmed: bool = True
    """Actions there can cause damage, so that anything that cannot be checked counts as in use."""


THIS_MACHINE = Capabilities(opens_devices=True, shares_files=True, shares_processes=True, shares_watchdog=True)
"""Capabilities of the local machine."""

SIMULATED_MACHINE = Capabilities(live=False, harmed=False, apart="made-up")
"""Capabilities of a simulation or a recording."""


class Host(Protocol):
    """One machine: local, over SSH, recorded or simulated. Backends cannot distinguish them."""

    @property
    def name(self) -> str:
        """Host name, cleaned."""

    @property
    def simulated(self) -> bool:
        """Whether its answers are simulated. Only used to mark output."""

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities that this protocol does not cover."""

    @property
    def firmware(self) -> FirmwareQueryHost | None:
        """Firmware queries of its controllers; None if they cannot be reached."""

    @property
    def root_side(self) -> HelperClient | None:
        """Root helper for privileged operations; None if this process has root privileges, or there is none."""

    @property
    def is_root(self) -> bool:
        """Whether writes to hardware may succeed."""

    async def run(self, command: Command) -> Completed:
        """Run a program to its end.

        Raises ToolMissingError if it is missing, ToolTimeoutError if it takes too long, RefusedError if it mutates a
        read-only host.
        """

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Run a program and stream its output; leaving the context ends it and all its children.

        Raises ToolMissingError if it is missing, RefusedError if it mutates a read-only host.
        """

    async def read(self, path: str) -> str | None:
        """Return a small file's text without trailing white space; None if it is missing or unreadable."""

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of many small files by path; missing or unreadable ones are left out."""

    async def write(self, path: str, text: str) -> None:
        """Write to an existing file (sysfs) in one write.

        Raises ToolFailedError with the kernel's message, RefusedError on a read-only host.
        """

    async def read_whole(self, path: str) -> bytes | None:
        """Return all bytes of a file that is about to be rewritten; None if there is no file.

        Raises RefusedError for a link, a file of several names or of another kind, and a file that cannot be read
        completely.
        """

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Replace a file atomically, creating its folder if necessary; b"" removes it.

        `before` is what `read_whole` returned. A new file is 0644; an existing one keeps owner, mode and attributes.
        Raises RefusedError if the file has other content by now or the host is read-only, ToolFailedError if it cannot
        be written.
        """

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that match a glob pattern, sorted."""

    async def link(self, path: str) -> str | None:
        """Return the final target of a symbolic link (realpath); None if there is none."""

    async def stat(self, path: str) -> FileStat | None:
        """Return what is at `path`, links followed; None if nothing is."""

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """Return the space on the filesystem of `path`; None if unknown."""

    async def writable(self, path: str) -> str | None:
        """Return None if `write` may be tried, else the reason: a `WriteDenied`, or text about this file."""

    def which(self, names: Sequence[str]) -> str | None:
        """Return the absolute path of the first of `names` (absolute or on the fixed PATH) that is executable."""


@runtime_checkable
class CanRestart(Protocol):
    """A host that may be restarted at any time because no user depends on it: a simulated one."""

    async def restart(self, *, without: str | None = None) -> None:
        """Reboot it: pending values take effect, kernel settings are lost.

        `without`: name of an activated option that it then lacks, as if its key had never been entered.
        """
