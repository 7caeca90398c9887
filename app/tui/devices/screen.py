"""What is there, what may be changed, and the way from a staged value to a verified one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.widgets import Input

from app.core.presentation.device import count_texts, device_facts, problem_facts
from app.core.presentation.setting import UNREAD, TuningCells, tuning_cells
from app.core.presentation.table import Facts
from app.core.session.state import ChangeRecord, Session
from app.tui.devices.detail import FactsPane
from app.tui.devices.list_detail import ListDetailScreen
from app.tui.devices.settings_panel import (
    TargetSettings,
    changeable_first,
    parts_of,
    read_again,
    settings_by_key,
    vendor_defect,
)
from app.tui.notices import commands_in
from app.tui.welcome import welcome_lines
from backends.display_names import name_of
from backends.errors import RaidbenchError
from backends.model import KERNEL, Array, Controller, Device, Drive, Inventory, Target
from backends.protocol import CachedReadings
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.text_field import TextField
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.presentation.attention_list import AttentionItem
    from app.tui.devices.staged_changes import ChangeController
    from app.tui.feature_hooks import FileDifference
    from backends.change import Change

THREE = 170
"""Columns from which its facts are shown beside its settings."""

A_FEW = 32
"""Devices whose settings are read before the list is drawn again."""

REST = 0.15
"""Seconds for which the cursor rests before its device is shown: arrow keys that follow one another draw the list."""

SOON = 0.05
"""Seconds within which most settings are read: what takes longer is waited for before everybody's eyes."""


