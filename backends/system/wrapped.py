"""Hosts round a host: dry-run, read-only and logging are wrappers, never an `if` in a backend."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from backends.errors import RaidbenchError, RefusedError
from backends.firmware_queries import FirmwareQueryHost
from backends.helper_interface import HelperClient
from backends.host import Capabilities, Command, Completed, FileStat, FilesystemSpace, Host, Process, WriteDenied
from backends.values import dataclass


class HostWrapper:
    """Passes everything on; subclasses change what they are for."""

    def __init__(self, inner: Host) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Name of the wrapped host."""
        return self._inner.name

    @property
    def simulated(self) -> bool:
        """Whether the wrapped host is simulated."""
        return self._inner.simulated

    @property
    def capabilities(self) -> Capabilities:
        """Those of the wrapped host."""
        return self._inner.capabilities

    @property
    def firmware(self) -> FirmwareQueryHost | None:
        """The wrapped host's."""
        return self._inner.firmware

    @property
    def root_side(self) -> HelperClient | None:
        """The wrapped host's."""
        return self._inner.root_side

    @property
    def is_root(self) -> bool:
        """Whether the wrapped host is root."""
        return self._inner.is_root

    async def run(self, command: Command) -> Completed:
        """As the wrapped host."""
        return await self._inner.run(command)

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """As the wrapped host."""
        return self._inner.stream(command)

    async def read(self, path: str) -> str | None:
        """As the wrapped host."""
        return await self._inner.read(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """As the wrapped host."""
        return await self._inner.read_many(paths)

    async def write(self, path: str, text: str) -> None:
        """As the wrapped host."""
        await self._inner.write(path, text)

    async def read_whole(self, path: str) -> bytes | None:
        """As the wrapped host."""
        return await self._inner.read_whole(path)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """As the wrapped host."""
        await self._inner.install(path, content, before=before)

    async def list(self, pattern: str) -> tuple[str, ...]:
        """As the wrapped host."""
        return await self._inner.list(pattern)

    async def link(self, path: str) -> str | None:
        """As the wrapped host."""
        return await self._inner.link(path)

    async def stat(self, path: str) -> FileStat | None:
        """As the wrapped host."""
        return await self._inner.stat(path)

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """As the wrapped host."""
        return await self._inner.space_at(path)

    async def writable(self, path: str) -> str | None:
        """As the wrapped host."""
        return await self._inner.writable(path)

    def which(self, names: Sequence[str]) -> str | None:
        """As the wrapped host."""
        return self._inner.which(names)


class ReadOnlyHost(HostWrapper):
    """Refuses everything that would change the machine."""

    def _refuse(self, action: str) -> RefusedError:
        return RefusedError(
            f"Read-only mode: {action} was not done.", hint="Start without --read-only to change settings."
        )

    async def run(self, command: Command) -> Completed:
        """Runs what does not mutate."""
        if command.mutates:
            raise self._refuse(command.shown())
        return await self._inner.run(command)

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Streams what does not mutate."""
        if command.mutates:
            raise self._refuse(command.shown())
        return self._inner.stream(command)

    async def write(self, path: str, text: str) -> None:
        """Refuses."""
        raise self._refuse(f"echo {text} > {path}")

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Refuses."""
        raise self._refuse(f"writing {path}")

    async def writable(self, path: str) -> str | None:
        """Never."""
        return WriteDenied.READ_ONLY


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedCommand:
    """One command or write, as it went, for the session's log."""

    line: str
    """As a person would type it; secrets masked."""
    mutates: bool
    """Whether it changed something."""
    started: float
    """Seconds since the epoch."""
    seconds: float
    """How long it took."""
    returncode: int | None
    """Exit status; None for file writes."""
    stdout: str = ""
    """Output."""
    stderr: str = ""
    """Error output, or the kernel's words for a refused write."""


class LoggingHost(HostWrapper):
    """Tells a listener of every command that ran and every file that was written. File reads are not told."""

    def __init__(self, inner: Host, listener: Callable[[ExecutedCommand], None]) -> None:
        super().__init__(inner)
        self._listener = listener

    async def run(self, command: Command) -> Completed:
        """Runs and tells."""
        started, clock = time.time(), time.monotonic()
        try:
            done = await self._inner.run(command)
        except RaidbenchError as error:
            text = command.mask(error.evidence or str(error))
            self._tell(command.shown(), command.mutates, started, clock, None, "", text)
            raise
        except asyncio.CancelledError:
            self._tell(command.shown(), command.mutates, started, clock, None, "", "not waited for")
            raise
        out, err = command.mask(done.stdout), command.mask(done.stderr)
        self._tell(command.shown(), command.mutates, started, clock, done.returncode, out, err)
        return done

    async def write(self, path: str, text: str) -> None:
        """Writes and tells."""
        await self._written(f"echo {text} > {path}", self._inner.write(path, text))

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Installs and tells."""
        line, shown = f"install {path}" if content else f"rm {path}", content.decode("utf-8", "backslashreplace")
        await self._written(line, self._inner.install(path, content, before=before), shown)

    async def _written(self, line: str, write: Awaitable[None], text: str = "") -> None:
        started, clock = time.time(), time.monotonic()
        try:
            await write
        except RaidbenchError as error:
            self._tell(line, True, started, clock, 1, "", error.evidence or str(error))
            raise
        except asyncio.CancelledError:
            self._tell(line, True, started, clock, None, "", "not waited for")
            raise
        self._tell(line, True, started, clock, 0, text, "")

    def _tell(
        self, line: str, mutates: bool, started: float, clock: float, code: int | None, out: str, err: str
    ) -> None:
        self._listener(
            ExecutedCommand(
                line=line,
                mutates=mutates,
                started=started,
                seconds=time.monotonic() - clock,
                returncode=code,
                stdout=out,
                stderr=err,
            )
        )


# -- A host that plans as if it were allowed to write, and writes nothing ---------------------------------------------


class DryRunHost(ReadOnlyHost):
    """Answers as root would be answered, so that a plan can be made and shown without root."""

    async def writable(self, path: str) -> str | None:
        """None where only the lack of rights stands against it."""
        reason = await self._inner.writable(path)
        return None if isinstance(reason, WriteDenied) else reason
