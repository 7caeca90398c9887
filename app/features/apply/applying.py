"""Applies the changes of a settings file as one set: plans them, makes them in order, and undoes them if one fails."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import field, replace

from app.core.changes.persistence import PlannedRule
from app.core.changes.trial import require_triable
from app.core.session.events import ChangeEnded
from app.core.workbench import Workbench
from app.features.apply.drift import DESTRUCTIVE_EFFECTS, DesiredState, Drift, DriftKind, DriftScan
from app.features.apply.settings_file import DesiredFile
from backends.change import Change
from backends.device_label import DeviceLabel
from backends.errors import BlockedError, RaidbenchError, RefusedError
from backends.model import Target
from backends.protocol import PersistRule
from backends.settings import Persistence, Risk, worst
from backends.text import clean
from backends.values import dataclass

_HARMLESS = (Risk.NONE, Risk.PERFORMANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredPlan:
    """All changes that a settings file needs, planned as one set."""

    changes: tuple[Change, ...] = ()
    """Changes in the order in which they are made. A setting that already has its value needs no change."""
    keeps: tuple[PlannedRule, ...] = ()
    """Files, written after the changes, that make values persist across reboots."""
    risk: Risk = Risk.NONE
    """The highest risk of all changes."""
    plates: tuple[DeviceLabel, ...] = ()
    """Labels of the devices with a risky change. The settings file contains the confirmation token of each."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changes and not self.keeps


Place = tuple[Target, str]
"""A target and the key of one of its settings."""

PlanMore = Callable[[Collection[Place]], Awaitable[DesiredPlan | None]]
"""Function that is called with the settings that were set, and plans the changes that became possible as a result.

It returns None if no change became possible. It raises RaidbenchError if all changes of the set must be undone.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """The result of one step of the set."""

    change: Change
    """The change that the step made."""
    ended: ChangeEnded
    """The recorded end of the change."""
    back: ChangeEnded | None = None
    """The recorded end of the change's undo; None if the change was not undone."""
    stuck: str = ""
    """The reason why the change could not be undone; "" otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyResult:
    """The result of applying a set."""

    steps: tuple[StepOutcome, ...] = ()
    """Steps that were started, in order."""
    left: tuple[Change, ...] = ()
    """Changes of the set that were not started."""
    trouble: RaidbenchError | None = None
    """The error that stopped the set; None if there was none. A step whose value was not verified does not count as an
    error here.
    """
    kept: tuple[PlannedRule, ...] = ()
    """The written files that make values persist across reboots."""
    unkept: Mapping[str, str] = field(default_factory=dict)
    """Reasons why other files that make values persist were not written, by target."""

    @property
    def is_complete(self) -> bool:
        """Whether every step was made and verified and every file was written."""
        made = all(step.ended.result == "verified" and step.back is None and not step.stuck for step in self.steps)
        return made and not self.left and self.trouble is None and not self.unkept


async def plan_set(bench: Workbench, state: DesiredState, *, persist: bool, trial: float | None) -> DesiredPlan:
    """Return the plan of all changes that make the machine match the settings file. Nothing is changed yet.

    Raises RefusedError when the file does not confirm a risk, when `trial` is set and a change cannot be made on trial,
    or when another trial on the same controller or disk is undecided. Raises the error of a change that could not be
    planned.
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
    """Scan again after a set of changes. Return the remaining differences, and a plan for changes that have become
    possible.

    The plan is None if no change became possible. `made` contains the settings that were set before; they are not set
    twice. Raises the errors of `DriftScan.look` and `plan_set`.
    """
    state = await DriftScan(bench, file).look()
    if all(_place_of(change) in made for change in state.changes):
        return state.drifts, None
    plan = await plan_set(bench, state, persist=file.persist, trial=None)
    return state.unsettable(), plan


def _require_allowed(change: Change) -> None:
    """Raise RefusedError for a change that destroys data. `DriftScan` has checked only the declared setting, not the
    planned change.
    """
    if change.risk is Risk.DESTROYS_DATA or change.effect in DESTRUCTIVE_EFFECTS:
        raise RefusedError(
            f"Changing {change.label} of {change.target} would destroy data or change its layout. A settings file"
            " cannot do that.",
            hint=f"Set it manually: raidbench set {change.target} {change.key}={clean(change.after, 60)}",
        )


