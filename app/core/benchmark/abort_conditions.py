"""What ends a run by itself: a cap, no room beneath, heat, another table under the device."""

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

# -- ends a run by what is looked at while it goes on, and says so in its figures -------------------------------------

Look = Callable[[], Awaitable[tuple[str, ...]]]
"""What ends the run now, a clause each; none while it may go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortCondition:
    """What is looked at, and what is said of a run that it ended."""

    name: str
    """One word."""
    every: float
    """Seconds between two looks."""
    reason: str
    """What stands before the clauses."""
    hint: str
    """What to do next."""


class AbortMonitor:
    """Looks from the beginning to the end of a run, and stops it. An asynchronous context manager."""

    def __init__(self, ending: AbortCondition, look: Look | None, stop: asyncio.Event) -> None:
        """`look`: None where there is nothing to look at."""
        self._ending = ending
        self._look = look
        self._stop = stop
        self._found: tuple[str, ...] = ()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> AbortMonitor:
        if self._look is not None:
            self._task = asyncio.create_task(self._watch(self._look), name=self._ending.name)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def explain(self, figures: RunResult) -> RunResult:
        """The figures of a run that was stopped for it say so; one that was over or failed by itself keeps its own."""
        if not self._found or figures.status is not RunStatus.STOPPED:
            return figures
        return replace(figures, reason=f"{self._ending.reason}: {', '.join(self._found)}.", hint=self._ending.hint)

    async def _watch(self, look: Look) -> None:
        while not self._found:
            with suppress(RaidbenchError, OSError):  # what cannot be read now may be at the next look
                self._found = await look()
            if not self._found:
                await asyncio.sleep(self._ending.every)
        self._stop.set()


# -- ends a run that has written a tenth of a drive, where nobody named how long or how much it writes ----------------

SHARE = 0.1
"""Of a drive's capacity."""

WAY_ROUND = "A job with a run time or a size of its own may write more."

_LASTING = frozenset({Media.HDD, Media.VIRTUAL, Media.RAM})
"""What writing does not wear; of what is not known it is taken to."""


class WriteLimit:
    """Counts what a run writes, and stops it. `limits`: bytes of each target in turn, None for none."""

    def __init__(self, limits: Sequence[int | None], stop: asyncio.Event) -> None:
        self._limits = tuple(limits)
        self._stop = stop
        self._written = [0.0] * len(self._limits)

    def count(self, sample: Sample) -> None:
        """An interval of the run, whether it is measured or not."""
        writes = [part.write for part in sample.targets] or [sample.write]
        for number, write in enumerate(writes[: len(self._limits)]):
            if write is not None:
                self._written[number] += write.bytes_per_second * sample.seconds
        if self._reached:
            self._stop.set()

    @property
    def _reached(self) -> tuple[float, ...]:
        """What was written to those that have had enough."""
        pairs = zip(self._written, self._limits, strict=True)
        return tuple(written for written, limit in pairs if limit is not None and written >= limit)

    def explain(self, figures: RunResult) -> RunResult:
        """The figures of a run that was stopped for it say so."""
        if not self._reached or figures.status is not RunStatus.STOPPED:
            return figures
        reason = f"Stopped: {size_words(round(max(self._reached)))} are written, a tenth of the drive."
        return replace(figures, reason=reason, hint=WAY_ROUND)


def write_limit_of(ready: RunPlan, site: ResolvedTarget, inventory: Inventory) -> int | None:
    """Bytes to one target after which a job is ended; None where that was agreed to, or nothing wears.

    Whoever names a run time or a size means it; so does a plan of many runs, which tells all of it before. The default
    run time is a minute, so that no such job writes for longer than ten.
    """
    default_runtime = Job().runtime
    is_named = ready.request.steady is not None or all(
        part.runtime != default_runtime or part.size is not None for part in ready.job.parts
    )
    is_agreed = is_named or ready.request.length_agreed or ready.request.fills > 0
    if not ready.destructive or site.judgement is None or is_agreed:
        return None
    return round(SHARE * site.size) if wears_out(inventory, site.disk or site.judgement.device) else None


def drives_below(inventory: Inventory, device: str) -> tuple[Drive, ...]:
    """The drives that writing to a device writes to, as far as they are known: members rather than their array."""
    things = inventory.at(device)
    members = {target for device in things if isinstance(device, Array) for target in device.members}
    below = tuple(drive for drive in inventory.drives if drive.target in members)
    return below or tuple(drive for drive in things if isinstance(drive, Drive))


def wears_out(inventory: Inventory, device: str) -> bool:
    """Whether writing to a device wears something."""
    below = drives_below(inventory, device)
    return not below or any(drive.media not in _LASTING for drive in below)


# -- ends a run that leaves no more room beneath than stays free ------------------------------------------------------

# In a thin pool, a snapshot's store, a file system.

ROOM = AbortCondition(
    name="room",
    every=1.0,
    reason="Stopped for room",
    hint="The figures are of the time until then. Give it more room, or write less of it: a smaller --size.",
)

_BLIND_LOOKS = 3
"""Looks in a row that tell nothing, after which the run is ended."""


class ThinCapacityMonitor:
    """One look after the other at what a run takes room from."""

    def __init__(self, host: Host, rooms: Iterable[ThinCapacity]) -> None:
        self._host = host
        self._rooms = tuple(rooms)
        self._blind = 0

    async def __call__(self) -> tuple[str, ...]:
        """What has too little left now, a clause each."""
        now = await refresh_capacities(self._host, self._rooms)
        blind = any(room.unknown for room in now)
        self._blind = self._blind + 1 if blind else 0
        return low_capacity_reasons(room for room in now if not room.unknown or self._blind >= _BLIND_LOOKS)


def make_capacity_monitor(host: Host, ready: RunPlan) -> Look | None:
    """The looks that a run needs; None of one that takes no such room."""
    rooms = tuple(room for site in ready.sites for room in site.capacity_sources)
    return ThinCapacityMonitor(host, rooms) if rooms else None


class AllocatedRanges:
    """What the runs of this program wrote to what takes room: the next ones find it there, and take none for it."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[str, tuple[AllocatedRange, ...]] = {}

    def on(self, path: str) -> tuple[AllocatedRange, ...]:
        """What is known of a device, by its number, or of a scratch file."""
        return self._known.get(path, ())

    async def note(self, ready: RunPlan, number: Callable[[ResolvedTarget], Awaitable[str]]) -> None:
        """After a run. `number`: MAJ:MIN of a target."""
        for site in ready.sites:
            if not site.capacity_sources:
                continue
            devno = await number(site)
            before = {(room.layer, room.part): room for room in site.found_rooms}
            rooms_now = [
                room
                for room in await capacities_at(self._host, devno, site.file or "")
                if (room.layer, room.part) in before
            ]
            ranges = tuple(
                room.allocated_since(before[room.layer, room.part], site.area) for room in rooms_now if not room.unknown
            )
            self._known[site.file or devno] = ranges


# -- ends a run whose drives are as warm as they warn of themselves ---------------------------------------------------

# NVMe's WCTEMP, a SATA disk's SCT limit (hwmon).

HEAT = AbortCondition(
    name="heat",
    every=5.0,  # a drive warms up by a degree in that time, and being asked costs it an I/O
    reason="Stopped for heat",
    hint="Let it cool down, and see to the air that it gets; a shorter or slower job warms it less.",
)
