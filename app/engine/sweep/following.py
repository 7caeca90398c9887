"""Looking on while another process runs a sweep: its log and what happens within the running step, as a session."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from app.engine.session import wire
from app.engine.session.events import AnyEvent
from app.engine.session.marks import is_written
from app.engine.session.state import Session, fold
from app.engine.session.store import LOG
from app.engine.session.sweep_record import SweepRecord
from app.engine.sweep.live import LiveReader

Listener = Callable[[Session, AnyEvent], None]

QUIET = 2.0
"""Seconds without news after which it is looked whether anybody still writes the log."""


class Follower:
    """Reads what was added to the log of a sweep. Not for two threads at once."""

    def __init__(self, folder: Path, heard: Listener | None = None) -> None:
        """`heard`: is told every event, with the session after it."""
        self.heard = heard
        """Who is told; may be exchanged between two looks."""
        self.folder = folder
        """The session's folder."""
        self.session = Session()
        """The session as far as it was read."""
        self.over = False
        """Whether the sweep came to an end, or nobody runs it any more."""
        self._live = LiveReader(folder)
        self._at = 0
        self._rest = b""
        self._heard = time.monotonic()

    @property
    def record(self) -> SweepRecord | None:
        """How far it has come; None before its design was read."""
        return self.session.sweep

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.record is not None and not self.over

    def read(self) -> bool:
        """Take in what is new; whether anything was, or it ended. A log that cannot be read any more is not news."""
        news = self._read_log()
        for moment in self._live.read():
            self._take(moment)
            news = True
        now = time.monotonic()
        before = self.over
        if news:
            self._heard = now
            self.over = self.record is not None and self.record.end is not None
        elif not self.over and now - self._heard > QUIET:
            self._heard = now
            self.over = not is_written(self.folder)
        return news or self.over != before

    def _read_log(self) -> bool:
        try:
            with (self.folder / LOG).open("rb") as log:
                log.seek(self._at)
                chunk = log.read()
                self._at = log.tell()
        except OSError:
            return False
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            event = wire.decode(line.decode("utf-8", "replace")) if line.strip() else None
            if event is not None:
                self._take(event)
        return bool(whole)

    def _take(self, event: AnyEvent) -> None:
        self.session = fold(self.session, event)
        if self.heard is not None:
            self.heard(self.session, event)
