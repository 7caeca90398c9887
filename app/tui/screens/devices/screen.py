"""What is there, what may be changed, and the way from a staged value to a verified one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static, Tree
from textual.widgets.tree import TreeNode

from app.engine.session.state import ChangeRecord, Session
from app.engine.view.arrangement import Thing
from app.engine.view.device import facts
from app.tui.base import WorkbenchScreen
from app.tui.render import groups
from app.tui.screens.devices.changing import Changing
from app.tui.screens.devices.rows import TreeLine, filtered, nodes
from app.tui.screens.devices.settings_panel import Part, SettingsPanel
from app.tui.screens.devices.tree import DeviceTree
from backends.errors import RaidbenchError
from backends.model import Inventory
from widgets.details import Details


class DevicesScreen(WorkbenchScreen):
    """Tree of devices on the left, the selected one with its settings on the right."""

    NAME: ClassVar[str] = "devices"

    def __init__(self) -> None:
        super().__init__()
        self._inventory: Inventory | None = None
        self._selected: str | None = None
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
            yield SettingsPanel()

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
        self.panel.table.empty = words

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
    def _highlighted(self, event: Tree.NodeHighlighted[TreeLine]) -> None:
        node: TreeNode[TreeLine] = event.node
        if node.data is None or node.data.key == self._selected:
            return
        self._selected = node.data.key
        self._why_empty = "reading its settings ..."
        self.panel.show(())
        self._look()

    def _thing(self) -> Thing | None:
        if self._selected is None or self._inventory is None:
            return None
        return self._inventory.find(self._selected)

    def _look(self) -> None:
        """Show the facts now, the settings when they are read."""
        thing = self._thing()
        bench = self.workbench_app.workbench
        self.query_one("#facts", Details).groups = () if thing is None else groups(facts(bench.remembered(thing)))
        self.query_one("#facts-scroll", VerticalScroll).scroll_home(animate=False)
        if thing is not None:  # the settings stay as they are until they are read: no outcome beside an old value
            # A partial, not a coroutine: one that a newer read replaces before it began would never be awaited.
            self.run_worker(partial(self._read, thing), group="read", exclusive=True)  # type: ignore[arg-type]
        elif self._selected is not None:
            self._show_settings((), "this device is not there any more")

    async def _read(self, thing: Thing) -> None:
        """The settings of the thing, and of the disk that it is to the kernel."""
        parts: list[Part] = []
        why = ""
        try:
            parts.append(await self._part(thing))
            queue = (self._inventory or Inventory()).twin(thing)
            if queue is not None:
                parts.append(await self._part(queue, heading=f"Queue of {queue.device}"))
        except RaidbenchError as error:
            why = error.message
        except Exception as error:  # a vendor module of somebody else's must not end the workbench
            self.workbench_app.workbench.problem(str(thing.target), _defect(thing, error))
            why = _defect(thing, error).message
        if str(thing.target) == self._selected:
            self._show_settings(_able_first(parts), why)

    async def _part(self, thing: Thing, heading: str = "") -> Part:
        bench = self.workbench_app.workbench
        settings = bench.settings(thing.target)
        readings = dict(await bench.read(thing.target))
        return Part(
            target=str(thing.target), heading=heading, settings=settings, readings=readings, scope=thing.target.scope
        )

    def _show_settings(self, parts: tuple[Part, ...], why: str) -> None:
        self._why_empty = why
        self.panel.show(parts)
        self._say_empty(self.workbench_app.session)

    @property
    def panel(self) -> SettingsPanel:
        """The settings."""
        return self.query_one(SettingsPanel)

    def _changing(self) -> Changing:
        return Changing(self.workbench_app, self.panel.outcomes, self._look)

    def action_cycle(self, step: int) -> None:
        """Stage the value after or before; from the tree, right goes to the settings."""
        self.panel.cycle(step)

    def action_unstage(self) -> None:
        """Take the staged value of the setting back."""
        self.panel.unstage()

    def action_choose(self) -> None:
        """Open the list of legal values, or a field for a number."""
        self.panel.choose()

    def action_review(self) -> None:
        """Plan all that is staged, show it, apply it after the yes."""
        if not self.workbench_app.staged:
            self.say("Nothing is staged: choose a value with left and right, or enter.")
            return
        self.run_worker(self._changing().review(), group="review", exclusive=True)

    def action_ab(self) -> None:
        """Measure the staged value against the one in force."""
        from app.tui.screens.bench.ab import begin_staged

        begin_staged(self.workbench_app, self.say)

    def action_undo(self) -> None:
        """Take back the last change."""
        if self.workbench_app.workbench.trial_left() is not None:
            self.action_take_back()
            return
        changes = self.workbench_app.workbench.undoable()
        if not changes:
            self.say("There is nothing to undo in this session.")
            return
        self.app.run_worker(self._changing().undo((changes[0].id,)), group="undo", exclusive=True)

    def action_undo_all(self) -> None:
        """Take back all changes, newest first."""
        changes = self.workbench_app.workbench.undoable()
        if not changes:
            self.say("There is nothing to undo in this session.")
            return
        self.app.run_worker(self._changing().undo(tuple(change.id for change in changes)), group="undo", exclusive=True)

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


def _able_first(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The queue's settings before the drive's own where none of these can be changed: a tool is missing."""
    if len(parts) < 2 or _able(parts[0]) or not _able(parts[1]):
        return tuple(parts)
    own, queue = parts
    return queue, replace(own, heading=f"Of {own.target} itself")


def _able(part: Part) -> bool:
    return any(reading.availability.available for reading in part.readings.values())
