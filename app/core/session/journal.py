r"""The write-ahead journal: the intent to make a change is on disk before its first command.

Each record is one `write` and one `fsync`: `crc32 length JSON\n`. Records are found by their checksums, not by lines.
So a truncated or corrupted record is skipped, and all complete records are kept. The journal outlives sessions: the
next start of raidbench finds the changes that a crash left unresolved.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.core.session.json_codec import structure, unstructure
from app.core.session.paths import private_folder
from app.core.session.trusted_file import is_absent, next_step, open_own, read_own
from app.core.session.unreleased import changes_error
from backends.change import Change
from backends.errors import NewerError, RefusedError, StorageError
from backends.formats import FORMATS, FileFormat, is_newer, is_unreleased, newer_error
from backends.output_file import sync_folder
from backends.processes import process_start
from backends.settings import Persistence, Risk
from backends.values import dataclass
from backends.version import program_version

FILE = "journal.log"
OVERDUE = 20.0
"""If a trial is not reverted this many seconds after its deadline, it counts as left by a crash."""

_ENDS_A_TRIAL = ("kept", "restored", "failed", "conflict", "gone")
_HEAD = re.compile(rb'([0-9a-f]{8}) ([1-9][0-9]{0,8}) (?=\{")')


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeProcess:
    """A program that was about to execute a step of a change."""

    program: str
    """Name of the program, such as `sdparm`."""
    pid: int
    """Its process id."""
    start: str
    """Start time of the process, to detect a reused pid."""
    at: float
    """Time at which the program was started, in seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedChange:
    """An intent in the journal: a change that was about to be made. Whether it was made completely may not be known."""

    id: str
    """The change's id in its session."""
    session: str
    """The session's folder."""
    change: Change
    """The change, and how to undo it."""
    at: float
    """When it was about to be made, in seconds since the epoch."""
    pid: int
    """Id of the process that was about to make the change."""
    boot: str
    """The kernel's boot id when the change was about to be made."""
    start: str
    """Start time of the process `pid`, to detect a reused pid."""
    until: float | None = None
    """For a trial: the time at which it is reverted unless it is confirmed, in seconds of CLOCK_BOOTTIME; else None."""
    setter: ChangeProcess | None = None
    """The program that is executing a step of the change now; None if none is running."""
    uid: int | None = None
    """Id of the user who made the change through the root helper; None if the owner of the journal made it."""

    def is_undecided_within(self, overdue: float = OVERDUE) -> bool:
        """Return whether this is a trial of this boot that is at most `overdue` seconds past its deadline."""
        return self.until is not None and self.boot == boot_id() and boot_clock() < self.until + overdue


_Key = tuple[str, str]
"""Session folder and id of a change."""


@dataclass(slots=True)
class _Entry:
    """The state of one change, as its records in the journal show it."""

    record: Mapping[str, Any]
    """The change's first record, which decides which user owns the change."""
    intent: UnresolvedChange | None
    """The change that the record describes; None if the record's form is unknown."""
    unknown: NewerError | None = None
    """Error for a record of unknown form, which a newer program wrote; None if the form is known."""
    is_unreleased: bool = False
    """Whether a build before the first release wrote the record, so that its form is not read."""
    ended: bool = False
    """Whether the change has ended."""
    results: tuple[str, ...] = ()
    """The outcomes recorded so far."""

    @property
    def owner(self) -> int | None:
        """Return the id of the user who owns the change; None for the owner of the journal."""
        return _user_of(self.record)

    @property
    def is_trial(self) -> bool:
        """Return whether the change is a trial. The field has had one name in all forms of the record."""
        return self.record.get("until") is not None


