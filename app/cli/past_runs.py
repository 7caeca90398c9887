"""Which runs of the history are meant: by target, under whatever name it has now, by workload and by time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.cli.opening import workbench
from app.cli.options import current
from app.cli.output import say
from app.cli.running import run as run_to_end
from app.engine.past_runs.earlier_runs import PastRun, known_as
from backends.errors import NotFoundError
from backends.text import clean
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRuns:
    """Which runs."""

    target: str | None
    workload: str | None
    since: float | None


def chosen(runs: Sequence[PastRun], asked: AskedRuns) -> tuple[PastRun, ...]:
    """Those that were asked for, of the kind of machine that is meant. Raises NotFoundError."""
    simulated = current().simulated
    kind = [run for run in runs if run.simulated is simulated]
    if len(kind) < len(runs) and not kind:
        say("All runs are of the other kind of machine: --demo shows simulated ones.")
    things = None if asked.target is None else _things(kind, asked.target)
    return tuple(
        run
        for run in kind
        if (things is None or run.thing in things)
        and (asked.workload is None or asked.workload == run.workload)
        and (asked.since is None or run.at >= asked.since)
    )


def _things(runs: Sequence[PastRun], target: str) -> frozenset[str]:
    """What is meant, by what stays under another name: as the machine has it now, else as the history knows it.

    Raises NotFoundError.
    """
    exact = {run.thing for run in runs if _has_word(run.thing, target)}
    if exact:
        return frozenset(exact)
    now = _now(target)
    if now is not None and any(run.thing == now for run in runs):
        return frozenset((now,))
    last = next((run.thing for run in reversed(runs) if target in (run.target, _after(run.target, ":"))), None)
    if last is None or now is not None:
        raise NotFoundError(
            f"The history has no run on {clean(target, 100)}.",
            hint="`raidbench history` lists the runs of all targets.",
        )
    return frozenset((last,))


def _has_word(thing: str, word: str) -> bool:
    words = re.split(r"[ ,]+", thing)
    return len(word) >= 4 and word in (*words, *(_after(each, ".") for each in words))


def _after(text: str, sign: str) -> str:
    return text.partition(sign)[2]


def _now(target: str) -> str | None:
    """What the machine has under that name now; None where it has nothing, or only a name tells it."""
    with workbench(quiet=True) as bench:

        async def find(_: object) -> str | None:
            try:
                found = await bench.hardware.find(target)
            except NotFoundError:
                return None
            return known_as(bench.session.inventory, str(found.target))

        return run_to_end(find)
