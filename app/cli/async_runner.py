"""Runs the coroutine of a command. A signal cancels it, or asks it to stop after the current step."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class InterruptedByUserError(Exception):
    """A signal ended the command (exit status 130). The message is the name of the signal."""


class Interruption:
    """Handles the signals by which the user asks a command to end."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        """The first signal that was received; None if there was none."""
        self._stop: Callable[[], None] | None = None
        self._patient = False
        self._task: asyncio.Task[object] | None = None

    def is_requested(self) -> bool:
        """Return whether a signal was received."""
        return self.signal is not None

    @contextmanager
    def stop_on_signal(self, stop: Callable[[], None], *, patient: bool = False) -> Iterator[None]:
        """Make the first signal call `stop` instead of cancelling the task, so that the current step completes.

        After that, a second Ctrl-C cancels the task, unless `patient`: a change must never be interrupted half-way.
        """
        self._stop, self._patient = stop, patient
        try:
            yield
        finally:
            self._stop = None

    def watch(self, task: asyncio.Task[object] | None) -> None:
        """Handle the signals that end `task`. A signal that the process ignores (nohup) stays ignored."""
        import asyncio

        self._task = task
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._handle_signal, number)

    def _handle_signal(self, number: signal.Signals) -> None:
        if self.signal is None:
            self.signal = number
            if self._stop is not None:
                self._stop()
                return
        elif self._stop is not None and (self._patient or number is not signal.SIGINT):
            return
        if self._task is not None:
            self._task.cancel()


def run(work: Callable[[Interruption], Awaitable[T]]) -> T:
    """Return the result of a command's coroutine (`work`). Raises InterruptedByUserError if a signal cancelled it."""
    import asyncio  # The import takes a tenth of a second; `--help` must not wait for it.

    interruption = Interruption()

    async def main() -> T:
        interruption.watch(asyncio.current_task())
        return await work(interruption)

    try:
        return asyncio.run(main())
    except asyncio.CancelledError:
        raise InterruptedByUserError("" if interruption.signal is None else interruption.signal.name) from None
