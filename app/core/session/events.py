"""The events of a session. The state of a session is computed from the sequence of its events."""

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
"""Pattern of the device nodes of device-mapper and ZFS volumes, whose numbers may differ after the next boot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """Facts about the machine on which a session was recorded."""

    host: str
    """Host name."""
    cpu: str
    """CPU model."""
    cores: int
    """Number of logical CPUs."""
    memory_bytes: int | None
    """Size of the RAM in bytes; None if unknown."""
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
    """What the kernel reports about each CPU vulnerability, by its name. Some mitigations slow down every I/O."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(TimedEvent):
    """A program begins or continues to write the log of a session. The first line of every log is such an event."""

    id: str
    """Name of the session."""
    version: str
    """Version of raidbench."""
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
    """Duration of the command in seconds."""
    returncode: int | None
    """Exit status; None if it did not end."""
    output: str = ""
    """The output of the command, without control characters and shortened."""
    output_file: str | None = None
    """File with the complete output, relative to the session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeIntended(TimedEvent):
    """A change is about to be made. This event is on disk before the first command."""

    id: str
    """Id of the change, unique in the session: c1, c2, ..."""
    change: Change
    """The change, and how to undo it."""
    undoes: str | None = None
    """Id of the change that this one undoes; None if it is not an undo."""
    boot: str = ""
    """The kernel's boot id. It shows whether a reboot has already reverted a setting that is lost at reboot."""
    trial_until: float | None = None
    """For a trial: the time at which it is reverted unless it is confirmed, in seconds of CLOCK_BOOTTIME; else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEnded(TimedEvent):
    """The end of a change."""

    id: str
    """Id of the change; "" if the setting already had the requested value, so that no change was recorded."""
    result: str
    """`verified`, `differs`, `failed`, `restored`, `kept` (a trial that was confirmed), or `gone` (missing device)."""
    now: str | None
    """The value that was read after the change."""
    message: str = ""
    """Why the change is not verified, as a sentence; or the message of the tool."""
    moved: tuple[MovedSetting, ...] | None = None
    """Other settings whose values differed after the change; None if that is not known."""

    @property
    def was_set(self) -> bool:
        """Return whether a value was set. If not, the setting already had the requested value."""
        return bool(self.id)

    @property
    def is_reverted(self) -> bool:
        """Return whether an undo with this end succeeded, so that the undone change is no longer in force."""
        return self.result in ("verified", "restored", "gone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentMark:
    """The position of a run in an experiment."""

    experiment: str
    """Id of the experiment."""
    letter: str
    """`A`: a run with the old value of the setting; `B`: a run with the other value."""
    pair: int
    """Number of the pair, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTarget:
    """One target of a run, with its block device and its scratch file."""

    target: str
    """The target as shown: an address or a file path."""
    device: str | None = None
    """Block device below the target, such as `/dev/sda`; None if it is not known."""
    scratch: str | None = None
    """Path of the scratch file, which is removed at the end of the run; None for a target without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSection:
    """One of several sections of a job."""

    name: str
    """Name of the section, which is unique in the run."""
    job: dict[str, str]
    """The section's job fields."""
    title: str
    """The section's job in one line."""
    phase: int = 1
    """Number of the phase in which it runs, from 1. Sections of one phase run at the same time."""
    group: int = 1
    """Number of the group in which its results are added up, from 1."""
    starts_s: float | None = 0.0
    """Planned start in seconds since the start of the run, ramps included; None if an earlier phase has no run time."""
    planned_seconds: float = 0.0
    """The section's ramp and run time in seconds."""

    @property
    def text(self) -> str:
        """Return the section's job fields and its phase as `key=value` in one line, to compare sections."""
        return " ".join(f"{key}={text}" for key, text in {**self.job, "phase": str(self.phase)}.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(TimedEvent):
    """A benchmark begins."""

    id: str
    """Id of the run, unique in the session: r1, r2, ..."""
    target: str
    """The target as shown: an address or a file path; several targets are separated by commas."""
    device: str | None
    """Block device below the target, such as `/dev/sda`; None for several targets."""
    profile: str | None
    """Name of the profile; None for a custom job."""
    job: dict[str, str]
    """The job's fields."""
    title: str
    """The job in one line."""
    planned_seconds: float
    """Ramp and run time in seconds; 0 for a job that ends only after an amount of data."""
    settings: dict[str, str] = field(default_factory=dict)
    """Values of the target's settings before the run."""
    destructive: bool = False
    """Whether the run overwrites a device."""
    found: tuple[str, ...] = ()
    """Signatures found on the device, such as a filesystem; the user has confirmed that they are lost."""
    fio_version: str | None = None
    """Version of fio, such as `3.33`."""
    simulated: bool = False
    """Whether the workload is simulated."""
    scratch: str | None = None
    """Path of the scratch file; None for several targets. It remains after the run only if raidbench crashed."""
    mark: ExperimentMark | None = None
    """The run's position in an experiment; None for a run outside of experiments."""
    steady: SteadyPlan | None = None
    """The steady state plan; None if there is none."""
    fills: int = 0
    """How many times the whole target is written before the run, to precondition it."""
    provenance: dict[str, str] = field(default_factory=dict)
    """Other facts about the device, collected by `core/benchmark/provenance.py`."""
    targets: tuple[RunTarget, ...] = ()
    """The targets that are measured at the same time, if there are several; empty for one target."""
    sections: tuple[RunSection, ...] = ()
    """The sections of a job that has several; empty for a job of one section.

    If there are several sections, `job` contains only the fields that all of them have in common and the fields of the
    combined job.
    """

    @property
    def workload(self) -> str:
        """Return the profile's name, or the job in one line."""
        return self.profile or self.title

    @property
    def job_texts(self) -> dict[str, str]:
        """Return the fields of the job by name, and the `text` of each of its sections as one more field.

        Runs for which all of these are equal had equal jobs.
        """
        return self.job | {f"section {section.name}": section.text for section in self.sections}

    @property
    def all_targets(self) -> tuple[RunTarget, ...]:
        """Return all targets of the run, also if there is only one."""
        return self.targets or (RunTarget(target=self.target, device=self.device, scratch=self.scratch),)

    @property
    def location(self) -> str:
        """Return the device node to show. If there is none or its number may change at boot, return the target."""
        return self.target if self.device is None or _NUMBERED.fullmatch(self.device) else self.device


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEvent(TimedEvent):
    """Progress of a run. It matters only during the run, and is not logged."""

    id: str
    """Id of the run."""
    progress: Progress
    """The progress that is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(TimedEvent):
    """A benchmark has ended."""

    id: str
    """Id of the run."""
    figures: RunResult
    """Result of the run."""
    folder: str
    """Folder with fio's raw output, relative to the session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionEnded(TimedEvent):
    """Preconditioning of a device or file has ended, completely or in part."""

    id: str
    """Id of the run that preconditioned the target."""
    target: str
    """The target as shown: an address or a file path."""
    written: PreconditionWritten
    """The bytes written and the job that followed."""
    remembered: bool
    """Whether `written` was saved for other sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStarted(TimedEvent):
    """An experiment begins: it runs a job in pairs, with the current value of a setting and with another value."""

    id: str
    """Id of the experiment, unique in the session: e1, e2, ..."""
    target: Target
    """The target that has the setting."""
    key: str
    """Key of the setting; "" if the same configuration is measured against itself and nothing is set."""
    label: str
    """The setting's label."""
    a: str
    """The setting's current value, which is restored at the end."""
    b: str
    """The other value that is measured."""
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
    """Half width of an interval in percent: the experiment ends at the first interim analysis that reaches it.

    None: it ends when a verdict is reached.
    """
    threshold_percent: float | None = None
    """The largest difference, in percent, that counts as no difference; None for 2 %."""
    seed: int | None = None
    """Seed of the random order of the runs and of the random pauses before them; None if none was recorded."""
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
    """Id of the experiment."""
    status: RunStatus
    """`ok` if it ended by its plan, after the last run or at an interim analysis; `stopped` or `failed` before that."""
    restored: bool
    """Whether the setting has its old value again after the experiment."""
    reason: str = ""
    """Why the experiment is not ok or the setting is not restored, as a sentence; "" if there is no problem."""
    verdicts: tuple[RecordedVerdict, ...] = ()
    """The verdict on each metric, the headline metric first; empty without a complete pair."""
    moved: dict[str, str] = field(default_factory=dict)
    """Other settings of the target that changed with the measured one, by key, as old and new value: `256 -> 64`."""
    not_counted: tuple[str, ...] = ()
    """Ids of the runs that are left out, because the setting had the wrong value at their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineMarked(TimedEvent):
    """The user marked a run as the baseline for other runs. `run` None: there is no baseline any more."""

    run: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded(TimedEvent):
    """The user wrote a note, or a feature recorded sentences, such as an observation."""

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
    """`check` has examined the configuration of the machine."""

    findings: tuple[RecordedFinding, ...]
    """The findings, the most serious first."""
    rules: int
    """Number of rules that were applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePersisted(TimedEvent):
    """A file that sets a target's values at boot was written, or the target's values were removed from it."""

    target: Target
    path: str
    """Path of the file."""
    values: dict[str, str]
    """The target's persisted values by setting key; empty if they were removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRecorded(TimedEvent):
    """An error of an operation, recorded in the session."""

    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(TimedEvent):
    """A program stopped using the session."""

    reason: str = "left"
    """Why the program stopped: `left` (normally), `SIGTERM`, `SIGHUP`, or the message of an exception."""


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
"""Every kind of event that is written to the log."""

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
    """Return the last check of the configuration among the events; None if there was none. No I/O."""
    return next((event for event in reversed(tuple(events)) if isinstance(event, MachineChecked)), None)
