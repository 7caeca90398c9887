"""The workbench without a terminal: one session on one host, and everything that may be done in it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.engine.changes import Changer
from app.engine.events import (
    AnyEvent,
    BaselineMarked,
    ChangeEnded,
    CommandRan,
    CpuSampled,
    InventorySeen,
    NoteAdded,
    PhaseChanged,
    ProblemMet,
    RulePersisted,
    SampleTaken,
    SessionEnded,
    SessionStarted,
)
from app.engine.fio.load import FioLoad
from app.engine.fio.preflight import Preflight
from app.engine.gate import Gate
from app.engine.journal import Intent, Journal
from app.engine.machine import machine_facts
from app.engine.measure import Measurer, Preparation, Request, Stop
from app.engine.paths import Paths
from app.engine.session import ChangeRecord, RunRecord, Session, fold
from app.engine.store import SessionLog, continuable, load, new_folder
from backends.errors import BlockedError, NotFoundError, RaidbenchError, RefusedError, StorageError
from backends.host import Command, Host
from backends.model import Array, Change, Controller, Drive, Inventory, Problem, Reading, Target
from backends.protocol import CanPersist, PersistRule
from backends.registry import Machine
from backends.settings import Setting
from backends.text import clean_lines
from backends.wrapped import LoggingHost, Ran

Listener = Callable[[Session, AnyEvent], None]

_SHORT_OUTPUT = 2000


def program_version() -> str:
    """The installed version, `0+source` when run from an unbuilt tree."""
    try:
        return version("raidbench")
    except PackageNotFoundError:
        return "0+source"


class Workbench:
    """Probes, changes, undoes and remembers. Events fold into `session`; listeners hear of each."""

    def __init__(self, host: Host, *, paths: Paths | None = None) -> None:
        self.paths = paths or Paths.default()
        self.host: Host = LoggingHost(host, self._heard)
        self.session = Session(simulated=host.simulated)
        self.folder: Path | None = None
        """Where the session lies; None until it is opened."""
        self.storage_problem: StorageError | None = None
        """Why nothing can be recorded any more, and so nothing changed."""
        self.journal = Journal(self.paths.journal)
        self.machine = Machine.of(self.host)
        self._log: SessionLog | None = None
        self._listeners: list[Listener] = []
        self._stop: Stop | None = None
        self._outputs = 0

    # -- the session ---------------------------------------------------------------------------------------

    async def open(self, folder: Path | None = None, *, fresh: bool = True) -> None:
        """Begin a session, or go on with one: `folder`, or the last one used here unless `fresh`.

        Raises StorageError when it cannot be written; then nothing can be changed or measured.
        """
        machine = await machine_facts(self.host)
        self._log = self._open_log(folder, fresh=fresh)
        self.folder = self._log.folder
        try:
            known = load(self.folder)
        except NotFoundError:
            known = None
        if known is not None and known.session.events:
            self.session = known.session
        self.emit(
            SessionStarted(
                at=time.time(),
                id=self.folder.name,
                version=program_version(),
                simulated=self.host.simulated,
                machine=machine,
            )
        )

    def _open_log(self, folder: Path | None, *, fresh: bool) -> SessionLog:
        if folder is not None:
            try:
                return SessionLog(folder)
            except BlockingIOError:
                raise StorageError(
                    f"Another raidbench is writing the session {folder}.", hint="End it there, or choose another."
                ) from None
        if not fresh:
            last = continuable(self.paths.sessions)
            if last is not None:
                try:
                    return SessionLog(last)
                except (BlockingIOError, StorageError):
                    pass
        return SessionLog(new_folder(self.paths.sessions))

    @property
    def recording(self) -> bool:
        """Whether the session is on disk and can be written."""
        return self._log is not None and self.storage_problem is None

    def close(self, reason: str = "left") -> None:
        """Leave the session in good order."""
        if self._log is None:
            return
        with contextlib.suppress(StorageError):
            self.emit(SessionEnded(at=time.time(), reason=reason))
        self._log.close()
        self._log = None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear of every event with the session after it; the answer ends that."""
        self._listeners.append(listener)

        def forget() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return forget

    def emit(self, event: AnyEvent) -> None:
        """Put the event on disk (unless it only matters now), fold it, tell the listeners.

        Raises StorageError: the event is then neither on disk nor in the session.
        """
        live = isinstance(event, PhaseChanged | SampleTaken | CpuSampled) or (
            isinstance(event, InventorySeen) and not event.complete
        )
        if not live and self._log is not None:
            try:
                self._log.append(event)  # type: ignore[arg-type]  # live events were taken out above
            except StorageError as error:
                self.storage_problem = error
                raise
        self.session = fold(self.session, event)
        for listener in tuple(self._listeners):
            listener(self.session, event)

    def _heard(self, ran: Ran) -> None:
        """A command or a write, from the logging host. Not being able to log a read never stops it."""
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

    def _need_recording(self) -> Path:
        if self._log is None or self.folder is None:
            raise StorageError("There is no session to record this in, so nothing was done.")
        if self.storage_problem is not None:
            raise self.storage_problem
        return self.folder

    # -- looking ------------------------------------------------------------------------------------------

    async def probe(self) -> Inventory:
        """Ask every backend at once; what has answered is shown while others still think."""
        so_far = Inventory()

        def told(_name: str, inventory: Inventory) -> None:
            nonlocal so_far
            so_far = so_far.merge(inventory)
            self.emit(InventorySeen(at=time.time(), inventory=so_far, complete=False))

        merged = await self.machine.probe(told)
        seen = InventorySeen(at=time.time(), inventory=merged)
        last = next((e for e in reversed(self.session.events) if isinstance(e, InventorySeen)), None)
        if last is not None and last.inventory == merged and self._log is not None:
            self.session = replace(self.session, inventory=merged, probing=False)
            for listener in tuple(self._listeners):
                listener(self.session, seen)
        else:
            self.emit(seen)
        return merged

    async def find(self, address: str) -> Controller | Array | Drive:
        """The thing an address, a device node or a link to one names.

        Raises NotFoundError naming what is there.
        """
        inventory = self.session.inventory if not self.session.probing else await self.probe()
        found = inventory.find(address)
        if found is None and address.startswith("/"):
            real = await self.host.link(address)
            found = inventory.find(real) if real else None
        if found is None and ":" not in address and "/" not in address:
            found = inventory.find(f"/dev/{address}")
        if found is None:
            things: tuple[Array | Drive, ...] = (*inventory.arrays, *inventory.drives)
            known = [str(thing.target) for thing in things]
            hint = f"There are: {', '.join(known[:12])}." if known else "`raidbench doctor` says why nothing is found."
            raise NotFoundError(f"There is no {address!r} here.", hint=hint)
        return found

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The declared settings of a target."""
        return self.machine.backend(target).settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Their values now."""
        return await self.machine.backend(target).read(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would do."""
        return await self.machine.backend(target).plan(target, key, value)

    # -- changing -----------------------------------------------------------------------------------------

    def _changer(self) -> Changer:
        folder = self._need_recording()
        return Changer(
            backends=self.machine.backends,
            journal=self.journal,
            locks=self.paths.locks,
            folder=folder,
            emit=self.emit,
            next_id=lambda: f"c{len(self.session.changes) + 1}",
        )

    async def apply(self, change: Change) -> ChangeEnded:
        """Make one change. See `Changer.apply`."""
        return await self._changer().apply(change)

    async def undo(self, change_id: str) -> ChangeEnded:
        """Take a change of this session back. See `Changer.undo`.

        Raises NotFoundError for an id that is not in the session, RefusedError, BlockedError, StorageError.
        """
        record = self.session.change(change_id)
        if record is None:
            raise NotFoundError(f"This session has no change {change_id}.", hint="`raidbench undo --list` lists them.")
        if not record.in_force:
            raise NotFoundError(f"Change {change_id} is not in force any more.")
        return await self._changer().undo(record)

    def undoable(self) -> tuple[ChangeRecord, ...]:
        """Changes in force, newest first."""
        return self.session.in_force

    def unresolved(self) -> tuple[Intent, ...]:
        """Changes a crash left in the middle, newest first."""
        return self.journal.unresolved()

    async def recover(self, intent: Intent) -> str:
        """Restore what a crash left. See `Changer.recover`."""
        return await self._changer().recover(intent)

    def keep(self, intent: Intent) -> None:
        """Leave what a crash left as it is and do not ask again.

        Raises StorageError.
        """
        self.journal.outcome(intent.id, Path(intent.session), "kept")

    async def plan_rule(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """The file that would keep `values` after a reboot; an empty mapping takes the target's lines out.

        Raises BlockedError.
        """
        backend = self.machine.backend(target)
        if not isinstance(backend, CanPersist):
            raise BlockedError(f"{target} keeps its settings by itself, or cannot be made to.")
        return await backend.persist(target, values)

    async def install_rule(self, target: Target, rule: PersistRule, values: Mapping[str, str]) -> None:
        """Write the file and make it known.

        Raises StorageError, ToolFailedError, RefusedError.
        """
        self._need_recording()
        self.emit(RulePersisted(at=time.time(), target=target, path=rule.path, values=dict(values)))
        await self.host.install(rule.path, rule.text)
        for argv in rule.reload:
            await self._reload(argv)

    async def _reload(self, argv: Sequence[str]) -> None:
        """Make a rule known; without the tool it is in force at the next boot, which is what was asked."""
        program = self.host.which((argv[0],))
        if program is not None:
            await self.host.run(Command(argv=(program, *argv[1:]), mutates=True))

    # -- measuring ---------------------------------------------------------------------------------------

    def _measurer(self) -> Measurer:
        return Measurer(
            load=FioLoad(self.host),
            preflight=Preflight(self.host),
            gate=Gate(self.host),
            locks=self.paths.locks,
            folder=self._need_recording(),
            emit=self.emit,
        )

    async def prepare(self, request: Request) -> Preparation:
        """What measuring that would do; nothing is touched. See `Measurer.prepare`."""
        return await self._measurer().prepare(request)

    async def measure(self, ready: Preparation, *, confirm: str | None = None) -> RunRecord:
        """Run what was prepared; one run at a time. `stop` ends it in good order.

        Raises RefusedError, StorageError, DeviceGoneError.
        """
        if self._stop is not None:
            raise RefusedError("A job is running already.", hint="Wait for its end, or stop it first.")
        measurer = self._measurer()
        self._stop = Stop()
        run_id = f"r{len(self.session.runs) + 1}"
        try:
            settings = await self._settings_of(ready.device)
            await measurer.measure(run_id, ready, confirm=confirm, settings=settings, stop=self._stop)
        finally:
            self._stop = None
        record = self.session.run(run_id)
        if record is None:
            raise StorageError("The run is over, but the session does not have it.")
        return record

    @property
    def measuring(self) -> bool:
        """Whether a job is being run."""
        return self._stop is not None

    def stop(self) -> None:
        """Ask the running job to end; its figures so far are kept."""
        if self._stop is not None:
            self._stop.event.set()

    async def _settings_of(self, device: str | None) -> dict[str, str]:
        """Values of the settings of a device, for the record of a run; what cannot be read is left out."""
        if device is None:
            return {}
        try:
            inventory = await self.probe() if self.session.probing else self.session.inventory
            thing = inventory.find(device)
            if thing is None:
                return {}
            readings = await self.read(thing.target)
        except RaidbenchError:
            return {}
        return {key: reading.now for key, reading in readings.items() if reading.now is not None}

    # -- remembering --------------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """Write something down. Raises StorageError."""
        self._need_recording()
        self.emit(NoteAdded(at=time.time(), text=text))

    def mark_baseline(self, run_id: str | None) -> None:
        """Show other runs against this one. Raises NotFoundError, StorageError."""
        self._need_recording()
        if run_id is not None and self.session.run(run_id) is None:
            raise NotFoundError(f"This session has no run {run_id}.")
        self.emit(BaselineMarked(at=time.time(), run=run_id))

    def problem(self, where: str, error: RaidbenchError) -> None:
        """Remember that something went wrong; never raises."""
        with contextlib.suppress(StorageError):
            self.emit(ProblemMet(at=time.time(), problem=Problem(where=where, message=error.message, hint=error.hint)))


def lower_priority() -> None:
    """Step behind fio: the workbench runs at nice 5, what it starts at 0 where the user may."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, 5)
