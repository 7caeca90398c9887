"""Sessions on disk: each has a folder with `session.jsonl` and the output of programs."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path

from app.core.session import event_codec
from app.core.session.events import DURABLE, LoggedEvent, SessionStarted
from app.core.session.folders import LOG, session_folders
from app.core.session.paths import Paths, private_folder
from app.core.session.state import Session, replay
from app.core.session.trusted_file import UntrustedFileError, next_step, open_own, open_regular, read_regular
from backends.errors import NotFoundError, StorageError
from backends.formats import FORMATS, FileFormat, is_unreleased, require_known
from backends.values import dataclass

_LONGEST_LINE = 65536
_COARSEST = 2_000_000_000
"""Smallest difference in ns between two time stamps that every filesystem keeps. vfat stores only even seconds."""

CONTINUE_WITHIN = 12 * 3600.0
"""Maximum age in seconds, since its last use, of a session that the next command on the same machine continues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSession:
    """A session read from disk."""

    folder: Path
    """Folder from which the session was read."""
    session: Session
    """State of the session."""
    passed_over: int
    """Number of skipped lines: truncated, damaged or of an unknown kind."""
    archive: Path | None = None
    """The archive from which the session was unpacked; None for a session in its own folder."""

    redacted: bool = False
    """Whether identifiers were replaced by pseudonyms, which match no device or machine of another session."""

    @property
    def display_path(self) -> str:
        """Return the path of the archive, or of the folder, to be shown."""
        return str(self.archive or self.folder)


class SessionLog:
    """Appends events to a log. It locks the folder, so that only one program writes a session at a time."""

    def __init__(self, folder: Path, *, among: Path | None = None) -> None:
        """Open the log of a session. Raises StorageError; BlockingIOError if another program is writing the session.

        `among`: the folder of all sessions. If this session is in it, it becomes the last used one there.
        """
        self.folder = folder
        self._among = among if folder.parent == among else None
        self._least: int | None = None
        try:
            private_folder(folder)
            self._descriptor = open_own(folder / LOG, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise _write_error(folder, error) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise
        except OSError as error:  # a network filesystem that does not support locks
            os.close(self._descriptor)
            raise _write_error(folder, error) from error
        size = os.fstat(self._descriptor).st_size
        self._torn = bool(size) and os.pread(self._descriptor, 1, size - 1) != b"\n"

    def append(self, event: LoggedEvent) -> None:
        """Append an event as one line. The events in `DURABLE` are on disk before the call returns.

        Raises StorageError if the event cannot be written.
        """
        line = event_codec.encode(event).encode() + b"\n"
        if self._torn:
            line = b"\n" + line
        try:
            written = os.write(self._descriptor, line)
            if written != len(line):
                self._torn = True
                raise OSError(28, "No space left on device")
            self._torn = False
            if isinstance(event, DURABLE):
                os.fsync(self._descriptor)
            self._keep_order()
        except OSError as error:
            raise _write_error(self.folder, error) from error

    def _keep_order(self) -> None:
        """Keep the log's time stamp later than those of older sessions, even if the clock was set back."""
        if self._least is None:
            self._least = 0 if self._among is None else _time_after_others(self._among, self.folder)
        with contextlib.suppress(OSError):  # if the filesystem cannot set times, the clock gives the order
            now = os.fstat(self._descriptor).st_mtime_ns
            if now < self._least:
                os.utime(self._descriptor, ns=(self._least, self._least))
            self._least = max(now, self._least)

    def close(self) -> None:
        """Close the log and release the lock of the folder."""
        with contextlib.suppress(OSError):
            fcntl.flock(
                self._descriptor, fcntl.LOCK_UN
            )  # close() would not release it: a child before exec has a copy of the descriptor
            os.close(self._descriptor)
        self._descriptor = -1  # the number of the closed descriptor may be reused for another file


def _time_after_others(sessions: Path, folder: Path) -> int:
    """Return the time stamp in ns that makes a session the last used one; 0 if the current time already does."""
    try:
        logs = [other / LOG for other in sessions.iterdir() if other != folder]
    except OSError:
        return 0
    latest_time = 0
    for log in logs:
        with contextlib.suppress(OSError):
            latest_time = max(latest_time, log.stat().st_mtime_ns)
    return latest_time + _COARSEST if latest_time > time.time_ns() else 0


def _write_error(folder: Path, error: OSError) -> StorageError:
    hint = next_step(error, folder)
    if not isinstance(error, UntrustedFileError):
        hint += " To keep this session in another folder, use `--session DIR`."
    return StorageError(
        f"The session cannot be written: {error.strerror or error}.",
        hint=hint,
        evidence=str(error),
    )


def load(folder: Path, *, unreleased: bool = False) -> LoadedSession:
    """Return the session in a folder. A run without an end is in progress only while a process writes the session.

    `unreleased`: read what can be read of a session that a build before the first release wrote, to report it.

    Raises NotFoundError if there is none, NewerError if a newer program wrote a part of it, UnreleasedError for a build
    before the first release, StorageError if it cannot be read.
    """
    file = folder / LOG
    try:
        text = read_regular(file).decode("utf-8", "replace")
    except FileNotFoundError:
        raise NotFoundError(
            f"{folder} does not contain a session.", hint=("`raidbench log --list` lists the sessions.")
        ) from None
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}.", evidence=str(error)) from error
    events: list[LoggedEvent] = []
    passed_over = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        if not unreleased and (origin := event_codec.read_origin(line)) is not None:
            require_known(FileFormat.SESSION, *origin, f"The session {folder.name}")
        event = event_codec.decode(line)
        if event is None:
            passed_over += 1
        else:
            events.append(event)
    session = replay(events)
    if session.active is not None and not is_being_written(folder):
        session = session.without_active()
    return LoadedSession(folder=folder, session=session, passed_over=passed_over)


