"""What a load tells while it runs."""

from __future__ import annotations

from pathlib import Path

from app.core.session.event_types import CpuSampled, PhaseChanged, SampleTaken, SteadyStateUpdated
from app.core.session.results import RunResult
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFinished:
    """The last event of every load that was not abandoned."""

    figures: RunResult
    """What it measured, with its verdict."""
    raw: Path
    """fio's standard output, byte by byte."""


LoadEvent = PhaseChanged | SampleTaken | SteadyStateUpdated | CpuSampled | WorkloadFinished
