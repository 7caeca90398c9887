"""Panel of facts in groups with headings. Labels and values are in two columns."""

from __future__ import annotations

from dataclasses import dataclass

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
        """Return the lines of all groups. Labels use at most a third of the width."""
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
    values = wrap(fact.value, value_width)
    first: Line = (("label", pad(label, column) + "  "), (kind, values[0]))
    return [first, *((("label", " " * (column + 2)), (kind, text)) for text in values[1:])]
