"""Screen with the findings of many hosts: a row for each host, which expands to its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from app.core.presentation.device_table import matching_keys
from app.core.presentation.finding_counts import findings_text
from app.core.presentation.labels import field_name
from app.core.presentation.table import Cell, Column, ExpandState, Facts, Row, StatusSymbol, Table, Tone
from app.features.check.entries import COLUMNS, FindingEntry
from app.features.check.list_screen import FindingListScreen
from app.features.fleet.hosts.grouping import answered_text
from app.tui import render
from app.tui.devices.device_list import list_rows
from widgets.keyed_table import TableColumn, TableRow
from widgets.text_utils.text import width_of

if TYPE_CHECKING:
    from app.features.fleet.hosts.overview import HostOverview
    from app.features.fleet.hosts.query import Fleet

_JOINT = "\n"
"""Separates the host from the number of the finding in the key of a row. A host name has no line break."""

_INDENT = 3
"""Number of cells by which findings are indented below their host."""

_COLUMNS = (Column(key="host", title="Host, object", shrinks=True, most=24), COLUMNS[0], *COLUMNS[2:])
"""Columns of the list. The row of a host has the number of its findings across all columns."""


class HostFindingsScreen(FindingListScreen):
    """Lists the hosts, those with problems first. Each host expands to its findings."""

    NAME: ClassVar[str] = "host-findings"
    TITLE = "Findings of the hosts"

    def __init__(
        self,
        fleet: Fleet,
        overview: Callable[[], HostOverview],
        open_finding: Callable[[str, FindingEntry], object],
        host: str | None = None,
    ) -> None:
        """`overview`: returns the present overview of the hosts. `host`: host to expand, under the cursor.

        `open_finding`: shows the device of a finding of a host.
        """
        super().__init__()
        self._fleet, self._get_overview, self._open_finding, self._first = fleet, overview, open_finding, host
        self._opened = frozenset(() if host is None else (host,))

    def on_mount(self) -> None:
        """Put the cursor on the host."""
        if self._first is not None:
            self.filtered_list.cursor = self._first

    @property
    def _overview(self) -> HostOverview:
        return self._get_overview()

    @property
    def severities(self) -> Sequence[str]:
        """The severities of the findings of all hosts."""
        return self._overview.severities

    def make_table(self) -> Table:
        """Return the hosts and the findings that match the filter. With a filter, all hosts are expanded."""
        return Table(columns=_COLUMNS, rows=tuple(self._rows()))

    def _rows(self) -> Iterator[Row]:
        words = self.words.strip()
        for host in self._overview.hosts_in_order():
            entries = {f"{host}{_JOINT}{at}": entry for at, entry in enumerate(self._overview.findings_of(host))}
            state = self._overview.findings_state(host)
            texts = {key: f"{host.lower()} {entry.search_text}" for key, entry in entries.items()}
            shown = matching_keys(texts, words)
            if words and not shown and not matching_keys({host: f"{host} {state}".lower()}, words):
                continue
            is_open = bool(words) or host in self._opened
            fold = ExpandState.NOTHING if not entries else ExpandState.OPEN if is_open else ExpandState.CLOSED
            yield Row(key=host, cells=(host,), banner=(host, self._state_cell(host, state)), fold=fold)
            for key in entries if is_open else ():
                if key in shown:
                    severity, where, *others = entries[key].cells
                    yield Row(key=key, depth=1, cells=(where, severity, *others))

    def _state_cell(self, host: str, state: str) -> str | Cell:
        if host in self._overview.answered_hosts:
            return state
        is_missing = host not in self._overview.gathered.waiting
        return Cell(state, Tone.BAD, StatusSymbol.FAILED) if is_missing else Cell(state, Tone.DIM)

    def make_columns(self, shown: Table) -> tuple[TableColumn, ...]:
        """Return the columns, as wide as the findings of all hosts need, so that they stay when a host expands."""
        entries = self._overview.all_findings
        widths = {
            "host": _INDENT + max((width_of(entry.where) for entry in entries), default=0),
            "finding": max((width_of(entry.summary) for entry in entries), default=0),
            "fix": max((width_of(entry.fix) for entry in entries), default=0),
        }
        return tuple(
            replace(column, width=max(width_of(column.label), widths.get(column.key, 0)))
            if column.key in (*widths, "severity")
            else column
            for column in render.columns(shown)
        )

    def make_rows(self, shown: Table) -> tuple[TableRow, ...]:
        """Return the rows of the list, with the signs of expanded and collapsed hosts."""
        return list_rows(shown)

    def title_text(self) -> str:
        """Return the number of findings of all hosts by severity."""
        return f"{self.TITLE}: {findings_text(self._overview.severities)}"

    def note_text(self) -> str:
        """Return how many hosts answered, or how many rows match the filter."""
        if not self.words.strip():
            return answered_text(self._overview.gathered).rstrip(".")
        shown = sum(_JOINT in row.key for row in self.filtered_list.rows)
        return f"{shown} of {len(self._overview.severities)} match"

    def empty_text(self) -> str:
        """Return why there are no rows."""
        return "no hosts"

    def describe(self, key: str) -> tuple[str, tuple[Facts, ...], str]:
        """Return a finding in full or the details of a host, and what Enter does."""
        host, entry = self._at(key)
        if entry is None:
            verb = "collapses" if host in self._opened else "expands"
            hint = f"Enter {verb} {host}."
            if not self._overview.findings_of(host) or self.words.strip():
                hint = f"{host}: {self._overview.findings_state(host).rstrip('.')}."
            return host, self._overview.host_detail_lines(host), hint
        place = entry.device if entry.setting is None else f"the setting {field_name(entry.setting[1])}"
        return (
            f"{host}: {entry.where}",
            entry.facts,
            (f"Enter goes to {place} on {host}." if entry.device else f"{entry.where} is no device of {host}."),
        )

    def _at(self, key: str) -> tuple[str, FindingEntry | None]:
        """Return the host of a row, and its finding if it is not the row of the host."""
        host, joint, number = key.partition(_JOINT)
        return host, self._overview.findings_of(host)[int(number)] if joint else None

    def open_row(self) -> None:
        """Expand or collapse the host under the cursor, or go to the device of the finding."""
        if (key := self.filtered_list.cursor) is None:
            return
        host, entry = self._at(key)
        if entry is None and not self._overview.findings_of(host):
            self.say(f"{host}: {self._overview.findings_state(host)}")
        elif entry is None:
            self._fold(host, host not in self._opened)
        elif not entry.device:
            self.say(f"{entry.where} is no device of {host}: the fix is below.")
        else:
            self._open_finding(host, entry)

    def _fold(self, host: str, is_open: bool) -> None:
        self._opened = self._opened | {host} if is_open else self._opened - {host}
        self.filtered_list.cursor = host
        self.show(self.workbench_app.session)

    def action_fold(self) -> None:
        """Expand all hosts, or collapse all if all are expanded."""
        hosts = frozenset(host for host in self._fleet.hosts if self._overview.findings_of(host))
        self.filtered_list.cursor = self._at(self.filtered_list.cursor or "")[0] or None
        self._opened = frozenset() if hosts <= self._opened else hosts
        self.show(self.workbench_app.session)

    def action_back(self) -> None:
        """Leave the filter, collapse the host under the cursor, or leave the list."""
        if self.clear_filter():
            return
        host = self._at(self.filtered_list.cursor or "")[0]
        if self.focused is self.filtered_list and host in self._opened:
            self._fold(host, False)
        else:
            self.dismiss()
