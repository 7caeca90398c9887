"""What features add to the screens of the core: nothing, where the feature is not there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from app.core.presentation.attention_list import AttentionItem, attention_items
from backends.model import Inventory, Target

if TYPE_CHECKING:
    from app.core.presentation.table import Facts
    from app.core.workbench import Workbench
    from backends.errors import RaidbenchError


class CheckTracker:
    """What a check found; of a machine that nobody checks its devices alone say what is wrong."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    @property
    def state(self) -> object:
        """Equal as long as nothing else was found."""
        return None

    async def update(self) -> None:
        """Judge the last look at the devices and what was read of them by now."""

    def facts(self, address: str) -> tuple[Facts, ...]:
        """Return what was found at a device, to stand above what is known of it."""
        return ()

    def troubles(self, inventory: Inventory) -> tuple[AttentionItem, ...]:
        """Return what wants a look, the gravest first."""
        return attention_items(inventory)


class FileDifference(Protocol):
    """A setting that has another value than a file says."""

    @property
    def target(self) -> Target | None:
        """What has it; None where there is no such thing."""

    @property
    def key(self) -> str:
        """Which setting, "" of a whole thing."""

    @property
    def wanted(self) -> str:
        """The value of the file."""

    @property
    def settable(self) -> bool:
        """Whether it can be set from a file."""

    @property
    def why(self) -> str:
        """Why it cannot be set from a file, or what is missing; a sentence without its stop."""

    @property
    def line(self) -> int:
        """Where the file says so."""


_NOTHING: Mapping[str, FileDifference] = MappingProxyType({})


class DriftWatch:
    """Differences of the session's machine from a file of settings; without a file nothing ever differs."""

    def __init__(self, workbench: Workbench, file: Path | None) -> None:
        self._workbench = workbench
        self.file = file
        """The file."""
        self.drifts: tuple[FileDifference, ...] = ()
        """Settings that have another value than the file's, in its order."""

    @property
    def name(self) -> str:
        """What the file is called in sentences."""
        return ""

    @property
    def count(self) -> int:
        """How many settings differ."""
        return len(self.drifts)

    def at(self, target: str) -> Mapping[str, FileDifference]:
        """Return what differs of a target, by key."""
        return _NOTHING

    async def update(self) -> tuple[RaidbenchError, ...]:
        """Compare anew; return what is wrong with the file or has nothing to compare with, each once while it is so."""
        return ()


class BackgroundWork:
    """What the app asks of such work; a feature overrides what applies to it."""

    @property
    def measuring(self) -> bool:
        """Whether it measures on this machine now."""
        return False

    async def find(self) -> None:
        """Look for work that an earlier raidbench left, once the devices are known."""

    async def may_leave(self) -> bool:
        """Ask what becomes of it; return whether to go on leaving."""
        return True

    def progress_text(self, now: float) -> str:
        """Return how far it is, for the header; "" while nothing of it runs."""
        return ""
