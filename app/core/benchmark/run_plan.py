"""What somebody wants measured, and what doing so will mean."""

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
from backends.topology.thin_capacity import WHOLE, WriteRange, affected_capacities
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
    """Something to be measured."""

    where: str
    """A block device node, or a file or folder for a scratch file."""
    name: str
    """What to call it: an address, a device, the file's path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRequest:
    """What somebody wants measured."""

    where: str
    """A block device node, or a file or folder for a scratch file."""
    name: str
    """What to call it: an address, a device, the file's path."""
    job: Job
    """The workload."""
    profile: str | None = None
    """Its name, None for a custom job."""
    keep: bool = False
    """Whether a scratch file stays afterwards."""
    again: bool = False
    """Whether another run follows on the same scratch file, which then stays until that one."""
    steady: SteadyPlan | None = None
    """What to do about the steady state; None measures at once, for the whole time."""
    fills: int = 0
    """How often to write all of it in order before, to precondition it."""

    fill_block: int = FILL_BLOCK
    """Bytes written at once by that: the full stripe of an array whose parity it is to make right."""

    length_agreed: bool = False
    """Whether its length was named, or all that it writes told with a plan of many runs, and agreed to."""
    beside: tuple[NamedTarget, ...] = ()
    """Others that the same job is done on at the same time."""

    @property
    def targets(self) -> tuple[NamedTarget, ...]:
        """All that is measured, one or several."""
        return (NamedTarget(where=self.where, name=self.name), *self.beside)

    @property
    def writes(self) -> bool:
        """Whether anything is written, so whether the data of a device are lost."""
        return self.job.writes or self.fills > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTarget:
    """One target as it was found."""

    asked: NamedTarget
    """What was asked for."""
    target: JobTarget
    """What fio would be told of it, by its name; while it is held its path is another."""
    scratch: ScratchPlan | None = None
    """The file, None for a device."""
    judgement: DeviceGuardResult | None = None
    """The guard's word on a device, None for a file."""
    device: str | None = None
    """Block device beneath, `/dev/sda`; None if unknown."""
    rooms: tuple[ThinCapacity, ...] = ()
    """What a scratch file takes room from beneath its file system."""

    area: WriteRange = WHOLE
    """What is written to at most."""

    @property
    def capacity_sources(self) -> tuple[ThinCapacity, ...]:
        """What writing to it takes room from; nothing of what is only read."""
        return affected_capacities(self.found_rooms, self.area)

    @property
    def found_rooms(self) -> tuple[ThinCapacity, ...]:
        """What was found beneath it, whether anything is taken from it or not."""
        return self.rooms if self.judgement is None else self.judgement.rooms

    @property
    def name(self) -> str:
        """What to call it: a scratch file by its path."""
        return self.asked.name if self.scratch is None else str(self.scratch.path)

    @property
    def file(self) -> str | None:
        """Path of the scratch file; None for a device."""
        return None if self.scratch is None else str(self.scratch.path)

    @property
    def disk(self) -> str | None:
        """Node of the disk beneath, a partition's disk; None if unknown."""
        return self.device if self.judgement is None else self.judgement.disk

    @property
    def size(self) -> int:
        """Bytes of what is measured, all of it."""
        return self.scratch.size if self.scratch is not None else self.judgement.size if self.judgement else 0

    @property
    def locked(self) -> tuple[str, ...]:
        """Nodes of all disks that nobody else may change meanwhile."""
        return tuple(filter(None, (self.disk, *(() if self.judgement is None else self.judgement.along))))

    def place(self, job: Job) -> JobLocation:
        """Return the place of a job on it."""
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
    """What will be done, for the dialog; nothing has been touched yet."""

    request: BenchmarkRequest
    """What was asked for."""
    job: Job
    """The job as the devices can serve it."""
    fio_version: str
    """`3.33`."""
    sites: tuple[ResolvedTarget, ...]
    """What is measured, one or several, in the order asked for."""
    locks: tuple[str, ...] = ()
    """Names of the locks that keep others from what is measured, in the order in which everybody takes them."""
    command: tuple[str, ...] = ()
    """fio's words, the job file standing for itself."""
    jobfile: str = ""
    """The job file, with the targets by their names."""
    fill_command: tuple[str, ...] = ()
    """The same of the fill before it; empty if there is none."""
    notes: tuple[str, ...] = ()
    """What was changed or deserves to be known."""
    advice: tuple[Advice, ...] = ()
    """What makes the figures doubtful and can still be mended."""
    mark: ExperimentMark | None = None
    """Its place in an experiment."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """What lies beneath, found as the run begins; empty before."""

    @property
    def only(self) -> ResolvedTarget:
        """What is measured by a run on one target. Raises ValueError for several."""
        (site,) = self.sites
        return site

    @property
    def name(self) -> str:
        """What is measured, in words; of several each, with commas between."""
        return ", ".join(site.name for site in self.sites)

    @property
    def refused(self) -> tuple[str, ...]:
        """Why it will not be done at all."""
        return tuple(reason for site in self.sites if site.judgement is not None for reason in site.judgement.refused)

    @property
    def hint(self) -> str:
        """What to do next when it is refused."""
        judgements = [site.judgement for site in self.sites if site.judgement is not None]
        return next((judgement.verdict.hint for judgement in judgements if judgement.refused), "")

    @property
    def overwritten(self) -> tuple[ResolvedTarget, ...]:
        """The devices that lose their data; none of a run that only reads."""
        return tuple(site for site in self.sites if site.scratch is None) if self.request.writes else ()

    def loss_of(self, site: ResolvedTarget) -> str:
        """Return what the job trims of a device, with the range; "" for a job that only writes."""
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
            f"{part} of {site.name} (bytes {first} to {end - 1}): the device discards the data, no tool restores them."
        )

    @property
    def plates(self) -> tuple[DeviceLabel, ...]:
        """What loses its data, each with the word that has to be typed first; empty where nothing is lost."""
        judgements = [site.judgement for site in self.overwritten if site.judgement is not None]
        return tuple(judgement.verdict.plate for judgement in judgements if judgement.verdict.plate is not None)

    @property
    def confirm_text(self) -> str | None:
        """All those words as they have to be typed, None if nothing has to be."""
        return confirm_token(self.plates) or None

    def token_for(self, site: ResolvedTarget, typed: str | None) -> str | None:
        """What was typed for one of the targets: its own word where the words of all of them were."""
        if len(self.sites) == 1:
            return typed
        return None if typed != self.confirm_text or site.judgement is None else site.judgement.verdict.confirm_text

    def require(self, typed: str | None) -> None:
        """Raises RefusedError unless the guard's word on each target, with what was typed, lets it go ahead."""
        for site in self.sites:
            if site.judgement is not None:
                require(site.judgement.verdict, self.token_for(site, typed))

    @property
    def disks(self) -> tuple[str, ...]:
        """Nodes of the disks beneath, as far as they are known."""
        return tuple(site.disk for site in self.sites if site.disk is not None)

    @property
    def files(self) -> tuple[str, ...]:
        """Scratch files of which no disk beneath is known."""
        return tuple(str(site.scratch.path) for site in self.sites if site.disk is None and site.scratch is not None)

    @property
    def found(self) -> tuple[str, ...]:
        """What lies on the devices and would be lost."""
        return tuple(
            content for site in self.sites if site.judgement is not None for content in site.judgement.verdict.found
        )

    def confirmed_with(self, first: RunPlan) -> RunPlan:
        """The same run again; of what lies on the devices only what `first` showed has been confirmed."""
        sites = [_with_shown_content(site, before) for site, before in zip(self.sites, first.sites, strict=True)]
        return replace(self, sites=tuple(sites))

    @property
    def destructive(self) -> bool:
        """Whether a device is overwritten."""
        return bool(self.overwritten)

    @property
    def title(self) -> str:
        """The job in one line, with the fill that comes before it."""
        fills = self.request.fills
        return f"fill {fills}x, then {self.job.describe()}" if fills else self.job.describe()

    @property
    def size(self) -> int:
        """Bytes of what is measured, all of it."""
        return sum(site.size for site in self.sites)


