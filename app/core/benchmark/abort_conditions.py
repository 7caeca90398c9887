"""Conditions that stop a run: the write limit, lack of space in thin-provisioned storage, and drive temperature."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType

from app.core.benchmark.run_plan import ResolvedTarget, RunPlan
from app.core.fio.job import Job
from app.core.session.results import RunResult, RunStatus, Sample
from backends.errors import RaidbenchError
from backends.host import Host
from backends.model import Array, Drive, Inventory, Media
from backends.sizes import size_words
from backends.topology.thin_capacity import AllocatedRange, ThinCapacity, low_capacity_reasons
from backends.topology.thin_capacity_scan import capacities_at, refresh_capacities
from backends.values import dataclass

# -- conditions that are checked during a run -------------------------------------------------------------------------

ConditionCheck = Callable[[], Awaitable[tuple[str, ...]]]
"""Function that returns the reasons why a run must stop, as clauses; () if the run may continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortCondition:
    """A condition that is checked during a run, with the messages for the result of a stopped run."""

    name: str
    """Name of the condition, in one word."""
    every: float
    """Seconds between two checks."""
    reason: str
    """Clause that precedes the reasons in the result of the run: `Stopped because of heat`."""
    hint: str
    """Next step for the user."""


class AbortMonitor:
    """Asynchronous context manager that checks a condition during a run and stops the run when it is met."""

    def __init__(self, condition: AbortCondition, check: ConditionCheck | None, stop: asyncio.Event) -> None:
        """Create a monitor that sets `stop` when `check` returns reasons; without a `check` it does nothing."""
        self._condition = condition
        self._check = check
        self._stop = stop
        self._reasons: tuple[str, ...] = ()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> AbortMonitor:
        if self._check is not None:
            self._task = asyncio.create_task(self._watch(self._check), name=self._condition.name)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def explain(self, figures: RunResult) -> RunResult:
        """Return the results, with the reason if the condition stopped the run."""
        if not self._reasons or figures.status is not RunStatus.STOPPED:
            return figures
        return replace(
            figures, reason=f"{self._condition.reason}: {', '.join(self._reasons)}.", hint=self._condition.hint
        )

    async def _watch(self, check: ConditionCheck) -> None:
        while not self._reasons:
            with suppress(RaidbenchError, OSError):  # the next check may succeed
                self._reasons = await check()
            if not self._reasons:
                await asyncio.sleep(self._condition.every)
        self._stop.set()


# -- write limit: a tenth of a drive, unless the user named a run time or size ----------------------------------------

WRITE_SHARE = 0.1
"""Share of a drive's capacity that a run may write before it is stopped."""

OVERRIDE_HINT = "To write more, give the job a run time or a size."

_NOT_WORN = frozenset({Media.HDD, Media.VIRTUAL, Media.RAM})
"""Media that do not wear out by writing. Unknown media count as media that wear out."""


class WriteLimit:
    """Counts the bytes that a run writes and stops it at a limit.

    `limits`: limit in bytes for each target, in the order of the targets; None for no limit.
    """

    def __init__(self, limits: Sequence[int | None], stop: asyncio.Event) -> None:
        self._limits = tuple(limits)
        self._stop = stop
        self._written = [0.0] * len(self._limits)

    def count(self, sample: Sample) -> None:
        """Count the bytes of a sample, in any phase of the run, and stop the run if a limit is reached."""
        writes = [part.write for part in sample.targets] or [sample.write]
        for number, write in enumerate(writes[: len(self._limits)]):
            if write is not None:
                self._written[number] += write.bytes_per_second * sample.seconds
        if self._reached:
            self._stop.set()

    @property
    def _reached(self) -> tuple[float, ...]:
        """Return the number of bytes written to each target that has reached its limit."""
        pairs = zip(self._written, self._limits, strict=True)
        return tuple(written for written, limit in pairs if limit is not None and written >= limit)

    def explain(self, figures: RunResult) -> RunResult:
        """Return the results; if the limit stopped the run, with the limit as the reason."""
        if not self._reached or figures.status is not RunStatus.STOPPED:
            return figures
        reason = f"Stopped: the run wrote {size_words(round(max(self._reached)))}, a tenth of the drive."
        return replace(figures, reason=reason, hint=OVERRIDE_HINT)


