"""What happens within the running step, for processes that look on: a small file beside the log."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from app.engine.session.events import AnyEvent, LiveEvent, RunStarted
from app.engine.session.json_values import structure, unstructure
from app.engine.session.progress import Progress
from app.engine.session.state import Session

FILE = "live.jsonl"
"""Lies in the session's folder."""

_KINDS: dict[str, type[Progress]] = {kind.__name__: kind for kind in get_args(Progress)}


class LiveWriter:
    """Listens to a workbench and writes down what its log leaves out. Not being able to stops nothing."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def heard(self, _session: Session, event: AnyEvent) -> None:
        """One event."""
        with contextlib.suppress(OSError):
            if isinstance(event, RunStarted):
                fresh = self._file.with_suffix(".new")
                fresh.write_bytes(b"")
                os.replace(fresh, self._file)
            elif isinstance(event, LiveEvent):
                told = {"kind": type(event.progress).__name__, "at": event.at, "id": event.id}
                line = json.dumps(told | unstructure(event.progress), separators=(",", ":"))
                with self._file.open("a", encoding="ascii") as out:
                    out.write(line + "\n")


class LiveReader:
    """Reads what was added since the last look."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._inode = 0
        self._at = 0
        self._rest = b""

    def read(self) -> Iterator[LiveEvent]:
        """New events, oldest first."""
        try:
            with self._file.open("rb") as source:
                info = os.fstat(source.fileno())
                if info.st_ino != self._inode or info.st_size < self._at:
                    self._inode, self._at, self._rest = info.st_ino, 0, b""
                source.seek(self._at)
                chunk = source.read()
                self._at = source.tell()
        except OSError:
            return
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            event = _event(line)
            if event is not None:
                yield event


def _event(line: bytes) -> LiveEvent | None:
    try:
        data = json.loads(line)
        kind, at, run = (data.pop(key) for key in ("kind", "at", "id"))
        return LiveEvent(at=at, id=run, progress=structure(data, _KINDS[kind]))
    except Exception:  # torn, or of another version: it would have been over in a moment anyway
        return None
