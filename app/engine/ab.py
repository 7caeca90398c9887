"""One setting measured in pairs: as it is, and with another value; then it is put back."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from app.engine.change.changer import Changer
from app.engine.change.interrupted import forget_active, mark_active, open_experiments
from app.engine.judge.comparison import compare_experiment
from app.engine.judge.order import Letter, order, switches
from app.engine.judge.stats import STANDARD_PAIRS
from app.engine.measure.idle_wait import rest
from app.engine.measure.measurer import Preparation
from app.engine.session.events import ExperimentEnded, ExperimentMark, ExperimentStarted
from app.engine.session.figures import RunStatus
from app.engine.session.state import ChangeRecord, ExperimentRecord
from backends.change import Change
from backends.errors import BlockedError, InvalidValueError, RaidbenchError, RefusedError, StorageError
from backends.host import to_the_end
from backends.settings import Effect, Risk

if TYPE_CHECKING:
    from app.engine.workbench import Workbench

REST_SECONDS = 5.0
"""Idle time before each run, so that every run begins alike."""

MOST_PAIRS = 50
"""A hundred runs take a day."""

_INSTEAD = (
    "Measure it before and after with `raidbench bench --repeat 3`, make the change between, then `raidbench compare`: "
    "differences below 5 % are not judged that way."
)
_NOT_IN_TURN: dict[Effect, str] = {
    Effect.REBOOT: "takes effect after a reboot only",
    Effect.RESET: "takes effect after a reset only",
    Effect.RESHAPE: "takes hours of reshaping",
    Effect.RECREATED: "takes the array to be created anew",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AbPlan:
    """What will be done, for the question before it."""

    change: Change
    """From A to B; `undo` leads back."""
    ready: Preparation
    """The job, as of now."""
    order: tuple[Letter, ...]
    """Letters in the order of the runs."""
    rest_seconds: float
    """Idle time before each run."""

    @property
    def pairs(self) -> int:
        """How many."""
        return len(self.order) // 2

    @property
    def switches(self) -> int:
        """How often the setting is set, putting it back included."""
        return switches(self.order)

    @property
    def seconds(self) -> float:
        """Estimated time of all runs and pauses; laying out a file and slow tools come on top."""
        return len(self.order) * (self.ready.job.ramp + self.ready.job.runtime + self.rest_seconds)


def plan_ab(
    change: Change,
    ready: Preparation,
    *,
    pairs: int = STANDARD_PAIRS,
    rest_seconds: float = REST_SECONDS,
    random: Random | None = None,
) -> AbPlan:
    """The plan of an experiment; the first letter is drawn.

    Raises InvalidValueError (there is nothing to compare), RefusedError (it cannot be set back and forth).
    """
    if not 1 <= pairs <= MOST_PAIRS:
        raise InvalidValueError(f"{pairs} pairs: 1 to {MOST_PAIRS} can be measured.", hint="6 pairs are usual.")
    if change.before == change.after:
        raise InvalidValueError(
            f"{change.label} of {change.target} is {change.after} already.", hint="Name the value to try against it."
        )
    what = f"{change.label} of {change.target}"
    if change.risk is Risk.DESTROYS_DATA:
        raise RefusedError(f"{what} cannot be set back and forth: setting it destroys data.", hint=_INSTEAD)
    if change.effect is not Effect.AT_ONCE:
        raise RefusedError(f"{what} cannot be set back and forth: it {_NOT_IN_TURN[change.effect]}.", hint=_INSTEAD)
    if change.before is None or not change.undo:
        raise RefusedError(f"{what} cannot be set back and forth: its value now is not known.", hint=_INSTEAD)
    return AbPlan(change=change, ready=ready, order=order(pairs, random or Random()), rest_seconds=rest_seconds)


class AbExperiment:
    """Runs a plan. However it ends, the setting is put back before it does."""

    def __init__(self, bench: Workbench, changer: Changer, plan: AbPlan, *, confirm: str | None = None) -> None:
        """`confirm`: what was typed for a job that overwrites a device."""
        self._bench = bench
        self._changer = changer
        self._plan = plan
        self._confirm = confirm
        self._stop = asyncio.Event()
        self._id = f"e{len(bench.session.experiments) + 1}"
        self._changes_before = len(bench.session.changes)
        self._taken_back = 0
        self._scratch: Preparation | None = None
        self._values: dict[str, str | None] = {}
        self._moved: dict[str, str] = {}

    def stop(self) -> None:
        """End it early: no further run begins."""
        self._stop.set()

    async def run(self) -> ExperimentRecord:
        """All runs, or as many as it comes to; the session has them with how it ended.

        Raises StorageError when that cannot be recorded.
        """
        self._values = await self._read()
        mark_active(self._bench.need_recording())
        self._bench.emit(self._started())
        status, reason = RunStatus.STOPPED, "it was interrupted"
        try:
            status, reason = await self._measure()
        except RaidbenchError as error:
            status, reason = RunStatus.FAILED, " ".join(filter(None, (error.message, error.hint)))
        finally:
            await to_the_end(asyncio.create_task(self._end(status, reason), name="restore"))
        record = self._bench.session.experiment(self._id)
        if record is None:
            raise StorageError("The experiment is over, but the session does not have it.")
        return record

    def _started(self) -> ExperimentStarted:
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
            measured=ready.request.name if ready.scratch is None else str(ready.scratch.path),
            rest_seconds=plan.rest_seconds,
        )

    async def _measure(self) -> tuple[RunStatus, str]:
        for number, letter in enumerate(self._plan.order):
            await self._switch(letter)
            quiet = await rest(self._bench.host, self._plan.ready.device, self._plan.rest_seconds, self._stop)
            if self._stop.is_set():
                return RunStatus.STOPPED, "it was stopped"
            ended = await self._run(number, letter, quiet=quiet)
            if ended is not None:
                return ended
        return RunStatus.OK, ""

    async def _run(self, number: int, letter: Letter, *, quiet: bool) -> tuple[RunStatus, str] | None:
        """One run; status and reason if the experiment ends with it."""
        last = number == len(self._plan.order) - 1
        again = await self._bench.prepare(replace(self._plan.ready.request, again=not last))
        ready = again.confirmed_with(self._plan.ready)
        notes = ready.notes if quiet else (*ready.notes, "The device was not at rest before this run.")
        mark = ExperimentMark(experiment=self._id, letter=letter, pair=number // 2 + 1)
        self._scratch = ready
        record = await self._bench.measure(replace(ready, mark=mark, notes=notes), confirm=self._confirm)
        figures = record.figures
        if figures.status is RunStatus.OK:
            return None
        if figures.status is RunStatus.STOPPED:
            return RunStatus.STOPPED, f"{record.id} was stopped"
        return RunStatus.FAILED, f"{record.id} failed: {figures.reason or 'no reason given'}"

    async def _switch(self, letter: Letter) -> None:
        """Bring the letter's value about. Raises RaidbenchError unless it reads back."""
        if letter == "A":
            await self._back()
        elif not any(record.in_force for record in self._own()):
            ended = await self._changer.apply(self._plan.change)
            if ended.result != "verified":
                raise BlockedError(f"{self._plan.change.label} was not set: {ended.message or ended.result}.")

    def _own(self) -> tuple[ChangeRecord, ...]:
        """What this experiment has set, oldest first.

        By the session, not by what `apply` returned: when it is cancelled it sets the value and returns nothing.
        """
        change = self._plan.change
        return tuple(
            record
            for record in self._bench.session.changes[self._changes_before :]
            if (record.change.target, record.change.key) == (change.target, change.key) and record.intent.undoes is None
        )

    async def _back(self) -> None:
        """The value of before, and of what moved along with it. Raises RaidbenchError unless it reads back."""
        own = self._own()
        if len(own) == self._taken_back:
            return
        for record in reversed(own):
            if record.in_force:
                ended = await self._changer.undo(record)
                if ended.result not in ("verified", "restored", "gone"):
                    raise BlockedError(f"{self._plan.change.label} was not put back: {ended.message or ended.result}.")
        await self._back_along(own[-1].id)
        self._taken_back = len(own)

    async def _back_along(self, change_id: str) -> None:
        """Some settings move along with another one, and do not move back."""
        change = self._plan.change
        for key, now in (await self._read()).items():
            before = self._values.get(key)
            if key == change.key or before is None or now is None or now == before:
                continue
            self._moved[key] = f"{before} -> {now}"
            planned = await self._bench.machine.setter(change.target).plan(change.target, key, before)
            if planned.effect is not Effect.AT_ONCE or planned.risk is Risk.DESTROYS_DATA:
                raise BlockedError(f"{planned.label} moved along from {before} to {now}, and is not put back.")
            ended = await self._changer.apply(planned, undoes=change_id)
            if ended.result != "verified":
                raise BlockedError(f"{planned.label} moved along and was not put back: {ended.message}.")

    async def _read(self) -> dict[str, str | None]:
        readings = await self._bench.read(self._plan.change.target)
        return {key: reading.now for key, reading in readings.items() if reading.availability.available}

    async def _end(self, status: RunStatus, reason: str) -> None:
        restored = True
        try:
            await self._back()
        except RaidbenchError as error:
            restored = False
            reason = " ".join(filter(None, (reason, error.message, error.hint)))
            status = RunStatus.FAILED
        finally:
            if status is not RunStatus.OK and self._scratch is not None and not self._scratch.request.keep:
                await self._bench.forget_scratch(self._scratch)
            shown = compare_experiment(self._bench.session, self._id)
            self._bench.emit(
                ExperimentEnded(
                    at=time.time(),
                    id=self._id,
                    status=status,
                    restored=restored,
                    reason=reason,
                    sentence="" if shown is None else shown.sentence,
                    moved=self._moved,
                )
            )
            if not open_experiments(self._bench.session):
                forget_active(self._bench.need_recording())
