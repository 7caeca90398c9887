"""The session as the app has it: drawn as often as somebody reads it and the link carries."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import App
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.reactive import var

from app.core.session.event_types import CpuSampled
from app.core.session.events import AnyEvent, LiveEvent
from app.core.session.state import Session

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.tui.alarms import RunAlerts

# -- how often a running job is drawn anew ----------------------------------------------------------------------------

# On a slow link only when the terminal has got what it was sent before.
#
# After each drawing the terminal is asked whether it knows synchronized output, which most answer (DECRQM, mode 2026).
# The answer comes when all that was sent before has arrived. A terminal that never answers is drawn to at the full
# rate.

QUESTION = "\x1b[?2026$p"
"""What Textual asks as well when it starts."""

LOST_S = 10.0
"""Seconds after which an answer does not come any more: whoever attached another terminal answers from then on."""

SHARE = 2.0
"""The time between two drawings, as a multiple of what one takes to arrive: keys have room between them."""


class RedrawThrottle:
    """Times of asking and answering; `clock` in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.answers = False
        """Whether the terminal has answered at least once."""
        self._asked: float | None = None
        self._next = 0.0

    def question_sent(self) -> None:
        """The question was sent behind a drawing."""
        self._asked = self._clock()

    def answer_received(self) -> None:
        """The answer has come."""
        self.answers = True
        if self._asked is not None:
            self._next = self._asked + SHARE * (self._clock() - self._asked)
            self._asked = None

    def wait(self) -> float:
        """Seconds to wait before the next drawing, as far as is known now; 0 for none."""
        now = self._clock()
        if self._asked is not None:
            return max(0.05, SHARE * (now - self._asked)) if now - self._asked < LOST_S else 0.0
        return max(0.0, self._next - now)


# -- the session as the app has it ------------------------------------------------------------------------------------

# What is heard of it is drawn as often as somebody reads it and the link carries.

_SOON = 0.4
"""Seconds within which a drawing is followed by the next one, while fio reports."""

_EARLY = 0.04
"""Seconds that a sample may be early and is shown all the same: held back for an instant each takes a timer, and makes
the next one early, too.
"""


class SessionChanged(Message):
    """There is a newer session; it carries the whole state, so the newest one is enough."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def can_replace(self, message: Message) -> bool:
        """A newer state stands in for a waiting one."""
        return isinstance(message, SessionChanged)


class SessionApp(App[int]):
    """An app that follows the session of a workbench."""

    session: var[Session] = var(Session, always_update=False)
    """The session as it is now."""

    def __init__(self, workbench: Workbench, fps: float) -> None:
        """`fps`: how often a running job is drawn at most, in a second."""
        super().__init__()
        self.workbench = workbench
        """The engine."""
        self._fps = fps
        self._forget = workbench.subscribe(self._handle_event)
        self._drawn = 0.0
        self._pace = RedrawThrottle(time.monotonic)
        self._waiting: Session | None = None
        self._alarms: RunAlerts | None = None
        self.set_reactive(SessionApp.session, workbench.session)

    def _handle_event(self, session: Session, event: AnyEvent) -> None:
        at_once = not (isinstance(event, LiveEvent) and isinstance(event.progress, CpuSampled))
        if not at_once and time.monotonic() - self._drawn < _SOON:
            return  # the next sample is about to be shown, and this with it
        self.post_message(SessionChanged(session))

    def on_session_changed(self, message: SessionChanged) -> None:
        """Show the newest state, at most `fps` times a second while a job runs."""
        due = 1.0 / max(0.5, self._fps) - (time.monotonic() - self._drawn)
        wait = max(due - _EARLY, self._pace.wait())
        if message.session.active is None or self.session.active is None or wait <= 0.02:
            self.show_session(message.session)
        else:
            if self._waiting is None:
                self.set_timer(max(due, wait), self._show_waiting)
            self._waiting = message.session

    def _show_waiting(self) -> None:
        if self._waiting is None:
            return
        if (wait := self._pace.wait()) > 0 and self._waiting.active is not None:
            self.set_timer(wait, self._show_waiting)
        else:
            self.show_session(self._waiting)

    def _ask_terminal(self) -> None:
        """Behind what was drawn: the answer tells when that has arrived."""
        if self._driver is not None:
            self._pace.question_sent()
            self._driver.write(QUESTION)

    def on_terminal_supports_synchronized_output(self) -> None:
        """The terminal has got all that was sent before."""
        self._pace.answer_received()

    def show_session(self, session: Session) -> None:
        """Show this state now, and say what it brings."""
        if session.active is not None and not self.workbench.jobs.running:
            session = replace(session, active=None)  # its end could not be recorded; it is over all the same
        self._waiting = None
        self._drawn = time.monotonic()
        self.session = session
        if session.active is not None and self._pace.answers and not self._pace.wait():
            self.call_after_refresh(self._ask_terminal)
        self._tell_alarms(session)

    def _tell_alarms(self, session: Session) -> None:
        """Say what befell the running job, on whichever screen."""
        if session.active is None:
            if self._alarms is not None and self._alarms.lasting:
                self.clear_transient_notice()
                self._alarms.lasting = frozenset()
            return
        if self._alarms is None:  # who measures nothing does not wait for it
            from app.tui.alarms import RunAlerts

            self._alarms = RunAlerts()
        for text in self._alarms.update(session.active):
            if text in self._alarms.lasting:  # until it is over, or the run is: then it is told how long it was
                self.notify_transient(text, severity="error")
            else:
                self.notify(text, severity="error")

    def notify_transient(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """A notice that is worth no line of the log, and goes when the next one comes."""
        raise NotImplementedError

    def clear_transient_notice(self) -> None:
        """Take away the notice of what goes on no longer."""
        raise NotImplementedError

    def on_unmount(self) -> None:
        """No more news."""
        self._forget()
