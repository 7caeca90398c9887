"""A host that remembers what gave no answer: nothing runs into the same wait twice in one look."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from backends.errors import ToolTimeoutError
from backends.host import Command, Completed, Host
from backends.system.wrapped import HostWrapper

AGAIN = 60.0
"""Seconds after which what gave no answer is asked again: longer than any look, so that each of its parts spares it."""


class UnresponsiveDeviceCache(HostWrapper):
    """Does not ask again for a while what gave no answer, nor anything of a disk that another program waited for.

    Of programs that ask disks only (`Command.stall`). A change makes it forget all: what follows one is asked for anew.
    """

    def __init__(self, inner: Host, clock: Callable[[], float] | None = None) -> None:
        """`clock`: seconds that pass; None is the event loop's."""
        super().__init__(inner)
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._silent: dict[tuple[str, ...], tuple[ToolTimeoutError, float]] = {}
        """By command line, the error and when it was raised, by the clock."""

    async def run(self, command: Command) -> Completed:
        """Runs it, unless it is known to give no answer. Raises ToolTimeoutError at once then."""
        if command.mutates:
            try:
                return await self._inner.run(command)
            finally:
                self._silent.clear()
        if command.stall is not None and (earlier := self._known(command.argv)) is not None:
            raise earlier
        try:
            return await self._inner.run(command)
        except ToolTimeoutError as error:
            if command.stall is not None:
                self._silent[command.argv] = error, self._clock()
            raise

    async def write(self, path: str, text: str) -> None:
        """Writes and forgets."""
        try:
            await self._inner.write(path, text)
        finally:
            self._silent.clear()

    def silences(self) -> tuple[ToolTimeoutError, ...]:
        """What has been given up lately, in the order of that."""
        now = self._clock()
        return tuple(error for error, at in self._silent.values() if now - at < AGAIN)

    def _known(self, argv: tuple[str, ...]) -> ToolTimeoutError | None:
        now = self._clock()
        self._silent = {key: entry for key, entry in self._silent.items() if now - entry[1] < AGAIN}
        if argv in self._silent:
            error, _ = self._silent[argv]
            return ToolTimeoutError(error.message, hint=error.hint, evidence=error.evidence, devices=error.devices)
        nodes = {_disk(word) for word in argv[1:] if word.startswith("/dev/")}
        for error, _ in self._silent.values():
            if named := nodes.intersection(error.devices):
                return ToolTimeoutError(
                    f"{os.path.basename(argv[0])} was not asked of /dev/{min(named)}, which gives no answer.",
                    hint=error.hint,
                    evidence=error.evidence,
                    devices=tuple(sorted(named)),
                )
        return None


def _disk(node: str) -> str:
    """Kernel name of what is at a node below /dev."""
    return node.removeprefix("/dev/").replace("/", "!")


def with_timeout_memory(host: Host) -> UnresponsiveDeviceCache:
    """The host as one that remembers; itself where it is one already."""
    return host if isinstance(host, UnresponsiveDeviceCache) else UnresponsiveDeviceCache(host)
