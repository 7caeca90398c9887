"""The job form: every field of a job with its error, the resulting job, and its difference from the profile."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from app.core.fio import job_values as values
from app.core.fio.fields import COMMON, FIELDS, GROUPS, JobField
from app.core.fio.job import Job, field_problems
from app.core.fio.sizes import format_size
from backends.errors import InvalidValueError
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.guarded_dialog import Clock, GuardedDialog
from widgets.text_field import TextField

SECONDS = (0, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400)
"""Usual durations in seconds."""

PERCENT_STEP = 5

_PERCENTS = ("rwmixread", "percentage_random", "size_percent", "offset_percent")
_NUMBERS = (values.parse_number, values.parse_seconds)


def has_steps(field: JobField) -> bool:
    """Return whether + and - change the value of a field."""
    return field.is_size or field.parse in _NUMBERS


def step_value(field: JobField, text: str, *, up: bool) -> str:
    """Return the next larger (`up`) or smaller value of a field, as it is typed. `text`: the present value.

    Double or halve sizes and counts; go to the next usual duration; change percentages by 5 points. Text that is not a
    number counts as 0.
    """
    try:
        now = field.parse(text) if text.strip() else 0
    except InvalidValueError:
        now = 0
    number = now if isinstance(now, int) else 0
    if field.key in _PERCENTS:
        return str(min(100, max(0, number + (PERCENT_STEP if up else -PERCENT_STEP))))
    if field.parse is values.parse_seconds:
        others = (
            [seconds for seconds in SECONDS if seconds > number]
            if up
            else [seconds for seconds in reversed(SECONDS) if seconds < number]
        )
        return str(next(iter(others), number))
    number_after = _doubled(number) if up else _halved(number)
    return format_size(number_after) if field.is_size else str(number_after)


def _doubled(number: int) -> int:
    """Return the next larger power of two."""
    return int(1 << number.bit_length())


def _halved(number: int) -> int:
    """Return the next smaller power of two, at least 1."""
    return int(1 << max(0, (number - 1).bit_length() - 1)) if number > 1 else 1


# -- fields: a choice, or text with steps -----------------------------------------------------------------------------

_PLAIN = Job().texts()
"""Values of the fields in a job without any settings, as typed, by field key."""

DEFAULT = "default"
"""Label of the choice that leaves a field empty, so that fio uses its default."""


class FieldRow(Horizontal):
    """A field with its label in front. The label is bright if the value differs from the profile."""

    other: reactive[bool] = reactive(False)
    """Whether the value differs from the profile."""

    def __init__(self, field: JobField, value: str) -> None:
        super().__init__((ChoiceField if field.choices else StepInput)(field, value))
        self._label = f"{field.label}, {field.unit}" if field.unit else field.label

    def render(self) -> Content:
        """Render the label. The row itself draws it, so that no further widget is needed."""
        return Content.styled(self._label, "bold $text-accent" if self.other else "")


class ChoiceField(Widget, can_focus=True):
    """A field with a fixed list of values: space chooses the next, [ the previous, enter opens the list."""

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
        """Another value was chosen."""

        def __init__(self, key: str, value: str) -> None:
            super().__init__()
            self.key = key
            self.value = value

    value: reactive[str] = reactive("", init=False)
    """The chosen value."""

    def __init__(self, field: JobField, value: str) -> None:
        super().__init__(id=f"field-{field.key}")
        self.field = field
        self._values = (*(("",) if field.optional else ()), *field.choices)
        self.set_reactive(ChoiceField.value, value)

    def render(self) -> Content:
        """Render the value, and a sign that a list can be opened."""
        return Content(f"{self.value or DEFAULT}  {'v' if getattr(self.app, 'ascii', False) else '▾'}")

    def watch_value(self, value: str) -> None:
        """Report the value to the form."""
        self.post_message(self.Changed(self.field.key, value))

    def action_cycle(self, step: int) -> None:
        """Choose the next or previous value."""
        at = self._values.index(self.value) if self.value in self._values else 0
        self.value = self._values[(at + step) % len(self._values)]

    def action_choose(self) -> None:
        """Open the list of values."""
        items = tuple(ChoiceItem(value=word, label=word or DEFAULT, help=self.field.help) for word in self._values)

        def chosen(value: str | None) -> None:
            if value is not None:
                self.value = value

        self.app.push_screen(ChoiceDialog(self.field.label, items, self.value), chosen)


class StepInput(TextField):
    """A text field in which + and - step a number."""

    def __init__(self, field: JobField, value: str) -> None:
        super().__init__(value, id=f"field-{field.key}", compact=True)
        self.field = field

    async def _on_key(self, event: events.Key) -> None:
        if event.character in ("+", "-") and has_steps(self.field):
            event.prevent_default()
            event.stop()
            self.value = step_value(self.field, self.value, up=event.character == "+")
            self.cursor_position = len(self.value)
        else:
            await super()._on_key(event)


class FoldedFields(Static, can_focus=True):
    """A line for the hidden fields; space, enter or a click shows them."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,enter", "unfold", "Show", show=False)]
    DEFAULT_CSS = """
    FoldedFields { height: 1; color: $text-muted; }
    FoldedFields:focus { background: $primary-muted; color: $foreground; }
    """

    class Opened(Message):
        """The user wants to see the hidden fields."""

    def action_unfold(self) -> None:
        """Ask the form to show the hidden fields."""
        self.post_message(self.Opened())

    def on_click(self) -> None:
        """Show the hidden fields, as the keys do."""
        self.action_unfold()