def _with_shown_content(site: ResolvedTarget, before: ResolvedTarget) -> ResolvedTarget:
    """The site with what was shown of it the first time."""
    if site.judgement is None or before.judgement is None:
        return site
    verdict = replace(site.judgement.verdict, found=before.judgement.verdict.found)
    return replace(site, judgement=replace(site.judgement, verdict=verdict))


# -- several targets in one job: what has to be so for their figures to be their own ----------------------------------

_ALONE = "Measure them one after another."


def require_reading_job(request: BenchmarkRequest) -> None:
    """Raises RefusedError for a job that writes. No I/O."""
    if request.writes:
        raise RefusedError("Read-only mode: a job that writes is not run.", hint="Choose a reading workload.")


def require_reading(ready: RunPlan) -> None:
    """Raises RefusedError for a run that writes or makes a scratch file. No I/O."""
    require_reading_job(ready.request)
    if any(site.scratch is not None and site.scratch.fill for site in ready.sites):
        raise RefusedError("Read-only mode: no scratch file is made.", hint="Leave --read-only out to make one.")


def require_valid_targets(request: BenchmarkRequest) -> None:
    """Raises InvalidValueError for a job that makes no sense on several targets at the same time.

    Also for a job of several sections that is to run on several targets or to wait for the steady state.
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
            "A job that ends by amount ends on each target at another moment, and no sum is one of the same time",
            hint=f"Give it a run time and no amount instead. {_ALONE}",
        )
    if request.fills:
        raise InvalidValueError("Targets are written in full one at a time", hint=_ALONE)


def require_distinct_targets(names: Sequence[str], kin: Sequence[frozenset[str]]) -> None:
    """Raises RefusedError where two targets have a disk, a file or a file system in common.

    `kin`: of each target all that its data lie on.
    """
    for (name, first), (other, second) in combinations(zip(names, kin, strict=True), 2):
        if name == other:
            raise RefusedError(f"{clean(name, 300)} is named twice.", hint="Name each target once.")
        if shared := sorted(first & second):
            raise RefusedError(
                f"{clean(name, 300)} and {clean(other, 300)} have {clean(', '.join(shared), 300)} in common: at the "
                "same time each would get in the other's way.",
                hint=f"Name targets that share no disk. {_ALONE}",
            )
