"""Every field of a job, each with its own complaint."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Static

from app.engine.fio.fields import FIELDS
from app.engine.fio.job import Job, check
from widgets.guard import Clock, GuardedDialog


class JobForm(GuardedDialog[Job | None]):
    """Edits a job; returns it, or None when left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", id="form.leave"),
        Binding("ctrl+s", "accept", "Take it", id="form.accept"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]
    DEFAULT_CSS = """
    JobForm {
        align: center middle;
        & .field { height: 1; }
        & .field Static { width: 18; height: 1; }
        & .field Input { width: 1fr; border: none; height: 1; padding: 0 1; background: $boost; }
        & .field Input:focus { background: $primary-muted; }
        & .complaint { height: auto; color: $text-error; padding-left: 18; display: none; }
        & .complaint.-open { display: block; }
        & #form-help { height: 2; color: $text-muted; margin-top: 1; }
        & #form-summary { height: 2; text-style: bold; }
        & Horizontal.answers { height: 1; }
        & Horizontal.answers Button { margin-right: 2; }
    }
    """

    def __init__(self, job: Job, *, clock: Clock = time.monotonic) -> None:
        super().__init__(clock=clock)
        self._texts = job.texts()

    def compose(self) -> ComposeResult:
        """A line for each field, what it makes, the answers."""
        with Vertical(classes="sheet"):
            yield Static("The job (ctrl+s or enter takes it, esc leaves)", classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-scroll", can_focus=False):
                for field in FIELDS:
                    with Horizontal(classes="field"):
                        yield Static(field.label, markup=False)
                        yield Input(self._texts[field.key], id=f"field-{field.key}", compact=True)
                    yield Static("", classes="complaint", id=f"complaint-{field.key}", markup=False)
            yield Static("", id="form-help", markup=False)
            yield Static("", id="form-summary", markup=False)
            with Horizontal(classes="answers"):
                yield Button("Take it", id="accept", variant="primary", compact=True)
                yield Button("Leave", id="leave", compact=True)

    def on_mount(self) -> None:
        """Starts in the first field."""
        super().on_mount()
        self.query_one(f"#field-{FIELDS[0].key}", Input).focus()
        self._judge()

    def on_resize(self) -> None:
        """Leaves room for what stands below the fields."""
        self.query_one(VerticalScroll).styles.max_height = max(3, self.size.height * 96 // 100 - 9)

    def on_descendant_focus(self) -> None:
        """A sentence on the field one is in."""
        focused = self.focused
        key = (focused.id or "").removeprefix("field-") if focused is not None else ""
        for field in FIELDS:
            if field.key == key:
                legal = f" One of {', '.join(field.choices)}." if field.choices else ""
                self.query_one("#form-help", Static).update(field.help + legal)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._texts[(event.input.id or "").removeprefix("field-")] = event.value
        self._judge()

    def _judge(self) -> dict[str, str]:
        problems = dict(check(self._texts))
        for field in FIELDS:
            complaint = self.query_one(f"#complaint-{field.key}", Static)
            text = problems.get(field.key, "")
            complaint.update(text)
            complaint.set_class(bool(text), "-open")
        summary = "" if problems else Job.from_fields(self._texts).describe()
        self.query_one("#form-summary", Static).update(summary)
        return problems

    @on(Input.Submitted)
    @on(Button.Pressed, "#accept")
    def _accept(self) -> None:
        self.action_accept()

    @on(Button.Pressed, "#leave")
    def _leave(self) -> None:
        self.action_leave()

    def action_accept(self) -> None:
        """Return the job, or go to the first field that is wrong."""
        if not self.listening:
            return
        problems = self._judge()
        if problems:
            key = next(iter(problems))
            fields = self.query(f"#field-{key}")
            if fields:
                fields.first().focus()
            return
        self.dismiss(Job.from_fields(self._texts))

    def action_leave(self) -> None:
        """Leave the job as it was."""
        self.dismiss(None)
