"""Waiting until an array that was created again has come to rest."""

from __future__ import annotations

import asyncio
import contextlib
import time

from app.engine.workbench import Workbench
from backends.errors import BlockedError
from backends.model import Array

LOOK_EVERY = 5.0
"""Seconds between two looks."""

LONGEST = 12 * 3600.0
"""A reshape that takes longer is not waited for."""


async def wait_for_tasks(bench: Workbench, address: str, stop: asyncio.Event) -> None:
    """Return when the array does nothing of its own any more, or somebody stops the sweep.

    Raises BlockedError after half a day.
    """
    began = time.monotonic()
    while not stop.is_set():
        thing = bench.session.inventory.find(address)
        if not isinstance(thing, Array) or not thing.tasks:
            return
        if time.monotonic() - began > LONGEST:
            raise BlockedError(f"{address} is still busy after 12 h: {thing.tasks[0].kind}.")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY if bench.host.capabilities.live else 0.2):
                await stop.wait()
        await bench.probe()
