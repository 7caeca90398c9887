"""Base classes for dialogs that take an answer only to what the user has had on the screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar, Final, TypeVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.errors import NoWidget
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Button, Input
from textual.widgets.button import ButtonVariant

from widgets.sparse_screen import BufferedScreen
from widgets.text_utils.text import clean

Result = TypeVar("Result")

Clock = Callable[[], float]
"""Function that returns a monotonic time in seconds."""

GRACE: Final = 0.5
"""Seconds after a dialog about a risk becomes visible during which it accepts only escape."""


class DialogBody(VerticalScroll):
    """The part of a dialog that scrolls. It records which of its lines have been on the screen."""

    DEFAULT_CSS = "DialogBody { height: auto; max-height: 60%; scrollbar-size-vertical: 1; }"

    def __init__(self) -> None:
        super().__init__(can_focus=False)
        self._end = 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines at the width that a visible scrollbar leaves.

        At the full width they could be fewer, and the scrollbar would stay although there is room for every line.
        """
        left = width - self.scrollbar_size_vertical if self.show_vertical_scrollbar else width
        return super().get_content_height(container, viewport, left)

    @property
    def unread(self) -> int:
        """The number of lines at the end that have not been on the screen yet."""
        return max(0, self.virtual_size.height - self._end)

    def record_lines(self) -> None:
        """Record the lines on the screen, unless lines above them have not been on it yet."""
        with suppress(NoWidget):
            place = self.screen.find_widget(self)
            visible = place.visible_region
            first = round(self.scroll_y) + visible.y - place.region.y
            if visible and first <= self._end:
                self._end = max(self._end, first + visible.height)

    def forget_lines(self) -> None:
        """Assume that no line has been on the screen, because the lines are laid out again."""
        self._end = 0

    def scroll_on(self) -> None:
        """Scroll to the first line that has not been on the screen yet. The line before it stays visible."""
        self.scroll_to(y=max(0, self._end - 1), animate=False)


