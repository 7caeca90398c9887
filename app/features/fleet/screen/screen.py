"""Hosts screen: one row per host, hosts with problems first, and details of the selected host."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult

from app.core.fio.profiles import PROFILES
from app.core.presentation.device_table import matching_keys
from app.core.presentation.table import Table
from app.features.fleet.hosts.failure_causes import interpret
from app.features.fleet.hosts.grouping import answered_text
from app.features.fleet.hosts.overview import COLUMNS, WORDS, HostOverview
from app.features.fleet.screen.targets import FOLDER, FolderDialog, target_items
from app.tui import render
from app.tui.devices.detail import FactsPane
from app.tui.filtered_screen import FilteredScreen
from app.tui.suspension import JOINT
from backends.display_names import is_path
from backends.errors import RaidbenchError
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.keyed_table import KeyedTable, TableColumn
from widgets.pane import Pane
from widgets.question import KeyedAnswer, QuestionDialog
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.features.check.entries import FindingEntry
    from app.features.fleet.hosts.query import Fleet
    from app.features.fleet.screen.multihost_run import MultiHostRunController

REDRAW = 0.25
"""Minimum seconds between two redraws while answers arrive: hundreds of hosts must not cause hundreds of redraws."""

NOBODY = "no hosts were given; start the workbench with --hosts NODESET, such as --hosts 'node[1-40]'"


SENTENCE = 34
"""Minimum width of the state column in cells. If it would be narrower, another column is hidden."""


def _columns() -> tuple[TableColumn, ...]:
    shown = render.columns(Table(columns=COLUMNS))
    return tuple(replace(column, least=SENTENCE) if column.key == "state" else column for column in shown)


class HostsScreen(FilteredScreen):
    """Shows the hosts that were given with `--hosts` when the TUI was started."""

    NAME: ClassVar[str] = "hosts"
    AUTO_FOCUS = "#hosts"

    def __init__(self) -> None:
        super().__init__()
        self._overview = HostOverview(())
        self._drawing = False
        self._marked: frozenset[str] = frozenset()
        self._words = ""
        self._folder = ""
        self._first: str | None = None
        self._described: str | None = None  # the host whose details are shown

    def body(self) -> ComposeResult:
        """Yield the list of hosts and the details of the selected host."""
        with Pane("Hosts", id="hosts-pane"):
            yield KeyedTable(_columns(), id="hosts", empty=NOBODY)
        with Pane("", id="host-pane"):
            yield FactsPane(id="host-facts")

    def on_mount(self) -> None:
        """Query the hosts, if any were given."""
        if self.workbench_app.options.fleet is not None:
            self.action_ask()

    @property
    def table(self) -> KeyedTable:
        """Return the table with the list of hosts."""
        return self.query_one("#hosts", KeyedTable)

    @property
    def filtered_list(self) -> KeyedTable:
        """Return the table with the list of hosts."""
        return self.table

    @property
    def severities(self) -> Sequence[str]:
        """Return the severities of the findings of all hosts."""
        return self._overview.severities

    def apply_filter(self, text: str) -> None:
        """Show only the hosts with all words of `text` in their row."""
        self._words = text
        self._draw()

    def action_back(self) -> None:
        """Leave the filter."""
        if not self.clear_filter():
            super().action_back()

    def action_findings(self) -> None:
        """List the findings of all hosts."""
        fleet = self.workbench_app.options.fleet
        if fleet is None:
            self.say(f"There are no hosts: {NOBODY}.")
            return
        from app.features.fleet.screen.findings import HostFindingsScreen

        self.app.push_screen(HostFindingsScreen(fleet, lambda: self._overview, self._open_host))

    def action_open(self) -> None:
        """Show the devices of the host under the cursor."""
        fleet, host = self.workbench_app.options.fleet, self.table.cursor
        if fleet is None or host is None:
            self.say(f"There is no host to open: {NOBODY}." if fleet is None else "There is no host to open.")
            return
        self._open_host(host)

    def _open_host(self, host: str, entry: FindingEntry | None = None) -> None:
        """Show the devices of a host; with `entry`, go to the device of this finding."""
        from app.features.fleet.screen.host import HostScreen

        fleet = self.workbench_app.options.fleet
        assert fleet is not None
        self.app.push_screen(HostScreen(fleet, host, self._overview, entry))

    @on(KeyedTable.RowSelected, "#hosts")
    def _row_selected(self) -> None:
        if self.is_active:  # ignore a second Enter before the first one has opened the screen
            self.action_open()

    def action_mark(self) -> None:
        """Mark or unmark the host under the cursor."""
        if (host := self.table.cursor) is not None:
            self._marked ^= {host}
            self._draw()
            self.table.action_cursor(1)

    def action_mark_all(self) -> None:
        """Mark all listed hosts that answered. If all of them are marked already, unmark all."""
        answered = frozenset(self._overview.answered_hosts) & {row.key for row in self.table.rows}
        self._marked = frozenset() if answered and answered <= self._marked else self._marked | answered
        self._draw()
        self.say(f"{plural(len(self._marked), 'host')} marked.")

    def action_measure(self) -> None:
        """Let the user choose a workload for the marked hosts and start it. If a run is in progress, show that run."""
        fleet, joint = self.workbench_app.options.fleet, self._joint
        if joint is not None and joint.running:
            self._show_joint(joint)
        elif fleet is None:
            self.say(f"There are no hosts to measure on: {NOBODY}.")
        elif not self._marked:
            self.say(
                "No host is marked. Press <hosts.mark> to mark a host, or <hosts.all> for all that responded;"
                " then press <hosts.measure> to measure."
            )
        else:
            work: Any = partial(self._choose, fleet)  # Textual calls it.
            self.workbench_app.hold_keys(self.run_worker(work, group="choose", exclusive=True))

    @property
    def _joint(self) -> MultiHostRunController | None:
        """Return the current or last run on many hosts; None before the first."""
        return cast("MultiHostRunController | None", self.workbench_app.background.get(JOINT))

    async def _choose(self, fleet: Fleet) -> None:
        """Ask for the workload and the target, ask for confirmation, then start the run."""
        from app.features.fleet.screen.multihost_run import MultiHostRunController

        app = self.workbench_app
        hosts = tuple(host for host in fleet.hosts if host in self._marked)
        count = plural(len(hosts), "host")
        choices = tuple(ChoiceItem(value=name, label=name, help=profile.title) for name, profile in PROFILES.items())
        name = await app.push_screen_wait(ChoiceDialog(f"Workload on {count}", choices, app.options.profile))
        if name is None:
            return
        job = PROFILES[name].job
        target = await self._ask_target(hosts, f"{name} on {count}", writes=job.writes)
        if not target:
            return
        text = "A scratch file is created there and deleted afterwards." if is_path(target) else "Nothing is written."
        question = QuestionDialog(
            f"Measure {target} on {count} at once?",
            (
                KeyedAnswer(key="s", label="Start", value="start"),
                KeyedAnswer(key="escape", label="Cancel", value="leave"),
            ),
            f"{name}: {job.describe()}. {text}",
        )
        if await app.push_screen_wait(question) == "start":
            app.background[JOINT] = joint = MultiHostRunController(app, fleet, hosts, name, target)
            joint.start()
            self._show_joint(joint)

    async def _ask_target(self, hosts: tuple[str, ...], title: str, *, writes: bool) -> str | None:
        """Return the chosen target or the typed folder; None or "" if the user cancels. Only a folder is written to."""
        target: str | None = FOLDER
        if not writes:
            choices = target_items(self._overview.targets_on(hosts), hosts)
            target = await self.workbench_app.push_screen_wait(ChoiceDialog(f"Target of {title}", choices))
        if target != FOLDER:
            return target
        help = "Path of a folder on each host, which they do not share, for a scratch file."
        more = " Multi-host runs never write to devices." if writes else ""
        dialog = FolderDialog(f"Folder of {title}", self._folder, help=help + more)
        path = await self.workbench_app.push_screen_wait(dialog)
        self._folder = path or self._folder
        return path

    def _show_joint(self, joint: MultiHostRunController) -> None:
        from app.features.fleet.screen.multihost_run import JointScreen

        self.app.push_screen(JointScreen(joint))

    def action_ask(self) -> None:
        """Query every host again."""
        fleet = self.workbench_app.options.fleet
        if fleet is None:
            self.say(f"No hosts available: {NOBODY}.")
            return
        self._overview = HostOverview(fleet.hosts)
        self._draw()
        self.run_worker(self._ask, group="hosts", exclusive=True)  # type: ignore[arg-type]  # Textual calls it

    async def _ask(self) -> None:
        fleet, overview = self.workbench_app.options.fleet, self._overview
        assert fleet is not None
        try:
            async with aclosing(fleet.ask(fleet.hosts, WORDS)) as answers:
                async for raw in answers:
                    overview.take(interpret(raw))
                    self._draw_soon()
                    await asyncio.sleep(0)  # handle keys between two answers, even if many arrive at once
        except RaidbenchError as error:
            self.workbench_app.show_error(error, title="Cannot query the hosts")
            self.table.empty = error.message
            self._overview = HostOverview(())
        self._draw()

    def _draw_soon(self) -> None:
        if not self._drawing:
            self._drawing = True
            self.set_timer(REDRAW, self._draw)

    def _draw(self) -> None:
        """Update the rows and the details from the answers so far."""
        self._drawing = False
        if not self.app.is_running or not self.query("#hosts"):
            return  # the screen is closing
        table_rows, untouched = render.rows(self._matches()), self.table.cursor == self._first
        rows = tuple(replace(row, marked=True) if row.key in self._marked else row for row in table_rows)
        self.table.rows = rows
        if untouched and rows:  # until the user moves the cursor, it stays on the first row, which is the worst host
            self.table.cursor = rows[0].key
        self._first = rows[0].key if rows else None
        pane, gathered = self.query_one("#hosts-pane", Pane), self._overview.gathered
        pane.title = f"Hosts, waiting for {len(gathered.waiting)}" if gathered.waiting else "Hosts"
        pane.note = answered_text(gathered).rstrip(".")
        if self._words.strip():
            pane.note = f"{len(rows)} of {len(gathered.asked)} match"
            self.table.empty = f"nothing matches {self._words.strip()}: Esc shows all"
        self._show_detail()
        self.workbench_app.show_header()
        if not self.is_current:
            self.workbench_app.refresh_screen()  # the list of findings shows the same answers

    def _matches(self) -> Table:
        """Return the hosts whose row has all words of the filter."""
        table, words = self._overview.table(), self._words.lower().split()
        texts = {
            row.key: " ".join(cell if isinstance(cell, str) else cell.text for cell in row.cells) for row in table.rows
        }
        shown = matching_keys({key: text.lower() for key, text in texts.items()}, self._words)
        self.table.sought = tuple(words)
        return replace(table, rows=tuple(row for row in table.rows if row.key in shown))

    @on(KeyedTable.RowHighlighted, "#hosts")
    def _show_detail(self) -> None:
        host = self.table.cursor
        is_new, self._described = host != self._described, host
        self.query_one("#host-pane", Pane).title = host or ""
        detail = () if host is None else self._overview.host_detail_lines(host)
        self.query_one(FactsPane).show(detail, is_new=is_new)
