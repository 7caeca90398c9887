"""Metrics of each member, from the differences of its totals in /proc/diskstats, which is read once an interval."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from app.core.benchmark.device_stats.caches import CacheDevice, CacheMeter
from app.core.benchmark.device_stats.diskstats import DeviceRates, DiskCounters, add_counters, parse, since
from app.core.benchmark.device_stats.member_devices import Member, find_below, find_below_file, read_roles
from app.core.session.results import MemberStats
from backends.host import Host
from backends.topology import kernel_name
from backends.values import dataclass

PATH = "/proc/diskstats"
"""File with the kernel's I/O counters of all block devices."""

ROLES_EVERY = 20
"""Number of readings between two updates of the roles: five seconds at four readings a second."""

LATE = 0.5
"""Smallest share of a phase that the readings must cover; if they cover less, `begin` was called too late."""

UNEVEN = 2.0
"""Ratio from which members count as uneven: of a member's share to the mean share, or of the mean to the member's."""

ENOUGH_IOPS = 10.0
"""Below this number of I/Os per second of all members together, the members' shares of the I/O are random."""

_GONE = "gone"


@dataclass(frozen=True, slots=True)
class CounterSample:
    """The counters of the devices at one moment."""

    at: float
    """Time in seconds of a monotonic clock."""
    totals: Mapping[str, DiskCounters]
    """Totals by kernel name, without missing devices."""


class MemberSampler:
    """Reads the counters of devices of one host. Does no I/O if it has no members."""

    def __init__(
        self,
        host: Host,
        members: Sequence[Member],
        caches: Sequence[CacheDevice] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up the sampler. `caches`: the caches of these devices. `clock`: returns the time in seconds."""
        self.caches = CacheMeter(host, caches)
        """Reads the hit counters of the caches."""
        self.members = tuple(members)
        """The devices whose counters are read."""
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
        """Read the counters before the job starts, as a fallback for a late `begin`."""
        if self.members:
            self._opened = await self._read()

    async def begin(self) -> None:
        """Read the counters at the start of the phase that `total` covers."""
        if self.members:
            self._begun = self._last = await self._read()
            self._sum = {}

    async def take(self) -> tuple[MemberStats, ...]:
        """Return metrics since the last reading; empty for the first reading, or if the counters cannot be read."""
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
            self._sum[name] = add_counters((self._sum.get(name, DiskCounters()), part))
        return self._stats(done, now.at - before.at)

    async def total(self, seconds: float = 0.0) -> tuple[MemberStats, ...]:
        """Return metrics from `begin` to the last reading.

        For a member that was removed, they include its I/O until then.

        `seconds`: length of the phase. On a busy machine `begin` may be called when most of the phase is over. The
        metrics then cover the time from `open` to now, which includes the ramp and the idle time around it.
        """
        if self._last is self._begun:
            await self.take()  # the phase was shorter than an interval, so no reading was taken
        if self._begun is None or self._last is None:
            return ()
        self._roles |= await read_roles(self._host, self.members)
        if self._last.at - self._begun.at < LATE * seconds and self._opened is not None:
            return await self._since(self._opened)
        return self._stats(self._sum, self._last.at - self._begun.at)

    async def _since(self, opened: CounterSample) -> tuple[MemberStats, ...]:
        now = await self._read() or self._last
        if now is None:
            return ()
        names = [name for name in now.totals if name in opened.totals]
        return self._stats({name: since(opened.totals[name], now.totals[name]) for name in names}, now.at - opened.at)

    async def _read(self) -> CounterSample | None:
        text = await self._host.read(PATH)
        return None if text is None else CounterSample(self._clock(), parse(text, self._names))

    def _stats(self, done: Mapping[str, DiskCounters], seconds: float) -> tuple[MemberStats, ...]:
        if seconds <= 0:
            return ()
        sums = {depth: self._sum_of(depth, done) for depth in {member.depth for member in self.members}}
        return tuple(
            _stats_of(member, self._role(member), done.get(member.device), sums[member.depth], seconds)
            for member in self.members
        )

    def _sum_of(self, depth: int, done: Mapping[str, DiskCounters]) -> DiskCounters | None:
        """Return the sum over all members of a depth, or None if the kernel does not count one of them."""
        members = [member for member in self.members if member.depth == depth]
        if not all(member.counted for member in members):
            return None
        return add_counters(done[member.device] for member in members if member.device in done)

    def _role(self, member: Member) -> str:
        is_present = self._last is None or member.device in self._last.totals
        return self._roles[member.device] if is_present or not member.counted else _GONE


def _stats_of(
    member: Member, role: str, done: DiskCounters | None, together: DiskCounters | None, seconds: float
) -> MemberStats:
    """Return the metrics of a member over `seconds`, with None for unknown values. No I/O.

    `together`: the sum over all members of the same depth.
    """
    uncounted = MemberStats(device=member.device, label=member.label, role=role, depth=member.depth)
    if done is None:
        return uncounted
    rates = DeviceRates(done, seconds)
    return replace(
        uncounted,
        read_iops=rates.read_iops,
        write_iops=rates.write_iops,
        read_bytes_per_second=rates.read_bytes_per_second,
        write_bytes_per_second=rates.write_bytes_per_second,
        utilisation=rates.utilisation,
        queue=rates.queue,
        share_of_reads=None if together is None else _share(done.reads, together.reads),
        share_of_writes=None if together is None else _share(done.writes, together.writes),
    )


def _share(part: int, total: int) -> float | None:
    return part / total if total else None


async def member_meter(host: Host, devices: Sequence[str], files: Sequence[str] = ()) -> MemberSampler:
    """Return the sampler of all devices below `devices` (nodes of disks) and below `files` in ZFS pools.

    The sampler has no members for plain disks, and on recorded hosts.
    """
    clock = host.capabilities.counter_clock
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
