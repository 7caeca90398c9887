"""All that the readings of one array are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.values import dataclass
from backends.vendors.mdraid.facts import ArrayFacts
from backends.vendors.mdraid.settings import Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayView:
    """One array as it is now, and what stands against changing it."""

    array: ArrayFacts
    """What the kernel tells."""
    outline: Outline
    """What its list of settings depends on."""
    refusals: Mapping[str, str | None] = field(default_factory=dict)
    """By attribute of its `md` folder: why it cannot be written, None if it may be tried."""
    container_metadata: str = ""
    """`external:imsm`: of the container that it is a volume of; "" where it is of none."""
    mdadm: str | None = None
    """Path of mdadm, None if it is not installed."""
    mdadm_why_not: str | None = None
    """Why mdadm cannot be run for a change; None if it can."""
    memory_bytes: int | None = None
    """The machine's memory; None if it is not told."""
    cpus: int | None = None
    """Its CPUs; None if not told."""
    speed_kib: int | None = None
    """The machine's upper limit of a resync, KiB/s on each member; None if not told."""

    @property
    def device(self) -> str:
        """The array's node."""
        return "/dev/" + self.array.name.replace("!", "/")
