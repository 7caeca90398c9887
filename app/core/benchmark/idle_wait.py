"""The pause before a run: a random time, then a wait until the device is idle."""

from __future__ import annotations

import asyncio
from random import Random

from backends.host import Host

RANDOM_SHARE = 1 / 3
"""Random part of a pause as a share of the length of a run, so that the runs do not synchronise with periodic activity.

This was simulated with a periodic disturbance (a sine of 10 %) and runs that scatter by 1 %. Without the random part,
four pairs give a false verdict in 14 % of experiments; with it, in 12 %. A random part as long as a run gives 11 %, but
takes a third more time. From eight pairs on, the difference is negligible.
"""

POLL_SECONDS = 1.0
"""Seconds between two reads of the counters."""

MAX_WAIT_SECONDS = 30.0
"""Maximum seconds to wait for an idle device after the pause."""

_READS, _WRITES, _IN_FLIGHT = 0, 4, 8
"""Positions of fields in /sys/class/block/NAME/stat (Documentation/admin-guide/iostats.rst).

The file has the fields of /proc/diskstats without the first three.
"""


def random_pause(random: Random, least: float, run_seconds: float) -> float:
    """Return the length of the pause before a run in seconds: `least` plus a random share of the run's length."""
    return least + random.random() * RANDOM_SHARE * run_seconds


def mean_pause(least: float, run_seconds: float) -> float:
    """Return the mean length of the pauses of `random_pause`, in seconds."""
    return least + RANDOM_SHARE / 2 * run_seconds


async def wait_until_idle(
    host: Host, device: str | None, seconds: float, stop: asyncio.Event, *, patience: float = MAX_WAIT_SECONDS
) -> bool:
    """Wait until the device is idle, and return whether it is: no I/O in flight, and none completed within a second.

    The wait begins with a pause of `seconds`. `patience`: maximum seconds to wait after the pause. Return True at once
    when `stop` is set, and on a simulated or recorded host, which has no background activity. For a device without
    counters, return True after the pause.
    """
    if not host.capabilities.live or await wait_for_stop(stop, seconds) or device is None:
        return True
    waited = 0.0
    before = await _counters(host, device)
    while before is not None:
        if await wait_for_stop(stop, POLL_SECONDS):
            return True
        waited += POLL_SECONDS
        now = await _counters(host, device)
        if now == before and not now[2]:
            return True
        if waited >= patience:
            return False
        before = now
    return True


async def wait_for_stop(stop: asyncio.Event, seconds: float) -> bool:
    """Wait for `seconds`, or until `stop` is set; return whether `stop` is set."""
    # asyncio.timeout is not used here: if it expires at once, it mistakes a pending cancellation for its own.
    waiting = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({waiting}, timeout=seconds)
    finally:
        waiting.cancel()
    return stop.is_set()


async def _counters(host: Host, device: str) -> tuple[int, int, int] | None:
    """Return completed reads, completed writes and requests in flight; None if the kernel does not count them."""
    text = await host.read(f"/sys/class/block/{device.rpartition('/')[2]}/stat")
    fields = (text or "").split()
    if len(fields) <= _IN_FLIGHT or not all(field.isdigit() for field in fields):
        return None
    return int(fields[_READS]), int(fields[_WRITES]), int(fields[_IN_FLIGHT])
