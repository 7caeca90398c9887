"""Small dialog with a question and answers. Each answer has its own key."""

from __future__ import annotations

import time
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Button

from widgets.guarded_dialog import GRACE, ButtonRow, Clock, DialogBody, GuardedDialog, KeyButton
from widgets.text_panel import TextParagraphs


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedAnswer:
    """An answer to a question."""

    key: str
    """Key that gives the answer. `escape` is for the answer that changes nothing."""
    label: str
    """Text of the answer."""
    value: str
    """Value that the dialog returns for this answer."""


class QuestionDialog(GuardedDialog[str]):
    """Dialog that returns the value of the chosen answer. Escape chooses the answer with the key `escape`, else ""."""

    drops_typed_ahead = True
    DEFAULT_CSS = """
    QuestionDialog {
        & > .dialog { width: auto; max-width: 90%; }
        & DialogBody { width: 64; max-width: 100%; margin-top: 1; }
        & .dialog-title { width: 64; max-width: 100%; }
        & .dialog-buttons { width: auto; }
    }
    """

    def __init__(
        self, title: str, answers: tuple[KeyedAnswer, ...], text: str = "", *, clock: Clock = time.monotonic
    ) -> None:
        super().__init__(grace=GRACE, clock=clock)
        self._title_text = title
        self._text = text
        self._answers = answers

    def compose(self) -> ComposeResult:
        """Yield the question and its answers."""
        with Vertical(classes="dialog"):
            yield TextParagraphs(self._title_text, "title", classes="dialog-title")
            if self._text:
                with DialogBody():
                    yield TextParagraphs(self._text)
            yield ButtonRow(
                *(
                    KeyButton(answer.label, "esc" if answer.key == "escape" else answer.key, id=f"answer-{number}")
                    for number, answer in enumerate(self._answers)
                )
            )

    def on_mount(self) -> None:
        """Focus the answer that changes nothing."""
        super().on_mount()
        safe = next((number for number, answer in enumerate(self._answers) if answer.key == "escape"), None)
        if self._answers:
            self.query_one(f"#answer-{safe if safe is not None else len(self._answers) - 1}", Button).focus()

    def on_key(self, event: events.Key) -> None:
        """Close the dialog with the answer that has this key."""
        for answer in self._answers:
            if answer.key != "escape" and answer.key in (event.key, event.character):
                event.stop()
                if self.accept_answer():
                    self.dismiss(answer.value)

    def action_leave(self) -> None:
        """Close the dialog with the answer that has the key escape."""
        self.dismiss(next((answer.value for answer in self._answers if answer.key == "escape"), ""))

    @on(Button.Pressed)
    def _handle_press(self, event: Button.Pressed) -> None:
        answer = self._answers[int((event.button.id or "").removeprefix("answer-"))]
        if answer.key == "escape":
            self.action_back()
        elif self.accept_answer():
            self.dismiss(answer.value)
