"""Numbers in columns: main numbers in bold, with secondary numbers such as means next to or below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.strip import Strip

from widgets.cached_styles import StyleCachedWidget, component_classes, component_css
from widgets.text_utils.text import clean, pad, width_of

_GAP = 2
_WIDEST_GAP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureColumn:
    """A column of numbers."""

    label: str
    """Heading of the column."""
    beside: str = ""
    """Heading of the secondary numbers; "" if the column has none."""
    tone: str = ""
    """Style of the numbers: a component class of `FigureRows` without its prefix."""
    room: int = 7
    """Width reserved for a number, so that columns do not move when it gets more digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """A row: its name, and the number and the secondary number of each column."""

    name: str = ""
    cells: tuple[tuple[str, str], ...] = ()


_STYLES = {
    "label": "color: $text-muted;",
    "beside": "color: $text-muted;",
    "name": "color: $foreground;",
    "plain": "text-style: bold; color: $foreground;",
    "accent": "text-style: bold; color: $text-primary;",
    "good": "text-style: bold; color: $text-success;",
    "warning": "text-style: bold; color: $text-warning;",
    "bad": "text-style: bold; color: $text-error;",
}
"""CSS rules of the component classes, by name."""


class FigureRows(StyleCachedWidget):
    """A heading and a few rows of numbers. Only changed cells are repainted.

    If there is only one row, its secondary numbers are in a line of their own below it.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("figure-rows", _STYLES)
    DEFAULT_CSS = f"""
    FigureRows {{
        height: auto; padding: 0 1;
        {component_css("figure-rows", _STYLES)}
        &.-empty {{ display: none; }}
    }}
    """

    columns: reactive[tuple[FigureColumn, ...]] = reactive((), repaint=False)
    """Columns, in order. If there is too little space, secondary numbers are left out first, then the last columns."""
    rows: reactive[tuple[FigureRow, ...]] = reactive((), repaint=False)
    """Rows, in order. Without rows, the widget takes no space."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.add_class("-empty")

    def watch_columns(self) -> None:
        """Lay out and repaint everything."""
        self.refresh(layout=True)

    def watch_rows(self, before: tuple[FigureRow, ...], rows: tuple[FigureRow, ...]) -> None:
        """Repaint changed cells. If the names of rows changed, lay out everything again."""
        self.set_class(not rows, "-empty")
        if [row.name for row in before] != [row.name for row in rows]:
            self.refresh(layout=True)
            return
        if regions := list(self._changed_regions(before, rows)):
            self.refresh(*regions)

    def _changed_regions(self, before: Sequence[FigureRow], rows: Sequence[FigureRow]) -> Iterator[Region]:
        """Yield the region of each cell that has changed."""
        _, widths = self._column_widths()
        height = 1 + self._has_second_line
        for line, (old, new) in enumerate(zip(before, rows, strict=True), 1):
            left = self._names_width()
            for old_cell, new_cell, width in zip(old.cells, new.cells, widths, strict=False):
                if old_cell != new_cell:
                    yield Region(left, line, width, height)
                left += width

    @property
    def _has_second_line(self) -> bool:
        """Whether the secondary numbers are in a line of their own."""
        return len(self.rows) == 1 and any(column.beside for column in self.columns)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height of the heading and all rows."""
        return len(self.rows) + 1 + self._has_second_line if self.rows else 0

    def _names_width(self) -> int:
        names = max((width_of(row.name) for row in self.rows), default=0)
        return names + 2 if names else 0

    def _column_widths(self) -> tuple[bool, list[int]]:
        """Return whether secondary numbers are next to the main numbers, and the widths of the visible columns."""
        available = self.content_size.width - self._names_width()
        beside = not self._has_second_line
        widths = self._natural_widths(beside)
        if beside and sum(widths) - _GAP > available:
            beside, widths = False, self._natural_widths(False)
        while len(widths) > 1 and sum(widths) - _GAP > available:
            widths.pop()
        extra = min(_WIDEST_GAP, max(0, available - sum(widths)) // max(1, len(widths)))
        return beside, [width + extra for width in widths]

    def _natural_widths(self, beside: bool) -> list[int]:
        widths = (
            column.room * 2 + 1
            if beside and column.beside
            else column.room + (width_of(column.beside) + 1 if self._has_second_line and column.beside else 0)
            for column in self.columns
        )
        return [max(width_of(column.label), width) + _GAP for column, width in zip(self.columns, widths, strict=True)]

    def render_line(self, y: int) -> Strip:
        """Return the heading, a row, or the line with secondary numbers."""
        width = self.content_size.width
        if y > len(self.rows) + self._has_second_line:
            return Strip.blank(width, self.style_of(""))
        beside, widths = self._column_widths()
        if y > len(self.rows):
            beneath = [
                f"{column.beside} {cell[1]}" if column.beside and cell[1] else ""
                for column, cell in zip(self.columns, self.rows[0].cells, strict=False)
            ]
            below = "".join(pad(clean(name), cell) for name, cell in zip(beneath, widths, strict=False))
            text = " " * self._names_width() + below
            return Strip([Segment(text, self._style("beside"))]).adjust_cell_length(width, self.style_of(""))
        row = self.rows[y - 1] if y else None
        segments = [Segment(pad(clean(row.name if row else ""), self._names_width()), self._style("name"))]
        for index, (column, cell) in enumerate(zip(self.columns, widths, strict=False)):
            value, secondary = row.cells[index] if row else (column.label, column.beside)
            tone = (column.tone or "plain") if row else "label"
            has_beside = beside and column.beside
            number_width = column.room + 1 if has_beside else cell
            text = pad(clean(value), max(number_width, width_of(value) + 1) if row is None else number_width)
            segments.append(Segment(text, self._style(tone)))
            segments.append(
                Segment(pad(clean(secondary) if has_beside else "", cell - width_of(text)), self._style("beside"))
            )
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _style(self, name: str) -> Style:
        return self.style_of(f"figure-rows--{name}")
