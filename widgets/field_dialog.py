"""Dialogs with one field, for a number within limits or for a line of text."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Button, Input

from widgets.guarded_dialog import ButtonRow, Clock, GuardedDialog, KeyButton
from widgets.text_field import TextField
from widgets.text_panel import TextParagraphs
from widgets.text_utils.text import clean


def plain_number(value: float) -> str:
    """Return a number as digits, such as `65536` or `0.25`."""
    return str(int(value)) if float(value).is_integer() else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSpan:
    """Limits for a number."""

    minimum: float | None = None
    """Minimum; None for no limit."""
    maximum: float | None = None
    """Maximum; None for no limit."""
    step: float | None = None
    """The number must be a multiple of this one; None for no such limit."""
    unit: str = ""
    """Unit that is shown after numbers; "" for none."""

    def reason(self, value: float) -> str:
        """Return the limit that a number violates, such as `at least 4 KiB`; "" if none."""
        if value != value or value in (float("inf"), float("-inf")):
            return "not a number"
        if self.minimum is not None and value < self.minimum:
            return f"at least {self._with_unit(self.minimum)}"
        if self.maximum is not None and value > self.maximum:
            return f"at most {self._with_unit(self.maximum)}"
        if self.step and abs(value / self.step - round(value / self.step)) > 1e-9:
            return f"a multiple of {self._with_unit(self.step)}"
        return ""

    def sentence(self) -> str:
        """Return a description of the limits, such as `from 4 to 64 KiB`; "" if there are none."""
        phrases: list[str] = []
        if self.minimum is not None:
            phrases.append(f"from {plain_number(self.minimum)}")
        if self.maximum is not None:
            phrases.append(f"to {plain_number(self.maximum)}")
        if self.step and self.step != 1:  # a step of 1 need not be mentioned
            phrases.append(f"in steps of {plain_number(self.step)}")
        if phrases and self.unit:
            phrases.append(self.unit)
        return " ".join(phrases)

    def _with_unit(self, value: float) -> str:
        return f"{plain_number(value)} {self.unit}" if self.unit else plain_number(value)


class FieldDialog(GuardedDialog[str | None]):
    """Dialog with a field. It returns the content of the field if that is accepted, or None if the user cancels."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move_to('#field')", "Field", show=False, id="field.up"),
        Binding("down", "move_to('#accept')", "Button", show=False, id="field.down"),
    ]

    DEFAULT_CSS = """
    FieldDialog {
        & > .dialog { width: 72; max-width: 100%; }
        & Input { margin-top: 1; }
        & .dialog-reason { height: auto; min-height: 1; }
    }
    """

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        help: str = "",
        secret: bool = False,
        clock: Clock = time.monotonic,
    ) -> None:
        """`secret`: show a dot instead of each character."""
        super().__init__(clock=clock)
        self._heading = title
        self._value = value
        self._help = help
        self._secret = secret

    def compose(self) -> ComposeResult:
        """Yield title, help, field, reason and buttons."""
        with Vertical(classes="dialog"):
            yield TextParagraphs(self._heading, "title")
            yield TextParagraphs(self._help, "label")
            yield TextField(clean(self._value), password=self._secret, compact=True, id="field")
            yield TextParagraphs("", "bad", classes="dialog-reason")
            yield ButtonRow(
                KeyButton("OK", "enter", id="accept", variant="primary"), KeyButton("Cancel", "esc", id="cancel")
            )

    def on_mount(self) -> None:
        """Focus the field."""
        super().on_mount()
        self.query_one("#field", Input).focus()

    def reason(self, text: str) -> str:
        """Return why `text`, the content of the field, is not accepted; "" if it is. Subclasses override this."""
        del text
        return ""

    def accepted(self, text: str) -> str:
        """Return the value that the dialog returns for an accepted text."""
        return text.strip()

    @on(Input.Submitted, "#field")
    @on(Button.Pressed, "#accept")
    def action_accept(self) -> None:
        """Close the dialog with the content of the field, or show why that is not accepted."""
        if not self.is_listening:
            return
        text = self.query_one("#field", Input).value
        reason = self.reason(text)
        if reason:
            self._show_reason(reason)
        else:
            self.dismiss(self.accepted(text))

    def action_move_to(self, selector: str) -> None:
        """Focus the field or the first button."""
        self.query_one(selector).focus()

    def _show_reason(self, reason: str) -> None:
        self.query_one(".dialog-reason", TextParagraphs).say(f"Not accepted: {reason}" if reason else "", "bad")

    @on(Input.Changed, "#field")
    def _handle_change(self, event: Input.Changed) -> None:
        self._show_reason(self.reason(event.value) if event.value.strip() else "")


class TextDialog(FieldDialog):
    """Dialog that returns a line of text, such as a note. It accepts no empty line."""

    def reason(self, text: str) -> str:
        """Return the reason if the field is empty; "" otherwise."""
        return "" if text.strip() else "the field is empty"


class NumberDialog(FieldDialog):
    """Dialog that returns a number within limits, as a string of digits."""

    def __init__(
        self,
        title: str,
        span: NumberSpan,
        value: str = "",
        *,
        help: str = "",
        clock: Clock = time.monotonic,
    ) -> None:
        """`span`: limits for the number. `value`: initial text. `help`: sentence that explains the number."""
        limits = span.sentence()
        super().__init__(title, value, help="\n".join(part for part in (help, limits) if part), clock=clock)
        self._span = span

    def reason(self, text: str) -> str:
        """Return the limit that the number violates; "" if none."""
        try:
            return self._span.reason(float(text.strip()))
        except ValueError:
            return "not a number"

    def accepted(self, text: str) -> str:
        """Return the number as plain digits."""
        return plain_number(float(text.strip()))
