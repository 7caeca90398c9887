"""Shades for values: the more, the stronger the ground. What they mean stands in a scale beside them."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.segment import Segment
from textual.reactive import reactive
from textual.strip import Strip

from widgets.plain.text import clean, shorten
from widgets.steady import SteadyWidget

SHADES: Final = 5
"""How many there are."""

SHADE_CLASSES: Final = frozenset(f"shade--{at}" for at in range(SHADES))
"""Their component classes, the faintest first."""

SHADE_CSS: Final = "\n".join(
    f"& > .shade--{at} {{ background: $primary {6 + 9 * at}%; color: $foreground; }}"
    f"&:ansi > .shade--{at} {{ background: ansi_default; }}"
    for at in range(SHADES)
)
"""What a widget that shades has in its styles. Of a terminal's own sixteen colours none is a shade of another."""


def shade_of(level: float) -> str:
    """The component class for a share from 0 to 1; what lies beyond is the nearer end."""
    return f"shade--{min(SHADES - 1, max(0, int(level * SHADES)))}"


class ShadeScale(SteadyWidget):
    """A line that says what the shades mean: from nothing to `text`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*SHADE_CLASSES, "shade-scale--text"}
    DEFAULT_CSS = f"""
    ShadeScale {{
        height: 1;
        & > .shade-scale--text {{ color: $text-muted; }}
        {SHADE_CSS}
    }}
    """
    text: reactive[str] = reactive("")
    """What the strongest shade is, and whatever else is to be said."""

    def render_line(self, y: int) -> Strip:
        """The shades between two words."""
        width, style = self.size.width, self.style_of("shade-scale--text")
        segments = [Segment("0 ", style)]
        segments += [Segment("  ", self.style_of(f"shade--{at}")) for at in range(SHADES)]
        used = 2 + 2 * SHADES
        segments.append(Segment(shorten(f" {clean(self.text)}", max(0, width - used)), style))
        return Strip(segments).adjust_cell_length(width, style)
