"""Time of a simulated host."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class HostTime:
    """Time of a simulated host. It continues without a jump when its speed changes."""

    def __init__(self, speed: float = 1.0) -> None:
        """Begin at the present time."""
        self.speed = speed
        """Simulated seconds per real second."""
        self._since = self._reached = time.time()

    def now(self) -> float:
        """Return the simulated time in seconds since 1970."""
        return self._reached + (time.time() - self._since) * self.speed

    @contextmanager
    def hurry(self, speed: float) -> Iterator[None]:
        """Let the time run so many times as fast inside the context."""
        before = self.speed
        self._continue_at(speed)
        try:
            yield
        finally:
            self._continue_at(before)

    def _continue_at(self, speed: float) -> None:
        self._reached, self._since, self.speed = self.now(), time.time(), speed
