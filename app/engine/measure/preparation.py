"""What somebody wants measured, and what doing so will mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.engine.fio.job import Job
from app.engine.session.events import ExperimentMark
from app.engine.session.figures import Advice
from app.engine.session.steady import SteadyPlan

if TYPE_CHECKING:  # known to whoever makes these values
    from app.engine.advisor.gather import JobPlace
    from app.engine.measure.device_access import DeviceJudgement
    from app.engine.measure.scratch import ScratchPlan
    from backends.nameplate import Nameplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
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

    told: bool = False
    """Whether all that it writes was told with a plan of many runs, and agreed to."""

    @property
    def writes(self) -> bool:
        """Whether anything is written, so whether the data of a device are lost."""
        return self.job.writes or self.fills > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What will be done, for the dialog; nothing has been touched yet."""

    request: Request
    """What was asked for."""
    job: Job
    """The job as the device can serve it."""
    fio_version: str
    """`3.33`."""
    scratch: ScratchPlan | None = None
    """The file, None for a device."""
    judgement: DeviceJudgement | None = None
    """The guard's word on a device, None for a file."""
    device: str | None = None
    """Block device beneath, `/dev/sda`; None if unknown."""
    locks: tuple[str, ...] = ()
    """Names of the locks that keep others from what is measured, in the order in which everybody takes them."""
    command: tuple[str, ...] = ()
    """fio's words, the job file standing for itself."""
    fill_command: tuple[str, ...] = ()
    """The same of the fill before it; empty if there is none."""
    block: int = 512
    """Smallest unit of direct I/O of what is measured, bytes."""
    notes: tuple[str, ...] = ()
    """What was changed or deserves to be known."""
    advice: tuple[Advice, ...] = ()
    """What makes the figures doubtful and can still be mended."""
    mark: ExperimentMark | None = None
    """Its place in an experiment."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """What lies beneath, found as the run begins; empty before."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Why it will not be done at all."""
        return () if self.judgement is None else self.judgement.refused

    @property
    def hint(self) -> str:
        """What to do next when it is refused."""
        return "" if self.judgement is None else self.judgement.verdict.hint

    @property
    def plate(self) -> Nameplate | None:
        """What loses its data, and the word that has to be typed first; None where nothing is lost."""
        return None if self.judgement is None or not self.destructive else self.judgement.verdict.plate

    @property
    def confirm_text(self) -> str | None:
        """That word, None if nothing has to be typed."""
        return None if self.plate is None else self.plate.word

    @property
    def disk(self) -> str | None:
        """Node of the disk beneath, a partition's disk; None if unknown."""
        return self.device if self.judgement is None else self.judgement.disk

    @property
    def place(self) -> JobPlace:
        """The same for the advisor."""
        from app.engine.advisor.gather import JobPlace

        whole = self.scratch.size if self.scratch is not None else self.judgement.size if self.judgement else 0
        return JobPlace(
            job=self.job,
            name=self.request.name if self.scratch is None else str(self.scratch.path),
            device=self.disk,
            area_bytes=min(self.job.size or whole, whole) or None,
            scratch=self.scratch is not None,
            whole_disk=self.judgement is None or self.judgement.disk == self.judgement.device,
            holes=self.scratch is not None and self.scratch.holes and not self.scratch.fill,
        )

    @property
    def found(self) -> tuple[str, ...]:
        """What lies on the device and would be lost."""
        return () if self.judgement is None else self.judgement.verdict.found

    def confirmed_with(self, first: Preparation) -> Preparation:
        """The same run again; of what lies on the device only what `first` showed has been confirmed."""
        if self.judgement is None:
            return self
        return replace(
            self, judgement=replace(self.judgement, verdict=replace(self.judgement.verdict, found=first.found))
        )

    @property
    def destructive(self) -> bool:
        """Whether a device is overwritten."""
        return self.scratch is None and self.request.writes

    @property
    def title(self) -> str:
        """The job in one line, with the fill that comes before it."""
        fills = self.request.fills
        return f"fill {fills}x, then {self.job.describe()}" if fills else self.job.describe()

    @property
    def size(self) -> int:
        """Bytes of what is measured, all of it."""
        return self.scratch.size if self.scratch is not None else self.judgement.size if self.judgement else 0
