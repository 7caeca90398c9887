"""Recorder of a session: writes events to disk, updates the session's state, and informs listeners."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from app.core.session.events import AnyEvent, CommandRan, InventorySeen, LiveEvent, SessionEnded, SessionStarted
from app.core.session.locks import LockPlace
from app.core.session.machine import machine_facts
from app.core.session.paths import Paths
from app.core.session.state import Session, fold
from app.core.session.store import SessionLog, create_session_folder, find_continuable, load, read_start
from backends.errors import NotFoundError, RaidbenchError, StorageError
from backends.formats import FORMATS, FileFormat
from backends.host import Host
from backends.system.timeout_memory import with_timeout_memory
from backends.system.wrapped import ExecutedCommand, LoggingHost
from backends.text import clean, clean_lines
from backends.version import program_version

Listener = Callable[[Session, AnyEvent], None]

_SHORT_OUTPUT = 2000


class Recorder:
    """Records the session of one host: in memory at first, on disk once it is open."""

    def __init__(self, host: Host, *, paths: Paths | None = None) -> None:
        self.paths = Paths.of_host(host) if paths is None else paths.for_host(host)
        """Folders of the host."""
        self.host: Host = with_timeout_memory(LoggingHost(host, self._record_command))
        """The host. Its commands are recorded, and a device that timed out is not queried again for a while."""
        self.endurance_ratings: Mapping[str, float] = {}
        """Rated endurance of drives in terabytes, by model, from the configuration."""
        self.simulated = host.simulated
        """Whether the host is simulated or recorded."""
        self.session = Session(simulated=self.simulated)
        """The current state of the session."""
        self.folder: Path | None = None
        """Folder of the session; None until it is opened."""
        self.storage_problem: StorageError | None = None
        """Error that prevents recording the session, so that nothing may be changed; None if there is none."""
        self._log: SessionLog | None = None
        self._listeners: list[Listener] = []
        self._outputs = 0

    @property
    def locks(self) -> LockPlace:
        """Return where the locks for the host's devices are: a folder, or the root helper."""
        return self.host.root_side or self.paths.locks

    async def open(self, folder: Path | None = None, *, fresh: bool = True) -> None:
        """Open the session in `folder`. If it is None, open a new one, or unless `fresh` a recent one of this machine.

        Raises NewerError or UnreleasedError if another program wrote the session in an unknown form, StorageError if it
        cannot be written. After an error, nothing can be changed or measured.
        """
        machine = await machine_facts(self.host)
        self._log = self._open_log(folder, fresh=fresh)
        self.folder = self._log.folder
        try:
            loaded = load(self.folder)
        except NotFoundError:
            loaded = None
        except RaidbenchError:  # never append to an unreadable log
            self._log.close()
            self._log = None
            raise
        # Scans from before the session was opened are not in its log, so they must not be in its state either.
        self.session = loaded.session if loaded is not None else Session(simulated=self.simulated)
        self.emit(
            SessionStarted(
                at=time.time(),
                id=self.folder.name,
                version=program_version(),
                simulated=self.simulated,
                machine=machine,
                format=FORMATS[FileFormat.SESSION],
            )
        )

    def _open_log(self, folder: Path | None, *, fresh: bool) -> SessionLog:
        if folder is not None:
            self._require_its_machine(folder)
            try:
                return SessionLog(folder, among=self.paths.sessions)
            except BlockingIOError:
                raise StorageError(
                    f"Another raidbench is writing to the session {folder}.",
                    hint=("Stop the other raidbench, or use another session."),
                ) from None
        if not fresh:
            last = find_continuable(self.paths, host=self.host.name, simulated=self.simulated)
            if last is not None:
                try:
                    return SessionLog(last, among=self.paths.sessions)
                except (BlockingIOError, StorageError):
                    pass
        return SessionLog(create_session_folder(self.paths.sessions), among=self.paths.sessions)

    def _require_its_machine(self, folder: Path) -> None:
        """Raise StorageError if the session was recorded on another machine and either is simulated or recorded."""
        begun = read_start(folder)
        if begun is None or (begun.simulated, begun.machine.host if self.simulated else "") == (
            self.simulated,
            self.host.name if self.simulated else "",
        ):
            return
        kind = "simulated or recorded " if begun.simulated else ""
        raise StorageError(
            f"The session {folder.name} belongs to the {kind}machine {clean(begun.machine.host, 64)}.",
            hint="Start raidbench for that machine, or use another session.",
        )

    @property
    def recording(self) -> bool:
        """Return whether the session is on disk and writable."""
        return self._log is not None and self.storage_problem is None

    def close(self, reason: str = "left") -> None:
        """Record the end of the session with its reason (`SessionEnded.reason`), and close the log."""
        if self._log is None:
            return
        with contextlib.suppress(StorageError):
            self.emit(SessionEnded(at=time.time(), reason=reason))
        self._log.close()
        self._log = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with the session and the event after every later event.

        Return a function that unsubscribes the listener.
        """
        self._listeners.append(listener)

        def forget() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return forget

    def emit(self, event: AnyEvent) -> None:
        """Write an event to disk (unless it is live), update the session, and call the listeners.

        Raises StorageError: the event is then neither on disk nor in the session.
        """
        live = isinstance(event, LiveEvent) or (isinstance(event, InventorySeen) and not event.complete)
        if not live and self._log is not None:
            try:
                self._log.append(event)  # type: ignore[arg-type]  # live events were taken out above
            except StorageError as error:
                self.storage_problem = error
                raise
        self.replay_to_listeners(fold(self.session, event), event)

    @property
    def is_open(self) -> bool:
        """Return whether a session is open, so that events are written to disk."""
        return self._log is not None

    def replay_to_listeners(self, session: Session, event: AnyEvent) -> None:
        """Replace the session's state by `session`, and call the listeners with `event`. Writes nothing to the log."""
        self.session = session
        for listener in tuple(self._listeners):
            listener(self.session, event)

    def _record_command(self, ran: ExecutedCommand) -> None:
        """Record a command that ran or a file that was written on the host.

        If the session cannot be written, no error is raised, because the command has run already.
        """
        text = "\n".join(filter(None, (ran.stdout, ran.stderr)))
        file = None
        if self.folder is not None and len(text) > _SHORT_OUTPUT:
            self._outputs += 1
            file = f"output/{int(ran.started * 1000)}-{self._outputs}.txt"
            try:
                (self.folder / "output").mkdir(mode=0o700, exist_ok=True)
                (self.folder / file).write_text(text, encoding="utf-8", errors="replace")
            except OSError:
                file = None
        with contextlib.suppress(StorageError):
            self.emit(
                CommandRan(
                    at=ran.started,
                    line=ran.line,
                    mutates=ran.mutates,
                    seconds=ran.seconds,
                    returncode=ran.returncode,
                    output=clean_lines(text, 40)[:_SHORT_OUTPUT],
                    output_file=file,
                )
            )

    def require_recording(self) -> Path:
        """Return the session's folder. Raises StorageError if no session is open or it cannot be written."""
        if self._log is None or self.folder is None:
            raise StorageError("No session is open, so this could not be recorded. Nothing was done.")
        if self.storage_problem is not None:
            raise self.storage_problem
        return self.folder
