"""Plans A/B experiments. The user reviews and confirms a plan before it runs."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
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
from app.core.session.unit_labels import value_text
from backends.change import Change
from backends.errors import InvalidValueError, NotFoundError, RefusedError
from backends.model import Target
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from backends.host import Host

_HURRY = 30.0
"""Factor by which the time of a simulated host runs faster during an experiment: there is no disk to wait for."""

_LONGEST_WAIT_S = 40.0
"""Real seconds that the runs of an experiment take at most on a simulated host."""

REST_SECONDS = 5.0
"""Minimum idle time in seconds before each run, so that all runs start under the same conditions."""

MOST_PAIRS = 50
"""Maximum number of pairs, because a hundred runs may take a day."""

NULL_PAIRS = 6
"""Number of pairs of a null experiment. Twelve equal runs determine their standard deviation to within 20 %."""

SAME_SET_UP, AS_IT_IS = "the same configuration", "as it is"
"""Label of the setting, and value of both A and B, that are shown for a null experiment, which changes nothing."""

_INSTEAD = (
    "Run `raidbench bench --repeat 3` before the change, after the change and after the undo, then `raidbench"
    " compare`. The difference between the first and the last runs is drift. This method cannot exclude"
    " periodic load with a period of 6 to 14 runs."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AbPlan:
    """The plan of an experiment."""

    change: Change
    """The change from A to B; its `undo` restores A."""
    ready: RunPlan
    """The planned run of the job, which every run of the experiment repeats."""
    looks: tuple[InterimAnalysis, ...]
    """The planned interim analyses. The experiment may end after each."""
    until_percent: float | None
    """The experiment ends when its confidence interval extends at most this far, in percent, to either side of the
    difference.

    None if the experiment ends as soon as there is a verdict.
    """
    threshold_percent: float
    """Difference in percent up to which A and B count as equal."""
    seed: int
    """Seed of the random order of the runs and of the random pauses."""
    order: tuple[Letter, ...]
    """Letter (A or B) of each run in order, up to the last interim analysis."""
    rests: tuple[float, ...]
    """Seconds of idle time before each run."""
    resumes: str | None = None
    """Id of the experiment that the plan continues; None for a new experiment."""
    done: int = 0
    """Number of pairs that were already complete in the experiment that the plan continues; 0 for a new experiment."""
    noise: RunNoise | None = None
    """Scatter of earlier equal runs; None if there are too few."""
    speed: float | None = None
    """Simulated seconds per real second; None on a real host."""

    @property
    def null(self) -> bool:
        """Whether nothing is changed, so that A and B measure the same configuration."""
        return not self.change.key

    @property
    def sights(self) -> tuple[tuple[InterimAnalysis, float], ...]:
        """Each remaining interim analysis with the smallest effect in percent that it detects with a probability of 80
        %. Empty if the noise is unknown.
        """
        if self.noise is None:
            return ()
        return tuple(
            (look, detectable_effect(self.noise, look.pairs, level=look.level))
            for look in self.looks
            if look.pairs >= max(FEWEST_PAIRS, self.done + 1)
        )

    @property
    def pairs(self) -> int:
        """Maximum number of pairs."""
        return len(self.order) // 2

    @property
    def switches(self) -> int:
        """Maximum number of times that the setting is changed, including its restoration."""
        return switches(self.order[2 * self.done :])

    @property
    def seconds(self) -> float:
        """Estimated maximum time of all runs and pauses in seconds, without the time to write a scratch file."""
        return self.seconds_of(self.pairs)

    def seconds_of(self, pairs: int) -> float:
        """Return the estimated time in seconds of the first `pairs` pairs, without those that are already complete."""
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
    """Return the plan of an experiment; the order within each pair is random.

    `rest_seconds` is the minimum pause before a run, to which a random time of up to a third of a run is added, even if
    it is 0. With None, as for simulated hosts, there are no pauses. `goes_on` is an unfinished experiment with `done`
    complete pairs, which is continued by its original plan. Raises InvalidValueError when both values are equal,
    RefusedError when the setting cannot be switched repeatedly.
    """
    if goes_on is not None:
        looks, until_percent, seed = goes_on.start.looks, goes_on.start.until_percent, goes_on.start.seed
        threshold_percent = goes_on.start.threshold_percent or THRESHOLD_PERCENT
    if change.before == change.after:
        raise InvalidValueError(
            f"{change.label} of {change.target} is already {change.after}.",
            hint="Specify another value, or compare the setting with itself (--null).",
        )
    subject = f"{change.label} of {change.target}"
    if change.before is None:
        raise RefusedError(f"{subject} cannot be switched repeatedly: its current value is unknown.", hint=_INSTEAD)
    if reason := trial_refusal_reason(change):
        raise RefusedError(f"{subject} cannot be switched repeatedly: it {reason}.", hint=_INSTEAD)
    plan = _draw_plan(change, ready, looks, rest_seconds, seed)
    return replace(
        plan,
        # Use the recorded order: another version may draw another order from the same seed.
        order=plan.order if goes_on is None else letters_of(goes_on.start.order),
        until_percent=until_percent,
        threshold_percent=threshold_percent,
        resumes=None if goes_on is None else goes_on.id,
        done=done,
        noise=noise,
    )


def with_speed(plan: AbPlan, host: Host) -> AbPlan:
    """Return the plan with the speed of a simulated host: the one that the user chose, or one that is fast enough."""
    time = host.capabilities.time
    if time is None:
        return plan
    fast = max(_HURRY, float(ceil(plan.seconds / _LONGEST_WAIT_S)))
    return replace(plan, speed=fast if time.chosen_speed is None else time.chosen_speed)


def plan_null(
    target: Target,
    ready: RunPlan,
    *,
    pairs: int = NULL_PAIRS,
    threshold_percent: float = THRESHOLD_PERCENT,
    rest_seconds: float | None = REST_SECONDS,
    noise: RunNoise | None = None,
) -> AbPlan:
    """Return the plan of an experiment that sets nothing and measures the scatter of equal runs.

    Raises InvalidValueError when the number of pairs or the run time is not valid.
    """
    no_change = Change(target=target, key="", label=SAME_SET_UP, before=AS_IT_IS, after=AS_IT_IS, writes=(), undo=())
    plan = _draw_plan(no_change, ready, one_look(pairs), rest_seconds, None)
    return replace(plan, threshold_percent=threshold_percent, noise=noise)


def _draw_plan(
    change: Change, ready: RunPlan, looks: tuple[InterimAnalysis, ...], rest_seconds: float | None, seed: int | None
) -> AbPlan:
    """Return the plan with a random order and random pauses.

    Raises InvalidValueError for too many pairs or a missing run time.
    """
    pairs = looks[-1].pairs
    if not 1 <= pairs <= MOST_PAIRS:
        raise InvalidValueError(
            f"Invalid number of pairs: {pairs}. Valid: 1 to {MOST_PAIRS}.", hint="Usually, at most 20 pairs are enough."
        )
    if not ready.job.runtime:
        raise InvalidValueError(
            "The job has no run time, so the duration of the experiment is unknown.",
            hint="Set a run time with --runtime.",
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
    """Return one analysis, after the number of pairs that detects an effect of `percent` with a probability of 80 %.

    Raises InvalidValueError when the noise is unknown or too large.
    """
    if noise is None:
        raise InvalidValueError(
            f"The number of pairs for {percent:g} % is unknown: there are too few runs of this job on {target}.",
            hint=f"Measure the run-to-run noise with the same job: `raidbench ab {target} --null`, or `raidbench"
            " bench --repeat 4`.",
        )
    pairs = pairs_for(noise, percent, MOST_PAIRS)
    if pairs is None:
        smallest = detectable_effect(noise, MOST_PAIRS)
        raise InvalidValueError(
            f"{percent:g} % cannot be detected on this target. The run-to-run noise is {noise.percent:.1f} %, so"
            f" {MOST_PAIRS} pairs detect {smallest:.1f} %.",
            hint="Specify a larger effect, or longer runs.",
        )
    return one_look(pairs)


def resumable_experiment(
    session: Session, experiment_id: str, change: Change, ready: RunPlan
) -> tuple[ExperimentRecord, int]:
    """Return the experiment with this id, which can be continued by its own plan, and the number of its complete pairs.

    Raises NotFoundError when the session does not have it, RefusedError when it measured another change or job, or is
    complete.
    """
    record = session.experiment(experiment_id)
    if record is None:
        ids = ", ".join(experiment.id for experiment in session.experiments) or "none"
        raise NotFoundError(f"The session has no experiment {experiment_id}.", hint=f"Available experiments: {ids}.")
    hint = f"Start a new experiment: `raidbench ab {record.start.target} {record.start.key}={record.start.b}`."
    start = record.start
    if (start.target, start.key, start.a, start.b) != (change.target, change.key, change.before, change.after):
        a, b = (value_text(start.key, value) for value in (start.a, start.b))
        was = f"{start.label} of {start.target}, {a} against {b}"
        raise RefusedError(f"{record.id} measured {was}.", hint="Specify the same target, setting and value.")
    if start.title != ready.job.describe():
        raise RefusedError(f"{record.id} used another job: {start.title}.", hint="Specify the same job.")
    comparison = compare_experiment(session, experiment_id)
    done = 0 if comparison is None else len(comparison.sides.a) - comparison.sides.before
    if ends_experiment(record.start.until_percent, comparison):
        hint = f"{hint.removesuffix('.')}. Its pairs and the new pairs are evaluated together, at a stricter level."
        raise RefusedError(
            f"{record.id} is complete. More pairs chosen after seeing the result would bias it.", hint=hint
        )
    return record, done


def ends_experiment(until_percent: float | None, comparison: Comparison | None) -> bool:
    """Return whether an interim analysis is due now that ends the experiment.

    The last planned analysis always ends it. An earlier one ends it when there is a verdict or, if `until_percent` is
    set, only when the interval extends at most that far, in percent, to either side.
    """
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
    """Return the scatter of earlier runs of this job on this target; None if there are too few."""
    from app.core.analysis.past_runs.index import load_past_runs

    start = run_started("", ready, {}, keeps_scratch=False, simulated=bench.simulated)
    name = device_id_of_run(start, bench.session.inventory, bench.host.name)
    return noise_of_condition((start.simulated, name, job_text(start.job_texts)), load_past_runs(bench.paths).runs)