class Journal:
    """The journal of one folder. Intents and outcomes of changes are on disk before the call that writes them returns.

    Each change id is used once in a session. A change belongs to the user who wrote its first intent; records of other
    users about it are ignored.
    """

    def __init__(self, folder: Path, *, uid: int | None = None) -> None:
        """`uid`: the user on whose behalf records are written; None for the owner of the journal."""
        self._folder = folder
        self._uid = uid

    @property
    def file(self) -> Path:
        """Return the path of the journal."""
        return self._folder / FILE

    def write_intent(self, change_id: str, session: Path, change: Change, *, until: float | None = None) -> None:
        """Record on disk that a change is about to be made.

        With `until` it is a trial, open until confirmed or reverted. The record contains the setting and its old value,
        from which an undo is planned, but no commands. It names the lock, because other processes must wait for a
        program that raidbench left running. For an array that is re-created it lists the members, which no other record
        names once the array is deleted. Raises StorageError if it cannot be written or the id is already used;
        NewerError or UnreleasedError if the journal has open changes of another program, in an unknown form. After
        any error, nothing may be changed.
        """
        entries, key = self._entries(), (str(session), change_id)
        if (unknown := _unreadable_error(self.file, entries)) is not None:
            raise unknown
        record = {
            **unstructure(replace(change, writes=(), undo=(), found=None, risk_text="", risk=Risk.NONE)),
            "kind": "intent",
            "id": change_id,
            "session": str(session),
            "until": until,
            "at": time.time(),
            "pid": os.getpid(),
            "boot": boot_id(),
            "start": process_start(os.getpid()),
        }
        if key in entries and not _may_reuse_id({**record, **self._owner_field}, entries[key]):
            raise _duplicate_id_error(key)
        self._append(record, "Nothing was changed.")
        entry = self._entries().get(key)
        if entry is None:
            raise _write_error(
                self.file, OSError(errno.EIO, "the record cannot be read after writing it"), "Nothing was changed."
            )
        if any(entry.record.get(name) != record[name] for name in ("at", "pid", "start")):
            raise _duplicate_id_error(key)  # another process wrote this id between the two reads

    def write_setter(self, change_id: str, session: Path, pid: int, program: str) -> None:
        """Record on disk which process is about to execute a step of a change.

        Raises StorageError: then the process must not start.
        """
        self._append(
            {
                "kind": "setter",
                "id": change_id,
                "session": str(session),
                "program": program,
                "pid": pid,
                "start": process_start(pid),
                "at": time.time(),
            },
            f"{program} was not started.",
        )

    def write_outcome(self, change_id: str, session: Path, result: str) -> None:
        """Record on disk how a change ended: `verified`, `differs`, `failed`, `restored`, `kept`, `conflict`, `gone`.

        Raises StorageError if that cannot be written.
        """
        self._append(
            {"kind": "outcome", "id": change_id, "session": str(session), "result": result},
            f"The end of the change {change_id} ({result}) is not recorded.",
        )

    def is_decided(self, intent: UnresolvedChange) -> bool:
        """Return whether the journal shows that a trial was confirmed, reverted or abandoned. Never raises.

        Returns False if there is no journal.
        """
        end = False
        for record in read_records(self.file):
            if _key(record) != (intent.session, intent.id):
                continue
            if record.get("kind") == "intent" and (record.get("at"), record.get("pid")) == (intent.at, intent.pid):
                end = False
            elif record.get("kind") == "outcome" and _may_write(record, intent.uid or None):
                end = end or record.get("result") in _ENDS_A_TRIAL
        return end

    def is_new(self, change_id: str, session: Path, result: str) -> bool:
        """Return whether the journal has neither this outcome of a change nor the end of the change. Never raises."""
        entry = self._entries().get((str(session), change_id))
        return entry is None or not (entry.ended or result in entry.results)

    def given_ids(self, session: Path) -> frozenset[str]:
        """Return the ids that the changes of a session already use, including those of other users. Never raises."""
        return frozenset(change_id for folder, change_id in self._entries() if folder == str(session))

    def restored_ids(self, session: Path) -> frozenset[str]:
        """Return the ids of a session's changes that a watchdog or `recover` has restored. Never raises."""
        entries = self._entries().items()
        return frozenset(
            id for (of, id), entry in entries if of == str(session) and entry.results[-1:] == ("restored",)
        )

    def is_ours(self, change: UnresolvedChange) -> bool:
        """Return whether this user may confirm or revert a change. In the user's own journal, this is always True."""
        return True

    def read_error(self) -> StorageError | None:
        """Return the error of reading the journal; None if it is readable or does not exist. Never raises."""
        try:
            os.close(open_own(self.file, os.O_RDONLY))
        except FileNotFoundError:
            pass
        except OSError as error:
            message = f"The journal cannot be read: {error.strerror or error}."
            return StorageError(message, hint=next_step(error, self.file), evidence=str(error))
        return None

    def write_error(self) -> StorageError | None:
        """Return the error that writing the journal would raise, or None. Writes nothing. Never raises."""
        try:
            os.close(open_own(self.file, os.O_RDWR | os.O_APPEND))
        except FileNotFoundError:
            nearest = next(folder for folder in self.file.absolute().parents if not is_absent(folder))
            if not os.access(nearest, os.W_OK | os.X_OK):
                return _write_error(self.file, PermissionError(errno.EACCES, f"no permission to write to {nearest}"))
        except OSError as error:
            return _write_error(self.file, error)
        return None

    def unresolved(self) -> tuple[UnresolvedChange, ...]:
        """Return the changes without a recorded end whose process is gone, newest first. Never raises.

        A change of a setting that is lost at reboot is no longer open after a reboot.
        """
        boot = boot_id()
        return tuple(
            intent
            for intent in self._newest_open_first()
            if not _is_attended(intent, boot)
            and not (boot and intent.boot != boot and intent.change.persistence is Persistence.LOST_AT_REBOOT)
        )

    def left_running(self) -> tuple[UnresolvedChange, ...]:
        """Return the changes that a program is still making although the raidbench that started it is gone.

        The newest change is first. Never raises.
        """
        return tuple(
            intent
            for intent in self._newest_open_first()
            if intent.setter is not None and not is_running(intent.pid, intent.start)
        )

    def trials_of(self, session: Path, until: float) -> tuple[UnresolvedChange, ...]:
        """Return the undecided trials of a session with the deadline `until`, newest first. Never raises.

        They are returned however long ago the deadline was.
        """
        trial_set = str(session), until
        return tuple(change for change in self._newest_open_first() if (change.session, change.until) == trial_set)

    def trials(self) -> tuple[UnresolvedChange, ...]:
        """Return the undecided trials of this boot, newest first. Never raises."""
        return self.trials_within(OVERDUE)

    def trials_within(self, overdue: float) -> tuple[UnresolvedChange, ...]:
        """Return the undecided trials of this boot, newest first, up to `overdue` seconds after their deadline.

        A watchdog may have to wait before it can revert a trial.
        """
        return tuple(intent for intent in self._newest_open_first() if intent.is_undecided_within(overdue))

    def unreadable_error(self) -> RefusedError | None:
        """Return the error about open changes in an unknown form; None if there are none. Never raises.

        It is a NewerError if a newer program recorded them, UnreleasedError for a build before the first release.
        """
        return _unreadable_error(self.file, self._entries())

    def intent_of(self, change_id: str, session: Path) -> UnresolvedChange | None:
        """Return a change as recorded before it was made, whether it has ended or not; None if unknown.

        Never raises.
        """
        entry = self._entries().get((str(session), change_id))
        return None if entry is None else entry.intent

    def _newest_open_first(self) -> Iterator[UnresolvedChange]:
        """Yield the open changes, the last one in the file first. Times give no order, because clocks may be set.

        A trial is open until it is confirmed, reverted or has failed.
        """
        for entry in reversed(self._entries().values()):
            if entry.intent is not None and not entry.ended:
                yield entry.intent

    def _entries(self) -> dict[_Key, _Entry]:
        """Return the state of each change in the journal by (session, id), in the order of the file. Never raises."""
        entries: dict[_Key, _Entry] = {}
        for record in read_records(self.file):
            key, kind = _key(record), record.get("kind")
            entry = entries.get(key)
            if entry is not None and not _may_write(record, entry.owner):
                continue
            if kind == "outcome":
                if entry is not None:
                    _apply_outcome(entry, record)
            elif is_newer(FileFormat.JOURNAL, record.get("format")):
                unknown = newer_error(
                    FileFormat.JOURNAL,
                    record.get("format"),
                    record.get("by"),
                    f"An open change of {Path(key[0]).name}",
                )
                first = record if entry is None else entry.record
                entries[key] = _Entry(record=first, intent=None, unknown=unknown)
            elif is_unreleased(record.get("by")):
                if kind != "setter" and (entry is None or _may_reuse_id(record, entry)):
                    entries.pop(key, None)
                    entries[key] = _Entry(record=record, intent=None, is_unreleased=True)
            elif kind == "intent" and (entry is None or _may_reuse_id(record, entry)):
                entries.pop(key, None)
                entries[key] = _Entry(record=record, intent=_open_change(record))
            elif kind == "setter" and entry is not None and entry.intent is not None:
                entry.intent = replace(entry.intent, setter=_running_process(record, entry.intent.boot))
        return entries

    @property
    def _owner_field(self) -> Mapping[str, int]:
        """Return the record field that names the user on whose behalf this process writes; {} if there is none."""
        return {} if self._uid is None else {"uid": self._uid}

    def _append(self, record: Mapping[str, Any], otherwise: str) -> None:
        append_record(self.file, FileFormat.JOURNAL, {**record, **self._owner_field}, otherwise)


