"""The Textual app of the workbench: all screens show one session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ScreenError
from textual.binding import Binding
from textual.command import Provider
from textual.css.query import NoMatches
from textual.notifications import SeverityLevel
from textual.reactive import var
from textual.worker import Worker

from app.core.session.state import Session
from app.core.themes import THEMES
from app.doors import action, doors, import_object, require_action
from app.tui.ascii_filter import AsciiFilter, ControlFilter
from app.tui.base import WorkbenchScreen
from app.tui.commands import COMMANDS as TABLE
from app.tui.commands import HOSTS, SCREENS, with_keys
from app.tui.feature_hooks import CheckTracker, DriftWatch
from app.tui.header_text import RunBadge
from app.tui.notices import Notice, Notices, commands_in, join_sentences
from app.tui.options import ScreenOptions
from app.tui.session_updates import SessionApp
from app.tui.stylesheet import NarrowedStylesheet
from app.tui.suspension import is_shell_job, suspend_refusal
from app.tui.theme import PREFIX, theme_of
from app.tui.trials import Trials
from backends.errors import NotFoundError, RaidbenchError, StorageError
from backends.text import clean, clean_lines

if TYPE_CHECKING:
    from textual.screen import Screen

    from app.core.fio.job import Job
    from app.core.workbench import Workbench
    from app.tui.app_interface import AppInterface
    from app.tui.feature_hooks import BackgroundWork
    from backends.change import Change

STOP_SECONDS = 40.0
"""Maximum seconds to wait on exit for fio to end its I/O. After that, raidbench exits and kills fio."""


_CORE = {name: f"app.tui.{name}.screen:{name.title()}Screen" for name in ("devices", "bench", "runs", "log")}
"""Classes of the screens that belong to no feature."""


def _screens() -> dict[str, str | Callable[[], Screen[Any]]]:
    """Return a factory for each screen. Its class is imported when the screen is first shown."""
    paths = _CORE | {name: path for door in doors().values() for name, path in door.screens.items()}
    return {name: partial(_make_screen, paths[name]) for name in (HOSTS, *SCREENS) if name in paths}


def _make_screen(path: str) -> WorkbenchScreen:
    screen: WorkbenchScreen = import_object(path)()
    return screen


def _commands() -> type[Provider]:
    """Return the provider of the palette, imported when the palette is first opened."""
    from app.tui.palette import CommandsProvider

    return CommandsProvider


class WorkbenchApp(SessionApp):
    """Shows the session of a workbench and passes the user's actions to it."""

    TITLE = "raidbench"
    CSS_PATH = Path(__file__).with_name("raidbench.tcss")
    DEFAULT_MODE = "devices"  # otherwise Textual would first draw an empty screen
    MODES: ClassVar = _screens()
    COMMANDS: ClassVar = {_commands}
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar = [
        Binding(key, command.action, command.label, show=False, id=command.id, priority=command.id == "app.palette")
        for command in TABLE
        if "all" in command.screens
        for key in command.keys
    ]

    staged_count: var[int] = var(0)
    """Number of staged values."""

    def __init__(self, workbench: Workbench, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        """Start options."""
        if self.options.fleet is not None:
            self.DEFAULT_MODE = HOSTS  # type: ignore[misc]  # Textual reads the class or the instance.
        self.notices = Notices()
        """Messages to the user."""
        self.waiting = RunBadge()
        """Marks of screens on which work is running or has ended."""
        super().__init__(workbench, self.options.fps)
        self.set_reactive(WorkbenchApp.theme, self._register_theme(self.options.theme))
        self.stylesheet = NarrowedStylesheet(variables=self.get_css_variables())
        self._refresh_truecolor_filter(self.ansi_theme)  # The filter was created for the previous theme.
        self.ascii = self.options.ascii
        """Whether only ASCII may reach the terminal."""
        self.opened = False
        """Whether the app has tried to open the session."""
        self.staged: dict[str, dict[str, str]] = {}
        """Staged values, which are chosen but not applied: target address -> setting key -> value."""
        self.crash: BaseException | None = None
        """The unexpected exception that ended the app; None if there was none."""
        self.end_reason = "left"
        """Reason that the session records when it ends."""
        self.custom_keys = dict(self.options.keymap)
        """New keys from the user's keymap, by command id; the footer shows them."""
        self.wanted_device: tuple[str, str] | None = None
        """Address and node of the device to measure on the Bench screen; None until one is selected elsewhere."""
        self.wanted_place: tuple[str, str] | None = None
        """Address and setting (or "") to which the Devices screen goes once it shows the devices; None for none."""
        self.job_choice: tuple[Job, str | None] | None = None
        """The job of the Bench screen and the name of its profile; None before that screen was shown."""
        self.background: dict[str, BackgroundWork] = {
            screen: import_object(path)(self) for door in doors().values() for screen, path in door.background.items()
        }
        """Background work, keyed by the name of the screen that shows it."""
        self.findings: CheckTracker = (action("check.findings") or CheckTracker)(workbench)
        """Findings of the check."""
        self.drifted: DriftWatch = (action("apply.drift") or DriftWatch)(workbench, self.options.state_file)
        """Differences of this machine from the state file, `options.state_file`."""
        workbench.changes.watches_itself = workbench.simulated and not workbench.host.capabilities.shares_watchdog
        self.trials = Trials(self)
        """Changes that are reverted automatically unless they are kept."""
        self._leaving: Worker[None] | None = None
        self._recording = True
        self._counting = False
        self._disable_notifications = self._disable_tooltips = True  # Each adds an unused widget to all screens.
        self._filters.append(ControlFilter())
        if self.ascii:
            self._filters.append(AsciiFilter())

    def on_mount(self) -> None:
        """Paint at once, and start everything that takes time afterwards."""
        if self.options.keymap:
            self.set_keymap(dict(self.options.keymap))
        self._catch_signals()
        # Textual draws nothing after a suspension unless the size of the terminal has changed meanwhile.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh())
        self.call_after_refresh(self._start_later)
        self.set_interval(1.0, self._every_second)

    def _start_later(self) -> None:
        self.run_worker(self._start(), group="session", exit_on_error=True)

    async def _start(self) -> None:
        try:
            await self.workbench.open(self.options.session)
        except StorageError as error:
            self.workbench.storage_problem = error
            self.show_error(error, title="The session cannot be written")
        self.opened = True
        self._recording = self.workbench.recording
        self.session = self.workbench.session
        await self.trials.follow()
        if self.workbench.changes.trials():  # trials of this session, started by an earlier process
            self.run_worker(self.trials.wait_until_decided(), group="trial", exit_on_error=True)
        await self.look_for_hardware()
        from app.tui.exit_dialogs import ExitDialogs

        leaving = ExitDialogs(self)
        await leaving.offer_recovery()
        await leaving.offer_experiments()
        await leaving.offer_cleaning()
        for work in tuple(self.background.values()):
            await work.find()

    async def look_for_hardware(self) -> None:
        """Scan with every backend. An error, such as an unwritable session, is shown; the app continues."""
        try:
            await self.workbench.hardware.probe()
        except RaidbenchError as error:
            self.show_error(error)

    async def rescan_after_change(self, changes: tuple[Change, ...]) -> None:
        """Scan the devices that these changes may have affected. An error is shown; the app continues."""
        try:
            await self.workbench.hardware.rescan_after_change(changes)
        except RaidbenchError as error:
            self.show_error(error)

    def recheck(self) -> None:
        """Run the check again. Its earlier findings remain until the new run has ended."""
        self.run_worker(self._check, group="check", exclusive=True)  # type: ignore[arg-type]  # a callable: an unstarted coroutine would warn

    async def _check(self) -> None:
        before = self.findings.state, self.drifted.drifts
        await self.findings.update()
        for problem in await self.drifted.update():
            self.show_error(problem, title="Comparison with the state file")
        if (self.findings.state, self.drifted.drifts) != before:
            self.show_header()
            self.refresh_screen()

    def _every_second(self) -> None:
        """Update the state that is not in the session: the time left of a trial, and whether recording works."""
        if (left := self.trials.seconds_left()) is not None or self._counting:
            self._counting = left is not None
            self.show_header()
        if self.opened:
            self.trials.follow_later()
        self._watch_recording()

    def _watch_recording(self) -> None:
        """Report once when the session can no longer be written, because most failed writes are not shown."""
        if not self.opened or self.workbench.recording == self._recording:
            return
        self._recording = self.workbench.recording
        problem = self.workbench.storage_problem
        if problem is not None:
            self.show_error(problem, title="The session cannot be written: changes are disabled")
        self.refresh_screen()

    def watch_session(self, session: Session) -> None:
        """Show every change of the session. A screen that watched it would be kept after it is closed."""
        for screen in self._workbench_screens():
            screen.show_session(session)

    def watch_staged_count(self) -> None:
        """Update the number of staged values in the header."""
        self.refresh_screen()

    def choose_theme(self, name: str) -> None:
        """Apply a theme by its name in `THEMES`."""
        self.theme = self._register_theme(name)

    def _register_theme(self, name: str) -> str:
        theme = theme_of(name, os.environ, self.console.color_system)
        self.register_theme(theme)
        return theme.name

    def action_theme(self) -> None:
        """Open the list of themes."""
        from widgets.choice_list import ChoiceDialog, ChoiceItem

        choices = tuple(ChoiceItem(value=name, label=name, help=help) for name, help in THEMES.items())
        dialog = ChoiceDialog("Theme", choices, self.theme.removeprefix(PREFIX))
        self.push_screen(dialog, lambda name: None if name is None else self.choose_theme(name))

    @property
    def front(self) -> WorkbenchScreen | None:
        """The screen in front; None if a dialog is open, or during shutdown, when no screen is left."""
        screen = self.screen_stack[-1] if self.is_running and self.screen_stack else None
        return screen if isinstance(screen, WorkbenchScreen) else None

    def refresh_screen(self) -> None:
        """Update the screen in front with state that is not in the session."""
        if (screen := self.front) is not None:
            screen.on_screen_resume()

    def show_header(self) -> None:
        """Update the header, also of a screen below a dialog."""
        for screen in self._workbench_screens():
            screen.show_lines(self.session)

    def _workbench_screens(self) -> list[WorkbenchScreen]:
        """Return the screens of this mode that can be updated; none during shutdown."""
        screens = self.screen_stack if self.is_running else ()
        return [screen for screen in screens if isinstance(screen, WorkbenchScreen) and screen.has_widgets]

    @property
    def measuring(self) -> bool:
        """Whether a job or background work measures on this machine now."""
        return self.workbench.jobs.running or any(work.measuring for work in self.background.values())

    def show_background(self, screen: str) -> None:
        """Update the screen that shows background work, and the header of any screen."""
        self.show_header()
        front = self.front
        if front is not None and screen == front.NAME and front.has_widgets:
            front.show_background()

    def stage(self, target: str, key: str, value: str | None) -> None:
        """Stage a value of a setting, to be applied later; None removes the staged value."""
        values = self.staged.setdefault(target, {})
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value
        if not values:
            del self.staged[target]
        self.staged_count = sum(len(values) for values in self.staged.values())

    def show_device(self, address: str, key: str = "") -> None:
        """Show a device on the Devices screen; with `key`, one of its settings."""
        self.wanted_place = (address, key)
        self.action_go("devices")
        if (screen := self.front) is not None and screen.has_widgets:
            screen.show(self.session)

    def measure_device(self, name: str, device: str) -> None:
        """Select a device on the Bench screen and show that screen."""
        from app.tui.bench.screen import BenchScreen

        self.wanted_device = (name, device)
        self.switch_mode("bench")
        screen = self.front
        if isinstance(screen, BenchScreen) and screen.has_widgets:
            screen.take_device(name, device)

    def ask_export(self) -> None:
        """Ask for a file name and write the report of the session."""
        if self.workbench.folder is None:
            self.notify("There is no session on disk for a report.", severity="warning")
        else:
            self.ask_export_of(self.session, self.workbench.folder)

    def ask_export_of(self, session: Session, folder: Path) -> None:
        """Ask for a file name and write the report of the session in `folder`."""
        self.do("report.ask", session, folder)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notice above the footer, without markup or control characters: it may quote tools and devices."""
        self._add_notice(message, title=clean(title), severity=severity)

    def notify_recorded(self, message: str, *, title: str, severity: SeverityLevel) -> None:
        """Show a notice that the log omits, because it has an event of the session with the same text."""
        self._add_notice(message, title=title, severity=severity, recorded=True)

    def with_keys(self, text: str) -> str:
        """Return the text of a hint with the user's keys in place of command ids, such as `<bench.run>`."""
        return with_keys(text, self.custom_keys)

    def notify_transient(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """Show a notice that is not logged, and that the next one replaces."""
        self._add_notice(message, severity=severity, passing=True)

    def report_dropped_keys(self) -> None:
        """Report that keys were dropped because a dialog took too long to open."""
        self.notify_transient("The keys typed ahead were dropped, because preparing the dialog takes longer.")

    def clear_transient_notice(self) -> None:
        """Remove the transient notice."""
        self.notices.clear_transient_notice()
        self.show_notices()

    def notify_copyable(self, message: str, path: str) -> None:
        """Show a notice. `path`: the part of it that the copy key copies, such as a path."""
        self._add_notice(message, copyable=clean_lines(path, 12))

    def _add_notice(self, message: str, **parts: Any) -> None:
        """Show a notice, with keys in place of command ids. `parts`: the other fields of the notice."""
        text = clean_lines(self.with_keys(message), 12)
        self.notices.add(Notice(message=text, at=time.time(), **parts))
        self.show_notices()

    def action_copy(self) -> None:
        """Copy part of the row under the cursor, or else of the last notice, to the terminal's clipboard."""
        from widgets.confirm import TAKEN

        if (screen := self.front) is None:
            return  # a dialog must be answered first
        text = screen.copyable_text() or self.notices.copyable_text
        if not text:
            self.notify_transient("There is nothing to copy. In a review, press c to copy the commands.")
            return
        self.copy_to_clipboard(text)
        self.notify_transient(f"Copied, {TAKEN}: {' ; '.join(text.splitlines())}")

    def clear_notifications(self) -> None:
        """Remove all notices."""
        self.notices.clear()
        self.show_notices()

    def show_notices(self) -> None:
        """Update the notices of the screen in front, also below a dialog."""
        for screen in self._workbench_screens():
            screen.show_notices()

    async def on_event(self, event: events.Event) -> None:
        """Remove notices at a key press, because the user has read them by then."""
        if isinstance(event, events.Key) and self.notices.visible:
            self.notices.drop_read()
            self.show_notices()
        await super().on_event(event)

    async def _on_key(self, event: events.Key) -> None:
        """Handle a key that no widget has handled: run its binding, or show that it does nothing here."""
        event.prevent_default()
        if not await self._check_bindings(event.key) and (screen := self.front) is not None:
            screen.explain_dead_key(event)

    def show_error(self, error: RaidbenchError, *, title: str = "") -> None:
        """Show an error with its hint."""
        copyable = commands_in(clean_lines(error.hint or "", 12))
        self._add_notice(
            join_sentences(error.message, error.hint), title=clean(title), severity="error", copyable=copyable
        )
        self.show_session(self.workbench.session)

    def do(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call a feature's action (`app.doors`) with the app as first argument; show an error if there is none."""
        try:
            function = require_action(name)
        except NotFoundError as error:
            self.show_error(error)
            return None
        return function(self, *arguments, **named)

    def action_go(self, screen: str) -> None:
        """Show a screen."""
        if screen not in self.MODES or self.front is None:
            return  # a dialog must be answered first
        if screen == self.current_mode and len(self.screen_stack) > 1:
            self.pop_screen()
        self.switch_mode(screen)

    def action_keep_trial(self) -> None:
        """Keep the values on trial."""
        self.trials.keep()

    def action_keys(self) -> None:
        """Show the keys of the screen in front."""
        from app.tui.help import HelpScreen

        name = getattr(self.screen, "NAME", "")
        if name:
            self.push_screen(HelpScreen(name))

    def action_command_palette(self) -> None:
        """Open the palette, except over a dialog, which must be answered first."""
        if self.front is not None:
            from app.tui.palette import Palette

            self.push_screen(Palette(id="--command-palette"))

    def action_leave(self) -> None:
        """Quit after asking the necessary questions. Only one such dialog is open at a time."""
        from app.tui.exit_dialogs import ExitDialogs

        if self._leaving is None or self._leaving.is_finished:
            self._leaving = self.run_worker(ExitDialogs(self).leave(), group="leaving")
            self.hold_keys(self._leaving)

    async def action_quit(self) -> None:
        """Quit on Ctrl+Q, with the same questions as `q`."""
        self.action_leave()

    def action_help_quit(self) -> None:
        """Explain Ctrl+C, which copies selected text and does nothing without a selection."""
        if self.front is not None:
            self.notify_transient("Ctrl+C copies the text selected with the mouse; <app.quit> quits.")

    def action_suspend(self) -> None:
        """Return to the shell, unless work in progress must not be paused."""
        reason = suspend_refusal(self.workbench, self.workers)
        if reason:
            self.notify_transient(f"Not suspended: {reason}")
        elif self._driver is None or not self._driver.can_suspend or not is_shell_job():
            self.notify_transient("Not suspended: there is no shell to return to.")
        else:
            self.action_suspend_process()

    def _catch_signals(self) -> None:
        """Make SIGINT, SIGTERM and SIGHUP end fio, the session and the screen properly."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.end_by_signal, number)

    def end_by_signal(self, number: int) -> None:
        """End the running job because of a signal, then exit with the status for this signal."""
        self.end_reason = signal.Signals(number).name
        self.run_worker(self.stop_and_exit(128 + number), group="signalled", exclusive=True)

    async def stop_and_exit(self, code: int = 0) -> None:
        """End the running job, keep its results, and leave with the exit status `code`."""
        await self.stop_measuring()
        self.exit(code)

    async def stop_measuring(self) -> None:
        """Stop the running job and wait for its end, for at most STOP_SECONDS."""
        self.workbench.jobs.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self.workbench.jobs.wait_idle()

    def _handle_exception(self, error: Exception) -> None:
        """Keep an unexpected exception for the crash report, and end the app."""
        cause = getattr(error, "error", error)
        if isinstance(cause, ScreenError | NoMatches) and not self.is_running:
            return  # A worker tried to update a screen or widget after shutdown.
        self.crash = self.crash or cause
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:
        """Print no traceback: `runner` reports the crash once the terminal is restored."""
        self._close_messages_no_wait()


if TYPE_CHECKING:

    def _check_interface(app: WorkbenchApp) -> AppInterface:
        """Let the type checker verify that the app implements AppInterface."""
        return app
