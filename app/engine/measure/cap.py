"""Ends a run that has written a tenth of a drive, where nobody named how long or how much it writes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from app.engine.fio.job import Job
from app.engine.measure.preparation import Preparation
from app.engine.session.figures import RunFigures, RunStatus, Sample
from backends.model import Array, Drive, Inventory, Media
from widgets.plain import units

SHARE = 0.1
"""Of a drive's capacity."""

WAY_ROUND = "A job with a run time or a size of its own may write more."

_LASTING = frozenset({Media.HDD, Media.VIRTUAL, Media.RAM})
"""What writing does not wear; of what is not known it is taken to."""


class WriteCap:
    """Counts what a run writes, and stops it. `limit`: bytes, None for none."""

    def __init__(self, limit: int | None, stop: asyncio.Event) -> None:
        self._limit = limit
        self._stop = stop
        self._written = 0.0

    def hear(self, sample: Sample) -> None:
        """An interval of the run, whether it is measured or not."""
        if sample.write is not None:
            self._written += sample.write.bytes_per_second * sample.seconds
        if self._reached:
            self._stop.set()

    @property
    def _reached(self) -> bool:
        return self._limit is not None and self._written >= self._limit

    def tell(self, figures: RunFigures) -> RunFigures:
        """The figures of a run that was stopped for it say so."""
        if not self._reached or figures.status is not RunStatus.STOPPED:
            return figures
        reason = f"Stopped: {units.size(round(self._written))} are written, a tenth of the drive."
        return replace(figures, reason=reason, hint=WAY_ROUND)


def cap_of(ready: Preparation, inventory: Inventory) -> int | None:
    """Bytes after which a job is ended; None where that was agreed to, or nothing wears.

    Whoever names a run time or a size means it; so does a plan of many runs, which tells all of it before. The default
    run time is a minute, so that no such job writes for longer than ten.
    """
    named = ready.job.runtime != Job().runtime or ready.job.size is not None or ready.request.steady is not None
    agreed = named or ready.request.told or ready.request.fills > 0
    if not ready.destructive or ready.judgement is None or agreed:
        return None
    return round(SHARE * ready.judgement.size) if wears(inventory, ready.disk or ready.judgement.device) else None


def drives_below(inventory: Inventory, device: str) -> tuple[Drive, ...]:
    """The drives that writing to a device writes to, as far as they are known: members rather than their array."""
    things = inventory.at(device)
    members = {target for thing in things if isinstance(thing, Array) for target in thing.members}
    below = tuple(drive for drive in inventory.drives if drive.target in members)
    return below or tuple(drive for drive in things if isinstance(drive, Drive))


def wears(inventory: Inventory, device: str) -> bool:
    """Whether writing to a device wears something."""
    below = drives_below(inventory, device)
    return not below or any(drive.media not in _LASTING for drive in below)