def _unreadable_error(file: Path, entries: Mapping[_Key, _Entry]) -> RefusedError | None:
    newer = next((entry.unknown for entry in entries.values() if entry.unknown is not None), None)
    if newer is not None:
        return newer
    older = [entry.record for entry in entries.values() if entry.is_unreleased and not entry.ended]
    left = [record for record in older if not _is_reverted_by_reboot(record)]
    return changes_error(file, left) if left else None


def _is_reverted_by_reboot(record: Mapping[str, Any]) -> bool:
    """Return whether a reboot has certainly reverted the change of a record, because its setting is lost then."""
    intent, boot = _open_change(record), boot_id()
    if intent is None or not boot or intent.boot == boot:
        return False
    return intent.change.persistence is Persistence.LOST_AT_REBOOT


def _key(record: Mapping[str, Any]) -> _Key:
    return str(record.get("session")), str(record.get("id"))


def _user_of(record: Mapping[str, Any]) -> int | None:
    """Return the id of the user for whom a record was written; None for root or the journal's owner, -1 if invalid."""
    uid = record.get("uid")
    return None if uid in (None, 0) else (uid if type(uid) is int else -1)


def _may_write(record: Mapping[str, Any], owner: int | None) -> bool:
    """Return whether a record about a change that belongs to the user `owner` is valid.

    Its writer must be that user, root, or the owner of the journal.
    """
    return _user_of(record) in (None, owner)


