"""A call that nothing can interrupt, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def apart(name: str, work: Callable[[], T]) -> T:
    """What `work` returns or raises. Whoever does not wait for it any more leaves it behind.

    The thread does not keep the program from ending, as one of the loop's own would.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(t: T | None, trouble: Exception | None) -> None:
        if not answer.done():
            answer.set_exception(trouble) if trouble is not None else answer.set_result(t)  # type: ignore[arg-type]

    def run() -> None:
        t: T | None = None
        trouble: Exception | None = None
        try:
            t = work()
        except Exception as error:
            trouble = error
        try:
            loop.call_soon_threadsafe(settle, t, trouble)
        except RuntimeError:  # the loop is gone: nobody waits any more
            return

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answer
