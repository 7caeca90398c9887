"""A few large figures in columns: what is now in bold, what it is on average faint below it, or beside it."""

from __future__ import annotations

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
    """A column of figures."""

    label: str
    """What they are."""
    beside: str = ""
    """What stands beside them; empty for nothing."""
    tone: str = ""
    """A component class of `FigureRows` without its prefix."""
    room: int = 7
    """Columns that a figure takes: it never jumps when it has more digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """A row: what it is of, and for each column the figure and what stands beside it."""

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
"""Component classes and their rules."""


class FigureRows(StyleCachedWidget):
    """A heading and a row or two of figures; only what differs is painted again.

    What belongs beside the figures of a single row stands below them, where each can be read by itself.
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
    """The columns; the last ones go where there is no room, after what stands beside the figures."""
    rows: reactive[tuple[FigureRow, ...]] = reactive((), repaint=False)
    """The rows; without any the widget takes no room."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.add_class("-empty")

    def watch_columns(self) -> None:
        """Paints all of it."""
        self.refresh(layout=True)

    def watch_rows(self, before: tuple[FigureRow, ...], rows: tuple[FigureRow, ...]) -> None:
        """Paints the rows that differ."""
        self.set_class(not rows, "-empty")
        if [row.name for row in before] != [row.name for row in rows]:
            self.refresh(layout=True)
            return
        for at, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self._refresh_cells(at + 1, old, new)

    def _refresh_cells(self, line: int, old: FigureRow, new: FigureRow) -> None:
        left = self._names_width()
        _, widths = self._places()
        for was, now, width in zip(old.cells, new.cells, widths, strict=False):
            if was != now:
                self.refresh(Region(left, line, width, 1 + self._below))
            left += width

    @property
    def _below(self) -> bool:
        """Whether what belongs beside the figures has a line of its own."""
        return len(self.rows) == 1 and any(column.beside for column in self.columns)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The heading and the rows."""
        return len(self.rows) + 1 + self._below if self.rows else 0

    def _names_width(self) -> int:
        names = max((width_of(row.name) for row in self.rows), default=0)
        return names + 2 if names else 0

    def _places(self) -> tuple[bool, list[int]]:
        """Whether there is room beside the figures, and how wide the columns are that have room."""
        room = self.content_size.width - self._names_width()
        beside = not self._below
        wanted = self._wanted(beside)
        if beside and sum(wanted) - _GAP > room:
            beside, wanted = False, self._wanted(False)
        while len(wanted) > 1 and sum(wanted) - _GAP > room:
            wanted.pop()
        more = min(_WIDEST_GAP, max(0, room - sum(wanted)) // max(1, len(wanted)))
        return beside, [width + more for width in wanted]

    def _wanted(self, beside: bool) -> list[int]:
        rooms = (
            column.room * 2 + 1
            if beside and column.beside
            else column.room + (width_of(column.beside) + 1 if self._below and column.beside else 0)
            for column in self.columns
        )
        return [max(width_of(column.label), room) + _GAP for column, room in zip(self.columns, rooms, strict=True)]

    def render_line(self, y: int) -> Strip:
        """The heading, or a row."""
        width = self.content_size.width
        if y > len(self.rows) + self._below:
            return Strip.blank(width, self.style_of(""))
        beside, widths = self._places()
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
        for at, (column, cell) in enumerate(zip(self.columns, widths, strict=False)):
            value, aside = row.cells[at] if row else (column.label, column.beside)
            tone = (column.tone or "plain") if row else "label"
            has_beside = beside and column.beside
            room = column.room + 1 if has_beside else cell
            text = pad(clean(value), max(room, width_of(value) + 1) if row is None else room)
            segments.append(Segment(text, self._style(tone)))
            segments.append(
                Segment(pad(clean(aside) if has_beside else "", cell - width_of(text)), self._style("beside"))
            )
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _style(self, name: str) -> Style:
        return self.style_of(f"figure-rows--{name}")
