"""Host whose `run` also sends requests to HTTPS endpoints."""

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
    """The wrapped host, plus one pseudo-program `/KIND:/NAME` for each HTTPS endpoint. Running it sends a request.

    A command has the pseudo-program, an HTTP method, a path, and the body if there is one. A GET only reads; any other
    method counts as a change. A command whose `mutates` contradicts this is refused, so that wrappers around this
    host, such as `ReadOnlyHost`, can rely on it.
    """

    def __init__(self, inner: Host, endpoints: Iterable[HttpsEndpoint]) -> None:
        super().__init__(inner)
        self._endpoints = {endpoint.pseudo_path: endpoint for endpoint in endpoints}

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Return the endpoints of a kind for `/KIND:/*`, or else the paths on the wrapped host."""
        kind, _, rest = pattern.partition(":/")
        if rest == "*" and any(path.startswith(f"{kind}:/") for path in self._endpoints):
            return tuple(sorted(path for path in self._endpoints if path.startswith(f"{kind}:/")))
        return await self._inner.list(pattern)

    async def run(self, command: Command) -> Completed:
        """Send a request to an endpoint, or run a program. A change is completed even if the caller is cancelled.

        Raises RefusedError, ToolFailedError, ToolTimeoutError.
        """
        endpoint = self._endpoints.get(command.argv[0])
        if endpoint is None:
            return await self._inner.run(command)
        method, path, *body = command.argv[1:]
        if (method == "GET") == command.mutates or len(body) > 1 or _PATH.fullmatch(path) is None:
            raise RefusedError(f"Invalid request to a disk system: {command.shown()}.")
        from backends.system.https.request import exchange

        request = exchange(endpoint, method, path, body[0] if body else None, command.timeout)
        return await (shield_to_completion(asyncio.ensure_future(request)) if command.mutates else request)

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Stream a program of the wrapped host. Raises RefusedError for an endpoint, which cannot stream."""
        if command.argv[0] in self._endpoints:
            raise RefusedError(f"A disk system runs no programs: {command.argv[0]}.")
        return self._inner.stream(command)

    async def writable(self, path: str) -> str | None:
        """Return None for an endpoint: any user may try a change, and the storage system checks the permission."""
        return None if path in self._endpoints else await self._inner.writable(path)
