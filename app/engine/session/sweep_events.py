"""What happens in a sweep, as values: kinds of events of a session."""

from __future__ import annotations

from app.engine.session.sweep_steps import Design, Purpose, Step, StepResult, SweepCell, SweepResult
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStarted:
    """A sweep is about to begin: its whole design is on disk before the first step."""

    at: float
    design: Design
    """All of it."""
    pid: int = 0
    """The process that runs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResumed:
    """Another process goes on with it."""

    at: float
    pid: int = 0
    """The process that runs it now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepExtended:
    """What was found so far asks for more steps: a confirmation, the next depth of a search."""

    at: float
    purpose: Purpose
    """What they are for."""
    steps: tuple[Step, ...]
    """In their order."""
    cells: tuple[SweepCell, ...] = ()
    """Cells made for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStepStarted:
    """A step begins: settings first, then its run."""

    at: float
    step: int
    """Its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStepEnded:
    """A step is over."""

    at: float
    step: int
    """Its number."""
    result: StepResult
    """How."""
    run: str | None = None
    """Its run; None if it came to none."""
    reason: str = ""
    """Why it is not done; of one that is, what is in force otherwise than set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepEnded:
    """No more steps; the settings were put back, or it says which were not."""

    at: float
    result: SweepResult
    """How."""
    reason: str = ""
    """A sentence when it is not finished."""
    left: tuple[str, ...] = ()
    """Sentences about settings that are not what they were before."""


SweepEvent = SweepStarted | SweepResumed | SweepExtended | SweepStepStarted | SweepStepEnded | SweepEnded
"""All of them."""
