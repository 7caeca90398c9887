"""What is there, what may be changed, and the way from a staged value to a verified one."""

from __future__ import annotations

from contextlib import aclosing
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static, Tree
from textual.widgets.tree import TreeNode

from app.engine.session import ChangeRecord, Session
from app.tui.base import WorkbenchScreen
from app.tui.device_tree import DeviceTree
from app.tui.devices_view import (
    RISKS,
    SETTING_COLUMNS,
    Node,
    Thing,
    confirmation,
    facts,
    filtered,
    next_value,
    nodes,
    setting_rows,
)
from app.tui.trials import Trials
from backends.errors import RaidbenchError
from backends.model import Change, Inventory, Reading, Risk
from backends.settings import Setting
from widgets.choice_list import Choice, ChoiceDialog
from widgets.confirm import ConfirmDialog
from widgets.details import Details
from widgets.field_dialog import NumberDialog, NumberSpan
from widgets.keyed_table import KeyedTable
from widgets.lines import Prose
from widgets.table_layout import Tone


class DevicesScreen(WorkbenchScreen):
    """Tree of devices on the left, the selected one with its settings on the right."""

    NAME: ClassVar[str] = "devices"

    def __init__(self) -> None:
        super().__init__()
        self._inventory: Inventory | None = None
        self._selected: str | None = None
        self._settings: tuple[Setting, ...] = ()
        self._readings: dict[str, Reading] = {}
        self._outcomes: dict[str, dict[str, tuple[str, Tone]]] = {}
        self._words = ""
        self._seen_all = False
        self._why_empty = ""
        self._changes: tuple[ChangeRecord, ...] = ()

    def body(self) -> ComposeResult:
        """Tree and filter; facts, settings and a word of help."""
        with Vertical(id="left"):
            yield DeviceTree()
            yield Input(placeholder="filter", id="filter", compact=True)
        with Vertical(id="right"):
            yield Static("", id="devices-problem", markup=False)
            with VerticalScroll(id="facts-scroll", can_focus=False):
                yield Details(id="facts")
            yield KeyedTable(SETTING_COLUMNS, id="settings", empty="looking for hardware ...")
            yield Prose("", "label", id="setting-help")

    def on_mount(self) -> None:
        """The tree has the keys first."""
        self.query_one(DeviceTree).focus()

    def show(self, session: Session) -> None:
        """Fill the tree when there is something new in it."""
        if session.inventory is not self._inventory and not (session.probing and self._seen_all):
            self._take(session.inventory)
        self._seen_all = self._seen_all or not session.probing
        if session.changes is not self._changes:
            self._changes = session.changes
            self._look()
        self._say_empty(session)

    def _say_empty(self, session: Session) -> None:
        """Why there are no settings, for as long as there are none."""
        found = session.inventory
        if self._why_empty:
            words = self._why_empty
        elif self._selected is not None:
            words = "no settings here"
        elif session.probing:
            words = "looking for hardware ..."
        elif found.drives or found.controllers or found.arrays:
            words = "choose a device on the left"
        else:
            words = "nothing was found: raidbench doctor says why"
        self.query_one("#settings", KeyedTable).empty = words

    def _take(self, inventory: Inventory) -> None:
        """Show another inventory; what is selected stays so for as long as it is there."""
        before = self._thing()
        self._inventory = inventory
        self._fill()
        problems = [f"{problem.where}: {problem.message} {problem.hint}".strip() for problem in inventory.problems]
        self.put("#devices-problem", "\n".join(problems))
        self.query_one("#devices-problem").display = bool(problems)
        if self._selected is not None and self._thing() != before:
            self._look()

    def _fill(self) -> None:
        tree = nodes(self._inventory or Inventory())
        self.query_one(DeviceTree).show(filtered(tree, self._words))

    @on(Tree.NodeHighlighted)
    def _highlighted(self, event: Tree.NodeHighlighted[Node]) -> None:
        node: TreeNode[Node] = event.node
        if node.data is None or node.data.key == self._selected:
            return
        self._selected = node.data.key
        self._readings = {}
        self._settings = ()
        self._look()

    def _thing(self) -> Thing | None:
        if self._selected is None or self._inventory is None:
            return None
        return self._inventory.find(self._selected)

    def _look(self) -> None:
        """Show the facts now, the settings when they are read."""
        thing = self._thing()
        self.query_one("#facts", Details).groups = facts(thing) if thing is not None else ()
        self.query_one("#facts-scroll", VerticalScroll).scroll_home(animate=False)
        self._fill_settings()
        if thing is not None:
            self.run_worker(self._read(thing), group="read", exclusive=True)
        elif self._selected is not None:
            self._show_settings((), {}, "this device is not there any more")

    async def _read(self, thing: Thing) -> None:
        bench = self.workbench_app.workbench
        settings: tuple[Setting, ...] = ()
        readings: dict[str, Reading] = {}
        why = ""
        try:
            settings = bench.settings(thing.target)
            readings = dict(await bench.read(thing.target))
        except RaidbenchError as error:
            why = error.message
        except Exception as error:  # a vendor module of somebody else's must not end the workbench
            bench.problem(str(thing.target), _defect(thing, error))
            why = _defect(thing, error).message
        if str(thing.target) == self._selected:
            self._show_settings(settings, readings, why)

    def _show_settings(self, settings: tuple[Setting, ...], readings: dict[str, Reading], why: str) -> None:
        self._settings, self._readings, self._why_empty = settings, readings, why
        self._fill_settings()
        self._say_empty(self.workbench_app.session)

    def _fill_settings(self) -> None:
        target = self._selected or ""
        rows = setting_rows(
            self._settings,
            self._readings,
            self.workbench_app.staged.get(target, {}),
            self._outcomes.get(target, {}),
        )
        self.query_one("#settings", KeyedTable).rows = rows
        self._help()

    @on(KeyedTable.RowHighlighted, "#settings")
    def _row_highlighted(self) -> None:
        self._help()

    def _help(self) -> None:
        """A sentence on the setting under the cursor, or why it cannot be changed."""
        setting, reading = self._current()
        line = self.query_one("#setting-help", Prose)
        if setting is None or reading is None:
            line.say("", "label")
        elif reading.availability.why_not is not None:
            line.say(f"Cannot be changed: {reading.availability.why_not}. {setting.help}", "warning")
        else:
            line.say(f"{setting.help} {setting.risk_text}".strip(), "label")

    def _current(self) -> tuple[Setting | None, Reading | None]:
        key = self.query_one("#settings", KeyedTable).cursor
        setting = next((setting for setting in self._settings if setting.key == key), None)
        return setting, self._readings.get(key or "")

    def _changeable(self) -> tuple[Setting, Reading] | None:
        """The setting under the cursor, if it may be changed; says why not."""
        table = self.query_one("#settings", KeyedTable)
        if self.focused is not table:
            if table.rows:
                self.set_focus(table)
            return None
        setting, reading = self._current()
        if setting is None or reading is None:
            return None
        if reading.availability.why_not is not None:
            self.say(f"{setting.label} cannot be changed: {reading.availability.why_not}.", severity="warning")
            return None
        return setting, reading

    def action_cycle(self, step: int) -> None:
        """Stage the value after or before; from the tree, right goes to the settings."""
        table = self.query_one("#settings", KeyedTable)
        if self.focused is not table:
            if step > 0 and table.rows:
                self.set_focus(table)
            return
        found = self._changeable()
        if found is None:
            return
        setting, reading = found
        staged = self.workbench_app.staged.get(self._selected or "", {}).get(setting.key)
        value = next_value(reading, staged if staged is not None else reading.now, step)
        if value is not None:
            self._stage(setting.key, value, reading)

    def _stage(self, key: str, value: str | None, reading: Reading) -> None:
        target = self._selected or ""
        self._outcomes.get(target, {}).pop(key, None)
        self.workbench_app.stage(target, key, None if value == reading.now else value)
        self._fill_settings()

    def action_unstage(self) -> None:
        """Take the staged value of the setting back."""
        setting, reading = self._current()
        if setting is not None and reading is not None:
            self._stage(setting.key, None, reading)

    @on(KeyedTable.RowSelected, "#settings")
    def _row_selected(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        """Open the list of legal values, or a field for a number."""
        found = self._changeable()
        if found is None:
            return
        setting, reading = found
        staged = self.workbench_app.staged.get(self._selected or "", {}).get(setting.key, reading.now)

        def chosen(value: str | None) -> None:
            if value is not None:
                self._stage(setting.key, value, reading)

        if reading.choices:
            choices = tuple(
                Choice(
                    value=choice.value,
                    label=choice.label,
                    help=choice.help or setting.help,
                    risk="" if choice.risk is Risk.NONE else RISKS[choice.risk],
                )
                for choice in reading.choices
            )
            self.app.push_screen(ChoiceDialog(setting.label, choices, staged), chosen)
        elif reading.span is not None:
            span = reading.span
            numbers = NumberSpan(
                minimum=span.minimum, maximum=span.maximum, step=span.step, unit=span.unit or setting.unit
            )
            self.app.push_screen(NumberDialog(setting.label, numbers, staged or "", help=setting.help), chosen)

    def action_review(self) -> None:
        """Plan all that is staged, show it, apply it after the yes."""
        if not self.workbench_app.staged:
            self.say("Nothing is staged: choose a value with left and right, or enter.")
            return
        self.run_worker(self._review(), group="review", exclusive=True)

    async def _review(self) -> None:
        bench = self.workbench_app.workbench
        changes: list[Change] = []
        try:
            # A copy: more may be staged while a slow tool is asked.
            for address, staged in {
                target: dict(values) for target, values in self.workbench_app.staged.items()
            }.items():
                found = bench.session.inventory.find(address)  # not waiting for backends that still think
                thing = found if found is not None else await bench.find(address)
                order = [setting.key for setting in bench.settings(thing.target) if setting.key in staged]
                for key in order:
                    changes.append(await bench.plan(thing.target, key, staged[key]))
        except RaidbenchError as error:
            self.workbench_app.tell(error, title="Cannot be planned")
            return
        except Exception as error:  # a vendor module of somebody else's must not end the workbench
            self.workbench_app.tell(
                RaidbenchError(f"Planning stopped with {type(error).__name__}: {error}", hint="Nothing was changed."),
                title="Cannot be planned",
            )
            return
        if not changes:
            self.say("What was staged cannot be set any more.", severity="warning")
            return
        seconds = self.workbench_app.options.trial_seconds
        dialog = ConfirmDialog(confirmation(tuple(changes), trial_label=f"Trial, {seconds:.0f} s"))
        if await self.app.push_screen_wait(dialog):
            trial = seconds if dialog.trial_chosen else None
            # Never in an exclusive group: a newer worker would cancel a write half-way.
            self.app.run_worker(self._apply(tuple(changes), trial), group="write", exit_on_error=True)

    async def _apply(self, changes: tuple[Change, ...], trial: float | None) -> None:
        app = self.workbench_app
        done = 0
        try:
            async with aclosing(app.workbench.apply_all(changes, trial=trial)) as steps:
                async for change, ended in steps:
                    target = str(change.target)
                    words, tone = _outcome(ended.result, ended.now)
                    if trial is not None and ended.result == "verified":
                        words = "verified, on trial"
                    self._outcomes.setdefault(target, {})[change.key] = (words, tone)
                    if ended.result == "verified":
                        done += 1
                        app.stage(target, change.key, None)
                    else:
                        self.say(f"{change.label} of {target}: {ended.message}", severity="error", title=ended.result)
        except RaidbenchError as error:
            app.tell(error, title="Not applied")
        if done == len(changes):
            self.say(f"{done} of {done} verified: read back from the kernel or the tool.", title="Applied")
        elif done:
            self.say(f"{done} of {len(changes)} verified, the rest was not done.", severity="warning")
        self._look()
        if trial is not None and app.workbench.trials():
            await Trials(app).watch()
            self._outcomes.clear()
            self._look()

    def action_undo(self) -> None:
        """Take back the last change."""
        changes = self.workbench_app.workbench.undoable()
        if not changes:
            self.say("There is nothing to undo in this session.")
            return
        self.app.run_worker(self._undo((changes[0].id,)), group="undo", exclusive=True)

    def action_undo_all(self) -> None:
        """Take back all changes, newest first."""
        changes = self.workbench_app.workbench.undoable()
        if not changes:
            self.say("There is nothing to undo in this session.")
            return
        self.app.run_worker(self._undo(tuple(change.id for change in changes)), group="undo", exclusive=True)

    async def _undo(self, ids: tuple[str, ...]) -> None:
        bench = self.workbench_app.workbench
        try:
            plans = tuple(bench.plan_undo(change_id) for change_id in ids)
        except RaidbenchError as error:
            self.workbench_app.tell(error, title="Cannot be undone")
            return
        title = f"Undo {ids[0]}" if len(ids) == 1 else f"Undo {len(ids)} changes, newest first"
        if not await self.app.push_screen_wait(ConfirmDialog(confirmation(plans, title=title))):
            return
        self.app.run_worker(self._take_back(ids), group="write", exit_on_error=True)

    async def _take_back(self, ids: tuple[str, ...]) -> None:
        bench = self.workbench_app.workbench
        for change_id in ids:
            try:
                ended = await bench.undo(change_id)
            except RaidbenchError as error:
                self.workbench_app.tell(error, title=f"{change_id} was not undone")
                break
            record = bench.session.change(change_id)
            if record is not None:
                target = str(record.intent.target)
                good = ended.result in ("verified", "restored")
                words: tuple[str, Tone] = ("undone", "good") if good else (f"undo {ended.result}", "bad")
                self._outcomes.setdefault(target, {})[record.intent.key] = words
            if ended.result not in ("verified", "restored"):
                self.say(ended.message, severity="error", title=f"{change_id} was not undone")
                break
            self.say(f"{change_id} is undone and verified: now {ended.now}.")
        self._look()

    def action_filter(self) -> None:
        """Open the filter."""
        self.open_field(self.query_one("#filter", Input))

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self._words = event.value
        self._fill()

    @on(Input.Submitted, "#filter")
    def _filter_done(self) -> None:
        self._close_filter()

    def key_escape(self) -> None:
        """Leave the filter, or the settings."""
        field = self.query_one("#filter", Input)
        if field.display:
            field.value = ""
        self._close_filter()

    def _close_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.display = bool(field.value)
        self.set_focus(self.query_one(DeviceTree))

    def action_rescan(self) -> None:
        """Look for hardware again."""
        self.app.run_worker(self.workbench_app.look_for_hardware(), group="probe", exclusive=True)
        self.say("Looking for hardware again.")

    def action_measure(self) -> None:
        """Take the device to the Bench screen."""
        thing = self._thing()
        device = getattr(thing, "device", None)
        if thing is None or device is None:
            self.say("This has no block device to measure.", severity="warning")
            return
        self.workbench_app.measure_device(str(thing.target), device)


def _defect(thing: Thing, error: Exception) -> RaidbenchError:
    return RaidbenchError(
        f"{thing.target} cannot be read: its backend stopped with {type(error).__name__}: {error}",
        hint="This is a defect of raidbench or of the vendor module.",
    )


def _outcome(result: str, now: str | None) -> tuple[str, Tone]:
    match result:
        case "verified":
            return "verified", "good"
        case "differs":
            return f"differs: now {now}", "warning"
        case _:
            return result, "bad"
