"""Run an A/B experiment: measure a setting in pairs of runs with two values, then restore it."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from app.core.analysis.comparison import compare_experiment
from app.core.analysis.pair_design import RULE, Letter, due_look
from app.core.analysis.stored_verdicts import verdicts_of
from app.core.benchmark.idle_wait import wait_until_idle
from app.core.benchmark.runner import RunPlan
from app.core.changes.revert import with_unrestored
from app.core.changes.trial import unattended_reason
from app.core.interrupted_experiments import open_experiments
from app.core.session.event_types import MovedSetting
from app.core.session.events import ChangeEnded, ExperimentEnded, ExperimentMark, ExperimentStarted
from app.core.session.flag_files import EXPERIMENT
from app.core.session.results import RunStatus
from app.core.session.state import ChangeRecord, ExperimentRecord, fold
from app.core.workbench import Workbench
from app.features.ab.plan import AbPlan, ends_experiment
from backends.errors import BlockedError, RaidbenchError, StorageError
from backends.host import Host, shield_to_completion
from backends.model import Target


async def run_experiment(bench: Workbench, plan: AbPlan, *, confirm: str | None = None) -> ExperimentRecord:
    """Measure two values of a setting in pairs of runs, and return the record; `bench.jobs.stop` ends the experiment
    early.

    The setting is restored in any case. `confirm` is the confirmation token typed for a job that overwrites a device.
    Raises RefusedError when another job is running, StorageError when the experiment cannot be recorded.
    """
    bench.require_recording()
    experiment = AbExperiment(bench, plan, confirm=confirm)
    with bench.jobs.reserve(experiment.stop), _hurry(bench.host, plan):
        return await experiment.run()


def _hurry(host: Host, plan: AbPlan) -> AbstractContextManager[None]:
    """Return a context in which a simulated host has the speed of the plan, unless the user chose its speed."""
    time = host.capabilities.time
    if time is None or plan.speed is None or time.chosen_speed is not None:
        return nullcontext()
    return time.hurry(plan.speed)


class AbExperiment:
    """Runs the plan of an A/B experiment, and restores the setting at the end in any case."""

    def __init__(self, bench: Workbench, plan: AbPlan, *, confirm: str | None = None) -> None:
        """`confirm` is the confirmation token typed for a job that overwrites a device."""
        self._bench = bench
        self._plan = plan
        self._confirm = confirm
        self._stop = asyncio.Event()
        self._id = plan.resumes or f"e{len(bench.session.experiments) + 1}"
        self._changes_before = len(bench.session.changes)
        self._taken_back = 0
        self._scratch: RunPlan | None = None
        self._moved: dict[str, str] = {}
        self._since_a: dict[tuple[Target, str], list[MovedSetting]] = {}
        self._not_counted: tuple[str, ...] = ()

    def stop(self) -> None:
        """End the experiment early: no further run starts."""
        self._stop.set()

    async def run(self) -> ExperimentRecord:
        """Make all runs, or as many as possible, and return the record of the ended experiment.

        Raises StorageError when the end cannot be recorded.
        """
        EXPERIMENT.create(self._bench.require_recording())
        self._bench.emit(self._start_event())
        status, reason = RunStatus.STOPPED, "interrupted"
        try:
            status, reason = await self._measure()
        except RaidbenchError as error:
            status, reason = RunStatus.FAILED, error.full_text
        finally:
            await shield_to_completion(asyncio.create_task(self._end(status, reason), name="restore"))
        record = self._bench.session.experiment(self._id)
        if record is None:
            raise StorageError("The experiment has ended, but the session does not contain it.")
        return record

    def _start_event(self) -> ExperimentStarted:
        plan = self._plan
        ready = plan.ready
        return ExperimentStarted(
            at=time.time(),
            id=self._id,
            target=plan.change.target,
            key=plan.change.key,
            label=plan.change.label,
            a=plan.change.before or "",
            b=plan.change.after,
            order=plan.order,
            title=ready.job.describe(),
            measured=ready.name,
            rest_seconds=min(plan.rests, default=0.0),
            looks=plan.looks,
            until_percent=plan.until_percent,
            threshold_percent=plan.threshold_percent,
            seed=plan.seed,
            rule=RULE,
        )

    async def _measure(self) -> tuple[RunStatus, str]:
        plan = self._plan
        for number, letter in enumerate(plan.order):
            if number < 2 * plan.done:
                continue
            await self._switch(letter)
            idle = await wait_until_idle(self._bench.host, plan.ready.only.device, plan.rests[number], self._stop)
            if self._stop.is_set():
                return RunStatus.STOPPED, "stopped"
            early_end = await self._run(number, letter, idle=idle)
            if early_end is not None:
                return early_end
            if number % 2 and self._ends_after(number // 2 + 1):
                break
        return RunStatus.OK, ""

    def _ends_after(self, pairs: int) -> bool:
        """Return whether the experiment ends after this number of pairs."""
        if due_look(self._plan.looks, pairs) is None:
            return False
        shown = compare_experiment(self._bench.session, self._id)
        return ends_experiment(self._plan.until_percent, shown)

    async def _run(self, number: int, letter: Letter, *, idle: bool) -> tuple[RunStatus, str] | None:
        """Make run `number` (from 0). If the experiment ends with it, return the status and the reason, else None."""
        last = number == len(self._plan.order) - 1
        change = self._plan.change
        new_data = any(
            setting.new_data for setting in self._bench.hardware.settings(change.target) if setting.key == change.key
        )
        new_plan = await self._bench.jobs.prepare(replace(self._plan.ready.request, again=not (last or new_data)))
        ready = new_plan.confirmed_with(self._plan.ready)
        notes = ready.notes if idle else (*ready.notes, "The device was not idle before this run.")
        mark = ExperimentMark(experiment=self._id, letter=letter, pair=number // 2 + 1)
        self._scratch = ready
        if why := await self._mismatch_text(letter):
            return RunStatus.FAILED, f"{why} before the run"
        record = await self._bench.jobs.measure(replace(ready, mark=mark, notes=notes), confirm=self._confirm)
        figures = record.figures
        if figures.status is RunStatus.OK:
            if why := await self._mismatch_text(letter):
                self._not_counted = (record.id,)
                return RunStatus.FAILED, f"{why} at the end of {record.id}; this run does not count"
            return None
        if figures.status is RunStatus.STOPPED:
            why = "" if self._stop.is_set() or not figures.reason else f": {figures.reason}"
            return RunStatus.STOPPED, f"{record.id} was stopped{why}"
        return RunStatus.FAILED, f"{record.id} failed: {figures.reason or 'no reason given'}"

    async def _mismatch_text(self, letter: Letter) -> str:
        """Return a clause about the present value if the setting does not have the value of `letter` (A or B);
        otherwise "".
        """
        if self._plan.null:
            return ""
        change = self._plan.change
        value = change.before if letter == "A" else change.after
        reading = (await self._bench.hardware.read(change.target)).get(change.key)
        now = None if reading is None else reading.now
        return "" if now == value else f"{change.label} of {change.target} was {now or 'not readable'}, not {value},"

    async def _switch(self, letter: Letter) -> None:
        """Set the value of `letter` (A or B). Raises RaidbenchError when the setting does not have that value
        afterwards.
        """
        if self._plan.null:
            return
        if letter == "A":
            await self._restore_value()
        elif not any(record.in_force for record in self._own_changes()):
            ended = await self._bench.changes.apply(self._plan.change)
            if ended.result != "verified":
                raise BlockedError(f"{self._plan.change.label} was not set: {ended.message or ended.result}.")
            self._note_moved(ended)

    def _own_changes(self) -> tuple[ChangeRecord, ...]:
        """Return the changes that this experiment made, oldest first.

        They are read from the session, because a cancelled `apply` may set the value without returning the change.
        """
        change = self._plan.change
        return tuple(
            record
            for record in self._bench.session.changes[self._changes_before :]
            if (record.change.target, record.change.key) == (change.target, change.key) and record.intent.undoes is None
        )

    async def _restore_value(self) -> None:
        """Restore the old value of the setting, and undo the side effects on other settings.

        Raises RaidbenchError when the setting does not have its old value afterwards.
        """
        changes = self._own_changes()
        if len(changes) == self._taken_back:
            return
        for record in reversed(changes):
            if record.in_force:
                undone = await self._bench.changes.undo(record.id)
                self._note_moved(undone)
                if not undone.is_reverted:
                    why = undone.message or undone.result
                    raise BlockedError(f"{self._plan.change.label} was not restored: {why}.")
        await self._restore_moved(changes[-1].id)
        self._taken_back = len(changes)

    def _note_moved(self, ended: ChangeEnded) -> None:
        """Record the side effects of a change: settings that differ in the readings right before and right after it.

        A setting that changes at any other time was set by someone else, and is not restored.
        """
        target = self._plan.change.target
        for setting in ended.moved or ():
            if not setting.restored:
                name = setting.key if setting.target == target else f"{setting.key} of {setting.target}"
                self._moved.setdefault(name, f"{setting.before} -> {setting.now}")
            self._since_a.setdefault((setting.target, setting.key), []).append(setting)

    async def _restore_moved(self, change_id: str) -> None:
        """Restore the other settings whose side-effect values remain after the setting itself was restored.

        `change_id` is the change that is recorded as undone.
        """
        change = self._plan.change
        moved, self._since_a = self._since_a, {}
        for (target, key), moves in moved.items():
            reading = (await self._bench.hardware.read(target)).get(key)
            before = moves[0].before
            if reading is None or before is None or not reading.availability.available:
                continue
            if reading.now == before or reading.now not in [setting.now for setting in moves]:
                continue
            planned = await self._bench.hardware.machine.setter(target).plan(target, key, before)
            if change.key in planned.moves:  # both keys are names of one setting: restoring one changes the other
                continue
            if unattended_reason(planned):
                raise BlockedError(
                    f"{planned.label} also changed from {before} to {reading.now}, and cannot be restored."
                )
            ended = await self._bench.changes.apply(planned, undoes=change_id)
            if ended.result != "verified":
                raise BlockedError(f"{planned.label} also changed and was not restored: {ended.message}.")

    async def _end(self, status: RunStatus, reason: str) -> None:
        left: tuple[str, ...] = ()
        try:
            await self._restore_value()
        except RaidbenchError as error:
            left = (error.full_text,)
            reason = " ".join(filter(None, (reason, *left)))
            status = RunStatus.FAILED
        finally:
            if self._scratch is not None and self._scratch.request.again and not self._scratch.request.keep:
                await self._bench.jobs.forget_scratch(self._scratch)
            try:
                self._record_end(status, reason, restored=not left)
            except StorageError as error:
                change = self._plan.change
                raise with_unrestored(
                    error, left and (f"{change.label} of {change.target} was not restored to {change.before}.",)
                ) from error

    def _record_end(self, status: RunStatus, reason: str, *, restored: bool) -> None:
        ended = ExperimentEnded(
            at=time.time(),
            id=self._id,
            status=status,
            restored=restored,
            reason=reason,
            moved=self._moved,
            not_counted=self._not_counted,
        )
        shown = compare_experiment(fold(self._bench.session, ended), self._id)
        self._bench.emit(replace(ended, verdicts=() if shown is None else verdicts_of(shown)))
        if not open_experiments(self._bench.session):
            EXPERIMENT.remove(self._bench.require_recording())
