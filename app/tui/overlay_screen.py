"""Base class of read-only sheets over a screen. The same keys scroll and close all of them."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from widgets.sparse_screen import BufferedScreen


class OverlayScreen(ModalScreen[None], BufferedScreen[None]):
    """A sheet with a title, a scrolling body, and a fixed last line. Subclasses compose the body."""

    SCROLLING: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
    ]
    """Keys that also scroll while a field has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,h,q,enter", "dismiss", "Close", id="sheet.close"),
        *SCROLLING,
        Binding("k", "scroll(-1)", show=False),
        Binding("j", "scroll(1)", show=False),
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
            yield from self.above()
            with VerticalScroll(classes="sheet-scroll", can_focus=False):
                yield from self.body()
            if self.LAST_LINE:
                yield Static(self.LAST_LINE, markup=False)

    def above(self) -> ComposeResult:
        """Compose at most one line between the title and the body."""
        yield from ()

    def body(self) -> ComposeResult:
        """Compose the widgets that scroll."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """Maximum lines of the body in a sheet of at most 96 % of the height: border and fixed lines need some."""
        fixed = len(self.query_one(".sheet").children) - 1  # all but the body
        return max(3, min(self.size.height - 4, self.size.height * 96 // 100 - 2) - fixed)

    def on_resize(self, event: events.Resize) -> None:
        """Leave room for the fixed lines."""
        self.query_one(VerticalScroll).styles.max_height = self.room

    def action_scroll(self, lines: int) -> None:
        """Scroll by this number of lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_scroll_to(self, end: int) -> None:
        """Scroll to the top (0) or to the end (1)."""
        sheet = self.query_one(VerticalScroll)
        sheet.scroll_to(y=end * sheet.max_scroll_y, animate=False)
