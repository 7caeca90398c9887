"""Benchmarks of a session: one job at a time, with advice before, during and after it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.session.event_types import written_ago
from app.core.session.events import PreconditionEnded
from app.core.session.inventory import SessionInventory
from app.core.session.recorder import Recorder
from app.core.session.results import Advice
from app.core.session.state import RunRecord
from backends.errors import RaidbenchError, RefusedError, StorageError
from backends.host import WriteDenied
from backends.model import Array, Controller, Drive, Fact, Inventory, Task
from backends.settings import Reading

if TYPE_CHECKING:  # imported on demand: every workbench imports this module, but few run benchmarks
    from app.core.benchmark.abort_conditions import AllocatedRanges
    from app.core.benchmark.conditions.facts import Advisor, JobLocation, RunFacts
    from app.core.benchmark.conditions.monitor import LiveAdvisor
    from app.core.benchmark.preconditioning import PreconditionHistory
    from app.core.benchmark.run_plan import BenchmarkRequest, ResolvedTarget, RunPlan
    from app.core.benchmark.runner import BenchmarkRunner, Until

_Readings = Mapping[str, tuple[str, Reading]]
"""Labels and readings of a device's settings, by key."""


def no_advice(_facts: RunFacts) -> tuple[Advice, ...]:
    """Return no advice. This is the advisor of a session without advice rules."""
    return ()


