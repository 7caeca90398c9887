"""What two sides came from beside their settings, and how far sessions of the same lie apart. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.core.analysis.regression import session_scatter
from app.core.analysis.sample_groups import SUBJECT, ComparisonSides, condition, repeats
from app.core.analysis.stats import MeanInterval, geometric_mean
from app.core.session.state import RunRecord

_OF_SCHEDULER = ("queue_iosched_", "member_queue_iosched_")
"""Knobs of one scheduler: another one has others, which says no more than that it is another one."""

Differences = tuple[tuple[str, str | None, str | None], ...]


def differences(sides: ComparisonSides) -> Differences:
    """What is not the same on both: key, value of the first, of the second; what was measured first, the boot last.

    A side whose runs disagree has several values.
    """
    provenances = [[run.provenance for run in runs] for runs in (sides.a, sides.b)]
    keys = dict.fromkeys(key for side in provenances for run in side for key in run)
    differing = []
    for key in sorted(
        keys, key=lambda key: SUBJECT.index(key) if key in SUBJECT else len(SUBJECT) + (key == "boot_id")
    ):
        a, b = ({run.get(key) for run in side} for side in provenances)
        name, other = _shown(a), _shown(b)
        if a != b and not (key.startswith(_OF_SCHEDULER) and None in (name, other)):
            differing.append((key, name, other))
    return tuple(differing)


def _shown(values: set[str | None]) -> str | None:
    return " or ".join(sorted(filter(None, values))) or None


def between_sessions(
    run: RunRecord, sessions: Sequence[Sequence[RunRecord]], value: Callable[[RunRecord], float | None]
) -> MeanInterval | None:
    """How far sessions in which the same was measured lie apart, as logarithms of their means; None of too few."""
    groups = (repeats(runs).get(condition(run), ()) for runs in sessions)
    measured = [[measured_value for record in group if (measured_value := value(record))] for group in groups]
    return session_scatter([geometric_mean(values) for values in measured if values and min(values) > 0])