def _require_free(bench: Workbench, changes: Sequence[Change], trial: float | None) -> None:
    """Raise RefusedError, before anything is set, when another trial on the same controller or disk is undecided."""
    for other in bench.changes.journal.trials():
        owner = bench.changes.controller_of(other.change.target)
        for change in changes:
            same_setting = other.change.target == change.target or other.change.shares_lock(change)
            same_owner = trial is not None and owner is not None and bench.changes.controller_of(change.target) == owner
            if same_setting or same_owner:
                raise RefusedError(
                    f"A trial of {other.change.label} of {other.change.target} is still running, so {change.target}"
                    " cannot be changed yet.",
                    hint="Confirm or revert the trial first: `raidbench keep`, or press u in the workbench.",
                )


async def _require_confirmed(
    bench: Workbench, state: DesiredState, changes: Sequence[Change]
) -> tuple[DeviceLabel, ...]:
    """Return the labels of devices with a risky change. Raises RefusedError when the file lacks the token of such a
    device.
    """
    plates: dict[Target, DeviceLabel] = {}
    for change in changes:
        if change.risk in _HARMLESS or change.target in plates:
            continue
        plate = await bench.hardware.device_label(change.target)
        if plate.token not in state.confirms.get(change.target, ()):
            raise RefusedError(
                f"Changing {change.label} of {change.target} to {clean(change.after, 60)} risks data or service, and"
                f" the file does not confirm it. {plate.sentence}",
                hint=f'Add to its table in the file: confirm = "{plate.token}"',
            )
        plates[change.target] = plate
    return tuple(plates.values())


async def _plan_rules(bench: Workbench, state: DesiredState) -> tuple[PlannedRule, ...]:
    """Return the files to write so that settings persist across reboots; omit files that are already correct."""
    rules: list[PlannedRule] = []
    last: dict[str, PersistRule] = {}
    for target, values in state.values.items():
        declared = {setting.key: setting for setting in bench.hardware.settings(target)}
        volatile = {key: value for key, value in values.items() if declared[key].persistence is not Persistence.STORED}
        if not volatile:
            continue
        try:
            for planned in await bench.keeping.plan_rules(target, volatile):
                path = planned.rule.path
                rule = planned.rule.after(last[path]) if path in last else planned.rule
                last[path] = rule
                if rule.changes:
                    rules.append(replace(planned, rule=rule))
        except BlockedError:
            continue
    return tuple(rules)


async def unsaved_differences(bench: Workbench, state: DesiredState) -> tuple[Drift, ...]:
    """Return, as differences, the settings that have the wanted value but would lose it at a reboot."""
    return tuple(
        Drift(kind=DriftKind.NOT_KEPT, target=planned.target, why=f"{planned.rule.path} does not contain it yet")
        for planned in await _plan_rules(bench, state)
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
    """Make the changes of a plan and return the result. The session must be open and have an inventory.

    The first step that is not verified ends the set, and the steps before it are undone, newest first. With
    `keep_going`, the other steps are made and nothing is undone. Files that persist values are written only if every
    step is verified. `plan_more` is called once all changes are made. The changes that it returns are made as part of
    the same set.
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
            begun -= 1  # skip the change that was refused
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
    """Undo all changes of the session that are in force, except those with an id in `before`, newest first. Return the
    outcomes of `steps` with the undos.

    This includes a change that was started but whose end is not recorded. If a change cannot be undone, its outcome
    contains the reason, and the other changes are still undone.
    """
    outcomes: list[StepOutcome] = []
    at: dict[str, int] = {}
    for step in steps:  # a step is reported twice if its device is lost at its end
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
    bench: Workbench, keeps: Sequence[PlannedRule]
) -> tuple[tuple[PlannedRule, ...], dict[str, str]]:
    done, failed = [], {}
    for keep in keeps:
        try:
            await bench.keeping.install_rule(keep.target, keep.rule, keep.values)
            done.append(keep)
        except RaidbenchError as error:
            failed[str(keep.target)] = error.message
    return tuple(done), failed