class GuardedDialog(ModalScreen[Result], BufferedScreen[Result]):
    """Dialog that takes no answer before its whole body has been on the screen.

    If the answer is a risk, it also takes none but escape in the first half second.
    """

    # If the first button had the focus, an Enter that was typed too early would be taken as an answer.
    AUTO_FOCUS = None
    drops_typed_ahead: ClassVar[bool] = False
    """Whether keys that were typed before the dialog was on the screen are dropped, except escape."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel", id="dialog.leave"),
        Binding("h", "back", "Back", show=False, id="dialog.back"),
        Binding("left", "app.focus_previous", "Previous", show=False, id="dialog.previous"),
        Binding("right", "app.focus_next", "Next", show=False, id="dialog.next"),
        Binding("up", "scroll_body(-1)", "Up", show=False, id="dialog.up"),
        Binding("down", "scroll_body(1)", "Down", show=False, id="dialog.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="dialog.page-up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="dialog.page-down"),
    ]

    unread: reactive[int] = reactive(0, init=False, repaint=False)
    """Number of lines of the body that have not been on the screen yet."""

    DEFAULT_CSS = """
    GuardedDialog {
        align: center middle;
        & > .dialog {
            width: 90%;
            max-width: 100;
            min-width: 40;
            height: auto;
            max-height: 100%;
            padding: 0 1;
            border: round $primary;
            background: $surface;
        }
        & .dialog-body { height: auto; }
        & .dialog-buttons { height: 1; margin-top: 1; width: 1fr; }
        & .dialog-buttons Button { margin-right: 2; min-width: 10; }
    }
    """

    def __init__(self, *, grace: float = 0.0, clock: Clock = time.monotonic) -> None:
        """`grace`: seconds after the dialog becomes visible during which it accepts only escape."""
        super().__init__()
        self._grace = grace
        self._clock = clock
        self._opened: float | None = None

    def require_grace(self) -> None:
        """Accept only escape in the first half second, because the user does not expect the dialog now."""
        self._grace = self._grace or GRACE

    @property
    def is_listening(self) -> bool:
        """Whether the dialog accepts keys: without a grace period at once, so that no key of fast typing is lost."""
        return not self._grace or (self._opened is not None and self._clock() - self._opened >= self._grace)

    def accept_answer(self) -> bool:
        """Return whether an answer counts now. If a part of the body has not been on the screen, scroll on to it."""
        if self._opened is None or not self.is_listening:
            return False
        if self.unread:
            self.query_one(DialogBody).scroll_on()
        return not self.unread

    def on_mount(self) -> None:
        """Start the grace period as soon as the dialog is visible."""
        # The dialog becomes visible only after the next refresh, which may take long over a slow link.
        self.call_after_refresh(self._settle)

    def on_resize(self) -> None:
        """Limit the height of the body again, so that the buttons stay visible on a small terminal."""
        self.call_after_refresh(self._settle)

    def _settle(self) -> None:
        """Limit the body to the height that is left by the other parts of the dialog."""
        for body in self.query(DialogBody):
            children = self.query_one(".dialog").children
            used_height = sum(child.styles.margin.height for child in children)
            used_height += sum(child.outer_size.height for child in children if child is not body)
            body.styles.max_height = max(2, self.size.height - 2 - used_height)
            if self.unread:
                body.forget_lines()
        self.call_after_refresh(self._open)

    def _open(self) -> None:
        if self._opened is None:
            self._opened = self._clock()
        self.record_lines()

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        super()._refresh_layout(size, scroll)
        self.call_after_refresh(self.record_lines)

    def record_lines(self) -> None:
        """Record which part of the body is on the screen, once the dialog has its final height."""
        if self._opened is not None:
            for body in self.query(DialogBody):
                body.record_lines()
                self.unread = body.unread

    def watch_unread(self, lines: int) -> None:
        """Show below the dialog how many lines follow."""
        more = f"{lines} more line{'' if lines == 1 else 's'}: page down" if lines else ""
        self.query_one(".dialog").border_subtitle = more
        self.refresh_bindings()

    def key_label(self, binding: Binding) -> str:
        """Return the label of a key for the footer. Subclasses override this."""
        return binding.description

    def action_scroll_body(self, lines: int) -> None:
        """Scroll the body."""
        for body in self.query(DialogBody):
            body.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll the body by pages, of which one line stays visible. After the last page come lines left out before."""
        for body in self.query(DialogBody):
            if pages > 0 and body.unread and body.scroll_y >= body.max_scroll_y:
                body.scroll_on()
            else:
                self.action_scroll_body(pages * max(1, body.size.height - 1))

    def action_leave(self) -> None:
        """Close the dialog without an answer."""
        self.dismiss(None)

    def action_back(self) -> None:
        """Close the dialog without an answer, unless the key may have been typed too early."""
        if self.is_listening:
            self.action_leave()

    @on(Button.Pressed, "#cancel")
    def _handle_cancel(self) -> None:
        self.action_back()


class KeyButton(Button):
    """One-line button that shows its key, and a cursor sign while it has the focus."""

    def __init__(
        self, label: str, key: str, *, id: str, variant: ButtonVariant = "default", disabled: bool = False
    ) -> None:
        self._key = key
        self._caption = self._with_key(label)
        super().__init__(Content(f"  {self._caption} "), variant, id=id, disabled=disabled, compact=True)

    def rename(self, label: str) -> None:
        """Show another label."""
        self._caption = self._with_key(label)
        self.watch_has_focus(self.has_focus)

    def _with_key(self, label: str) -> str:
        return f"{clean(label)}  {clean(self._key)}" if self._key else clean(label)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Show or hide the cursor sign."""
        super().watch_has_focus(_has_focus)
        self.label = Content(f"{'>' if _has_focus else ' '} {self._caption} ")


class ButtonRow(Horizontal):
    """Row of buttons at the bottom of a dialog."""

    def __init__(self, *buttons: Button) -> None:
        super().__init__(*buttons, classes="dialog-buttons")


class TypedField(Input):
    """Field whose text must be typed. It refuses a paste."""

    refused_paste = False
    """Whether a paste was refused. The dialog resets it after it has shown a message."""

    async def _on_key(self, event: events.Key) -> None:
        if isinstance(self.screen, GuardedDialog) and not self.screen.is_listening:
            event.prevent_default()
            event.stop()
        else:
            await super()._on_key(event)

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.refused_paste = True
        self.post_message(self.Changed(self, self.value))

    def action_paste(self) -> None:
        """Refuse a paste from the clipboard of the app, too."""
        self.refused_paste = True
        self.post_message(self.Changed(self, self.value))
