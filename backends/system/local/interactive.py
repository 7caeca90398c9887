"""Interactive program: lines are written to its input, and its output is read while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from backends.errors import ToolFailedError, ToolMissingError
from backends.system.local.child import PIPE_BYTES, child_setup

_FAREWELL_S = 1.0
"""Seconds to wait for the exit of a program after closing its input, and again after SIGTERM."""

_KEPT_LINES = 20
_LINE = 400


class InteractiveProcess(AbstractAsyncContextManager["InteractiveProcess"]):
    """Context that starts a program in its own session on entry and ends its process group on exit.

    The program gets the environment of raidbench, which ssh needs for its agent, keys and tickets. Entry raises
    ToolMissingError and ToolFailedError.
    """

    def __init__(self, argv: Sequence[str], *, environment: Mapping[str, str] | None = None) -> None:
        """`environment`: additional environment variables."""
        self._argv = tuple(argv)
        self._environment = dict(environment or {})
        self._process: asyncio.subprocess.Process | None = None
        self._complaints: list[str] = []
        self._listener: asyncio.Task[None] | None = None

    async def __aenter__(self) -> InteractiveProcess:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **self._environment},
                start_new_session=True,
                preexec_fn=child_setup(os.getpid(), None),
                limit=PIPE_BYTES,
            )
        except FileNotFoundError as error:
            raise ToolMissingError(
                f"{self._argv[0]} is not installed.", hint="Install it or correct its path.", evidence=str(error)
            ) from error
        except OSError as error:
            raise ToolFailedError(f"{self._argv[0]} could not be started: {error.strerror}.") from error
        self._listener = asyncio.create_task(self._listen(self._process), name="complaints")
        return self

    async def __aexit__(self, *exc: object) -> None:
        process = self._require_started()
        try:
            self.hang_up()
            for number in (None, signal.SIGTERM):
                if number is not None:
                    self._signal(number)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_FAREWELL_S):
                        await self._drain(process)
                        return
        finally:
            self._signal(signal.SIGKILL)
            if self._listener is not None:
                self._listener.cancel()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FAREWELL_S):
                    await process.wait()
            process._transport.close()  # type: ignore[attr-defined]  # a grandchild may keep the pipes open

    @property
    def pid(self) -> int:
        """Return the process ID, which is also the process group."""
        return self._require_started().pid

    @property
    def returncode(self) -> int | None:
        """Return the exit status; -N if signal N killed the program, None while it is running."""
        return self._require_started().returncode

    async def read(self) -> bytes:
        """Return the next bytes of standard output; b"" at the end."""
        stdout = self._require_started().stdout
        assert stdout is not None
        return await stdout.read(65536)

    def say(self, line: str) -> None:
        """Write a line to the program's input. Do nothing if the input is closed."""
        stdin = self._require_started().stdin
        assert stdin is not None
        if not stdin.is_closing():
            stdin.write(f"{line}\n".encode())

    def hang_up(self) -> None:
        """Close the program's input."""
        stdin = self._require_started().stdin
        assert stdin is not None
        stdin.close()

    def kill(self) -> None:
        """Send SIGKILL to its process group."""
        self._signal(signal.SIGKILL)

    async def complaints(self) -> list[str]:
        """Return the last lines of standard error, at most 20.

        After the program has ended, wait briefly for its remaining lines.
        """
        if self._listener is not None and not self._listener.done():
            await asyncio.wait({self._listener}, timeout=_FAREWELL_S / 2)
        return list(self._complaints)

    async def status(self) -> int | None:
        """Return the exit status; None if the program does not end within a second.

        Call it after the end of the program's output.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_S):
                return await self._require_started().wait()
        return None

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        rest = b""
        while chunk := await process.stderr.read(4096):
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-_LINE:]
            self._complaints += [line[:_LINE].decode("utf-8", "replace") for line in lines if line.strip()]
            del self._complaints[:-_KEPT_LINES]
        if rest.strip():
            self._complaints.append(rest.decode("utf-8", "replace"))

    async def _drain(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while await process.stdout.read(65536):
            pass
        await process.wait()

    def _signal(self, number: signal.Signals) -> None:
        process = self._require_started()
        if process.returncode is not None and os.path.exists(f"/proc/{process.pid}"):
            return  # the program was reaped, and another process has its ID now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)

    def _require_started(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process
