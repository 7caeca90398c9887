"""Base classes for dialogs that ignore keys which were typed before the dialog was visible."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar, Final, TypeVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input
from textual.widgets.button import ButtonVariant

from widgets.sparse_screen import BufferedScreen
from widgets.text_utils.text import clean

Result = TypeVar("Result")

Clock = Callable[[], float]
"""Function that returns a monotonic time in seconds."""

GRACE: Final = 0.5
"""Seconds after a dialog becomes visible during which it accepts only escape."""


class GuardedDialog(ModalScreen[Result], BufferedScreen[Result]):
    """Dialog that accepts only escape in the first half second."""

    # If the first button had the focus, an Enter that was typed too early would be taken as an answer.
    AUTO_FOCUS = None
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel", id="dialog.leave"),
        Binding("h", "back", "Back", show=False, id="dialog.back"),
        Binding("left", "app.focus_previous", "Previous", show=False, id="dialog.previous"),
        Binding("right", "app.focus_next", "Next", show=False, id="dialog.next"),
    ]

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

    def __init__(self, *, clock: Clock = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._opened: float | None = None

    @property
    def is_listening(self) -> bool:
        """Whether the dialog has been visible long enough to accept an answer."""
        return self._opened is not None and self._clock() - self._opened >= GRACE

    def on_mount(self) -> None:
        """Start the grace period as soon as the dialog is visible."""
        # The dialog becomes visible only after the next refresh, which may take long over a slow link.
        self.call_after_refresh(self._open)

    def _open(self) -> None:
        self._opened = self._clock()

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
        self._caption = f"{clean(label)}  {clean(key)}" if key else clean(label)
        super().__init__(Content(f"  {self._caption} "), variant, id=id, disabled=disabled, compact=True)

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
