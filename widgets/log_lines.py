"""Lines of a log whose entries can be folded. Finds the entry of each line, and searches the entries."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.table_layout import Tone
from widgets.text_utils.text import clean, shorten, width_of, wrap

SIGNS = 4
"""Number of cells for the cursor sign and the fold sign."""

WIDEST_KIND = 12
"""Maximum width of the kind in cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """An entry of a log."""

    key: str
    """Unique key."""
    head: str
    """Line that is always shown."""
    body: tuple[str, ...] = ()
    """Lines that are shown when the entry is unfolded."""
    kind: str = ""
    """Kind of the entry in a word, such as `command`, `change` or `note`."""
    tone: Tone = ""
    """Tone of the head."""


class LogLines:
    """Entries laid out for a width. A folded entry has one line, an unfolded one has more."""

    def __init__(self, entries: tuple[LogEntry, ...] = ()) -> None:
        self.entries: tuple[LogEntry, ...] = ()
        """All entries, oldest first."""
        self.width = 0
        """Width of a line in cells."""
        self.kind_width = 0
        """Width of the column with the kinds, in cells."""
        self.unfolded: set[str] = set()
        """Keys of unfolded entries."""
        self.matches: list[int] = []
        """Indexes of the entries that match the search."""
        self._search_text = ""
        self._lines: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._lines_by_entry: dict[int, list[tuple[str, str]]] = {}
        self.take(entries)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def margin(self) -> int:
        """Width to the left of an entry's text, in cells."""
        return SIGNS + (self.kind_width + 2 if self.kind_width else 0)

    def take(self, entries: tuple[LogEntry, ...]) -> None:
        """Replace the entries. If entries were only added at the end, only these are laid out."""
        count = len(self.entries)
        grew = entries[:count] == self.entries
        self.entries = entries
        if grew:
            self._extend(count)
        else:
            self.lay_out(self.width)

    def lay_out(self, width: int) -> None:
        """Lay out all entries for a width."""
        self.width = width
        self._lines_by_entry.clear()
        self._lines.clear()
        self._starts.clear()
        self._extend(0)

    def fold(self, key: str) -> None:
        """Unfold a folded entry, or fold an unfolded one."""
        self.unfolded ^= {key}
        self.lay_out(self.width)

    def search(self, text: str) -> None:
        """Find the entries that have this text in their head or body. Case is ignored."""
        self._search_text = text.casefold()
        self._find(0)

    def in_head(self, index: int) -> bool:
        """Return whether the head of an entry matches the search."""
        return self._search_text in self.entries[index].head.casefold()

    def at(self, line: int) -> tuple[int, int]:
        """Return the index of the entry to which a line belongs, and the index of the line within that entry."""
        return self._lines[line]

    def span(self, index: int) -> tuple[int, int]:
        """Return the number of an entry's first line, and the number after its last line."""
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self._lines)
        return self._starts[index], end

    def text(self, line: int) -> tuple[str, str]:
        """Return to which part a line belongs (`head` or `body`), and its text."""
        index, part = self._lines[line]
        entry = self.entries[index]
        if entry.key in self.unfolded:
            return self._unfolded_lines(index)[part]
        return "head", shorten(clean(entry.head), self.width - self.margin)

    def _extend(self, start: int) -> None:
        kinds = max((width_of(clean(entry.kind)) for entry in self.entries[start:]), default=0)
        if kinds > self.kind_width:
            self.kind_width = min(kinds, WIDEST_KIND)
            self._lines_by_entry.clear()
        for index in range(start, len(self.entries)):
            self._starts.append(len(self._lines))
            unfolded = self.entries[index].key in self.unfolded
            self._lines.extend((index, part) for part in range(len(self._unfolded_lines(index)) if unfolded else 1))
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

    def _unfolded_lines(self, index: int) -> list[tuple[str, str]]:
        """Return the wrapped lines of an unfolded entry, each with its part (`head` or `body`)."""
        if index not in self._lines_by_entry:
            entry, text_width = self.entries[index], max(8, self.width - self.margin)
            lines = [("head", line) for line in wrap(entry.head, text_width, indent=2)]
            lines += [("body", line) for text in entry.body for line in wrap(text, text_width, indent=2)]
            self._lines_by_entry[index] = lines
        return self._lines_by_entry[index]
