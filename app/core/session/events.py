"""The events of a session. Their sequence is the session."""

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
    TimedEvent,
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
"""Device nodes of device-mapper and of ZFS volumes, which have other numbers after the next boot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """The machine of a session."""

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
    """The kernel's id of this boot; None if there is none."""
    command_line: str | None = None
    """The kernel command line."""
    mitigations: dict[str, str] = field(default_factory=dict)
    """The kernel's report on each CPU vulnerability; some mitigations slow down every I/O."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(TimedEvent):
    """The first line of every log, and another one each time a program continues the log."""

    id: str
    """The session's name."""
    version: str
    """raidbench's version."""
    simulated: bool
    """Whether the hardware is simulated or recorded."""
    machine: MachineFacts
    """The machine."""
    format: int = 1
    """Format of the lines that follow (`backends.formats`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InventorySeen(TimedEvent):
    """Result of a hardware scan."""

    inventory: Inventory
    """All devices found."""
    complete: bool = True
    """False while some backends have not answered yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRan(TimedEvent):
    """A program ran or a file was written."""

    line: str
    """As typed in a shell."""
    mutates: bool
    """Whether it changed something."""
    seconds: float
    """How long it took."""
    returncode: int | None
    """Exit status; None if it did not end."""
    output: str = ""
    """Its output, cleaned and shortened."""
    output_file: str | None = None
    """File with the complete output, relative to the session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeIntended(TimedEvent):
    """A change is about to be made; it is on disk before the first command."""

    id: str
    """Unique in the session: c1, c2, ..."""
    change: Change
    """The change, and how to undo it."""
    undoes: str | None = None
    """The change that this one undoes."""
    boot: str = ""
    """The kernel's boot id: after a reboot, a setting that is lost at reboot needs no undo."""
    trial_until: float | None = None
    """For a trial: when it is reverted unless it is confirmed, in seconds of CLOCK_BOOTTIME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEnded(TimedEvent):
    """The end of a change."""

    id: str
    """The change; "" for a step of a set that had nothing to do, for which nothing is recorded."""
    result: str
    """`verified`, `differs`, `failed`, `restored`, `kept` (after a crash or trial) or `gone` (with its device)."""
    now: str | None
    """Value read back."""
    message: str = ""
    """A sentence if it is not verified, or the tool's message."""
    moved: tuple[MovedSetting, ...] | None = None
    """Other settings that read differently afterwards; None if that is not known."""

    @property
    def was_set(self) -> bool:
        """Return whether a value was set; if not, it already was the requested one."""
        return bool(self.id)

    @property
    def is_reverted(self) -> bool:
        """Return, for an undo, whether nothing of the change is in force."""
        return self.result in ("verified", "restored", "gone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentMark:
    """A run's position in an experiment."""

    experiment: str
    """Its id."""
    letter: str
    """`A`: with the old value; `B`: with the other value."""
    pair: int
    """Counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """A target of a run."""

    target: str
    """As shown: an address or a file path."""
    device: str | None = None
    """Block device below it, `/dev/sda`."""
    scratch: str | None = None
    """The scratch file, which is removed at the end; only a crash leaves it behind."""


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
    """The phase in which it runs, from 1; sections of one phase run at the same time."""
    group: int = 1
    """The group to which its results are added, from 1."""
    starts_s: float | None = 0.0
    """Second of the run of its planned start, ramps included; None after a phase without a run time."""
    planned_seconds: float = 0.0
    """Its ramp and run time."""

    @property
    def text(self) -> str:
        """Return everything that distinguishes it from another section, in one line."""
        return " ".join(f"{key}={text}" for key, text in {**self.job, "phase": str(self.phase)}.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(TimedEvent):
    """A benchmark begins."""

    id: str
    """Unique in the session: r1, r2, ..."""
    target: str
    """As shown: an address or a file path; several targets are separated by commas."""
    device: str | None
    """Block device below it, `/dev/sda`; None for several targets."""
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
    """Signatures on the device whose loss was confirmed."""
    fio_version: str | None = None
    """`3.33`."""
    simulated: bool = False
    """Whether the load is simulated."""
    scratch: str | None = None
    """The scratch file, which is removed at the end; only a crash leaves it behind. None for several targets."""
    mark: ExperimentMark | None = None
    """Its position in an experiment; None for a single run."""
    steady: SteadyPlan | None = None
    """The steady state plan; None if there is none."""
    fills: int = 0
    """How often the target is written completely before the run, to precondition it."""
    provenance: dict[str, str] = field(default_factory=dict)
    """Other facts about the device, collected by `core/benchmark/provenance.py`."""
    targets: tuple[RunTarget, ...] = ()
    """Several targets measured at the same time; empty for one target."""
    sections: tuple[RunSection, ...] = ()
    """The sections of a job that has several; empty for a job of one section.

    `job` then has only the fields that all sections share, and those of the combined job.
    """

    @property
    def workload(self) -> str:
        """Return the profile's name, or the job in one line."""
        return self.profile or self.title

    @property
    def job_texts(self) -> dict[str, str]:
        """Return everything that distinguishes this job from another one: the fields, and a text for each section."""
        return self.job | {f"section {section.name}": section.text for section in self.sections}

    @property
    def all_targets(self) -> tuple[RunTarget, ...]:
        """Return all targets, one or several."""
        return self.targets or (RunTarget(target=self.target, device=self.device, scratch=self.scratch),)

    @property
    def location(self) -> str:
        """Return the device node for users, or the address if the number of the node changes at each boot."""
        return self.target if self.device is None or _NUMBERED.fullmatch(self.device) else self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent(TimedEvent):
    """Progress of a run. It only matters while the run lasts, and is not logged."""

    id: str
    """The run."""
    progress: Progress
    """The new state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(TimedEvent):
    """A benchmark has ended."""

    id: str
    """The run."""
    figures: RunResult
    """Its result."""
    folder: str
    """Folder with fio's raw output, relative to the session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionEnded(TimedEvent):
    """A device or file was written, completely or in part, to be measured in its state of normal use."""

    id: str
    """The run that did it."""
    target: str
    """As shown: an address or a file path."""
    written: PreconditionWritten
    """The bytes written and the job that followed."""
    remembered: bool
    """Whether other sessions will know about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStarted(TimedEvent):
    """One setting is measured in pairs, with its present value and another one."""

    id: str
    """Unique in the session: e1, e2, ..."""
    target: Target
    """The target that has the setting."""
    key: str
    """The setting; "" if the same configuration is measured against itself, so that nothing is set."""
    label: str
    """The setting's label."""
    a: str
    """The present value, which is restored at the end."""
    b: str
    """The other value."""
    order: tuple[str, ...]
    """Letters in the order of the runs; two consecutive ones make a pair."""
    title: str
    """The job in one line."""
    measured: str
    """The measured target as shown: an address or a file path."""
    rest_seconds: float = 0.0
    """Minimum idle time before each run."""
    looks: tuple[InterimAnalysis, ...] = ()
    """The interim analyses."""
    until_percent: float | None = None
    """It ends at an interim analysis whose interval is no wider than this to either side; None to end by verdict."""
    threshold_percent: float | None = None
    """A difference within it counts as none; None for 2 %."""
    seed: int | None = None
    """Seed of the order and the pauses."""
    rule: int
    """The number of the rule that judges it."""

    @property
    def is_null(self) -> bool:
        """Return whether the same configuration was measured against itself."""
        return not self.key

    @property
    def pairs(self) -> int:
        """Return the number of planned pairs."""
        return len(self.order) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentEnded(TimedEvent):
    """An experiment has ended."""

    id: str
    """The experiment."""
    status: RunStatus
    """`ok`: every planned run; `stopped` or `failed`: with the runs so far."""
    restored: bool
    """Whether the setting has its old value again."""
    reason: str = ""
    """A sentence if it is not ok or not restored."""
    sentence: str = ""
    """The verdict in words, as earlier versions recorded it; "" for later ones."""
    verdicts: tuple[RecordedVerdict, ...] = ()
    """The verdicts of its pairs, the headline metric first; empty without a complete pair."""
    moved: dict[str, str] = field(default_factory=dict)
    """Other settings of the target that moved along with it, and how: `256 -> 64`."""
    not_counted: tuple[str, ...] = ()
    """Runs at whose end the setting did not have the value of their letter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineMarked(TimedEvent):
    """A run became the baseline for other runs; None removes the mark."""

    run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded(TimedEvent):
    """The user wrote a note."""

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
    """The output, setting or file that shows it."""
    mends: str = ""
    """The fix, as one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineChecked(TimedEvent):
    """The configuration was checked."""

    findings: tuple[RecordedFinding, ...]
    """The most serious first."""
    rules: int
    """Number of rules that were applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePersisted(TimedEvent):
    """A file that sets values after a reboot was written or removed."""

    target: Target
    path: str
    """The file."""
    values: dict[str, str]
    """The target's persisted settings; empty if they were removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRecorded(TimedEvent):
    """A problem that the session should keep."""

    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(TimedEvent):
    """A program left the session."""

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
    """Return the last check of the configuration; None if there was none. No I/O."""
    return next((event for event in reversed(tuple(events)) if isinstance(event, MachineChecked)), None)
