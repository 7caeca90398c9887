"""The outside world as the backends see it: run, stream, read, write, list."""

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
    """Wait for what must not be cut short: whoever cancels gets the CancelledError once it is over."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not future.cancelled():
            future.exception()  # seen, though nobody waits for it any more
        raise cancelled
    return future.result()


def completed_when_cancelled(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the coroutine function run in a task of its own, which ends although its caller is cancelled."""

    @wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await shield_to_completion(asyncio.create_task(work(*args, **kwargs)))

    return run


STALL = 10.0
"""Seconds in which a program that asks disks has to get somewhere: a disk that wakes up needs up to ten, and a look at
all devices is to be over in 15 although one of them never answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReply:
    """The one question of a program that is answered, and only where it is asked in these very words."""

    question: str
    """All that the program may have printed until it waits, blanks and line ends alike."""
    answer: str
    """The line that is typed."""

    def fits(self, printed: str) -> bool:
        """Whether that is the question, and nothing else was said."""
        return printed.split() == self.question.split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to run: words only, never a shell."""

    argv: tuple[str, ...]
    """Program (a path from `which`) and its words."""
    timeout: float = 60.0
    """Seconds after which a read is killed; a mutating command is waited for."""
    stall: float | None = None
    """Seconds after which a read that gets nowhere is given up, of a program that asks disks; None for others."""
    mutates: bool = False
    """Whether it changes the machine; read-only hosts refuse it and it is never killed."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the clean environment (LC_ALL=C, PATH)."""
    cwd: str | None = None
    """Working directory; None means a private empty one."""
    secret: tuple[str, ...] = ()
    """Words never shown or logged (activation keys)."""
    reply: PromptReply | None = None
    """Of a mutating command that has no word to keep it from asking: what is answered; any other question is not."""

    def shown(self) -> str:
        """The line as a person would type it, secrets masked."""
        return " ".join("***" if word in self.secret else quote(word) for word in self.argv)

    def masked(self, text: str) -> str:
        """Text the command printed, without its secrets: tools repeat what they were given."""
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
    """How long it took."""
    truncated: bool = False
    """Output was longer than the limit and cut."""


class Process(Protocol):
    """A running program whose output is read as it comes."""

    @property
    def pid(self) -> int:
        """Process id, 0 when there is none (simulated)."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Standard output as it comes, until end of file or the process has exited and fell silent."""
        ...

    def interrupt(self) -> None:
        """Ask it to stop (SIGINT); it goes on writing its summary."""
        ...

    def terminate(self) -> None:
        """Ask harder (SIGTERM)."""
        ...

    def kill(self) -> None:
        """Stop it and all its children now (SIGKILL)."""
        ...

    async def wait(self) -> int:
        """Exit status; -N when killed by signal N."""
        ...

    def stderr(self) -> str:
        """What came on standard error so far: the first 200 and the last 50 lines."""
        ...


class WriteDenied(StrEnum):
    """Why nothing at all may be changed, whatever it is: rights, or the mode that raidbench was started in."""

    NEEDS_ROOT = "needs root"
    READ_ONLY = "read-only mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """What `stat` says, as far as anyone here needs it."""

    kind: str
    """`file`, `directory`, `block`, `char`, `link`, `other`."""
    size: int
    """Bytes."""
    devno: str | None = None
    """MAJ:MIN of a device node."""
    place: str | None = None
    """MAJ:MIN:INODE of a regular file: one file, whatever its names. None where that is not told."""
    node: str | None = None
    """The same of a block device's node."""
    allocated: int | None = None
    """Bytes that it has on its file system: fewer than its size where it has holes. None where that is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemSpace:
    """Room on a file system."""

    size: int
    """Bytes of all of it."""
    free: int
    """Bytes that a user who is not root may still have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTracking:
    """What the programs of a change get along with their words, so that it is known of them when raidbench dies."""

    lock: int
    """An open file that they inherit: its lock lives as long as the last of them."""
    begins: Callable[[int, str], None]
    """Is told the process id and the name of each before that does anything. If it raises, nothing is run."""


