"""Conditions that stop a run: write limit, low thin-provisioned capacity, drive temperature."""

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
"""Check during a run. Returns the reasons to stop it as clauses; () if it may continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortCondition:
    """A condition that is checked during a run, with its texts for the result."""

    name: str
    """Name of the condition, one word."""
    every: float
    """Seconds between two checks."""
    reason: str
    """Text before the reasons."""
    hint: str
    """Next step for the user."""


class AbortMonitor:
    """Asynchronous context manager that checks a condition during a run and stops the run when it is met."""

    def __init__(self, condition: AbortCondition, check: ConditionCheck | None, stop: asyncio.Event) -> None:
        """`check`: the check; None if there is nothing to check."""
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
"""Share of a drive's capacity after which a run is stopped."""

OVERRIDE_HINT = "To write more, give the job a run time or a size."

_NOT_WORN = frozenset({Media.HDD, Media.VIRTUAL, Media.RAM})
"""Media that writing does not wear. Unknown media count as wearing."""


class WriteLimit:
    """Counts the bytes that a run writes and stops it at a limit.

    `limits`: bytes for each target in turn, None for no limit.
    """

    def __init__(self, limits: Sequence[int | None], stop: asyncio.Event) -> None:
        self._limits = tuple(limits)
        self._stop = stop
        self._written = [0.0] * len(self._limits)

    def count(self, sample: Sample) -> None:
        """Count a sample of the run, whether it is in the measured phase or not."""
        writes = [part.write for part in sample.targets] or [sample.write]
        for number, write in enumerate(writes[: len(self._limits)]):
            if write is not None:
                self._written[number] += write.bytes_per_second * sample.seconds
        if self._reached:
            self._stop.set()

    @property
    def _reached(self) -> tuple[float, ...]:
        """Return the bytes written to the targets that reached their limit."""
        pairs = zip(self._written, self._limits, strict=True)
        return tuple(written for written, limit in pairs if limit is not None and written >= limit)

    def explain(self, figures: RunResult) -> RunResult:
        """Return the results; those of a run that was stopped by the limit name it as the reason."""
        if not self._reached or figures.status is not RunStatus.STOPPED:
            return figures
        reason = f"Stopped: the run wrote {size_words(round(max(self._reached)))}, a tenth of the drive."
        return replace(figures, reason=reason, hint=OVERRIDE_HINT)


def write_limit_of(ready: RunPlan, site: ResolvedTarget, inventory: Inventory) -> int | None:
    """Return the bytes after which a job on one target is stopped; None if the user agreed, or if nothing wears.

    A named run time or size counts as agreement. So does a plan of many runs, which reports all its writes before. The
    default run time is a minute, so that no such job writes for longer than ten minutes.
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
    """Return the known drives that writes to a device reach: the members of an array rather than the array."""
    devices = inventory.at(device)
    members = {target for device in devices if isinstance(device, Array) for target in device.members}
    below = tuple(drive for drive in inventory.drives if drive.target in members)
    return below or tuple(drive for drive in devices if isinstance(drive, Drive))


def wears_out(inventory: Inventory, device: str) -> bool:
    """Return whether writing to a device wears its media."""
    below = drives_below(inventory, device)
    return not below or any(drive.media not in _NOT_WORN for drive in below)


# -- free space of thin-provisioned storage ---------------------------------------------------------------------------

# Thin pools, snapshot stores, filesystems.

FREE_SPACE = AbortCondition(
    name="room",
    every=1.0,
    reason="Stopped for lack of free space",
    hint="The results cover the time until then. Free space, or use a smaller --size.",
)

_BLIND_CHECKS = 3
"""Consecutive checks without a reading after which the run is stopped."""


class ThinCapacityMonitor:
    """Check of the thin-provisioned capacity that a run takes space from."""

    def __init__(self, host: Host, rooms: Iterable[ThinCapacity]) -> None:
        self._host = host
        self._rooms = tuple(rooms)
        self._blind = 0

    async def __call__(self) -> tuple[str, ...]:
        """Return a clause for each source that has too little free space."""
        now = await refresh_capacities(self._host, self._rooms)
        blind = any(room.unknown for room in now)
        self._blind = self._blind + 1 if blind else 0
        return low_capacity_reasons(room for room in now if not room.unknown or self._blind >= _BLIND_CHECKS)


def make_capacity_monitor(host: Host, ready: RunPlan) -> ConditionCheck | None:
    """Return the capacity check of a run; None if it takes no thin-provisioned space."""
    rooms = tuple(room for site in ready.sites for room in site.capacity_sources)
    return ThinCapacityMonitor(host, rooms) if rooms else None


class AllocatedRanges:
    """Ranges of thin-provisioned targets that earlier runs allocated, where new runs take no new space."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._ranges: dict[str, tuple[AllocatedRange, ...]] = {}

    def on(self, path: str) -> tuple[AllocatedRange, ...]:
        """Return the allocated ranges of a device, by its number, or of a scratch file."""
        return self._ranges.get(path, ())

    async def note(self, ready: RunPlan, number: Callable[[ResolvedTarget], Awaitable[str]]) -> None:
        """Record the ranges that a run allocated. `number`: returns MAJ:MIN of a target."""
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

# The limit is the drive's own: NVMe's WCTEMP, a SATA disk's SCT limit (hwmon).

HEAT = AbortCondition(
    name="heat",
    every=5.0,  # a drive warms up by a degree in that time, and each query costs it an I/O
    reason="Stopped because of heat",
    hint="Let the drive cool down and check its airflow. A shorter or slower job heats it less.",
)
