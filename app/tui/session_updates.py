"""The app's copy of the session, redrawn only as often as the connection to the terminal allows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message
from textual.notifications import SeverityLevel
from textual.reactive import var

from app.core.session.event_types import CpuSampled
from app.core.session.events import AnyEvent, LiveEvent
from app.core.session.state import Session
from widgets.typed_keys import OrderedKeysApp

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.tui.alarms import RunAlerts

# -- redraw rate of a running job -------------------------------------------------------------------------------------

# On a slow link, redraw only when the terminal has received the previous output.
#
# After each redraw, ask the terminal whether it supports synchronized output (DECRQM, mode 2026), which most terminals
# answer. The terminal answers only after it has received everything sent before. If it never answers, redraw at the
# full rate.

QUESTION = "\x1b[?2026$p"
"""Escape sequence that asks whether the terminal supports synchronized output. Textual sends it at its start, too."""

LOST_S = 10.0
"""Seconds after which an answer counts as lost, for example because another terminal was attached."""

SHARE = 2.0
"""Time between two redraws, as a multiple of the time that a redraw takes to arrive. This leaves time for keys."""


class RedrawThrottle:
    """Delays the next redraw until the terminal has answered the query after the last one. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.answers = False
        """Whether the terminal has answered at least once."""
        self._asked: float | None = None
        self._next = 0.0

    def question_sent(self) -> None:
        """Record that the query was sent after a redraw."""
        self._asked = self._clock()

    def answer_received(self) -> None:
        """Record that the terminal answered the query."""
        self.answers = True
        if self._asked is not None:
            self._next = self._asked + SHARE * (self._clock() - self._asked)
            self._asked = None

    def wait(self) -> float:
        """Return the seconds to wait before the next redraw; 0 for none."""
        now = self._clock()
        if self._asked is not None:
            return max(0.05, SHARE * (now - self._asked)) if now - self._asked < LOST_S else 0.0
        return max(0.0, self._next - now)


class RedrawRate:
    """Limits the average number of redraws per second. `clock` returns seconds.

    One redraw may come early. Samples that arrive at the limit are then shown when they arrive. Otherwise every one of
    them would wait for the end of the same interval.
    """

    def __init__(self, fps: float, clock: Callable[[], float]) -> None:
        self._interval = 1.0 / max(0.5, fps)
        self._clock = clock
        self._due = 0.0

    def record(self) -> None:
        """Record a redraw."""
        now = self._clock()
        self._due = min(max(self._due, now) + self._interval, now + 2 * self._interval)

    def wait(self) -> float:
        """Return the seconds to wait before the next redraw; 0 for none."""
        return max(0.0, self._due - self._interval - self._clock())


# -- the session as the app sees it -----------------------------------------------------------------------------------

_SOON = 0.4
"""Seconds after a redraw in which a new CPU use alone causes no redraw: the next sample of fio shows it anyway."""


class SessionChanged(Message):
    """There is a newer session. The message carries the complete state, so only the newest one matters."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def can_replace(self, message: Message) -> bool:
        """Return True for an older message of this kind, so that Textual drops that one."""
        return isinstance(message, SessionChanged)


class SessionApp(OrderedKeysApp[int]):
    """An app that follows the session of a workbench."""

    session: var[Session] = var(Session, always_update=False)
    """The current session."""

    def __init__(self, workbench: Workbench, fps: float) -> None:
        """`fps`: maximum redraws per second while a job runs."""
        super().__init__()
        self.workbench = workbench
        """The workbench."""
        self._rate = RedrawRate(fps, time.monotonic)
        self._forget = workbench.subscribe(self._handle_event)
        self._drawn = 0.0
        self._pace = RedrawThrottle(time.monotonic)
        self._waiting: Session | None = None
        self._alarms: RunAlerts | None = None
        self.set_reactive(SessionApp.session, workbench.session)

    def _handle_event(self, session: Session, event: AnyEvent) -> None:
        at_once = not (isinstance(event, LiveEvent) and isinstance(event.progress, CpuSampled))
        if not at_once and time.monotonic() - self._drawn < _SOON:
            return  # the next sample will also show this change
        self.post_message(SessionChanged(session))

    def on_session_changed(self, message: SessionChanged) -> None:
        """Show the newest state, at most `fps` times a second while a job runs."""
        wait = max(self._rate.wait(), self._pace.wait())
        if message.session.active is None or self.session.active is None or wait <= 0.02:
            self.show_session(message.session)
        else:
            if self._waiting is None:
                self.set_timer(wait, self._show_waiting)
            self._waiting = message.session

    def _show_waiting(self) -> None:
        if self._waiting is None:
            return
        if (wait := self._pace.wait()) > 0 and self._waiting.active is not None:
            self.set_timer(wait, self._show_waiting)
        else:
            self.show_session(self._waiting)

    def _ask_terminal(self) -> None:
        """Send a query after a redraw. Its answer shows that the redraw has arrived."""
        if self._driver is not None:
            self._pace.question_sent()
            self._driver.write(QUESTION)

    def on_terminal_supports_synchronized_output(self) -> None:
        """Record that the terminal has received everything sent before."""
        self._pace.answer_received()

    def show_session(self, session: Session) -> None:
        """Show this state now, with the alerts about the running job."""
        if session.active is not None and not self.workbench.jobs.running:
            session = session.without_active()  # The job has ended, but its end could not be recorded.
        self._waiting = None
        self._drawn = time.monotonic()
        self._rate.record()
        self.session = session
        if session.active is not None and self._pace.answers and not self._pace.wait():
            self.call_after_refresh(self._ask_terminal)
        self._show_alarms(session)

    def _show_alarms(self, session: Session) -> None:
        """Show the alerts about the running job, on any screen."""
        if session.active is None:
            if self._alarms is not None and self._alarms.lasting:
                self.clear_transient_notice()
                self._alarms.lasting = frozenset()
            return
        if self._alarms is None:  # import only for a run
            from app.tui.alarms import RunAlerts

            self._alarms = RunAlerts()
        for text in self._alarms.update(session.active):
            # Show the alert until the condition or the run ends. Then a notice with the duration replaces it.
            if text in self._alarms.lasting:
                self.notify_transient(text, severity="error")
            else:
                self.notify(text, severity="error")

    def notify_transient(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """Show a notice that is not logged, and that the next one replaces."""
        raise NotImplementedError

    def clear_transient_notice(self) -> None:
        """Remove the transient notice."""
        raise NotImplementedError

    def on_unmount(self) -> None:
        """Stop following the session."""
        self._forget()
