"""Base class of all screens: header, footer, bindings from the table of commands, and a note on small terminals."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from app.core.session.state import Session
from app.tui.commands import INPUT_FIELD, SCREENS, SHEETS, commands_of
from app.tui.header import HeaderLines
from app.tui.header_text import TALL
from app.tui.notices import NoticeLine
from app.tui.status_lines import KeyLine, TrialLine
from backends.text import clean_lines
from widgets.pane import pane_of
from widgets.sparse_screen import SparseScreen

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

SMALLEST = (70, 18)
"""Minimum columns and rows of the terminal. On a smaller one, a screen shows a note about the size."""

TINY = (40, 10)
"""Columns and rows of the terminal below which a screen shows only a short note."""

TYPING = (
    "devices.filter",
    "findings.filter",
    "host.filter",
    "host-findings.filter",
    "hosts.filter",
    "log.search",
    "log.note",
    "bench.open",
)
"""Commands that open an input field. Their bindings have priority, so that the next typed key reaches the field."""


_KEY_NAMES = {"escape": "esc", "question_mark": "?"}


def dialog_keys(dialog: Screen[Any]) -> tuple[tuple[str, str], ...]:
    """Return the keys and labels that a dialog shows and that are enabled now, each label once."""
    label_of = getattr(dialog, "key_label", lambda binding: binding.description)
    key_of: dict[str, str] = {}
    for key, active in dialog.active_bindings.items():
        if active.node is dialog and active.enabled and active.binding.show and active.binding.description:
            key_of.setdefault(label_of(active.binding), _KEY_NAMES.get(key, key))
    pairs = [(key.replace("ctrl+", "^"), label) for label, key in key_of.items()]
    return tuple(sorted(pairs, key=lambda pair: pair[0] == "esc"))


class WorkbenchScreen(SparseScreen[None]):
    """A screen of the workbench. Subclasses compose a body and show a session in it."""

    NAME: ClassVar[str] = ""
    """Name of the screen in the table of commands."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (TALL, "-tall")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        # These widgets are updated with every sample, and a query costs more than most of their updates.
        self._header, self._trial_line = HeaderLines(self.NAME), TrialLine()
        self._notice_line, self._key_line = NoticeLine(), KeyLine(self.NAME)
        self._put_texts: dict[str, tuple[Static | None, str, str]] = {}
        self.add_class(*self._size_classes(), update=False)
        for command in commands_of(self.NAME, shared=False):
            for key in command.keys:
                if key == "enter":
                    continue  # The focused table handles Enter and posts a message.
                typed = command.id in TYPING
                binding = Binding(key, command.action, command.label, show=False, id=command.id, priority=typed)
                self._bindings.key_to_bindings.setdefault(key, []).append(binding)

    @property
    def workbench_app(self) -> AppInterface:
        """The app, typed as its interface."""
        return cast("AppInterface", self.app)

    def _size_classes(self) -> Iterator[str]:
        """Yield the CSS classes for this terminal size. Adding them later would style and lay out everything twice."""
        for cells, points in zip(self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True):
            fitting = [point for point in points or () if cells >= point[0]]
            yield from [max(fitting)[1]] if fitting else ()

    def compose(self) -> ComposeResult:
        """Compose header, trial line, body, notices and footer."""
        yield self._header
        yield self._trial_line
        with Container(id="body"):
            yield from self.body()
        yield self._notice_line
        yield self._key_line

    def body(self) -> ComposeResult:
        """Compose the widgets between header and footer."""
        yield Widget()

    def on_mount(self) -> None:
        """Show the keys of the focused pane from now on."""
        self.watch(self, "focused", self.show_keys, init=False)

    def on_screen_suspend(self) -> None:
        """Show the keys of the dialog that opens over the screen."""
        if self.has_widgets and self.app.screen_stack and isinstance(self.app.screen, ModalScreen):
            self._show_dialog_keys(self.app.screen)
            self.app.screen.bindings_updated_signal.subscribe(self, self._show_dialog_keys)

    def _show_dialog_keys(self, dialog: Screen[Any]) -> None:
        if self.has_widgets and self.app.is_running and self.app.screen is dialog:
            self._key_line.over = dialog_keys(dialog)

    def on_screen_resume(self) -> None:
        """Show the changes that happened while another screen was in front."""
        # Background work also calls this, even before the first widget is mounted. Then do nothing: Textual's event
        # after mounting calls it again.
        if self.has_widgets:
            self._key_line.over = None
            self.show_session(self.workbench_app.session)

    def on_resize(self, event: events.Resize) -> None:
        """Show a note if the terminal is too small."""
        small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        self.set_class(small, "-too-small")
        if small:
            if not self.query("#too-small"):
                self.mount(Static(id="too-small", markup=False), after="#body")
            tiny = event.size.width < TINY[0] or event.size.height < TINY[1]
            self.set_class(tiny, "-tiny")
            has, wants = f"{event.size.width}x{event.size.height}", f"{SMALLEST[0]}x{SMALLEST[1]}"
            self.query_one("#too-small", Static).update(
                self.with_keys(
                    f"{has} is too small: {wants} or more. <app.quit> quits."
                    if tiny
                    else f"The terminal has {has} characters; raidbench needs {wants} or more (80x24 is fine). "
                    "Running work continues. <app.quit> quits."
                )
            )
        else:
            self.remove_class("-tiny")

    def show_session(self, session: Session) -> None:
        """Show a session if the screen is visible; the app calls this at every change."""
        # During shutdown the widgets are removed first, so late session updates are ignored.
        if self.is_current and self.has_widgets and self.app.is_running:
            self.show_lines(session)
            self.show(session)
            self.show_keys()

    @property
    def severities(self) -> Sequence[str]:
        """The severities of the findings that the header counts and `!` lists."""
        return self.workbench_app.findings.severities

    def show_lines(self, session: Session) -> None:
        """Update the header, the trial line and the notices."""
        self._header.show(session, self.workbench_app, self.severities)
        line, trials = self._trial_line, self.workbench_app.trials
        line.decidable = trials.decidable
        line.text = trials.text()
        self.show_notices()

    def show_notices(self) -> None:
        """Update the notices."""
        self._notice_line.notices = self.workbench_app.notices.visible

    def hint(self, text: str, *, stays: bool = False) -> None:
        """Set the text that is shown above the footer while there is no notice, such as details of the current row.

        `stays`: whether the text is also shown below notices.
        """
        line = self._notice_line
        line.stays, line.hint = stays, self.with_keys(text)

    @property
    def place(self) -> str:
        """The pane whose keys the footer shows: the one with the focus, or an input field."""
        pane = pane_of(self.focused)
        return INPUT_FIELD if isinstance(self.focused, Input) else (pane.id or "") if pane is not None else ""

    def show_keys(self) -> None:
        """Update the footer."""
        self._key_line.pane = self.place

    def explain_dead_key(self, event: events.Key) -> None:
        """Explain that a key without a binding does nothing here."""
        if event.is_printable and not isinstance(self.focused, Input):
            shown = event.character or event.key
            text = f"{shown} does nothing on {(SCREENS | SHEETS)[self.NAME]}: <app.help> shows the keys."
            self.workbench_app.notify_transient(text)

    def copyable_text(self) -> str:
        """Return the part of the row under the cursor that the copy key copies; "" to copy the last notice instead."""
        return ""

    def action_back(self) -> None:
        """Go back one step. On a screen that was not opened from another one, say that there is no previous screen."""
        self.say("There is no previous screen: <app.devices> to <app.log> show the screens.")

    def action_export(self) -> None:
        """Write the report of this session."""
        self.workbench_app.ask_export()

    def action_ab(self) -> None:
        """Measure the staged value against the configured one."""
        self.workbench_app.do("ab.measure_staged", self.say)

    def action_findings(self) -> None:
        """List the findings of the check."""
        self.workbench_app.do("check.show")

    def action_take_back(self) -> None:
        """Revert the values on trial."""
        self.workbench_app.trials.revert()

    def show(self, session: Session) -> None:
        """Update the body with the state of the session."""

    def show_background(self) -> None:
        """Update the display of background work, on the screen that shows it."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the commands that open an input field while one has the focus, because their keys are letters."""
        return not (action in ("filter", "search", "note", "open") and isinstance(self.focused, Input))

    def open_field(self, field: Input) -> None:
        """Show a field and focus it at once, so that further keys are typed into it."""
        field.display = True
        self.set_focus(field)

    def with_keys(self, text: str) -> str:
        """Return the text of a hint with the user's keys in place of command ids, such as `<bench.run>`."""
        return self.workbench_app.with_keys(text)

    def put(self, selector: str, text: str) -> None:
        """Show text, never as markup, in the widget that `selector` matches; do nothing if the screen is gone."""
        line, asked, shown = self._put_texts.get(selector, (None, "", ""))
        with contextlib.suppress(NoMatches):
            if line is None or not line.is_attached:
                line = self.query_one(selector, Static)
            if text != asked:
                shown = clean_lines(self.with_keys(text))
            self._put_texts[selector] = (line, text, shown)
            if line.content != shown:
                height = line.styles.height
                line.update(shown, layout=height is None or height.is_auto)

    def say(self, message: str, *, severity: str = "information", title: str = "") -> None:
        """Show a notice above the footer, as plain text without markup."""
        self.app.notify(message, title=title, severity=severity, markup=False)  # type: ignore[arg-type]
