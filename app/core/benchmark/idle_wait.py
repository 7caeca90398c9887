"""The pause before a run: drawn, and then until nothing is going on on the device."""

from __future__ import annotations

import asyncio
from random import Random

from backends.host import Host

LONGER = 1 / 3
"""Of a run: a pause is drawn from the least to so much more, so that what comes back at intervals keeps no step with
the runs. Simulated with a sine of 10 % where runs scatter by 1 %: without it four pairs are false in 14 % of
experiments, with it in 12; a whole run makes it 11, and takes a third more time. From eight pairs on none matters."""

LOOK_SECONDS = 1.0
"""Between two looks at the counters."""

PATIENCE_SECONDS = 30.0
"""How long the device is waited for after the pause."""

_READS, _WRITES, _IN_FLIGHT = 0, 4, 8
"""Fields of /sys/class/block/NAME/stat, the same as of /proc/diskstats without its first three
(Documentation/admin-guide/iostats.rst)."""


def random_pause(random: Random, least: float, run_seconds: float) -> float:
    """Seconds before a run that takes so long: `least` and a random part of a run more, also where that is 0."""
    return least + random.random() * LONGER * run_seconds


def mean_pause(least: float, run_seconds: float) -> float:
    """What such pauses take on the average, seconds."""
    return least + LONGER / 2 * run_seconds


async def wait_until_idle(
    host: Host, device: str | None, seconds: float, stop: asyncio.Event, *, patience: float = PATIENCE_SECONDS
) -> bool:
    """Whether the device came to rest: no I/O in flight, and none completed within a second.

    True at once when `stop` is set, on a simulated host, which has nothing that goes on by itself, and of a device
    without counters after the pause.
    """
    if not host.capabilities.live or await wait_for_stop(stop, seconds) or device is None:
        return True
    waited = 0.0
    before = await _counters(host, device)
    while before is not None:
        if await wait_for_stop(stop, LOOK_SECONDS):
            return True
        waited += LOOK_SECONDS
        now = await _counters(host, device)
        if now == before and not now[2]:
            return True
        if waited >= patience:
            return False
        before = now
    return True


async def wait_for_stop(stop: asyncio.Event, seconds: float) -> bool:
    """Wait so long; True if asked to stop meanwhile."""
    # Not asyncio.timeout: one that is over at once takes a cancellation that is on its way for its own.
    waiting = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({waiting}, timeout=seconds)
    finally:
        waiting.cancel()
    return stop.is_set()


async def _counters(host: Host, device: str) -> tuple[int, int, int] | None:
    """Reads and writes completed, requests in flight; None where the kernel does not count them."""
    text = await host.read(f"/sys/class/block/{device.rpartition('/')[2]}/stat")
    fields = (text or "").split()
    if len(fields) <= _IN_FLIGHT or not all(field.isdigit() for field in fields):
        return None
    return int(fields[_READS]), int(fields[_WRITES]), int(fields[_IN_FLIGHT])
