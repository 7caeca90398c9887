"""The dialog between a person and the hardware: shows all that will happen, and takes no careless yes."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Button, Input

from widgets.command_preview import CommandPreview, bulleted
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
"""The word at the head of each tier."""
_TONES: Final[dict[Tier, Style]] = {"harmless": "title", "risky": "warning", "destructive": "bad", "refused": "bad"}

TAKEN: Final = "where the terminal takes it"
"""What is said of text that was handed to the clipboard: nobody hears whether the terminal took it (OSC 52)."""

_FEW: Final = 2
"""Devices that are always in sight; more of them are the first of what scrolls, or there would be no room to answer."""


class _Sentences(TextPanel):
    """Sentences under a heading."""

    def __init__(self, heading: str, sentences: tuple[str, ...], tone: str) -> None:
        super().__init__()
        self._heading, self._sentences, self._tone = heading, sentences, tone

    def lay_out(self, width: int) -> list[Line]:
        return bulleted(self._heading, self._sentences, width, tone=self._tone)


class ConfirmDialog(GuardedDialog[bool]):
    """Asks before hardware is changed; answers True only when it was meant.

    - harmless: Apply has the focus, enter or `y` applies.
    - risky: Cancel has the focus, only `y` applies.
    - destructive: the word that means the device must be typed, then Apply chosen.
    - refused: there is nothing to apply, only the reasons.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "apply", "Apply", id="confirm.apply"),
        Binding("t", "trial", "Trial", id="confirm.trial"),
        Binding("u", "unfold", "Way back", id="confirm.unfold"),
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
    """Whether the yes was for a trial only; read it after the dialog answered True."""

    def __init__(self, confirmation: Confirmation, *, clock: Clock = time.monotonic) -> None:
        super().__init__(clock=clock)
        self.confirmation = confirmation
        """What is asked."""

    def compose(self) -> ComposeResult:
        """Title, what will happen, the field to type into, the answers."""
        asked = self.confirmation
        mark = MARKS[asked.tier]
        with Vertical(classes=f"dialog {asked.tier}"):
            yield TextParagraphs(
                f"{mark}: {asked.title}" if mark else asked.title, _TONES[asked.tier], classes="dialog-title"
            )
            for device in asked.devices if len(asked.devices) <= _FEW else ():
                yield TextParagraphs(device, classes="dialog-device")
            with VerticalScroll(can_focus=False):
                yield from self._body()
            if asked.tier == "destructive":
                yield TypedField(placeholder=f"type {clean(asked.required)} here", compact=True, id="typed")
                yield TextParagraphs(self._hint(), "label", id="hint")
            yield ButtonRow(*self._buttons())

    def on_mount(self) -> None:
        """Puts the focus where the tier wants it."""
        super().on_mount()
        self.query_one("#apply" if self.confirmation.tier == "harmless" else "#cancel", Button).focus()

    def on_resize(self) -> None:
        """Leaves room for the answers on a small terminal."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Gives the body what title, field and answers leave over."""
        body = self.query_one(VerticalScroll)
        others = [child for child in self.query_one(".dialog").children if child is not body]
        taken = sum(child.outer_size.height + child.styles.margin.height for child in others)
        body.styles.max_height = max(2, self.size.height - 2 - taken)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offers only what the tier allows."""
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
        """Says yes."""
        if self.listening and self.confirmation.tier in ("harmless", "risky"):
            self.dismiss(True)

    def action_trial(self) -> None:
        """Says yes for a while."""
        if self.listening and self.confirmation.trial_label:
            self.trial_chosen = True
            self.dismiss(True)

    def action_unfold(self) -> None:
        """Shows or hides how what is asked is taken back."""
        for table in self.query(ChangeTable):
            table.unfold()

    def action_copy(self) -> None:
        """Hands the commands to the terminal's clipboard, to be mailed or typed elsewhere."""
        for preview in self.query(CommandPreview):
            if preview.commands:
                self.app.copy_to_clipboard(preview.shown_text())
                preview.note = f"copied, {TAKEN}"

    def action_leave(self) -> None:
        """Says no."""
        self.dismiss(False)

    def action_scroll_body(self, lines: int) -> None:
        """Moves what will happen up or down."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    @on(Button.Pressed, "#apply")
    def _apply_pressed(self) -> None:
        if self.confirmation.tier != "destructive":
            self.action_apply()
        elif self.listening and self._typed():
            self.dismiss(True)

    @on(Button.Pressed, "#trial")
    def _trial_pressed(self) -> None:
        self.action_trial()

    @on(Input.Changed, "#typed")
    def _name_typed(self) -> None:
        field = self.query_one(TypedField)
        self.query_one("#apply", Button).disabled = not self._typed()
        hint = self.query_one("#hint", TextParagraphs)
        if field.refused_paste:
            hint.say(f"Not pasted: it has to be typed. {self._hint()}", "warning")
            field.refused_paste = False
        elif self._typed():
            hint.say(f"Enter goes to {self.confirmation.apply_label}.", "warning")
        else:
            hint.say(self._hint(), "muted")

    @on(Input.Submitted, "#typed")
    def _name_entered(self) -> None:
        if self._typed():
            self.query_one("#apply", Button).focus()
        else:
            self.query_one("#hint", TextParagraphs).say(f"That is not it. {self._hint()}", "bad")

    def _typed(self) -> bool:
        required = clean(self.confirmation.required)
        return bool(required.strip()) and self.query_one(TypedField).value == required

    def _hint(self) -> str:
        return f"To confirm, press tab and type {clean(self.confirmation.required)}"

    def _body(self) -> ComposeResult:
        asked = self.confirmation
        if len(asked.devices) > _FEW:
            yield _Sentences("Devices", asked.devices, "value")
        if asked.changes:
            yield ChangeTable(asked.changes)
        if asked.summary:
            yield TextParagraphs(asked.summary)
        if asked.reasons:
            yield _Sentences("Why not", asked.reasons, "bad")
        if asked.evidence:
            yield _Sentences("On the device", asked.evidence, "warning")
        if asked.commands or asked.risks:
            note = "c copies it" if len(asked.commands) == 1 else "c copies them"
            yield CommandPreview(asked.commands, asked.risks, note=note)

    def _buttons(self) -> list[KeyButton]:
        asked = self.confirmation
        if asked.tier == "refused":
            return [KeyButton("Close", "esc", id="cancel")]
        cancel = KeyButton("Cancel", "esc", id="cancel")
        if asked.tier == "destructive":
            return [KeyButton(asked.apply_label, "", id="apply", variant="error", disabled=True), cancel]
        careful = asked.tier == "risky"
        buttons = [KeyButton(asked.apply_label, "y", id="apply", variant="warning" if careful else "success")]
        if asked.trial_label:
            buttons.append(KeyButton(asked.trial_label, "t", id="trial"))
        for button in buttons:
            button.can_focus = not careful
        return [*buttons, cancel]
