"""How a running job gets on, as values: what the load tells, the members below it and the advisor."""

from __future__ import annotations

from app.engine.session.figures import Advice, CacheFigures, MemberFigures, Phase, RunEvent, Sample, SteadyFigures
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """The job does something else now, or there is something to say about what it does."""

    phase: Phase
    """What it does."""
    seconds: float | None = None
    """How long the phase will last, None if unknown."""
    message: str = ""
    """A sentence worth showing, such as waiting for outstanding I/O; "" when the phase says it all."""
    total_bytes: int | None = None
    """Bytes after which the phase is over; None if it ends by time, or nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTaken:
    """An interval was measured."""

    sample: Sample
    """Its figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSampled:
    """Processor shares of the last second or so."""

    fio_percent_of_core: float | None
    """CPU time of fio; 100 is one core. None when its process cannot be seen."""
    host_percent: float | None
    """CPU time of the whole host; 100 is all cores."""
    silent_s: float | None = None
    """Seconds since fio's last document; more than two means some I/O does not come back. None if not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersSampled:
    """What the devices below the one under test did in the last interval."""

    members: tuple[MemberFigures, ...]
    """Each of them, those of a nested array after it."""
    caches: tuple[CacheFigures, ...] = ()
    """Caches among them since the measured phase began; empty before they were read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """What makes the figures of the job doubtful now; the run's figures have it at the end."""

    advice: tuple[Advice, ...]
    """All of it, the worst first; takes the place of what was said before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadinessSeen:
    """A round ended."""

    steady: SteadyFigures
    """How the run stands to the steady state rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """Something befell the devices below."""

    events: tuple[RunEvent, ...]
    """What, in the order of time."""


Progress = PhaseChanged | SampleTaken | CpuSampled | MembersSampled | Advised | SteadinessSeen | Happened
