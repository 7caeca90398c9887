"""All that the readings of one volume are made of."""

from __future__ import annotations

from collections.abc import Mapping

from backends.values import dataclass
from backends.vendors.lvm.facts import LoadedTable, LvFacts
from backends.vendors.lvm.settings import LvOutline, outline_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LvView:
    """One volume as it is now, and what stands against changing it."""

    volume: LvFacts
    """What LVM tells."""
    group: Mapping[str, LvFacts]
    """All volumes of its group by name, hidden ones too."""
    loaded: LoadedTable | None = None
    """What the kernel has; None where it does not say."""
    lvchange: str | None = None
    """Path of lvchange, None if it is not installed."""
    lvconvert: str | None = None
    """That of lvconvert."""
    why_not: str | None = None
    """What stands against any change: no root, read-only mode."""
    silent: str = ""
    """What a command that changes something would wait for, in words; "" where nothing is known to keep it."""
    redundant: bool = False
    """Whether its cache survives the loss of a disk."""
    cache_on: str = ""
    """Nodes that the cache lies on, for people."""
    page_bytes: int = 4096
    """The kernel's page."""

    @property
    def outline(self) -> LvOutline:
        """What its list of settings depends on."""
        return outline_of(self.volume, self.group)
