"""What a load tells while it runs."""

from __future__ import annotations

from pathlib import Path

from app.core.session.event_types import CpuSampled, PhaseChanged, SampleTaken, SteadinessSeen
from app.core.session.results import RunFigures
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The last event of every load that was not abandoned."""

    figures: RunFigures
    """What it measured, with its verdict."""
    raw: Path
    """fio's standard output, byte by byte."""


LoadEvent = PhaseChanged | SampleTaken | SteadinessSeen | CpuSampled | Finished
