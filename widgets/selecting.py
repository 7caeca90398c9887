"""What is copied of a widget that draws its own lines: those lines, where Textual would give the name of its class."""

from __future__ import annotations

from textual.selection import Selection
from textual.widget import Widget


class Selectable(Widget):
    """A widget of drawn lines whose text can be selected with the mouse and copied."""

    def shown_text(self) -> str:
        """What is copied when all of it is selected: its lines as they are in sight, without the blanks behind them."""
        return "\n".join(self.render_line(y).text.rstrip() for y in range(self.size.height))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The part of it that is selected."""
        return selection.extract(self.shown_text()), "\n"
