"""What measuring one setting in pairs will do, for the question before it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from app.engine.judge.order import Letter, order, switches
from app.engine.judge.stats import STANDARD_PAIRS
from app.engine.measure.measurer import Preparation
from backends.change import Change
from backends.errors import InvalidValueError, RefusedError
from backends.settings import Effect, Risk

REST_SECONDS = 5.0
"""Idle time before each run, so that every run begins alike."""

MOST_PAIRS = 50
"""A hundred runs take a day."""

_INSTEAD = (
    "Measure it before and after with `raidbench bench --repeat 3`, make the change between, then `raidbench compare`: "
    "differences below 5 % are not judged that way."
)
_NOT_IN_TURN: dict[Effect, str] = {
    Effect.REBOOT: "takes effect after a reboot only",
    Effect.RESET: "takes effect after a reset only",
    Effect.RESHAPE: "takes hours of reshaping",
    Effect.RECREATED: "needs the array to be created again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AbPlan:
    """What will be done, for the question before it."""

    change: Change
    """From A to B; `undo` leads back."""
    ready: Preparation
    """The job, as of now."""
    order: tuple[Letter, ...]
    """Letters in the order of the runs."""
    rest_seconds: float
    """Idle time before each run."""

    @property
    def pairs(self) -> int:
        """How many."""
        return len(self.order) // 2

    @property
    def switches(self) -> int:
        """How often the setting is set, putting it back included."""
        return switches(self.order)

    @property
    def seconds(self) -> float:
        """Estimated time of all runs and pauses; laying out a file and slow tools come on top."""
        return len(self.order) * (self.ready.job.ramp + self.ready.job.runtime + self.rest_seconds)


def plan_ab(
    change: Change,
    ready: Preparation,
    *,
    pairs: int = STANDARD_PAIRS,
    rest_seconds: float = REST_SECONDS,
    random: Random | None = None,
) -> AbPlan:
    """The plan of an experiment; the first letter is drawn.

    Raises InvalidValueError (there is nothing to compare), RefusedError (it cannot be set back and forth).
    """
    if not 1 <= pairs <= MOST_PAIRS:
        raise InvalidValueError(f"{pairs} pairs: 1 to {MOST_PAIRS} can be measured.", hint="6 pairs are usual.")
    if change.before == change.after:
        raise InvalidValueError(
            f"{change.label} of {change.target} is {change.after} already.", hint="Name the value to try against it."
        )
    what = f"{change.label} of {change.target}"
    if change.risk is Risk.DESTROYS_DATA:
        raise RefusedError(f"{what} cannot be set back and forth: setting it destroys data.", hint=_INSTEAD)
    if change.effect is not Effect.AT_ONCE:
        raise RefusedError(f"{what} cannot be set back and forth: it {_NOT_IN_TURN[change.effect]}.", hint=_INSTEAD)
    if change.before is None or not change.undo:
        raise RefusedError(f"{what} cannot be set back and forth: its value now is not known.", hint=_INSTEAD)
    return AbPlan(change=change, ready=ready, order=order(pairs, random or Random()), rest_seconds=rest_seconds)
