"""Reads from the members of an array, or from the drives of a controller, one by one to find slow or hung ones."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from math import hypot, sqrt

from app.core.analysis.slow_member import (
    FEWEST,
    FEWEST_ROUNDS,
    MemberComparison,
    against_siblings,
    detectable,
    rounds_to_show,
)
from app.core.benchmark.run_plan import RunPlan
from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.job import Job
from app.core.session.results import RunResult, RunStatus
from app.core.workbench import Workbench
from backends.errors import BlockedError, NotFoundError, ToolFailedError, ToolTimeoutError
from backends.model import Array, Controller, Drive, Media, Target
from backends.text import clean
from backends.values import dataclass

ROUNDS = 5
"""Default number of readings of each member."""

SECONDS, GENTLE_SECONDS = 2, 10
"""Duration of one reading in seconds: on an idle array, and on an array in use."""

GENTLE_IOPS = {"hdd": 5}
"""Maximum reads per second from a member in use, by media. At 10 ms per read, they take 5 % of its time."""

GENTLE_IOPS_FLASH = 100
"""Maximum reads per second from a flash member in use. At 0.5 ms per read, they take 5 % of its time."""

ANSWER_S = 10.0
"""Seconds after which a member that has not answered a read counts as hung.

A healthy drive answers in milliseconds. A drive that retries a bad sector answers within 7 s if it limits its retries
(SCT ERC). The kernel resets a drive after 30 s (/sys/block/*/device/timeout).
"""

END_S = 45.0
"""Maximum seconds to wait until a stopped fio has ended. It gets SIGKILL after 40 s.

If the kernel blocks fio for longer, it is no longer waited for.
"""

WORTH_SHOWING = 0.1
"""A plan reports how many rounds are needed to detect a difference of this size (as a share of the latency)."""

_READ_S, _READ_SPREAD = {"hdd": 0.0135}, {"hdd": 0.55}
"""Mean time of a random read in seconds, and its standard deviation as a share of it, by media.

These are estimates for 7,200 rpm: half a turn takes 4.2 ms and a seek 8 to 9 ms. Both are assumed to vary evenly.
"""

_READ_S_FLASH, _READ_SPREAD_FLASH = 1e-4, 0.3
"""Mean time of a random read from flash in seconds, and its standard deviation as a share of it (estimates)."""

_BETWEEN = 0.01
"""Estimated standard deviation (as a share) between readings of one drive, beyond what the scatter of single reads
explains.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPlan:
    """Which drives to read, and how."""

    target: Target
    """The array or controller whose members are read."""
    drives: tuple[Drive, ...]
    """The members to read. Each has its own block device."""
    rounds: int = ROUNDS
    """Number of readings of each member."""
    gently: bool = False
    """Whether the reads per second are limited, because the array is in use."""

    @property
    def seconds(self) -> int:
        """Total duration of all readings in seconds."""
        return len(self.drives) * self.rounds * self.reading_s

    @property
    def reading_s(self) -> int:
        """Duration of one reading in seconds."""
        return GENTLE_SECONDS if self.gently else SECONDS

    @property
    def scatter(self) -> float:
        """Expected standard deviation of a member's results between rounds, as a share of their mean.

        If the value differs between members, this is the largest.
        """
        return max((_scatter(drive.media, self.reading_s, gently=self.gently) for drive in self.drives), default=0.0)

    @property
    def detectable_share(self) -> float:
        """How much slower (as a share) a member must be so that it is found in at least 8 of 10 cases."""
        return detectable(len(self.drives), self.rounds, self.scatter)

    @property
    def rounds_needed(self) -> int | None:
        """Number of rounds needed to detect a difference of `WORTH_SHOWING`; None if no allowed number is enough."""
        return rounds_to_show(WORTH_SHOWING, len(self.drives), self.scatter)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRead:
    """The result of one reading of a member."""

    round: int
    """Number of the round, from 1."""
    device: str
    """Block device of the member."""
    latency_ns: float | None
    """Mean latency of the reads in nanoseconds; None if a read did not return within `ANSWER_S`."""


def _scatter(media: Media, seconds: int, *, gently: bool) -> float:
    name = media.value
    reads = seconds / _READ_S.get(name, _READ_S_FLASH)
    if gently:
        reads = seconds * GENTLE_IOPS.get(name, GENTLE_IOPS_FLASH)
    return hypot(_READ_SPREAD.get(name, _READ_SPREAD_FLASH) / sqrt(reads), _BETWEEN)


def plan_reading(bench: Workbench, device: Array | Controller | Drive, rounds: int = ROUNDS) -> MemberPlan:
    """Return the plan for an array or controller.

    Raises BlockedError if too few members have a block device, NotFoundError if `device` is a drive.
    """
    members = members_of(bench, device)
    if len(members) < FEWEST:
        raise BlockedError(
            f"{device.target} has {len(members)} drives that can be read individually, but at least {FEWEST} are"
            " needed for a comparison.",
            hint="Drives behind a RAID controller have no device node. Check their error counts with the"
            " controller's tool.",
        )
    busy = not isinstance(device, Controller) and bool(device.uses or device.above)
    return MemberPlan(target=device.target, drives=tuple(members), rounds=rounds, gently=busy)


def members_of(bench: Workbench, device: Array | Controller | Drive) -> list[Drive]:
    """Return the members that have a block device, each once. Raises NotFoundError if `device` is a drive."""
    inventory = bench.session.inventory
    wanted: list[Drive] = []
    match device:
        case Array():
            wanted = [member for target in device.members if isinstance(member := inventory.find(str(target)), Drive)]
        case Controller():
            wanted = [drive for drive in inventory.drives if drive.controller == device.target]
        case Drive():
            raise NotFoundError(
                f"{device.target} is a drive and has no members.", hint="Specify an array or a controller."
            )
    by_node: dict[str, Drive] = {}
    for drive in wanted:
        if drive.device is not None and not drive.shown_elsewhere:
            by_node.setdefault(drive.device, drive)
    return list(by_node.values())


def _request(drive: Drive, *, gently: bool) -> BenchmarkRequest:
    """Return the benchmark request for one reading of a drive."""
    fields = {"rw": "randread", "bs": "4k", "iodepth": "1", "ramp": "0", "runtime": str(SECONDS)}
    if gently:
        rate = GENTLE_IOPS.get(drive.media.value, GENTLE_IOPS_FLASH)
        fields |= {"runtime": str(GENTLE_SECONDS), "rate_iops": str(rate)}
    device = drive.device or ""
    return BenchmarkRequest(where=device, name=device, job=Job.from_fields(fields))


async def member_reads(
    bench: Workbench, plan: MemberPlan, stopped: Callable[[], bool], seed: int | None = None
) -> AsyncGenerator[MemberRead, None]:
    """Read the members in a new random order in each round, and yield each reading when it ends, until `stopped()`.

    A hung member is reported after `ANSWER_S`, before fio has ended, and is not read again. If fewer than `FEWEST`
    members are then left, the current round is the last. Close the iterator with `aclosing`.

    Raises RefusedError if a member may not be read, ToolFailedError if it cannot be read, and the errors of a run.
    """
    generator = random.Random(seed)
    jobs = [_request(drive, gently=plan.gently) for drive in plan.drives]
    for number in range(1, plan.rounds + 1):
        if number > 1 and len(jobs) < FEWEST:
            return
        for job in generator.sample(jobs, len(jobs)):
            if stopped():
                return
            try:
                ready = await bench.jobs.prepare(replace(job, again=True))
            except ToolTimeoutError as error:
                if job.where.rpartition("/")[2] not in error.devices:
                    raise
                jobs.remove(job)
                yield MemberRead(round=number, device=job.where, latency_ns=None)
                continue
            ready.require_allowed()
            async with _Reading(bench, ready, plan.reading_s) as reading:
                if await reading.hangs():
                    jobs.remove(job)
                    yield MemberRead(round=number, device=job.where, latency_ns=None)
                    continue
                figures = await reading.figures()
            if stopped() or figures.status is RunStatus.STOPPED:
                return
            if figures.read is None or not figures.read.latency_ns.mean:
                raise ToolFailedError(
                    f"Cannot read {job.name}: {clean(figures.reason or 'no answer', 300)}.", hint=figures.hint
                )
            slow = (figures.read.latency_ns.max or 0) >= ANSWER_S * 1e9
            if slow:
                jobs.remove(job)
            yield MemberRead(round=number, device=job.where, latency_ns=None if slow else figures.read.latency_ns.mean)


class _Reading:
    """One reading in progress. Leaving its context waits until fio has ended, at most `END_S` seconds."""

    def __init__(self, bench: Workbench, ready: RunPlan, seconds: float) -> None:
        self._bench = bench
        self._seconds = seconds
        self._begun = asyncio.Event()
        self._run = asyncio.ensure_future(bench.jobs.measure(ready, until=self._begin))

    async def _begin(self) -> None:
        self._begun.set()

    async def __aenter__(self) -> _Reading:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await asyncio.wait({self._run}, timeout=END_S)
        self._run.cancel()  # this has no effect on a finished run
        await asyncio.wait({self._run})
        if not self._run.cancelled():
            self._run.exception()  # mark it as retrieved, so that asyncio logs nothing: this or another error is raised

    async def hangs(self) -> bool:
        """Wait for the reading; return whether the drive hangs, which means that a read does not return in time. If it
        hangs, fio is stopped.
        """
        begun = asyncio.ensure_future(self._begun.wait())
        try:
            await asyncio.wait({self._run, begun}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()
        # Time that passed before this point does not count, because a slow tool may have caused it and not the drive.
        await asyncio.wait({self._run}, timeout=self._seconds + ANSWER_S)
        if self._run.done():
            return False
        self._bench.jobs.stop()
        return True

    async def figures(self) -> RunResult:
        """Return the results of the run. Raises the errors of the run."""
        return (await self._run).figures


def hung_members(reads: Sequence[MemberRead]) -> tuple[str, ...]:
    """Return the block devices of the hung members, in the order in which they were found."""
    return tuple(dict.fromkeys(read.device for read in reads if read.latency_ns is None))


def compare_members(plan: MemberPlan, reads: Sequence[MemberRead]) -> tuple[MemberComparison, ...]:
    """Compare each member that did not hang with the others, and return the comparisons, slowest member first.

    Only complete rounds count. If there are too few members or rounds, return an empty tuple.
    """
    hung = hung_members(reads)
    nodes = [node for drive in plan.drives if (node := drive.device or "") not in hung]
    rounds: dict[int, dict[str, float]] = {}
    for read in reads:
        if read.latency_ns is not None and read.device in nodes:
            rounds.setdefault(read.round, {})[read.device] = read.latency_ns
    complete = [{node: fields[node] for node in nodes} for fields in rounds.values() if len(fields) == len(nodes)]
    return against_siblings(complete) if len(nodes) >= FEWEST and len(complete) >= FEWEST_ROUNDS else ()
