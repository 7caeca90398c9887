"""What lies over a screen to be read: the same keys scroll and leave every sheet."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from widgets.sparse_screen import BufferedScreen


class OverlayScreen(ModalScreen[None], BufferedScreen[None]):
    """A sheet with something that scrolls. Subclasses compose it, and leave `BESIDE` lines to the rest."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,h,q,enter", "dismiss", "Close", id="sheet.close"),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
        Binding("home,g", "scroll_to(0)", show=False),
        Binding("end,G", "scroll_to(1)", show=False),
    ]
    DEFAULT_CSS = "OverlayScreen { align: center middle; }"

    BESIDE: ClassVar[int] = 5
    """Lines of border, title and whatever else does not scroll."""

    def on_resize(self) -> None:
        """Leaves room for what does not scroll."""
        self.query_one(VerticalScroll).styles.max_height = max(3, self.size.height - self.BESIDE)

    def action_scroll(self, lines: int) -> None:
        """Move the sheet."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_scroll_to(self, end: int) -> None:
        """To its beginning, 0, or its end, 1."""
        sheet = self.query_one(VerticalScroll)
        sheet.scroll_to(y=end * sheet.max_scroll_y, animate=False)
