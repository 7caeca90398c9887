"""What measuring one setting in pairs will do, for the question before it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from app.core.analysis.comparison import Comparison, compare_experiment
from app.core.analysis.noise import RunNoise, detectable_effect, pairs_for
from app.core.analysis.pair_design import (
    FEWEST_PAIRS,
    STANDARD,
    Letter,
    draw_order,
    due_look,
    letters_of,
    one_look,
    switches,
)
from app.core.analysis.past_runs.earlier_runs import device_id_of_run, job_text
from app.core.analysis.past_runs.series import noise_of_condition
from app.core.analysis.stats import THRESHOLD_PERCENT
from app.core.analysis.verdict import Verdict
from app.core.benchmark.idle_wait import random_pause
from app.core.benchmark.run_start import run_started
from app.core.benchmark.runner import RunPlan
from app.core.changes.trial import trial_refusal_reason
from app.core.session.event_types import InterimAnalysis
from app.core.session.state import ExperimentRecord, Session
from backends.change import Change
from backends.errors import InvalidValueError, NotFoundError, RefusedError
from backends.model import Target
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench

REST_SECONDS = 5.0
"""Idle time before each run, so that every run begins alike."""

MOST_PAIRS = 50
"""A hundred runs take a day."""

NULL_PAIRS = 6
"""Twelve runs of the same tell their scatter to a fifth."""

SAME_SET_UP, AS_IT_IS = "the same set-up", "as it is"
"""What both letters of an experiment without a setting are called: label and value."""

_INSTEAD = (
    "Measure it with `raidbench bench --repeat 3`, make the change, measure, undo it and measure once more, then "
    "`raidbench compare`: what the first and the last runs differ by is drift. What comes and goes every 6 to "
    "14 runs is not told from a difference that way."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbPlan:
    """What will be done, for the question before it."""

    change: Change
    """From A to B; `undo` leads back."""
    ready: RunPlan
    """The job, as of now."""
    looks: tuple[InterimAnalysis, ...]
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
    noise: RunNoise | None = None
    """How far earlier runs of the same lay apart; None where too few are known."""

    @property
    def null(self) -> bool:
        """Whether nothing is set: the same against itself."""
        return not self.change.key

    @property
    def sights(self) -> tuple[tuple[InterimAnalysis, float], ...]:
        """Each look that lies ahead, and the smallest effect in percent that it shows four times of five."""
        if self.noise is None:
            return ()
        return tuple(
            (look, detectable_effect(self.noise, look.pairs, level=look.level))
            for look in self.looks
            if look.pairs >= max(FEWEST_PAIRS, self.done + 1)
        )

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
    ready: RunPlan,
    *,
    looks: tuple[InterimAnalysis, ...] = STANDARD,
    until_percent: float | None = None,
    threshold_percent: float = THRESHOLD_PERCENT,
    rest_seconds: float | None = REST_SECONDS,
    seed: int | None = None,
    goes_on: ExperimentRecord | None = None,
    done: int = 0,
    noise: RunNoise | None = None,
) -> AbPlan:
    """The plan of an experiment; which comes first in each pair is drawn.

    `rest_seconds` is the least: each pause is drawn from it to a third of a run more, also where it is 0; None is for
    what is simulated, which has nothing to wait for. `goes_on`: an experiment to take up after `done` pairs, by its
    own plan. Raises InvalidValueError (there is nothing to compare), RefusedError (it cannot be set back
    and forth).
    """
    if goes_on is not None:
        looks, until_percent, seed = goes_on.start.looks, goes_on.start.until_percent, goes_on.start.seed
        threshold_percent = goes_on.start.threshold_percent or THRESHOLD_PERCENT
    if change.before == change.after:
        raise InvalidValueError(
            f"{change.label} of {change.target} is {change.after} already.",
            hint="Name the value to try against it; --null measures the same against itself.",
        )
    subject = f"{change.label} of {change.target}"
    if change.before is None:
        raise RefusedError(f"{subject} cannot be set back and forth: its value now is not known.", hint=_INSTEAD)
    if reason := trial_refusal_reason(change):
        raise RefusedError(f"{subject} cannot be set back and forth: it {reason}.", hint=_INSTEAD)
    plan = _draw_plan(change, ready, looks, rest_seconds, seed)
    return replace(
        plan,
        # Another version may draw another order from the same seed.
        order=plan.order if goes_on is None else letters_of(goes_on.start.order),
        until_percent=until_percent,
        threshold_percent=threshold_percent,
        resumes=None if goes_on is None else goes_on.id,
        done=done,
        noise=noise,
    )


def plan_null(
    target: Target,
    ready: RunPlan,
    *,
    pairs: int = NULL_PAIRS,
    threshold_percent: float = THRESHOLD_PERCENT,
    rest_seconds: float | None = REST_SECONDS,
    seed: int | None = None,
    noise: RunNoise | None = None,
) -> AbPlan:
    """The plan of an experiment in which nothing is set: what the same against itself scatters by.

    Raises InvalidValueError.
    """
    same = Change(target=target, key="", label=SAME_SET_UP, before=AS_IT_IS, after=AS_IT_IS, writes=(), undo=())
    plan = _draw_plan(same, ready, one_look(pairs), rest_seconds, seed)
    return replace(plan, threshold_percent=threshold_percent, noise=noise)


def _draw_plan(
    change: Change, ready: RunPlan, looks: tuple[InterimAnalysis, ...], rest_seconds: float | None, seed: int | None
) -> AbPlan:
    """With order and pauses drawn. Raises InvalidValueError."""
    pairs = looks[-1].pairs
    if not 1 <= pairs <= MOST_PAIRS:
        raise InvalidValueError(f"{pairs} pairs: 1 to {MOST_PAIRS} can be measured.", hint="20 at most are usual.")
    if not ready.job.runtime:
        raise InvalidValueError(
            "The job has no run time, so the length of an experiment is unknown.", hint="Name one with --runtime."
        )
    drawn = Random().randrange(2**32) if seed is None else seed
    random = Random(drawn)
    letters = draw_order(looks, random)
    run = ready.job.ramp + ready.job.runtime
    return AbPlan(
        change=change,
        ready=ready,
        looks=looks,
        until_percent=None,
        threshold_percent=THRESHOLD_PERCENT,
        seed=drawn,
        order=letters,
        rests=tuple(0.0 if rest_seconds is None else random_pause(random, rest_seconds, run) for _ in letters),
    )


def looks_that_detect(noise: RunNoise | None, percent: float, target: str) -> tuple[InterimAnalysis, ...]:
    """One look after as many pairs as find an effect of so many percent four times of five.

    Raises InvalidValueError where the noise is not known, or too large for it.
    """
    if noise is None:
        raise InvalidValueError(
            f"How many pairs show {percent:g} % is not known: too few runs of this job on {target} are.",
            hint=f"`raidbench ab {target} --null` with the same job measures how far they lie apart; so do four runs "
            "of `raidbench bench --repeat 4`.",
        )
    pairs = pairs_for(noise, percent, MOST_PAIRS)
    if pairs is None:
        smallest = detectable_effect(noise, MOST_PAIRS)
        raise InvalidValueError(
            f"{percent:g} % are not to be seen here: runs of the same lie {noise.percent:.1f} % apart, and "
            f"{MOST_PAIRS} pairs show {smallest:.1f} %.",
            hint="Name a larger effect, or let each run take longer.",
        )
    return one_look(pairs)


def resumable_experiment(
    session: Session, experiment_id: str, change: Change, ready: RunPlan
) -> tuple[ExperimentRecord, int]:
    """An experiment that its plan has room for, and its whole pairs.

    Raises NotFoundError, RefusedError (another change or job, or one that is complete).
    """
    record = session.experiment(experiment_id)
    if record is None:
        ids = ", ".join(experiment.id for experiment in session.experiments) or "none"
        raise NotFoundError(f"This session has no experiment {experiment_id}.", hint=f"It has: {ids}.")
    again = f"Begin a new one: `raidbench ab {record.start.target} {record.start.key}={record.start.b}`."
    start = record.start
    if (start.target, start.key, start.a, start.b) != (change.target, change.key, change.before, change.after):
        was = f"{start.key} of {start.target}, {start.a} against {start.b}"
        raise RefusedError(f"{record.id} measured {was}.", hint="Name the same target, setting and value.")
    if start.title != ready.job.describe():
        raise RefusedError(f"{record.id} measured another job: {start.title}.", hint="Name the same job.")
    comparison = compare_experiment(session, experiment_id)
    done = 0 if comparison is None else len(comparison.sides.a) - comparison.sides.before
    if ends_experiment(record.start.until_percent, comparison):
        again = f"{again.removesuffix('.')}: its pairs and these are judged together, at a stricter level."
        raise RefusedError(f"{record.id} is complete: more pairs would be chosen by its result.", hint=again)
    return record, done


def ends_experiment(until_percent: float | None, comparison: Comparison | None) -> bool:
    """Whether a look is due, and ends the experiment: the last one, one that decides, one as narrow as asked for."""
    row = None if comparison is None else comparison.headline
    if comparison is None or row is None:
        return False
    pairs, looks = len(comparison.sides.a), comparison.sides.looks
    if due_look(looks, pairs) is None:
        return False
    judgement = row.judgement
    if pairs >= looks[-1].pairs or judgement is None or judgement.interval is None:
        return pairs >= looks[-1].pairs
    if until_percent is None:
        return judgement.verdict is not Verdict.NOT_DECIDED
    return (judgement.interval.percent_high - judgement.interval.percent_low) / 2 <= until_percent


def known_noise(bench: Workbench, ready: RunPlan) -> RunNoise | None:
    """Return how far earlier runs of this job on this target lay apart; None where too few are known."""
    from app.core.analysis.past_runs.index import load_past_runs

    start = run_started("", ready, {}, keeps_scratch=False, simulated=bench.simulated)
    name = device_id_of_run(start, bench.session.inventory, bench.host.name)
    return noise_of_condition((start.simulated, name, job_text(start.job_texts)), load_past_runs(bench.paths).runs)