def _may_reuse_id(record: Mapping[str, Any], entry: _Entry) -> bool:
    """Return whether an intent may use the id of an earlier change again.

    This is permitted only in the user's own journal and once the earlier change has ended. It occurs if the session
    folder was removed and created again.
    """
    return entry.ended and entry.owner is None and _user_of(record) is None


def _apply_outcome(entry: _Entry, record: Mapping[str, Any]) -> None:
    """Update a change's state by an outcome record.

    The outcome ends the change, except a trial that is still undecided.
    """
    result = str(record.get("result"))
    entry.results += (result,)
    if not entry.is_trial or result in _ENDS_A_TRIAL:
        entry.ended = True
        entry.unknown = None


def _duplicate_id_error(key: _Key) -> StorageError:
    return StorageError(
        f"The session {Path(key[0]).name} already has a different change {key[1]}. Nothing was changed.",
        hint="Make the change again: it then gets the next number.",
    )


def append_record(file: Path, kept: FileFormat, record: Mapping[str, Any], otherwise: str) -> None:
    """Append a record to a file and wait until it is on disk. Raises StorageError.

    `otherwise`: sentence for that error, about what was not done because the record is missing.
    """
    written = {**record, "format": FORMATS[kept], "by": program_version()}
    body = json.dumps(written, separators=(",", ":")).encode()
    line = b"%08x %d %s\n" % (zlib.crc32(body), len(body), body)
    try:
        new = is_absent(file)
        private_folder(file.parent)
        descriptor = open_own(file, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # end the line of an incomplete record first
            if os.write(descriptor, line) != len(line):
                raise OSError(28, "No space left on device")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if new:
            sync_folder(file.parent)
    except OSError as error:
        raise _write_error(file, error, otherwise) from error


def _write_error(file: Path, error: OSError, otherwise: str = "") -> StorageError:
    return StorageError(
        f"The journal cannot be written: {error.strerror or error}. {otherwise}".rstrip(),
        hint=next_step(error, file),
        evidence=str(error),
    )


def read_records(file: Path) -> list[dict[str, Any]]:
    """Return all complete records of a file, without damaged ones. A missing or untrusted file has no records."""
    try:
        data = read_own(file)
    except OSError:
        return []
    records: list[dict[str, Any]] = []
    at = 0
    while head := _HEAD.search(data, at):
        at = head.start() + 1
        body = data[head.end() : head.end() + int(head[2])]
        if len(body) != int(head[2]) or zlib.crc32(body) != int(head[1], 16):
            continue
        at = head.end() + len(body)
        try:
            record = json.loads(body)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def _open_change(record: Mapping[str, Any]) -> UnresolvedChange | None:
    """Return the change that an intent record describes; None if the form of the record is unknown."""
    try:
        return structure({**record, "change": record}, UnresolvedChange)
    except Exception:  # one damaged record must not make the others unreadable
        return None


def _running_process(record: Mapping[str, Any], boot: str) -> ChangeProcess | None:
    """Return the program that a record names, if its process is still running; else None."""
    try:
        setter = structure(dict(record), ChangeProcess)
    except Exception:  # one damaged record must not make the others unreadable, as in `_open_change`
        return None
    return setter if boot == boot_id() and is_running(setter.pid, setter.start) else None


def boot_id() -> str:
    """Return the kernel's id of this boot; "" if there is none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def is_running(pid: int, start: str) -> bool:
    """Return whether the process that had this pid at this start time is running. A later process does not count."""
    return bool(start) and process_start(pid) == start


def boot_clock() -> float:
    """Return the seconds since boot, including sleep. Setting the clock does not affect them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _is_attended(intent: UnresolvedChange, boot: str) -> bool:
    """Return whether a process still takes care of the change: the one that makes it, or the watchdog of a trial."""
    if intent.boot != boot:
        return False
    if intent.until is not None:
        return boot_clock() < intent.until + OVERDUE
    return is_running(intent.pid, intent.start)
