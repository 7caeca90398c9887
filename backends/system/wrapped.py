"""Host wrappers: pass-through, read-only, dry-run and logging. Backends do not check for these modes themselves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager

from backends.errors import RaidbenchError, RefusedError
from backends.firmware_queries import FirmwareQueryHost
from backends.helper_interface import HelperClient
from backends.host import Capabilities, Command, Completed, FileStat, FilesystemSpace, Host, Process, WriteDenied
from backends.values import dataclass


class HostWrapper:
    """Host that passes every call to the wrapped host. Subclasses override the calls that they change."""

    def __init__(self, inner: Host) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """Return the name of the wrapped host."""
        return self._inner.name

    @property
    def simulated(self) -> bool:
        """Return whether the wrapped host is simulated."""
        return self._inner.simulated

    @property
    def capabilities(self) -> Capabilities:
        """Return the capabilities of the wrapped host."""
        return self._inner.capabilities

    @property
    def firmware(self) -> FirmwareQueryHost | None:
        """Return the firmware interface of the wrapped host."""
        return self._inner.firmware

    @property
    def root_side(self) -> HelperClient | None:
        """Return the root helper of the wrapped host."""
        return self._inner.root_side

    @property
    def is_root(self) -> bool:
        """Return whether the wrapped host acts as root."""
        return self._inner.is_root

    async def run(self, command: Command) -> Completed:
        """Run a program on the wrapped host."""
        return await self._inner.run(command)

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Stream a program on the wrapped host."""
        return self._inner.stream(command)

    async def read(self, path: str) -> str | None:
        """Return the text of a file of the wrapped host; None if it is missing or unreadable."""
        return await self._inner.read(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of files of the wrapped host by path, without missing or unreadable files."""
        return await self._inner.read_many(paths)

    async def write(self, path: str, text: str) -> None:
        """Write a file of the wrapped host."""
        await self._inner.write(path, text)

    async def read_whole(self, path: str) -> bytes | None:
        """Return all bytes of a file of the wrapped host; None if there is no file."""
        return await self._inner.read_whole(path)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Replace or remove a file of the wrapped host; see `Host.install`."""
        await self._inner.install(path, content, before=before)

    async def list(self, pattern: str) -> tuple[str, ...]:
        """List paths of the wrapped host."""
        return await self._inner.list(pattern)

    async def link(self, path: str) -> str | None:
        """Resolve a link of the wrapped host."""
        return await self._inner.link(path)

    async def stat(self, path: str) -> FileStat | None:
        """Return the state of a file of the wrapped host."""
        return await self._inner.stat(path)

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """Return the free space of a filesystem of the wrapped host."""
        return await self._inner.space_at(path)

    async def writable(self, path: str) -> str | None:
        """Return why a file of the wrapped host cannot be written, or None."""
        return await self._inner.writable(path)

    def which(self, names: Sequence[str]) -> str | None:
        """Find a program on the wrapped host."""
        return self._inner.which(names)


class ReadOnlyHost(HostWrapper):
    """Host that refuses every change of the machine."""

    def _refuse(self, action: str) -> RefusedError:
        return RefusedError(
            f"Read-only mode prevents this change: {action}.", hint="Start without --read-only to change settings."
        )

    async def run(self, command: Command) -> Completed:
        """Run a read-only command. Raises RefusedError for a mutating one."""
        if command.mutates:
            raise self._refuse(command.shown())
        return await self._inner.run(command)

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Stream a read-only command. Raises RefusedError for a mutating one."""
        if command.mutates:
            raise self._refuse(command.shown())
        return self._inner.stream(command)

    async def write(self, path: str, text: str) -> None:
        """Refuse to write a file. Raises RefusedError."""
        raise self._refuse(f"echo {text} > {path}")

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Refuse to replace a file. Raises RefusedError."""
        raise self._refuse(f"writing {path}")

    async def writable(self, path: str) -> str | None:
        """Return the reason why no file can be written: read-only mode is on."""
        return WriteDenied.READ_ONLY


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedCommand:
    """Record of one command or file write for the session's log."""

    line: str
    """Command line as a user would type it; secrets are masked."""
    mutates: bool
    """Whether it changed something."""
    started: float
    """Time of the start in seconds since the epoch."""
    seconds: float
    """Duration in seconds."""
    returncode: int | None
    """Exit status; None for a command that could not be run or whose caller was cancelled."""
    stdout: str = ""
    """Standard output of the command, or the content of an installed file."""
    stderr: str = ""
    """Standard error, or the kernel's message for a refused write."""


class LoggingHost(HostWrapper):
    """Host that reports every command and file write to a listener. File reads are not reported."""

    def __init__(self, inner: Host, listener: Callable[[ExecutedCommand], None]) -> None:
        super().__init__(inner)
        self._listener = listener

    async def run(self, command: Command) -> Completed:
        """Run a command, and report it to the listener."""
        with self._reporting(command.shown(), mutates=command.mutates, failed=None, mask=command.mask) as report:
            done = await self._inner.run(command)
        report(done.returncode, done.stdout, done.stderr)
        return done

    async def write(self, path: str, text: str) -> None:
        """Write a file, and report this to the listener."""
        with self._reporting(f"echo {text} > {path}") as report:
            await self._inner.write(path, text)
        report(0, "", "")

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Replace or remove a file (see `Host.install`), and report this to the listener."""
        with self._reporting(f"install {path}" if content else f"rm {path}") as report:
            await self._inner.install(path, content, before=before)
        report(0, content.decode("utf-8", "backslashreplace"), "")

    @contextmanager
    def _reporting(
        self, line: str, *, mutates: bool = True, failed: int | None = 1, mask: Callable[[str], str] = str
    ) -> Iterator[Callable[[int | None, str, str], None]]:
        """Context of one command or write: yield the function that the caller has to call to report its success.

        An exception is reported with the exit status `failed`.
        """
        started, clock = time.time(), time.monotonic()

        def report(code: int | None, out: str, err: str) -> None:
            self._listener(
                ExecutedCommand(
                    line=line,
                    mutates=mutates,
                    started=started,
                    seconds=time.monotonic() - clock,
                    returncode=code,
                    stdout=mask(out),
                    stderr=mask(err),
                )
            )

        try:
            yield report
        except RaidbenchError as error:
            report(failed, "", error.evidence or str(error))
            raise
        except asyncio.CancelledError:
            report(None, "", "cancelled while it was running")
            raise


# -- dry run: planning as if root privileges were available, without writing ------------------------------------------


class DryRunHost(ReadOnlyHost):
    """Read-only host for plans without root. It reports a file as writable if root could write it."""

    async def writable(self, path: str) -> str | None:
        """Return None if root could write the file, else the reason. Read-only mode does not count as a reason."""
        reason = await self._inner.writable(path)
        return None if isinstance(reason, WriteDenied) else reason
