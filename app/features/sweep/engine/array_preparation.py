"""Wait until an array of a sweep may be measured: idle, complete, and with correct parity."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from app.core.benchmark.idle_wait import wait_for_stop
from app.core.benchmark.run_plan import BenchmarkRequest
from app.core.fio.job import Job
from app.core.fio.render import FILL_BLOCK
from app.core.session.results import RunStatus
from app.core.session.sweep_steps import SweepArray
from app.features.sweep.engine.raid_levels import PARITY
from backends.array_planning import ArrayMatch
from backends.errors import BlockedError, RaidbenchError, RefusedError, StorageError
from backends.model import BROKEN, Array, State
from backends.protocol import ChecksParity
from backends.text import clean
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.workbench import Workbench

SCAN_EVERY = 2.0
"""Seconds between two scans of an array that is not idle."""

SIMULATED_SCAN_EVERY = 0.2
"""Seconds between two scans on a simulated host, whose time runs faster."""

NOTE_EVERY = 60.0
"""Seconds between two notes about the progress of the preparation."""

_MOST_SCANS = 5
"""Number of consecutive scans without a background task after which an incomplete array counts as broken."""


class NotPreparedError(RaidbenchError):
    """The array could not be prepared, so nothing may be measured on it."""


async def prepare_array(
    bench: Workbench, match: ArrayMatch, array: SweepArray, stop: asyncio.Event, *, assume_clean: bool
) -> None:
    """Wait until the array may be measured, or until `stop` is set.

    With `assume_clean`, md did not synchronise the array when it was created. The array is then written completely, and
    its parity is checked.

    Raises NotPreparedError when the array may not be measured, and the errors of a benchmark run.
    """
    await wait_until_complete(bench, match, stop)
    if not assume_clean or stop.is_set():
        return
    await _write_all(bench, match, array)
    if array.level not in PARITY or stop.is_set():
        return
    checked = [array for array in _parts(bench, match) if array.level in PARITY]
    if not checked:
        raise NotPreparedError("No parity array was found for the check.")
    for part in checked:
        await _backend(bench, part).begin_check(part.target)
    await wait_until_complete(bench, match, stop)
    if stop.is_set():
        return
    for part in checked:
        wrong = await _backend(bench, part).mismatches(part.target)
        if wrong != 0:
            text = "does not report mismatch_cnt" if wrong is None else f"has a mismatch_cnt of {wrong}"
            raise NotPreparedError(f"{part.target} {text} after the whole array was written: its parity is wrong.")
    bench.note(f"Parity of {match.target} is right: mismatch_cnt 0.")


async def wait_until_complete(bench: Workbench, match: ArrayMatch, stop: asyncio.Event) -> None:
    """Wait until the array is complete and idle, or until `stop` is set.

    Raises NotPreparedError when the array is incomplete and is not being rebuilt.
    """
    last_note = 0.0
    idle = 0
    while not stop.is_set():
        await bench.hardware.probe()
        parts = _parts(bench, match)
        if not parts:
            raise NotPreparedError(f"{match.device} is not listed as an array.")
        busy = [(part, task) for part in parts for task in part.tasks]
        broken = [part for part in parts if part.state in BROKEN]
        if not busy and not broken:
            return
        idle = 0 if busy else idle + 1
        if idle >= _MOST_SCANS:
            raise NotPreparedError(f"{broken[0].target} is {broken[0].state.value}, and no rebuild is running.")
        if busy and time.monotonic() - last_note > NOTE_EVERY:
            last_note = time.monotonic()
            part, task = busy[0]
            progress = "" if task.progress is None else f", {units.fraction(task.progress)}"
            state = "" if part.state is State.OPTIMAL else f" ({part.state.value})"
            bench.note(f"Waiting for {part.target}{state}: {task.kind}{progress}.")
        await wait_for_stop(stop, SCAN_EVERY if bench.host.capabilities.live else SIMULATED_SCAN_EVERY)


async def disturbance_text(bench: Workbench, match: ArrayMatch) -> str:
    """Return why a run on the array does not count: it now has a background task or a failure; "" if it has neither."""
    await bench.hardware.probe()
    for part in _parts(bench, match):
        if part.tasks:
            return f"{part.target} started a {part.tasks[0].kind} meanwhile, so this result does not count."
        if part.state in BROKEN:
            return f"{part.target} changed to {part.state.value} meanwhile, so this result does not count."
    return ""


def _parts(bench: Workbench, match: ArrayMatch) -> list[Array]:
    """Return the array and, if it is nested, its inner arrays."""
    arrays = {str(array.target): array for array in bench.session.inventory.arrays}
    parts: list[Array] = []
    pending = [str(match.target)]
    while pending:
        part = arrays.pop(pending.pop(), None)
        if part is not None:
            parts.append(part)
            pending += map(str, part.members)
    return parts


def _backend(bench: Workbench, part: Array) -> ChecksParity:
    backend = bench.hardware.machine.backends[part.target.backend]
    if not isinstance(backend, ChecksParity):
        raise BlockedError(f"raidbench cannot start a parity check of {part.target}.")
    return backend


async def _write_all(bench: Workbench, match: ArrayMatch, array: SweepArray) -> None:
    """Write the whole array in full stripes, then read from it for one second.

    Raises RefusedError when the array may not be overwritten, NotPreparedError when writing fails, StorageError when
    not all of the array was written.
    """
    job = Job.from_fields({"rw": "read", "bs": "128k", "iodepth": "8", "runtime": "1s", "ramp": "0s"})
    request = BenchmarkRequest(
        where=match.device or "",
        name=str(match.target),
        job=job,
        fills=1,
        fill_block=array.full_stripe_bytes or FILL_BLOCK,
        length_agreed=True,
    )
    ready = await bench.jobs.prepare(request)
    ready.require_allowed()
    if ready.content:
        raise RefusedError(f"{match.device} contains data: {clean('; '.join(ready.content), 300)}.")
    run = await bench.jobs.measure(ready, confirm=ready.confirm_text)
    if run.figures.status is RunStatus.FAILED:
        raise NotPreparedError(f"Writing the whole array failed: {run.figures.reason or 'no reason given'}.")
    if run.figures.status is RunStatus.OK and run.figures.filled_bytes < (ready.size or 1):
        raise StorageError(f"Only {run.figures.filled_bytes} of {ready.size} bytes of {match.device} were written.")
