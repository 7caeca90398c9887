"""The Devices screen: devices, their settings, and the steps from a staged to a verified value."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on

from app.core.presentation.device import count_texts, device_facts, problem_facts
from app.core.presentation.setting import UNREAD, TuningCells, tuning_cells
from app.core.presentation.table import Facts
from app.core.session.state import ChangeRecord, Session
from app.tui.activity_watch import ActivityWatch
from app.tui.devices.activity_line import ActivityLine
from app.tui.devices.detail import DeviceDetail, FactsPane
from app.tui.devices.list_detail import ListDetailScreen
from app.tui.devices.settings_panel import (
    TargetSettings,
    changeable_first,
    parts_of,
    read_again,
    settings_by_key,
    vendor_defect,
)
from app.tui.header_text import SCANNING_TEXT
from app.tui.notices import commands_in
from app.tui.welcome import welcome_lines
from backends.errors import RaidbenchError
from backends.model import KERNEL, Array, Controller, Device, Drive, Inventory, Target
from backends.protocol import CachedReadings
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.tui.devices.staged_changes import ChangeController
    from app.tui.feature_hooks import FileDifference
    from backends.change import Change

THREE_PANES = 170
"""Minimum width of the terminal in columns for the facts to be shown next to the settings."""

BATCH = 32
"""Number of devices whose settings are read between two updates of the list."""

REST_S = 0.15
"""Seconds that the cursor rests before its device is shown. Repeated arrow keys only redraw the list."""

SOON_S = 0.05
"""Seconds within which the settings of most devices are read. Only a longer wait is shown."""


class DevicesScreen(ListDetailScreen):
    """The devices of this machine. The filter and the pane of facts are created when they are needed."""

    NAME: ClassVar[str] = "devices"
    HORIZONTAL_BREAKPOINTS = [*ListDetailScreen.HORIZONTAL_BREAKPOINTS, (THREE_PANES, "-three")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self._inventory: Inventory | None = None
        self._shown: str | None = None  # address of the shown device, not of the row under a moving cursor
        self._is_first_start = False
        self._tuned: dict[Target, TuningCells] = {}
        self._why_empty = ""
        self._changes: tuple[ChangeRecord, ...] = ()
        self._moved: frozenset[Target] | None = None
        self._drifts: tuple[FileDifference, ...] = ()
        self._is_facts_instead = False  # the facts are shown only because a device has no settings
        self._pending_cursor: tuple[str, str] | None = None  # put the cursor on this target and key once read
        self._activity: ActivityWatch | None = None
        self._activity_line = ActivityLine()

    def make_detail(self) -> DeviceDetail:
        """Return the widget for the selected device, with its present I/O."""
        return DeviceDetail(self._activity_line)

    def on_mount(self) -> None:
        """At the very first start, show the tab of facts, because it contains the first steps."""
        self._activity = ActivityWatch(self, self._devices_with_shown_activity, self._show_activity)
        self.panel.wanted = lambda: self._selected
        self._is_first_start = bool(welcome_lines(self.workbench_app))
        if self._is_first_start:
            self.detail.show_tab("facts")

    @on(events.ScreenResume)
    def _read_at_once(self) -> None:
        """Read the present I/O again at once."""
        if self._activity is not None:
            self._activity.restart()

    def _devices_with_shown_activity(self) -> frozenset[str]:
        return self.devices.active_nodes | frozenset(self._activity_line.devices)

    def _show_activity(self) -> None:
        if self._activity is not None:
            self._activity_line.show(self._activity.meter)
            self.devices.update_activity()

    def _select_activity(self, device: Device | None) -> None:
        """Show the present I/O of this device, which is read at once if it is not read yet."""
        self._activity_line.select(self._inventory or Inventory(), device)
        if self._activity is not None and not self._devices_with_shown_activity() <= self._activity.meter.devices:
            self._activity.restart()

    @property
    def _selected(self) -> str | None:
        """The address under the cursor. Every key acts on it, even while another device is still shown."""
        return self.devices.selected

    def on_resize(self, event: events.Resize) -> None:
        """Show the facts next to the settings if there is room for three panes."""
        if self.detail.facts_apart != (event.size.width >= THREE_PANES):
            self.detail.facts_apart = event.size.width >= THREE_PANES
            self.detail.show_tab(self.detail.tab)
            if self.detail.facts_apart and not self.query("#facts-pane"):
                self.call_later(self._open_facts)

    async def _open_facts(self) -> None:
        """Create the pane of facts and fill it."""
        await self.query_one("#body").mount(Pane("Facts", FactsPane(id="facts-beside"), id="facts-pane"))
        self._show_facts(is_new=True)

    def show(self, session: Session) -> None:
        """Update the list if the session has changed."""
        if session.probing:
            self._moved = None
        if session.inventory is not self._inventory:
            if self._moved is not None:  # the scan after a change may end before the change is recorded as ended
                self._moved = frozenset(record.change.target for record in session.changes if record.end is None)
            self._take(session.inventory)
        if session.changes is not self._changes:
            before, self._changes = self._changes, session.changes
            if self._activity is not None:
                self._activity.meter.recheck()
            self._reread_changed(
                [change for change in session.changes if change.end is not None and change not in before]
            )
        self._fill()
        if self.workbench_app.drifted.drifts is not self._drifts:
            self._drifts = self.workbench_app.drifted.drifts
            self.panel.fill()
        self._say_empty(session)
        if self.workbench_app.wanted_place is not None and not session.probing:
            place, self.workbench_app.wanted_place = self.workbench_app.wanted_place, None
            self.go_to_device(*place)

    def _say_empty(self, session: Session) -> None:
        """Show why there are no devices or no settings."""
        inventory = session.inventory
        no_devices = SCANNING_TEXT if session.probing else "no devices were found: raidbench doctor shows why"
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
            self.devices.empty = f"nothing matches {self.devices.filter_text.strip()}: esc shows all"
        else:
            self.devices.empty = no_devices

    def _take(self, inventory: Inventory) -> None:
        """Show a new inventory. The selected device stays selected while it exists."""
        before = self._selected_device()
        self._inventory = inventory
        self._fill()
        if inventory.drives or inventory.arrays:
            self._read_tuning()
        if self._selected is not None and self._selected_device() != before:
            self._show_selected(moved=self._moved)

    def _reread_changed(self, ended: Sequence[ChangeRecord]) -> None:
        """Read the settings again that finished changes have set."""
        if ended:
            self._moved = frozenset(record.change.target for record in ended)
            self.workbench_app.workbench.hardware.machine.mark_unread(self._moved)  # for the check
            self._show_selected(moved=self._moved)
            self._read_tuning()  # for the devices that are not selected

    def _fill(self) -> None:
        staged = self.workbench_app.staged
        inventory = self._inventory or Inventory()
        self.devices.show(inventory, self._tuned, _staged_rows(inventory, staged))
        self.note(self.devices.count or self._awaited_text() or " · ".join(count_texts(inventory)))
        self.show_hidden_cells()

    def _awaited_text(self) -> str:
        """Return the sources that have not answered yet. Until a controller answers, its arrays are listed as disks."""
        bench = self.workbench_app.workbench
        names = sorted(bench.hardware.waited_for) if bench.session.probing else []
        return f"waiting for {units.first_of(names, 3)} ..." if names else ""

    def _read_tuning(self) -> None:
        work = partial(self._read_each_tuning, self._inventory or Inventory())
        self.run_worker(work, group="tuning", exclusive=True)  # type: ignore[arg-type]  # a partial: see `_show_selected`

    async def _read_each_tuning(self, inventory: Inventory) -> None:
        """Read the main settings of the listed devices (`TuningCells`): visible ones first, others in small groups."""
        machine = self.workbench_app.workbench.hardware.machine
        rows = [row.key for row in self.devices.rows]
        top = round(self.devices.scroll_y)
        for number, key in enumerate((*rows[top:], *rows[:top]), 1):
            device = inventory.find(key)
            if device is not None and not isinstance(device, Controller) and self._is_tuning_outdated(device):
                try:
                    with machine.using_last_scan():
                        cells = tuning_cells(await machine.quick_settings(device, inventory))
                except Exception:  # The reason is shown when the device is selected.
                    cells = UNREAD
                self._tuned[device.target] = cells
            if number % BATCH == 0:
                self._tuned = dict(self._tuned)
                self._fill()
                await asyncio.sleep(0)
        self._tuned = dict(self._tuned)
        self._fill()
        self.workbench_app.recheck()

    def _is_tuning_outdated(self, device: Array | Drive) -> bool:
        """Return whether the main settings of a device are unread, or a change to disk or backend may affect them."""
        if self._moved is None or self._inventory is None or device.target not in self._tuned:
            return True
        twin = self._inventory.twin(device)
        vendors = {target.backend for target in self._moved} - {KERNEL}
        return device.target.backend in vendors or bool(self._moved & {device.target, twin.target if twin else None})

    @on(KeyedTable.RowHighlighted, "#devices")
    def _highlighted(self) -> None:
        self.show_hidden_cells()
        if self._shown is None:
            self._show_row()
        elif self._selected not in (None, self._shown):
            self.run_worker(self._show_row_at_rest, group="read", exclusive=True)  # type: ignore[arg-type]  # see `_show_selected`

    async def _show_row_at_rest(self) -> None:
        """Show the device under the cursor once the cursor rests."""
        await asyncio.sleep(REST_S)
        self._show_row()

    def _show_row(self) -> None:
        """Show the device under the cursor, unless it is shown already."""
        if self._selected not in (None, self._shown):
            self._show_selected()

    def _selected_device(self) -> Device | None:
        """Return the device under the cursor."""
        if self._selected is None or self._inventory is None:
            return None
        return self._inventory.find(self._selected)

    def _show_selected(self, *, moved: frozenset[Target] | None = None) -> None:
        """Show facts and settings of the device under the cursor as soon as they are read.

        `moved`: targets that were set since the last reading; None if any setting may differ.
        """
        is_new = self._selected != self._shown
        first = self._shown is None
        self._shown = self._selected
        if is_new:
            self._why_empty, moved = "reading its settings ...", None
        device = self._selected_device()
        if first or not is_new or device is None:
            self._show_facts(is_new=is_new)
        # Keep the panel until the settings are read, so that the outcome of a change is never next to the old value.
        if device is not None:
            # Pass a partial: a newer worker may replace this one before it starts, and a coroutine would then warn.
            self.run_worker(partial(self._read, device, moved), group="read", exclusive=True)  # type: ignore[arg-type]
        elif self._selected is not None:
            self._show_settings((), "" if self._problems() else "this device is gone")

    def _problems(self) -> tuple[Facts, ...]:
        """Return the problems of the scan that the row under the cursor represents."""
        return problem_facts(self._inventory or Inventory(), self._selected or "")

    def copyable_text(self) -> str:
        """Return the commands that fix the problem under the cursor."""
        inventory = self._inventory or Inventory()
        return "\n".join(
            commands_in(problem.hint)
            for problem in inventory.problems
            if problem.where == self._selected and problem.hint
        )

    def _show_facts(self, *, is_new: bool) -> None:
        device = self._selected_device()
        app = self.workbench_app
        urgent = self._problems()
        others: tuple[Facts, ...] = ()
        if device is not None:
            parts = self.panel.parts if self.panel.of == self._selected else ()
            names = {setting.label for part in parts for setting in part.settings}
            urgent += app.findings.facts(str(device.target))
            others = device_facts(app.workbench.jobs.with_history(device), excluded=names)
            self._show_history(device)
        self.show_title(device, self._selected or "")
        self._select_activity(device)
        for pane in self.query(FactsPane):
            pane.show((*urgent, *welcome_lines(app), *others), is_new=is_new)

    def _show_history(self, device: Device) -> None:
        """Show the history of a device if the history tab is open; if not, avoid the slow import of its module."""
        if self.detail.tab == "history":
            from app.core.presentation.device_history import device_events

            session = self.workbench_app.session
            self.detail.show_history(device_events(session, session.inventory, device))

    async def _read(self, device: Device, moved: frozenset[Target] | None) -> None:
        """Read the settings of the device and of its block device in Linux, and show them. Show cached values first."""
        bench, inventory = self.workbench_app.workbench, self._inventory or Inventory()
        machine = bench.hardware.machine
        parts: list[TargetSettings] = []
        why = ""
        is_new = self.panel.of != str(device.target)
        waiting = self.set_timer(SOON_S, partial(self._show_read, device, ()), pause=not is_new)
        try:
            if isinstance(machine.backend(device.target), CachedReadings) and (is_new or not self.panel.parts):
                self._show_read(device, await parts_of(bench, inventory, device, machine.read_cached))
            read = machine.read if moved is None else partial(read_again, machine, self.panel.parts, moved)
            parts = await parts_of(bench, inventory, device, read)
        except RaidbenchError as error:
            why = error.message
        except Exception as error:  # A defect in a vendor module must not end the workbench.
            bench.problem(str(device.target), vendor_defect(device, error))
            why = vendor_defect(device, error).message
        finally:
            waiting.stop()
        self._show_read(device, parts, why)
        if parts and not isinstance(device, Controller):
            self._tuned = {**self._tuned, device.target: tuning_cells(settings_by_key(parts))}
            self._fill()
        if parts and self.workbench_app.drifted.file is not None:
            self.workbench_app.recheck()  # compares the new readings with the file

    def _show_read(self, device: Device, parts: Sequence[TargetSettings], why: str | None = None) -> None:
        """Show the settings that were read; without any, show `why`. None means that they are still being read."""
        at = str(device.target)
        if at != self._selected or (not parts and why is None and self.panel.of == at):
            return
        is_new = self.panel.of != at
        with self.app.batch_update():
            if is_new and parts and self._is_facts_instead:
                self._is_facts_instead = False
                self.detail.show_tab("settings" if self.detail.tab == "facts" else self.detail.tab)
            self._show_settings(changeable_first(parts), why or ("" if parts or why is not None else self._why_empty))
            self._show_facts(is_new=is_new)

    def _show_settings(self, parts: tuple[TargetSettings, ...], why: str) -> None:
        self._why_empty = why
        self.panel.show(parts, of=self._selected)
        if self._pending_cursor is not None and any(part.target == self._pending_cursor[0] for part in parts):
            self.panel.point_at(*self._pending_cursor)
            self._pending_cursor = None
        self._say_empty(self.workbench_app.session)

    def _change_controller(self) -> ChangeController:
        from app.tui.devices.staged_changes import ChangeController

        return ChangeController(self.workbench_app, self.panel, self._rescan_after)

    def _rescan_after(self, changes: tuple[Change, ...]) -> None:
        """Scan the devices that these changes may have affected."""
        self.app.run_worker(self.workbench_app.rescan_after_change(changes), group="probe", exclusive=True)

    def action_into(self) -> None:
        """Expand the row, go to the device, or open the choices of its setting."""
        if self.detail.holds_focus:
            self.action_choose()
        elif not self.devices.open_branch():
            self._go_to_settings()

    def leave_list(self) -> None:
        """Say that this is the top of the list."""
        self.say("This is the top level: enter opens a device.")

    def go_inside(self) -> None:
        """Focus the selected device."""
        self._show_row()
        if self._is_first_start:  # The facts tab with the first steps is still shown.
            self._is_first_start = False
            self.detail.show_tab("settings")
        super().go_inside()

    def on_descendant_focus(self) -> None:
        """Show the device under the cursor when one of the device's widgets gets the focus."""
        if self.detail.holds_focus:
            self._show_row()

    def enter_row(self) -> None:
        """Handle Enter on a row: go into the shown tab of the device, without settings into its facts."""
        if self._has_settings():
            self.go_inside()
        else:
            self._is_facts_instead = self.detail.tab != "facts"
            self._go_to_facts()

    def _go_to_settings(self) -> None:
        """Show the tab of settings and go into it; for a device without settings, that of the facts."""
        if self._has_settings():
            self.detail.show_tab("settings")
            self.go_inside()
        else:
            self._go_to_facts()

    def _has_settings(self) -> bool:
        """Return whether the device under the cursor, or its block device in Linux, declares settings."""
        device, hardware = self._selected_device(), self.workbench_app.workbench.hardware
        queue = None if device is None or self._inventory is None else self._inventory.twin(device)
        return any(hardware.settings(view.target) for view in (device, queue) if view is not None)

    def _go_to_facts(self) -> None:
        """Go into the facts of the device: in their own pane if there is one, else in their tab."""
        if self.detail.facts_apart and self.query("#facts-beside"):
            self._show_row()
            self.leave_inside()
            self.set_focus(self.query_one("#facts-beside"))
        else:
            self._is_first_start = False  # else the tab of settings would follow the first steps
            self.detail.show_tab("facts")
            self.go_inside()

    def go_to_device(self, address: str, key: str = "") -> None:
        """Go to the facts of a device or of a problem of the scan; with `key`, to this setting of the device."""
        row = self._row_of(self._inventory or Inventory(), address)
        self.devices.go_to(row)
        if not self.devices.filter_text:  # it hid the row
            self.remove_filter()
        if not key:
            self._go_to_facts()
            return
        self._pending_cursor = (address, key)
        self._go_to_settings()
        if self.panel.of == row:
            self.panel.point_at(address, key)
            self._pending_cursor = None

    def choose_setting(self, row: str) -> None:
        """Open the legal values of a setting of the selected device. `row`: key of the row of the setting."""
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
        self._show_row()
        super().action_tab()
        device = self._selected_device()
        if device is not None:
            self._show_history(device)

    def action_cycle(self, step: int) -> None:
        """Stage the next or previous value; from the list, go to the settings."""
        if self.focused is self.panel.table:
            self.panel.cycle(step)
        else:
            self._go_to_settings()

    def action_wanted(self) -> None:
        """Stage the state file's value for the current setting; if it does not differ, go to the next one that does."""
        drifted = self.workbench_app.drifted
        if drifted.file is None:
            self.say("No state file is configured: set state_file in the configuration (docs/apply.md).")
        elif not (self.focused is self.panel.table and self.panel.stage_wanted()):
            self._go_to_drift()

    def _go_to_drift(self) -> None:
        """Go to the next setting that differs from the state file, in the order of the file."""
        inventory = self._inventory or Inventory()
        places = [
            (str(difference.target), difference.key)
            for difference in self._drifts
            if inventory.find(str(difference.target)) is not None
        ]
        if not places:
            self.say(f"No setting that was read differs from {self.workbench_app.drifted.name}.")
            return
        here = self.panel.place if self.panel.of == self._selected else None
        rows = [self._row_of(inventory, target) for target, _ in places]
        if here in places:
            at = (places.index(here) + 1) % len(places)
        else:
            at = rows.index(self._selected) if self._selected in rows else 0
        self.go_to_device(*places[at])
        number = f"Difference {at + 1} of {len(places)}"
        self.workbench_app.notify_transient(f"{number}: <devices.wanted> stages the value of the file.")

    @staticmethod
    def _row_of(inventory: Inventory, target: str) -> str:
        """Return the key of the row that shows a target. A disk is shown as its array or as its controller's drive."""
        found_device = inventory.find(target)
        device = None if found_device is None or isinstance(found_device, Controller) else found_device.device
        views = inventory.at(device) if device is not None else ()
        return str(views[0].target) if views else target

    def action_match(self, step: int) -> None:
        """Go to the next or previous match of the filter."""
        if not self.devices.filter_text.strip():
            self.say("There is no filter: <devices.filter> starts one.")
        elif not self.devices.next_match(step):
            self.say(f"Nothing matches {self.devices.filter_text.strip()}.")

    def action_unstage(self) -> None:
        """Unstage the value of the setting."""
        self.panel.unstage()

    def action_review(self) -> None:
        """Plan all staged changes, show them, and apply them after confirmation."""
        if not self.workbench_app.staged:
            self.say("Nothing is staged. On a setting, <devices.next> stages the next value and enter lists all.")
            return
        work = self._change_controller().review()
        self.workbench_app.hold_keys(self.run_worker(work, group="review", exclusive=True))

    def action_undo(self) -> None:
        """Undo the last change."""
        if self.workbench_app.trials.decidable:
            self.action_take_back()
            return
        self._undo(self.workbench_app.workbench.changes.undoable()[:1])

    def action_undo_all(self) -> None:
        """Undo all changes, newest first."""
        self._undo(self.workbench_app.workbench.changes.undoable())

    def _undo(self, changes: Sequence[ChangeRecord]) -> None:
        if not changes:
            self.say("There is nothing to undo in this session.")
            return
        work = self._change_controller().undo(tuple(change.id for change in changes))
        self.workbench_app.hold_keys(self.app.run_worker(work, group="undo", exclusive=True))

    def apply_filter(self, text: str) -> None:
        """Show only the rows with all words of `text`."""
        self.devices.filter(text)
        self._fill()
        self._say_empty(self.workbench_app.session)

    def action_sort(self) -> None:
        """Choose the order of the list."""
        from app.tui.devices.sort_columns import choose_order

        choose_order(self.workbench_app, self.devices)

    def action_columns(self) -> None:
        """Choose the columns of the list."""
        from app.tui.devices.sort_columns import choose_columns

        work = choose_columns(self.workbench_app, self.devices)
        self.workbench_app.hold_keys(self.run_worker(work, group="columns", exclusive=True))

    def action_activity(self) -> None:
        """Show the present I/O of the devices, or their settings."""
        if self._activity is not None:
            self.devices.show_activity(None if self.devices.shows_activity else self._activity.meter)
            self._activity.restart()
            self.show_hidden_cells()

    def action_rescan(self) -> None:
        """Scan the hardware again."""
        self.app.run_worker(self.workbench_app.look_for_hardware(), group="probe", exclusive=True)
        self.say("Scanning the hardware again.")

    def action_export(self) -> None:
        """Write the settings of the device, or of all matches of the filter, to a file."""
        names = self.devices.listing.matching
        if names is not None and not names:
            self.say(f"Nothing matches {self.devices.filter_text.strip()}: esc shows all.")
            return
        self.workbench_app.do(
            "apply.export", self._inventory or Inventory(), self._selected_device(), names or (), self.say
        )

    def action_slowest(self) -> None:
        """Open the screen on which the members of the array, or the drives of the controller, are read in turn."""
        self._do_with_device("slowest.show")

    def action_observe(self) -> None:
        """Open the screen that shows what the device does, and which services wait for storage."""
        self._do_with_device("observe.show")

    def _do_with_device(self, action: str) -> None:
        """Call an action of a feature with the device under the cursor."""
        device = self._selected_device()
        if device is None:
            self.say("There is no device under the cursor.")
        else:
            self.workbench_app.do(action, device)

    def action_new_array(self) -> None:
        """Open the screen on which drives are ticked for a new array."""
        self.workbench_app.do("arrays.create")

    def action_measure(self) -> None:
        """Select the device, or the folder of a filesystem, on the Bench screen."""
        selected = self._selected_device()
        device, folder = getattr(selected, "device", None), getattr(selected, "folder", None)
        if selected is not None and device is not None:
            self.workbench_app.measure_device(str(selected.target), device)
        elif folder is not None:
            self.workbench_app.measure_device(folder, folder)
        else:
            self.say("This row has no block device to measure.", severity="warning")


def _staged_rows(inventory: Inventory, staged: Mapping[str, object]) -> frozenset[str]:
    """Return the keys of the rows with staged values. Values of a disk mark the row that shows it (`_row_of`)."""
    devices = [device for device in map(inventory.find, staged) if device is not None]
    nodes = [inventory.at(device.device) for device in devices if not isinstance(device, Controller) and device.device]
    return frozenset((*staged, *(str(views[0].target) for views in nodes if views)))
