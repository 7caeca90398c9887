"""How far runs of the same on one target lay apart, from all sessions: known before an experiment begins. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.engine.history.earlier_runs import Condition, PastRun
from app.engine.judge.noise import RunNoise, noise_of
from app.engine.session.figures import RunStatus


def noise_on(condition: Condition, known: Iterable[PastRun]) -> RunNoise | None:
    """From whole runs of this condition; those of one session with the same settings repeat each other.

    Runs with what was only tried count, too: they repeat each other as much.
    """
    groups: dict[object, list[float]] = {}
    for run in known:
        if run.condition == condition and run.status == RunStatus.OK and not run.forbidden and run.value:
            key = (run.session, run.kind, tuple(sorted(run.settings.items())))
            groups.setdefault(key, []).append(run.value)
    return noise_of(groups.values())
