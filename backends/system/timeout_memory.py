"""Host wrapper that remembers which programs timed out, so that a scan does not wait twice for the same device."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from backends.errors import ToolTimeoutError
from backends.host import Command, Completed, Host
from backends.system.wrapped import HostWrapper

AGAIN = 60.0
"""Seconds after which a command that timed out is tried again: longer than any scan."""


class UnresponsiveDeviceCache(HostWrapper):
    """Host that neither repeats a command that timed out nor queries a disk for which another program waited in vain.

    It remembers a timeout for `AGAIN` seconds, and only of programs that query disks (`Command.stall`). A change clears
    the memory.
    """

    def __init__(self, inner: Host, clock: Callable[[], float] | None = None) -> None:
        """`clock`: returns seconds; None for the clock of the event loop."""
        super().__init__(inner)
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._silent: dict[tuple[str, ...], tuple[ToolTimeoutError, float]] = {}
        """For each command line that timed out, the error and the time at which it was raised (a reading of the
        clock).
        """

    async def run(self, command: Command) -> Completed:
        """Run a command. Raises ToolTimeoutError at once after a recent timeout of it, or of a program on its disks."""
        if command.mutates:
            try:
                return await self._inner.run(command)
            finally:
                self._silent.clear()
        if command.stall is not None and (earlier := self._recent_timeout(command.argv)) is not None:
            raise earlier
        try:
            return await self._inner.run(command)
        except ToolTimeoutError as error:
            if command.stall is not None:
                self._silent[command.argv] = error, self._clock()
            raise

    async def write(self, path: str, text: str) -> None:
        """Write the file and clear the memory."""
        try:
            await self._inner.write(path, text)
        finally:
            self._silent.clear()

    def silences(self) -> tuple[ToolTimeoutError, ...]:
        """Return the timeouts of the last `AGAIN` seconds, oldest first."""
        now = self._clock()
        return tuple(error for error, at in self._silent.values() if now - at < AGAIN)

    def _recent_timeout(self, argv: tuple[str, ...]) -> ToolTimeoutError | None:
        now = self._clock()
        self._silent = {key: entry for key, entry in self._silent.items() if now - entry[1] < AGAIN}
        if argv in self._silent:
            error, _ = self._silent[argv]
            return ToolTimeoutError(error.message, hint=error.hint, evidence=error.evidence, devices=error.devices)
        nodes = {word[5:].replace("/", "!") for word in argv[1:] if word.startswith("/dev/")}  # kernel names
        for error, _ in self._silent.values():
            if named := nodes.intersection(error.devices):
                return ToolTimeoutError(
                    f"{os.path.basename(argv[0])} was skipped for /dev/{min(named)}: the device does not respond.",
                    hint=error.hint,
                    evidence=error.evidence,
                    devices=tuple(sorted(named)),
                )
        return None


def with_timeout_memory(host: Host) -> UnresponsiveDeviceCache:
    """Return the host wrapped in an `UnresponsiveDeviceCache`, or the host itself if it already is one."""
    return host if isinstance(host, UnresponsiveDeviceCache) else UnresponsiveDeviceCache(host)
