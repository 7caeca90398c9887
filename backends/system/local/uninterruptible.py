"""Run a call that cannot be interrupted in its own thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def run_in_thread(name: str, work: Callable[[], T]) -> T:
    """Return the result of `work`, or raise its exception. If the caller is cancelled, the thread continues.

    The thread is a daemon, so it does not keep raidbench from ending, as a thread of the event loop's executor would.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, failure: Exception | None) -> None:
        if not answer.done():
            answer.set_exception(failure) if failure is not None else answer.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        failure: Exception | None = None
        try:
            result = work()
        except Exception as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:  # the loop is closed, so no caller is waiting
            return

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answer
