"""A run of any session as the history has it: what was measured on which thing, and its headline. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.core.analysis.caveats import blocking_caveats
from app.core.analysis.metric_kinds import FIGURES_BY_KEY, MetricKind, headline, value_of
from app.core.fio.job import Job
from app.core.session.events import InventorySeen, RunStarted, SessionStarted
from app.core.session.results import RunResult
from app.core.session.state import RunRecord
from app.core.session.store import LoadedSession
from app.core.session.sweep_record import SweepEnded, SweepResumed, SweepStarted
from backends.identity import Identity
from backends.model import Array, Controller, Drive, Inventory
from backends.values import dataclass

_NO_JOB = Job().texts()

_ALWAYS_OTHER = ("boot_id",)
"""Of a run's provenance what is another one after each boot and moves nothing by itself."""

Condition = tuple[bool, str, str]
"""Whether it was simulated, the thing, the job: runs that agree in these measured the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One run."""

    session: str
    """Name of its session."""
    id: str
    """Its id there."""
    at: float
    """When it began, seconds since the epoch."""
    host: str
    """Where."""
    simulated: bool
    """Whether the hardware was."""
    thing: str
    """What was measured, by what stays under another name: WWN or serial number; of what has neither, host and name."""
    target: str
    """The same as it was called: an address or a path."""
    workload: str
    """The profile's name, or the job in one line."""
    profile: str | None
    """None for a job of one's own."""
    job: str
    """The fields of the job that say something, `bs=4k iodepth=64`."""
    settings: Mapping[str, str]
    """In force before it."""
    around: Mapping[str, str]
    """What else figures hang on, by the keys of a run's provenance: kernel, firmware, slot and so on."""
    figure: str
    """Key of the headline: what the job is about."""
    direction: str
    """Of which direction that is: `read`, `write` or `both`."""
    value: float | None
    """The headline; None of a run that measured nothing."""
    p99_ns: float | None
    """Of the slower direction; None where too few I/Os carry it."""
    status: str
    """How it ended."""
    tried: bool
    """Whether an experiment or a sweep had set something for it that was put back."""
    forbidden: bool = False
    """Whether the state of the array during it forbids a verdict: a rebuild, a battery that learns and so on."""

    @property
    def name(self) -> str:
        """`2026-01-31-142500/r3`, as every command takes it."""
        return f"{self.session}/{self.id}"

    @property
    def condition(self) -> Condition:
        """What makes runs comparable, whatever the settings were."""
        return self.simulated, self.thing, self.job

    @property
    def kind(self) -> tuple[str, str]:
        """Which figure its headline is: a tail that too few I/Os carry gives way to a lower one."""
        return self.figure, self.direction

    @property
    def counts(self) -> bool:
        """Whether it tells how its thing does: a whole run with what was in force anyway."""
        whole = self.status == "ok" and not self.tried and not self.forbidden
        return whole and self.value is not None and self.value > 0

    @property
    def about(self) -> MetricKind:
        """The kind of its headline."""
        return FIGURES_BY_KEY[self.figure]


def past_runs(loaded: LoadedSession) -> Iterator[PastRun]:
    """The runs of a session, in their order."""
    inventory, host, sweeping = Inventory(), "", False
    for event in loaded.session.events:
        match event:
            case SessionStarted():
                host, sweeping = event.machine.host, False
            case InventorySeen():
                inventory = event.inventory
            case SweepStarted() | SweepResumed():
                sweeping = True
            case SweepEnded():
                sweeping = False
            case RunStarted():
                record = loaded.session.run(event.id)
                if record is not None:
                    tried = sweeping or (event.mark is not None and event.mark.letter != "A")
                    yield _past(record, loaded.folder.name, inventory, host, tried)
            case _:
                pass


def _past(record: RunRecord, session: str, inventory: Inventory, host: str, tried: bool) -> PastRun:
    start, figures = record.start, record.figures
    about, direction = headline((record,))
    return PastRun(
        session=session,
        id=record.id,
        at=start.at,
        host=host,
        simulated=start.simulated,
        thing=device_id_of_run(start, inventory, host),
        target=start.target,
        workload=start.workload,
        profile=start.profile,
        job=job_text(start.job_texts),
        settings=start.settings,
        around={key: text for key, text in record.provenance.items() if key not in _ALWAYS_OTHER},
        figure=about.key,
        direction=direction,
        value=value_of(figures, direction, about),
        p99_ns=_p99(figures),
        status=figures.status.value,
        tried=tried,
        forbidden=bool(blocking_caveats((record,))),
    )


def device_id_of_run(start: RunStarted, inventory: Inventory, host: str) -> str:
    """What a run measures, by what stays under another name; of what has nothing of the kind, its host and name."""
    where = start.device or start.target
    disk = _lasting_id(inventory, where)
    if disk is None:
        return f"{host} {start.target}"
    if start.scratch is not None:
        return f"{disk}, a file"  # its name may be another one in each run
    return f"{disk}, {start.target}" if start.target.startswith("/") and start.target != start.device else disk


def device_id_of_target(inventory: Inventory, target: str) -> str | None:
    """The same of an address or node of an inventory, as runs on it have it; None where only its name tells it."""
    device = inventory.find(target)
    if device is None or isinstance(device, Controller):
        return None
    return None if device.device is None else _lasting_id(inventory, device.device)


def node_of(inventory: Inventory, name: str) -> str | None:
    """Where a thing is now, whatever it was called; None where it is not, or only a name told it."""
    nodes = [array.device for array in inventory.arrays if array.device is not None]
    nodes += [drive.device for drive in inventory.drives if drive.device is not None]
    nodes += [f"/dev/{part}" for drive in inventory.drives for part in drive.partitions]
    return next((node for node in nodes if _lasting_id(inventory, node) == name), None)


def _lasting_id(inventory: Inventory, device: str) -> str | None:
    """The kernel's disk first: it is seen without root and without a vendor's tool, too."""
    for known_device in reversed(inventory.at(device)):
        if known_device.identity is not None and (lasting_id := known_device.identity.lasting) is not None:
            return _unique(inventory, known_device, known_device.identity, lasting_id)
    name = device.removeprefix("/dev/")
    for drive in inventory.drives:
        if name in drive.partitions and drive.device is not None and drive.device != device:
            disk = _lasting_id(inventory, drive.device)
            return None if disk is None else f"{disk}, partition {name.removeprefix(drive.device.rpartition('/')[2])}"
    return None


def _unique(inventory: Inventory, device: Array | Drive, identity: Identity, lasting_id: str) -> str | None:
    """Return a mark with the serial number where another disk has the same mark; None where it has that number, too."""
    nodes = {device.device, *(device.paths if isinstance(device, Drive) else ())}
    others = [
        drive.identity
        for drive in inventory.drives
        if drive.identity is not None and drive.identity.lasting == lasting_id and drive.device not in nodes
    ]
    if not others:
        return lasting_id
    return (
        f"{lasting_id}, serial {identity.serial}"
        if identity.serial and all(map(identity.has_other_serial, others))
        else None
    )


def job_text(job: Mapping[str, str]) -> str:
    """The fields that say something, in order: one that a later version adds changes nothing while it says nothing."""
    return " ".join(f"{key}={value}" for key, value in sorted(job.items()) if value and value != _NO_JOB.get(key))


def _p99(figures: RunResult) -> float | None:
    return max(
        (side.latency_ns.p99 for side in figures.transfers if side.latency_ns.p99 is not None),
        default=None,
    )
