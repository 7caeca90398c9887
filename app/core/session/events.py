"""The events of a session. A session consists of the sequence of its events."""

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
"""Device nodes of device-mapper and of ZFS volumes. Their numbers may differ after the next boot."""


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
    """What the kernel reports about each CPU vulnerability. Some mitigations slow down every I/O."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(TimedEvent):
    """A program begins to write a log, or continues it. The first line of every log is such an event."""

    id: str
    """The session's name."""
    version: str
    """raidbench's version."""
    simulated: bool
    """Whether the hardware is simulated or recorded."""
    machine: MachineFacts
    """The machine."""
    format: int = 1
    """Format of the lines that follow (see `backends.formats`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InventorySeen(TimedEvent):
    """Result of a hardware scan."""

    inventory: Inventory
    """All devices found."""
    complete: bool = True
    """False while some backends have not responded yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRan(TimedEvent):
    """A program ran or a file was written."""

    line: str
    """The command as typed in a shell."""
    mutates: bool
    """Whether it may have changed something."""
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
    """A change is about to be made. This event is on disk before the first command."""

    id: str
    """Unique in the session: c1, c2, ..."""
    change: Change
    """The change, and how to undo it."""
    undoes: str | None = None
    """The change that this one undoes."""
    boot: str = ""
    """The kernel's boot id. A setting that is lost at reboot needs no undo after a reboot."""
    trial_until: float | None = None
    """For a trial: when it is reverted unless it is confirmed, in seconds of CLOCK_BOOTTIME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEnded(TimedEvent):
    """The end of a change."""

    id: str
    """Id of the change; "" if a change of a set had nothing to do, so that nothing was recorded."""
    result: str
    """`verified`, `differs`, `failed`, `restored`, `kept` (after a crash or trial) or `gone` (with its device)."""
    now: str | None
    """The value that was read after the change."""
    message: str = ""
    """Why the change is not verified, as a sentence; or the message of the tool."""
    moved: tuple[MovedSetting, ...] | None = None
    """Other settings whose value differed afterwards; None if that is not known."""

    @property
    def was_set(self) -> bool:
        """Return whether a value was set. If not, the setting already had the requested value."""
        return bool(self.id)

    @property
    def is_reverted(self) -> bool:
        """Return whether this undo succeeded, so that nothing of the undone change is in force."""
        return self.result in ("verified", "restored", "gone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentMark:
    """The position of a run in an experiment."""

    experiment: str
    """Id of the experiment."""
    letter: str
    """`A`: with the old value; `B`: with the other value."""
    pair: int
    """Number of the pair, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """A target of a run."""

    target: str
    """The target as shown: an address or a file path."""
    device: str | None = None
    """Block device below it, `/dev/sda`."""
    scratch: str | None = None
    """Path of the scratch file. It is removed at the end of the run; it remains only after a crash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSection:
    """One of several sections of a job."""

    name: str
    """Name of the section, which is unique in the run."""
    job: dict[str, str]
    """Its fields."""
    title: str
    """Its job in one line."""
    phase: int = 1
    """Number of the phase in which it runs, from 1. Sections of one phase run at the same time."""
    group: int = 1
    """Number of the group in which its results are added up, from 1."""
    starts_s: float | None = 0.0
    """Planned start in seconds of the run, ramps included. None if an earlier phase has no run time."""
    planned_seconds: float = 0.0
    """Its ramp and run time in seconds."""

    @property
    def text(self) -> str:
        """Return all properties that distinguish this section from another one, in one line."""
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
    """Name of the profile; None for a custom job."""
    job: dict[str, str]
    """The job's fields."""
    title: str
    """The job in one line."""
    planned_seconds: float
    """Ramp and run time in seconds; 0 for a job that ends only by amount."""
    settings: dict[str, str] = field(default_factory=dict)
    """Values of the target's settings before the run."""
    destructive: bool = False
    """Whether it overwrites a device."""
    found: tuple[str, ...] = ()
    """Signatures on the device; the user has confirmed their loss."""
    fio_version: str | None = None
    """Version of fio, such as `3.33`."""
    simulated: bool = False
    """Whether the workload is simulated."""
    scratch: str | None = None
    """Path of the scratch file; None for several targets. It remains after the run only if raidbench crashed."""
    mark: ExperimentMark | None = None
    """Its position in an experiment; None for a single run."""
    steady: SteadyPlan | None = None
    """The steady state plan; None if there is none."""
    fills: int = 0
    """Number of complete passes that precondition the target before the run."""
    provenance: dict[str, str] = field(default_factory=dict)
    """Other facts about the device, collected by `core/benchmark/provenance.py`."""
    targets: tuple[RunTarget, ...] = ()
    """The targets that are measured at the same time, if there are several; empty for one target."""
    sections: tuple[RunSection, ...] = ()
    """The sections of a job that has several; empty for a job of one section.

    `job` then contains only the fields that all sections have in common, and the fields of the combined job.
    """

    @property
    def workload(self) -> str:
        """Return the profile's name, or the job in one line."""
        return self.profile or self.title

    @property
    def job_texts(self) -> dict[str, str]:
        """Return the fields of the job, and a text for each of its sections. Equal results mean equal jobs."""
        return self.job | {f"section {section.name}": section.text for section in self.sections}

    @property
    def all_targets(self) -> tuple[RunTarget, ...]:
        """Return all targets, one or several."""
        return self.targets or (RunTarget(target=self.target, device=self.device, scratch=self.scratch),)

    @property
    def location(self) -> str:
        """Return the device node for users. If its number changes at each boot, return the address instead."""
        return self.target if self.device is None or _NUMBERED.fullmatch(self.device) else self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent(TimedEvent):
    """Progress of a run. It matters only during the run, and is not logged."""

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
    """Preconditioning of a device or file has ended, completely or in part."""

    id: str
    """The run that did it."""
    target: str
    """As shown: an address or a file path."""
    written: PreconditionWritten
    """The bytes written and the job that followed."""
    remembered: bool
    """Whether other sessions can read this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStarted(TimedEvent):
    """An experiment begins: it measures a setting in pairs, with its present value and with another one."""

    id: str
    """Unique in the session: e1, e2, ..."""
    target: Target
    """The target that has the setting."""
    key: str
    """Key of the setting; "" if the same configuration is measured against itself and nothing is set."""
    label: str
    """The setting's label."""
    a: str
    """The present value, which is restored at the end."""
    b: str
    """The other value."""
    order: tuple[str, ...]
    """Letters of the runs, in order. Two consecutive runs make a pair."""
    title: str
    """The job in one line."""
    measured: str
    """The measured target as shown: an address or a file path."""
    rest_seconds: float = 0.0
    """Minimum idle time before each run, in seconds."""
    looks: tuple[InterimAnalysis, ...] = ()
    """The planned interim analyses."""
    until_percent: float | None = None
    """The experiment ends at the first interim analysis whose interval is this narrow, in percent to either side.

    None: it ends when a verdict is reached.
    """
    threshold_percent: float | None = None
    """The largest difference, in percent, that counts as no difference; None for 2 %."""
    seed: int | None = None
    """Seed of the random order and pauses."""
    rule: int
    """Version number of the rules that judge the experiment."""

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
    """`ok` if every planned run was made; `stopped` or `failed` with the runs so far."""
    restored: bool
    """Whether the setting has its old value again."""
    reason: str = ""
    """Why it is not ok or not restored, as a sentence."""
    sentence: str = ""
    """The verdict in words, which only earlier versions record; "" in later ones."""
    verdicts: tuple[RecordedVerdict, ...] = ()
    """The verdicts of its pairs, the headline metric first; empty without a complete pair."""
    moved: dict[str, str] = field(default_factory=dict)
    """Other settings of the target that changed with it, each with old and new value: `256 -> 64`."""
    not_counted: tuple[str, ...] = ()
    """Runs that do not count, because the setting had another value at their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineMarked(TimedEvent):
    """A run became the baseline for other runs. None: there is no baseline any more."""

    run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded(TimedEvent):
    """The user wrote a note."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFinding:
    """One finding of a check."""

    rule: str
    """Id of the rule."""
    severity: str
    """`note`, `warn` or `fault`."""
    where: str
    """The address of a target, or the name of a device or a filesystem."""
    message: str
    evidence: str
    """The output, setting or file that proves the finding."""
    mends: str = ""
    """The fix, as one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineChecked(TimedEvent):
    """The configuration was checked."""

    findings: tuple[RecordedFinding, ...]
    """The findings, the most serious first."""
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
    """A problem that is worth recording in the session."""

    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(TimedEvent):
    """A program stopped using the session."""

    reason: str = "left"
    """Why: `left`, `SIGTERM`, `SIGHUP`, or the message of an exception."""


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
"""Every kind of event."""

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
"""Events that are flushed to disk (fsync) when they are written."""


def last_check(events: Iterable[AnyEvent]) -> MachineChecked | None:
    """Return the last check of the configuration; None if there was none. No I/O."""
    return next((event for event in reversed(tuple(events)) if isinstance(event, MachineChecked)), None)
