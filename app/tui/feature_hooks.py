"""Hooks for features in the screens that belong to no feature. Without a feature they do nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from backends.model import Target

if TYPE_CHECKING:
    from app.core.presentation.table import Facts
    from app.core.workbench import Workbench
    from backends.errors import RaidbenchError


class CheckTracker:
    """Findings of the check. Without the feature `check` there are none."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    @property
    def state(self) -> object:
        """A value that stays equal as long as the findings do not change."""
        return None

    async def update(self) -> None:
        """Evaluate the rules on the last scan and the latest readings."""

    def facts(self, address: str) -> tuple[Facts, ...]:
        """Return the findings about a device as groups of facts, which are shown above its other facts."""
        return ()

    @property
    def severities(self) -> Sequence[str]:
        """The severity of each finding, the gravest first. Every count of findings on the screens is taken from it."""
        return ()


class FileDifference(Protocol):
    """A setting that differs from a file."""

    @property
    def target(self) -> Target | None:
        """Target of the setting; None if this machine does not have it."""

    @property
    def key(self) -> str:
        """Key of the setting; "" if the difference concerns the device itself, such as a missing one."""

    @property
    def wanted(self) -> str:
        """Value in the file."""

    @property
    def settable(self) -> bool:
        """Whether the setting can be set from a file."""

    @property
    def why(self) -> str:
        """Why the setting cannot be set from a file, or what is missing; a sentence without its period."""

    @property
    def line(self) -> int:
        """Line number in the file."""


_NOTHING: Mapping[str, FileDifference] = MappingProxyType({})


class DriftWatch:
    """Differences of this machine from a file of settings. Without a file there are none."""

    def __init__(self, workbench: Workbench, file: Path | None) -> None:
        self._workbench = workbench
        self.file = file
        """The file, or None."""
        self.drifts: tuple[FileDifference, ...] = ()
        """Settings that differ from the file, in the order of the file."""

    @property
    def name(self) -> str:
        """The file's name for use in sentences."""
        return ""

    @property
    def count(self) -> int:
        """Number of differing settings."""
        return len(self.drifts)

    def at(self, target: str) -> Mapping[str, FileDifference]:
        """Return the differences of a target, by key."""
        return _NOTHING

    async def update(self) -> tuple[RaidbenchError, ...]:
        """Compare the machine with the file again. Return the errors that no earlier call has returned."""
        return ()


class BackgroundWork:
    """The interface of background work to the app. A feature overrides the methods that it needs."""

    @property
    def measuring(self) -> bool:
        """Whether the work is measuring on this machine now."""
        return False

    async def find(self) -> None:
        """Find unfinished work of an earlier raidbench process. Called once the devices are known."""

    async def may_leave(self) -> bool:
        """Ask what to do with the work on exit; return whether raidbench may exit."""
        return True

    def progress_text(self, now: float) -> str:
        """Return the progress of the work for the header; "" if it is not running."""
        return ""
