"""Present I/O of block devices: rates of the last second, and the utilisation of the last minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from math import ceil

from app.core.benchmark.device_stats.diskstats import DeviceRates, DiskCounters, parse, since
from app.core.benchmark.device_stats.member_devices import counter_files, is_counted
from app.core.benchmark.device_stats.sampler import PATH
from backends.errors import RaidbenchError
from backends.host import Host
from backends.values import dataclass

EVERY_S = 1.0
"""Seconds between two readings."""

LATE_S = 1.75
"""Seconds after which the difference of two readings is no longer shown as the rates of the last second."""

PARTS = 12
"""Number of parts of the last minute. The mean of a part is final once the part is over."""

PART_S = 60 / PARTS
"""Length of a part in seconds."""


@dataclass(frozen=True, slots=True)
class CounterReading:
    """The counters of the read devices at one moment."""

    at: float
    """Time in seconds of the meter's clock."""
    counted: float
    """Time in seconds of the counters, which is simulated on a simulated host."""
    totals: Mapping[str, DiskCounters]
    """Counters by kernel name, without missing devices."""


class ActivityMeter:
    """Reads the counters of block devices and keeps their rates. It stores nothing and does no I/O unless called."""

    def __init__(self, host: Host, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Create a meter. `clock`: returns the time in seconds."""
        self.rates: Mapping[str, DeviceRates] = {}
        """Rates since the last reading, by kernel name. A device that is missing, new or not counted has none."""
        self._host = host
        self._clock = clock
        self._counter_clock = host.capabilities.counter_clock
        self._wanted: frozenset[str] = frozenset()
        self._counted: frozenset[str] = frozenset()
        self._last: CounterReading | None = None
        self._seconds: dict[int, float] = {}
        self._busy: dict[str, dict[int, float]] = {}
        self._first: dict[str, int] = {}

    @property
    def devices(self) -> frozenset[str]:
        """Kernel names of the devices of the last reading."""
        return self._wanted

    def recheck(self) -> None:
        """Read again at the next reading whether the kernel counts each device, because a setting may have changed."""
        self._wanted = frozenset()

    async def take(self, devices: Collection[str]) -> None:
        """Read the counters of the devices with these kernel names, and update `rates`."""
        if self._counter_clock is None:
            return
        try:
            if self._wanted != (wanted := frozenset(devices)):
                texts = await self._host.read_many(counter_files(wanted))
                self._wanted, self._counted = wanted, frozenset(name for name in wanted if is_counted(name, texts))
            text = await self._host.read(PATH)
        except RaidbenchError:  # such as a root helper that has ended; the screens report that elsewhere
            text = None
        before = self._last
        self._last = now = CounterReading(self._clock(), self._counter_clock(), parse(text or "", self._counted))
        if before is None or now.at <= before.at:
            return
        seconds = (now.counted - before.counted) or (now.at - before.at)  # no simulated time passes between two jobs
        rates = {
            name: DeviceRates(since(before.totals[name], totals), seconds)
            for name, totals in now.totals.items()
            if name in before.totals
        }
        self._note(before.at, now.at, rates)
        self.rates = rates if now.at - before.at <= LATE_S else {}

    def _note(self, begin: float, end: float, rates: Mapping[str, DeviceRates]) -> None:
        """Add the utilisation from `begin` to `end` to the parts of the last minute."""
        last = ceil(end / PART_S) - 1
        first = last - PARTS + 1
        parts = [
            (part, min(end, (part + 1) * PART_S) - max(begin, part * PART_S))
            for part in range(max(first, int(begin // PART_S)), last + 1)
        ]
        self._seconds = {part: seconds for part, seconds in self._seconds.items() if part >= first}
        for part, seconds in parts:
            self._seconds[part] = self._seconds.get(part, 0.0) + seconds
        for name, device in rates.items():
            self._first.setdefault(name, parts[0][0])
            if utilisation := device.utilisation:
                sums = self._busy.setdefault(name, {})
                if len(sums) > PARTS:
                    sums = self._busy[name] = {part: busy for part, busy in sums.items() if part >= first}
                for part, seconds in parts:
                    sums[part] = sums.get(part, 0.0) + utilisation * seconds

    def minute(self, device: str) -> tuple[float | None, ...]:
        """Return the utilisation (0..1) of a device in each part of the last minute, oldest first; None if unknown."""
        last = max(self._seconds, default=0)
        first, sums = self._first.get(device, last + 1), self._busy.get(device, {})
        return tuple(
            sums.get(part, 0.0) / self._seconds[part] if part >= first and part in self._seconds else None
            for part in range(last - PARTS + 1, last + 1)
        )
