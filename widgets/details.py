"""Panel of facts in groups with headings. Labels and values are in two columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from textual.reactive import reactive

from widgets.table_layout import Tone
from widgets.text_panel import Line, TextPanel
from widgets.text_utils.text import clean, pad, shorten, width_of, wrap


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """A fact with its label."""

    label: str
    """Label; "" for a sentence across the whole width."""
    value: str
    """Value. It may have several lines."""
    tone: Tone = ""
    """Tone of the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactGroup:
    """Facts under a common heading."""

    heading: str = ""
    """Heading; "" for none."""
    facts: tuple[Detail, ...] = ()
    """Facts of the group, in order."""


class Details(TextPanel):
    """Shows groups of facts. Values are aligned, also if they wrap."""

    groups: reactive[tuple[FactGroup, ...]] = reactive((), repaint=False)
    """Groups, from the top."""

    def __init__(
        self,
        groups: tuple[FactGroup, ...] = (),
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(Details.groups, groups)

    def watch_groups(self) -> None:
        """Lay out the lines again."""
        self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the lines of all groups. Labels use at most a third of the width; longer ones wrap."""
        labels = [width_of(clean(fact.label)) for group in self.groups for fact in group.facts]
        column = min(max(labels, default=0), max(4, width // 3))
        lines: list[Line] = []
        for group in self.groups:
            if lines:
                lines.append(())
            if group.heading:
                lines.append((("heading", shorten(clean(group.heading), width)),))
            for fact in group.facts:
                lines.extend(_fact_lines(fact, column, width))
        return lines


def _fact_lines(fact: Detail, column: int, width: int) -> list[Line]:
    kind = fact.tone or "value"
    if not fact.label:
        return [((kind, text),) for text in wrap(fact.value, width)]
    value_width = width - column - 2
    label = clean(fact.label)
    if value_width < 8:
        return [(("label", shorten(label, width)),), *(((kind, text),) for text in wrap(fact.value, width))]
    # Where each item of a list fills its line, the lines separate the items, and no comma gets a line of its own.
    values = [text for text in wrap(fact.value, value_width) if text != ","]
    rows = zip_longest(wrap(label, column), values, fillvalue="")
    return [(("label", pad(text, column) + "  "), (kind, value)) for text, value in rows]


class DetailColumns(Details):
    """Shows groups of short facts in as many columns as fit, each fact in one line."""

    def lay_out(self, width: int) -> list[Line]:
        """Return the lines. A heading is never the last line of a column."""
        facts = [fact for group in self.groups for fact in group.facts]
        if not facts:
            return []
        label = max(width_of(clean(fact.label)) for fact in facts)
        cells = label + 2 + max(width_of(clean(fact.value)) for fact in facts)
        count = max(1, (width + 2) // (cells + 2))
        lines = [line for group in self.groups for line in _short_lines(group, label)]
        height = max(2, -(-len(lines) // count))
        while len(columns := _columns(lines, height)) > count:
            height += 1
        pitch = (width + 2) // count
        rows = zip_longest(*columns, fillvalue=())
        return [tuple(piece for line in row for piece in _padded(line, pitch)) for row in rows]


def _short_lines(group: FactGroup, column: int) -> list[Line]:
    """Return the heading of a group and a line for each fact."""
    lines: list[Line] = [(("heading", clean(group.heading)),)] if group.heading else []
    for fact in group.facts:
        lines.append((("label", pad(clean(fact.label), column) + "  "), (fact.tone or "value", clean(fact.value))))
    return lines


def _columns(lines: list[Line], height: int) -> list[list[Line]]:
    """Return the lines in columns of at most this height. A heading that would end a column begins the next one."""
    columns: list[list[Line]] = [[]]
    for at, line in enumerate(lines):
        last = len(columns[-1]) == height - 1 and line[0][0] == "heading" and at + 1 < len(lines)
        if len(columns[-1]) == height or last:
            columns.append([])
        columns[-1].append(line)
    return columns


def _padded(line: Line, width: int) -> Line:
    """Return the line with blanks up to the width."""
    return (*line, ("label", " " * (width - sum(width_of(text) for _, text in line))))
