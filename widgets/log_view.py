"""A log that folds: one line for an entry, the rest when it is asked for, and a search through all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from widgets.clean import clean, pad, shorten, width_of, wrap
from widgets.table_layout import Tone

INDENT = 4
"""Cells for the signs of cursor and fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """Something that happened."""

    key: str
    """Tells the entries apart."""
    head: str
    """The line that is always shown."""
    body: tuple[str, ...] = ()
    """What unfolds under it."""
    kind: str = ""
    """What sort of thing it is, in a word: `command`, `change`, `note`."""
    tone: Tone = ""
    """How it went."""


class LogView(ScrollView, can_focus=True):
    """Entries in the order they happened; follows the newest while the cursor is on it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor(-1)", "Entry up", show=False, id="log.up"),
        Binding("down", "cursor(1)", "Entry down", show=False, id="log.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="log.page-up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="log.page-down"),
        Binding("home", "first", "First entry", show=False, id="log.first"),
        Binding("end", "last", "Newest entry", show=False, id="log.last"),
        Binding("enter", "fold", "Unfold or fold", show=False, id="log.toggle"),
        Binding("n", "match(1)", "Next match", show=False, id="log.next-match"),
        Binding("N", "match(-1)", "Previous match", show=False, id="log.previous-match"),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log-view--accent",
        "log-view--bad",
        "log-view--body",
        "log-view--cursor",
        "log-view--good",
        "log-view--kind",
        "log-view--match",
        "log-view--muted",
        "log-view--warning",
    }

    DEFAULT_CSS = """
    LogView {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .log-view--kind { color: $foreground 55%; }
        & > .log-view--body { color: $foreground 75%; }
        & > .log-view--cursor { background: $foreground 10%; }
        & > .log-view--match { text-style: reverse; }
        & > .log-view--accent { color: $text-primary; }
        & > .log-view--good { color: $text-success; }
        & > .log-view--warning { color: $text-warning; }
        & > .log-view--bad { color: $text-error; text-style: bold; }
        & > .log-view--muted { color: $foreground 55%; }
        &:focus > .log-view--cursor { background: $primary 35%; text-style: bold; }
    }
    """

    entries: reactive[tuple[LogEntry, ...]] = reactive((), repaint=False)
    """All entries, oldest first; append to it."""
    search: reactive[str] = reactive("", repaint=False)
    """What is searched for and highlighted, whatever its case; empty for nothing."""
    ascii: reactive[bool] = reactive(False)
    """Whether to draw without UTF-8."""

    @dataclass
    class EntryHighlighted(Message):
        """The cursor came to another entry."""

        view: LogView
        """The log."""
        key: str
        """The entry's key."""

        @property
        def control(self) -> LogView:
            """The log, for `on(..., selector)`."""
            return self.view

    @dataclass
    class Searched(Message):
        """A search was done, or new entries were searched."""

        view: LogView
        """The log."""
        count: int
        """Entries that match; 0 as well when nothing is searched for."""

        @property
        def control(self) -> LogView:
            """The log, for `on(..., selector)`."""
            return self.view

    def __init__(
        self,
        entries: tuple[LogEntry, ...] = (),
        *,
        ascii: bool = False,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.set_reactive(LogView.ascii, ascii)
        self.set_reactive(LogView.entries, entries)
        self._lines: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._unfolded: set[str] = set()
        self._laid: dict[int, list[tuple[str, str]]] = {}
        self._laid_width = -1
        self._kind_width = 0
        self._matches: list[int] = []
        self._cursor = max(0, len(entries) - 1)
        self._extend(0)

    @property
    def cursor_entry(self) -> LogEntry | None:
        """The entry under the cursor."""
        return self.entries[self._cursor] if self._cursor < len(self.entries) else None

    @property
    def matches(self) -> tuple[str, ...]:
        """The keys of the entries the search finds, in the order of the log."""
        return tuple(self.entries[index].key for index in self._matches)

    def is_unfolded(self, key: str) -> bool:
        """Whether the entry's body is shown."""
        return key in self._unfolded

    def on_mount(self) -> None:
        """Starts at the newest entry."""
        self.call_after_refresh(self._show_cursor)

    def on_resize(self) -> None:
        """Breaks the lines anew."""
        if self._laid_width != self.size.width:
            self._lay_out_all()

    def watch_entries(self, before: tuple[LogEntry, ...], entries: tuple[LogEntry, ...]) -> None:
        """Takes new entries in; goes on to the newest when the one before it had the cursor and was in sight."""
        follows = self._cursor >= len(before) - 1 and self.scroll_y >= self.max_scroll_y - 0.5
        if entries[: len(before)] == before:
            self._extend(len(before))
        else:
            key = before[self._cursor].key if self._cursor < len(before) else ""
            found = next((index for index, entry in enumerate(entries) if entry.key == key), None)
            self._cursor = min(self._cursor, max(0, len(entries) - 1)) if found is None else found
            self._lay_out_all()
            self._find(0)
        if follows and len(entries) > len(before):
            self._go_to(len(entries) - 1)

    def watch_search(self) -> None:
        """Finds and highlights the other words."""
        self._find(0)
        self.refresh()

    def watch_ascii(self) -> None:
        """Draws the other signs."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line in sight."""
        width = self.size.width
        if self._laid_width != width:
            self._lay_out_all()
        place = y + round(self.scroll_y)
        if place >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        index, part = self._lines[place]
        entry = self.entries[index]
        current = index == self._cursor
        base = self.get_component_rich_style("log-view--cursor") if current else self.rich_style
        if entry.key not in self._unfolded:
            room = width - self._margin
            pieces = [("head", shorten(clean(entry.head), room))]
        else:
            pieces = [self._parts(index)[part]]
        segments = self._margin_segments(entry, part, base, current=current)
        for kind, text in pieces:
            segments.extend(self._highlighted(text, self._text_style(entry, kind, base, current=current)))
        return Strip(segments).adjust_cell_length(width, base)

    def action_cursor(self, step: int) -> None:
        """Moves the cursor by entries."""
        self._go_to(self._cursor + step)

    def action_page(self, step: int) -> None:
        """Moves the cursor by what is in sight."""
        if self._lines:
            line = self._starts[self._cursor] + step * max(1, self.size.height - 1)
            self._go_to(self._lines[min(max(line, 0), len(self._lines) - 1)][0])

    def action_first(self) -> None:
        """Moves the cursor to the first entry."""
        self._go_to(0)

    def action_last(self) -> None:
        """Moves the cursor to the newest entry."""
        self._go_to(len(self.entries) - 1)

    def action_fold(self) -> None:
        """Unfolds or folds the entry under the cursor."""
        entry = self.cursor_entry
        if entry is not None:
            self._unfolded ^= {entry.key}
            self._lay_out_all()
            self._show_cursor()

    def action_match(self, step: int) -> None:
        """Moves the cursor to the next or previous match, round the end, and unfolds it if the match is inside."""
        if not self._matches:
            return
        if step > 0:
            index = next((match for match in self._matches if match > self._cursor), self._matches[0])
        else:
            index = next((match for match in reversed(self._matches) if match < self._cursor), self._matches[-1])
        entry = self.entries[index]
        if self.search.casefold() not in entry.head.casefold() and entry.key not in self._unfolded:
            self._unfolded.add(entry.key)
            self._lay_out_all()
        self._go_to(index)

    def on_click(self, event: events.Click) -> None:
        """Moves the cursor to the entry; unfolds or folds the one that had it."""
        place = event.y + round(self.scroll_y)
        if place < len(self._lines):
            index = self._lines[place][0]
            if index == self._cursor:
                self.action_fold()
            else:
                self._go_to(index)

    @property
    def _margin(self) -> int:
        return INDENT + (self._kind_width + 2 if self._kind_width else 0)

    def _extend(self, start: int) -> None:
        """Lays out the entries from `start` on; the ones before keep their lines unless the words moved."""
        kinds = max((width_of(clean(entry.kind)) for entry in self.entries[start:]), default=0)
        if kinds > self._kind_width:
            self._kind_width = min(kinds, 12)
            self._laid.clear()
        for index in range(start, len(self.entries)):
            self._starts.append(len(self._lines))
            entry = self.entries[index]
            count = len(self._parts(index)) if entry.key in self._unfolded else 1
            self._lines.extend((index, part) for part in range(count))
        self.virtual_size = Size(0, len(self._lines))
        self._find(start)
        self.refresh()

    def _lay_out_all(self) -> None:
        self._laid_width = self.size.width
        self._laid.clear()
        self._lines.clear()
        self._starts.clear()
        self._extend(0)

    def _find(self, start: int) -> None:
        """Searches the entries from `start` on."""
        words = self.search.casefold()
        self._matches = [index for index in self._matches if index < start] if words else []
        if words:
            self._matches += [
                index
                for index in range(start, len(self.entries))
                if words in self.entries[index].head.casefold()
                or any(words in line.casefold() for line in self.entries[index].body)
            ]
        if self.is_attached:
            self.post_message(self.Searched(self, len(self._matches)))

    def _parts(self, index: int) -> list[tuple[str, str]]:
        """The lines of an unfolded entry."""
        if index not in self._laid:
            entry, room = self.entries[index], max(8, self.size.width - self._margin)
            parts = [("head", line) for line in wrap(entry.head, room, indent=2)]
            parts += [("body", line) for text in entry.body for line in wrap(text, room, indent=2)]
            self._laid[index] = parts
        return self._laid[index]

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
        """Scrolls until the entry under the cursor is in sight, its first line above all."""
        if self._cursor >= len(self._starts) or not self.size.height:
            return
        first = self._starts[self._cursor]
        end = self._starts[self._cursor + 1] if self._cursor + 1 < len(self._starts) else len(self._lines)
        top, height = round(self.scroll_y), self.size.height
        if end > top + height:
            top = end - height
        top = min(top, first)
        if top != round(self.scroll_y):
            self.scroll_to(y=top, animate=False, immediate=True)

    def _refresh_entry(self, index: int) -> None:
        if index >= len(self._starts):
            return
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self._lines)
        first = self._starts[index] - round(self.scroll_y)
        visible = Region(0, first, self.size.width, end - self._starts[index]).intersection(self.size.region)
        if visible:
            self.refresh(visible)

    def _margin_segments(self, entry: LogEntry, part: int, base: Style, *, current: bool) -> list[Segment]:
        """The signs of cursor and fold, and the kind."""
        if part:
            return [Segment(" " * self._margin, base)]
        signs = ("-", "+") if self.ascii else ("▾", "▸")
        fold = (signs[0] if entry.key in self._unfolded else signs[1]) if entry.body else " "
        segments = [Segment(f"{'>' if current else ' '} {fold} ", base)]
        if self._kind_width:
            kind = pad(clean(entry.kind), self._kind_width) + "  "
            segments.append(Segment(kind, self._over(base, "kind", current=current)))
        return segments

    def _text_style(self, entry: LogEntry, kind: str, base: Style, *, current: bool) -> Style:
        if kind == "body":
            return self._over(base, "body", current=current)
        return self._over(base, entry.tone, current=current) if entry.tone else base

    def _over(self, base: Style, name: str, *, current: bool) -> Style:
        style = self.get_component_rich_style(f"log-view--{name}")
        return style + Style(bgcolor=base.bgcolor, bold=base.bold) if current else style

    def _highlighted(self, text: str, style: Style) -> list[Segment]:
        """The text with every match reversed."""
        words = self.search.lower()
        low = text.lower()
        if not words or len(low) != len(text):
            return [Segment(text, style)]
        match = style + Style(reverse=True)
        segments: list[Segment] = []
        at = 0
        while (found := low.find(words, at)) >= 0:
            segments += [Segment(text[at:found], style), Segment(text[found : found + len(words)], match)]
            at = found + len(words)
        segments.append(Segment(text[at:], style))
        return [segment for segment in segments if segment.text]