custody: ContextVar[ProcessTracking | None] = ContextVar("custody", default=None)
"""That of the change which is being made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is possible on a host beside its protocol; by default what is possible on another machine than this one."""

    opens_devices: bool = False
    """This process can open its device nodes, and so hold them: an open file does not pass through a host."""
    shares_files: bool = False
    """Its paths are this process's paths too, so files there can be made, locked and held."""
    shares_processes: bool = False
    """Its process ids are this machine's, so that /proc here tells of its programs."""
    shares_watchdog: bool = False
    """A program that outlives this one can take changes back there."""
    live: bool = True
    """Its disks go on by themselves: their counters count, and they come to rest."""
    counted: Callable[[], float] | None = None
    """Of what is made up and counts all the same: seconds of its own time that /proc/diskstats covers."""
    apart: str = ""
    """Names the state of a made-up machine, which is separate from that of every other; "" for a real machine."""
    harmed: bool = True
    """What is done there may harm somebody, so that what cannot be looked at counts as in use."""


THIS_MACHINE = Capabilities(opens_devices=True, shares_files=True, shares_processes=True, shares_watchdog=True)
"""Where raidbench runs."""

MADE_UP = Capabilities(live=False, harmed=False, apart="made-up")
"""A simulation or a recording."""


class Host(Protocol):
    """One machine: local, over SSH, recorded or simulated. Backends cannot tell which."""

    @property
    def name(self) -> str:
        """Host name, cleaned."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether what it answers was made up: for marking what is shown, nothing else is decided by it."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What is possible on it beside this protocol."""
        ...

    @property
    def firmware(self) -> FirmwareQueryHost | None:
        """Who can ask its cards; None where they cannot be reached."""
        ...

    @property
    def root_side(self) -> HelperClient | None:
        """The helper that does what takes root; None where this process does it itself, or nobody can."""
        ...

    @property
    def is_root(self) -> bool:
        """Whether writes to hardware have a chance."""
        ...

    async def run(self, command: Command) -> Completed:
        """Run to the end.

        Raises ToolMissingError, ToolTimeoutError, RefusedError (read-only host and `mutates`).
        """
        ...

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Run and read as it goes; leaving the context ends the program and all its children.

        Raises ToolMissingError, RefusedError.
        """
        ...

    async def read(self, path: str) -> str | None:
        """A small file's text without trailing white space; None if it is not there or not readable."""
        ...

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Many small files in one go; those that are missing or unreadable are left out."""
        ...

    async def write(self, path: str, text: str) -> None:
        """Write to an existing file (sysfs) in one write.

        Raises ToolFailedError with the errno's words, RefusedError on a read-only host.
        """
        ...

    async def read_whole(self, path: str) -> bytes | None:
        """Return all bytes of a file that is about to be rewritten; None if there is no file.

        Raises RefusedError for a link, a file of several names or of another kind, and what cannot be read whole.
        """
        ...

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Put a whole file in place atomically, making its folder if need be; b"" removes it.

        `before` is what `read_whole` returned. A new file is 0644; an older one keeps owner, mode and attributes.
        Raises RefusedError where the file holds anything else by now or the host is read-only, ToolFailedError.
        """
        ...

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Paths that match a glob pattern, sorted."""
        ...

    async def link(self, path: str) -> str | None:
        """Where a symbolic link finally leads (realpath); None if there is nothing."""
        ...

    async def stat(self, path: str) -> FileStat | None:
        """What is at `path`, links followed; None if nothing is."""
        ...

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """Room on the file system that `path` lies on; None where that cannot be told."""
        ...

    async def writable(self, path: str) -> str | None:
        """None if `write` may be tried, else the reason: a `WriteDenied`, or words about this file."""
        ...

    def which(self, names: Sequence[str]) -> str | None:
        """Absolute path of the first of `names` (absolute or on the fixed PATH) that may be executed."""
        ...


@runtime_checkable
class CanRestart(Protocol):
    """A host that may be restarted in the middle of things, because nobody lives on it: a simulated one."""

    async def restart(self, *, without: str | None = None) -> None:
        """Boot it: what waited for that is in force, kernel settings are lost.

        `without`: name of an activated option that it is to have forgotten, as if its key had never been given.
        """
        ...
