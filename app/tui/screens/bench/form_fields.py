"""Fields of the job form: one of a few words, or a number that + and - change."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from app.engine.fio.fields import JobField
from app.tui.screens.bench.stepping import stepped, steps
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.text_field import TextField

DEFAULT = "default"
"""What an empty choice is called."""


class FieldRow(Horizontal):
    """A field behind its label, which is bright where the field has another value than before."""

    other: reactive[bool] = reactive(False)
    """Whether it has."""

    def __init__(self, field: JobField, value: str) -> None:
        super().__init__((ChoiceField if field.choices else StepInput)(field, value))
        self._label = field.label

    def render(self) -> Content:
        """The label: the row draws it, which takes no widget."""
        return Content.styled(self._label, "bold $text-accent" if self.other else "")


class ChoiceField(Widget, can_focus=True):
    """One of the words that a field takes: space the next, [ the one before, enter a list of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right_square_bracket,plus", "cycle(1)", "Next", show=False),
        Binding("left_square_bracket,minus", "cycle(-1)", "Previous", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]
    DEFAULT_CSS = """
    ChoiceField { height: 1; width: 1fr; padding: 0 1; background: $boost; }
    ChoiceField:focus { background: $primary 30%; }
    """

    class Changed(Message):
        """Another word was chosen."""

        def __init__(self, key: str, value: str) -> None:
            super().__init__()
            self.key = key
            self.value = value

    value: reactive[str] = reactive("", init=False)
    """The word chosen."""

    def __init__(self, field: JobField, value: str) -> None:
        super().__init__(id=f"field-{field.key}")
        self.field = field
        self._values = (*(("",) if field.optional else ()), *field.choices)
        self.set_reactive(ChoiceField.value, value)

    def render(self) -> Content:
        """The word, and that there are others."""
        return Content(f"{self.value or DEFAULT}  {'v' if getattr(self.app, 'ascii', False) else '▾'}")

    def watch_value(self, value: str) -> None:
        """Tells the form."""
        self.post_message(self.Changed(self.field.key, value))

    def action_cycle(self, step: int) -> None:
        """The next word or the one before."""
        at = self._values.index(self.value) if self.value in self._values else 0
        self.value = self._values[(at + step) % len(self._values)]

    def action_choose(self) -> None:
        """A list of the words."""
        items = tuple(ChoiceItem(value=one, label=one or DEFAULT, help=self.field.help) for one in self._values)

        def chosen(value: str | None) -> None:
            if value is not None:
                self.value = value

        self.app.push_screen(ChoiceDialog(self.field.label, items, self.value), chosen)


class StepInput(TextField):
    """A text; of a number + and - make the next round one."""

    def __init__(self, field: JobField, value: str) -> None:
        super().__init__(value, id=f"field-{field.key}", compact=True)
        self.field = field

    async def _on_key(self, event: events.Key) -> None:
        if event.character in ("+", "-") and steps(self.field):
            event.prevent_default()
            event.stop()
            self.value = stepped(self.field, self.value, up=event.character == "+")
            self.cursor_position = len(self.value)
        else:
            await super()._on_key(event)
