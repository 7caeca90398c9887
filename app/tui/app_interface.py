"""The part of the app that screens, dialogs and their helpers may use. They never import the app itself.

`app.tui.app` implements this interface.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.widget import AwaitMount
    from textual.worker import Worker

    from app.core.fio.job import Job
    from app.core.session.state import Session
    from app.core.workbench import Workbench
    from app.tui.feature_hooks import BackgroundWork, CheckTracker, DriftWatch
    from app.tui.header_text import RunBadge
    from app.tui.notices import Notices
    from app.tui.options import ScreenOptions
    from app.tui.trials import Trials
    from backends.change import Change
    from backends.errors import RaidbenchError

T = TypeVar("T")


class AppInterface(Protocol):
    """The app as screens see it."""

    workbench: Workbench
    session: Session
    """The current session."""
    options: ScreenOptions
    """Start options."""
    ascii: bool
    """Whether only ASCII may reach the terminal."""
    opened: bool
    """Whether the app has tried to open the session."""
    notices: Notices
    """Messages to the user."""
    waiting: RunBadge
    """Marks of screens on which work is running or has ended."""
    findings: CheckTracker
    """Findings of the check."""
    drifted: DriftWatch
    """Differences of this machine from the state file, `options.state_file`."""
    staged: dict[str, dict[str, str]]
    """Staged values, which are chosen but not applied: target address -> setting key -> value. `stage` changes them."""
    staged_count: int
    custom_keys: dict[str, str]
    """New keys from the user's keymap, by command id."""
    wanted_device: tuple[str, str] | None
    """Address and node of the device to measure on the Bench screen; None until one is selected elsewhere."""
    wanted_place: tuple[str, str] | None
    """Address and setting (or "") to which the Devices screen goes once it shows the devices; None for none."""
    background: dict[str, BackgroundWork]
    """Background work, keyed by the name of the screen that shows it."""
    trials: Trials
    """Changes that are reverted automatically unless they are kept."""
    job_choice: tuple[Job, str | None] | None
    """The job of the Bench screen and the name of its profile; None before that screen was shown."""

    @property
    def measuring(self) -> bool:
        """Whether a job or background work measures on this machine now."""

    def stage(self, target: str, key: str, value: str | None) -> None:
        """Stage a value of a setting, to be applied later; None removes the staged value."""

    async def look_for_hardware(self) -> None:
        """Scan with every backend."""

    async def rescan_after_change(self, changes: tuple[Change, ...]) -> None:
        """Scan the devices that these changes may have affected."""

    def recheck(self) -> None:
        """Run the check again on the latest readings."""

    def show_device(self, address: str, key: str = "") -> None:
        """Show a device on the Devices screen; with `key`, one of its settings."""

    def measure_device(self, name: str, device: str) -> None:
        """Select a device on the Bench screen and show that screen."""

    def ask_export(self) -> None:
        """Ask for a file name and write the report of the session."""

    def ask_export_of(self, session: Session, folder: Path) -> None:
        """Ask for a file name and write the report of the session in `folder`."""

    def show_error(self, error: RaidbenchError, *, title: str = "") -> None:
        """Show an error with its hint."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notice above the footer, as plain text without markup."""

    def notify_recorded(self, message: str, *, title: str, severity: SeverityLevel) -> None:
        """Show a notice that the log omits, because it has an event of the session with the same text."""

    def with_keys(self, text: str) -> str:
        """Return the text of a hint with the user's keys in place of command ids, such as `<bench.run>`."""

    def notify_transient(self, message: str) -> None:
        """Show a notice that is not logged."""

    def notify_copyable(self, message: str, path: str) -> None:
        """Show a notice. `path`: the part of it that the copy key copies, such as a path."""

    def do(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call a feature's action (`app.doors`) with the app as first argument; show an error if there is none."""

    def action_go(self, screen: str) -> None:
        """Show a screen."""

    def show_header(self) -> None:
        """Update the header."""

    def show_background(self, screen: str) -> None:
        """Update the screen that shows background work, and the header of any screen."""

    def refresh_screen(self) -> None:
        """Update the screen in front with state that is not in the session."""

    async def stop_measuring(self) -> None:
        """End the running job and wait for its end, with a time limit."""

    async def stop_and_exit(self, code: int = 0) -> None:
        """End the running job, keep its results, and leave with the exit status `code`."""

    @property
    def front(self) -> Screen[Any] | None:
        """The screen in front; None while a dialog is open."""

    def push_screen(self, screen: Screen[T], callback: Callable[[T | None], None] | None = None) -> AwaitMount:
        """Open a screen or dialog; `callback` gets its result."""

    def push_screen_wait(self, screen: Screen[T]) -> Coroutine[Any, Any, T]:
        """Open a dialog and wait for its result, in a worker."""

    def run_worker(
        self,
        work: Any,
        *,
        group: str = "default",
        exit_on_error: bool = True,
        exclusive: bool = False,
    ) -> Worker[Any]:
        """Start background work."""

    def hold_keys(self, worker: Worker[Any]) -> None:
        """Hold keys until `worker` has opened a screen, until it has ended, or until it calls `release_keys`."""

    def release_keys(self) -> None:
        """Pass on keys, because the worker that calls this opens nothing more. Escape no longer cancels it."""

    def call_from_thread(self, callback: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call a function of the app from a worker thread."""
