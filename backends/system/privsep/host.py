"""The local machine for an ordinary user, with a root helper for privileged operations."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Callable, Mapping, Sequence

from backends.errors import RefusedError
from backends.firmware_queries import FirmwareQuery
from backends.helper_interface import HelperClient
from backends.host import Command, Completed
from backends.system.local import LocalHost
from backends.system.wrapped import HostWrapper


class SplitHost(HostWrapper):
    """Host that runs programs and reads files as the user if possible, and otherwise through the root helper."""

    def __init__(
        self,
        inner: LocalHost,
        side: HelperClient,
        *,
        runs: Callable[[Sequence[str]], bool],
        reads: Callable[[str], bool],
    ) -> None:
        """`runs`, `reads`: functions that return whether the helper permits a command line or a file.

        Requests that the helper would refuse are not sent to it.
        """
        super().__init__(inner)
        self._side = side
        self._local = inner
        self._runs = runs
        self._reads = reads

    @property
    def is_root(self) -> bool:
        """Return True: the helper performs privileged operations."""
        return True

    @property
    def root_side(self) -> HelperClient:
        """Return the root helper."""
        return self._side

    @property
    def firmware(self) -> SplitHost:
        """Return the host through which controllers are queried: this host, which sends the queries to the helper."""
        return self

    async def run(self, command: Command) -> Completed:
        """Run a read-only command.

        Raises RefusedError for a mutating command, because the helper makes only complete changes.
        """
        if command.mutates:
            raise _single_step_error(command.shown())
        if not self._runs(command.argv):
            return await self._inner.run(command)
        reply = await self._side.ask("run", argv=list(command.argv), seconds=command.timeout, stall=command.stall)
        return Completed(**reply)

    async def read(self, path: str) -> str | None:
        """Return the text of a small file, or None."""
        return (await self.read_many((path,))).get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of many small files, read as the user first, then as root if that failed."""
        texts = dict(await self._inner.read_many(paths))
        # The permission bits of files below /proc do not show whether the user can read them, so it is tried first.
        closed = [path for path in paths if path not in texts and self._reads(path) and _exists(path)]
        if closed:
            texts |= (await self._side.ask("read", paths=closed))["texts"]
        return texts

    async def link(self, path: str) -> str | None:
        """Return the target of a link; None if it cannot be read. The helper reads links of process 1 for the user."""
        target = await self._inner.link(path)
        if target is not None or not path.startswith("/proc/1/"):
            return target
        leads: str | None = (await self._side.ask("follow", path=path))["leads"]
        return leads

    async def write(self, path: str, text: str) -> None:
        """Raise RefusedError, because the helper makes only complete changes."""
        raise _single_step_error(path)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Raise RefusedError, because the helper makes only complete changes."""
        raise _single_step_error(path)

    async def writable(self, path: str) -> str | None:
        """Return None if root may try a write, or the reason why not."""
        try:
            mode = os.stat(path).st_mode
        except OSError:
            return await self._inner.writable(path)
        offered = mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
        return None if offered else "the kernel attribute is read-only"

    @property
    def firmware_queries(self) -> bool:
        """Return whether controllers may be queried through their driver."""
        return self._local.firmware_queries

    async def firmware_reachable(self) -> str | None:
        """Return None if controllers can be queried, or the reason why not."""
        if not self.firmware_queries:
            return await self._local.firmware_reachable()
        why_not: str | None = (await self._side.ask("reachable"))["why_not"]
        return why_not

    async def ask_firmware(
        self, host_number: int, question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> bytes:
        """Return the controller's reply."""
        if not self.firmware_queries:
            return await self._local.ask_firmware(host_number, question, subject=subject, size=size)
        reply = await self._side.ask("ask", host=host_number, question=question.name, subject=subject, size=size)
        return base64.b64decode(reply["answer"])


def _exists(path: str) -> bool:
    return os.path.exists(path)


def _single_step_error(subject: str) -> RefusedError:
    return RefusedError(f"{subject}: without root, raidbench makes only complete changes, not single steps.")
