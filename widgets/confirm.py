"""Dialog in which the user confirms a hardware change. It shows all consequences and prevents accidental answers."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Button, Input

from widgets.command_preview import CommandPreview, bullet_lines
from widgets.confirmation import ChangeTable, Confirmation, PlannedChange, Tier
from widgets.guarded_dialog import ButtonRow, Clock, GuardedDialog, KeyButton, TypedField
from widgets.text_panel import Line, Style, TextPanel, TextParagraphs
from widgets.text_utils.text import clean

__all__ = ["ConfirmDialog", "Confirmation", "PlannedChange", "Tier"]

MARKS: Final[dict[Tier, str]] = {
    "harmless": "",
    "risky": "CAREFUL",
    "destructive": "DESTROYS DATA",
    "refused": "REFUSED",
}
"""Text at the start of the title, by tier."""
_TONES: Final[dict[Tier, Style]] = {"harmless": "title", "risky": "warning", "destructive": "bad", "refused": "bad"}

TAKEN: Final = "if the terminal supports it"
"""Condition in the note after a copy to the clipboard: with OSC 52, the terminal does not report if it accepted it."""

_FEW: Final = 2
"""Maximum number of devices that are always visible. More devices are in the part that scrolls."""


class _Sentences(TextPanel):
    """A bullet list of sentences under a heading."""

    def __init__(self, heading: str, sentences: tuple[str, ...], tone: str) -> None:
        super().__init__()
        self._heading, self._sentences, self._tone = heading, sentences, tone

    def lay_out(self, width: int) -> list[Line]:
        return bullet_lines(self._heading, self._sentences, width, tone=self._tone)


class ConfirmDialog(GuardedDialog[bool]):
    """Dialog that returns True only if the user confirms a hardware change. The tier determines how:

    - harmless: the button Apply has the focus, so enter or `y` applies.
    - risky: the button Cancel has the focus, so only `y` applies.
    - destructive: the user must type the confirmation token and then choose Apply.
    - refused: the dialog shows the reasons and has only the button Close.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "apply", "Apply", id="confirm.apply"),
        Binding("t", "trial", "Trial", id="confirm.trial"),
        Binding("u", "unfold", "Show undo", id="confirm.unfold"),
        Binding("c", "copy", "Copy", id="confirm.copy"),
        Binding("up", "scroll_body(-1)", "Up", show=False, id="confirm.up"),
        Binding("down", "scroll_body(1)", "Down", show=False, id="confirm.down"),
        Binding("pageup", "scroll_body(-10)", "Page up", show=False, id="confirm.page-up"),
        Binding("pagedown", "scroll_body(10)", "Page down", show=False, id="confirm.page-down"),
    ]

    DEFAULT_CSS = """
    ConfirmDialog {
        & > .risky { border: round $warning; }
        & > .destructive { border: heavy $error; }
        & > .refused { border: heavy $error; }
        & .dialog-title { height: auto; margin-bottom: 1; }
        & .dialog-device { height: auto; margin-bottom: 1; }
        & .dialog-title > .lines--warning { text-style: bold; }
        & VerticalScroll { height: auto; max-height: 60%; scrollbar-size-vertical: 1; }
        & VerticalScroll > TextPanel { margin-bottom: 1; }
        & VerticalScroll > TextPanel:last-child { margin-bottom: 0; }
        & TypedField { margin-top: 1; }
        & #hint { height: 2; }
        & .destructive .dialog-buttons { margin-top: 0; }
    }
    """

    trial_chosen = False
    """Whether the user chose a trial. It is valid after the dialog has returned True."""

    def __init__(self, confirmation: Confirmation, *, clock: Clock = time.monotonic) -> None:
        super().__init__(clock=clock)
        self.confirmation = confirmation
        """Contents of the dialog."""

    def compose(self) -> ComposeResult:
        """Yield title, changes, input field and buttons."""
        confirmation = self.confirmation
        mark = MARKS[confirmation.tier]
        with Vertical(classes=f"dialog {confirmation.tier}"):
            yield TextParagraphs(
                f"{mark}: {confirmation.title}" if mark else confirmation.title,
                _TONES[confirmation.tier],
                classes="dialog-title",
            )
            for device in confirmation.devices if len(confirmation.devices) <= _FEW else ():
                yield TextParagraphs(device, classes="dialog-device")
            with VerticalScroll(can_focus=False):
                yield from self._body()
            if confirmation.tier == "destructive":
                yield TypedField(placeholder=f"type {clean(confirmation.required)} here", compact=True, id="typed")
                yield TextParagraphs(self._hint_text(), "label", id="hint")
            yield ButtonRow(*self._buttons())

    def on_mount(self) -> None:
        """Focus the default button of the tier."""
        super().on_mount()
        self.query_one("#apply" if self.confirmation.tier == "harmless" else "#cancel", Button).focus()

    def on_resize(self) -> None:
        """Limit the height of the body again, so that the buttons stay visible on a small terminal."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Limit the body to the height that is left by the title, the field and the buttons."""
        body = self.query_one(VerticalScroll)
        others = [child for child in self.query_one(".dialog").children if child is not body]
        used_height = sum(child.outer_size.height + child.styles.margin.height for child in others)
        body.styles.max_height = max(2, self.size.height - 2 - used_height)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available: the tier and the contents must allow it."""
        tier = self.confirmation.tier
        if action == "apply":
            return tier in ("harmless", "risky")
        if action == "copy":
            return bool(self.confirmation.commands)
        if action == "unfold":
            return any(change.undo for change in self.confirmation.changes)
        if action == "trial":
            return bool(self.confirmation.trial_label) and tier in ("harmless", "risky")
        return True

    def action_apply(self) -> None:
        """Close the dialog with True, if the tier allows this key."""
        if self.is_listening and self.confirmation.tier in ("harmless", "risky"):
            self.dismiss(True)

    @on(Button.Pressed, "#trial")
    def action_trial(self) -> None:
        """Close the dialog with True, and record that a trial was chosen."""
        if self.is_listening and self.confirmation.trial_label:
            self.trial_chosen = True
            self.dismiss(True)

    def action_unfold(self) -> None:
        """Show or hide how the changes are undone."""
        for table in self.query(ChangeTable):
            table.unfold()

    def action_copy(self) -> None:
        """Copy the commands to the terminal's clipboard."""
        for preview in self.query(CommandPreview):
            if preview.commands:
                self.app.copy_to_clipboard(preview.shown_text())
                preview.note = f"copied, {TAKEN}"

    def action_leave(self) -> None:
        """Close the dialog with False."""
        self.dismiss(False)

    def action_scroll_body(self, lines: int) -> None:
        """Scroll the body."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    @on(Button.Pressed, "#apply")
    def _handle_apply(self) -> None:
        if self.confirmation.tier != "destructive":
            self.action_apply()
        elif self.is_listening and self._is_typed():
            self.dismiss(True)

    @on(Input.Changed, "#typed")
    def _handle_typing(self) -> None:
        field = self.query_one(TypedField)
        self.query_one("#apply", Button).disabled = not self._is_typed()
        hint = self.query_one("#hint", TextParagraphs)
        if field.refused_paste:
            hint.say(f"Not pasted: the token must be typed. {self._hint_text()}", "warning")
            field.refused_paste = False
        elif self._is_typed():
            hint.say(f"Enter goes to {self.confirmation.apply_label}.", "warning")
        else:
            hint.say(self._hint_text(), "muted")

    @on(Input.Submitted, "#typed")
    def _handle_enter(self) -> None:
        if self._is_typed():
            self.query_one("#apply", Button).focus()
        else:
            self.query_one("#hint", TextParagraphs).say(f"This is not the token. {self._hint_text()}", "bad")

    def _is_typed(self) -> bool:
        required = clean(self.confirmation.required)
        return bool(required.strip()) and self.query_one(TypedField).value == required

    def _hint_text(self) -> str:
        return f"To confirm, press tab and type {clean(self.confirmation.required)}"

    def _body(self) -> ComposeResult:
        confirmation = self.confirmation
        if len(confirmation.devices) > _FEW:
            yield _Sentences("Devices", confirmation.devices, "value")
        if confirmation.changes:
            yield ChangeTable(confirmation.changes)
        if confirmation.summary:
            yield TextParagraphs(confirmation.summary)
        if confirmation.reasons:
            yield _Sentences("Reason", confirmation.reasons, "bad")
        if confirmation.evidence:
            yield _Sentences("On the device", confirmation.evidence, "warning")
        if confirmation.commands or confirmation.risks:
            note = "c copies it" if len(confirmation.commands) == 1 else "c copies them"
            yield CommandPreview(confirmation.commands, confirmation.risks, note=note)

    def _buttons(self) -> list[KeyButton]:
        confirmation = self.confirmation
        if confirmation.tier == "refused":
            return [KeyButton("Close", "esc", id="cancel")]
        cancel = KeyButton("Cancel", "esc", id="cancel")
        if confirmation.tier == "destructive":
            return [KeyButton(confirmation.apply_label, "", id="apply", variant="error", disabled=True), cancel]
        is_risky = confirmation.tier == "risky"
        buttons = [KeyButton(confirmation.apply_label, "y", id="apply", variant="warning" if is_risky else "success")]
        if confirmation.trial_label:
            buttons.append(KeyButton(confirmation.trial_label, "t", id="trial"))
        for button in buttons:
            button.can_focus = not is_risky
        return [*buttons, cancel]
