"""From staged values to verified ones, and back: plan, show, ask, do, say how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.view import change as view
from app.engine.view.arrangement import Thing
from app.engine.view.device_table import name_words
from app.engine.view.effects import outcome_cell
from app.engine.view.table import Cell
from app.tui.screens.devices.confirming import confirmation
from backends.change import Change
from backends.errors import RaidbenchError
from backends.model import Controller, Inventory, Target
from backends.nameplate import Nameplate
from widgets.confirm import ConfirmDialog

if TYPE_CHECKING:
    from app.tui.app import WorkbenchApp

Outcomes = dict[str, dict[str, Cell]]
"""Target -> key -> words."""


ENDS_WITH_IT = "This machine is simulated: leaving takes a trial back."
"""The word about a trial where nothing real can be lost."""


class Changing:
    """Reviews, applies and undoes. Writes run on the app in a group that nothing cancels."""

    def __init__(self, app: WorkbenchApp, outcomes: Outcomes, shown: Callable[[], None]) -> None:
        """`outcomes` is filled as changes end; `shown` brings the screen up to date."""
        self._app = app
        self._outcomes = outcomes
        self._shown = shown

    async def review(self) -> None:
        """Plan all that is staged, show it, apply it after the yes."""
        try:
            changes = await self._planned()
        except RaidbenchError as error:
            self._app.tell(error, title="Cannot be planned")
            return
        except Exception as error:  # a vendor module of somebody else's must not end the workbench
            defect = f"Planning stopped with {type(error).__name__}: {error}"
            self._app.tell(RaidbenchError(defect, hint="Nothing was changed."), title="Cannot be planned")
            return
        if not changes:
            self._say("What was staged cannot be set any more.", severity="warning")
            return
        seconds = self._app.options.trial_seconds
        bench = self._app.workbench
        label = f"Trial, {seconds:.0f} s" if bench.host.capabilities.shares_watchdog or bench.watches_itself else ""
        plates = await self._plates(changes)
        asked = confirmation(changes, plates, trial_label=label, names=self._names(changes))
        if bench.watches_itself and asked.trial_label:
            asked = replace(asked, summary=f"{asked.summary} {ENDS_WITH_IT}".strip())
        dialog = ConfirmDialog(asked)
        if await self._app.push_screen_wait(dialog):
            trial = seconds if dialog.trial_chosen else None
            # Never in an exclusive group: a newer worker would cancel a write half-way.
            self._app.run_worker(self._apply(changes, trial), group="write", exit_on_error=True)

    async def _planned(self) -> tuple[Change, ...]:
        """Every staged change, each target's in the order of its settings. Raises RaidbenchError."""
        bench = self._app.workbench
        changes: list[Change] = []
        # A copy: more may be staged while a slow tool is asked.
        staged = {target: dict(values) for target, values in self._app.staged.items()}
        for address, values in staged.items():
            found = bench.session.inventory.find(address)  # not waiting for backends that still think
            thing = found if found is not None else await bench.find(address)
            keys = [setting.key for setting in bench.settings(thing.target) if setting.key in values]
            changes += await bench.plan_all(thing.target, {key: values[key] for key in keys})
        return tuple(changes)

    async def _apply(self, changes: tuple[Change, ...], trial: float | None) -> None:
        app = self._app
        done = 0
        try:
            async with aclosing(app.workbench.apply_all(changes, trial=trial)) as steps:
                async for change, ended in steps:
                    target = str(change.target)
                    outcome = view.outcome(change, ended, on_trial=trial is not None)
                    self._outcomes.setdefault(target, {})[change.key] = outcome
                    if ended.result == "verified":
                        done += 1
                        app.stage(target, change.key, None)
                    else:
                        self._say(f"{view.what(change)}: {ended.message}", severity="error", title=ended.result)
        except RaidbenchError as error:
            app.tell(error, title="Not applied")
        if done == len(changes):
            self._say(f"{done} of {done} verified: read back from the kernel or the tool.", title="Applied")
        elif done:
            self._say(f"{done} of {len(changes)} verified, the rest was not done.", severity="warning")
        self._shown()
        if trial is not None and app.workbench.trials():
            await app.trials.watch()
            self._outcomes.clear()
            self._shown()

    async def undo(self, ids: tuple[str, ...]) -> None:
        """Show how changes are taken back, newest first, and do it after the yes."""
        try:
            plans = tuple(self._app.workbench.plan_undo(change_id) for change_id in ids)
        except RaidbenchError as error:
            self._app.tell(error, title="Cannot be undone")
            return
        title = f"Undo {ids[0]}" if len(ids) == 1 else f"Undo {len(ids)} changes, newest first"
        plates = await self._plates(plans)
        asked = confirmation(plans, plates, title=title, names=self._names(plans))
        if await self._app.push_screen_wait(ConfirmDialog(asked)):
            self._app.run_worker(self._take_back(plans, ids, plates), group="write", exit_on_error=True)

    def _names(self, changes: tuple[Change, ...]) -> dict[Target, str]:
        """What the list calls what is changed."""
        inventory = self._app.workbench.session.inventory
        found = {change.target: inventory.find(str(change.target)) for change in changes}
        return {target: name_words(_shown(inventory, thing)) for target, thing in found.items() if thing is not None}

    async def _plates(self, changes: tuple[Change, ...]) -> dict[Target, Nameplate]:
        return {change.target: await self._app.workbench.nameplate(change.target) for change in changes}

    async def _take_back(
        self, plans: tuple[Change, ...], ids: tuple[str, ...], plates: Mapping[Target, Nameplate]
    ) -> None:
        """Do it; the dialog had the words of those targets typed whose data it destroys."""
        bench = self._app.workbench
        for plan, change_id in zip(plans, ids, strict=True):
            try:
                ended = await bench.undo(change_id, confirm=plates[plan.target].word)
            except RaidbenchError as error:
                self._app.tell(error, title=f"{change_id} was not undone")
                break
            record = bench.session.change(change_id)
            if record is not None:
                outcome = outcome_cell("undone" if ended.taken_back else f"undo {ended.result}")
                self._outcomes.setdefault(str(record.change.target), {})[record.change.key] = outcome
            if not ended.taken_back:
                self._say(ended.message, severity="error", title=f"{change_id} was not undone")
                break
            self._say(f"{change_id} is undone and verified: now {view.value(plan, ended.now)}.")
        self._shown()

    def _say(self, message: str, *, severity: str = "information", title: str = "") -> None:
        self._app.notify(message, title=title, severity=severity, markup=False)  # type: ignore[arg-type]


def _shown(inventory: Inventory, thing: Thing) -> Thing:
    """What the list shows in the place of a disk: the array or the vendor's drive that it is."""
    device = None if isinstance(thing, Controller) else thing.device
    return thing if device is None else next(iter(inventory.at(device)), thing)
