"""What a load tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.engine.session.figures import Phase, RunFigures, Sample, SteadyFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """The job does something else now, or there is something to say about what it does."""

    phase: Phase
    """What it does."""
    note: str = ""
    """A sentence, such as what is being waited for; "" when the phase says it all."""
    total_bytes: int | None = None
    """Bytes after which the phase is over; None if it ends by time, or nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTaken:
    """An interval was measured."""

    sample: Sample
    """Its figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadinessSeen:
    """A round ended."""

    steady: SteadyFigures
    """How the run stands to the steady state rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseHeard:
    """fio said something in words; at most the first 200 lines of a run come as events."""

    line: str
    """One line, cleaned for a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSampled:
    """Processor shares of the last second or so."""

    fio_percent_of_core: float | None
    """CPU time of fio; 100 is one core. None when its process cannot be seen."""
    host_percent: float | None
    """CPU time of the whole host; 100 is all cores."""
    silent_s: float
    """Seconds since fio's last document; more than two means some I/O does not come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The last event of every load that was not abandoned."""

    figures: RunFigures
    """What it measured, with its verdict."""
    raw: Path
    """fio's standard output, byte by byte."""


LoadEvent = PhaseChanged | SampleTaken | SteadinessSeen | NoiseHeard | CpuSampled | Finished
