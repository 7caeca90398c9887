"""Host wrapper that reuses command output inside a caching scope."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

from backends.host import Command, Completed, Host
from backends.system.wrapped import HostWrapper
from backends.values import dataclass

T = TypeVar("T")


@dataclass(slots=True)
class _Span:
    """Scope in which output is cached. After it is left, tasks that were started in it no longer use the cache."""

    since: float
    """Time (time.monotonic()) of the oldest output that may be reused."""
    over: bool = False
    """Whether the scope has been left."""


_span: ContextVar[_Span | None] = ContextVar("asked_since", default=None)
_still: ContextVar[bool] = ContextVar("asked_before_changes", default=False)

_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""Arguments and environment of a command."""


@contextmanager
def _setting(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def cached_since(moment: float) -> Iterator[None]:
    """Context in which program output is reused if it is from after `moment` (time.monotonic()) and nothing was changed
    since.
    """
    span = _Span(moment)
    try:
        with _setting(_span, span):
            yield
    finally:
        span.over = True


def uncached() -> AbstractContextManager[None]:
    """Context in which programs are run even if their output is cached. Used for state that may differ at each read."""
    return _setting(_span, None)


def cache_across_changes() -> AbstractContextManager[None]:
    """Context in which cached output stays valid after a change. Used for facts that do not depend on settings."""
    return _setting(_still, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedOutput:
    """Result of a command, and when it was obtained."""

    done: Completed
    """The result."""
    at: float
    """When the command was started, as time.monotonic()."""
    changes: int
    """Number of changes that the host had made before the command was started."""


class CachingHost(HostWrapper):
    """Host that caches the output of read-only programs until something is changed.

    Files are always read again, because reading them is fast. Failed and truncated results are not cached.
    """

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self._told: dict[_Key, _CachedOutput] = {}
        self._changes = 0

    def forget(self) -> None:
        """Invalidate the cache after a change, and also the future output of programs that are running now."""
        self._changes += 1

    async def run(self, command: Command) -> Completed:
        """Return the cached result inside a scope of `cached_since`; run the command otherwise."""
        if command.mutates:
            with self._changing():
                return await self._inner.run(command)
        key = (command.argv, tuple(sorted(command.env.items())))
        cached = self._told.get(key)
        if cached is not None and self._counts(cached):
            return cached.done
        at, changes = time.monotonic(), self._changes
        done = await self._inner.run(command)
        if done.returncode == 0 and not done.truncated and not command.secret:
            self._told[key] = _CachedOutput(done=done, at=at, changes=changes)
        return done

    def _counts(self, cached: _CachedOutput) -> bool:
        span = _span.get()
        if span is None or span.over or cached.at < span.since:
            return False
        return cached.changes == self._changes or _still.get()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Context of a change: invalidate the cache before and after it."""
        self.forget()
        try:
            yield
        finally:
            self.forget()

    async def write(self, path: str, text: str) -> None:
        """Write the file and invalidate the cache."""
        with self._changing():
            await self._inner.write(path, text)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Install the file and invalidate the cache."""
        with self._changing():
            await self._inner.install(path, content, before=before)
