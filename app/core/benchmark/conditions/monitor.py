"""Live advice for a run: adds up its samples and evaluates the advice rules every few seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from math import fsum

from app.core.benchmark.conditions.collector import throttles, too_warm
from app.core.benchmark.conditions.facts import Advisor, Condition, MeasuredSoFar, RunFacts
from app.core.benchmark.device_stats.diskstats import DiskCounters, parse, since
from app.core.benchmark.device_stats.sampler import PATH
from app.core.session.event_types import ROUND_S
from app.core.session.results import (
    Advice,
    CpuStats,
    DirectionStats,
    MemberStats,
    Phase,
    RunResult,
    RunStatus,
    Sample,
    SectionFigures,
)
from backends.host import Host
from backends.topology import kernel_name

EVERY_S = 2.0
"""Seconds of the run between two evaluations of the advice rules."""

_CPU_READINGS = 5
"""Number of CPU readings, taken once a second, over which the mean CPU use is computed."""

_CPU_MIN_READINGS = 3
"""Fewest CPU readings from which a mean is computed."""

_MEMBER_READINGS = 20
"""Number of member readings, taken four times a second, over which their mean metrics are computed."""

_MEMBER_MIN_READINGS = 8
"""Fewest member readings from which means are computed."""


class LiveAdvisor:
    """Collects the samples of a run and returns advice. Runs no vendor tool while the job is measured."""

    def __init__(
        self,
        host: Host,
        facts: RunFacts,
        advisor: Advisor,
        *,
        devices: Sequence[str] = (),
        condition: Callable[[], Awaitable[Condition]] | None = None,
    ) -> None:
        """Set up the advisor of one run.

        `facts`: the facts known before the run. `devices`: the device nodes of the disks that the run uses.
        `condition`: reads the condition of the disks after the run.
        """
        self._host = host
        self._facts = facts
        self._advisor = advisor
        self._devices = tuple(devices)
        self._condition = condition
        self._measured = MeasuredSoFar()
        self._sums: list[list[float]] = []
        self._cpu: deque[float] = deque(maxlen=_CPU_READINGS)
        self._host_cpu: deque[float] = deque(maxlen=_CPU_READINGS)
        self._members: deque[tuple[MemberStats, ...]] = deque(maxlen=_MEMBER_READINGS)
        self._began: DiskCounters | None = None
        self._throttles: int | None = None
        self._next = EVERY_S
        self._last_advice: tuple[Advice, ...] = ()

    def first(self) -> tuple[Advice, ...]:
        """Return the advice for the facts known before the run."""
        self._last_advice = self._advisor(self._facts)
        return self._last_advice

    async def begin(self) -> None:
        """Read the counters at the start of the measured phase."""
        self._began = await self._counters()
        self._throttles = await throttles(self._host)

    def cpu(self, fio: float | None, host: float | None) -> None:
        """Add the CPU use of the last second: `fio` in percent of one core, `host` in percent of all cores."""
        if fio is not None:
            self._cpu.append(fio)
        if host is not None:
            self._host_cpu.append(host)

    def members(self, members: tuple[MemberStats, ...]) -> None:
        """Add the metrics of the members in the last interval."""
        self._members.append(members)

    async def sample(self, sample: Sample) -> tuple[Advice, ...] | None:
        """Add one sample. Return all advice that applies now if it has changed since the last call, else None."""
        self._add(sample)
        if sample.phase is not Phase.MEASURING or sample.at < self._next:
            return None
        self._next = sample.at + EVERY_S
        left = max(0.0, self._facts.job.runtime - sample.at)
        self._measured = replace(
            self._measured,
            seconds=sample.at,
            left=left,
            rounds=self._rounds(),
            cpu=CpuStats(fio_percent_of_core=_mean(self._cpu), host_percent=_mean(self._host_cpu)),
            members=mean_members(self._members) if len(self._members) >= _MEMBER_MIN_READINGS else (),
            device=await self._since(),
        )
        advice = self._advisor(replace(self._facts, measured=self._measured))
        if [item.key for item in advice] == [item.key for item in self._last_advice]:
            return None
        self._last_advice = advice
        return advice

    async def end(self, figures: RunResult) -> tuple[Advice, ...]:
        """Return the advice on the complete run. Reads the condition of the disks again, which may take a second."""
        if figures.status is RunStatus.FAILED or not figures.seconds:
            return self._advisor(self._facts)
        device = await self._since()
        slowed = 0 if self._throttles is None else await throttles(self._host) - self._throttles
        measured = replace(
            self._measured,
            ended=True,
            settled=figures.steady is not None and figures.steady.attained,
            seconds=figures.seconds,
            left=0.0,
            reads=_ios(figures.read),
            writes=_ios(figures.write),
            read_bytes=self._moved(figures.read, self._measured.read_bytes),
            written_bytes=self._moved(figures.write, self._measured.written_bytes),
            trims=_ios(figures.trim),
            trimmed_bytes=self._moved(figures.trim, self._measured.trimmed_bytes),
            in_flight=in_flight(figures),
            sections=tuple(map(_of_section, figures.sections)),
            rounds=self._rounds(),
            cpu=figures.cpu,
            members=figures.members,
            caches=figures.caches,
            device=device,
            cpu_throttles=max(0, slowed),
            drives_throttled=tuple([name for disk in self._devices for name in await too_warm(self._host, disk)]),
        )
        after = None if self._condition is None else await self._condition()
        return self._advisor(replace(self._facts, measured=measured, after=after))

    def _add(self, sample: Sample) -> None:
        both = sample.transfers
        moved = fsum(part.bytes_per_second for part in both) * sample.seconds
        done = self._measured
        if sample.phase in (Phase.RAMP, Phase.SETTLING):
            self._measured = replace(done, ramp_bytes=done.ramp_bytes + round(moved))
        if sample.phase is not Phase.MEASURING:
            return
        at = int((sample.at - sample.seconds / 2) // ROUND_S)
        while len(self._sums) <= at:
            self._sums.append([0.0, 0.0])
        self._sums[at][0] += sum(part.ios for part in both)
        self._sums[at][1] += sample.seconds
        self._measured = replace(
            done,
            reads=done.reads + (sample.read.ios if sample.read else 0),
            writes=done.writes + (sample.write.ios if sample.write else 0),
            read_bytes=done.read_bytes + round(sample.read.bytes_per_second * sample.seconds if sample.read else 0),
            written_bytes=done.written_bytes
            + round(sample.write.bytes_per_second * sample.seconds if sample.write else 0),
            trims=done.trims + (sample.trim.ios if sample.trim else 0),
            trimmed_bytes=done.trimmed_bytes
            + round(sample.trim.bytes_per_second * sample.seconds if sample.trim else 0),
        )

    def _moved(self, side: DirectionStats | None, counted: int) -> int:
        """Return the bytes moved in one direction according to fio; with several sections, `counted` if that is more.

        `counted`: the bytes according to the samples. fio's results omit the ramp of later sections, but the device
        counts it.
        """
        number = 0 if side is None else side.total_bytes
        return max(number, counted) if self._facts.job.sections else number

    def _rounds(self) -> tuple[float, ...]:
        """Return the mean IOPS of each complete round, which lasts `ROUND_S` seconds."""
        return tuple(ios / seconds for ios, seconds in self._sums if seconds > 0.9 * ROUND_S)

    async def _counters(self) -> DiskCounters | None:
        if len(self._devices) != 1 or not self._host.capabilities.live:
            return None
        name = kernel_name(self._devices[0])
        text = await self._host.read(PATH)
        return None if text is None else parse(text, (name,)).get(name)

    async def _since(self) -> DiskCounters | None:
        """Return the kernel counters since the start of the measured phase, or None if the kernel has none."""
        now = await self._counters() if self._began is not None else None
        return None if now is None or self._began is None else since(self._began, now)


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if len(values) >= _CPU_MIN_READINGS else None


def _of_section(figures: SectionFigures) -> MeasuredSoFar:
    """Return the measured values of one section."""
    return MeasuredSoFar(
        ended=True,
        seconds=figures.seconds,
        left=0.0,
        reads=_ios(figures.read),
        writes=_ios(figures.write),
        read_bytes=0 if figures.read is None else figures.read.total_bytes,
        written_bytes=0 if figures.write is None else figures.write.total_bytes,
        in_flight=in_flight(figures),
    )


def _ios(side: DirectionStats | None) -> int:
    return 0 if side is None else side.total_ios


def in_flight(figures: RunResult | SectionFigures) -> float | None:
    """Return the mean number of I/Os and flushes in flight, by Little's law. No I/O.

    None if a completion latency or a mean is unknown.
    """
    transfers = figures.transfers
    if any(side.completion_ns is None for side in transfers):
        return None
    sides = [*transfers, *([figures.sync] if figures.sync is not None else [])]
    means = [side.latency_ns.mean for side in sides]
    if not sides or None in means:
        return None
    return fsum(side.iops * (mean or 0.0) for side, mean in zip(sides, means, strict=True)) / 1e9


def mean_members(readings: Sequence[tuple[MemberStats, ...]]) -> tuple[MemberStats, ...]:
    """Return the mean metrics of each member over several intervals, in the order of the last interval. No I/O."""
    readings_by_device: dict[str, list[MemberStats]] = {}
    for reading in readings:
        for member in reading:
            readings_by_device.setdefault(member.device, []).append(member)
    return tuple(_average(member, readings_by_device[member.device]) for member in readings[-1]) if readings else ()


def _average(last: MemberStats, readings: Sequence[MemberStats]) -> MemberStats:
    def mean(values: list[float | None]) -> float | None:
        reported = [value for value in values if value is not None]
        return fsum(reported) / len(reported) if reported else None

    return replace(
        last,
        read_iops=mean([member.read_iops for member in readings]),
        write_iops=mean([member.write_iops for member in readings]),
        utilisation=mean([member.utilisation for member in readings]),
        queue=mean([member.queue for member in readings]),
        share_of_reads=mean([member.share_of_reads for member in readings]),
        share_of_writes=mean([member.share_of_writes for member in readings]),
    )
