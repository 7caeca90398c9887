"""Base class of read-only sheets over a screen. The same keys scroll and close all of them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from widgets.sparse_screen import BufferedScreen


class OverlayScreen(ModalScreen[None], BufferedScreen[None]):
    """A sheet with a title, a scrolling body, and a fixed last line. Subclasses compose the body."""

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

    LAST_LINE: ClassVar[str] = ""
    """Text below the scrolling body; "" for none."""

    def compose(self) -> ComposeResult:
        """Compose title, body and last line."""
        with Vertical(classes="sheet"):
            yield Static(self.title or "", classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-scroll", can_focus=False):
                yield from self.body()
            if self.LAST_LINE:
                yield Static(self.LAST_LINE, markup=False)

    def body(self) -> ComposeResult:
        """Compose the widgets that scroll."""
        raise NotImplementedError

    def on_resize(self) -> None:
        """Leave room for the border, the title and the last line."""
        self.query_one(VerticalScroll).styles.max_height = max(3, self.size.height - 5 - bool(self.LAST_LINE))

    def action_scroll(self, lines: int) -> None:
        """Scroll by this number of lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_scroll_to(self, end: int) -> None:
        """Scroll to the top (0) or to the end (1)."""
        sheet = self.query_one(VerticalScroll)
        sheet.scroll_to(y=end * sheet.max_scroll_y, animate=False)
