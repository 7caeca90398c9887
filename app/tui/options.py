"""How the workbench is to look and where it begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from app.core.session.event_types import SteadyPlan
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOptions:
    """How the workbench is to look and where it begins."""

    session: Path | None = None
    """Session folder; None begins a new one."""
    ascii: bool = False
    """Draw without UTF-8."""
    fps: float = 4.0
    """Redraws a second while a job runs, at most."""
    theme: str = "dark"
    """One of `THEMES`."""
    recorded: bool = False
    """Whether the machine is a recorded one: what is simulated is called that."""
    first_start: bool = False
    """Whether no session was ever begun here: then the first steps are told."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Other keys by command id."""
    scratch: str = "."
    """Where scratch files go unless somebody chooses."""
    scratch_size: int | None = None
    """Bytes of a scratch file."""
    profile: str = "randread-4k"
    """The job to begin with."""
    steady: SteadyPlan = field(default_factory=SteadyPlan)
    """Rounds and cap of the steady state."""
    trial_seconds: float = 60.0
    """How long a trial lasts."""
    hand_over: Callable[[Path], Awaitable[int]] | None = None
    """Lets another process go on with the sweep of a session; None where none may be started."""
    devices_columns: tuple[str, ...] = ()
    """Columns of the list of devices; () for the usual ones."""
    devices_order: str = "address"
    """What it is sorted by."""
    state_file: Path | None = None
    """File of settings that the machine is held against; None for none."""
    config: Path | None = None
    """Where choices are kept; None forgets them."""
    sweep_speed: float = 1.0
    """How many times as fast the time of a simulated machine runs in a sweep."""
    fleet: Any = None
    """The hosts that it begins with; None for this machine alone."""
