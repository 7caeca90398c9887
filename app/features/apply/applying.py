"""Makes a machine what a file says: planned as one set, made step by step, taken back where one step fails."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import field

from app.core.changes.trial import require_triable
from app.core.session.events import ChangeEnded
from app.core.workbench import Workbench
from app.features.apply.drift import DesiredState, Drift, DriftKind, DriftScan
from app.features.apply.settings_file import DesiredFile
from backends.change import Change
from backends.device_label import DeviceLabel
from backends.errors import BlockedError, RaidbenchError, RefusedError
from backends.model import Target
from backends.protocol import PersistRule
from backends.settings import Effect, Persistence, Risk, worst
from backends.text import clean
from backends.values import dataclass

_HARMLESS = (Risk.NONE, Risk.PERFORMANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistRuleRef:
    """A file that keeps values of a target over a reboot."""

    target: Target
    """Of what."""
    values: Mapping[str, str]
    """Which."""
    rule: PersistRule
    """The file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredPlan:
    """All that would be done, as one set."""

    changes: tuple[Change, ...] = ()
    """In their order; what is so already is not among them."""
    keeps: tuple[PersistRuleRef, ...] = ()
    """Files that are written afterwards."""
    risk: Risk = Risk.NONE
    """The worst of all."""
    plates: tuple[DeviceLabel, ...] = ()
    """Devices on which a risk is taken, each of which the file confirms."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changes and not self.keeps


Place = tuple[Target, str]
"""A target and the key of one of its settings."""

PlanMore = Callable[[Collection[Place]], Awaitable[DesiredPlan | None]]
"""Plans what can be set once these settings are, None for nothing. Raises RaidbenchError: the set is taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """What became of one step of the set."""

    change: Change
    """The step."""
    ended: ChangeEnded
    """How it ended."""
    back: ChangeEnded | None = None
    """How taking it back ended, where that was done."""
    stuck: str = ""
    """Why it could not be taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyResult:
    """What became of the whole set."""

    steps: tuple[StepOutcome, ...] = ()
    """Those that were begun, in their order."""
    left: tuple[Change, ...] = ()
    """Those that were not."""
    trouble: RaidbenchError | None = None
    """What stopped it, where that was no mere value that did not take."""
    kept: tuple[PersistRuleRef, ...] = ()
    """Files that were written."""
    unkept: Mapping[str, str] = field(default_factory=dict)
    """Why others were not, by target."""

    @property
    def well(self) -> bool:
        """Whether all of it was made and verified."""
        made = all(step.ended.result == "verified" and step.back is None and not step.stuck for step in self.steps)
        return made and not self.left and self.trouble is None and not self.unkept


async def plan_set(bench: Workbench, state: DesiredState, *, persist: bool, trial: float | None) -> DesiredPlan:
    """What would be done; changes nothing.

    Raises RefusedError for a risk that the file does not confirm, for what cannot be tried where a trial is wanted and
    for a card on which one is undecided; what planning raised.
    """
    if state.trouble is not None:
        raise state.trouble
    changes = state.changes
    for change in changes:
        _require_allowed(change)
        if trial is not None:
            require_triable(change)
    _require_free(bench, changes, trial)
    keeps = await _plan_rules(bench, state) if persist else ()
    return DesiredPlan(
        changes=changes,
        keeps=keeps,
        risk=worst(change.risk for change in changes),
        plates=await _require_confirmed(bench, state, changes),
    )


async def plan_rest(
    bench: Workbench, file: DesiredFile, made: Collection[Place]
) -> tuple[tuple[Drift, ...], DesiredPlan | None]:
    """Look again once a set is made; return what it does not set, and what can be set by now and could not before.

    `made`: what was set already, which is not set to and fro. Raises as `DriftScan.look` and `plan_set`.
    """
    state = await DriftScan(bench, file).look()
    if all(_place_of(change) in made for change in state.changes):
        return state.drifts, None
    plan = await plan_set(bench, state, persist=file.persist, trial=None)
    return state.unsettable(), plan


def _require_allowed(change: Change) -> None:
    """The last line: whatever the settings declare, no plan of a file destroys data."""
    if change.risk is Risk.DESTROYS_DATA or change.effect in (Effect.RECREATED, Effect.RESHAPE):
        raise RefusedError(
            f"{change.label} of {change.target} would destroy data or lay them out anew: no file does that.",
            hint=f"By hand: raidbench set {change.target} {change.key}={clean(change.after, 60)}",
        )


def _require_free(bench: Workbench, changes: Sequence[Change], trial: float | None) -> None:
    """One undecided trial a controller and disk: refused before anything is set."""
    for other in bench.changes.journal.trials():
        owner = bench.changes.controller_of(other.change.target)
        for change in changes:
            same = other.change.target == change.target or other.change.shares_lock(change)
            card = trial is not None and owner is not None and bench.changes.controller_of(change.target) == owner
            if same or card:
                raise RefusedError(
                    f"{other.change.label} of {other.change.target} is on trial still: {change.target} has to wait.",
                    hint="Decide the trial first: `raidbench keep`, or `u` in the workbench.",
                )


async def _require_confirmed(
    bench: Workbench, state: DesiredState, changes: Sequence[Change]
) -> tuple[DeviceLabel, ...]:
    """Devices on which a risk is taken. Raises RefusedError for one that the file does not mean by its word."""
    plates: dict[Target, DeviceLabel] = {}
    for change in changes:
        if change.risk in _HARMLESS or change.target in plates:
            continue
        plate = await bench.hardware.device_label(change.target)
        if plate.word not in state.confirms.get(change.target, ()):
            raise RefusedError(
                f"{change.label} of {change.target} to {clean(change.after, 60)} risks data or service, and the file"
                f" does not confirm it. {plate.sentence}",
                hint=f'Its table in the file wants: confirm = "{plate.word}"',
            )
        plates[change.target] = plate
    return tuple(plates.values())


async def _plan_rules(bench: Workbench, state: DesiredState) -> tuple[PersistRuleRef, ...]:
    """Files that would keep what a reboot loses, of those that are not there as they should be."""
    refs: list[PersistRuleRef] = []
    last: dict[str, PersistRule] = {}
    for target, values in state.values.items():
        declared = {setting.key: setting for setting in bench.hardware.settings(target)}
        lost = {key: value for key, value in values.items() if declared[key].persistence is not Persistence.STORED}
        if not lost:
            continue
        try:
            rule = await bench.keeping.plan_rule(target, lost)
            if rule.path in last:
                rule = rule.following(last[rule.path])
        except BlockedError:
            continue
        last[rule.path] = rule
        if rule.changes:
            refs.append(PersistRuleRef(target=target, values=lost, rule=rule))
    return tuple(refs)


async def unsaved_differences(bench: Workbench, state: DesiredState) -> tuple[Drift, ...]:
    """What is set and a reboot would lose, as differences."""
    return tuple(
        Drift(kind=DriftKind.NOT_KEPT, target=ref.target, why=f"{ref.rule.path} does not hold it yet")
        for ref in await _plan_rules(bench, state)
    )


async def apply_set(
    bench: Workbench,
    plan: DesiredPlan,
    *,
    trial: float | None,
    keep_going: bool,
    asked_to_stop: Callable[[], bool] = lambda: False,
    plan_more: PlanMore | None = None,
) -> ApplyResult:
    """Make it. The session is open and knows the inventory.

    The first step that is not verified ends the set, and what was done is taken back, newest first; with `keep_going`
    the rest is made all the same and nothing is taken back. Files that keep values are written when all else is well.
    `plan_more`: asked for what can be set by now and could not before, once all is set; it belongs to the same set.
    """
    before = {record.id for record in bench.session.changes}
    steps: list[StepOutcome] = []
    planned = plan.changes
    waiting = list(planned)
    trouble: RaidbenchError | None = None
    stopped = False
    while waiting and not stopped:
        begun = len(steps)
        try:
            async with aclosing(bench.changes.apply_all(waiting, trial=trial)) as outcomes:
                async for change, ended in outcomes:
                    steps.append(StepOutcome(change=change, ended=ended))
                    stopped = asked_to_stop() or (ended.result != "verified" and not keep_going)
                    if stopped:
                        break
        except RaidbenchError as error:
            trouble = error
            if not keep_going:
                break
            begun -= 1  # the one that was refused is passed over
        del waiting[: len(steps) - begun]
        well = trouble is None and not stopped and all(step.ended.result == "verified" for step in steps)
        if not waiting and well and plan_more is not None:
            try:
                more = await plan_more({_place_of(change) for change in planned})
            except RaidbenchError as error:
                trouble, more = error, None
            if more is not None:
                plan = more
                planned += more.changes
                waiting = list(more.changes)
    failed = trouble is not None or any(step.ended.result != "verified" for step in steps)
    if failed and not keep_going:
        steps = await _undo_changes(bench, steps, before)
    elif not failed and not stopped:
        kept, unkept = await _write_rules(bench, plan.keeps)
        return ApplyResult(steps=tuple(steps), left=tuple(waiting), kept=kept, unkept=unkept)
    places = {_place_of(step.change) for step in steps}
    left = tuple(change for change in planned if _place_of(change) not in places)
    return ApplyResult(steps=tuple(steps), left=left, trouble=trouble)


def _place_of(change: Change) -> Place:
    return change.target, change.key


async def _undo_changes(bench: Workbench, steps: Sequence[StepOutcome], before: Collection[str]) -> list[StepOutcome]:
    """All that the session has in force since, newest first, also what was begun and whose end nobody told.

    What cannot be taken back is told, and the rest is taken back all the same.
    """
    outcomes: list[StepOutcome] = []
    at: dict[str, int] = {}
    for step in steps:  # one that was lost at the end is told twice
        if step.ended.id in at:
            outcomes[at[step.ended.id]] = step
            continue
        if step.ended.was_set:
            at[step.ended.id] = len(outcomes)
        outcomes.append(step)
    for record in reversed(bench.session.changes):
        if record.id in before or not record.in_force:
            continue
        back, stuck = None, ""
        try:
            back = await bench.changes.undo(record.id)
            stuck = "" if back.is_reverted else back.message or back.result
        except RaidbenchError as error:
            stuck = error.message
        ended = record.end or ChangeEnded(at=time.time(), id=record.id, result="failed", now=None, message="cut short")
        step = StepOutcome(change=record.change, ended=ended, back=back, stuck=stuck)
        if record.id in at:
            outcomes[at[record.id]] = step
        else:
            outcomes.append(step)
    return outcomes


async def _write_rules(
    bench: Workbench, keeps: Sequence[PersistRuleRef]
) -> tuple[tuple[PersistRuleRef, ...], dict[str, str]]:
    done, failed = [], {}
    for keep in keeps:
        try:
            await bench.keeping.install_rule(keep.target, keep.rule, keep.values)
            done.append(keep)
        except RaidbenchError as error:
            failed[str(keep.target)] = error.message
    return tuple(done), failed
