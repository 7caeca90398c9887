"""The lines of a log whose entries fold: which entry a line belongs to, and which entries a search finds."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.table_layout import Tone
from widgets.text_utils.text import clean, shorten, width_of, wrap

SIGNS = 4
"""Cells for the signs of cursor and fold."""

WIDEST_KIND = 12
"""Cells the word for the kind may take."""


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


class LogLines:
    """Entries laid out for a width: one line each, more for those that are unfolded."""

    def __init__(self, entries: tuple[LogEntry, ...] = ()) -> None:
        self.entries: tuple[LogEntry, ...] = ()
        """All entries, oldest first."""
        self.width = 0
        """Cells a line takes."""
        self.kind_width = 0
        """Cells the words for the kinds take."""
        self.unfolded: set[str] = set()
        """Keys of the entries whose body is shown."""
        self.matches: list[int] = []
        """Places of the entries the search finds."""
        self._search_text = ""
        self._lines: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._lines_by_entry: dict[int, list[tuple[str, str]]] = {}
        self.take(entries)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def margin(self) -> int:
        """Cells left of an entry's text."""
        return SIGNS + (self.kind_width + 2 if self.kind_width else 0)

    def take(self, entries: tuple[LogEntry, ...]) -> None:
        """Goes on to these entries; when they begin with the known ones only the new are laid out."""
        count = len(self.entries)
        grew = entries[:count] == self.entries
        self.entries = entries
        if grew:
            self._extend(count)
        else:
            self.lay_out(self.width)

    def lay_out(self, width: int) -> None:
        """Lays out everything for a width."""
        self.width = width
        self._lines_by_entry.clear()
        self._lines.clear()
        self._starts.clear()
        self._extend(0)

    def fold(self, key: str) -> None:
        """Unfolds a folded entry and folds an unfolded one."""
        self.unfolded ^= {key}
        self.lay_out(self.width)

    def search(self, text: str) -> None:
        """Finds the entries that hold the words, in head or body, whatever their case."""
        self._search_text = text.casefold()
        self._find(0)

    def in_head(self, index: int) -> bool:
        """Whether what is searched for stands in the entry's head."""
        return self._search_text in self.entries[index].head.casefold()

    def at(self, line: int) -> tuple[int, int]:
        """The place of the entry a line belongs to, and which of its lines it is."""
        return self._lines[line]

    def span(self, index: int) -> tuple[int, int]:
        """The first line of an entry, and the one after its last."""
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self._lines)
        return self._starts[index], end

    def text(self, line: int) -> tuple[str, str]:
        """`head` or `body`, and what the line says."""
        index, part = self._lines[line]
        entry = self.entries[index]
        if entry.key in self.unfolded:
            return self._wrapped(index)[part]
        return "head", shorten(clean(entry.head), self.width - self.margin)

    def _extend(self, start: int) -> None:
        kinds = max((width_of(clean(entry.kind)) for entry in self.entries[start:]), default=0)
        if kinds > self.kind_width:
            self.kind_width = min(kinds, WIDEST_KIND)
            self._lines_by_entry.clear()
        for index in range(start, len(self.entries)):
            self._starts.append(len(self._lines))
            unfolded = self.entries[index].key in self.unfolded
            self._lines.extend((index, part) for part in range(len(self._wrapped(index)) if unfolded else 1))
        self._find(start)

    def _find(self, start: int) -> None:
        text = self._search_text
        self.matches = [index for index in self.matches if index < start] if text else []
        if text:
            self.matches += [
                index
                for index in range(start, len(self.entries))
                if self.in_head(index) or any(text in line.casefold() for line in self.entries[index].body)
            ]

    def _wrapped(self, index: int) -> list[tuple[str, str]]:
        """The lines of an unfolded entry."""
        if index not in self._lines_by_entry:
            entry, room = self.entries[index], max(8, self.width - self.margin)
            lines = [("head", line) for line in wrap(entry.head, room, indent=2)]
            lines += [("body", line) for text in entry.body for line in wrap(text, room, indent=2)]
            self._lines_by_entry[index] = lines
        return self._lines_by_entry[index]
