"""Ends a run that has written a tenth of a drive, where nobody named how long or how much it writes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from app.engine.fio.job import Job
from app.engine.measure.preparation import Preparation, Site
from app.engine.session.figures import RunFigures, RunStatus, Sample
from backends.model import Array, Drive, Inventory, Media
from widgets.plain import units

SHARE = 0.1
"""Of a drive's capacity."""

WAY_ROUND = "A job with a run time or a size of its own may write more."

_LASTING = frozenset({Media.HDD, Media.VIRTUAL, Media.RAM})
"""What writing does not wear; of what is not known it is taken to."""


class WriteCap:
    """Counts what a run writes, and stops it. `limits`: bytes of each target in turn, None for none."""

    def __init__(self, limits: Sequence[int | None], stop: asyncio.Event) -> None:
        self._limits = tuple(limits)
        self._stop = stop
        self._written = [0.0] * len(self._limits)

    def hear(self, sample: Sample) -> None:
        """An interval of the run, whether it is measured or not."""
        writes = [part.write for part in sample.targets] or [sample.write]
        for number, write in enumerate(writes[: len(self._limits)]):
            if write is not None:
                self._written[number] += write.bytes_per_second * sample.seconds
        if self._reached:
            self._stop.set()

    @property
    def _reached(self) -> tuple[float, ...]:
        """What was written to those that have had enough."""
        both = zip(self._written, self._limits, strict=True)
        return tuple(written for written, limit in both if limit is not None and written >= limit)

    def tell(self, figures: RunFigures) -> RunFigures:
        """The figures of a run that was stopped for it say so."""
        if not self._reached or figures.status is not RunStatus.STOPPED:
            return figures
        reason = f"Stopped: {units.size(round(max(self._reached)))} are written, a tenth of the drive."
        return replace(figures, reason=reason, hint=WAY_ROUND)


def caps_of(ready: Preparation, inventory: Inventory) -> tuple[int | None, ...]:
    """Of each target in turn the bytes after which a job is ended, see `cap_of`."""
    return tuple(cap_of(ready, site, inventory) for site in ready.sites)


def cap_of(ready: Preparation, site: Site, inventory: Inventory) -> int | None:
    """Bytes to one target after which a job is ended; None where that was agreed to, or nothing wears.

    Whoever names a run time or a size means it; so does a plan of many runs, which tells all of it before. The default
    run time is a minute, so that no such job writes for longer than ten.
    """
    named = ready.job.runtime != Job().runtime or ready.job.size is not None or ready.request.steady is not None
    agreed = named or ready.request.told or ready.request.fills > 0
    if not ready.destructive or site.judgement is None or agreed:
        return None
    return round(SHARE * site.size) if wears(inventory, site.disk or site.judgement.device) else None


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
