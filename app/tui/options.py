"""Start options of the workbench."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from app.core.session.event_types import SteadyPlan
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOptions:
    """Start options of the workbench."""

    session: Path | None = None
    """Session folder; None begins a new session."""
    ascii: bool = False
    """Whether to draw with ASCII only."""
    fps: float = 4.0
    """Maximum redraws per second while a job runs."""
    theme: str = "dark"
    """Name of the theme, one of `THEMES`."""
    recorded: bool = False
    """Whether the simulated machine is a recorded one."""
    first_start: bool = False
    """Whether no session exists yet, so that the first steps are shown."""
    keymap: Mapping[str, str] = field(default_factory=dict)
    """New keys from the user's keymap, by command id."""
    scratch: str = "."
    """Default folder of scratch files."""
    scratch_size: int | None = None
    """Size of a scratch file in bytes; None for raidbench's default."""
    profile: str = "randread-4k"
    """Name of the initial profile."""
    steady: SteadyPlan = field(default_factory=SteadyPlan)
    """Rounds and time limit for the steady state. The user chooses how runs use them."""
    trial_seconds: float = 60.0
    """Length of a trial in seconds."""
    hand_over: Callable[[Path], Awaitable[int]] | None = None
    """Continues the sweep of a session in another process and returns its PID; None if no process may be started."""
    devices_columns: tuple[str, ...] = ()
    """Columns of the device list; () for the default ones."""
    devices_order: str = "address"
    """Order of the device list."""
    state_file: Path | None = None
    """File of settings to compare the machine with; None for none."""
    config: Path | None = None
    """Configuration file in which the user's choices are saved; None if they are not saved."""
    sweep_speed: float = 1.0
    """Speed of a simulated machine's time in a sweep, as a multiple of real time."""
    fleet: Any = None
    """The hosts to begin with; None for this machine alone."""
