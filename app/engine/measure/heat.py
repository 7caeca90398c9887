"""Ends a run whose drives are as warm as they warn of themselves: NVMe's WCTEMP, a SATA disk's SCT limit (hwmon)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from types import TracebackType

from app.engine.session.figures import RunFigures, RunStatus
from backends.errors import RaidbenchError

EVERY_S = 5.0
"""Seconds between two looks: a drive warms up by a degree in that time, and being asked costs it an I/O."""

Look = Callable[[], Awaitable[tuple[str, ...]]]
"""The drives that are too warm now, a clause each; none where nothing tells their temperature."""


class HeatWatch:
    """Looks from the beginning to the end of a run, and stops it. An asynchronous context manager."""

    def __init__(self, look: Look | None, stop: asyncio.Event, *, every: float = EVERY_S) -> None:
        """`look`: None where there is nothing to look at."""
        self._look = look
        self._stop = stop
        self._every = every
        self._found: tuple[str, ...] = ()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> HeatWatch:
        if self._look is not None:
            self._task = asyncio.create_task(self._watch(self._look), name="heat")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def tell(self, figures: RunFigures) -> RunFigures:
        """The figures of a run that was stopped for it say so; one that was over or failed by itself keeps its own."""
        if not self._found or figures.status is not RunStatus.STOPPED:
            return figures
        return replace(
            figures,
            reason=f"Stopped for heat: {', '.join(self._found)}.",
            hint="Let it cool down, and see to the air that it gets; a shorter or slower job warms it less.",
        )

    async def _watch(self, look: Look) -> None:
        while not self._found:
            with suppress(RaidbenchError, OSError):  # what cannot be read now may be at the next look
                self._found = await look()
            if not self._found:
                await asyncio.sleep(self._every)
        self._stop.set()
