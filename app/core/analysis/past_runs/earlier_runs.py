"""A run in the history of all sessions: the measured device, the job, and the headline metric. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from app.core.analysis.caveats import blocking_caveats
from app.core.analysis.metric_kinds import FIGURES_BY_KEY, MetricKind, headline, value_of
from app.core.session.events import InventorySeen, RunStarted, SessionStarted
from app.core.session.results import RunResult
from app.core.session.state import RunRecord
from app.core.session.store import LoadedSession
from app.core.session.sweep_record import SweepEnded, SweepResumed, SweepStarted
from backends.identity import Identity
from backends.model import Array, Controller, Drive, Inventory
from backends.values import dataclass

_ALWAYS_OTHER = ("boot_id",)
"""Provenance keys whose values change at each boot without any effect on results."""

Condition = tuple[bool, str, str]
"""Condition of a run: whether it was simulated, its device, and its job.

Runs with the same condition are comparable.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run in the history."""

    session: str
    """Name of the run's session."""
    id: str
    """Id of the run in its session."""
    at: float
    """Start of the run, in seconds since the epoch."""
    host: str
    """Name of the host of the session."""
    simulated: bool
    """Whether the hardware was simulated."""
    thing: str
    """Persistent id of the measured device: its WWN or serial number; without either, host and name."""
    target: str
    """The measured target as shown at the time of the run: an address or a path."""
    workload: str
    """Name of the profile, or the job in one line."""
    profile: str | None
    """Name of the profile; None for a custom job."""
    job: str
    """Fields of the job that are set, as text: `bs=4k iodepth=64`."""
    settings: Mapping[str, str]
    """Values of the settings before the run, by key."""
    around: Mapping[str, str]
    """Other facts that affect results, by provenance key: kernel, firmware, slot and so on."""
    figure: str
    """Key of the headline metric."""
    direction: str
    """Direction of the headline metric: `read`, `write` or `both`."""
    value: float | None
    """Value of the headline metric; None for a run that measured nothing."""
    p99_ns: float | None
    """p99 latency of the slower direction, in nanoseconds; None if there are too few I/Os for it."""
    status: str
    """Status of the run."""
    tried: bool
    """Whether an experiment or a sweep had changed a setting for the run."""
    forbidden: bool = False
    """Whether the state of the array forbids a verdict: a rebuild, a battery learn cycle and so on."""

    @property
    def name(self) -> str:
        """Return the name of the run that every command accepts: `2026-01-31-142500/r3`."""
        return f"{self.session}/{self.id}"

    @property
    def condition(self) -> Condition:
        """Return the condition, which comparable runs share even if their settings differ."""
        return self.simulated, self.thing, self.job

    @property
    def kind(self) -> tuple[str, str]:
        """Return the key of the headline metric and its direction.

        Runs of one job may have different headline metrics: with too few I/Os for a percentile, a lower one is used.
        """
        return self.figure, self.direction

    @property
    def counts(self) -> bool:
        """Return whether the run shows the normal performance of its device.

        For that, it must be complete, without a setting that was only tried, and with the array in a state that allows
        a verdict.
        """
        is_normal = self.status == "ok" and not self.tried and not self.forbidden
        return is_normal and self.value is not None and self.value > 0

    @property
    def about(self) -> MetricKind:
        """Return the headline metric."""
        return FIGURES_BY_KEY[self.figure]


def past_runs(loaded: LoadedSession) -> Iterator[PastRun]:
    """Yield the runs of a session, in order."""
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
                    yield _past_run(record, loaded.folder.name, inventory, host, tried)
            case _:
                pass


def _past_run(record: RunRecord, session: str, inventory: Inventory, host: str, tried: bool) -> PastRun:
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
    """Return the persistent id of the device that a run measures; if it has none, the host and the target's name."""
    where = start.device or start.target
    disk = _lasting_id(inventory, where)
    if disk is None:
        return f"{host} {start.target}"
    if start.scratch is not None:
        return f"{disk}, a file"  # without the file's name, which may differ in each run
    return f"{disk}, {start.target}" if start.target.startswith("/") and start.target != start.device else disk


def device_id_of_target(inventory: Inventory, target: str) -> str | None:
    """Return the persistent id of the device at an address or node, in the form of `PastRun.thing`.

    None if the device has no persistent id or no device node.
    """
    device = inventory.find(target)
    if device is None or isinstance(device, Controller):
        return None
    return None if device.device is None else _lasting_id(inventory, device.device)


def node_of(inventory: Inventory, name: str) -> str | None:
    """Return the device node that now has a persistent id; None if the device is missing or `name` is no such id."""
    nodes = [array.device for array in inventory.arrays if array.device is not None]
    nodes += [drive.device for drive in inventory.drives if drive.device is not None]
    nodes += [f"/dev/{part}" for drive in inventory.drives for part in drive.partitions]
    return next((node for node in nodes if _lasting_id(inventory, node) == name), None)


def _lasting_id(inventory: Inventory, device: str) -> str | None:
    """Return the persistent id of a device; None if it has none.

    The kernel's view of the disk comes first, because it needs neither root nor a vendor's tool.
    """
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
    """Return a unique persistent id; None if another disk has the same id and the same serial number.

    If another disk has only the same id, the serial number is added to it.
    """
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
    """Return the job fields whose value is not the default, in order: `bs=4k iodepth=64`.

    Defaults are left out, so a field that a later version adds does not change the text of older jobs.
    """
    defaults = _default_texts()
    return " ".join(f"{key}={value}" for key, value in sorted(job.items()) if value and value != defaults.get(key))


@cache
def _default_texts() -> Mapping[str, str]:
    from app.core.fio.job import Job  # A command that reads all runs from the index needs no job.

    return Job().texts()


def _p99(figures: RunResult) -> float | None:
    return max(
        (side.latency_ns.p99 for side in figures.transfers if side.latency_ns.p99 is not None),
        default=None,
    )
