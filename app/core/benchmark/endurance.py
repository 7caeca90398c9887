"""Estimated wear of a drive by a job that writes: the maximum amount written, and the drive's endurance. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.benchmark.abort_conditions import drives_below, write_limit_of
from app.core.benchmark.run_plan import ResolvedTarget, RunPlan
from app.core.fio.render import most_bytes
from app.core.session.event_types import RATED
from app.core.session.state import RunRecord
from backends.model import Inventory
from backends.sizes import size_words
from widgets.text_utils import units

ENDURANCE = "Endurance used"
"""Label of the fact in which vendors' tools report the used endurance."""

UNRATED = f"{RATED}: unknown, no drive reports it"
"""Clause that is shown if no drive reports a rated endurance and the option `endurance_tbw` does not list its model."""


def wear_texts(ready: RunPlan, runs: Iterable[RunRecord], inventory: Inventory, *, times: int = 1) -> tuple[str, ...]:
    """Return clauses about the amount that a job writes and the drives' endurance; () if the job does not write.

    `runs`: earlier runs, which show the write rate. `times`: how often the job is run.
    """
    if not ready.job.writes_data and not ready.request.fills:
        return ()
    lines = [
        row for site in ready.overwritten for row in _target_wear_texts(ready, site, tuple(runs), inventory, times)
    ]
    return tuple(dict.fromkeys(lines))


def _target_wear_texts(
    ready: RunPlan, site: ResolvedTarget, runs: Sequence[RunRecord], inventory: Inventory, times: int
) -> tuple[str, ...]:
    if site.device is None:
        return ()
    filled = ready.request.fills * site.size
    fill = f"{size_words(filled)} sequentially, then " if filled else ""
    plan = ready.request.steady
    wait = plan.cap_s if plan is not None and plan.until else 0
    seconds = times * (ready.job.ramp + ready.job.runtime + wait)
    limit = write_limit_of(ready, site, inventory)
    name = inventory.lasting(site.device)
    if ready.job.runtime:
        amount = amount_text(site.device, seconds, runs, None if limit is None else times * limit, name)
    else:
        moved = most_bytes(ready.job, site.target)
        amount = "an unknown amount" if moved is None else f"at most {size_words(times * moved)}"
    written = "Written" if len(ready.sites) == 1 else f"Written to {name}"
    return (f"{written}: {fill}{amount}", *endurance_texts(inventory, site.disk or site.device))


def amount_text(
    device: str, seconds: float, runs: Iterable[RunRecord], cap: int | None = None, called: str = ""
) -> str:
    """Return a clause about the amount written in `seconds` at the highest write rate of the earlier runs (`runs`).

    `cap`: bytes after which the run is stopped; None for no limit. `called`: display name of the device; "" for its
    device node.
    """
    written = {run.id: run.write_to(device) for run in runs}
    rates = {run: write.bytes_per_second for run, write in written.items() if write is not None}
    fastest = max(rates, key=lambda run: rates[run], default=None)
    if cap is not None and (fastest is None or rates[fastest] * seconds > cap):
        return f"at most {size_words(cap)}, a tenth of the drive (no limit if you set a run time or a size)"
    if fastest is None:
        return f"an unknown amount in {units.duration(seconds)}: no run of this session wrote to {called or device}"
    most = size_words(round(rates[fastest] * seconds))
    return f"at most {most}: {units.duration(seconds)} at the rate of {fastest}"


def endurance_texts(inventory: Inventory, device: str) -> tuple[str, ...]:
    """Return clauses about the endurance of the drives that writes to a device reach."""

    def lines_of(label: str) -> tuple[str, ...]:
        drives = drives_below(inventory, device)
        facts = {
            drive.device or drive.target: f"{label} of {drive.target}: {fact.value}"
            for drive in reversed(drives)  # if two backends list a drive, the first entry counts
            for fact in drive.facts
            if fact.label == label
        }
        return tuple(reversed(facts.values()))

    return (
        *(lines_of(ENDURANCE) or ("Endurance used: unknown, the drives do not report it",)),
        *(lines_of(RATED) or (UNRATED,)),
    )
