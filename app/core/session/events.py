"""What happens in a session, as values. The stream of these is the session."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from app.core.session.event_types import (
    InterimAnalysis,
    MovedSetting,
    PreconditionWritten,
    Progress,
    RecordedVerdict,
    SteadyPlan,
)
from app.core.session.results import RunResult, RunStatus
from app.core.session.sweep_record import (
    SweepArrayRefused,
    SweepEnded,
    SweepEvent,
    SweepExtended,
    SweepStarted,
    SweepStepEnded,
)
from backends.change import Change
from backends.model import Inventory, Problem, Target
from backends.values import dataclass

_NUMBERED = re.compile(r"/dev/(?:dm-|zd)\d+")
"""Nodes of device-mapper and of ZFS volumes: the next boot numbers them anew."""


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
    boot_id: str | None = None
    """The kernel's name for this boot; None where it has none."""
    command_line: str | None = None
    """What the kernel was started with."""
    mitigations: dict[str, str] = field(default_factory=dict)
    """What the kernel says of each weakness of the processor; some of it costs time at every I/O."""


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
    format: int = 1
    """Of the lines that follow (`backends.formats`)."""


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
    change: Change
    """What is done, and how it is taken back."""
    undoes: str | None = None
    """The change this one takes back."""
    boot: str = ""
    """The kernel's boot id: a setting that is lost at a reboot needs no undo after one."""
    trial_until: float | None = None
    """For a trial: when it is taken back unless it is kept, in seconds of CLOCK_BOOTTIME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEnded:
    """How a change ended."""

    at: float
    id: str
    """The change; "" of a step of a set that had nothing to do, of which nothing is recorded."""
    result: str
    """`verified`, `differs`, `failed`, `restored`, `kept` (after a crash or trial) or `gone` (with its device)."""
    now: str | None
    """Value read back."""
    message: str = ""
    """A sentence when it is not verified; the tool's own words."""
    moved: tuple[MovedSetting, ...] | None = None
    """What else read otherwise afterwards; None where that is not known."""

    @property
    def was_set(self) -> bool:
        """Whether anything was set: else the value already was the wanted one."""
        return bool(self.id)

    @property
    def is_reverted(self) -> bool:
        """Of an undo: whether nothing of the change stands any more."""
        return self.result in ("verified", "restored", "gone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentMark:
    """A run's place in an experiment."""

    experiment: str
    """Its id."""
    letter: str
    """`A`: as it was before; `B`: with the other value."""
    pair: int
    """Counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """One thing that a run measures."""

    target: str
    """As shown: an address or a file path."""
    device: str | None = None
    """Block device beneath, `/dev/sda`."""
    scratch: str | None = None
    """The scratch file that is removed at the end; left behind only by a crash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSection:
    """One section of a job that has several."""

    name: str
    """Its name, distinct among the sections of the run."""
    job: dict[str, str]
    """Its fields."""
    title: str
    """Its job in one line."""
    phase: int = 1
    """The phase in which it runs, from 1: sections of the same phase run at the same time."""
    group: int = 1
    """The group to which its figures are added, from 1."""
    starts_s: float | None = 0.0
    """The second of the run in which it is planned to start, ramps included; None after a phase without a run time."""
    planned_seconds: float = 0.0
    """Its ramp and run time."""

    @property
    def text(self) -> str:
        """All that tells it from another one, in one line."""
        return " ".join(f"{key}={text}" for key, text in {**self.job, "phase": str(self.phase)}.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A benchmark begins."""

    at: float
    id: str
    """Unique in the session: r1, r2, ..."""
    target: str
    """As shown: an address or a file path; of several at the same time each, with commas between."""
    device: str | None
    """Block device beneath, `/dev/sda`; None of several."""
    profile: str | None
    """Profile's name, None for a custom job."""
    job: dict[str, str]
    """The job's fields."""
    title: str
    """The job in one line."""
    planned_seconds: float
    """Ramp and run time; 0 for a job that only an amount ends."""
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
    """The scratch file that is removed at the end; left behind only by a crash. None of several targets."""
    mark: ExperimentMark | None = None
    """Its place in an experiment, None for a run by itself."""
    steady: SteadyPlan | None = None
    """What was asked for about the steady state; None if nothing."""
    fills: int = 0
    """How often the target is written in full before, to precondition it."""
    provenance: dict[str, str] = field(default_factory=dict)
    """What else was so beneath it, as `core/benchmark/provenance.py` finds it."""
    targets: tuple[RunTarget, ...] = ()
    """Several that are measured at the same time; empty for one."""
    sections: tuple[RunSection, ...] = ()
    """The sections of a job that has several; empty for a job of one. `job` then has
    only what all of them have in common, and what is known of the whole.
    """

    @property
    def workload(self) -> str:
        """The profile's name, or the job in one line."""
        return self.profile or self.title

    @property
    def job_texts(self) -> dict[str, str]:
        """All that tells this job from another one: the fields, and a text for each section."""
        return self.job | {f"section {section.name}": section.text for section in self.sections}

    @property
    def all_targets(self) -> tuple[RunTarget, ...]:
        """All that is measured, one or several."""
        return self.targets or (RunTarget(target=self.target, device=self.device, scratch=self.scratch),)

    @property
    def location(self) -> str:
        """Where it measured, as a person reads it: the node, or the address where that had a number of its boot."""
        return self.target if self.device is None or _NUMBERED.fullmatch(self.device) else self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent:
    """How a run gets on. Only matters while it happens, and is not logged."""

    at: float
    id: str
    """The run."""
    progress: Progress
    """What is so now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A benchmark is over."""

    at: float
    id: str
    """The run."""
    figures: RunResult
    """What it measured and how it ended."""
    folder: str
    """Where fio's raw output lies, below the session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionEnded:
    """A device or file was written in full, or part of it, to be measured as it will be in use."""

    at: float
    id: str
    """The run that did it."""
    target: str
    """As shown: an address or a file path."""
    written: PreconditionWritten
    """How much of what."""
    remembered: bool
    """Whether other sessions will know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStarted:
    """One setting is measured in pairs, as it is and with another value."""

    at: float
    id: str
    """Unique in the session: e1, e2, ..."""
    target: Target
    """What has the setting."""
    key: str
    """The setting; "" of the same set-up against itself, of which nothing is set."""
    label: str
    """The setting for people."""
    a: str
    """The value as it is, and as it will be again."""
    b: str
    """The value that is tried."""
    order: tuple[str, ...]
    """Letters in the order of the runs, two of each pair after another."""
    title: str
    """The job in one line."""
    measured: str
    """What is measured, as shown: an address or a file path."""
    rest_seconds: float = 0.0
    """Idle time before each run, at least."""
    looks: tuple[InterimAnalysis, ...] = ()
    """When it may be decided."""
    until_percent: float | None = None
    """It ends at a look whose interval is no wider than this to either side; None where a verdict ends it."""
    threshold_percent: float | None = None
    """A difference within it is none; None of 2 %."""
    seed: int | None = None
    """What the order and the pauses were drawn from."""
    rule: int
    """The number of the rule that judges it."""

    @property
    def is_null(self) -> bool:
        """Whether the same was measured against itself."""
        return not self.key

    @property
    def pairs(self) -> int:
        """How many were planned at most."""
        return len(self.order) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentEnded:
    """An experiment is over."""

    at: float
    id: str
    """The experiment."""
    status: RunStatus
    """`ok`: every planned run; `stopped` or `failed`: with what is there."""
    restored: bool
    """Whether the setting has its old value again."""
    reason: str = ""
    """A sentence when it is not ok or not restored."""
    sentence: str = ""
    """What its pairs show, of versions that recorded it in words; "" of later ones."""
    verdicts: tuple[RecordedVerdict, ...] = ()
    """What its pairs show, the figure that the job is about first; none without a whole pair."""
    moved: dict[str, str] = field(default_factory=dict)
    """Other settings of the target that moved along with it, and how: `256 -> 64`."""
    not_counted: tuple[str, ...] = ()
    """Runs at the end of which the setting had another value than their letter stands for."""


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
class RecordedFinding:
    """One finding of a check."""

    rule: str
    """Its id."""
    severity: str
    """`note`, `warn` or `fault`."""
    where: str
    """The address of a target, else a device's or a filesystem's name."""
    message: str
    evidence: str
    """The very answer, setting or file that says so."""
    mends: str = ""
    """What mends it, as a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineChecked:
    """The set-up was judged, by what was known of it."""

    at: float
    findings: tuple[RecordedFinding, ...]
    """The gravest first."""
    rules: int
    """How many rules judged."""


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
class ProblemRecorded:
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
    | PreconditionEnded
    | ExperimentStarted
    | ExperimentEnded
    | BaselineMarked
    | NoteAdded
    | MachineChecked
    | RulePersisted
    | ProblemRecorded
    | SessionEnded
    | SweepEvent
)
"""Events on disk."""

AnyEvent = LoggedEvent | LiveEvent
"""Everything that happens."""

DURABLE = (
    ChangeIntended,
    ChangeEnded,
    RunStarted,
    RunEnded,
    PreconditionEnded,
    ExperimentStarted,
    ExperimentEnded,
    RulePersisted,
    SweepStarted,
    SweepExtended,
    SweepStepEnded,
    SweepArrayRefused,
    SweepEnded,
)
"""Events that are fsynced."""


def last_check(events: Iterable[AnyEvent]) -> MachineChecked | None:
    """The last time that the set-up was judged; None where it never was. Pure."""
    return next((event for event in reversed(tuple(events)) if isinstance(event, MachineChecked)), None)
