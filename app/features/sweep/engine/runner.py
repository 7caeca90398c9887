"""Run a sweep step by step, and restore all settings at the end. A sweep can be resumed at any point.

A step whose run failed is repeated once, immediately. So the step keeps its place in the order, which the verdicts
depend on, and its settings and array still exist. The failure is logged before the repetition, so that a sweep resumed
after a crash does not repeat the step a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import replace

from app.core.benchmark.idle_wait import wait_for_stop
from app.core.benchmark.runner import BenchmarkRequest, RunPlan
from app.core.changes.revert import with_unrestored
from app.core.fio.error_messages import is_lasting
from app.core.fio.job import Job
from app.core.session.flag_files import STOP, SWEEP
from app.core.session.locks import hold_lock
from app.core.session.results import RunStatus
from app.core.session.sweep_record import (
    SweepArrayRefused,
    SweepEnded,
    SweepRecord,
    SweepResumed,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
)
from app.core.session.sweep_steps import Design, Step, StepResult, SweepCell, SweepResult
from app.core.workbench import Workbench
from app.features.sweep.engine.adaptive_steps import next_steps
from app.features.sweep.engine.array_lifecycle import ArrayLifecycle, ArrayRefusedError
from app.features.sweep.engine.cell_settings import (
    FeatureMissingError,
    activate_feature,
    apply_settings,
    deactivate_features,
    end_interrupted_changes,
    mismatch_text,
    restore,
)
from app.features.sweep.engine.live_log import LiveWriter
from app.features.sweep.engine.order import pause_before
from app.features.sweep.engine.targets import is_active
from backends.errors import BlockedError, DeviceGoneError, RaidbenchError, RefusedError, StorageError
from backends.host import shield_to_completion
from backends.identity import is_former, new_content
from backends.model import Controller

TOO_MANY_FAILURES = 3
"""Number of consecutive failed cells after which the sweep gives up."""

POLL_EVERY = 0.5
"""Seconds between two checks for a request to stop."""


class SweepRunner:
    """Runs the sweep of a workbench's session. A session has one sweep, and a sweep one runner."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._stopping = asyncio.Event()
        self._scratch: RunPlan | None = None
        self._arrays = ArrayLifecycle(bench, self._stopping)

    @property
    def record(self) -> SweepRecord:
        """The record of the sweep. Raises StorageError when the session has none."""
        record = self._bench.session.sweep
        if record is None:
            raise StorageError("This session has no sweep.")
        return record

    def stop(self) -> None:
        """Ask the sweep to stop: it interrupts the current run, restores all settings and ends. The interrupted run is
        repeated when the sweep is resumed.
        """
        self._stopping.set()
        self._bench.jobs.stop()

    def begin(self, design: Design) -> None:
        """Record the design.

        Raises RefusedError when the session has a sweep already, StorageError when it cannot be recorded.
        """
        if self._bench.session.sweep is not None:
            raise RefusedError(
                "This session already has a sweep.", hint="Continue it (--resume), or start another session."
            )
        SWEEP.create(self._bench.require_recording())
        self._bench.emit(SweepStarted(at=time.time(), design=design, pid=os.getpid()))

    async def resume(self) -> None:
        """Take over a sweep from another process, and record the end of its interrupted changes.

        Raises RefusedError when the sweep is finished or an array of it could not be deleted, RaidbenchError when the
        present state cannot be read.
        """
        if self.record.finished:
            raise RefusedError("This sweep is finished.", hint="Show its results with `raidbench attach`.")
        SWEEP.create(self._bench.require_recording())
        self._bench.emit(SweepResumed(at=time.time(), pid=os.getpid()))
        if self._makes_arrays and (
            left := await self._arrays.delete_created_arrays()
        ):  # these are arrays of interrupted steps; the next step creates its own
            raise RefusedError(" ".join(left), hint="Check the remaining changes with `raidbench recover`.")
        await end_interrupted_changes(self._bench)

    async def run_all(self) -> SweepRecord:
        """Run all remaining steps, restore all settings, and return the record with its end.

        An error other than RaidbenchError is raised after the settings were restored.
        """
        watching = asyncio.create_task(self._watch(), name="stop requests")
        forget = self._bench.subscribe(LiveWriter(self._bench.require_recording()).handle_event)
        result, reason = SweepResult.FAILED, "raidbench was interrupted."
        try:
            with self._exclusive_use():
                result, reason = await self._steps()
        except FeatureMissingError as error:
            result, reason = SweepResult.WAITING, error.full_text
        except RaidbenchError as error:
            reason = error.full_text
        except asyncio.CancelledError:
            result, reason = SweepResult.STOPPED, "The sweep was cancelled."
            raise
        except BaseException as error:
            reason = f"raidbench failed: {type(error).__name__}: {error}".rstrip(": ")
            raise
        finally:
            watching.cancel()
            forget()
            await shield_to_completion(asyncio.create_task(self._end(result, reason), name="putting back"))
        return self.record

    async def restore_and_stop(self) -> SweepRecord:
        """Restore the original values of settings that a process ended without restoring, and end the sweep.

        Raises the same errors as `resume`.
        """
        await self.resume()
        await self._end(SweepResult.STOPPED, "The settings were restored after an interruption.")
        return self.record

    @contextlib.contextmanager
    def _exclusive_use(self) -> Iterator[None]:
        """Lock everything that the sweep measures or sets. Raises RefusedError when another sweep has a lock."""
        design = self.record.design
        touched = {cell.where for cell in design.cells if cell.array is None}
        touched |= {str(original.target) for original in design.originals}
        if design.making is not None:
            touched |= {drive.serial or drive.place for drive in design.making.drives}
        with contextlib.ExitStack() as locks:
            for name in sorted(touched):
                locks.enter_context(hold_lock(self._bench.locks, f"sweep-{name}", f"sweep {design.title}"))
            yield

    async def _watch(self) -> None:
        """Watch for requests to stop from other processes."""
        folder = self._bench.require_recording()
        while not self._stopping.is_set():
            if STOP.exists_in(folder):
                self.stop()
            await asyncio.sleep(POLL_EVERY)

    async def _end(self, result: SweepResult, reason: str) -> None:
        left = await restore(self._bench, self.record)
        if self._makes_arrays:
            left += await self._arrays.delete_created_arrays()
        if self._scratch is not None:
            await self._bench.jobs.forget_scratch(self._scratch)
        left += await deactivate_features(self._bench, self.record)
        if left and result is SweepResult.FINISHED:
            result = SweepResult.FAILED
        try:
            self._bench.emit(SweepEnded(at=time.time(), result=result, reason=reason, left=left))
        except StorageError as error:
            raise with_unrestored(error, left) from error
        if not left:
            SWEEP.remove(self._bench.require_recording())

    async def _steps(self) -> tuple[SweepResult, str]:
        failures: set[str] = set()
        while not self._stopping.is_set():
            todo = self.record.todo
            if not todo:
                more = next_steps(self.record, self._bench.session.runs)
                if more is None:
                    return SweepResult.FINISHED, ""
                self._bench.emit(more)
                continue
            if not await self._ensure_array(todo[0]):
                continue
            ended = await self._step(todo[0])
            if ended.result is StepResult.STOPPED:
                return SweepResult.STOPPED, ended.reason or _ASKED
            if ended.again:
                continue
            cell = self.record.cell(todo[0].cell)
            of_array = self._makes_arrays and not self._arrays.usable
            name = (cell.array or cell.id) if of_array else cell.id  # all cells of a bad array count as one failure
            failures = {*failures, name} if ended.result is StepResult.FAILED else set()
            if len(failures) == TOO_MANY_FAILURES:
                return SweepResult.FAILED, f"{len(failures)} cells failed in a row: {ended.reason}"
        return SweepResult.STOPPED, _ASKED

    @property
    def _makes_arrays(self) -> bool:
        return self.record.design.making is not None

    async def _ensure_array(self, step: Step) -> bool:
        """Create the array of a step if it needs one; return whether the step can run. A refused array is recorded.

        Raises errors that end the sweep.
        """
        cell = self.record.cell(step.cell)
        if cell.array is None:
            return True
        try:
            await self._arrays.ensure_array(step, cell)
        except ArrayRefusedError as refused:
            self._bench.emit(SweepArrayRefused(at=time.time(), array=cell.array, reason=refused.full_text))
            return False
        return not self._stopping.is_set()

    async def _step(self, step: Step) -> SweepStepEnded:
        """Run one step, and return the event with its result, which is also recorded.

        Raises errors that end the sweep: a lost device, a missing feature, or a session that cannot be written.
        """
        end = self._end_of_complete_run(step)
        if end is not None and await self._changed_settings_text(self.record.cell(step.cell)):
            end = None  # measure again: the settings differ now, and may have changed during that run
        if end is None:
            self._bench.emit(SweepStepStarted(at=time.time(), step=step.number))
            end = await self._measure_step(step)
            if self._stopping.is_set() or self.record.was_tried(step):
                end = replace(end, again=False)
        self._bench.emit(end)
        return end

    def _end_of_complete_run(self, step: Step) -> SweepStepEnded | None:
        """Return the end of a step whose run was completed before a crash that prevented the end from being logged;
        None for other steps.
        """
        current = self.record.current
        if current is None or current.step.number != step.number or current.run is None:
            return None
        run = self._bench.session.run(current.run)
        if run is None or run.end is None or run.figures.status is not RunStatus.OK:
            return None
        return SweepStepEnded(at=time.time(), step=step.number, result=StepResult.DONE, run=run.id)

    async def _measure_step(self, step: Step) -> SweepStepEnded:
        cell = self.record.cell(step.cell)
        try:
            if cell.array is not None:
                cell = self._arrays.resolve_cell(cell)
            otherwise = await self._prepare_machine(cell)
            ready = await self._make_run_plan(cell)
            await self._rest(step, cell)
            if self._stopping.is_set():
                return _step_end(step, StepResult.STOPPED, reason=_ASKED)
            if why := await mismatch_text(self._bench, cell.settings):
                return _step_end(
                    step, StepResult.FAILED, reason=f"{why}: the value was changed before the run.", again=True
                )
            run = await self._bench.jobs.measure(ready, confirm=self._confirmation(ready, cell))
        except (DeviceGoneError, StorageError, FeatureMissingError):
            raise
        except RaidbenchError as error:
            return _step_end(step, StepResult.FAILED, reason=error.full_text)
        match run.figures.status:
            case RunStatus.OK if cell.array is not None and (why := await self._arrays.disturbance()):
                return _step_end(step, StepResult.FAILED, run=run.id, reason=why, again=True)
            case RunStatus.OK if why := await self._changed_settings_text(cell):
                return _step_end(step, StepResult.FAILED, run=run.id, reason=why, again=True)
            case RunStatus.OK:
                return _step_end(step, StepResult.DONE, run=run.id, reason=otherwise)
            case RunStatus.STOPPED:
                by_itself = "" if self._stopping.is_set() else run.figures.reason
                self.stop()
                return _step_end(step, StepResult.STOPPED, run=run.id, reason=by_itself or _ASKED)
            case RunStatus.FAILED | RunStatus.RUNNING:  # a run without an end here lost its end
                why = run.figures.reason or ""
                return _step_end(step, StepResult.FAILED, run=run.id, reason=why, again=not is_lasting(why))

    async def _changed_settings_text(self, cell: SweepCell) -> str:
        """Return a message that names the settings of a cell that changed during its run; "" if none changed."""
        try:
            why = await mismatch_text(self._bench, cell.settings)
        except RaidbenchError as error:
            return f"The settings could not be read at the end of the run: {error.full_text}"
        return f"{why}: the value was changed during the run, so the result does not count for the cell." if why else ""

    async def _prepare_machine(self, cell: SweepCell) -> str:
        """Activate the features of a cell and apply its settings; return a message about values that are set but not
        effective, "" if there are none.
        """
        for feature in self.record.design.features:
            if feature.name not in cell.needs:
                continue
            device = self._bench.session.inventory.find(str(feature.target))
            if isinstance(device, Controller) and not is_active(device, feature.name):
                left = await restore(self._bench, self.record)
                if left:
                    raise RaidbenchError(" ".join(left))
                await activate_feature(self._bench, feature)
        return " ".join(await apply_settings(self._bench, cell.settings, self._stopping))

    async def _make_run_plan(self, cell: SweepCell) -> RunPlan:
        where, name = cell.where, cell.where
        device = self._bench.session.inventory.find(cell.where)
        if device is not None:
            if isinstance(device, Controller) or device.device is None:
                raise BlockedError(f"{cell.where} has no block device to measure.")
            where, name = device.device, str(device.target)
        job = Job.from_fields(cell.job)
        wanted = {(setting.target, setting.key) for setting in cell.settings}
        declared = {target: self._bench.hardware.settings(target) for target, _ in wanted}
        new_data = any(setting.new_data for target, key in wanted for setting in declared[target] if setting.key == key)
        request = BenchmarkRequest(
            where=where, name=name, job=job, profile=cell.profile, again=not new_data, length_agreed=True
        )
        ready = await self._bench.jobs.prepare(request)
        ready.require_allowed()
        if ready.only.scratch is not None:
            self._scratch = ready
        return ready

    def _confirmation(self, ready: RunPlan, cell: SweepCell) -> str | None:
        """Return the confirmation token that the run needs; None if it needs none. The user has confirmed the whole
        sweep before.

        Raises RefusedError when the confirmation did not include this device, or the device has new content.
        """
        if not ready.destructive or (cell.array is not None and all(map(is_former, ready.content))):
            return ready.confirm_text
        agreed = next(
            (device.found for device in self.record.design.destroys if device.device == ready.only.device), None
        )
        making = self.record.design.making
        if making is not None and cell.array is not None and making.array(cell.array).is_single_drive:
            agreed = making.drives[0].lies
        if agreed is None and ready.content:
            raise RefusedError(f"Overwriting {ready.only.device} was not confirmed: {'; '.join(ready.content)}.")
        if agreed is not None and (new := new_content(ready.content, agreed)):
            raise RefusedError(f"{ready.only.device} contains data that was not there before: {'; '.join(new)}.")
        return ready.confirm_text

    async def _rest(self, step: Step, cell: SweepCell) -> None:
        """Wait before the run of a step until the effects of the previous run on the device have worn off. Do not wait
        on a simulated host.
        """
        if not self._bench.host.capabilities.live:
            return
        await wait_for_stop(self._stopping, pause_before(step, cell, self.record.design))


_ASKED = "A stop was requested."


def _step_end(
    step: Step, result: StepResult, *, run: str | None = None, reason: str = "", again: bool = False
) -> SweepStepEnded:
    return SweepStepEnded(at=time.time(), step=step.number, result=result, run=run, reason=reason, again=again)


async def restore_and_stop(bench: Workbench) -> tuple[str, ...]:
    """Restore the settings of the open session's sweep; return a message for each that could not be restored."""
    record = await SweepRunner(bench).restore_and_stop()
    return () if record.end is None else record.end.left