class DevicesScreen(ListDetailScreen):
    """The devices of this machine; filter and a pane for the facts come when they are wanted."""

    NAME: ClassVar[str] = "devices"
    HORIZONTAL_BREAKPOINTS = [*ListDetailScreen.HORIZONTAL_BREAKPOINTS, (THREE, "-three")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self._inventory: Inventory | None = None
        self._shown: str | None = None  # whose settings and facts are drawn: while the cursor moves, not the row's
        self._beginning = False
        self._tuned: dict[Target, TuningCells] = {}
        self._why_empty = ""
        self._changes: tuple[ChangeRecord, ...] = ()
        self._moved: frozenset[Target] | None = None
        self._filter: TextField | None = None
        self._offered: AttentionItem | None = None
        self._drifts: tuple[FileDifference, ...] = ()
        self._aim: tuple[str, str] | None = None  # target and key that the cursor goes to once they are read

    def on_mount(self) -> None:
        """The first steps are among the facts."""
        self.panel.wanted = lambda: self._selected
        self._beginning = bool(welcome_lines(self.workbench_app))
        if self._beginning:
            self.detail.show_tab("facts")

    @property
    def _selected(self) -> str | None:
        """The address under the cursor: what every key acts on, whatever is drawn beside the list by now."""
        return self.devices.selected

    def on_resize(self, event: events.Resize) -> None:
        """Where there is room for three, the facts stand beside the settings."""
        if self.detail.facts_apart != (event.size.width >= THREE):
            self.detail.facts_apart = event.size.width >= THREE
            self.detail.show_tab(self.detail.tab)
            if self.detail.facts_apart and not self.query("#facts-pane"):
                self.call_later(self._open_facts)

    async def _open_facts(self) -> None:
        """The pane for the facts, with what they are now."""
        await self.query_one("#body").mount(Pane("Facts", FactsPane(id="facts-beside"), id="facts-pane"))
        self._show_facts(anew=True)

    def show(self, session: Session) -> None:
        """Fill the list when there is something new in it."""
        if session.probing:
            self._moved = None
        if session.inventory is not self._inventory:
            if self._moved is not None:  # what a change under way moved comes before its end, not with the one before
                self._moved = frozenset(record.change.target for record in session.changes if record.end is None)
            self._take(session.inventory)
        if session.changes is not self._changes:
            before, self._changes = self._changes, session.changes
            self._take_ends([change for change in session.changes if change.end is not None and change not in before])
        self._fill()
        if self.workbench_app.drifted.drifts is not self._drifts:
            self._drifts = self.workbench_app.drifted.drifts
            self.panel.fill()
        self._say_empty(session)

    def _say_empty(self, session: Session) -> None:
        """Why there are no devices or settings, for as long as there are none."""
        inventory = session.inventory
        no_devices = "looking for hardware ..." if session.probing else "nothing was found: raidbench doctor says why"
        if self._why_empty:
            text = self._why_empty
        elif self._selected is not None:
            text = "no settings here"
        elif not session.probing and (inventory.drives or inventory.controllers or inventory.arrays):
            text = "choose a device in the list"
        else:
            text = no_devices
        self.panel.table.empty = text
        if self.devices.filter_text.strip() and inventory.drives:
            self.devices.empty = f"nothing matches {self.devices.filter_text.strip()}: Esc shows all"
        else:
            self.devices.empty = no_devices

    def _take(self, inventory: Inventory) -> None:
        """Show another inventory; what is selected stays so for as long as it is there."""
        before = self._thing()
        self._inventory = inventory
        self._fill()
        if inventory.drives or inventory.arrays:
            self._read_tuning()
        if self._selected is not None and self._thing() != before:
            self._show_selected(moved=self._moved)

    def _take_ends(self, ended: Sequence[ChangeRecord]) -> None:
        """Read again what changes that are over have set."""
        if ended:
            self._moved = frozenset(record.change.target for record in ended)
            self._show_selected(moved=self._moved)
            self._read_tuning()  # of those that are not selected

    def _fill(self) -> None:
        staged = self.workbench_app.staged
        inventory = self._inventory or Inventory()
        self.devices.show(inventory, self._tuned, _staged_rows(inventory, staged))
        self.note(self.devices.count or self._awaited_text() or " · ".join(count_texts(inventory)))
        self.show_hidden_cells()

    def _awaited_text(self) -> str:
        """Who has not answered the look that is under way: until then a card's volumes are the kernel's disks."""
        bench = self.workbench_app.workbench
        names = sorted(bench.hardware.machine.waited_for) if bench.session.probing else []
        return f"waiting for {units.first_of(names, 3)} ..." if names else ""

    def _read_tuning(self) -> None:
        work = partial(self._tuning, self._inventory or Inventory())
        self.run_worker(work, group="tuning", exclusive=True)  # type: ignore[arg-type]  # a partial: see `_show_selected`

    async def _tuning(self, inventory: Inventory) -> None:
        """How what is in the list is tuned; what is in sight first, and of the rest a few at a time."""
        machine = self.workbench_app.workbench.hardware.machine
        rows = [row.key for row in self.devices.rows]
        top = round(self.devices.scroll_y)
        for number, key in enumerate((*rows[top:], *rows[:top]), 1):
            device = inventory.find(key)
            if device is not None and not isinstance(device, Controller) and self._may_be_tuned_anew(device):
                try:
                    with machine.using_last_scan():
                        cells = tuning_cells(await machine.quick_settings(device, inventory))
                except Exception:  # whoever selects it is told why
                    cells = UNREAD
                self._tuned[device.target] = cells
            if number % A_FEW == 0:
                self._tuned = dict(self._tuned)
                self._fill()
                await asyncio.sleep(0)
        self._tuned = dict(self._tuned)
        self._fill()
        self.workbench_app.check_anew()

    def _may_be_tuned_anew(self, device: Array | Drive) -> bool:
        """Whether it is not known how it is tuned, or something was set since of its vendor's or of its disk."""
        if self._moved is None or self._inventory is None or device.target not in self._tuned:
            return True
        twin = self._inventory.twin(device)
        vendors = {target.backend for target in self._moved} - {KERNEL}
        return device.target.backend in vendors or bool(self._moved & {device.target, twin.target if twin else None})

    @on(KeyedTable.RowHighlighted, "#devices")
    def _highlighted(self) -> None:
        if self._offered is not None and self._offered.key != self._selected:
            self._offered = None
        self.show_hidden_cells()
        if self._shown is None:
            self._turn_to_row()
        elif self._selected not in (None, self._shown):
            self.run_worker(self._turn_when_at_rest, group="read", exclusive=True)  # type: ignore[arg-type]  # see `_show_selected`

    async def _turn_when_at_rest(self) -> None:
        """Show the device under the cursor once no key has moved it for a while."""
        await asyncio.sleep(REST)
        self._turn_to_row()

    def _turn_to_row(self) -> None:
        """Show the device under the cursor, unless it is shown."""
        if self._selected not in (None, self._shown):
            self._show_selected()

    def _thing(self) -> Device | None:
        """What is under the cursor."""
        if self._selected is None or self._inventory is None:
            return None
        return self._inventory.find(self._selected)

    def _show_selected(self, *, moved: frozenset[Target] | None = None) -> None:
        """Show the device under the cursor: facts and settings at once when these are read, which is soon.

        `moved`: what was set since they were read, None if all may be otherwise.
        """
        anew = self._selected != self._shown
        first = self._shown is None
        self._shown = self._selected
        if anew:
            self._why_empty, moved = "reading its settings ...", None
        device = self._thing()
        if first or not anew or device is None:
            self._show_facts(anew=anew)
        if device is not None:  # the settings stay as they are until they are read: no outcome beside an old value
            # A partial, not a coroutine: one that a newer read replaces before it began would never be awaited.
            self.run_worker(partial(self._read, device, moved), group="read", exclusive=True)  # type: ignore[arg-type]
        elif self._selected is not None:
            self._show_settings((), "" if self._problems() else "this device is not there any more")

    def _problems(self) -> tuple[Facts, ...]:
        """What could not be looked at, where the row is about that."""
        return problem_facts(self._inventory or Inventory(), self._selected or "")

    def copyable_text(self) -> str:
        """What to do about a problem, where the row is about one."""
        inventory = self._inventory or Inventory()
        return "\n".join(
            commands_in(problem.hint)
            for problem in inventory.problems
            if problem.where == self._selected and problem.hint
        )

    def _show_facts(self, *, anew: bool) -> None:
        device = self._thing()
        app = self.workbench_app
        if device is None:
            shown_facts = self._problems()
        else:
            parts = self.panel.parts if self.panel.of == self._selected else ()
            names = {setting.label for part in parts for setting in part.settings}
            shown_facts = (
                *self._problems(),
                *app.findings.facts(str(device.target)),
                *device_facts(app.workbench.jobs.with_history(device), excluded=names),
            )
            self._show_history(device)
        self.show_title(device, self._selected or "")
        for pane in self.query(FactsPane):
            pane.show((*welcome_lines(app), *shown_facts), anew=anew)

    def _show_history(self, device: Device) -> None:
        """What was done with it, once somebody asks: the words of runs take a while to import."""
        if self.detail.tab == "history":
            from app.core.presentation.device_history import device_events

            session = self.workbench_app.session
            self.detail.show_history(device_events(session, session.inventory, device))

    async def _read(self, device: Device, moved: frozenset[Target] | None) -> None:
        """The settings of the thing, and of the disk that it is to the kernel: what is kept of them until they are."""
        bench, inventory = self.workbench_app.workbench, self._inventory or Inventory()
        machine = bench.hardware.machine
        parts: list[TargetSettings] = []
        why = ""
        anew = self.panel.of != str(device.target)
        waiting = self.set_timer(SOON, partial(self._show_read, device, ()), pause=not anew)
        try:
            if isinstance(machine.backend(device.target), CachedReadings) and (anew or not self.panel.parts):
                self._show_read(device, await parts_of(bench, inventory, device, machine.read_cached))
            read = machine.read if moved is None else partial(read_again, machine, self.panel.parts, moved)
            parts = await parts_of(bench, inventory, device, read)
        except RaidbenchError as error:
            why = error.message
        except Exception as error:  # a vendor module of somebody else's must not end the workbench
            bench.problem(str(device.target), vendor_defect(device, error))
            why = vendor_defect(device, error).message
        finally:
            waiting.stop()
        self._show_read(device, parts, why)
        if parts and not isinstance(device, Controller):
            self._tuned = {**self._tuned, device.target: tuning_cells(settings_by_key(parts))}
            self._fill()
        if parts and self.workbench_app.drifted.file is not None:
            self.workbench_app.check_anew()  # what was just read had not been held against the file

    def _show_read(self, device: Device, parts: Sequence[TargetSettings], why: str | None = None) -> None:
        """Its settings as they were read; without any and a reason why, they are waited for."""
        at = str(device.target)
        if at != self._selected or (not parts and why is None and self.panel.of == at):
            return
        anew = self.panel.of != at
        with self.app.batch_update():
            self._show_settings(changeable_first(parts), why or ("" if parts or why is not None else self._why_empty))
            self._show_facts(anew=anew)

    def _show_settings(self, parts: tuple[TargetSettings, ...], why: str) -> None:
        self._why_empty = why
        self.panel.show(parts, of=self._selected)
        if self._aim is not None and any(part.target == self._aim[0] for part in parts):
            self.panel.point_at(*self._aim)
            self._aim = None
        self._say_empty(self.workbench_app.session)

    def _change_controller(self) -> ChangeController:
        from app.tui.devices.staged_changes import ChangeController

        return ChangeController(self.workbench_app, self.panel, self._look_again_after)

    def _look_again_after(self, changes: tuple[Change, ...]) -> None:
        """After changes, what they may have moved is looked at again."""
        self.app.run_worker(self.workbench_app.rescan_after_change(changes), group="probe", exclusive=True)

    def action_into(self) -> None:
        """Open the branch, go into the device, or open the choices of its setting."""
        if self.detail.holds_focus:
            self.action_choose()
        elif not self._stage_offered() and not self.devices.open_branch():
            self._go_to_settings()

    def action_back(self) -> None:
        """One step back: out of the device, out of the filter, out of the branch."""
        if not self.detail.holds_focus and self._filter is not None and self._filter.display:
            self._filter.value = ""
            self._close_filter()
        else:
            super().action_back()

    def leave_list(self) -> None:
        """There is nothing above it."""
        self.say("This is the top of the list: Enter goes into a device.")

    def go_inside(self) -> None:
        """To the device that is selected."""
        self._turn_to_row()
        if self._beginning:  # the first steps stood where the settings are
            self._beginning = False
            self.detail.show_tab("settings")
        super().go_inside()

    def on_descendant_focus(self) -> None:
        """What the keys go into is the device under the cursor."""
        if self.detail.holds_focus:
            self._turn_to_row()

    def enter_row(self) -> None:
        """Enter on a row stages what was offered, or goes into its device."""
        if not self._stage_offered():
            self._go_to_settings()

    def _go_to_settings(self) -> None:
        """Whatever was looked at before: going into a device is going to its settings."""
        self.detail.show_tab("settings")
        self.go_inside()

    def choose_setting(self, row: str) -> None:
        """Open the legal values of a setting of the selected device, by its row."""
        self._go_to_settings()
        self.panel.table.cursor = row
        self.set_focus(self.panel.table)
        self.panel.choose()

    def action_choose(self) -> None:
        """Open the list of legal values, or a field for a number."""
        if not self.detail.holds_focus:
            self._go_to_settings()
        elif self.detail.tab == "settings":
            self.panel.choose()

    def action_tab(self) -> None:
        """Show the next tab of the device."""
        self._turn_to_row()
        super().action_tab()
        device = self._thing()
        if device is not None:
            self._show_history(device)

    def action_cycle(self, step: int) -> None:
        """Stage the value after or before; from the list, go to the settings."""
        if self.focused is self.panel.table:
            self.panel.cycle(step)
        else:
            self._go_to_settings()

    def action_trouble(self) -> None:
        """Go to the next thing that wants a look."""
        items = self.workbench_app.findings.troubles(self._inventory or Inventory())
        pair = self.devices.next_trouble(items)
        self.leave_inside()
        if pair is None:
            self.say("Nothing wants a look: all is well, as far as can be seen.")
            return
        number, self._offered = pair
        change = self._offered.staged
        mends = f" Enter stages {change.key}={change.value}." if change is not None else ""
        device = self._thing()
        name = "" if device is None else f"{name_of(device)}: "
        self.workbench_app.notify_transient(f"{number + 1} of {len(items)} · {name}{self._offered.text}.{mends}")

    def _stage_offered(self) -> bool:
        """Stage what mends the finding that was just gone to; whether there is such a change."""
        offered, self._offered = self._offered, None
        if offered is None or offered.staged is None or offered.key != self._selected:
            return False
        change = offered.staged
        self.workbench_app.stage(str(change.target), change.key, change.value)
        self._go_to_settings()
        self.panel.point_at(str(change.target), change.key)
        return True

    def action_wanted(self) -> None:
        """Stage the value of the state file; elsewhere, go to the next setting that differs from it."""
        drifted = self.workbench_app.drifted
        if drifted.file is None:
            self.say("No file of settings is named: state_file of the configuration does (docs/apply.md).")
        elif not (self.focused is self.panel.table and self.panel.stage_wanted()):
            self._go_to_drift()

    def _go_to_drift(self) -> None:
        """To the next setting that differs from the state file, in the order of the file."""
        inventory = self._inventory or Inventory()
        places = [
            (str(difference.target), difference.key)
            for difference in self._drifts
            if inventory.find(str(difference.target)) is not None
        ]
        if not places:
            self.say(f"Nothing that was read differs from {self.workbench_app.drifted.name}.")
            return
        here = self.panel.place if self.panel.of == self._selected else None
        rows = [self._row_of(inventory, target) for target, _ in places]
        if here in places:
            at = (places.index(here) + 1) % len(places)
        else:
            at = rows.index(self._selected) if self._selected in rows else 0
        self._aim = places[at]
        self.devices.go_to(rows[at])
        self._go_to_settings()
        if self.panel.of == rows[at]:
            self.panel.point_at(*places[at])
            self._aim = None
        self.workbench_app.notify_transient(
            f"{at + 1} of {len(places)} that differ. w here stages the value of the file."
        )

    @staticmethod
    def _row_of(inventory: Inventory, target: str) -> str:
        """The row that shows what has this address: of a disk, that of the array or the vendor's drive that it is."""
        found_device = inventory.find(target)
        device = None if found_device is None or isinstance(found_device, Controller) else found_device.device
        views = inventory.at(device) if device is not None else ()
        return str(views[0].target) if views else target

    def action_match(self, step: int) -> None:
        """Go to the next match of the filter, or the one before."""
        if not self.devices.filter_text.strip():
            self.say("There is no filter: / makes one.")
        elif not self.devices.next_match(step):
            self.say(f"Nothing matches {self.devices.filter_text.strip()}.")

    def action_unstage(self) -> None:
        """Take the staged value of the setting back."""
        self.panel.unstage()

    def action_review(self) -> None:
        """Plan all that is staged, show it, apply it after the yes."""
        if not self.workbench_app.staged:
            self.say("Nothing is staged: choose a value with left and right, or enter.")
            return
        self.run_worker(self._change_controller().review(), group="review", exclusive=True)

    def action_undo(self) -> None:
        """Take back the last change."""
        if self.workbench_app.trials.decidable:
            self.action_take_back()
            return
        self._undo(self.workbench_app.workbench.changes.undoable()[:1])

    def action_undo_all(self) -> None:
        """Take back all changes, newest first."""
        self._undo(self.workbench_app.workbench.changes.undoable())

    def _undo(self, changes: Sequence[ChangeRecord]) -> None:
        if not changes:
            self.say("There is nothing to undo in this session.")
            return
        self.app.run_worker(
            self._change_controller().undo(tuple(change.id for change in changes)), group="undo", exclusive=True
        )

    def action_filter(self) -> None:
        """Open the filter."""
        if self._filter is None:
            self._filter = TextField(placeholder="filter", id="filter", compact=True)
            self._filter.leave = self._filter_done
            self.query_one("#devices-pane").mount(self._filter)
        self.open_field(self._filter)

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self.devices.filter(event.value)
        self._fill()
        self._say_empty(self.workbench_app.session)

    def _filter_done(self) -> None:
        """At once: the next key is for what is found."""
        if self._filter is not None:
            self.devices.filter(self._filter.value)
            self._close_filter()

    def _close_filter(self) -> None:
        if self._filter is not None:
            self._filter.display = bool(self._filter.value)
        self.set_focus(self.devices)

    def action_sort(self) -> None:
        """Choose what the list is sorted by."""
        from app.tui.devices.sort_columns import choose_order

        choose_order(self.workbench_app, self.devices)

    def action_columns(self) -> None:
        """Choose the columns of the list."""
        from app.tui.devices.sort_columns import choose_columns

        self.run_worker(choose_columns(self.workbench_app, self.devices), group="columns", exclusive=True)

    def action_rescan(self) -> None:
        """Look for hardware again."""
        self.app.run_worker(self.workbench_app.look_for_hardware(), group="probe", exclusive=True)
        self.say("Looking for hardware again.")

    def action_export(self) -> None:
        """Write the settings of the device, or of all that the filter finds, to a file."""
        names = self.devices.listing.matching
        if names is not None and not names:
            self.say(f"Nothing matches {self.devices.filter_text.strip()}: Esc shows all.")
            return
        self.workbench_app.do("apply.export", self._inventory or Inventory(), self._thing(), names or (), self.say)

    def action_slowest(self) -> None:
        """Open the sheet on which the members of the array, or the drives of the card, are read in turn."""
        device = self._thing()
        if device is None:
            self.say("There is no device under the cursor.")
        else:
            self.workbench_app.do("slowest.show", device)

    def action_new_array(self) -> None:
        """Open the sheet on which drives are ticked to make an array of."""
        self.workbench_app.do("arrays.create")

    def action_measure(self) -> None:
        """Take the device, or the folder of a filesystem, to the Bench screen."""
        selected = self._thing()
        device, folder = getattr(selected, "device", None), getattr(selected, "folder", None)
        if selected is not None and device is not None:
            self.workbench_app.measure_device(str(selected.target), device)
        elif folder is not None:
            self.workbench_app.measure_device(folder, folder)
        else:
            self.say("This has no block device to measure.", severity="warning")


def _staged_rows(inventory: Inventory, staged: Mapping[str, object]) -> frozenset[str]:
    """Rows in which something is staged: a disk's own, or the array's that it is."""
    things = [device for device in map(inventory.find, staged) if device is not None]
    nodes = [inventory.at(device.device) for device in things if not isinstance(device, Controller) and device.device]
    return frozenset((*staged, *(str(views[0].target) for views in nodes if views)))
