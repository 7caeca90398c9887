"""The list of devices and its rows."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import replace

from textual import events

from app.core.benchmark.device_stats.activity import ActivityMeter
from app.core.benchmark.device_stats.diskstats import DeviceRates
from app.core.presentation import activity
from app.core.presentation.device_table import (
    COLUMNS,
    ORDERS,
    OTHERS,
    USUAL,
    DeviceListOptions,
    devices_table,
    hidden_cells_text,
    keys_by_name,
    matching_keys,
    search_texts,
)
from app.core.presentation.device_tree import TROUBLE
from app.core.presentation.setting import TuningCells
from app.core.presentation.table import Cell, ExpandState, Row, Table
from app.tui import render
from app.tui.devices.activity_line import node_names
from app.tui.header_text import SCANNING_TEXT
from backends.model import Array, Device, Inventory, Target
from backends.settings import Reading
from widgets.keyed_table import KeyedTable, TableCell, TableRow
from widgets.table_layout import plain

# -- rows of devices and settings -------------------------------------------------------------------------------------

SETTING_COLUMNS = ("setting", "now", "staged", "risk", "effect")
"""Columns of the settings table. The legal values are in the list that Enter opens."""


_FOLDS = {ExpandState.NOTHING: "  ", ExpandState.CLOSED: "▸ ", ExpandState.OPEN: "▾ "}


def list_rows(table: Table, staged: Container[str] = ()) -> tuple[TableRow, ...]:
    """Return the rows of the list: children indented, rows with staged values marked."""
    return tuple([_table_row(row, row.key in staged) for row in table.rows])


def _table_row(row: Row, marked: bool) -> TableRow:
    name, *others = render.cells(row.cells)
    return TableRow(
        key=row.key,
        cells=(_indented_name(row, name), *others),
        dim=row.dim,
        banner=_banner_cells(row, render.cells(row.banner)),
        marked=marked,
    )


def _indented_name(row: Row, name: str | TableCell) -> str | TableCell:
    text = f"{' ' * row.depth}{_FOLDS[row.fold]}{plain(name)}"
    return TableCell(text=text, tone=name.tone) if isinstance(name, TableCell) else text


def _banner_cells(row: Row, banner: tuple[str | TableCell, ...]) -> tuple[str | TableCell, ...]:
    if not banner:
        return ()
    first = banner[0] if isinstance(banner[0], TableCell) else TableCell(text=banner[0])
    return (replace(first, text=f"{_FOLDS[row.fold]}{first.text}"), *banner[1:])


def next_value(reading: Reading, current: str | None, step: int) -> str | None:
    """Return the next (`step` 1) or previous (-1) legal value; None for a setting without choices or range."""
    if reading.choices:
        values = [choice.value for choice in reading.choices]
        if current not in values:
            return values[0 if step > 0 else -1]
        return values[(values.index(current) + step) % len(values)]
    span = reading.span
    if span is None:
        return None
    try:
        number = int(current or "")
    except ValueError:
        return str(span.minimum)
    if number <= 0 or span.maximum - span.minimum <= 16 * span.step:
        number += step * span.step
    else:  # A wide range: doubling crosses it with few key presses.
        number = number * 2 if step > 0 else number // 2
        number -= (number - span.minimum) % span.step
    return str(min(max(number, span.minimum), span.maximum))


def expansion_text(all_shown: bool) -> str:
    """Return the message after expanding or collapsing all rows."""
    if all_shown:
        return "All drives are shown; <devices.unfold> collapses the healthy ones."
    return "Healthy members are summarised; <devices.unfold> shows every drive."


# -- present I/O of the devices ---------------------------------------------------------------------------------------

ACTIVITY_KEYS = {"name": 0, "level": 3, "state": 2}
"""Keys of the columns of `devices_table` that the list shows before the present I/O, with their priorities."""

ACTIVITY_COLUMNS = tuple(
    replace(column, width=planned.room)
    for column, planned in zip(render.columns(Table(columns=activity.COLUMNS)), activity.COLUMNS, strict=True)
)
"""Columns of the present I/O. Their widths are fixed, because their texts change every second."""


def activity_cells(
    rates: DeviceRates | None, minute: Sequence[float | None], *, ascii: bool
) -> tuple[str | TableCell, ...]:
    """Return a cell for each of `ACTIVITY_COLUMNS`. Those of an idle device are dim."""
    texts = activity.rate_cells(rates)
    idle = rates is None or not activity.is_busy(rates)
    shown = tuple(TableCell(text=text, tone="muted") for text in texts) if idle else texts
    return (*shown, activity.minute_text(minute, ascii=ascii))


# -- the list of devices ----------------------------------------------------------------------------------------------


class DeviceList(KeyedTable):
    """Controllers, arrays and drives in a table whose branches expand and collapse."""

    def __init__(self, columns: Collection[str] = (), order: str = "address") -> None:
        super().__init__(id="devices", empty=SCANNING_TEXT)
        self.shown: tuple[str, ...] = tuple(columns) or USUAL
        """Keys of the chosen columns. Some of them are left out if there is no room."""
        self.listing = DeviceListOptions(order=order if order in ORDERS else "address")
        """Order, filter and expanded rows of the list."""
        self.filter_text = ""
        """Text of the filter."""
        self.table = Table(columns=COLUMNS)
        """The rows with the chosen columns, as a `Table` of `app.core.presentation`; `rows` is rendered from it."""
        self._inventory = Inventory()
        self._tuned: Mapping[Target, TuningCells] = {}
        self._staged: Collection[str] = ()
        self._texts: dict[str, str] | None = None
        self._pinned_key: str | None = None
        self._pinned_device: Device | None = None
        self._meter: ActivityMeter | None = None
        self._node_names: Mapping[str, str] = {}
        self._rates: dict[str, tuple[str | TableCell, ...]] = {}

    def show(self, inventory: Inventory, tuned: Mapping[Target, TuningCells], staged: Collection[str]) -> None:
        """Update the rows. The cursor stays on its row; before the user has moved it, it goes to the first row.

        It also stays on a row that is temporarily missing, so that no other device becomes selected.
        """
        before = self._inventory
        if inventory is before and tuned is self._tuned and staged == self._staged:
            return
        if inventory is not before or tuned is not self._tuned:
            self._texts = None
        self._inventory, self._tuned, self._staged = inventory, tuned, staged
        self._fill(is_new=inventory is not before)
        if self._pinned_key is not None:
            self._pin(self._current_key(self._pinned_key))

    def _fill(self, *, is_new: bool = False) -> None:
        if self.filter_text.strip():
            if self._texts is None:
                self._texts = search_texts(self._inventory, self._tuned)
            names = matching_keys(self._texts, self.filter_text)
            self.listing = replace(
                self.listing, matching=names, named=keys_by_name(self._inventory, names, self.filter_text)
            )
        else:
            self.listing = replace(self.listing, matching=None, named=frozenset())
        sought = tuple(self.filter_text.lower().split())
        if sought != self.sought:  # highlight the filter's words
            self.sought = sought
            self.refresh()
        keys = self.shown if self._meter is None else ACTIVITY_KEYS
        self.table = devices_table(self._inventory, self.listing, self._tuned).only(*keys)
        columns = render.columns(self.table)
        if self._meter is not None:
            columns = tuple(replace(column, priority=ACTIVITY_KEYS[column.key]) for column in columns)
            columns += ACTIVITY_COLUMNS
            self._node_names = node_names(self._inventory)
            self._rates.clear()
        if columns != self.columns:
            self.columns = columns
        self.rows = self._with_activity(list_rows(self.table, self._staged))
        if is_new:
            self.fit()  # Columns may change width only when the devices change.
        if self._pinned_key is None and self.rows:
            self.cursor = self.rows[0].key

    def show_activity(self, meter: ActivityMeter | None) -> None:
        """Show the present I/O that `meter` reads in place of the settings; None to show the settings."""
        self._meter = meter
        self._rearrange()

    @property
    def shows_activity(self) -> bool:
        """Whether the list shows the present I/O."""
        return self._meter is not None

    @property
    def active_nodes(self) -> frozenset[str]:
        """Kernel names of the devices whose present I/O the list shows, also in rows that are scrolled out of view."""
        if self._meter is None:
            return frozenset()
        return frozenset(self._node_names[row.key] for row in self.table.rows if row.key in self._node_names)

    def update_activity(self) -> None:
        """Show the latest rates."""
        if self._meter is not None:
            self.rows = self._with_activity(self.rows)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Show the latest rates of the rows that come into view."""
        super().watch_scroll_y(old_value, new_value)
        self.update_activity()

    def _with_activity(self, rows: Sequence[TableRow]) -> tuple[TableRow, ...]:
        """Return the rows, with the latest rates in those that are in view. Rows that do not change stay the same."""
        meter = self._meter
        if meter is None:
            return tuple(rows)
        new, top = list(rows), round(self.scroll_y)
        for at in range(top, min(top + max(1, self.size.height), len(new))):
            row = new[at]
            node = self._node_names.get(row.key)
            if node is not None:
                cells = activity_cells(meter.rates.get(node), meter.minute(node), ascii=self._ascii)
                if self._rates.get(row.key) != cells:
                    self._rates[row.key] = cells
                    new[at] = replace(row, cells=(*row.cells[: len(ACTIVITY_KEYS)], *cells))
        return tuple(new)

    @property
    def _ascii(self) -> bool:
        return bool(getattr(self.app, "ascii", False))

    def _rearrange(self) -> None:
        """Update the rows for the same devices, and keep the cursor at its current row."""
        self._fill()
        if self._pinned_key is not None:
            self.pin_cursor()

    def pin_cursor(self) -> None:
        """Keep the cursor on its current row, even if rows are added above it."""
        self._pin(self.cursor)

    def _pin(self, key: str | None) -> None:
        device = self._inventory.find((key or "").removesuffix(OTHERS))
        self._pinned_device = device or (self._pinned_device if key == self._pinned_key else None)
        self.cursor = self._pinned_key = key

    def _current_key(self, key: str) -> str | None:
        """Return the key of the row that now shows the device of row `key`, such as a disk now known as an array."""
        at, node = key.removesuffix(OTHERS), getattr(self._pinned_device, "device", None)
        views = () if node is None else self._inventory.at(node)
        value = next((name for name in (key, at, *(str(view.target) for view in views)) if name in self._index), None)
        gone = self._pinned_device is not None and self._inventory.find(at) is None and not views
        return value or (key if gone else self.cursor)

    @property
    def selected(self) -> str | None:
        """The address under the cursor; that of the array if the row represents several members."""
        return None if self.cursor is None else self.cursor.removesuffix(OTHERS)

    @property
    def hidden_text(self) -> str:
        """Values of the selected row in the columns for which there is no room."""
        shown = frozenset(position.column.key for position in self._place())
        return "" if self.cursor is None else hidden_cells_text(self.table, self.cursor, shown)

    def filter(self, text: str) -> None:
        """Show only rows with these words. The cursor goes to the best match by name, otherwise to the first match."""
        self.filter_text = text
        self._rearrange()
        names = self.listing.matching or frozenset()
        rows = [row for row in self.table.rows if row.key in names]
        if rows:
            self.cursor = min(rows, key=lambda row: _name_distance(row, text)).key
            self.pin_cursor()

    def sort(self, order: str) -> None:
        """Sort the list by another order, one of `ORDERS`."""
        self.listing = replace(self.listing, order=order)
        self._rearrange()

    def choose(self, columns: Collection[str]) -> None:
        """Show the columns with these keys."""
        self.shown = tuple(columns)
        self._rearrange()

    def open_branch(self) -> bool:
        """Expand the row under the cursor; return False if it hides no rows."""
        row = self._current_row()
        if row is None or row.fold is not ExpandState.CLOSED:
            return False
        self.pin_cursor()
        key = row.key.removesuffix(OTHERS)
        keeps = key in self.listing.closed and not row.key.endswith(OTHERS)
        # A branch expands automatically for a faulty device, but not for a finding of the check.
        device = self._inventory.find(key)
        opens_itself = isinstance(device, Array) and device.state in TROUBLE
        opened = self.listing.opened if keeps and opens_itself else self.listing.opened | {key}
        self.listing = replace(self.listing, opened=opened, closed=self.listing.closed - {key})
        self._rearrange()
        return True

    def toggle_all(self) -> bool:
        """Expand all rows, or collapse those without faulty devices; return whether all are expanded now."""
        self.pin_cursor()
        all_shown = not self.listing.expanded
        self.listing = replace(self.listing, expanded=all_shown, opened=frozenset(), closed=frozenset())
        self._fill()
        pinned = self._pinned_key or ""
        self._pin(pinned if pinned in self._index else str(getattr(self._pinned_device, "array", None) or self.cursor))
        return all_shown

    def close_branch(self) -> bool:
        """Collapse the row under the cursor, or go to its parent; return False at the top."""
        row = self._current_row()
        if row is None:
            return False
        self.pin_cursor()
        if row.fold is ExpandState.OPEN and self.listing.matching is None:
            listing = self.listing
            self.listing = replace(listing, opened=listing.opened - {row.key}, closed=listing.closed | {row.key})
            self._rearrange()
            return True
        rows = self.table.rows
        at = self._index[row.key]
        above = next((row_above for row_above in reversed(rows[:at]) if row_above.depth < row.depth), None)
        if above is not None:
            self._pin(above.key)
        return above is not None

    def _current_row(self) -> Row | None:
        at = self._index.get(self.cursor or "")
        return None if at is None else self.table.rows[at]

    def next_match(self, step: int) -> bool:
        """Go to the next row that matches the filter itself, not only by a child. Return False if there is none."""
        names = self.listing.matching or frozenset()
        keys = [row.key for row in self.rows if row.key in names]
        if not keys:
            return False
        at = self._index.get(self.cursor or "", 0)
        ahead = [key for key in keys if (self._index[key] - at) * step > 0]
        self.go_to((ahead or keys)[0 if step > 0 else -1])
        return True

    def go_to(self, key: str) -> None:
        """Put the cursor on a row, and expand the rows that hide it."""
        if key not in self._index:
            above = getattr(self._inventory.find(key), "array", None)
            self.filter_text = ""
            opened = self.listing.opened if above is None else self.listing.opened | {str(above)}
            self.listing = replace(self.listing, opened=opened, closed=frozenset())
            self._rearrange()
        if key in self._index:
            self._pin(key)

    @property
    def count(self) -> str:
        """The number of matches out of all devices, as text; "" without a filter."""
        matching_keys = self.listing.matching
        if matching_keys is None or self._texts is None:
            return ""
        return f"{sum(row.key in matching_keys for row in self.table.rows)} of {len(self._texts)} match"

    def on_click(self, event: events.Click) -> None:
        """Keep the cursor on the clicked row."""
        super().on_click(event)
        event.prevent_default()  # or the table would handle it twice
        self.pin_cursor()

    def _move_to(self, index: int, direction: int) -> None:
        super()._move_to(index, direction)
        self.pin_cursor()


def _name_distance(row: Row, text: str) -> int:
    """Return 0 if a row's name equals the typed text, 1 if it begins with it, 2 if it contains it, otherwise 3."""
    cell = row.cells[0]
    name, wanted = (cell.text if isinstance(cell, Cell) else cell).lower(), text.strip().lower()
    return (name != wanted) + (not name.startswith(wanted)) + (wanted not in name)
