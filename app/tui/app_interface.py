"""What screens, dialogs and what stands beside them see of the app: this, and never the app itself.

Whoever writes a screen reads here what it can ask for; `app.tui.app` alone knows how that is done.
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
    """The app, as far as it is anybody's business."""

    workbench: Workbench
    session: Session
    """As it is now."""
    options: ScreenOptions
    """How the app was started."""
    ascii: bool
    """Whether anything but ASCII must be kept from the terminal."""
    opened: bool
    """Whether opening the session was tried."""
    notices: Notices
    """What was said."""
    waiting: RunBadge
    """Where something runs or has ended."""
    findings: CheckTracker
    """What of the machine wants a look."""
    drifted: DriftWatch
    """What differs from the file of settings that is named."""
    staged: dict[str, dict[str, str]]
    """Staged values: target address -> key -> value. `stage` stages."""
    staged_count: int
    custom_keys: dict[str, str]
    """Keys of the keymap, by command."""
    wanted_device: tuple[str, str] | None
    """Address and node of the device that the Bench screen is to measure."""
    background: dict[str, BackgroundWork]
    """What goes on behind the screens, by the screen that shows it."""
    trials: Trials
    """Changes that come back by themselves unless somebody keeps them."""
    job_choice: tuple[Job, str | None] | None
    """The job of the Bench screen and the name of its workload; None before it was shown."""

    @property
    def measuring(self) -> bool:
        """Whether a job or anything in the background measures on this machine now."""

    def stage(self, target: str, key: str, value: str | None) -> None:
        """Stage a value, or take it back with None."""

    async def look_for_hardware(self) -> None:
        """Ask every backend."""

    async def rescan_after_change(self, changes: tuple[Change, ...]) -> None:
        """Ask of what these changes may have moved."""

    def check_anew(self) -> None:
        """Find anew what wants a look, of what was read by now."""

    def measure_device(self, name: str, device: str) -> None:
        """Take a device to the Bench screen."""

    def ask_export(self) -> None:
        """Ask for a file name, write the report of the session."""

    def ask_export_of(self, session: Session, folder: Path) -> None:
        """The same of a session that lies in `folder`."""

    def show_error(self, error: RaidbenchError, *, title: str = "") -> None:
        """Show an error: what happened, what it means, what to do next."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """A notice above the footer; never markup."""

    def notify_transient(self, message: str) -> None:
        """A notice that is worth no line of the log."""

    def notify_copyable(self, message: str, path: str) -> None:
        """A notice with something worth copying: the path that it names, say."""

    def do(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call what a feature calls by this name (`app.doors`) with the app first; say so where none does."""

    def action_go(self, screen: str) -> None:
        """Bring a screen to the front."""

    def show_header(self) -> None:
        """Bring the header up to date."""

    def show_background(self, screen: str) -> None:
        """Bring what shows work in the background up to date: its screen, and the header of any."""

    def refresh_screen(self) -> None:
        """Bring the screen in front up to date with what is not in the session."""

    async def stop_measuring(self) -> None:
        """End the running job and wait for its end, but not for ever."""

    async def stop_and_exit(self, code: int = 0) -> None:
        """End the running job, keep its figures, leave."""

    @property
    def front(self) -> Screen[Any] | None:
        """The screen in front; None while a question lies upon it."""

    def push_screen(self, screen: Screen[T], callback: Callable[[T | None], None] | None = None) -> AwaitMount:
        """Lay a screen or dialog upon this one; `callback` gets its answer."""

    def push_screen_wait(self, screen: Screen[T]) -> Coroutine[Any, Any, T]:
        """The answer of a dialog, in a worker."""

    def run_worker(
        self,
        work: Any,
        *,
        group: str = "default",
        exit_on_error: bool = True,
        exclusive: bool = False,
        thread: bool = False,
    ) -> Worker[Any]:
        """Begin something that takes its time."""

    def call_from_thread(self, callback: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call something of the app's from a worker's thread."""
