"""Stages values, confirms, applies and verifies changes, and undoes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.screen import Screen

from app.core.changes.trial import trial_refusal_reason
from app.core.presentation import change as view
from app.core.presentation.risk_text import (
    SETTING,
    WAITS,
    ConfirmationLevel,
    confirmation_level,
    effect_text,
    kept_text,
    outcome_cell,
    risk_cell,
)
from app.core.presentation.table import Cell
from app.core.session.unit_labels import within_sentence
from backends.change import Change
from backends.device_label import DeviceLabel, confirm_token
from backends.display_names import name_of
from backends.errors import RaidbenchError
from backends.model import Controller, Device, Inventory, Target
from backends.settings import Reading, Risk, Setting, worst
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.confirm import Confirmation, ConfirmDialog, PlannedChange, named_or_counted
from widgets.confirm import Tier as DialogTier
from widgets.field_dialog import NumberDialog, NumberSpan, TextDialog
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.session.events import ChangeEnded
    from app.tui.app_interface import AppInterface
    from app.tui.devices.settings_panel import SettingsPanel

# -- dialogs to choose a value ----------------------------------------------------------------------------------------


def value_dialog(setting: Setting, reading: Reading, value: str | None) -> Screen[str | None]:
    """Return the list of legal values, or a field for a number or text. It starts with the staged or current value."""
    if reading.choices:
        return ChoiceDialog(setting.label, _items(setting, reading), value)
    help = setting.with_help(setting.help)
    if reading.span is None:
        return TextDialog(setting.label, help=help, secret=setting.secret)
    span = reading.span
    numbers = NumberSpan(minimum=span.minimum, maximum=span.maximum, step=span.step, unit=span.unit or setting.unit)
    return NumberDialog(setting.label, numbers, value or "", help=help)


def _items(setting: Setting, reading: Reading) -> tuple[ChoiceItem, ...]:
    return tuple(
        ChoiceItem(
            value=choice.value,
            label=choice.label,
            help=setting.with_help(choice.help or setting.help),
            risk="" if choice.risk is Risk.NONE else risk_cell(choice.risk).text,
        )
        for choice in reading.choices
    )


# -- content of the review dialog -------------------------------------------------------------------------------------

TIERS: Mapping[ConfirmationLevel, DialogTier] = {
    ConfirmationLevel.HARMLESS: "harmless",
    ConfirmationLevel.RISKY: "risky",
    ConfirmationLevel.DESTRUCTIVE: "destructive",
}
"""Names of the confirmation levels in the dialog."""


def confirmation(
    changes: tuple[Change, ...],
    labels: Mapping[Target, DeviceLabel],
    *,
    title: str = "",
    trial_label: str = "",
    names: Mapping[Target, str] = MappingProxyType({}),
) -> Confirmation:
    """Return the content of the review dialog. `labels`: device labels of the targets. `names`: names in the list.

    `title`: "" for "Apply ... to ...". `trial_label`: label of the button that starts a trial; "" for none.
    """
    targets = sorted({_name_and_address(change.target, names) for change in changes})
    count = units.plural(len(changes), "change")
    commands = tuple(
        tuple(write.argv) if write.path is None else write.shown() for change in changes for write in change.writes
    )
    return Confirmation(
        title=title or f"Apply {count} to {named_or_counted(targets, 'device')}",
        tier=TIERS[confirmation_level(worst(change.risk for change in changes))],
        devices=tuple(
            dict.fromkeys(
                labels[change.target].sentence
                for change in changes
                if confirmation_level(change.risk) is not ConfirmationLevel.HARMLESS
            )
        ),
        summary=" ".join((*view.dependents_texts(changes), *view.side_effect_texts(changes))),
        changes=tuple(_planned_change(change, names) for change in changes),
        commands=commands,
        risks=view.risk_texts(changes),
        required=confirm_token(
            labels[change.target]
            for change in changes
            if confirmation_level(change.risk) is ConfirmationLevel.DESTRUCTIVE
        ),
        trial_label=trial_label if not any(map(trial_refusal_reason, changes)) else "",
    )


def _name_and_address(target: Target, names: Mapping[Target, str]) -> str:
    """Return `ssd (megaraid:/c0/v1)`: the name in the list and the address."""
    return f"{names[target]} ({target})" if target in names else str(target)


def _planned_change(change: Change, names: Mapping[Target, str]) -> PlannedChange:
    return PlannedChange(
        setting=f"{change.label} of {names.get(change.target, str(change.target))}",
        before=view.old_text(change),
        after=view.new_text(change),
        effect=f"{effect_text(change.effect, change.target.scope)}, {kept_text(change.persistence)}",
        undo="; ".join(view.command_lines(change.undo)) or view.NOT_UNDOABLE,
    )


# -- plan, review, apply, verify and undo -----------------------------------------------------------------------------


def _target_and_key(change: Change) -> tuple[Target, str]:
    return change.target, change.key


TRIAL_ENDS_ON_EXIT = "This host is simulated: if you quit, the trial is reverted."
"""Note about a trial whose watchdog is raidbench itself, on a simulated host."""


class ChangeController:
    """Reviews, applies and undoes changes. Writes run in workers of the app, in a group that nothing cancels."""

    def __init__(self, app: AppInterface, panel: SettingsPanel, changed: Callable[[tuple[Change, ...]], None]) -> None:
        """`panel` shows the outcome of each setting. `changed` scans the devices that changes may have affected."""
        self._app = app
        self._panel = panel
        self._changed = changed

    async def review(self) -> None:
        """Plan all staged changes, show them, and apply them after confirmation."""
        try:
            changes = await self._plan_staged()
        except RaidbenchError as error:
            self._app.show_error(error, title="The changes cannot be planned")
            return
        except Exception as error:  # A defect in a vendor module must not end the workbench.
            defect = f"Planning stopped with {type(error).__name__}: {error}"
            self._app.show_error(
                RaidbenchError(defect, hint="Nothing was changed."), title="The changes cannot be planned"
            )
            return
        if not changes:
            self._say("The staged values can no longer be set.", severity="warning")
            return
        seconds = self._app.options.trial_seconds
        bench = self._app.workbench
        label = (
            f"Trial, {seconds:.0f} s" if bench.host.capabilities.shares_watchdog or bench.changes.watches_itself else ""
        )
        labels = await self._labels(changes)
        question = confirmation(changes, labels, trial_label=label, names=self._names(changes))
        if bench.changes.watches_itself and question.trial_label:
            question = replace(question, summary=f"{question.summary} {TRIAL_ENDS_ON_EXIT}".strip())
        value_dialog = ConfirmDialog(question)
        if await self._app.push_screen_wait(value_dialog):
            trial = seconds if value_dialog.trial_chosen else None
            # The group must not be exclusive: a newer worker would cancel a write half-way.
            self._app.run_worker(self._apply(changes, trial), group="write", exit_on_error=True)

    async def _plan_staged(self) -> tuple[Change, ...]:
        """Plan all staged changes and return them in the order to apply them. Raises RaidbenchError."""
        bench = self._app.workbench
        changes: list[Change] = []
        # Copy: more values may be staged while a slow tool runs.
        staged = {target: dict(values) for target, values in self._app.staged.items()}
        for address, values in staged.items():
            device = bench.session.inventory.find(address)  # without waiting for slow backends
            planned_device = device if device is not None else await bench.hardware.find(address)
            keys = [setting.key for setting in bench.hardware.settings(planned_device.target) if setting.key in values]
            changes += await bench.hardware.plan_to_show(planned_device.target, {key: values[key] for key in keys})
        return bench.hardware.order_changes(changes)

    async def _apply(self, changes: tuple[Change, ...], trial: float | None) -> None:
        app = self._app
        verified: set[tuple[Target, str]] = set()
        left = list(changes)
        names = self._names(changes)
        for waiting in changes[1:]:
            self._show_result(waiting, WAITS)
        try:
            async with aclosing(app.workbench.changes.apply_all(changes, trial=trial)) as steps:
                self._say_setting(left, names, len(changes))
                async for change, ended in steps:
                    left = [other for other in left if _target_and_key(other) != _target_and_key(change)]
                    outcome = view.change_outcome_cell(change, ended, on_trial=trial is not None)
                    self._show_result(change, outcome, now=ended.now)
                    if ended.result == "verified":
                        verified.add(_target_and_key(change))
                        app.stage(str(change.target), change.key, None)
                        self._say_setting(left, names, len(changes))
                        self._report_moved(change, ended)
                    else:
                        verified.discard(_target_and_key(change))
                        self._say(f"{view.subject_text(change)}: {ended.message}", severity="error", title=ended.result)
        except RaidbenchError as error:
            app.show_error(error, title="Not applied")
        for undone in left:
            self._show_result(undone, None)
        done = len(verified)
        if done == len(changes):
            self._say(f"{done} of {done} verified: read back from the kernel or the tool.", title="Applied")
        elif done:
            self._say(f"{done} of {len(changes)} verified; the other changes were not applied.", severity="warning")
        self._changed(changes)
        if trial is not None and app.workbench.changes.trials():
            await app.trials.wait_until_decided()
            self._panel.clear_results()
            self._changed(changes)

    def _report_moved(self, change: Change, ended: ChangeEnded) -> None:
        """Report the other settings whose values changed together with the one that was set."""
        others = replace(ended, moved=tuple(setting for setting in ended.moved or () if not setting.restored))
        for sentence in view.moved_texts(others, change.label):
            self._say(sentence, severity="warning")

    async def undo(self, ids: tuple[str, ...]) -> None:
        """Show how changes are undone, newest first, and undo them after confirmation."""
        try:
            plans = tuple([await self._app.workbench.changes.plan_undo(change_id) for change_id in ids])
        except RaidbenchError as error:
            self._app.show_error(error, title="Cannot be undone")
            return
        names = self._names(plans)
        title = (
            f"Undo {view.change_clause(plans[0], names)}" if len(ids) == 1 else f"Undo {len(ids)} changes, newest first"
        )
        labels = await self._labels(plans)
        question = confirmation(plans, labels, title=title, names=names)
        if await self._app.push_screen_wait(ConfirmDialog(question)):
            self._app.run_worker(self._undo_changes(plans, ids, labels), group="write", exit_on_error=True)

    def _say_setting(self, left: Sequence[Change], names: Mapping[Target, str], of: int) -> None:
        """Show that the first of `left` is being applied, because a tool may take seconds. `of`: number of changes."""
        if left:
            change = left[0]
            count = "" if of == 1 else f"{of - len(left) + 1} of {of}: "
            self._show_result(change, SETTING)
            self._app.notify_transient(f"Setting {count}{view.change_clause(change, names)} ...")

    def _show_result(self, change: Change, cell: Cell | None, *, now: str | None = None) -> None:
        self._panel.show_pending_result(str(change.target), change.key, cell, now=now)

    def _names(self, changes: tuple[Change, ...]) -> dict[Target, str]:
        """Return the names of the changed targets in the list."""
        inventory = self._app.workbench.session.inventory
        devices = {change.target: inventory.find(str(change.target)) for change in changes}
        return {
            target: name_of(_listed_device(inventory, device))
            for target, device in devices.items()
            if device is not None
        }

    async def _labels(self, changes: tuple[Change, ...]) -> dict[Target, DeviceLabel]:
        return {change.target: await self._app.workbench.hardware.device_label(change.target) for change in changes}

    async def _undo_changes(
        self, plans: tuple[Change, ...], ids: tuple[str, ...], labels: Mapping[Target, DeviceLabel]
    ) -> None:
        """Undo the changes. `labels` supplies the tokens, for which the dialog has asked if data is destroyed."""
        bench = self._app.workbench
        names = self._names(plans)
        for plan, change_id in zip(plans, ids, strict=True):
            record = bench.session.change(change_id)
            change = plan if record is None else record.change
            setting = f"{within_sentence(plan.label)} of {names.get(plan.target, str(plan.target))}"
            self._show_result(change, SETTING)
            self._app.notify_transient(f"Undoing {view.change_clause(plan, names)} ...")
            try:
                ended = await bench.changes.undo(change_id, confirm=labels[plan.target].token, shown=plan)
            except RaidbenchError as error:
                self._show_result(change, None)
                self._app.show_error(error, title=f"The change of {setting} was not undone")
                break
            outcome = outcome_cell("undone" if ended.is_reverted else f"undo {ended.result}")
            self._show_result(change, outcome, now=ended.now)
            if not ended.is_reverted:
                self._say(ended.message, severity="error", title=f"The change of {setting} was not undone")
                break
            also = f" {ended.message}." if ended.result == "verified" and ended.message else ""
            self._say(
                f"The change of {setting} is undone and verified: now {view.change_value_text(plan, ended.now)}.{also}"
            )
            self._report_moved(change, ended)
        self._changed(plans)

    def _say(self, message: str, *, severity: str = "information", title: str = "") -> None:
        self._app.notify(message, title=title, severity=severity, markup=False)  # type: ignore[arg-type]


def _listed_device(inventory: Inventory, listed: Device) -> Device:
    """Return the device that the list shows in place of a disk: its array, or the drive as its controller has it."""
    device = None if isinstance(listed, Controller) else listed.device
    return listed if device is None else next(iter(inventory.at(device)), listed)
