"""Screen with the findings of this machine. Enter stages the fix of a finding or goes to its device."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from app.core.presentation.device_table import matching_keys
from app.core.presentation.finding_counts import findings_text
from app.core.presentation.labels import field_name
from app.core.presentation.table import Facts, Row, Table
from app.core.session.state import Session
from app.features.check.entries import COLUMNS, FindingEntry, finding_entries
from app.features.check.list_screen import FindingListScreen
from app.features.check.runner import CheckResult
from app.features.check.tracker import CheckFindings
from app.tui import render
from backends.display_names import name_of
from widgets.keyed_table import TableRow
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface


def show_findings(app: AppInterface) -> None:
    """Open the list of findings."""
    if app.front is not None:
        app.push_screen(FindingsScreen())


class FindingsScreen(FindingListScreen):
    """Lists the findings of the last check, faults first."""

    NAME: ClassVar[str] = "findings"

    def __init__(self) -> None:
        super().__init__()
        self._checked: CheckResult | None = None
        self._entries: dict[str, FindingEntry] = {}
        self._first: str | None = None

    def on_mount(self) -> None:
        """Check the machine if that was not done yet."""
        self._first = self._tracker.last_visited  # Textual calls this before the handler of the base class
        if self._tracker.checked is None:
            self.workbench_app.recheck()

    @property
    def _tracker(self) -> CheckFindings:
        return cast("CheckFindings", self.workbench_app.findings)

    def show(self, session: Session) -> None:
        """Update the list and the selected finding."""
        checked = self._tracker.checked
        if checked is not None and checked is not self._checked:
            self._entries = {}
            for entry in finding_entries(checked):
                key = f"{entry.rule} {entry.where}"
                self._entries[key if key not in self._entries else f"{key} {entry.message}"] = entry
        self._checked = checked
        first, self._first = self._first, None
        super().show(session)
        if first in self._entries:
            self.filtered_list.cursor = first

    def make_table(self) -> Table:
        """Return the findings that match the filter."""
        shown = matching_keys({key: entry.search_text for key, entry in self._entries.items()}, self.words)
        rows = [Row(key=key, cells=entry.cells) for key, entry in self._entries.items() if key in shown]
        return Table(columns=COLUMNS, rows=tuple(rows))

    def make_rows(self, shown: Table) -> tuple[TableRow, ...]:
        """Return the rows of the list. Findings whose fix is staged are marked."""
        return tuple(replace(row, marked=self._is_staged(self._entries[row.key])) for row in render.rows(shown))

    def _is_staged(self, entry: FindingEntry) -> bool:
        change = entry.staged
        values = {} if change is None else self.workbench_app.staged.get(str(change.target), {})
        return change is not None and values.get(change.key) == change.value

    def title_text(self) -> str:
        """Return the number of findings by severity."""
        if self._checked is None:
            return "Findings"
        reports = sum(entry.severity is None for entry in self._entries.values())
        return findings_text(self._checked.severities) + (f", {plural(reports, 'report')}" if reports else "")

    def note_text(self) -> str:
        """Return the number of matches of the filter; without a filter, the number of rules."""
        if self.words.strip():
            return f"{len(self.filtered_list.rows)} of {len(self._entries)} match"
        if self._checked is None:
            return ""
        unanswered = len(self._checked.unknown)
        return plural(self._checked.rules, "rule") + (
            f"; {plural(unanswered, 'question')} unanswered" if unanswered else ""
        )

    def empty_text(self) -> str:
        """Return why there are no rows."""
        return "The hardware is being scanned ..." if self._checked is None else "no findings"

    def describe(self, key: str) -> tuple[str, tuple[Facts, ...], str]:
        """Return a finding in full, and what Enter does with it."""
        entry = self._entries[key]
        self._tracker.last_visited = key
        if entry.staged is not None:
            hint = f"Enter stages {entry.staged.text}." if not self._is_staged(entry) else "The fix is staged."
        elif entry.setting is not None:
            hint = f"Enter goes to the setting {field_name(entry.setting[1])}."
        else:
            hint = f"Enter goes to {entry.device}." if entry.device else f"{entry.where} is no device of this machine."
        device = self.workbench_app.session.inventory.find(entry.where)
        name = "" if device is None else name_of(device)
        return entry.where + (f" · {name}" if name not in entry.where else ""), entry.facts, hint

    def open_row(self) -> None:
        """Stage the fix of the finding under the cursor, or go to its setting or device."""
        key = self.filtered_list.cursor
        if key is None:
            return
        entry, app = self._entries[key], self.workbench_app
        if entry.staged is not None:
            app.stage(str(entry.staged.target), entry.staged.key, entry.staged.value)
        if entry.setting is None and not entry.device:
            self.say(f"{entry.where} is no device of this machine: the fix is below.")
            return
        self.dismiss()
        app.show_device(*(entry.setting or (entry.device, "")))
