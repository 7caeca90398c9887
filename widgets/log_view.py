"""Log whose entries can be folded and searched. A folded entry is one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from widgets.cached_styles import TONE_STYLES, WidgetMessage, component_classes, component_css
from widgets.log_lines import LogEntry, LogLines
from widgets.text_utils.symbols import CLOSED, OPENED
from widgets.text_utils.text import clean, pad

__all__ = ["LogEntry", "LogView"]


_STYLES = {
    "kind": "color: $text-muted;",
    "body": "color: $text-muted;",
    "cursor": "background: $block-cursor-blurred-background;",
    "match": "text-style: reverse;",
    **TONE_STYLES,
}
"""CSS rules of the component classes, by name."""


class LogView(ScrollView, can_focus=True):
    """Shows log entries in order. While the cursor is on the newest entry, it moves to each new entry."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Entry up", show=False, id="log.up"),
        Binding("down,j", "cursor(1)", "Entry down", show=False, id="log.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="log.page-up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="log.page-down"),
        Binding("home,g", "first", "First entry", show=False, id="log.first"),
        Binding("end,G", "last", "Newest entry", show=False, id="log.last"),
        Binding("enter", "fold", "Unfold or fold", show=False, id="log.toggle"),
        Binding("right,l", "unfold(True)", "Unfold", show=False, id="log.unfold"),
        Binding("left,h", "unfold(False)", "Fold", show=False, id="log.fold"),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("log-view", _STYLES)

    DEFAULT_CSS = f"""
    LogView {{
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        {component_css("log-view", _STYLES)}
        &:focus > .log-view--cursor {{ background: $primary-muted; text-style: $block-cursor-text-style; }}
    }}
    """

    entries: reactive[tuple[LogEntry, ...]] = reactive((), repaint=False)
    """All entries, oldest first. Layout is faster if the tuple only adds entries to the previous one."""
    search: reactive[str] = reactive("", repaint=False)
    """Text to find and highlight; "" for no search. Case is ignored."""
    empty: reactive[str] = reactive("")
    """Text that is shown if there are no entries."""
    ascii: reactive[bool] = reactive(False)
    """Whether to use only ASCII characters."""

    @dataclass
    class EntryHighlighted(WidgetMessage):
        """The cursor moved to another entry."""

        key: str
        """Key of the entry."""

    @dataclass
    class Searched(WidgetMessage):
        """A search has ended, or new entries were searched."""

        count: int
        """Number of matching entries; 0 if there is no search."""

    def __init__(
        self,
        entries: tuple[LogEntry, ...] = (),
        *,
        ascii: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.set_reactive(LogView.ascii, ascii)
        self.set_reactive(LogView.entries, entries)
        self._lines = LogLines(entries)
        self._cursor = max(0, len(entries) - 1)
        self.virtual_size = Size(0, len(self._lines))

    @property
    def cursor_entry(self) -> LogEntry | None:
        """Entry under the cursor; None if there are no entries."""
        return self.entries[self._cursor] if self._cursor < len(self.entries) else None

    @property
    def matches(self) -> tuple[str, ...]:
        """Keys of the matching entries, in order."""
        return tuple(self.entries[index].key for index in self._lines.matches)

    def is_unfolded(self, key: str) -> bool:
        """Return whether the entry with this key is unfolded, so that its body is shown."""
        return key in self._lines.unfolded

    def on_mount(self) -> None:
        """Scroll to the newest entry."""
        self.call_after_refresh(self._show_cursor)

    def on_resize(self) -> None:
        """Wrap the lines for the new width."""
        if self._lines.width != self.size.width:
            self._lines.lay_out(self.size.width)
            self._update_size()

    def watch_entries(self, before: tuple[LogEntry, ...], entries: tuple[LogEntry, ...]) -> None:
        """Show the new entries. Move to the newest if the cursor was on the last entry and that was visible."""
        follows = self._cursor >= len(before) - 1 and self.scroll_y >= self.max_scroll_y - 0.5
        key = before[self._cursor].key if self._cursor < len(before) else ""
        if self._cursor >= len(entries) or (key and entries[self._cursor].key != key):
            self._cursor = self._nearest(before[: self._cursor + 1], entries)
        self._lines.take(entries)
        self._update_size()
        if self.search:
            self.post_message(self.Searched(self, len(self._lines.matches)))
        if follows and len(entries) > len(before):
            self._go_to(len(entries) - 1)

    @staticmethod
    def _nearest(before: tuple[LogEntry, ...], entries: tuple[LogEntry, ...]) -> int:
        """Return the new index of the last old entry that still exists; 0 if none exists."""
        positions = {entry.key: index for index, entry in enumerate(entries)}
        return next((positions[entry.key] for entry in reversed(before) if entry.key in positions), 0)

    def watch_search(self) -> None:
        """Find and highlight the new search text."""
        self._lines.search(self.search)
        self.post_message(self.Searched(self, len(self._lines.matches)))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line that is visible at this position."""
        width = self.size.width
        number = y + round(self.scroll_y)
        if number >= len(self._lines):
            if y == 0 and self.empty:
                style = self.get_component_rich_style("log-view--muted")
                return Strip([Segment(pad(f"  {clean(self.empty)}", width), style)], width)
            return Strip.blank(width, self.rich_style)
        index, part = self._lines.at(number)
        entry, current = self.entries[index], index == self._cursor
        base = self.get_component_rich_style("log-view--cursor") if current else self.rich_style
        kind, text = self._lines.text(number)
        tone = "body" if kind == "body" else entry.tone
        style = self._text_style(base, tone, current=current) if tone else base
        segments = [*self._margin(entry, part, base, current=current), *self._highlight(text, style)]
        return Strip(segments).adjust_cell_length(width, base)

    def action_cursor(self, step: int) -> None:
        """Move the cursor by `step` entries."""
        self._go_to(self._cursor + step)

    def action_page(self, step: int) -> None:
        """Move the cursor by `step` pages."""
        if len(self._lines):
            line = self._lines.span(self._cursor)[0] + step * max(1, self.size.height - 1)
            self._go_to(self._lines.at(min(max(line, 0), len(self._lines) - 1))[0])

    def action_first(self) -> None:
        """Move the cursor to the first entry."""
        self._go_to(0)

    def action_last(self) -> None:
        """Move the cursor to the newest entry."""
        self._go_to(len(self.entries) - 1)

    def action_fold(self) -> None:
        """Unfold the entry under the cursor if it is folded, otherwise fold it."""
        entry = self.cursor_entry
        if entry is not None:
            self._lines.fold(entry.key)
            self._update_size()
            self._show_cursor()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available.

        Folding or unfolding is not available if it would change nothing. The screen then handles the key.
        """
        if action != "unfold":
            return True
        entry = self.cursor_entry
        return entry is not None and bool(entry.body) and self.is_unfolded(entry.key) != parameters[0]

    def action_unfold(self, open: bool) -> None:
        """Unfold (`open`) or fold the entry under the cursor."""
        entry = self.cursor_entry
        if entry is not None and self.is_unfolded(entry.key) != open:
            self.action_fold()

    def action_match(self, step: int) -> None:
        """Move the cursor to the next or previous match, and wrap around at the end.

        If the match is in the body of an entry, unfold the entry.
        """
        matches = self._lines.matches
        if not matches:
            return
        if step > 0:
            index = next((match for match in matches if match > self._cursor), matches[0])
        else:
            index = next((match for match in reversed(matches) if match < self._cursor), matches[-1])
        if not self._lines.in_head(index) and not self.is_unfolded(self.entries[index].key):
            self._lines.fold(self.entries[index].key)
            self._update_size()
        self._go_to(index)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked entry. If it is there already, fold or unfold the entry."""
        number = event.y + round(self.scroll_y)
        if number < len(self._lines):
            index = self._lines.at(number)[0]
            if index == self._cursor:
                self.action_fold()
            else:
                self._go_to(index)

    def _update_size(self) -> None:
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _go_to(self, index: int) -> None:
        if not self.entries:
            return
        index = min(max(index, 0), len(self.entries) - 1)
        if index != self._cursor:
            before, self._cursor = self._cursor, index
            self._refresh_entry(before)
            self._refresh_entry(index)
            self.post_message(self.EntryHighlighted(self, self.entries[index].key))
        self._show_cursor()

    def _show_cursor(self) -> None:
        """Scroll until the entry under the cursor is visible. If it does not fit, show its first lines."""
        if self._cursor >= len(self.entries) or not self.size.height:
            return
        first, end = self._lines.span(self._cursor)
        top = min(max(round(self.scroll_y), end - self.size.height), first)
        if top != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, immediate=True)

    def _refresh_entry(self, index: int) -> None:
        if index < len(self.entries):
            first, end = self._lines.span(index)
            lines = Region(0, first - round(self.scroll_y), self.size.width, end - first)
            if visible := lines.intersection(self.size.region):
                self.refresh(visible)

    def _margin(self, entry: LogEntry, part: int, base: Style, *, current: bool) -> list[Segment]:
        """Return the cursor sign, the fold sign and the kind of an entry; blanks for lines other than its first."""
        if part:
            return [Segment(" " * self._lines.margin, base)]
        fold = OPENED if self.is_unfolded(entry.key) else CLOSED
        sign = fold.shown(ascii=self.ascii) if entry.body else " "
        segments = [Segment(f"{'>' if current else ' '} {sign} ", base)]
        if self._lines.kind_width:
            kind = pad(clean(entry.kind), self._lines.kind_width) + "  "
            segments.append(Segment(kind, self._text_style(base, "kind", current=current)))
        return segments

    def _text_style(self, base: Style, name: str, *, current: bool) -> Style:
        """Return the text style of a component class. Under the cursor, it keeps the background of the cursor."""
        style = self.get_component_rich_style(f"log-view--{name}")
        return style + Style(bgcolor=base.bgcolor, bold=base.bold, reverse=base.reverse) if current else style

    def _highlight(self, text: str, style: Style) -> list[Segment]:
        """Return the text with each match highlighted."""
        pattern = self.search.lower()
        low = text.lower()
        if not pattern or len(low) != len(text):
            return [Segment(text, style)]
        match = style + self.get_component_rich_style("log-view--match", partial=True)
        segments: list[Segment] = []
        position = 0
        while (start := low.find(pattern, position)) >= 0:
            segments += [Segment(text[position:start], style), Segment(text[start : start + len(pattern)], match)]
            position = start + len(pattern)
        segments.append(Segment(text[position:], style))
        return [segment for segment in segments if segment.text]
