"""A host with doors: what is behind them is asked by the same `run` as a program is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager

from backends.errors import RefusedError
from backends.host import Command, Completed, Host, Process, shield_to_completion
from backends.system.https.endpoint import HttpsEndpoint
from backends.system.wrapped import HostWrapper

_PATH = re.compile(r"/[!-~]{0,2000}", re.ASCII)


class WebHost(HostWrapper):
    """The wrapped host, and beside it `/KIND:/NAME` for each door: `run` of it is a request.

    Words of a command: the door, a method, a path, and the body where there is one. A GET is a read, and all else a
    change; a command that says otherwise of itself is refused, so that a host round this one can rely on it.
    """

    def __init__(self, inner: Host, doors: Iterable[HttpsEndpoint]) -> None:
        super().__init__(inner)
        self._doors = {door.place: door for door in doors}

    async def list(self, pattern: str) -> tuple[str, ...]:
        """The doors of a kind (`/santricity:/*`), else what the wrapped host has."""
        kind, _, rest = pattern.partition(":/")
        if rest == "*" and any(path.startswith(f"{kind}:/") for path in self._doors):
            return tuple(sorted(path for path in self._doors if path.startswith(f"{kind}:/")))
        return await self._inner.list(pattern)

    async def run(self, command: Command) -> Completed:
        """A request where it is one. A change is not given up before its time, whoever cancels.

        Raises RefusedError, ToolFailedError, ToolTimeoutError.
        """
        door = self._doors.get(command.argv[0])
        if door is None:
            return await self._inner.run(command)
        method, path, *body = command.argv[1:]
        if (method == "GET") == command.mutates or len(body) > 1 or _PATH.fullmatch(path) is None:
            raise RefusedError(f"This is no request: {command.shown()}.")
        from backends.system.https.request import exchange

        asked = exchange(door, method, path, body[0] if body else None, command.timeout)
        return await (shield_to_completion(asyncio.ensure_future(asked)) if command.mutates else asked)

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """As the wrapped host; a door streams nothing."""
        if command.argv[0] in self._doors:
            raise RefusedError(f"This is no program: {command.argv[0]}.")
        return self._inner.stream(command)

    async def writable(self, path: str) -> str | None:
        """A door may be tried by anybody: who may change what is decided behind it."""
        return None if path in self._doors else await self._inner.writable(path)
