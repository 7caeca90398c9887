"""The workbench on the screen: one app, five screens, one session under all of them."""

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
from app.doors import action, doors, imported, needed_action
from app.tui.ascii_filter import AsciiFilter, ControlFilter
from app.tui.base import WorkbenchScreen
from app.tui.commands import COMMANDS as TABLE
from app.tui.commands import HOSTS, SCREENS
from app.tui.feature_hooks import CheckTracker, DriftWatch
from app.tui.header_text import RunBadge
from app.tui.notices import Notice, Notices, commands_in, sentences
from app.tui.options import ScreenOptions
from app.tui.session_updates import SessionApp
from app.tui.stylesheet import NarrowedStylesheet
from app.tui.suspension import suspend_refusal
from app.tui.theme import OWN, theme_of
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
"""How long leaving waits for fio to bring its I/O to an end before it is killed with the program."""


_CORE = {name: f"app.tui.{name}.screen:{name.title()}Screen" for name in ("devices", "bench", "runs", "log")}
"""Classes of the screens that belong to no feature."""


def _screens() -> dict[str, str | Callable[[], Screen[Any]]]:
    """Return what makes each screen; its class is imported when it is first shown."""
    paths = _CORE | {name: path for door in doors().values() for name, path in door.screens.items()}
    return {name: partial(_make_screen, paths[name]) for name in (HOSTS, *SCREENS) if name in paths}


def _make_screen(path: str) -> WorkbenchScreen:
    screen: WorkbenchScreen = imported(path)()
    return screen


def _commands() -> type[Provider]:
    """What the palette offers, imported when it is first opened."""
    from app.tui.palette import CommandsProvider

    return CommandsProvider


