"""Dialog in which the user confirms a hardware change. It shows all consequences and prevents accidental answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Button, Input

from widgets.command_preview import CommandPreview, bullet_lines
from widgets.confirmation import ChangeTable, Confirmation, PlannedChange, Tier
from widgets.guarded_dialog import GRACE, ButtonRow, Clock, DialogBody, GuardedDialog, KeyButton, TypedField
from widgets.text_panel import Line, Style, TextPanel, TextParagraphs
from widgets.text_utils.text import clean
from widgets.text_utils.units import plural

__all__ = ["ConfirmDialog", "Confirmation", "PlannedChange", "Tier", "named_or_counted"]

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

MORE: Final = "More"
"""Label of the key and the button that confirm, as long as a part of the dialog has not been on the screen."""

_FEW: Final = 2
"""Maximum number of devices that are always visible. More devices are in the part that scrolls."""

_TALL: Final = 20
"""Minimum number of rows of a terminal on which devices are always visible."""


def named_or_counted(names: Sequence[str], noun: str) -> str:
    """Return the names for a title, or their number with the noun if there are more than fit."""
    return ", ".join(names) if len(names) <= _FEW else plural(len(names), noun)


class _Sentences(TextPanel):
    """A bullet list of sentences under a heading."""

    def __init__(self, heading: str, sentences: tuple[str, ...], tone: str) -> None:
        super().__init__()
        self._heading, self._sentences, self._tone = heading, sentences, tone

    def lay_out(self, width: int) -> list[Line]:
        return bullet_lines(self._heading, self._sentences, width, tone=self._tone)


class ConfirmDialog(GuardedDialog[bool]):
    """Dialog that returns True only if the user confirms a hardware change that was shown completely. How:

    - harmless: the button Apply has the focus, so enter or `y` applies.
    - risky: the button Cancel has the focus, so only `y` applies.
    - destructive: the user must type the confirmation token and then choose Apply.
    - refused: the dialog shows the reasons and has only the button Close.
    """

    drops_typed_ahead = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "apply", "Apply", id="confirm.apply"),
        Binding("t", "trial", "Trial", id="confirm.trial"),
        Binding("u", "unfold", "Show undo", id="confirm.unfold"),
        Binding("c", "copy", "Copy", id="confirm.copy"),
    ]

    DEFAULT_CSS = """
    ConfirmDialog {
        & > .risky { border: round $warning; }
        & > .destructive { border: heavy $error; }
        & > .refused { border: heavy $error; }
        & .dialog-title { height: auto; margin-bottom: 1; }
        & .dialog-device { height: auto; margin-bottom: 1; }
        & .dialog-title > .lines--warning { text-style: bold; }
        & DialogBody > TextPanel { margin-bottom: 1; }
        & DialogBody > TextPanel:last-child { margin-bottom: 0; }
        & TypedField { margin-top: 1; }
        & #hint { height: 2; }
        & .destructive .dialog-buttons { margin-top: 0; }
    }
    """

    trial_chosen = False
    """Whether the user chose a trial. It is valid after the dialog has returned True."""

    def __init__(self, confirmation: Confirmation, *, clock: Clock = time.monotonic) -> None:
        super().__init__(grace=GRACE if confirmation.tier in ("risky", "destructive") else 0.0, clock=clock)
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
            if self._devices_fit:
                for device in confirmation.devices:
                    yield TextParagraphs(device, classes="dialog-device")
            with DialogBody():
                yield from self._body()
            if confirmation.tier == "destructive":
                yield TypedField(placeholder=f"type {clean(confirmation.required)} here", compact=True, id="typed")
                yield TextParagraphs(self._hint_text(), "label", id="hint")
            yield ButtonRow(*self._buttons())

    def on_mount(self) -> None:
        """Focus the default button of the tier."""
        super().on_mount()
        self.query_one("#apply" if self.confirmation.tier == "harmless" else "#cancel", Button).focus()

    @property
    def _devices_fit(self) -> bool:
        """Whether the devices are always visible, above the part that scrolls."""
        return len(self.confirmation.devices) <= _FEW and self.app.size.height >= _TALL

    def watch_unread(self, lines: int) -> None:
        """Let the button say what it does."""
        super().watch_unread(lines)
        for button in self.query("#apply").results(KeyButton):
            button.rename(MORE if lines else self.confirmation.apply_label)

    def key_label(self, binding: Binding) -> str:
        """Return the label of a key: for the key that confirms, that of the button."""
        if binding.action == "apply":
            return MORE if self.unread else self.confirmation.apply_label
        return super().key_label(binding)

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
        if self.confirmation.tier in ("harmless", "risky") and self.accept_answer():
            self.dismiss(True)

    @on(Button.Pressed, "#trial")
    def action_trial(self) -> None:
        """Close the dialog with True, and record that a trial was chosen."""
        if self.confirmation.trial_label and self.accept_answer():
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

    @on(Button.Pressed, "#apply")
    def _handle_apply(self) -> None:
        if self.confirmation.tier != "destructive":
            self.action_apply()
        elif self._is_typed() and self.accept_answer():
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
        if confirmation.devices and not self._devices_fit:
            title = confirmation.devices_title or plural(len(confirmation.devices), "device")
            yield _Sentences(title[:1].upper() + title[1:], confirmation.devices, "value")
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
