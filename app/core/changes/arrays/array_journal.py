"""Which arrays were made here: on disk before the first command, and what became of each."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.core.session.journal import append_record, boot_id, is_running, read_records
from app.core.session.json_codec import structure, unstructure
from app.core.session.paths import ARRAYS
from backends.array_planning import CreatedArray
from backends.errors import NewerError
from backends.formats import FileFormat, is_newer, newer_error
from backends.processes import process_start
from backends.values import dataclass


class ArrayStage(StrEnum):
    """How far an array is by the journal."""

    MAKING = "making"
    """About to be made; what became of it is not known."""
    MADE = "made"
    """It was there as it was meant."""
    REMOVING = "removing"
    """About to be taken apart; what became of that is not known."""
    GONE = "gone"
    """Nothing of it is left, or it was never there."""
    LEFT = "left"
    """Somebody said that it is to be left as it is: it is not known here any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayJournalEntry:
    """An array of the journal."""

    array: CreatedArray
    """What it was to be."""
    stage: ArrayStage
    """How far it is."""
    at: float
    """Seconds since the epoch, of that stage."""
    session: str
    """Folder of the session that made it."""
    pid: int
    """Who wrote that and is at it; 0 for nobody."""
    start: str
    """Start time of that process, so that a recycled pid is not taken for it."""
    boot: str
    """The kernel's boot id then."""
    setter: tuple[int, str, str] | None = None
    """Process id, start time and name of the last program that was about to take a step; None before the first."""

    @property
    def unfinished(self) -> bool:
        """Whether nobody knows what became of it, and nobody is at it."""
        if self.stage not in (ArrayStage.MAKING, ArrayStage.REMOVING):
            return False
        return self.boot != boot_id() or not is_running(self.pid, self.start)

    @property
    def left_running(self) -> str | None:
        """The program of a raidbench that is gone, while it still runs: `mdadm (pid 123)`; None where none does."""
        if self.setter is None or not self.unfinished or self.boot != boot_id():
            return None
        pid, start, program = self.setter
        return f"{program} (pid {pid})" if is_running(pid, start) else None


class ArrayJournal:
    """The journal of arrays. It outlives sessions, and is root's: nothing else says what may be taken apart again."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the journal of changes lies as well."""
        self.file = folder / ARRAYS

    def write_begin(self, array: CreatedArray, session: Path) -> None:
        """Put on disk that it is about to be made. Raises StorageError: then it must not; NewerError."""
        if (unknown := self.newer_error()) is not None:
            raise unknown
        self._append(array.name, ArrayStage.MAKING, "Nothing was made.", session=str(session), array=unstructure(array))

    def write_stage(self, name: str, stage: ArrayStage, uuids: tuple[str, ...] = ()) -> None:
        """Put on disk how far it is by now; `uuids`: all that it is known by, see `ArrayFound`. Raises StorageError."""
        entry = self.entry(name) if uuids else None
        more = {} if entry is None else {"array": unstructure(replace(entry.array, uuids=uuids))}
        self._append(name, stage, f"It does not say that {name} is {stage.value}.", **more)

    def release(self, name: str) -> None:
        """Put on disk that this process is done with an array although nobody knows what became of it.

        Nothing is written if its end is known, or another process is at it. Raises StorageError.
        """
        entry = self.entry(name)
        if entry is None or entry.stage not in (ArrayStage.MAKING, ArrayStage.REMOVING) or entry.pid != os.getpid():
            return
        fields = {"session": entry.session, "array": unstructure(entry.array)}
        self._append(name, entry.stage, f"`raidbench recover` may not see {name} yet.", pid=0, start="", **fields)

    def write_setter(self, name: str, pid: int, program: str) -> None:
        """Put on disk which process is about to take a step. Raises StorageError: then it must not begin."""
        record = {"kind": "setter", "name": name, "pid": pid, "start": process_start(pid), "program": program}
        append_record(self.file, FileFormat.ARRAYS, record, f"{program} was not started.")

    def entries(self) -> tuple[ArrayJournalEntry, ...]:
        """Every array that is not gone, in the order in which they were made. Never raises."""
        entries: dict[str, ArrayJournalEntry] = {}
        for record in read_records(self.file):
            name = str(record.get("name"))
            if is_newer(FileFormat.ARRAYS, record.get("format")):
                entries.pop(name, None)  # see `newer`
            elif record.get("kind") == "setter" and name in entries:
                entries[name] = replace(entries[name], setter=_setter_of(record))
            elif (entry := _entry(record, entries.get(name))) is not None:
                entries[name] = entry
        return tuple(entry for entry in entries.values() if entry.stage not in (ArrayStage.GONE, ArrayStage.LEFT))

    def entry(self, name: str) -> ArrayJournalEntry | None:
        """The one of that name that is not gone. Never raises."""
        return next((entry for entry in self.entries() if entry.array.name == name), None)

    def newer_error(self) -> NewerError | None:
        """Why this program does not know all of them, None where it does. Never raises."""
        for record in read_records(self.file):
            if is_newer(FileFormat.ARRAYS, record.get("format")):
                return newer_error(FileFormat.ARRAYS, record.get("format"), record.get("by"), "An array of the journal")
        return None

    def _append(self, name: str, stage: ArrayStage, otherwise: str, **more: Any) -> None:
        record = {
            "kind": "array",
            "name": name,
            "stage": stage.value,
            "at": time.time(),
            "pid": os.getpid(),
            "start": process_start(os.getpid()),
            "boot": boot_id(),
            **more,
        }
        append_record(self.file, FileFormat.ARRAYS, record, otherwise)


def _entry(record: Mapping[str, Any], first: ArrayJournalEntry | None) -> ArrayJournalEntry | None:
    """What a record says; of a later stage the array is that of the first. None for a damaged one."""
    try:
        if record.get("stage") != ArrayStage.MAKING:
            if first is None:
                return None
            record = {"array": unstructure(first.array), "session": first.session, **record}
        return structure({**record, "setter": None}, ArrayJournalEntry)
    except Exception:  # whatever is wrong with it: a damaged record must not hide the others
        return None


def _setter_of(record: Mapping[str, Any]) -> tuple[int, str, str] | None:
    pid, start, program = record.get("pid"), record.get("start"), record.get("program")
    return (
        (pid, start, program) if isinstance(pid, int) and isinstance(start, str) and isinstance(program, str) else None
    )
