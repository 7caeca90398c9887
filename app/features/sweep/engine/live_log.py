"""Write the live events of the running step for other processes, and follow a sweep that another process runs."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from app.core.session import event_codec, event_types
from app.core.session.event_types import Progress
from app.core.session.events import AnyEvent, LiveEvent, RunStarted
from app.core.session.folders import LOG
from app.core.session.json_codec import structure, unstructure
from app.core.session.state import Session, fold
from app.core.session.store import is_being_written
from app.core.session.sweep_record import SweepRecord
from backends.input_file import open_input
from backends.output_file import replace_file

# -- live events of the running step, in a small file next to the log -------------------------------------------------

FILE = "live.jsonl"
"""Name of the file with the live events, in the session's folder."""

KINDS: Mapping[str, type[Progress]] = {
    "PhaseChanged": event_types.PhaseChanged,
    "SampleTaken": event_types.SampleTaken,
    "CpuSampled": event_types.CpuSampled,
    "MembersSampled": event_types.MembersSampled,
    "Advised": event_types.AdviceGiven,
    "SteadinessSeen": event_types.SteadyStateUpdated,
    "Happened": event_types.BackgroundEventSeen,
}
"""Event types by their names in the file. A class may be renamed, but its name in the file must not change."""
_NAMES = {kind: name for name, kind in KINDS.items()}


class LiveWriter:
    """Writes the live events of the running step, which the session log leaves out, to a file. Write errors are
    ignored.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def handle_event(self, _session: Session, event: AnyEvent) -> None:
        """Write a live event to the file. The start of a new run empties the file first."""
        with contextlib.suppress(OSError):
            if isinstance(event, RunStarted):
                replace_file(self._file, "", mode=0o666)
            elif isinstance(event, LiveEvent):
                fields = {"kind": _NAMES[type(event.progress)], "at": event.at, "id": event.id}
                line = json.dumps(fields | unstructure(event.progress), separators=(",", ":"))
                with self._file.open("a", encoding="ascii") as out:
                    out.write(line + "\n")


class _LineReader:
    """Reads the complete lines that were added to a file since the last call."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._inode = 0
        self._at = 0
        self._rest = b""

    def read(self) -> list[bytes]:
        """Return the new lines, oldest first.

        The list is empty if the file is unreadable. A replaced file is read from its start.
        """
        try:
            with open_input(self._file) as source:
                info = os.fstat(source.fileno())
                if info.st_ino != self._inode or info.st_size < self._at:
                    self._inode, self._at, self._rest = info.st_ino, 0, b""
                source.seek(self._at)
                chunk = source.read()
                self._at = source.tell()
        except OSError:
            return []
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return lines


class LiveReader:
    """Reads the live events that were added since the last call."""

    def __init__(self, folder: Path) -> None:
        self._lines = _LineReader(folder / FILE)

    def read(self) -> Iterator[LiveEvent]:
        """Return the new events, oldest first."""
        return filter(None, map(_event, self._lines.read()))


def _event(line: bytes) -> LiveEvent | None:
    try:
        data = json.loads(line)
        kind, at, run = (data.pop(key) for key in ("kind", "at", "id"))
        return LiveEvent(at=at, id=run, progress=structure(data, KINDS[kind]))
    except Exception:  # the line is cut off or from another version; a lost live event does no harm
        return None


# -- following a sweep in another process: its log and its live events as a session -----------------------------------

Listener = Callable[[Session, AnyEvent], None]

QUIET = 2.0
"""Seconds without new events after which the follower checks whether a process still writes the log."""


class Follower:
    """Follows the sweep of a session by its log. Not thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.listener: Listener | None = None
        """Called with the session and each new event, which the session already includes. It may be replaced between
        two calls of `read`.
        """
        self.folder = folder
        """The session's folder."""
        self.session = Session()
        """The session built from the events read so far."""
        self.over = False
        """Whether the sweep has ended, or no process runs it."""
        self._live = LiveReader(folder)
        self._log = _LineReader(folder / LOG)
        self._heard = time.monotonic()

    @property
    def record(self) -> SweepRecord | None:
        """The record of the sweep; None before its design was read."""
        return self.session.sweep

    @property
    def running(self) -> bool:
        """Whether the sweep is in progress."""
        return self.record is not None and not self.over

    def read(self) -> bool:
        """Read new events; return whether there were any, or whether the sweep has ended since the last call. An
        unreadable log counts as a log without new events.
        """
        lines = self._log.read()
        for line in lines:
            event = event_codec.decode(line.decode("utf-8", "replace")) if line.strip() else None
            if event is not None:
                self._take(event)
        news = bool(lines)
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
            self.over = not is_being_written(self.folder)
            if self.over:
                self.session = self.session.without_active()
        return news or self.over != before

    def _take(self, event: AnyEvent) -> None:
        self.session = fold(self.session, event)
        if self.listener is not None:
            self.listener(self.session, event)
