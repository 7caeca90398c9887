"""What measuring one setting in pairs will do, for the question before it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from app.engine.judge.comparison import Comparison, compare_experiment
from app.engine.judge.looks import STANDARD, reached
from app.engine.judge.order import Letter, order, switches
from app.engine.judge.stats import THRESHOLD_PERCENT
from app.engine.judge.verdict import Verdict
from app.engine.measure.measurer import Preparation
from app.engine.session.looks import Look
from app.engine.session.state import ExperimentRecord, Session
from backends.change import Change
from backends.errors import InvalidValueError, NotFoundError, RefusedError
from backends.settings import Effect, Risk
from backends.values import dataclass

REST_SECONDS = 5.0
"""Idle time before each run, so that every run begins alike."""

MOST_PAIRS = 50
"""A hundred runs take a day."""

_INSTEAD = (
    "Measure it with `raidbench bench --repeat 3`, make the change, measure, undo it and measure once more, then "
    "`raidbench compare`: what the first and the last runs differ by is drift."
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
    looks: tuple[Look, ...]
    """When it may be decided."""
    until_percent: float | None
    """It ends at a look whose interval is no wider than this to either side; None where a verdict ends it."""
    threshold_percent: float
    """A difference within it is none."""
    seed: int
    """What order and pauses are drawn from."""
    order: tuple[Letter, ...]
    """Letters in the order of the runs, up to the last look."""
    rests: tuple[float, ...]
    """Idle time before each run."""
    resumes: str | None = None
    """The experiment that it goes on with."""
    done: int = 0
    """Whole pairs of it so far."""

    @property
    def pairs(self) -> int:
        """How many at most."""
        return len(self.order) // 2

    @property
    def switches(self) -> int:
        """How often the setting is set at most, putting it back included."""
        return switches(self.order[2 * self.done :])

    @property
    def seconds(self) -> float:
        """Estimated time of all runs and pauses at most; laying out a file and slow tools come on top."""
        return self.seconds_of(self.pairs)

    def seconds_of(self, pairs: int) -> float:
        """The same of the first so many pairs, without those that are done."""
        first, last = 2 * self.done, 2 * pairs
        return (last - first) * (self.ready.job.ramp + self.ready.job.runtime) + sum(self.rests[first:last])


def plan_ab(
    change: Change,
    ready: Preparation,
    *,
    looks: tuple[Look, ...] = STANDARD,
    until_percent: float | None = None,
    threshold_percent: float = THRESHOLD_PERCENT,
    rest_seconds: float = REST_SECONDS,
    seed: int | None = None,
    goes_on: ExperimentRecord | None = None,
    done: int = 0,
) -> AbPlan:
    """The plan of an experiment; which comes first in each pair is drawn.

    `rest_seconds` is the least: each pause is drawn from it to a third of a run more, so that nothing that happens at
    intervals falls on the same letter each time; 0 leaves pauses out. `goes_on`: an experiment to take up after `done`
    pairs, by its own plan. Raises InvalidValueError (there is nothing to compare), RefusedError (it cannot be set back
    and forth).
    """
    if goes_on is not None:
        looks, until_percent, seed = goes_on.start.looks, goes_on.start.until_percent, goes_on.start.seed
        threshold_percent = goes_on.start.threshold_percent or THRESHOLD_PERCENT
    pairs = looks[-1].pairs
    if not 1 <= pairs <= MOST_PAIRS:
        raise InvalidValueError(f"{pairs} pairs: 1 to {MOST_PAIRS} can be measured.", hint="20 at most are usual.")
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
    drawn = Random().randrange(2**32) if seed is None else seed
    random = Random(drawn)
    letters = order(looks, random)
    longer = (ready.job.ramp + ready.job.runtime) / 3 if rest_seconds else 0.0
    return AbPlan(
        change=change,
        ready=ready,
        looks=looks,
        until_percent=until_percent,
        threshold_percent=threshold_percent,
        seed=drawn,
        order=letters,
        rests=tuple(rest_seconds + random.random() * longer for _ in letters),
        resumes=None if goes_on is None else goes_on.id,
        done=done,
    )


def continued(session: Session, experiment_id: str, change: Change, ready: Preparation) -> tuple[ExperimentRecord, int]:
    """An experiment that its plan has room for, and its whole pairs.

    Raises NotFoundError, RefusedError (another change or job, no plan, or one that is complete).
    """
    record = session.experiment(experiment_id)
    if record is None:
        known = ", ".join(each.id for each in session.experiments) or "none"
        raise NotFoundError(f"This session has no experiment {experiment_id}.", hint=f"It has: {known}.")
    again = f"Begin a new one: `raidbench ab {record.start.target} {record.start.key}={record.start.b}`."
    start = record.start
    if (start.target, start.key, start.a, start.b) != (change.target, change.key, change.before, change.after):
        was = f"{start.key} of {start.target}, {start.a} against {start.b}"
        raise RefusedError(f"{record.id} measured {was}.", hint="Name the same target, setting and value.")
    if start.title != ready.job.describe():
        raise RefusedError(f"{record.id} measured another job: {start.title}.", hint="Name the same job.")
    comparison = compare_experiment(session, experiment_id)
    done = 0 if comparison is None else len(comparison.sides.a)
    if not record.start.looks or record.start.seed is None:
        raise RefusedError(f"{record.id} has no plan to go on with: an earlier version measured it.", hint=again)
    if ended(record.start.looks, record.start.until_percent, comparison):
        raise RefusedError(f"{record.id} is complete: more pairs would be chosen by its result.", hint=again)
    return record, done


def ended(looks: Sequence[Look], until_percent: float | None, comparison: Comparison | None) -> bool:
    """Whether a look is due, and ends the experiment: the last one, one that decides, one as narrow as asked for."""
    row = None if comparison is None else comparison.headline
    if comparison is None or row is None:
        return False
    pairs = len(comparison.sides.a)
    if reached(looks, pairs) is None:
        return False
    judgement = row.judgement
    if pairs >= looks[-1].pairs or judgement is None or judgement.interval is None:
        return pairs >= looks[-1].pairs
    if until_percent is None:
        return judgement.verdict is not Verdict.NOT_DECIDED
    return (judgement.interval.percent_high - judgement.interval.percent_low) / 2 <= until_percent