# -- the form: all fields with their errors, the resulting job, and its difference ------------------------------------


class JobForm(GuardedDialog[Job | None]):
    """Edits a job. The result is the job, or None if the dialog is cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Cancel", id="form.leave"),
        Binding("ctrl+s", "accept", "Save", id="form.accept"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]
    DEFAULT_CSS = """
    JobForm {
        align: center middle;
        & .heading { height: 1; color: $text-accent; text-style: bold; }
        & FieldRow { height: 1; }
        & FieldRow > * { margin-left: 18; }
        & FieldRow Input { width: 1fr; border: none; height: 1; padding: 0 1; background: $boost; }
        & FieldRow Input:focus { background: $primary-muted; }
        & .complaint { height: auto; color: $text-error; padding-left: 18; }
        & #form-help { height: 2; color: $text-muted; margin-top: 1; }
        & #form-summary { height: 2; text-style: bold; }
        & #form-difference { height: 2; color: $text-accent; }
        & Horizontal.answers { height: 1; }
        & Horizontal.answers Button { margin-right: 2; }
    }
    """

    def __init__(self, job: Job, *, base: tuple[str, Job] | None = None, clock: Clock = time.monotonic) -> None:
        """`base`: name and job of the profile to compare with; None without one."""
        super().__init__(clock=clock)
        self.changed_fields: set[str] = set()
        """Keys of the fields that the user changed, even if a field has its original value again."""
        self._texts = job.texts()
        self._rows: dict[str, FieldRow] = {}
        self._problem_lines: dict[str, Static] = {}
        self._name, self._base = ("", self._texts) if base is None else (base[0], base[1].texts())

    def compose(self) -> ComposeResult:
        """Compose the visible fields in groups, the resulting job, and the buttons."""
        rows = {field.key: FieldRow(field, self._texts[field.key]) for field in FIELDS}
        self._rows = {key: rows[key] for keys in GROUPS.values() for key in keys}
        silent = [key for key in self._rows if key not in COMMON and self._texts[key] == _PLAIN[key]]
        with Vertical(classes="sheet"):
            yield Static(
                "Edit job (ctrl+s saves, esc cancels; space or + - change a value)",
                classes="sheet-title",
                markup=False,
            )
            with VerticalScroll(classes="sheet-scroll", can_focus=False) as scroll:
                scroll.styles.max_height = self._room(self.app.size.height)
                for heading, keys in GROUPS.items():
                    yield (title := Static(heading, classes="heading", markup=False))
                    title.display = any(key not in silent for key in keys)
                    for key in keys:
                        yield self._rows[key]
                        self._rows[key].display = key not in silent
                if silent:
                    sign = ">" if getattr(self.app, "ascii", False) else "▸"
                    yield FoldedFields(f"{sign} {len(silent)} more options (fio defaults)", markup=False)
            yield Static("", id="form-help", markup=False)
            yield Static("", id="form-summary", markup=False)
            yield Static("", id="form-difference", markup=False)
            with Horizontal(classes="answers"):
                yield Button("Save", id="accept", variant="primary", compact=True)
                yield Button("Cancel", id="leave", compact=True)

    def on_mount(self) -> None:
        """Focus the first field."""
        super().on_mount()
        self.query_one(f"#field-{FIELDS[0].key}").focus()
        self._judge()

    @on(FoldedFields.Opened)
    def _unfold(self) -> None:
        """Show every field and focus the first one that was hidden."""
        hidden = [key for key, row in self._rows.items() if not row.display]
        for row in (*self._rows.values(), *self.query(".heading")):
            row.display = True
        self.query_one(FoldedFields).display = False
        self.query_one(f"#field-{hidden[0]}").focus()

    def on_resize(self) -> None:
        """Leave room for the lines below the fields."""
        self.query_one(VerticalScroll).styles.max_height = self._room(self.size.height)

    @staticmethod
    def _room(height: int) -> int:
        """Return the lines for the fields on a terminal of this height."""
        return max(3, height * 96 // 100 - 11)

    def on_descendant_focus(self) -> None:
        """Show the help of the focused field."""
        focused = self.focused
        key = (focused.id or "").removeprefix("field-") if focused is not None else ""
        for field in FIELDS:
            if field.key == key:
                legal = f" One of {', '.join(field.choices)}." if field.choices else ""
                self.query_one("#form-help", Static).update(field.help + legal, layout=False)

    @on(Input.Changed)
    def _text_changed(self, event: Input.Changed) -> None:
        self._take((event.input.id or "").removeprefix("field-"), event.value)

    @on(ChoiceField.Changed)
    def _choice_changed(self, event: ChoiceField.Changed) -> None:
        self._take(event.key, event.value)

    def _take(self, key: str, text: str) -> None:
        if text != self._texts[key]:  # Else no change: a field posts a message when it appears, too.
            self.changed_fields.add(key)
        self._texts[key] = text
        self._judge()

    def _judge(self) -> dict[str, str]:
        problems = dict(field_problems(self._texts))
        for field in FIELDS:
            self._show_problem(field.key, problems.get(field.key, ""))
            self._rows[field.key].other = self._differs(field)
        wrong = f"invalid fields: {', '.join(field.label for field in FIELDS if field.key in problems)}"
        summary = wrong if problems else Job.from_fields(self._texts).describe()
        self.query_one("#form-summary", Static).update(summary, layout=False)
        self.query_one("#form-difference", Static).update(self._difference(), layout=False)
        return problems

    def _show_problem(self, key: str, text: str) -> None:
        """Show the error of a field below it; "" for none."""
        line = self._problem_lines.get(key)
        if line is None and text:
            line = self._problem_lines[key] = Static(id=f"complaint-{key}", classes="complaint", markup=False)
            self.mount(line, after=self._rows[key])
        if line is not None and line.content != text:
            line.update(text)
            line.display = bool(text)

    def _differs(self, field: JobField) -> bool:
        return self._texts[field.key].strip() != self._base[field.key]

    def _difference(self) -> str:
        """Return the difference from the profile: `different from randread-4k: Queue depth 64 -> 8`."""
        others = [
            f"{field.label} {self._base[field.key] or DEFAULT} -> {self._texts[field.key].strip() or DEFAULT}"
            for field in FIELDS
            if self._differs(field)
        ]
        return (
            f"different from {self._name or 'before'}: {', '.join(others)}"
            if others
            else f"same as {self._name or 'before'}"
        )

    @on(Input.Submitted)
    @on(Button.Pressed, "#accept")
    def action_accept(self) -> None:
        """Return the job, or focus the first field with an error."""
        if not self.is_listening:
            return
        problems = self._judge()
        if problems:
            key = next(iter(problems))
            fields = self.query(f"#field-{key}")
            if fields:
                self._rows[key].display = True
                fields.first().focus()
            return
        self.dismiss(Job.from_fields(self._texts))

    @on(Button.Pressed, "#leave")
    def action_leave(self) -> None:
        """Cancel the dialog."""
        self.dismiss(None)
