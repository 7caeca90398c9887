"""The workbench without a terminal: one session on one host, and everything that may be done in it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.advisor import Condition, advise
from app.engine.advisor.gather import gather, policies_of
from app.engine.advisor.watching import Watch
from app.engine.change.changer import Changer, lapsed, reverse
from app.engine.change.trial import arm, check_seconds
from app.engine.fio.load import FioLoad
from app.engine.fio.preflight import preflight
from app.engine.measure.device_access import Gate
from app.engine.measure.device_faults import witness
from app.engine.measure.measurer import Measurer, Preparation, Request
from app.engine.measure.preconditioning import DeviceMemory, written_by
from app.engine.measure.scratch_place import scratching_on
from app.engine.members import member_meter
from app.engine.session.events import (
    BaselineMarked,
    ChangeEnded,
    InventorySeen,
    NoteAdded,
    PreconditionEnded,
    ProblemMet,
    RulePersisted,
)
from app.engine.session.figures import Advice, Sample
from app.engine.session.journal import Journal, OpenChange, boot_clock
from app.engine.session.paths import Paths
from app.engine.session.recorder import Recorder
from app.engine.session.state import ChangeRecord, ExperimentRecord, RunRecord
from app.engine.session.write_history import written_ago
from backends.change import Change
from backends.errors import BlockedError, NotFoundError, RaidbenchError, RefusedError, StorageError
from backends.guard import require
from backends.host import CanRestart, Command, Host
from backends.joining import joined
from backends.model import Array, Controller, Drive, Fact, Inventory, Problem, Target, Task
from backends.protocol import CanPersist, CanRemake, PersistRule, PlansTogether, TellsTasks
from backends.settings import Reading, Setting
from widgets.plain import units

if TYPE_CHECKING:
    from app.engine.ab import AbExperiment, AbPlan
    from app.engine.advisor.facts import RunFacts
    from app.engine.advisor.gather import Place
    from backends.registry import Machine


class Workbench(Recorder):
    """Probes, changes, undoes and remembers. Events fold into `session`; listeners hear of each."""

    def __init__(self, host: Host, *, paths: Paths | None = None) -> None:
        super().__init__(host, paths=paths)
        self.restarts: CanRestart | None = host if isinstance(host, CanRestart) else None
        """The host, if it may be restarted on the way; None for a machine that is somebody's."""
        # What is done to a recorded or simulated machine must never be taken for a change of this one.
        self.journal = Journal(self.paths.journal_of(simulated=self.simulated))
        self._armed: float | None = None
        self._scratching = scratching_on(self.host)
        self._stop: asyncio.Event | None = None
        self._experiment: AbExperiment | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    @cached_property
    def machine(self) -> Machine:
        """Every backend of the host; the vendors are looked for when the first is asked."""
        from backends.registry import Machine

        return Machine.of(self.host)

    async def probe(self) -> Inventory:
        """Ask every backend at once; what has answered is shown while others still think."""
        parts: dict[str, Inventory] = {}

        def told(part: str, inventory: Inventory) -> None:
            parts[part] = inventory
            so_far = Inventory()
            for name in sorted(parts):
                so_far = so_far.merge(parts[name])
            self.emit(InventorySeen(at=time.time(), inventory=joined(so_far), complete=False))

        merged = await self.machine.probe(told)
        seen = InventorySeen(at=time.time(), inventory=merged)
        last = next((e for e in reversed(self.session.events) if isinstance(e, InventorySeen)), None)
        if last is not None and last.inventory == merged and self._log is not None:
            self.session = replace(self.session, inventory=merged, probing=False)
            for listener in tuple(self._listeners):
                listener(self.session, seen)
        else:
            self.emit(seen)
        return merged

    async def find(self, address: str) -> Controller | Array | Drive:
        """The thing an address, a device node or a link to one names.

        Raises NotFoundError naming what is there.
        """
        inventory = self.session.inventory if not self.session.probing else await self.probe()
        found = inventory.find(address)
        if found is None and address.startswith("/"):
            named = (inventory.find(f"{vendor}:{address}") for vendor in self.machine.backends)
            found = next((thing for thing in named if thing is not None), None)
        if found is None and address.startswith("/"):
            real = await self.host.link(address)
            found = inventory.find(real) if real else None
        if found is None and ":" not in address and "/" not in address:
            found = inventory.find(f"/dev/{address}")
        if found is None:
            things: tuple[Controller | Array | Drive, ...] = (
                *inventory.arrays,
                *inventory.drives,
                *inventory.controllers,
            )
            known = [str(thing.target) for thing in things if thing.target not in inventory.twins]
            hint = f"There are: {', '.join(known[:12])}." if known else "`raidbench doctor` says why nothing is found."
            raise NotFoundError(f"There is no {address!r} here.", hint=hint)
        return found

    def home_of(self, target: Target, key: str) -> Target:
        """The target that has a setting: itself, else another view of the same block device; itself if none has it.

        `scheduler` of a namespace or an array is the kernel's disk's, `vwc` of the kernel's disk is the namespace's.
        """
        homes = (view for view in self.views_of(target) if any(one.key == key for one in self.settings(view)))
        return next(homes, target)

    def views_of(self, target: Target) -> tuple[Target, ...]:
        """The target, then what else its block device is: an array, a vendor's drive, the kernel's disk."""
        thing = self.session.inventory.find(str(target))
        device = None if thing is None or isinstance(thing, Controller) else thing.device
        views = self.session.inventory.at(device) if device is not None else ()
        return tuple(dict.fromkeys((target, *(view.target for view in views))))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The declared settings of a target."""
        return self.machine.settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Their values now."""
        return await self.machine.read(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would do, on the target or on what else its block device is."""
        home = self.home_of(target, key)
        return self._in_units(await self.machine.setter(home).plan(home, key, value))

    def _in_units(self, change: Change) -> Change:
        """With its values as they are shown, in the unit of the setting."""
        unit = next((setting.unit for setting in self.settings(change.target) if setting.key == change.key), "")
        values = filter(None, (change.before, change.after))
        return replace(change, words={**{each: units.in_unit(each, unit) for each in values}, **change.words})

    async def plan_all(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """What setting all of `values` would do, as one set; in the order that their backend wants."""
        homes: dict[Target, dict[str, str]] = {}
        for key, value in values.items():
            homes.setdefault(self.home_of(target, key), {})[key] = value
        changes: list[Change] = []
        for home, own in homes.items():
            backend = self.machine.backend(home)
            if isinstance(backend, PlansTogether):
                changes += map(self._in_units, await backend.plan_together(home, own))
            else:
                changes += [await self.plan(home, key, value) for key, value in own.items()]
        return tuple(changes)

    def _changer(self) -> Changer:
        folder = self.need_recording()
        return Changer(
            backends=self.machine.backends,
            journal=self.journal,
            locks=self.paths.locks,
            folder=folder,
            emit=self.emit,
            next_id=lambda: f"c{len(self.session.changes) + 1}",
            arm=self._arm,
        )

    async def _arm(self, until: float) -> None:
        """One watchdog for a set of trials."""
        if until != self._armed:
            if not self.host.capabilities.shares_watchdog:
                raise RefusedError(
                    "There are trials only on the machine that raidbench runs on.",
                    hint="Apply it, then undo.",
                )
            await arm(self.paths, self.need_recording(), until)
            self._armed = until

    async def apply(self, change: Change, *, undoes: str | None = None) -> ChangeEnded:
        """Make one change, which may take back another of the session. See `Changer.apply`."""
        return await self._changer().apply(change, undoes=undoes)

    async def remake(self, record: ChangeRecord) -> None:
        """Make what a change deleted and, cut short by a crash, did not make again.

        Raises BlockedError where nothing can, RefusedError, ToolFailedError.
        """
        backend = self.machine.backend(record.change.target)
        if not isinstance(backend, CanRemake):
            raise BlockedError(f"{record.change.target} is gone, and cannot be made again from here.")
        await backend.remake(record.change)

    def apply_all(
        self, changes: Sequence[Change], *, trial: float | None = None
    ) -> AsyncGenerator[tuple[Change, ChangeEnded], None]:
        """Make several changes in their order. See `Changer.apply_all`; close it with `aclosing`.

        `trial`: seconds after which all of them are taken back unless `keep_trials` is called before.
        """
        until = None if trial is None else boot_clock() + check_seconds(trial)
        return self._changer().apply_all(changes, until=until)

    def trials(self) -> tuple[OpenChange, ...]:
        """Trials of this session that are not decided yet, newest first."""
        return tuple(trial for trial in self.journal.trials() if trial.session == str(self.folder))

    def keep_trials(self) -> tuple[OpenChange, ...]:
        """Let the values on trial stand; returns which. Raises StorageError: the rest is then taken back."""
        kept = self.trials()
        for trial in kept:
            self.journal.outcome(trial.id, self.need_recording(), "kept")
            self.emit(ChangeEnded(at=time.time(), id=trial.id, result="kept", now=trial.change.after))
        return kept

    async def end_trials(self) -> None:
        """Note in the session what the watchdog took back meanwhile."""
        undecided = {trial.id for trial in self.trials()}
        for record in self.undoable():
            on_trial = record.intent.trial_until is not None and (record.end is None or record.end.result != "kept")
            if on_trial and record.id not in undecided:
                reading = (await self.read(record.change.target)).get(record.change.key)
                now = None if reading is None else reading.now
                back = now == record.change.before
                self.emit(
                    ChangeEnded(
                        at=time.time(),
                        id=record.id,
                        result="restored" if back else "differs",
                        now=now,
                        message="the trial was over" if back else "the trial was over, but it was not taken back",
                    )
                )

    async def undo(self, change_id: str, *, confirm: str | None = None) -> ChangeEnded:
        """Take a change of this session back. See `Changer.undo`.

        Raises NotFoundError for an id that is not in the session, RefusedError, BlockedError, StorageError.
        """
        record = self.session.change(change_id)
        if record is None:
            raise NotFoundError(f"This session has no change {change_id}.", hint="`raidbench undo --list` lists them.")
        if not record.in_force:
            raise NotFoundError(f"Change {change_id} is not in force any more.")
        return await self._changer().undo(record, confirm=confirm)

    def plan_undo(self, change_id: str) -> Change:
        """What undoing a change will do, for the dialog. Raises NotFoundError, BlockedError."""
        record = self.session.change(change_id)
        if record is None:
            raise NotFoundError(f"This session has no change {change_id}.", hint="`raidbench undo --list` lists them.")
        return reverse(record.change)

    def undoable(self) -> tuple[ChangeRecord, ...]:
        """Changes in force, newest first; a reboot takes those back that it loses."""
        return tuple(record for record in self.session.in_force if not lapsed(record.intent))

    def unresolved(self) -> tuple[OpenChange, ...]:
        """Changes a crash left in the middle, newest first."""
        return self.journal.unresolved()

    async def recover(self, intent: OpenChange) -> str:
        """Restore what a crash left. See `Changer.recover`."""
        return await self._changer().recover(intent)

    def keep(self, intent: OpenChange) -> None:
        """Leave what a crash left as it is and do not ask again.

        Raises StorageError.
        """
        self.journal.outcome(intent.id, Path(intent.session), "kept")

    async def plan_rule(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """The file that would keep `values` after a reboot; an empty mapping takes the target's lines out.

        Raises BlockedError.
        """
        keeper = self.keeper_of(target, values)
        backend = self.machine.backend(keeper)
        if not isinstance(backend, CanPersist):
            raise BlockedError(f"{keeper} keeps its settings by itself, or cannot be made to.")
        return await backend.persist(keeper, values)

    def keeper_of(self, target: Target, values: Mapping[str, str]) -> Target:
        """The view of the target that has all of the values; for none, the first that can keep any.

        Raises BlockedError where different views have them.
        """
        homes = tuple(dict.fromkeys(self.home_of(target, key) for key in values))
        if len(homes) > 1:
            raise BlockedError(
                f"Settings of {' and '.join(map(str, homes))} are kept in different places.",
                hint="Keep those of each by themselves.",
            )
        able = (view for view in self.views_of(target) if isinstance(self.machine.backend(view), CanPersist))
        return homes[0] if homes else next(able, target)

    async def install_rule(self, target: Target, rule: PersistRule, values: Mapping[str, str]) -> None:
        """Write the file and make it known.

        Raises StorageError, ToolFailedError, RefusedError.
        """
        self.need_recording()
        self.emit(RulePersisted(at=time.time(), target=target, path=rule.path, values=dict(values)))
        await self.host.install(rule.path, rule.text)
        for argv in rule.reload:
            await self._reload(argv)

    async def _reload(self, argv: Sequence[str]) -> None:
        """Make a rule known; without the tool it is in force at the next boot, which is what was asked."""
        program = self.host.which((argv[0],))
        if program is not None:
            await self.host.run(Command(argv=(program, *argv[1:]), mutates=True))

    def _measurer(self, folder: Path) -> Measurer:
        return Measurer(
            load=FioLoad(self.host),
            preflight=partial(preflight, self.host),
            gate=Gate(self.host, self._disks),
            locks=self.paths.locks,
            folder=folder,
            emit=self.emit,
            scratching=self._scratching,
            members=partial(member_meter, self.host),
            witness=partial(witness, self.host, self._samples),
            simulated=self.simulated,
        )

    def _samples(self) -> tuple[Sample, ...]:
        """Those of the running job."""
        return () if self.session.active is None else self.session.active.samples

    async def _disks(self) -> Inventory:
        """The kernel's disks alone: no card is asked."""
        block = self.machine.backends.get("block")
        return await block.inventory() if block is not None else Inventory()

    async def forget_scratch(self, ready: Preparation) -> None:
        """Remove the scratch file that a run left for the next one."""
        if ready.scratch is not None and ready.scratch.own:
            await self._scratching.remove(ready.scratch)

    async def prepare(self, request: Request) -> Preparation:
        """What measuring that would do; nothing is touched, no session is needed. See `Measurer.prepare`."""
        ready = await self._measurer(self.folder or Path()).prepare(request)
        return replace(ready, advice=advise(await self._facts(ready.place)))

    async def foresee(self, request: Request) -> tuple[Advice, ...]:
        """What could be said of it before it is even prepared; nothing where it cannot be measured."""
        try:
            place = await self._measurer(self.folder or Path()).survey(request)
        except (RaidbenchError, OSError):
            return ()
        thing = self.session.inventory.find(place.device) if place.device is not None else None
        if not place.scratch and place.whole_disk and not isinstance(thing, Controller | None):
            size = thing.size_bytes
            place = replace(place, area_bytes=min(filter(None, (place.area_bytes, size)), default=None))
        return advise(await self._facts(place))

    async def _facts(self, place: Place) -> RunFacts:
        """What the advisor is to know beforehand; that a device was written may be remembered of earlier sessions."""
        facts = await gather(self.host, place, self.session)
        if facts.written is None and not place.scratch and place.whole_disk and facts.area_bytes:
            things = self.session.inventory.at(place.device or "")
            identity = next((thing.identity for thing in things if thing.identity is not None), None)
            known = None if identity is None else self.memory.last_written(identity)
            if known is not None and known.filled_bytes >= facts.area_bytes:
                return replace(facts, written=True)
        return facts

    async def measure(self, ready: Preparation, *, confirm: str | None = None) -> RunRecord:
        """Run what was prepared; one run at a time. `stop` ends it in good order.

        Raises RefusedError, StorageError, DeviceGoneError.
        """
        if self._stop is not None or (self._experiment is not None and ready.mark is None):
            raise RefusedError("A job is running already.", hint="Wait for its end, or stop it first.")
        if ready.judgement is not None:
            require(ready.judgement.verdict, confirm)  # before anything is asked of a device that is left alone
        measurer = self._measurer(self.need_recording())
        self._stop = asyncio.Event()
        self._idle.clear()
        run_id = f"r{len(self.session.runs) + 1}"
        try:
            readings = await self._readings_of(ready.device)
            settings = {key: reading.now for key, (_, reading) in readings.items() if reading.now is not None}
            watch = await self._watch(ready, readings)
            await measurer.measure(run_id, ready, confirm=confirm, settings=settings, stop=self._stop, watch=watch)
            self._remember_fill(run_id, ready)
        finally:
            self._stop = None
            if self._experiment is None:
                self._idle.set()
        record = self.session.run(run_id)
        if record is None:
            raise StorageError("The run is over, but the session does not have it.")
        return record

    def _remember_fill(self, run_id: str, ready: Preparation) -> None:
        """Write down how much of a device was filled before a run, for this session and for later ones."""
        record = self.session.run(run_id)
        if record is None or not record.figures.filled_bytes:
            return
        written = written_by(record, ready, session=str(self.folder))
        identity = None if ready.judgement is None else ready.judgement.identity
        remembered = identity is not None and self.memory.remember(identity, written)
        self.emit(
            PreconditionEnded(
                at=written.at, id=run_id, target=record.start.target, written=written, remembered=remembered
            )
        )

    @cached_property
    def memory(self) -> DeviceMemory:
        """What is known of devices from one session to the next: which were written in full, and when."""
        return DeviceMemory(self.paths.devices_of(simulated=self.simulated))

    def remembered(self, thing: Controller | Array | Drive) -> Controller | Array | Drive:
        """The thing with what is known of it from earlier sessions among its facts."""
        if isinstance(thing, Controller) or thing.identity is None:
            return thing
        written = self.memory.last_written(thing.identity)
        if written is None:
            return thing
        fact = Fact(label="Written", value=written_ago(written, time.time()))
        return replace(thing, facts=(*thing.facts, fact))

    async def experiment(self, plan: AbPlan, *, confirm: str | None = None) -> ExperimentRecord:
        """Measure a setting in pairs and put it back, whatever happens. `stop` ends it early. See `AbExperiment`.

        Raises RefusedError, StorageError.
        """
        if self.measuring:
            raise RefusedError("A job is running already.", hint="Wait for its end, or stop it first.")
        from app.engine.ab import AbExperiment

        self.need_recording()
        self._experiment = AbExperiment(self, self._changer(), plan, confirm=confirm)
        self._idle.clear()
        try:
            return await self._experiment.run()
        finally:
            self._experiment = None
            self._idle.set()

    @property
    def measuring(self) -> bool:
        """Whether a job or an experiment is being run."""
        return self._stop is not None or self._experiment is not None

    def stop(self) -> None:
        """Ask the running job, and the experiment it is part of, to end; figures so far are kept."""
        if self._experiment is not None:
            self._experiment.stop()
        if self._stop is not None:
            self._stop.set()

    async def wait_idle(self) -> None:
        """Wait until no job is being run."""
        await self._idle.wait()

    async def _readings_of(self, device: str | None) -> dict[str, tuple[str, Reading]]:
        """Labels and readings of the settings of a device, by key; what cannot be read is left out.

        Those of the array first, then those of the block device that it is to the kernel: of two with the same key the
        array's counts.
        """
        if device is None:
            return {}
        found: dict[str, tuple[str, Reading]] = {}
        try:
            inventory = await self.probe() if self.session.probing else self.session.inventory
            for thing in inventory.at(device):
                labels = {setting.key: setting.label for setting in self.settings(thing.target)}
                for key, reading in (await self.read(thing.target)).items():
                    if reading.now is not None:
                        found.setdefault(key, (labels.get(key, key), reading))
        except RaidbenchError:
            return found
        return found

    async def _watch(self, ready: Preparation, readings: Mapping[str, tuple[str, Reading]]) -> Watch:
        """The advisor for one run: with the condition as it is now, and the way to read it again at the end."""
        facts = await self._facts(ready.place)
        tasks = await self._tasks_of(ready.disk)
        before = Condition(tasks=facts.before.tasks if tasks is None else tasks, policies=policies_of(readings))

        async def after() -> Condition:
            later = await self._readings_of(ready.device)
            return Condition(tasks=await self._tasks_of(ready.disk) or (), policies=policies_of(later))

        return Watch(self.host, replace(facts, before=before), device=ready.disk, condition=after)

    async def _tasks_of(self, device: str | None) -> tuple[Task, ...] | None:
        """Background work of the array at a node and of its controller, asked anew; None where nobody can tell."""
        arrays = [thing for thing in self.session.inventory.at(device or "") if isinstance(thing, Array)]
        backend = self.machine.backends.get(arrays[0].target.backend) if arrays else None
        if backend is None:
            return None
        target = arrays[0].target
        try:
            if isinstance(backend, TellsTasks):
                return await backend.tasks(target)
            found = (await backend.inventory()).arrays
        except RaidbenchError:
            return None
        return next((array.tasks for array in found if array.target == target), None)

    def note(self, text: str) -> None:
        """Write something down. Raises StorageError."""
        self.need_recording()
        self.emit(NoteAdded(at=time.time(), text=text))

    def mark_baseline(self, run_id: str | None) -> None:
        """Show other runs against this one. Raises NotFoundError, StorageError."""
        self.need_recording()
        if run_id is not None and self.session.run(run_id) is None:
            raise NotFoundError(f"This session has no run {run_id}.")
        self.emit(BaselineMarked(at=time.time(), run=run_id))

    def problem(self, where: str, error: RaidbenchError) -> None:
        """Remember that something went wrong; never raises."""
        with contextlib.suppress(StorageError):
            self.emit(ProblemMet(at=time.time(), problem=Problem(where=where, message=error.message, hint=error.hint)))
