"""Benchmark requests of the user, and the plans of runs that are made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from app.core.fio.job import Job
from app.core.fio.render import FILL_BLOCK, NOT_STEADY, ONE_SECTION, SEVERAL_OF_BOTH, start_of, usable_size
from app.core.session.event_types import SteadyPlan
from app.core.session.events import ExperimentMark
from app.core.session.results import Advice
from backends.device_label import confirm_token
from backends.errors import InvalidValueError, RefusedError
from backends.guard import require
from backends.sizes import size_words
from backends.text import clean
from backends.topology.thin_capacity import WHOLE, WriteRange
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.benchmark.conditions.facts import JobLocation
    from app.core.benchmark.device_access import DeviceGuardResult
    from app.core.benchmark.scratch import ScratchPlan
    from app.core.fio.job import JobTarget
    from backends.device_label import DeviceLabel
    from backends.topology.thin_capacity import ThinCapacity


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTarget:
    """A target of a benchmark, as the user named it."""

    where: str
    """Path of a block device, or the file or folder for a scratch file."""
    name: str
    """Display name: an address, a device, or the path of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRequest(NamedTarget):
    """A benchmark that the user requested."""

    job: Job
    """Job to run."""
    profile: str | None = None
    """Name of the job's profile; None for a custom job."""
    keep: bool = False
    """Whether to keep the scratch file after the run."""
    again: bool = False
    """Whether the next run will use the same scratch file, so that this run keeps the file if it succeeds."""
    steady: SteadyPlan | None = None
    """Plan for the steady state; None to measure at once, for the full run time."""
    fills: int = 0
    """Number of times to fill the target sequentially before the run, for preconditioning."""

    fill_block: int = FILL_BLOCK
    """Block size of the fill in bytes: the full stripe if the fill initialises the parity of an array."""

    length_agreed: bool = False
    """Whether the user chose the length of the run, or agreed to the writes of a plan of many runs."""
    beside: tuple[NamedTarget, ...] = ()
    """Other targets on which the job runs at the same time."""

    @property
    def targets(self) -> tuple[NamedTarget, ...]:
        """Return all targets, at least one."""
        return (NamedTarget(where=self.where, name=self.name), *self.beside)

    @property
    def writes(self) -> bool:
        """Return whether the job or a fill writes. On a device, this destroys data."""
        return self.job.writes or self.fills > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTarget:
    """A target of one run, with facts about the device or scratch file."""

    requested: NamedTarget
    """The target that the user requested."""
    target: JobTarget
    """The target as the fio job names it. While the target is open, fio gets another path."""
    scratch: ScratchPlan | None = None
    """Plan of the scratch file; None for a device."""
    judgement: DeviceGuardResult | None = None
    """Result of the guard for a device; None for a file."""
    device: str | None = None
    """Block device below the target, or the target itself: `/dev/sda`; None if unknown."""
    rooms: tuple[ThinCapacity, ...] = ()
    """Thin-provisioned storage below the filesystem of a scratch file."""

    area: WriteRange = WHOLE
    """Largest range to which the run writes."""

    @property
    def capacity_sources(self) -> tuple[ThinCapacity, ...]:
        """Return the thin-provisioned storage in which the run allocates space; () if it only reads."""
        return tuple(room for room in self.all_rooms if room.need(self.area))

    @property
    def all_rooms(self) -> tuple[ThinCapacity, ...]:
        """Return all thin-provisioned storage below the target, even if the run allocates no space in it."""
        return self.rooms if self.judgement is None else self.judgement.rooms

    @property
    def name(self) -> str:
        """Return the display name; for a scratch file, its path."""
        return self.requested.name if self.scratch is None else str(self.scratch.path)

    @property
    def file(self) -> str | None:
        """Return the path of the scratch file; None for a device."""
        return None if self.scratch is None else str(self.scratch.path)

    @property
    def disk(self) -> str | None:
        """Return the node of the disk below the target (for a partition, its disk); None if unknown."""
        return self.device if self.judgement is None else self.judgement.disk

    @property
    def size(self) -> int:
        """Return the size of the target in bytes."""
        return self.scratch.size if self.scratch is not None else self.judgement.size if self.judgement else 0

    @property
    def locked(self) -> tuple[str, ...]:
        """Return the device nodes of all disks that are locked during the run."""
        return tuple(filter(None, (self.disk, *(() if self.judgement is None else self.judgement.along))))

    def locate(self, job: Job) -> JobLocation:
        """Return the location of a job on this target, for the advisor."""
        from app.core.benchmark.conditions.facts import JobLocation

        return JobLocation(
            job=job,
            name=self.name,
            device=self.disk,
            area_bytes=usable_size(job, self.target) or None,
            scratch=self.scratch is not None,
            whole_disk=self.judgement is None or self.judgement.disk == self.judgement.device,
            holes=self.scratch is not None and self.scratch.holes and not self.scratch.fill,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A run as planned, for the user to confirm. Nothing has been opened or changed yet."""

    request: BenchmarkRequest
    """The user's request."""
    job: Job
    """The job, adapted to the devices."""
    fio_version: str
    """Version of fio without its prefix: `3.33`."""
    sites: tuple[ResolvedTarget, ...]
    """Targets in the order of the request."""
    locks: tuple[str, ...] = ()
    """Names of the locks that protect the targets, in the order in which every process acquires them."""
    command: tuple[str, ...] = ()
    """Command line of fio, with a placeholder for the job file."""
    jobfile: str = ""
    """Content of the job file, which names the targets."""
    fill_command: tuple[str, ...] = ()
    """Command line of the fill before the run; empty if there is none."""
    notes: tuple[str, ...] = ()
    """Notes about adaptations of the job."""
    advice: tuple[Advice, ...] = ()
    """Advice on conditions that weaken the results and can still be fixed."""
    mark: ExperimentMark | None = None
    """Position of the run in an experiment; None for a run outside of experiments."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Provenance of the run (drives, controller, CPU policies) by key; empty until the run begins."""

    def require_allowed(self) -> None:
        """Raise RefusedError if the run is refused."""
        if self.refused:
            raise RefusedError(" ".join(self.refused), hint=self.hint)

    @property
    def only(self) -> ResolvedTarget:
        """Return the only target. Raises ValueError if there are several."""
        (site,) = self.sites
        return site

    @property
    def name(self) -> str:
        """Return the names of the targets, separated by commas."""
        return ", ".join(site.name for site in self.sites)

    @property
    def refused(self) -> tuple[str, ...]:
        """Return the reasons why the run is refused."""
        return tuple(reason for site in self.sites if site.judgement is not None for reason in site.judgement.refused)

    @property
    def hint(self) -> str:
        """Return the next step for the user after a refusal; "" if the run is allowed."""
        judgements = [site.judgement for site in self.sites if site.judgement is not None]
        return next((judgement.verdict.hint for judgement in judgements if judgement.refused), "")

    @property
    def overwritten(self) -> tuple[ResolvedTarget, ...]:
        """Return the devices that lose their data; () if the run only reads."""
        return tuple(site for site in self.sites if site.scratch is None) if self.request.writes else ()

    def loss_of(self, site: ResolvedTarget) -> str:
        """Return a sentence about the data that the job discards on a device; "" if the job does not trim."""
        if not self.job.trims:
            return ""
        ranges = [
            (start_of(part, site.target), start_of(part, site.target) + usable_size(part, site.target))
            for part in self.job.parts
            if part.trims
        ]
        first, end = min(start for start, _ in ranges), max(end for _, end in ranges)
        text = size_words(end - first)
        if first:
            part = text
        else:
            part = f"all {text}" if end == site.target.size else f"the first {text}"
        return (
            f"{part} of {site.name} (bytes {first} to {end - 1}): the device discards the data, and no tool "
            "can restore it."
        )

    @property
    def labels(self) -> tuple[DeviceLabel, ...]:
        """Return the labels of the devices that lose data, with their confirmation tokens; () if nothing is lost."""
        judgements = [site.judgement for site in self.overwritten if site.judgement is not None]
        return tuple(judgement.verdict.label for judgement in judgements if judgement.verdict.label is not None)

    @property
    def confirm_text(self) -> str | None:
        """Return the confirmation token for all devices together; None if the run needs no confirmation."""
        return confirm_token(self.labels) or None

    def token_for(self, site: ResolvedTarget, typed: str | None) -> str | None:
        """Return the confirmation token to pass to the guard for one target.

        With several targets, this is the target's own token if the user typed the joint token, else None.
        """
        if len(self.sites) == 1:
            return typed
        return None if typed != self.confirm_text or site.judgement is None else site.judgement.verdict.confirm_text

    def require(self, typed: str | None) -> None:
        """Raise RefusedError unless the guard allows each target with this confirmation."""
        labels = self.labels
        token_for_all = confirm_token(labels) if len(labels) > 1 else ""
        for site in self.sites:
            if site.judgement is not None:
                require(site.judgement.verdict, self.token_for(site, typed), token_for_all)

    @property
    def disks(self) -> tuple[str, ...]:
        """Return the device nodes of the disks below the targets, as far as they are known."""
        return tuple(site.disk for site in self.sites if site.disk is not None)

    @property
    def files(self) -> tuple[str, ...]:
        """Return the paths of the scratch files whose disk is unknown."""
        return tuple(str(site.scratch.path) for site in self.sites if site.disk is None and site.scratch is not None)

    @property
    def content(self) -> tuple[str, ...]:
        """Return descriptions of the content that would be lost."""
        return tuple(
            content for site in self.sites if site.judgement is not None for content in site.judgement.verdict.content
        )

    def confirmed_with(self, first: RunPlan) -> RunPlan:
        """Return the plan with the lost content that `first` listed, because the user confirmed only that content."""
        sites = [_with_shown_content(site, before) for site, before in zip(self.sites, first.sites, strict=True)]
        return replace(self, sites=tuple(sites))

    @property
    def destructive(self) -> bool:
        """Return whether the run destroys data on a device."""
        return bool(self.overwritten)

    @property
    def title(self) -> str:
        """Return a title in one line that describes the fill, if there is one, and the job."""
        fills = self.request.fills
        return f"fill {fills}x, then {self.job.describe()}" if fills else self.job.describe()

    @property
    def size(self) -> int:
        """Return the total size of the targets in bytes."""
        return sum(site.size for site in self.sites)


def _with_shown_content(site: ResolvedTarget, before: ResolvedTarget) -> ResolvedTarget:
    """Return the target with the content of `before`, which the user has seen."""
    if site.judgement is None or before.judgement is None:
        return site
    verdict = replace(site.judgement.verdict, content=before.judgement.verdict.content)
    return replace(site, judgement=replace(site.judgement, verdict=verdict))


# -- requirements of jobs and targets ---------------------------------------------------------------------------------

_ALONE = "Measure one target at a time."


def require_reading_job(request: BenchmarkRequest) -> None:
    """Raise RefusedError if the job writes. No I/O."""
    if request.writes:
        raise RefusedError("Read-only mode: jobs that write are not run.", hint="Choose a workload that only reads.")


def require_reading(ready: RunPlan) -> None:
    """Raise RefusedError if the run writes or creates a scratch file. No I/O."""
    require_reading_job(ready.request)
    if any(site.scratch is not None and site.scratch.fill for site in ready.sites):
        raise RefusedError(
            "Read-only mode: no scratch file is created.", hint="To create a scratch file, omit --read-only."
        )


def require_valid_targets(request: BenchmarkRequest) -> None:
    """Raise InvalidValueError if the job cannot run on these targets.

    Some jobs cannot run on several targets at once. A job of several sections can neither run on several targets nor
    wait for the steady state.
    """
    steady = request.steady
    if request.job.sections and steady is not None and (steady.until or steady.end_early):
        raise InvalidValueError(NOT_STEADY, hint=ONE_SECTION)
    if len(request.targets) < 2:
        return
    if request.job.sections:
        raise InvalidValueError(SEVERAL_OF_BOTH, hint=ONE_SECTION)
    if request.job.ends_by_amount:
        raise InvalidValueError(
            (
                "A job that ends after an amount ends at a different time on each target, so the results cannot "
                "be added up"
            ),
            hint=f"Use a run time instead of an amount. {_ALONE}",
        )
    if request.fills:
        raise InvalidValueError("Only one target can be preconditioned at a time", hint=_ALONE)


def require_distinct_targets(names: Sequence[str], backing: Sequence[frozenset[str]]) -> None:
    """Raise RefusedError if two targets share a disk, a file or a filesystem.

    `backing`: for each target, the disks and files below its data.
    """
    for (name, first), (other, second) in combinations(zip(names, backing, strict=True), 2):
        if name == other:
            raise RefusedError(f"{clean(name, 300)} is named twice.", hint="Name each target once.")
        if shared := sorted(first & second):
            raise RefusedError(
                (
                    f"{clean(name, 300)} and {clean(other, 300)} share {clean(', '.join(shared), 300)}: measured "
                    "at the same time, they would slow each other down."
                ),
                hint=f"Choose targets that share no disk. {_ALONE}",
            )
