"""Base classes of recorded and simulated hosts and processes."""

from __future__ import annotations

import asyncio
from typing import Self

from backends.host import SIMULATED_MACHINE, Capabilities

_INTERRUPTED = 128
"""fio's exit status after SIGINT."""


class SyntheticHost:
    """Recorded or simulated host. Its results are marked as simulated, and it never accesses the local machine."""

    simulated: bool = True
    """Always True."""
    capabilities: Capabilities = SIMULATED_MACHINE
    """Capabilities of a simulated host."""
    firmware: None = None
    """Always None: there are no controllers to query."""
    root_side: None = None
    """Always None: there is no root helper."""


class SyntheticProcess:
    """A recorded or simulated process.

    It runs from the entry of its context until the exit, and reacts to every signal.
    """

    pid: int = 0
    """Always 0: there is no real process."""

    def __init__(self, returncode: int) -> None:
        self._stop = asyncio.Event()
        self._over = asyncio.Event()
        self._returncode = returncode

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()

    def interrupt(self) -> None:
        """React like fio to SIGINT: stop, and print the results so far."""
        if not self._over.is_set() and not self._stop.is_set():
            self._returncode = _INTERRUPTED
            self._stop.set()

    terminate = interrupt

    def kill(self) -> None:
        """React like a program to SIGKILL: end without further output."""
        self.interrupt()
        self._over.set()

    close = kill

    async def wait(self) -> int:
        """Wait for the end and return the exit status."""
        await self._over.wait()
        return self._returncode