def is_being_written(folder: Path) -> bool:
    """Return whether a process, this one included, is writing the session now. Never raises."""
    try:
        with open_regular(folder / LOG) as log:
            # A shared lock suffices: a writer's exclusive lock refuses it, and other readers do not.
            fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(log, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def create_session_folder(root: Path) -> Path:
    """Create and return a new session folder. Its name is the time, with a number if that name exists already.

    The folder is created at once, so that no other process can use the same name. Raises StorageError if it cannot be
    created.
    """
    try:
        private_folder(root)
        folder = base = root / time.strftime("%Y-%m-%d-%H%M%S")
        number = 1
        while True:
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                return folder
            number += 1
            folder = base.with_name(f"{base.name}-{number}")
    except OSError as error:
        raise _write_error(root, error) from error


def latest_session(paths: Paths) -> Path | None:
    """Return the folder of the session that was used last; None if there is none.

    Sessions of builds before the first release do not count, because they are not read.
    """
    return next((folder for folder in session_folders(paths) if unreleased_writer(folder) is None), None)


def unreleased_writer(folder: Path) -> str | None:
    """Return the version of the build before the first release that began a session; None for any other session.

    Never raises. It is "" if the session does not name the version.
    """
    try:
        with open_regular(folder / LOG) as lines:
            first = lines.readline(_LONGEST_LINE).decode("utf-8", "replace")
        origin = event_codec.read_origin(first)
        if origin is None:
            return "" if json.loads(first).get("event") == "session-started" else None
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
    program = origin[1]
    return (program if isinstance(program, str) else "") if is_unreleased(program) else None


def find_continuable(paths: Paths, *, host: str, simulated: bool) -> Path | None:
    """Return the folder of this machine's last session if it is recent enough to be continued; else None."""
    ours = FORMATS[FileFormat.SESSION]
    for folder in session_folders(paths):
        age = _age(folder)
        if age is None or not 0 <= age < CONTINUE_WITHIN:
            continue
        begun = read_start(folder)
        # Do not continue a session whose log has another format: the log would then mix two formats.
        if begun is None or is_unreleased(begun.version):
            continue
        if (begun.machine.host, begun.simulated, begun.format) == (host, simulated, ours):
            return folder
    return None


def _age(folder: Path) -> float | None:
    """Return the seconds since a session was last used; None if it has no log.

    If the time stamp of the log is ahead of the clock, it was set only to order sessions. The inode's change time,
    which no program can set, is then used instead.
    """
    try:
        info = (folder / LOG).stat()
    except OSError:
        return None
    now = time.time()
    return now - (info.st_mtime if info.st_mtime <= now else info.st_ctime)


def read_start(folder: Path) -> SessionStarted | None:
    """Return the first event of a log, or None if it is unreadable."""
    try:
        with open_regular(folder / LOG) as lines:
            event = event_codec.decode(lines.readline(_LONGEST_LINE).decode("utf-8", "replace"))
    except OSError:
        return None
    return event if isinstance(event, SessionStarted) else None
