"""Several targets in one job: what has to be so for their figures to be their own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from app.engine.measure.preparation import Request
from backends.errors import InvalidValueError, RefusedError
from backends.text import clean

_ALONE = "Measure them one after another."


def suits_several(request: Request) -> None:
    """Raises InvalidValueError for a job that makes no sense on several targets at the same time."""
    if len(request.targets) < 2:
        return
    if request.job.ends_by_amount:
        raise InvalidValueError(
            "A job that ends by amount ends on each target at another moment, and no sum is one of the same time",
            hint=f"Give it a run time instead. {_ALONE}",
        )
    if request.fills:
        raise InvalidValueError("Targets are written in full one at a time", hint=_ALONE)


def require_apart(names: Sequence[str], kin: Sequence[frozenset[str]]) -> None:
    """Raises RefusedError where two targets have a disk, a file or a file system in common.

    `kin`: of each target all that its data lie on.
    """
    for (one, first), (other, second) in combinations(zip(names, kin, strict=True), 2):
        if one == other:
            raise RefusedError(f"{clean(one, 300)} is named twice.", hint="Name each target once.")
        if shared := sorted(first & second):
            raise RefusedError(
                f"{clean(one, 300)} and {clean(other, 300)} have {clean(', '.join(shared), 300)} in common: at the same"
                " time each would get in the other's way.",
                hint=f"Name targets that share no disk. {_ALONE}",
            )
