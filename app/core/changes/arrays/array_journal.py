"""The journal of the arrays that raidbench creates. Each is recorded before its first command and at every stage."""

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
from app.core.session.unreleased import arrays_error
from backends.array_planning import CreatedArray
from backends.errors import RefusedError
from backends.formats import FileFormat, is_newer, is_unreleased, newer_error
from backends.processes import process_start
from backends.values import dataclass


class ArrayStage(StrEnum):
    """How far the creation or deletion of an array has got."""

    MAKING = "making"
    """About to be created; the result is not known."""
    MADE = "made"
    """Created as planned."""
    REMOVING = "removing"
    """About to be deleted; the result is not known."""
    GONE = "gone"
    """No part of the array exists, or it was never created."""
    LEFT = "left"
    """The user chose to leave the array as it is, so raidbench no longer manages it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayJournalEntry:
    """An array in the journal, with its latest stage."""

    array: CreatedArray
    """The planned array."""
    stage: ArrayStage
    """Latest stage of the array."""
    at: float
    """Time of that stage, in seconds since the epoch."""
    session: str
    """Folder of the session that created the array."""
    pid: int
    """Id of the process that wrote the stage and works on the array; 0 if no process works on it."""
    start: str
    """Start time of the process `pid`, to detect a reused pid."""
    boot: str
    """The kernel's boot id when the stage was written."""
    setter: tuple[int, str, str] | None = None
    """Process id, start time and name of the last program that was about to execute a step; None before the first."""

    @property
    def unfinished(self) -> bool:
        """Return whether the state of the array is not known and no process is working on it."""
        if self.stage not in (ArrayStage.MAKING, ArrayStage.REMOVING):
            return False
        return self.boot != boot_id() or not is_running(self.pid, self.start)

    @property
    def left_running(self) -> str | None:
        """Return the program that a killed raidbench left running, as `mdadm (PID 123)`; None if there is none."""
        if self.setter is None or not self.unfinished or self.boot != boot_id():
            return None
        pid, start, program = self.setter
        return f"{program} (PID {pid})" if is_running(pid, start) else None


class ArrayJournal:
    """The journal of arrays. It outlives sessions and belongs to root. raidbench deletes only arrays that are in it."""

    def __init__(self, folder: Path) -> None:
        """`folder`: the folder of the journal of changes."""
        self.file = folder / ARRAYS

    def write_begin(self, array: CreatedArray, session: Path) -> None:
        """Record on disk that an array is about to be created.

        Raises StorageError, NewerError, UnreleasedError: then it must not be created.
        """
        if (unknown := self.unreadable_error()) is not None:
            raise unknown
        self._append(
            array.name, ArrayStage.MAKING, "Nothing was created.", session=str(session), array=unstructure(array)
        )

    def write_stage(self, name: str, stage: ArrayStage, uuids: tuple[str, ...] = ()) -> None:
        """Record the stage of an array on disk. Raises StorageError if that fails.

        `uuids`: all ids of the array, as in `ArrayMatch`.
        """
        entry = self.entry(name) if uuids else None
        more = {} if entry is None else {"array": unstructure(replace(entry.array, uuids=uuids))}
        self._append(name, stage, f"The journal does not record the stage of {name}: {stage.value}.", **more)

    def release(self, name: str) -> None:
        """Record on disk that this process no longer works on an array whose state is not known.

        Nothing is written if the state is known, or if another process works on the array. Raises StorageError if that
        fails.
        """
        entry = self.entry(name)
        if entry is None or entry.stage not in (ArrayStage.MAKING, ArrayStage.REMOVING) or entry.pid != os.getpid():
            return
        fields = {"session": entry.session, "array": unstructure(entry.array)}
        self._append(name, entry.stage, f"`raidbench recover` may not find {name} yet.", pid=0, start="", **fields)

    def write_setter(self, name: str, pid: int, program: str) -> None:
        """Record on disk which process is about to execute a step of creating or deleting the array `name`.

        Raises StorageError: then the process must not start.
        """
        record = {"kind": "setter", "name": name, "pid": pid, "start": process_start(pid), "program": program}
        append_record(self.file, FileFormat.ARRAYS, record, f"{program} was not started.")

    def entries(self) -> tuple[ArrayJournalEntry, ...]:
        """Return every array that is not gone, in the order of creation. Never raises."""
        entries: dict[str, ArrayJournalEntry] = {}
        for record in read_records(self.file):
            name = str(record.get("name"))
            if is_newer(FileFormat.ARRAYS, record.get("format")) or is_unreleased(record.get("by")):
                entries.pop(name, None)  # `unreadable_error` reports this
            elif record.get("kind") == "setter" and name in entries:
                entries[name] = replace(entries[name], setter=_setter_of(record))
            elif (entry := _entry(record, entries.get(name))) is not None:
                entries[name] = entry
        return tuple(entry for entry in entries.values() if entry.stage not in (ArrayStage.GONE, ArrayStage.LEFT))

    def entry(self, name: str) -> ArrayJournalEntry | None:
        """Return the array with that name; None if there is none or it is gone. Never raises."""
        return next((entry for entry in self.entries() if entry.array.name == name), None)

    def unreadable_error(self) -> RefusedError | None:
        """Return the error for entries in an unknown form; None for none. Never raises.

        It is a NewerError for any entry of a newer program, and an UnreleasedError for an array whose creation or
        deletion a build before the first release did not complete.
        """
        older: dict[str, Mapping[str, Any]] = {}
        for record in read_records(self.file):
            if is_newer(FileFormat.ARRAYS, record.get("format")):
                return newer_error(FileFormat.ARRAYS, record.get("format"), record.get("by"), "An array in the journal")
            if is_unreleased(record.get("by")) and record.get("kind") == "array":
                name = str(record.get("name"))
                older[name] = {**older.get(name, {}), **record}
        open_stages = (ArrayStage.MAKING, ArrayStage.REMOVING)
        left = [record for record in older.values() if record.get("stage") in open_stages]
        return arrays_error(self.file, left) if left else None

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
    """Return the journal entry that a record describes; None if the record is damaged.

    `first`: the array's entry from earlier records; None if there is none. Records of later stages do not contain the
    array, so it is taken from `first`.
    """
    try:
        if record.get("stage") != ArrayStage.MAKING:
            if first is None:
                return None
            record = {"array": unstructure(first.array), "session": first.session, **record}
        return structure({**record, "setter": None}, ArrayJournalEntry)
    except Exception:  # a damaged record must not hide the other records
        return None


def _setter_of(record: Mapping[str, Any]) -> tuple[int, str, str] | None:
    pid, start, program = record.get("pid"), record.get("start"), record.get("program")
    return (
        (pid, start, program) if isinstance(pid, int) and isinstance(start, str) and isinstance(program, str) else None
    )
