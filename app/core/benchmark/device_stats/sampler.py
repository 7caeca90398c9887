"""What each member did: one small file read an interval, and the differences of its totals."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from operator import add

from app.core.benchmark.device_stats.caches import CacheDevice, CacheMeter
from app.core.benchmark.device_stats.diskstats import SECTOR, DiskCounters, parse, since
from app.core.benchmark.device_stats.member_devices import Member, find_below, find_below_file, read_roles
from app.core.session.results import MemberStats
from backends.host import Host
from backends.topology import kernel_name
from backends.values import dataclass

PATH = "/proc/diskstats"
"""Where the kernel keeps count."""

ROLES_EVERY = 20
"""Readings between two looks at the roles: five seconds at four a second."""

LATE = 0.5
"""A phase seen for less than this share of its length was seen too late to tell of it."""

UNEVEN = 2.0
"""A member's share by that of all in turn, or the other way round, from which members are not alike."""

ENOUGH_IOPS = 10.0
"""I/Os per second of all members below which their shares are chance."""

_GONE = "gone"


@dataclass(frozen=True, slots=True)
class CounterSample:
    """The totals at one moment."""

    at: float
    """Seconds of a clock that is never set."""
    totals: Mapping[str, DiskCounters]
    """By kernel name; a device that is not there has none."""


class MemberSampler:
    """Reads the counters of some devices of one host; with no members it does nothing at all."""

    def __init__(
        self,
        host: Host,
        members: Sequence[Member],
        caches: Sequence[CacheDevice] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`caches`: those among them. `clock`: seconds, for the length of the intervals."""
        self.caches = CacheMeter(host, caches)
        """What these count."""
        self.members = tuple(members)
        """Whose counters are read."""
        self._host = host
        self._clock = clock
        self._names = tuple(member.device for member in members if member.counted)
        self._roles = {member.device: member.role for member in members}
        self._last: CounterSample | None = None
        self._opened: CounterSample | None = None
        self._begun: CounterSample | None = None
        self._sum: dict[str, DiskCounters] = {}
        self._taken = 0

    async def open(self) -> None:
        """Before the job starts: what is counted from when its phases are heard of too late."""
        if self.members:
            self._opened = await self._read()

    async def begin(self) -> None:
        """From here on counts for `whole`."""
        if self.members:
            self._begun = self._last = await self._read()
            self._sum = {}

    async def take(self) -> tuple[MemberStats, ...]:
        """Figures since the last reading; empty for a first one, or when nothing can be read any more."""
        if not self.members:
            return ()
        before, now = self._last, await self._read()
        if now is None or before is None:
            self._last = now or before
            return ()
        self._last = now
        self._taken += 1
        if self._taken % ROLES_EVERY == 0:
            self._roles |= await read_roles(self._host, self.members)
        done = {
            name: since(before.totals[name], totals) for name, totals in now.totals.items() if name in before.totals
        }
        for name, part in done.items():
            self._sum[name] = _added(self._sum.get(name, DiskCounters()), part)
        return self._figures(done, now.at - before.at)

    async def whole(self, seconds: float = 0.0) -> tuple[MemberStats, ...]:
        """Figures from `begin` to the last reading; a member that went away meanwhile has what it did until then.

        `seconds`: how long the phase was. On a machine so busy that most of it was over when `begin` came, the figures
        are from `open` to now: the ramp is then in them, and the idle time around it.
        """
        if self._last is self._begun:
            await self.take()  # a phase shorter than an interval
        if self._begun is None or self._last is None:
            return ()
        self._roles |= await read_roles(self._host, self.members)
        if self._last.at - self._begun.at < LATE * seconds and self._opened is not None:
            return await self._since(self._opened)
        return self._figures(self._sum, self._last.at - self._begun.at)

    async def _since(self, opened: CounterSample) -> tuple[MemberStats, ...]:
        now = await self._read() or self._last
        if now is None:
            return ()
        names = [name for name in now.totals if name in opened.totals]
        return self._figures({name: since(opened.totals[name], now.totals[name]) for name in names}, now.at - opened.at)

    async def _read(self) -> CounterSample | None:
        text = await self._host.read(PATH)
        return None if text is None else CounterSample(self._clock(), parse(text, self._names))

    def _figures(self, done: Mapping[str, DiskCounters], seconds: float) -> tuple[MemberStats, ...]:
        if seconds <= 0:
            return ()
        sums = {depth: self._sum_of(depth, done) for depth in {member.depth for member in self.members}}
        return tuple(
            figures_of(member, self._role(member), done.get(member.device), sums[member.depth], seconds)
            for member in self.members
        )

    def _sum_of(self, depth: int, done: Mapping[str, DiskCounters]) -> DiskCounters | None:
        """What all members of a depth did together; None when one of them is not counted, for then it is unknown."""
        members = [member for member in self.members if member.depth == depth]
        if not all(member.counted for member in members):
            return None
        total = DiskCounters()
        for member in members:
            total = _added(total, done.get(member.device, DiskCounters()))
        return total

    def _role(self, member: Member) -> str:
        there = self._last is None or member.device in self._last.totals
        return self._roles[member.device] if there or not member.counted else _GONE


def figures_of(
    member: Member, role: str, done: DiskCounters | None, together: DiskCounters | None, seconds: float
) -> MemberStats:
    """The figures of what a member did in `seconds`; None for what is not known of it. No I/O."""
    uncounted = MemberStats(device=member.device, label=member.label, role=role, depth=member.depth)
    if done is None:
        return uncounted
    return replace(
        uncounted,
        read_iops=done.reads / seconds,
        write_iops=done.writes / seconds,
        read_bytes_per_second=done.sectors_read * SECTOR / seconds,
        write_bytes_per_second=done.sectors_written * SECTOR / seconds,
        utilisation=min(1.0, done.busy_ms / 1000 / seconds),  # the kernel's milliseconds are rounded ticks
        queue=done.waited_ms / 1000 / seconds,
        share_of_reads=None if together is None else _share(done.reads, together.reads),
        share_of_writes=None if together is None else _share(done.writes, together.writes),
    )


def _share(own: int, all_of_them: int) -> float | None:
    return own / all_of_them if all_of_them else None


def _added(first: DiskCounters, second: DiskCounters) -> DiskCounters:
    return DiskCounters(*map(add, astuple(first), astuple(second)))


async def member_meter(host: Host, devices: Sequence[str], files: Sequence[str] = ()) -> MemberSampler:
    """The meter of all that lies below `devices`, nodes of disks, and below `files` where these lie in a ZFS pool.

    Of nothing for plain disks or a recording.
    """
    clock = time.monotonic if host.capabilities.live else host.capabilities.counted
    if clock is None:
        return MemberSampler(host, ())
    lower_devices = [await find_below(host, kernel_name(device)) for device in devices]
    lower_devices += [await find_below_file(host, file) for file in files]
    members = [member for lower in lower_devices for member in lower.members]
    if members and await host.read(PATH) is None:
        members = []
    return MemberSampler(
        host,
        members,
        tuple(dict.fromkeys(cache for lower in lower_devices for cache in lower.caches)),
        clock=clock,
    )