class WorkbenchApp(SessionApp):
    """Shows the session of a workbench and hands it what the person wants."""

    TITLE = "raidbench"
    CSS_PATH = Path(__file__).with_name("raidbench.tcss")
    DEFAULT_MODE = "devices"  # else an empty screen is laid out and drawn before it
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
    """How many values are staged."""

    def __init__(self, workbench: Workbench, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        """How it was started."""
        if self.options.fleet is not None:
            self.DEFAULT_MODE = HOSTS  # type: ignore[misc]  # Textual begins with it, of the class or of the app
        self.notices = Notices()
        """What was said."""
        self.waiting = RunBadge()
        """Where something runs or has ended."""
        super().__init__(workbench, self.options.fps)
        self.set_reactive(WorkbenchApp.theme, self._register_theme(self.options.theme))
        self.stylesheet = NarrowedStylesheet(variables=self.get_css_variables())
        self._refresh_truecolor_filter(self.ansi_theme)  # made for the theme of before
        self.ascii = self.options.ascii
        """Whether anything but ASCII must be kept from the terminal."""
        self.opened = False
        """Whether opening the session was tried."""
        self.staged: dict[str, dict[str, str]] = {}
        """Staged values: target address -> key -> value."""
        self.crash: BaseException | None = None
        """What ended the app against its will."""
        self.end_reason = "left"
        """What the session is told when it ends."""
        self.custom_keys = dict(self.options.keymap)
        """Keys of the keymap, for the footer."""
        self.wanted_device: tuple[str, str] | None = None
        """Address and node of the device that the Bench screen is to measure."""
        self.job_choice: tuple[Job, str | None] | None = None
        """The job of the Bench screen and the name of its workload; None before it was shown."""
        self.background: dict[str, BackgroundWork] = {
            screen: imported(path)(self) for door in doors().values() for screen, path in door.background.items()
        }
        """What goes on behind the screens, by the screen that shows it."""
        self.findings: CheckTracker = (action("check.findings") or CheckTracker)(workbench)
        """What of the machine wants a look."""
        self.drifted: DriftWatch = (action("apply.drift") or DriftWatch)(workbench, self.options.state_file)
        """What differs from the file of settings that is named."""
        workbench.changes.watches_itself = workbench.simulated and not workbench.host.capabilities.shares_watchdog
        self.trials = Trials(self)
        """What is on trial."""
        self._leaving: Worker[None] | None = None
        self._recording = True
        self._counting = False
        self._disable_notifications = self._disable_tooltips = True  # two widgets of every screen that show nothing
        self._filters.append(ControlFilter())
        if self.ascii:
            self._filters.append(AsciiFilter())

    def on_mount(self) -> None:
        """The first paint waits for nothing; all that takes time comes after it."""
        if self.options.keymap:
            self.set_keymap(dict(self.options.keymap))
        self._catch_signals()
        self.call_after_refresh(self._start_later)
        self.set_interval(1.0, self._every_second)

    def _start_later(self) -> None:
        self.run_worker(self._start(), group="session", exit_on_error=True)

    async def _start(self) -> None:
        try:
            await self.workbench.open(self.options.session)
        except StorageError as error:
            self.workbench.storage_problem = error
            self.show_error(error, title="Nothing can be recorded")
        self.opened = True
        self._recording = self.workbench.recording
        self.session = self.workbench.session
        await self.trials.follow()
        if self.workbench.changes.trials():  # of this session, which an earlier raidbench began
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
        """Ask every backend; a session that cannot be written any more is told, and ends nothing."""
        try:
            await self.workbench.hardware.probe()
        except RaidbenchError as error:
            self.show_error(error)

    async def rescan_after_change(self, changes: tuple[Change, ...]) -> None:
        """As `look_for_hardware`, of what these changes may have moved."""
        try:
            await self.workbench.hardware.rescan_after_change(changes)
        except RaidbenchError as error:
            self.show_error(error)

    def check_anew(self) -> None:
        """Find anew what wants a look; until that is known, what was found before stands."""
        self.run_worker(self._check, group="check", exclusive=True)  # type: ignore[arg-type]  # not begun, not awaited

    async def _check(self) -> None:
        before = self.findings.state, self.drifted.drifts
        await self.findings.update()
        for trouble in await self.drifted.update():
            self.show_error(trouble, title="Held against the state file")
        if (self.findings.state, self.drifted.drifts) != before:
            self.show_header()
            self.refresh_screen()

    def _every_second(self) -> None:
        """What is not told by the session: the time that a trial has left, and whether it is still written."""
        if (left := self.trials.seconds_left()) is not None or self._counting:
            self._counting = left is not None
            self.show_header()
        if self.opened:
            self.trials.follow_later()
        self._watch_recording()

    def _watch_recording(self) -> None:
        """Say once when the session cannot be written any more: most of what fails to be written is not asked for."""
        if not self.opened or self.workbench.recording == self._recording:
            return
        self._recording = self.workbench.recording
        problem = self.workbench.storage_problem
        if problem is not None:
            self.show_error(problem, title="Nothing is recorded any more, so nothing can be changed")
        self.refresh_screen()

    def watch_staged_count(self) -> None:
        """The header counts what is staged."""
        self.refresh_screen()

    def choose_theme(self, name: str) -> None:
        """Draw in the colours of one of `THEMES`."""
        self.theme = self._register_theme(name)

    def _register_theme(self, name: str) -> str:
        theme = theme_of(name, os.environ, self.console.color_system)
        self.register_theme(theme)
        return theme.name

    def action_theme(self) -> None:
        """Choose the colours."""
        from widgets.choice_list import ChoiceDialog, ChoiceItem

        choices = tuple(ChoiceItem(value=name, label=name, help=help) for name, help in THEMES.items())
        dialog = ChoiceDialog("Theme", choices, self.theme.removeprefix(OWN))
        self.push_screen(dialog, lambda name: None if name is None else self.choose_theme(name))

    @property
    def front(self) -> WorkbenchScreen | None:
        """The screen in front; None while a question lies upon it, and on the way out, when no screen is left."""
        screen = self.screen_stack[-1] if self.is_running and self.screen_stack else None
        return screen if isinstance(screen, WorkbenchScreen) else None

    def refresh_screen(self) -> None:
        """Bring the screen in front up to date with what is not in the session."""
        if (screen := self.front) is not None:
            screen.on_screen_resume()

    def show_header(self) -> None:
        """Bring the header up to date, also of a screen that a question lies upon."""
        for screen in self.screen_stack:
            if isinstance(screen, WorkbenchScreen) and screen.has_widgets and self.is_running:
                screen.show_lines(self.session)

    @property
    def measuring(self) -> bool:
        """Whether a job or anything in the background measures on this machine now."""
        return self.workbench.jobs.running or any(work.measuring for work in self.background.values())

    def show_background(self, screen: str) -> None:
        """Bring what shows work in the background up to date: its screen, and the header of any."""
        self.show_header()
        front = self.front
        if front is not None and screen == front.NAME and front.has_widgets:
            front.show_background()

    def stage(self, target: str, key: str, value: str | None) -> None:
        """Stage a value, or take it back with None."""
        values = self.staged.setdefault(target, {})
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value
        if not values:
            del self.staged[target]
        self.staged_count = sum(len(values) for values in self.staged.values())

    def measure_device(self, name: str, device: str) -> None:
        """Take a device to the Bench screen."""
        from app.tui.bench.screen import BenchScreen

        self.wanted_device = (name, device)
        self.switch_mode("bench")
        screen = self.front
        if isinstance(screen, BenchScreen) and screen.has_widgets:
            screen.take_device(name, device)

    def ask_export(self) -> None:
        """Ask for a file name, write the report of the session."""
        if self.workbench.folder is None:
            self.notify("There is no session on disk to report.", severity="warning")
        else:
            self.ask_export_of(self.session, self.workbench.folder)

    def ask_export_of(self, session: Session, folder: Path) -> None:
        """The same of a session that lies in `folder`."""
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
        """A notice above the footer. Tools and devices speak in it: it is never markup and steers no terminal."""
        self._add_notice(message, title=clean(title), severity=severity)

    def notify_transient(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """A notice that is worth no line of the log, and goes when the next one comes."""
        self._add_notice(message, severity=severity, passing=True)

    def clear_transient_notice(self) -> None:
        """Take away the notice of what goes on no longer."""
        self.notices.clear_transient_notice()
        self.show_notices()

    def notify_copyable(self, message: str, path: str) -> None:
        """A notice with something worth copying: the path that it names, say."""
        self._add_notice(message, copied=clean_lines(path, 12))

    def _add_notice(self, message: str, **parts: Any) -> None:
        """Show a notice; `parts`: the other fields of it."""
        self.notices.add(Notice(message=clean_lines(message, 12), at=time.time(), **parts))
        self.show_notices()

    def action_copy(self) -> None:
        """Hand what is worth copying to the terminal's clipboard."""
        from widgets.confirm import TAKEN

        if (screen := self.front) is None:
            return  # a question comes first
        text = screen.copyable_text() or self.notices.copyable_text
        if not text:
            self.notify_transient("Nothing was told that is worth copying: a review copies its commands with c.")
            return
        self.copy_to_clipboard(text)
        self.notify_transient(f"Copied, {TAKEN}: {' ; '.join(text.splitlines())}")

    def clear_notifications(self) -> None:
        """Forget what was said."""
        self.notices.clear()
        self.show_notices()

    def show_notices(self) -> None:
        """Bring the notices up to date on the screen in front, also of one that a question lies upon."""
        for screen in self.screen_stack if self.is_running else ():
            if isinstance(screen, WorkbenchScreen) and screen.has_widgets:
                screen.show_notices()

    async def on_event(self, event: events.Event) -> None:
        """Whoever presses a key has read what stood above the footer."""
        if isinstance(event, events.Key) and self.notices.standing:
            self.notices.drop_read()
            self.show_notices()
        await super().on_event(event)

    async def _on_key(self, event: events.Key) -> None:
        """A key that has come by all widgets: a binding, or one that does nothing here and is told so."""
        event.prevent_default()
        if not await self._check_bindings(event.key) and (screen := self.front) is not None:
            screen.dead_key(event)

    def show_error(self, error: RaidbenchError, *, title: str = "") -> None:
        """Show an error: what happened, what it means, what to do next."""
        copied = commands_in(clean_lines(error.hint or "", 12))
        self._add_notice(sentences(error.message, error.hint), title=clean(title), severity="error", copied=copied)
        self.show_session(self.workbench.session)

    def do(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call what a feature calls by this name (`app.doors`) with the app first; say so where none does."""
        try:
            function = needed_action(name)
        except NotFoundError as error:
            self.show_error(error)
            return None
        return function(self, *arguments, **named)

    def action_go(self, screen: str) -> None:
        """Bring a screen to the front."""
        if screen not in self.MODES or self.front is None:
            return  # a question comes first
        if screen == self.current_mode and len(self.screen_stack) > 1:
            self.pop_screen()
        self.switch_mode(screen)

    def action_keep_trial(self) -> None:
        """Let the values on trial stand."""
        self.trials.keep()

    def action_keys(self) -> None:
        """Show the keys of the screen in front."""
        from app.tui.help import HelpScreen

        name = getattr(self.screen, "NAME", "")
        if name:
            self.push_screen(HelpScreen(name))

    def action_command_palette(self) -> None:
        """Open the palette, except over a dialog: its question comes first."""
        if self.front is not None:
            from app.tui.palette import Palette

            self.push_screen(Palette(id="--command-palette"))

    def action_leave(self) -> None:
        """Leave, asking first where that matters; once."""
        from app.tui.exit_dialogs import ExitDialogs

        if self._leaving is None or self._leaving.is_finished:
            self._leaving = self.run_worker(ExitDialogs(self).leave(), group="leaving")

    async def action_quit(self) -> None:
        """Ctrl+Q asks like q."""
        self.action_leave()

    def action_help_quit(self) -> None:
        """Ctrl+C copies what is selected; without anything selected it says so."""
        if self.front is not None:
            self.notify_transient("Ctrl+C copies what the mouse has selected; q leaves.")

    def action_suspend(self) -> None:
        """Go back to the shell, unless something would stand still meanwhile that must not."""
        reason = suspend_refusal(self.workbench, self.workers)
        if reason:
            self.notify_transient(f"Not suspended: {reason}")
        elif self._driver is None or not self._driver.can_suspend or os.getsid(0) == os.getpid():
            self.notify_transient("Not suspended: there is no shell here that could bring it back.")
        else:
            self.action_suspend_process()

    def _catch_signals(self) -> None:
        """A hang-up or a kill ends fio, the session and the screen in good order."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.end_by_signal, number)

    def end_by_signal(self, number: int) -> None:
        """End in good order, as the signal asks."""
        self.end_reason = signal.Signals(number).name
        self.run_worker(self.stop_and_exit(128 + number), group="signalled", exclusive=True)

    async def stop_and_exit(self, code: int = 0) -> None:
        """End the running job, keep its figures, leave."""
        await self.stop_measuring()
        self.exit(code)

    async def stop_measuring(self) -> None:
        """End the running job and wait for its end, but not for ever."""
        self.workbench.jobs.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self.workbench.jobs.wait_idle()

    def _handle_exception(self, error: Exception) -> None:
        """An exception nobody expected: the evidence goes to a file, a sentence to the person."""
        cause = getattr(error, "error", error)
        if isinstance(cause, ScreenError | NoMatches) and not self.is_running:
            return  # a worker that still had something to show when the screens, or what was on them, were gone already
        self.crash = self.crash or cause
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()

    def panic(self, *renderables: object) -> None:
        """Nothing is drawn over the terminal that was just given back."""
        self._close_messages_no_wait()


if TYPE_CHECKING:

    def _is_the_port(app: WorkbenchApp) -> AppInterface:
        """The type checker's word that screens are told the truth."""
        return app
