"""Selects runs from all sessions by target, profile and time. A device is recognised even if its name has changed."""

from __future__ import annotations

import gc
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli.async_runner import Interruption
from app.cli.options import current
from app.cli.output import say
from app.cli.session_context import loaded_session, on_workbench
from app.core.analysis.past_runs.earlier_runs import PastRun, device_id_of_target
from backends.errors import NotFoundError
from backends.text import clean

if TYPE_CHECKING:
    from app.core.session.store import LoadedSession
    from app.core.workbench import Workbench


def all_runs() -> tuple[tuple[PastRun, ...], tuple[LoadedSession, ...]]:
    """Return all known runs, and the session that --session names, if any.

    Report sessions that cannot be read.
    """
    from app.core.analysis.past_runs.index import load_past_runs

    also = () if current().session is None else (loaded_session(),)
    index = load_past_runs(current().paths, also)
    gc.freeze()  # Thousands of runs live until the command ends. A garbage collection would look at each of them.
    for note in index.notes:
        say(clean(note, 300))
    return index.runs, also


def select_runs(
    runs: Sequence[PastRun], target: str | None, *, workload: str | None = None, since: float | None = None
) -> tuple[PastRun, ...]:
    """Return the runs on `target`, with `workload`, since `since` (seconds since the epoch); None: any.

    Raises NotFoundError for an unknown target.
    """
    simulated = current().simulated
    kind = [run for run in runs if run.simulated is simulated]
    if len(kind) < len(runs) and not kind:
        if simulated:
            say("There are no runs on simulated hosts. To list the runs on real hosts, leave out --demo.")
        else:
            say("There are only runs on simulated hosts. To list them, put --demo before the command.")
    devices = None if target is None else _identities(kind, target)
    return tuple(
        run
        for run in kind
        if (devices is None or run.thing in devices)
        and (workload is None or workload == run.workload)
        and (since is None or run.at >= since)
    )


def _identities(runs: Sequence[PastRun], target: str) -> frozenset[str]:
    """Return the stable identities of the devices that `target` names by serial number, WWN, address or name.

    A present device with that name takes precedence over the newest one in earlier sessions. Raises NotFoundError if
    no run is on such a device.
    """
    exact = {run.thing for run in runs if _has_word(run.thing, target)}
    if exact:
        return frozenset(exact)
    now = _current_identity(target)
    if now is not None and any(run.thing == now for run in runs):
        return frozenset((now,))
    last = next((run.thing for run in reversed(runs) if target in (run.target, run.target.partition(":")[2])), None)
    if last is None or now is not None:
        raise NotFoundError(
            f"The history contains no run on {clean(target, 100)}.",
            hint="`raidbench history` lists the runs of all targets.",
        )
    return frozenset((last,))


def _has_word(name: str, word: str) -> bool:
    parts = re.split(r"[ ,]+", name)
    return len(word) >= 4 and word in (*parts, *(part.partition(".")[2] for part in parts))


def _current_identity(target: str) -> str | None:
    """Return the stable identity of the present device with that name; None if there is no device or identity."""

    async def find(bench: Workbench, _: Interruption) -> str | None:
        try:
            device = await bench.hardware.find(target)
        except NotFoundError:
            return None
        return device_id_of_target(bench.session.inventory, str(device.target))

    return on_workbench(find, quiet=True)
