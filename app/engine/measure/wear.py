"""What a job that writes will cost a drive, before it is agreed to: bytes at most, and the endurance used. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.measure.preconditioning import wear_of
from app.engine.measure.preparation import Preparation
from app.engine.session.state import RunRecord
from backends.model import Inventory
from widgets.plain import units


def wear_words(
    ready: Preparation, runs: Iterable[RunRecord], inventory: Inventory, *, times: int = 1
) -> tuple[str, ...]:
    """How much a job writes to a device, and what its drives tell of their endurance; nothing of other jobs.

    `runs`: earlier ones, which tell how fast the device is written; `times`: how often it is run.
    """
    if not ready.destructive or ready.device is None:
        return ()
    used = wear_of(inventory, ready.disk or ready.device) or ("Endurance used: unknown, its drives do not tell it",)
    return (_written(ready, runs, times), *used)


def _written(ready: Preparation, runs: Iterable[RunRecord], times: int) -> str:
    """At the fastest that the device was written so far, for all the time that the job may take."""
    rates = {
        run.id: run.figures.write.bytes_per_second
        for run in runs
        if run.figures.write is not None and run.start.device == ready.device
    }
    filled = ready.request.fills * ready.size
    fill = f"{units.size(filled)} in order, then " if filled else ""
    if not rates:
        return f"Written: {fill}an unknown amount, no run of this session wrote to {ready.device}"
    fastest = max(rates, key=lambda run: rates[run])
    steady = 0 if ready.request.steady is None else ready.request.steady.cap_s
    seconds = times * (ready.job.ramp + ready.job.runtime + steady)
    most = units.size(round(rates[fastest] * seconds))
    return f"Written: {fill}{most} at most, {units.duration(seconds)} as fast as {fastest} wrote"
