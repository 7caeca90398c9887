"""A host that need not be asked twice: where somebody says so, what a program told is not asked for again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from backends.host import Command, Completed, Host
from backends.system.wrapped import HostWrapper
from backends.values import dataclass

T = TypeVar("T")


@dataclass(slots=True)
class _Span:
    """Where somebody asks once. A task that was begun in it and outlives it asks each time again."""

    since: float
    """Of time.monotonic()."""
    over: bool = False
    """Whether that has been left."""


_span: ContextVar[_Span | None] = ContextVar("asked_since", default=None)
_still: ContextVar[bool] = ContextVar("asked_before_changes", default=False)

_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""Words and environment of a program."""


@contextmanager
def _setting(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def cached_since(moment: float) -> Iterator[None]:
    """Inside, what a program told since `moment` (of time.monotonic()) is its answer, unless a change came between."""
    span = _Span(moment)
    try:
        with _setting(_span, span):
            yield
    finally:
        span.over = True


@contextmanager
def uncached() -> Iterator[None]:
    """Inside, every program runs, whatever it told before: for what may be another thing each time it is looked at."""
    with _setting(_span, None):
        yield


@contextmanager
def cache_across_changes() -> Iterator[None]:
    """Inside, what was told before a change counts as well: for what no change of a setting can move."""
    with _setting(_still, True):
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToldOnce:
    """What a program told."""

    done: Completed
    """All of it."""
    at: float
    """When it was asked, of time.monotonic()."""
    changes: int
    """How much had been changed until then."""


class CachingHost(HostWrapper):
    """Remembers what programs tell that change nothing; once anything is changed that counts no more.

    Files are read each time: that costs nothing. What failed or was cut is no answer.
    """

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self._told: dict[_Key, _ToldOnce] = {}
        self._changes = 0

    def forget(self) -> None:
        """Something was changed: what is being told now is of before that as well."""
        self._changes += 1

    async def run(self, command: Command) -> Completed:
        """Runs it, unless what it told counts: see `cached_since`."""
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
            self._told[key] = _ToldOnce(done=done, at=at, changes=changes)
        return done

    def _counts(self, cached: _ToldOnce) -> bool:
        span = _span.get()
        if span is None or span.over or cached.at < span.since:
            return False
        return cached.changes == self._changes or _still.get()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Forget what was reported before a change and while it was made."""
        self.forget()
        try:
            yield
        finally:
            self.forget()

    async def write(self, path: str, text: str) -> None:
        """Writes and forgets."""
        with self._changing():
            await self._inner.write(path, text)

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Installs and forgets."""
        with self._changing():
            await self._inner.install(path, content, before=before)
