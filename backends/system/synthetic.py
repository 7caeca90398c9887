"""What hosts and programs share that are only told of: those of a recording and of the simulation."""

from __future__ import annotations

import asyncio
from typing import Self

from backends.host import SIMULATED_MACHINE, Capabilities

_INTERRUPTED = 128
"""fio's exit status after SIGINT."""


class SyntheticHost:
    """A host that is not the machine: what it answers is marked, and nothing of the machine is touched."""

    simulated: bool = True
    """It is."""
    capabilities: Capabilities = SIMULATED_MACHINE
    """Those of what is only told of."""
    firmware: None = None
    """There are no cards to ask."""
    root_side: None = None
    """Nobody is asked to do anything."""


class SyntheticProcess:
    """A program that does not run: it begins on entry, ends on exit, and heeds every signal."""

    pid: int = 0
    """There is none."""

    def __init__(self, returncode: int) -> None:
        self._stop = asyncio.Event()
        self._over = asyncio.Event()
        self._returncode = returncode

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()

    def interrupt(self) -> None:
        """SIGINT: it stops, and tells what it has."""
        if not self._over.is_set() and not self._stop.is_set():
            self._returncode = _INTERRUPTED
            self._stop.set()

    terminate = interrupt

    def kill(self) -> None:
        """SIGKILL: it ends without a word."""
        self.interrupt()
        self._over.set()

    close = kill

    async def wait(self) -> int:
        """Exit status."""
        await self._over.wait()
        return self._returncode
