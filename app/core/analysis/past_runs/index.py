"""Index of the runs of all sessions: a cache in SQLite that can be rebuilt from the sessions at any time.

The index is in the state folder. An entry is valid while size, time and inode of the session's log are unchanged. So a
session that has grown is read again, and the entry of a removed session is deleted. A session with a run in progress is
always read again, because a crash does not change its log. If the index cannot be written, it is kept in memory. If it
is damaged, or was written by a newer version, it is rebuilt.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import astuple, fields
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

from app.core.analysis.past_runs.earlier_runs import PastRun, past_runs
from app.core.session import folders, store
from app.core.session.paths import Paths, private_folder
from app.core.session.results import RunStatus
from app.core.session.store import LoadedSession
from backends.errors import RaidbenchError
from backends.formats import FORMATS, FileFormat
from backends.values import dataclass

FORMAT = FORMATS[FileFormat.INDEX]
"""Version of the tables and of the meaning of PastRun's fields; an index of another version is rebuilt."""

_OURS = 0x72624879
"""Value of SQLite's application_id that marks the file as an index of raidbench."""
_UNRELEASED = 0x72624878
"""The value in builds before the first release, whose versions meant other tables."""
_PATIENCE = 5.0
"""Maximum seconds to wait for another process that is writing the index."""
_AT_ONCE = 50
"""Maximum number of sessions written in one transaction, so that other processes wait only briefly."""

_COLUMNS = tuple(field.name for field in fields(PastRun))
_JSON = ("settings", "around")
_TABLES = f"""
CREATE TABLE sessions (name TEXT PRIMARY KEY, size INTEGER, changed INTEGER, inode INTEGER, runs INTEGER) WITHOUT ROWID;
CREATE TABLE runs ({", ".join(_COLUMNS)}, crc, PRIMARY KEY (session, id)) WITHOUT ROWID;
"""
_CANNOT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
    }
)
"""SQLite errors that prevent writing now, but do not mean that the content is damaged."""

DAMAGED = "The index of runs was damaged; it was rebuilt from the sessions."
NEWER = "The index of runs was written by a newer raidbench; it was rebuilt from the sessions."
NOT_WRITTEN = "The index of runs cannot be written ({}). The sessions are read instead, which takes longer."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIndex:
    """The runs of all sessions."""

    runs: tuple[PastRun, ...]
    """All runs, oldest first."""
    notes: tuple[str, ...] = ()
    """Sentences about the index and about sessions that could not be read."""


class _UnreadableError(Exception):
    """The file is not an index that this version can read. The message is for the user; "" for an older index."""


Stamp = tuple[int, int, int]
"""Size, modification time in ns and inode of a session's log."""

_ALWAYS_STALE: Stamp = (-1, 0, 0)
"""Stamp that no log has."""


def index_file(paths: Paths) -> Path:
    """Return the path of the index file."""
    return paths.state / "runs.sqlite3"


def load_past_runs(paths: Paths, extra_sessions: Iterable[LoadedSession] = ()) -> RunIndex:
    """Return the runs of all sessions, and of `extra_sessions`.

    An unreadable session raises no error; a note names it instead.
    """
    notes: list[str] = []
    file = index_file(paths)
    runs: list[PastRun] | None = None
    openers = [_open_index, _open_index, _copy_index, _empty_index]
    while runs is None:
        open_index = openers.pop(0)
        try:
            with closing(open_index(file)) as base:
                runs = _refresh(base, paths.sessions, notes)
        except _UnreadableError as error:
            notes += filter(None, (str(error),))
            _remove(file)
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            if not openers:
                raise
            if open_index is _copy_index:
                continue
            if isinstance(error, OSError) or _is_unwritable(error):
                notes.append(NOT_WRITTEN.format(_error_text(error)))
                openers = [way for way in openers if way is not _open_index]
            else:
                notes.append(DAMAGED)
                _remove(file)
    outside = [session for session in extra_sessions if session.folder.parent.resolve() != paths.sessions.resolve()]
    runs += [run for loaded in outside for run in past_runs(loaded)]
    runs.sort(key=lambda run: (run.at, run.session, run.id))
    return RunIndex(runs=tuple(runs), notes=tuple(dict.fromkeys(notes)))


