"""An event loop whose time passes only when everything waits: what it comes to is counted, not waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class PassingLoop(asyncio.SelectorEventLoop):
    """Its clock jumps to whatever is due next."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__()

    def time(self) -> float:
        """Seconds since it was made."""
        return self._now

    def _run_once(self) -> None:
        waiting: list[asyncio.TimerHandle] = [one for one in self._scheduled if not one.cancelled()]  # type: ignore[attr-defined]
        if not self._ready and waiting and not self._selector.select(0):  # type: ignore[attr-defined]
            self._now = max(self._now, min(one.when() for one in waiting))
        super()._run_once()  # type: ignore[misc]


def counted(work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, float]:
    """What it returns, and the seconds that it waited for."""
    with asyncio.Runner(loop_factory=PassingLoop) as runner:
        found = runner.run(work())
        return found, runner.get_loop().time()