def write_limit_of(ready: RunPlan, site: ResolvedTarget, inventory: Inventory) -> int | None:
    """Return the number of bytes after which a job is stopped on one target; None for no limit.

    There is no limit if the medium does not wear out, or if the user agreed to the writes. A run time or size chosen by
    the user counts as agreement. So does a plan of many runs, because it reports all its writes before it starts. A job
    without agreement therefore has the default run time, one minute.
    """
    default_runtime = Job().runtime
    is_named = ready.request.steady is not None or all(
        part.runtime != default_runtime or part.size is not None for part in ready.job.parts
    )
    is_agreed = is_named or ready.request.length_agreed or ready.request.fills > 0
    if not ready.destructive or site.judgement is None or is_agreed:
        return None
    return round(WRITE_SHARE * site.size) if wears_out(inventory, site.disk or site.judgement.device) else None


def drives_below(inventory: Inventory, device: str) -> tuple[Drive, ...]:
    """Return the known drives that writes to a device reach: the members of an array, or the drive itself."""
    devices = inventory.at(device)
    members = {target for device in devices if isinstance(device, Array) for target in device.members}
    below = tuple(drive for drive in inventory.drives if drive.target in members)
    return below or tuple(drive for drive in devices if isinstance(drive, Drive))


def wears_out(inventory: Inventory, device: str) -> bool:
    """Return whether the media of a device wear out by writing."""
    below = drives_below(inventory, device)
    return not below or any(drive.media not in _NOT_WORN for drive in below)


# -- free space of thin-provisioned storage (thin pools, snapshot stores, filesystems) --------------------------------

FREE_SPACE = AbortCondition(
    name="room",
    every=1.0,
    reason="Stopped for lack of free space",
    hint="The results cover the time until then. Free space, or use a smaller --size.",
)

_BLIND_CHECKS = 3
"""Number of consecutive failed readings of the free space after which the run is stopped."""


class ThinCapacityMonitor:
    """Check of the free space in the thin-provisioned storage in which a run allocates space."""

    def __init__(self, host: Host, rooms: Iterable[ThinCapacity]) -> None:
        self._host = host
        self._rooms = tuple(rooms)
        self._blind = 0

    async def __call__(self) -> tuple[str, ...]:
        """Return a clause for each storage that has too little free space, or that cannot be read any longer."""
        now = await refresh_capacities(self._host, self._rooms)
        blind = any(room.unknown for room in now)
        self._blind = self._blind + 1 if blind else 0
        return low_capacity_reasons(room for room in now if not room.unknown or self._blind >= _BLIND_CHECKS)


def make_capacity_monitor(host: Host, ready: RunPlan) -> ConditionCheck | None:
    """Return the free-space check of a run; None if the run allocates no thin-provisioned space."""
    rooms = tuple(room for site in ready.sites for room in site.capacity_sources)
    return ThinCapacityMonitor(host, rooms) if rooms else None


class AllocatedRanges:
    """Ranges of thin-provisioned targets that earlier runs allocated; writes to them need no new space."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._ranges: dict[str, tuple[AllocatedRange, ...]] = {}

    def on(self, path: str) -> tuple[AllocatedRange, ...]:
        """Return the allocated ranges of a target: `path` is a device number, or the path of a scratch file."""
        return self._ranges.get(path, ())

    async def note(self, ready: RunPlan, number: Callable[[ResolvedTarget], Awaitable[str]]) -> None:
        """Record the ranges that a run allocated. `number`: returns the device number MAJ:MIN of a target."""
        for site in ready.sites:
            if not site.capacity_sources:
                continue
            devno = await number(site)
            before = {(room.layer, room.part): room for room in site.all_rooms}
            rooms_now = [
                room
                for room in await capacities_at(self._host, devno, site.file or "")
                if (room.layer, room.part) in before
            ]
            ranges = tuple(
                room.allocated_since(before[room.layer, room.part], site.area) for room in rooms_now if not room.unknown
            )
            self._ranges[site.file or devno] = ranges


# -- drive temperature ------------------------------------------------------------------------------------------------

# The limit comes from the drive itself: WCTEMP of an NVMe drive, or the SCT limit of a SATA disk (hwmon).

HEAT = AbortCondition(
    name="heat",
    every=5.0,  # a drive warms up by about one degree in 5 s; each query costs the drive an I/O
    reason="Stopped because of heat",
    hint="Let the drive cool down and check its airflow. A shorter or slower job heats it less.",
)
