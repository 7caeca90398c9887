"""The host interface of the backends: run programs, stream their output, read, write and list files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
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
    """Wait for work that must not be interrupted and return its result.

    A cancellation that arrives meanwhile is raised as CancelledError once the work has ended.
    """
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not future.cancelled():
            future.exception()  # asyncio logs an exception that is never retrieved
        raise cancelled
    return future.result()


def completed_when_cancelled(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return `work` as a function that runs in a task of its own, to its end even if the caller is cancelled."""

    @wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await shield_to_completion(asyncio.create_task(work(*args, **kwargs)))

    return run


STALL = 10.0
"""Maximum seconds without progress for a program that queries disks.

A disk needs up to ten seconds to spin up. A scan should end within 15 seconds even if one disk never answers.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReply:
    """A known prompt with its answer. raidbench answers no other prompt, and this one only in exactly this wording."""

    question: str
    """All output of the program up to the end of the prompt. Differences in white space are ignored."""
    answer: str
    """Line that raidbench sends as the answer."""

    def fits(self, printed: str) -> bool:
        """Return whether the output `printed` is exactly the expected prompt."""
        return printed.split() == self.question.split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run, as separate arguments, never through a shell."""

    argv: tuple[str, ...]
    """Program (a path from `which`) and its arguments."""
    timeout: float = 60.0
    """Seconds after which a command that only reads is killed. A mutating command is never killed."""
    stall: float | None = None
    """Seconds without progress after which raidbench gives up on a program that queries disks; None for others."""
    mutates: bool = False
    """Whether it changes the machine. If so, read-only hosts refuse it, and it is never killed."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Additions to the clean environment (LC_ALL=C, PATH)."""
    secret: tuple[str, ...] = ()
    """Arguments that are never shown or logged (activation keys)."""
    reply: PromptReply | None = None
    """Answer to the prompt of a mutating command that has no quiet flag. raidbench answers no other prompt."""

    def shown(self) -> str:
        """Return the command line as a person would type it, secrets masked."""
        return " ".join("***" if word in self.secret else quote(word) for word in self.argv)

    def mask(self, text: str) -> str:
        """Return output of the command with its secrets masked, because tools repeat their arguments."""
        for secret in sorted(filter(None, self.secret), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A finished program."""

    returncode: int
    """Exit status; -N when killed by signal N."""
    stdout: str
    """Standard output as text, with U+FFFD for undecodable bytes; at most 16 MiB."""
    stderr: str
    """Standard error as text, decoded like `stdout`; at most 16 MiB."""
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
        """Yield standard output as it arrives.

        The iteration ends at end of file, or when the process has exited and no more output comes.
        """

    def interrupt(self) -> None:
        """Ask the program to stop (SIGINT). fio still writes its summary."""

    def terminate(self) -> None:
        """Terminate the program (SIGTERM)."""

    def kill(self) -> None:
        """Kill the program and all its children (SIGKILL)."""

    async def wait(self) -> int:
        """Wait for the exit status and return it; -N if killed by signal N."""

    def stderr(self) -> str:
        """Return standard error so far: the first 200 and the last 50 lines."""


class WriteDenied(StrEnum):
    """Reason why nothing at all may be changed: missing privileges, or the mode of this process."""

    NEEDS_ROOT = "needs root"
    READ_ONLY = "read-only mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """The fields of a `stat` result that raidbench uses."""

    kind: str
    """`file`, `directory`, `block`, `char`, `link`, `other`."""
    size: int
    """Size in bytes."""
    devno: str | None = None
    """MAJ:MIN of a device node."""
    place: str | None = None
    """MAJ:MIN:INODE of a regular file, the same for all its names; None if unknown."""
    node: str | None = None
    """MAJ:MIN:INODE of the device node of a block device."""
    allocated: int | None = None
    """Bytes allocated on the filesystem: fewer than its size for a sparse file. None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemSpace:
    """Space on a filesystem."""

    size: int
    """Total size in bytes."""
    free: int
    """Bytes available to users other than root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTracking:
    """Record of the programs that a change runs, so that they can be found if raidbench dies."""

    lock: int
    """Descriptor of a locked file that the programs inherit. The file stays locked until the last of them ends."""
    begins: Callable[[int, str], None]
    """Function called with the process id and name of each program before it starts. If it raises, nothing is run."""


custody: ContextVar[ProcessTracking | None] = ContextVar("custody", default=None)
"""Tracking of the programs that the change in progress runs; None if no change is in progress."""


class SimulatedTime(Protocol):
    """Time of a simulated host, which may run faster than real time."""

    @property
    def chosen_speed(self) -> float | None:
        """Simulated seconds per real second that the user chose; None if the program may choose."""

    def hurry(self, speed: float) -> AbstractContextManager[None]:
        """Return a context in which the time runs so many times as fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Capabilities of a host in addition to its methods. The defaults are those of a remote machine."""

    opens_devices: bool = False
    """Whether this process can open the device nodes of the host: an open file cannot be passed through a `Host`."""
    shares_files: bool = False
    """Whether its paths are also paths of this process, so that files there can be created, locked and kept open."""
    shares_processes: bool = False
    """Whether its process ids are those of this machine, so that the local /proc describes its programs."""
    shares_watchdog: bool = False
    """Whether a watchdog program that outlives this one can revert changes there."""
    live: bool = True
    """Whether its disks are real ones: their counters advance, and they become idle."""
    counted: Callable[[], float] | None = None
    """Function that returns the simulated seconds that /proc/diskstats covers.

    None unless the host is simulated and has disk counters.
    """
    apart: str = ""
    """Name under which the state of a simulated machine is kept, apart from other machines; "" for a real machine."""
    time: SimulatedTime | None = None
    """Time of a simulated host; None for a real one."""
    harmed: bool = True
    """Whether actions there can cause damage, so that a device that cannot be checked counts as in use."""

    @property
    def counter_clock(self) -> Callable[[], float] | None:
        """Function that returns the seconds of /proc/diskstats; None for a recorded host, where they do not change."""
        return time.monotonic if self.live else self.counted


THIS_MACHINE = Capabilities(opens_devices=True, shares_files=True, shares_processes=True, shares_watchdog=True)
"""Capabilities of the local machine."""

SIMULATED_MACHINE = Capabilities(live=False, harmed=False, apart="made-up")
"""Capabilities of a simulation or a recording."""


class Host(Protocol):
    """One machine: local, over SSH, recorded or simulated. Backends treat all of them alike."""

    @property
    def name(self) -> str:
        """Host name, cleaned."""

    @property
    def simulated(self) -> bool:
        """Whether its data are simulated. Only used to mark output."""

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities in addition to these methods."""

    @property
    def firmware(self) -> FirmwareQueryHost | None:
        """Interface for firmware queries to its controllers; None if this host does not offer such queries."""

    @property
    def root_side(self) -> HelperClient | None:
        """Root helper for privileged operations; None if this process has root privileges, or there is none."""

    @property
    def is_root(self) -> bool:
        """Whether raidbench has the root privileges that writes to hardware need, itself or through the root helper."""

    async def run(self, command: Command) -> Completed:
        """Run a program to its end.

        Raises ToolMissingError if it is missing, ToolTimeoutError if it takes too long, RefusedError for a mutating
        command on a read-only host.
        """

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Return a context that starts a program and streams its output; leaving it ends the program and its children.

        Raises ToolMissingError if it is missing, RefusedError for a mutating command on a read-only host.
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

        Raises RefusedError for a symbolic link, a file with several hard links, anything but a regular file, and a file
        that cannot be read completely.
        """

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Replace a file atomically, creating its folder if necessary; b"" removes it.

        `before` is the content that `read_whole` returned. A new file has mode 0644; an existing one keeps owner, mode
        and attributes. Raises RefusedError if the file has other content by now or the host is read-only,
        ToolFailedError if it cannot be written.
        """

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that match a glob pattern, sorted."""

    async def link(self, path: str) -> str | None:
        """Return the final target of a symbolic link (realpath); None if there is none."""

    async def stat(self, path: str) -> FileStat | None:
        """Return the kind, size and numbers of the file at `path`, links followed; None if there is none."""

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """Return the space on the filesystem of `path`; None if unknown."""

    async def writable(self, path: str) -> str | None:
        """Return None if `write` may be tried on this file, else the reason: a `WriteDenied`, or another string."""

    def which(self, names: Sequence[str]) -> str | None:
        """Return the absolute path of the first executable one of `names`; None if there is none.

        A name is an absolute path, or is searched in the folders of PATH and in the system folders.
        """


@runtime_checkable
class CanRestart(Protocol):
    """A host that may be restarted at any time because nobody depends on it: a simulated one."""

    async def restart(self, *, without: str | None = None) -> None:
        """Reboot the host: pending values take effect, kernel settings are lost.

        `without`: name of an activated option that is missing after the reboot, as if its key had never been entered.
        """
