"""What happens in a session, as values. The stream of these is the session."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.engine.figures import Phase, RunFigures, Sample
from backends.model import Effect, Identity, Inventory, Persistence, Problem, Risk, Target, Write


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """The machine a session runs on."""

    host: str
    """Host name."""
    cpu: str
    """CPU model."""
    cores: int
    """Logical CPUs."""
    memory_bytes: int | None
    """RAM."""
    kernel: str
    """Kernel release."""
    system: str
    """Distribution."""
    root: bool
    """Whether raidbench runs as root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """The first line of every log, and one more each time a program continues it."""

    at: float
    """Seconds since the epoch, as in every event."""
    id: str
    """The session's name."""
    version: str
    """raidbench's version."""
    simulated: bool
    """Whether the hardware is simulated or recorded."""
    machine: MachineFacts
    """Where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InventorySeen:
    """Hardware was looked for."""

    at: float
    inventory: Inventory
    """All that was found."""
    complete: bool = True
    """False while backends are still answering."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRan:
    """A program ran or a file was written."""

    at: float
    line: str
    """As a person would type it."""
    mutates: bool
    """Whether it changed something."""
    seconds: float
    """How long it took."""
    returncode: int | None
    """Exit status; None if it did not come to an end."""
    output: str = ""
    """What it said, cleaned and shortened."""
    output_file: str | None = None
    """Where all of it lies, below the session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeIntended:
    """A change is about to be made: on disk before the first command."""

    at: float
    id: str
    """Unique in the session: c1, c2, ..."""
    target: Target
    """What."""
    key: str
    """Which setting."""
    label: str
    """Its label."""
    before: str | None
    """Value before."""
    after: str
    """Value wanted."""
    writes: tuple[Write, ...]
    """Steps."""
    undo: tuple[Write, ...]
    """Steps back."""
    identity: Identity | None = None
    """The device."""
    risk: Risk = Risk.NONE
    """The worst that may happen."""
    effect: Effect = Effect.AT_ONCE
    """When it takes effect."""
    persistence: Persistence = Persistence.LOST_AT_REBOOT
    """Whether it survives a reboot."""
    undoes: str | None = None
    """The change this one takes back."""
    boot: str = ""
    """The kernel's boot id: a setting that is lost at a reboot needs no undo after one."""
    trial_until: float | None = None
    """For a trial: when it is taken back unless it is kept, in seconds of CLOCK_BOOTTIME."""
    lock: str = ""
    """Name of the lock it takes, "" for the target's own; taking it back takes the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEnded:
    """How a change ended."""

    at: float
    id: str
    """The change."""
    result: str
    """`verified`, `differs`, `failed`, `restored`, `kept` (after a crash or trial) or `gone` (with its device)."""
    now: str | None
    """Value read back."""
    message: str = ""
    """A sentence when it is not verified; the tool's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A benchmark begins."""

    at: float
    id: str
    """Unique in the session: r1, r2, ..."""
    target: str
    """As shown: an address or a file path."""
    device: str | None
    """Block device beneath, `/dev/sda`."""
    profile: str | None
    """Profile's name, None for a custom job."""
    job: dict[str, str]
    """The job's fields."""
    title: str
    """The job in one line."""
    planned_seconds: float
    """Ramp and runtime."""
    settings: dict[str, str] = field(default_factory=dict)
    """Values of the target's settings before the run."""
    destructive: bool = False
    """Whether it overwrites a device."""
    found: tuple[str, ...] = ()
    """What lay on the device and was confirmed to go."""
    fio_version: str | None = None
    """`3.33`."""
    simulated: bool = False
    """Whether the load is simulated."""
    scratch: str | None = None
    """The scratch file that is removed at the end; left behind only by a crash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """The running job entered another phase. Not logged."""

    at: float
    id: str
    """The run."""
    phase: Phase
    """Which."""
    seconds: float | None = None
    """How long the phase will last, None if unknown."""
    message: str = ""
    """A sentence worth showing, such as waiting for outstanding I/O."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTaken:
    """One interval of the running job. Not logged: fio's raw output has it."""

    at: float
    id: str
    """The run."""
    sample: Sample
    """Figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSampled:
    """Processor shares at this moment. Not logged."""

    at: float
    id: str
    """The run."""
    fio_percent_of_core: float | None
    """100 is one core."""
    host_percent: float | None
    """100 is all cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A benchmark is over."""

    at: float
    id: str
    """The run."""
    figures: RunFigures
    """What it measured and how it ended."""
    folder: str
    """Where fio's raw output lies, below the session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineMarked:
    """A run became what others are shown against; None takes the mark away."""

    at: float
    run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded:
    """Somebody wrote something down."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePersisted:
    """A file that keeps settings after a reboot was written or removed."""

    at: float
    target: Target
    path: str
    """The file."""
    values: dict[str, str]
    """The target's kept settings; empty when taken out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemMet:
    """Something went wrong that the session should remember."""

    at: float
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """A program left the session."""

    at: float
    reason: str = "left"
    """`left`, `SIGTERM`, `SIGHUP`, an exception's sentence."""


LoggedEvent = (
    SessionStarted
    | InventorySeen
    | CommandRan
    | ChangeIntended
    | ChangeEnded
    | RunStarted
    | RunEnded
    | BaselineMarked
    | NoteAdded
    | RulePersisted
    | ProblemMet
    | SessionEnded
)
"""Events on disk."""

LiveEvent = PhaseChanged | SampleTaken | CpuSampled
"""Events that only matter while they happen."""

AnyEvent = LoggedEvent | LiveEvent
"""Everything that happens."""

DURABLE = (ChangeIntended, ChangeEnded, RunStarted, RunEnded, RulePersisted)
"""Events that are fsynced."""