def _is_unwritable(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _CANNOT


def _error_text(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _remove(file: Path) -> None:
    for path in (file, file.with_name(f"{file.name}-journal")):
        with contextlib.suppress(OSError):
            path.unlink()


def _open_index(file: Path) -> sqlite3.Connection:
    """Return the connection to the index on disk, open for writing. Raises sqlite3.Error, OSError, _UnreadableError."""
    private_folder(file.parent)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{file} is not a file")
    finally:
        os.close(descriptor)
    return _with_tables(sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None))


def _with_tables(base: sqlite3.Connection, copy_of: Path | None = None) -> sqlite3.Connection:
    """Create the tables of an index, and return its connection. On an error, close it and raise sqlite3.Error.

    `copy_of`: an index whose content is copied first.
    """
    try:
        if copy_of is not None:
            address = f"file:{quote(str(copy_of))}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as source:
                source.backup(base)
        _create_tables(base)
    except BaseException:
        base.close()
        raise
    return base


def _create_tables(base: sqlite3.Connection) -> None:
    base.execute("BEGIN IMMEDIATE")
    owner, version = (base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    empty = not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if not empty and (owner, version) != (_OURS, FORMAT):
        foreign = owner not in (_OURS, _UNRELEASED)
        raise _UnreadableError(DAMAGED if foreign else NEWER if owner == _OURS and version > FORMAT else "")
    if empty:
        for statement in _TABLES.split(";"):
            base.execute(statement)
        base.execute(f"PRAGMA application_id = {_OURS}")
        base.execute(f"PRAGMA user_version = {FORMAT}")
    base.execute("COMMIT")


def _copy_index(file: Path) -> sqlite3.Connection:
    """Return a connection to a copy of the index in memory. Raises sqlite3.Error, _UnreadableError."""
    return _with_tables(sqlite3.connect(":memory:", isolation_level=None), copy_of=file)


def _empty_index(_: Path) -> sqlite3.Connection:
    return _with_tables(sqlite3.connect(":memory:", isolation_level=None))


def _refresh(base: sqlite3.Connection, sessions: Path, notes: list[str]) -> list[PastRun]:
    """Update the index from the sessions that changed, and return all runs."""
    stamps = dict(_stamps(sessions))
    stored = {name: stamp for name, *stamp in base.execute("SELECT name, size, changed, inode FROM sessions")}
    gone = [name for name in stored if name not in stamps]
    stale = [name for name, stamp in stamps.items() if stored.get(name) != list(stamp)]
    if gone:
        _write(base, dict.fromkeys(gone), {})
    for at in range(0, len(stale), _AT_ONCE):
        read = {name: _runs_of(sessions / name, notes) for name in stale[at : at + _AT_ONCE]}
        runs = {name: runs for name, runs in read.items() if runs is not None}
        for name, session_runs in runs.items():
            if any(run.status == RunStatus.RUNNING for run in session_runs):
                stamps[name] = _ALWAYS_STALE
        # The stamps were taken before the sessions were read, so a session that grew meanwhile is read again next time.
        _write(base, {name: stamps.get(name) if name in runs else None for name in read}, runs)
    parsed = cache(json.loads)  # most runs have the same settings as the run before, so one result serves many runs
    all_runs = [_run_of_row(row, parsed) for row in base.execute("SELECT * FROM runs")]
    if len(all_runs) != (base.execute("SELECT sum(runs) FROM sessions").fetchone()[0] or 0):
        raise ValueError("runs are missing")
    return all_runs


def _stamps(sessions: Path) -> Iterator[tuple[str, Stamp]]:
    with contextlib.suppress(OSError), os.scandir(sessions) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                info = os.stat(os.path.join(entry.path, folders.LOG))
                if stat.S_ISREG(info.st_mode):
                    yield entry.name, (info.st_size, info.st_mtime_ns, info.st_ino)


def _runs_of(folder: Path, notes: list[str]) -> list[PastRun] | None:
    """Return the runs of a session; None with a note if the session cannot be read."""
    try:
        return list(past_runs(store.load(folder)))
    except RaidbenchError as error:
        notes.append(f"{folder.name}: {error.message}")
        return None


def _write(base: sqlite3.Connection, stamps: Mapping[str, Stamp | None], runs: Mapping[str, list[PastRun]]) -> None:
    """Replace the entries of sessions; a session with the stamp None is removed."""
    names = [(name,) for name in stamps]
    rows = [_row(run) for session_runs in runs.values() for run in session_runs]
    base.execute("BEGIN IMMEDIATE")
    try:
        base.executemany("DELETE FROM runs WHERE session = ?", names)
        base.executemany("DELETE FROM sessions WHERE name = ?", names)
        rows_of_sessions = [(name, *stamp, len(runs[name])) for name, stamp in stamps.items() if stamp is not None]
        base.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", rows_of_sessions)
        base.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * (len(_COLUMNS) + 1))})", rows)
        base.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            base.execute("ROLLBACK")
        raise


def _row(run: PastRun) -> tuple[Any, ...]:
    values = tuple(
        json.dumps(value, sort_keys=True) if name in _JSON else int(value) if isinstance(value, bool) else value
        for name, value in zip(_COLUMNS, astuple(run), strict=True)
    )
    return *values, _checksum(values)


def _checksum(values: tuple[Any, ...]) -> int:
    """Return a checksum of the values, because SQLite detects damaged pages but not damaged values."""
    return crc32(repr(values).encode())


def _run_of_row(row: tuple[Any, ...], parsed: Callable[[str], Any]) -> PastRun:
    """Return the run that a row of the index stores. Raises ValueError if the row differs from its checksum."""
    if _checksum(row[:-1]) != row[-1]:
        raise ValueError("a run differs from what was written")
    values = dict(zip(_COLUMNS, row[:-1], strict=True))
    for name in _JSON:
        values[name] = parsed(values[name])
    for name in ("simulated", "tried", "forbidden"):
        values[name] = bool(values[name])
    return PastRun(**values)
