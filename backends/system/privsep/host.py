"""This machine as its user sees it, with a helper that does what takes root."""

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
    """Programs and files of the user's own are the user's business; the rest is asked of the helper."""

    def __init__(
        self,
        inner: LocalHost,
        side: HelperClient,
        *,
        runs: Callable[[Sequence[str]], bool],
        reads: Callable[[str], bool],
    ) -> None:
        """`runs`, `reads`: which programs and files the helper may know, so that it is not asked in vain."""
        super().__init__(inner)
        self._side = side
        self._local = inner
        self._runs = runs
        self._reads = reads

    @property
    def is_root(self) -> bool:
        """What takes root has a chance: the helper does it."""
        return True

    @property
    def root_side(self) -> HelperClient:
        """The helper."""
        return self._side

    @property
    def firmware(self) -> SplitHost:
        """Cards are asked through the helper."""
        return self

    async def run(self, command: Command) -> Completed:
        """Run to the end. What changes the machine is asked of the helper as a whole change, never as a program."""
        if command.mutates:
            raise _single_step_error(command.shown())
        if not self._runs(command.argv):
            return await self._inner.run(command)
        reply = await self._side.ask("run", argv=list(command.argv), seconds=command.timeout, stall=command.stall)
        return Completed(**reply)

    async def read(self, path: str) -> str | None:
        """A small file's text."""
        return (await self.read_many((path,))).get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Many small files: the user's look first, root's at what that could not read."""
        texts = dict(await self._inner.read_many(paths))
        # Whether a file may be read is known when it is tried: the rights of those below /proc do not tell.
        closed = [path for path in paths if path not in texts and self._reads(path) and _is_there(path)]
        if closed:
            texts |= (await self._side.ask("read", paths=closed))["texts"]
        return texts

    async def link(self, path: str) -> str | None:
        """Where a link leads."""
        target = await self._inner.link(path)
        if target is not None or not path.startswith("/proc/1/"):
            return target
        leads: str | None = (await self._side.ask("follow", path=path))["leads"]
        return leads

    async def write(self, path: str, text: str) -> None:
        """Refused: see `run`."""
        raise _single_step_error(path)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Refused: see `run`."""
        raise _single_step_error(path)

    async def writable(self, path: str) -> str | None:
        """None where root may try a write."""
        try:
            mode = os.stat(path).st_mode
        except OSError:
            return await self._inner.writable(path)
        offered = mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
        return None if offered else "the kernel offers it read-only"

    @property
    def firmware_queries(self) -> bool:
        """Whether cards may be asked through their driver."""
        return self._local.firmware_queries

    async def firmware_reachable(self) -> str | None:
        """None if a card may be asked, else why not."""
        if not self.firmware_queries:
            return await self._local.firmware_reachable()
        why_not: str | None = (await self._side.ask("reachable"))["why_not"]
        return why_not

    async def ask_firmware(
        self, host_number: int, question: FirmwareQuery, *, subject: int = 0, size: int | None = None
    ) -> bytes:
        """A card's answer."""
        if not self.firmware_queries:
            return await self._local.ask_firmware(host_number, question, subject=subject, size=size)
        reply = await self._side.ask("ask", host=host_number, question=question.name, subject=subject, size=size)
        return base64.b64decode(reply["answer"])


def _is_there(path: str) -> bool:
    return os.path.exists(path)


def _single_step_error(subject: str) -> RefusedError:
    return RefusedError(f"{subject}: without root only whole changes are made, not single steps.")
