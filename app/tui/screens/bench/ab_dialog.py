"""The question before an A/B: how many pairs, and what difference is none."""

from __future__ import annotations

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from app.engine.judge.stats import THRESHOLD_PERCENT, threshold_of
from widgets.choice_list import ChoiceDialog
from widgets.keyed_table import KeyedTable
from widgets.lines import Prose
from widgets.text_field import TextField


class ExperimentDialog(ChoiceDialog):
    """Returns the choice; `threshold` has the other answer."""

    DEFAULT_CSS = """
    ExperimentDialog {
        & .threshold { height: 1; width: 72; max-width: 100%; margin-top: 1; }
        & .threshold Static { width: auto; }
        & .threshold Input { width: 8; }
        & .complaint { height: 1; width: 72; max-width: 100%; }
    }
    """

    threshold = THRESHOLD_PERCENT
    """In percent, as it was when the choice was made."""

    def on_mount(self) -> None:
        """The field comes in when the rest is there."""
        super().on_mount()
        field = Horizontal(
            Static("No difference within +- "),
            TextField(f"{THRESHOLD_PERCENT:g}", id="threshold", compact=True),
            Static(" %"),
            classes="threshold",
        )
        dialog = self.query_one(".dialog", Vertical)
        dialog.mount(field, Prose("", "bad", classes="complaint"), before=".dialog-keys")
        self.query_one(".dialog-keys", Static).update(Content("enter chooses   tab to the threshold   esc leaves"))

    @on(Input.Changed, "#threshold")
    def _changed(self) -> None:
        self._complain()

    @on(Input.Submitted, "#threshold")
    def _submitted(self) -> None:
        table = self.query_one(KeyedTable)
        if table.cursor is not None:
            self.take(table.cursor)

    def take(self, value: str) -> None:
        """Only with a threshold that can be one."""
        if self._complain():
            self.query_one("#threshold", Input).focus()
        else:
            super().take(value)

    def _complain(self) -> str:
        """Take what is in the field, or say what is wrong with it."""
        reason = ""
        try:
            self.threshold = threshold_of(self.query_one("#threshold", Input).value)
        except ValueError as error:
            reason = str(error)
        self.query_one(".complaint", Prose).say(f"Not accepted: {reason}" if reason else "", "bad")
        return reason