class SessionBenchmarks:
    """Prepares and runs the jobs of a session, one at a time."""

    def __init__(self, record: Recorder, hardware: SessionInventory, advisor: Advisor = no_advice) -> None:
        """Create the benchmarks of a session. `advisor`: gives advice before, during and after a run."""
        self._record, self._hardware = record, hardware
        self.advisor = advisor
        self._stop: asyncio.Event | None = None
        self._occupant: Callable[[], None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    @cached_property
    def _left(self) -> AllocatedRanges:
        from app.core.benchmark.abort_conditions import AllocatedRanges

        return AllocatedRanges(self._record.host)

    def _measurer(self, folder: Path) -> BenchmarkRunner:
        from app.core.benchmark.device_access import DeviceAccess
        from app.core.benchmark.runner import BenchmarkRunner
        from app.core.fio.load import FioLoad
        from app.core.fio.preflight import identify_fio, preflight

        host = self._record.host
        return BenchmarkRunner(
            self._record,
            folder,
            load=FioLoad(host),
            preflight=partial(preflight, host),
            find_fio=partial(identify_fio, host),
            gate=DeviceAccess(host, self._disks),
            ranges=self._left,
        )

    async def _disks(self) -> Inventory:
        """Return an inventory of only the kernel's disks; it queries no controller."""
        block = self._hardware.machine.backends.get("block")
        return await block.inventory() if block is not None else Inventory()

    async def forget_scratch(self, ready: RunPlan) -> None:
        """Remove the scratch file that a run kept for the next run."""
        from app.core.benchmark.scratch_manager import scratch_manager_for

        for site in ready.sites:
            if site.scratch is not None and site.scratch.own:
                await scratch_manager_for(self._record.host).remove(site.scratch)

    async def prepare(self, request: BenchmarkRequest) -> RunPlan:
        """Return the plan for a request, with advice; change nothing. Raises what `BenchmarkRunner.prepare` raises."""
        if await self._reads_only():
            request = replace(request, keep=True)  # read-only mode must not remove a scratch file of an earlier run
        ready = await self._measurer(self._record.folder or Path()).prepare(request)
        return replace(ready, advice=self.advisor(await self._facts_of(ready)))

    async def readiness_error(self) -> RaidbenchError | None:
        """Return the error that prevents benchmarks on this host; None if there is none. This starts no job."""
        return await self._measurer(self._record.folder or Path()).readiness_error()

    async def locate(self, request: BenchmarkRequest) -> tuple[JobLocation, ...]:
        """Return the location of each target of a request; () if the request cannot be measured."""
        measurer = self._measurer(self._record.folder or Path())
        alone = [replace(request, where=target.where, name=target.name, beside=()) for target in request.targets]
        try:
            return tuple([await measurer.locate(target) for target in alone])
        except (RaidbenchError, OSError):
            return ()

    async def preview_advice(self, locations: Sequence[JobLocation]) -> tuple[Advice, ...]:
        """Return advice on a request that is not prepared yet, for its locations from `locate`; () without any."""
        from app.core.benchmark.conditions.facts import combine_facts

        facts = [await self._facts(self._sized(location)) for location in locations]
        return self.advisor(combine_facts(facts)) if facts else ()

    def _sized(self, location: JobLocation) -> JobLocation:
        """Return the location with its area limited to the size of the device."""
        device = self._record.session.inventory.find(location.device) if location.device is not None else None
        if location.scratch or not location.whole_disk or isinstance(device, Controller | None):
            return location
        return replace(location, area_bytes=min(filter(None, (location.area_bytes, device.size_bytes)), default=None))

    async def _facts(self, location: JobLocation) -> RunFacts:
        """Return the facts known before a run, including preconditioning in earlier sessions."""
        from app.core.benchmark.conditions.collector import gather

        facts = await gather(self._record.host, location, self._record.session)
        if facts.written is None and not location.scratch and location.whole_disk and facts.area_bytes:
            devices = self._record.session.inventory.at(location.device or "")
            identity = next((device.identity for device in devices if device.identity is not None), None)
            last_write = None if identity is None else self.memory.last_written(identity)
            if last_write is not None and last_write.filled_bytes >= facts.area_bytes:
                return replace(facts, written=True)
        return facts

    async def measure(self, ready: RunPlan, *, confirm: str | None = None, until: Until | None = None) -> RunRecord:
        """Run a plan and return its record. `stop` ends the run cleanly.

        `confirm` and `until` are those of `BenchmarkRunner.measure`. Raises RefusedError (by the guard, or because a
        target is locked or another job is running), StorageError or DeviceGoneError.
        """
        if self._stop is not None or (self._occupant is not None and ready.mark is None):
            raise RefusedError("A job is running already.", hint="Wait until it ends, or stop it first.")
        ready.require(confirm)  # refuse before anything is read from an unconfirmed device
        if await self._reads_only():
            from app.core.benchmark.run_plan import require_reading

            require_reading(ready)
        measurer = self._measurer(self._record.require_recording())
        self._stop = asyncio.Event()
        self._idle.clear()
        run_id = f"r{len(self._record.session.runs) + 1}"
        try:
            from app.core.benchmark.conditions.facts import join_texts

            readings = [await self._hardware.readings_of(site.device, site.file) for site in ready.sites]
            settings = join_texts([_current_values(reading) for reading in readings])
            facts = await self._facts_of(ready)
            watch = await self._watch(ready, facts, readings)
            fields = join_texts(
                [await self._provenance(*target, facts) for target in zip(ready.sites, readings, strict=True)]
            )
            ready = replace(ready, provenance=fields)
            await measurer.measure(
                run_id, ready, confirm=confirm, settings=settings, stop=self._stop, watch=watch, until=until
            )
            self._remember_fill(run_id, ready)
            await self._left.note(ready, measurer.number)
        finally:
            self._stop = None
            if self._occupant is None:
                self._idle.set()
        record = self._record.session.run(run_id)
        if record is None:
            raise StorageError("The run has ended, but it is missing in the session.")
        return record

    async def _reads_only(self) -> bool:
        return await self._record.host.writable("/sys") is WriteDenied.READ_ONLY

    def _remember_fill(self, run_id: str, ready: RunPlan) -> None:
        """Record how much of a device was filled before a run, for this session and later ones."""
        record = self._record.session.run(run_id)
        if record is None or not record.figures.filled_bytes:
            return
        from app.core.benchmark.preconditioning import precondition_record

        written = precondition_record(record, ready, session=str(self._record.folder))
        identity = None if ready.only.judgement is None else ready.only.judgement.identity
        remembered = identity is not None and self.memory.remember(identity, written)
        self._record.emit(
            PreconditionEnded(
                at=written.at, id=run_id, target=record.start.target, written=written, remembered=remembered
            )
        )

    @cached_property
    def memory(self) -> PreconditionHistory:
        """Return the preconditioning history, which all sessions share."""
        from app.core.benchmark.preconditioning import PreconditionHistory

        return PreconditionHistory(self._record.paths.devices)

    def with_history(self, device: Controller | Array | Drive) -> Controller | Array | Drive:
        """Return the device with a fact about its preconditioning in earlier sessions."""
        if isinstance(device, Controller) or device.identity is None:
            return device
        written = self.memory.last_written(device.identity)
        if written is None:
            return device
        fact = Fact(label="Written", value=written_ago(written, time.time()))
        return replace(device, facts=(*device.facts, fact))

    @contextlib.contextmanager
    def reserve(self, stop: Callable[[], None]) -> Iterator[None]:
        """Reserve the runner for an experiment until the context ends; `stop` is called to end the experiment.

        Raises RefusedError if a job is running.
        """
        if self.running:
            raise RefusedError("A job is running already.", hint="Wait until it ends, or stop it first.")
        self._occupant = stop
        self._idle.clear()
        try:
            yield
        finally:
            self._occupant = None
            self._idle.set()

    @property
    def running(self) -> bool:
        """Return whether a job or an experiment is running."""
        return self._stop is not None or self._occupant is not None

    def stop(self) -> None:
        """Ask the running job, and the experiment that it belongs to, to end. The results so far are kept."""
        if self._occupant is not None:
            self._occupant()
        if self._stop is not None:
            self._stop.set()

    async def wait_idle(self) -> None:
        """Wait until no job is running."""
        await self._idle.wait()

    async def _provenance(self, site: ResolvedTarget, readings: _Readings, facts: RunFacts) -> dict[str, str]:
        from app.core.benchmark.provenance import provenance

        return await provenance(
            self._record.host,
            self._record.session.inventory,
            site.disk,
            size_bytes=site.size,
            governors=facts.governors,
            readings=readings,
        )

    async def _facts_of(self, ready: RunPlan) -> RunFacts:
        """Return the facts known before a run, combined over all targets."""
        from app.core.benchmark.conditions.facts import combine_facts

        return combine_facts([await self._facts(site.locate(ready.job)) for site in ready.sites])

    async def _watch(self, ready: RunPlan, facts: RunFacts, readings: Sequence[_Readings]) -> LiveAdvisor:
        """Return the advisor for one run.

        The advisor starts with the current state of the devices, and reads that state again at the end of the run.
        """
        from app.core.benchmark.conditions.facts import Condition, common_policies
        from app.core.benchmark.conditions.monitor import LiveAdvisor

        async def condition(readings: Sequence[_Readings], otherwise: tuple[Task, ...]) -> Condition:
            tasks_of_sites = [await self._hardware.tasks_of(site.disk) for site in ready.sites]
            tasks = {task.kind: task for tasks in tasks_of_sites for task in (otherwise if tasks is None else tasks)}
            return Condition(tasks=tuple(tasks.values()), policies=common_policies(readings))

        async def after() -> Condition:
            return await condition(
                [await self._hardware.readings_of(site.device, site.file) for site in ready.sites], ()
            )

        before = await condition(readings, facts.before.tasks)
        return LiveAdvisor(
            self._record.host, replace(facts, before=before), self.advisor, devices=ready.disks, condition=after
        )


def _current_values(readings: _Readings) -> dict[str, str]:
    """Return the configured values by key; for an inherited setting, the effective value."""
    values = {
        key: (reading.effective if reading.follows else None) or reading.now for key, (_, reading) in readings.items()
    }
    return {key: value for key, value in values.items() if value is not None}
