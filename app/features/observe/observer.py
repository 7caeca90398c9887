"""Observes one device, or all disks, of a host: reads the counters ten times a second, and the pressure less often."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable

from app.core.benchmark.device_stats.diskstats import counts_flushes, parse, since
from app.core.benchmark.device_stats.member_devices import counter_files, is_counted
from app.core.benchmark.device_stats.sampler import PATH
from app.features.observe.devices import is_disk, names_below
from app.features.observe.rates import READING_S, ActivityCounter, DeviceActivity
from app.features.observe.waiting import Waiting, WaitMeter
from backends.errors import NotFoundError, RefusedError
from backends.host import Host
from backends.topology import read_tree
from backends.topology.tree import natural
from backends.values import dataclass

_LOOP = re.compile("loop[0-9]+")
"""Kernel names of loop devices, which count flushes although they are levels. Their partitions do not."""

_WORK = ("resync", "recover", "check", "repair", "reshape")
"""Values of `md/sync_action` while md reads or writes whole members (Documentation/admin-guide/md.rst)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the observed devices did, and who waited for storage meanwhile."""

    seconds: float
    """Length of the observation."""
    is_chosen: bool
    """Whether the user chose the device."""
    target: DeviceActivity
    """The chosen device, or the busiest of all disks."""
    others: tuple[DeviceActivity, ...]
    """The disks below the chosen device, or all other disks. The busiest comes first."""
    busy_share: float | None
    """Share of the target, or of the disks below it, in the busy time of all disks (0..1); None if none was busy."""
    waiting: Waiting
    """How long processes waited."""
    background: tuple[str, ...]
    """md arrays that work in the background, such as `md0: resync`."""


class Observer:
    """Observes a device of a host, or all disks."""

    def __init__(self, host: Host, device: str | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`device`: kernel name; None for all disks. `clock`: returns the time in seconds."""
        self._host, self._device, self._clock = host, device, clock
        self._counter_clock = host.capabilities.counter_clock or clock
        self._waits = WaitMeter(host)
        self._counters: dict[str, ActivityCounter] = {}
        self._members: tuple[str, ...] = ()
        self._disks: tuple[str, ...] = ()
        self._first = self._text = ""
        self._begin = self._read_at = self._counted_at = self._counted = 0.0

    async def open(self) -> None:
        """Find the devices and make the first reading.

        Raises NotFoundError if there is no disk, RefusedError on a recorded host, whose counters do not change.
        """
        if self._host.capabilities.counter_clock is None:
            raise RefusedError("A recorded machine cannot be observed: its counters do not change.")
        tree = await read_tree(self._host)
        self._disks = tuple(sorted((name for name in tree.nodes if is_disk(tree, name)), key=natural))
        watched = self._disks
        if self._device is not None:
            lower = await names_below(self._host, tree, self._device)
            self._members = tuple(name for name in self._disks if name in lower)
            watched = (self._device, *self._members)
            self._disks = tuple(dict.fromkeys((*self._disks, *(self._members or watched))))
        if not watched:
            raise NotFoundError("raidbench finds no disk to observe.", hint="Run `raidbench doctor` to see why.")
        texts = await self._host.read_many(counter_files(map(tree.disk_of, watched)))
        self._first = await self._host.read(PATH) or ""
        for name in watched:
            self._counters[name] = ActivityCounter(
                name,
                is_level=(is_level := bool(await names_below(self._host, tree, name))),
                is_counted=is_counted(tree.disk_of(name), texts),
                counts_flushes=counts_flushes(self._first) and (not is_level or bool(_LOOP.fullmatch(name))),
            )
        self._begin = self._read_at = self._clock()
        self._counted_at = self._counter_clock()
        await self.take()
        await self._waits.open(self._begin)

    async def take(self) -> None:
        """Make a reading."""
        self._text = await self._host.read(PATH) or ""
        totals, now, counted_at = parse(self._text, self._counters), self._clock(), self._counter_clock()
        # On a simulated host no time passes between two jobs, and the disks are idle.
        self._counted += (counted_at - self._counted_at) or (now - self._read_at)
        self._counted_at, self._read_at = counted_at, now
        for name, counter in self._counters.items():
            counter.take(self._counted, totals.get(name))
        if self._begin < self._waits.due <= now:
            await self._waits.take(now)

    async def run(self, seconds: float, is_stopped: Callable[[], bool]) -> Observation:
        """Make readings for `seconds`, or until `is_stopped` returns True, and return the observation."""
        due = self._begin
        while (now := self._clock()) < self._begin + seconds and not is_stopped():
            due = max(due + READING_S, now)
            await asyncio.sleep(due - now)
            await self.take()
        await self._waits.take(self._clock())
        return await self.observation()

    async def observation(self) -> Observation:
        """Return the observation so far."""
        activities = [counter.activity() for counter in self._counters.values()]
        ranked = sorted(activities, key=lambda activity: -activity.rates.done.busy_ms if activity.rates else 1)
        target = activities[0] if self._device is not None else ranked[0]
        before, now = (parse(text, self._disks) for text in (self._first, self._text))
        busy = {name: since(before[name], now[name]).busy_ms for name in now if name in before}
        below = sum(busy.get(name, 0) for name in self._members or (target.device,))
        actions = await self._host.read_many(await self._host.list("/sys/block/md*/md/sync_action"))
        return Observation(
            seconds=self._clock() - self._begin,
            is_chosen=self._device is not None,
            target=target,
            others=tuple(activity for activity in ranked if activity is not target),
            busy_share=below / sum(busy.values()) if any(busy.values()) else None,
            waiting=self._waits.waiting(),
            background=tuple(f"{path.split('/')[3]}: {text}" for path, text in actions.items() if text in _WORK),
        )
