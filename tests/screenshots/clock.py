"""A clock that goes only when the recording does, so that a picture is the same every time."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

BEGIN = 1773133200.0
"""Seconds since the epoch when the pictures begin: ten past nine in the morning."""


class Clock:
    """Wall time of the pictures; also the pace at which recorded streams play."""

    def __init__(self) -> None:
        self.now = BEGIN
        """Seconds since the epoch."""
        self.stop_after: float | None = None
        """Seconds of a stream after which it stands still; None plays on."""
        self.still = asyncio.Event()
        """Set once it stands still."""
        self._played = 0.0
        self._resume = asyncio.Event()

    def time(self) -> float:
        """As time.time."""
        return self.now

    def begin(self, stop_after: float | None = None) -> None:
        """A new stream is about to play."""
        self._played = 0.0
        self.stop_after = stop_after
        self.still.clear()
        self._resume.clear()

    def go_on(self) -> None:
        """Play to the end."""
        self.stop_after = None
        self._resume.set()

    async def pace(self, seconds: float) -> None:
        """No waiting, but the clock goes on."""
        self._played += seconds
        if self.stop_after is not None and self._played > self.stop_after:
            self.still.set()
            await self._resume.wait()
        self.now += seconds
        await asyncio.sleep(0)


@contextmanager
def set_clock(clock: Clock) -> Iterator[None]:
    """Everybody reads this clock, in UTC."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    stopwatch = SimpleNamespace(time=clock.time, monotonic=clock.time)
    try:
        with (
            patch("time.time", clock.time),
            patch("backends.hosts.wrapped.time", stopwatch),
            patch("app.engine.measure.measurer.time", stopwatch),
        ):
            yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
