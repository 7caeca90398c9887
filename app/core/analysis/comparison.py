"""Comparison of two sides (two groups of runs): metrics, differences with intervals, and verdicts. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from app.core.analysis.caveats import apply_caveats, weakening_caveats
from app.core.analysis.drift import DriftPattern, carry_over, disturbances
from app.core.analysis.metric_kinds import FIGURES, SYNC, MetricKind, half_step, headline, value_of, values_of
from app.core.analysis.pair_design import LEVEL, due_look, next_look
from app.core.analysis.reasons import Caveat, Reason
from app.core.analysis.regression import session_scatter
from app.core.analysis.sample_groups import (
    SUBJECT,
    ComparisonSides,
    RunOrder,
    condition,
    filled_fields,
    is_silent,
    pairs_of,
    repeats,
    sides_of,
    silent_side,
    without_silent_runs,
)
from app.core.analysis.stats import THRESHOLD_PERCENT, ConfidenceInterval, MeanInterval, geometric_mean
from app.core.analysis.verdict import (
    BESIDE,
    BETWEEN_LEVEL,
    FEWEST_SLOW,
    Verdict,
    VerdictResult,
    chance_of_silence,
    correct_for_multiplicity,
    judge,
    judge_between,
)
from app.core.session.events import ExperimentStarted
from app.core.session.results import DIRECTIONS, SIDES
from app.core.session.section_runs import runs_of_section, shared_sections
from app.core.session.state import ExperimentRecord, RunRecord, Session
from backends.values import dataclass

Differences = tuple[tuple[str, str | None, str | None], ...]
"""Differences of two sides, each as (key, value of the first side, value of the second); None if not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """Comparison of both sides in one metric."""

    direction: str
    """Direction of the metric: `read`, `write`, `trim`, `both` or `sync`."""
    figure: MetricKind
    """The metric that is compared."""
    a: float | None
    """Geometric mean of the runs of the first side; None if one of them has no value."""
    b: float | None
    """Geometric mean of the runs of the second side; None if one of them has no value."""
    judgement: VerdictResult | None = None
    """The verdict from the repeats; None if one side has no value, or if the metric never gets a verdict."""
    headline: bool = False
    """Whether this is the headline metric of the job."""
    same_as: str = ""
    """Key of the equivalent metric of the same direction, if all I/Os have one size; "" if there is none."""

    @property
    def percent(self) -> float | None:
        """Return the difference of the second side from the first, in percent of the first."""
        if self.a is None or self.b is None or not self.a:
            return None
        return (self.b - self.a) / self.a * 100

    @property
    def interval(self) -> ConfidenceInterval | None:
        """Return the interval of the difference; None without a verdict or repeats."""
        return None if self.judgement is None else self.judgement.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison of two sides in all metrics."""

    a: RunRecord
    """The first run, or one run of the first side."""
    b: RunRecord
    """The second run, or one run of the second side."""
    sides: ComparisonSides
    """All runs of both sides."""
    rows: tuple[MetricComparison, ...]
    """The metrics for which at least one side has a value."""
    settings: Differences
    """Settings that differ: key, value on side A, value on side B; a value is None if it was not recorded."""
    job: Differences
    """Fields of the job that differ, with the same three parts as `settings`."""
    provenance: Differences
    """Other recorded facts that differ, with the same three parts as `settings`."""
    between: MeanInterval | None
    """Scatter of the headline metric between earlier sessions, as a logarithm; None if unknown."""
    disturbances: tuple[DriftPattern, ...]
    """Patterns over time in the headline metric that were not caused by the settings."""
    weakened: tuple[Caveat, ...]
    """Caveats of the runs that weaken a verdict."""
    experiment: ExperimentStarted | None = None
    """The experiment to which the runs belong; None if they belong to none."""
    names: tuple[str, str] = ("", "")
    """Names for the sides, used if no setting differs."""
    rule: int | None = None
    """Number of the rule that gave the stored verdicts; None if the verdicts were computed now."""

    @property
    def differing(self) -> Differences:
        """Return all differences: settings, job fields and other facts."""
        return (*self.settings, *self.job, *self.provenance)

    @property
    def headline(self) -> MetricComparison | None:
        """Return the comparison in the headline metric; None if there is none."""
        return next((row for row in self.rows if row.headline), None)

    @property
    def level(self) -> float:
        """Return the level of the headline interval: 0.05 for a 95 % interval."""
        interval = None if self.headline is None else self.headline.interval
        return LEVEL if interval is None else interval.level


def compare(
    a: RunRecord,
    b: RunRecord,
    a_session: Sequence[RunRecord] = (),
    b_session: Sequence[RunRecord] = (),
    *,
    names: tuple[str, str] | None = None,
    earlier: Sequence[Sequence[RunRecord]] = (),
    threshold: float | None = None,
    experiments: Sequence[ExperimentRecord] = (),
) -> Comparison:
    """Return the comparison of both runs, each together with its repeats from the runs of its session.

    `names`: names of the sides; the ids of the runs if None. `earlier`: runs of other sessions, one list per session.
    `threshold`: a difference up to this size, in percent, counts as no difference; if None, the threshold of the
    experiment, or 2. `experiments`: the experiments of the first run's session. If both runs belong to one of them, its
    plan is used.
    """
    sides = sides_of(a, b, a_session, b_session, experiments)
    start = next((record.start for record in experiments if record.id == sides.experiment), None)
    if start is not None and a.start.mark is not None and a.start.mark.letter == "B":
        start = replace(start, a=start.b, b=start.a)
    planned = None if start is None else start.threshold_percent
    sides = replace(sides, threshold=threshold or planned or THRESHOLD_PERCENT)
    return _compare(a, b, sides, names or (a.id, b.id), earlier, start)


def compare_sections(
    a: RunRecord,
    b: RunRecord,
    a_session: Sequence[RunRecord] = (),
    b_session: Sequence[RunRecord] = (),
    *,
    names: tuple[str, str] | None = None,
    earlier: Sequence[Sequence[RunRecord]] = (),
    threshold: float | None = None,
) -> tuple[tuple[str, Comparison], ...]:
    """Return a comparison for each section that both runs have, by its name. For the arguments, see `compare`."""
    return tuple(
        (
            name,
            compare(
                own_a,
                own_b,
                runs_of_section(a_session, name),
                runs_of_section(b_session, name),
                names=names,
                earlier=[runs_of_section(runs, name) for runs in earlier],
                threshold=threshold,
            ),
        )
        for name, (own_a, own_b) in shared_sections((a, b))
    )


def compare_experiment(session: Session, experiment_id: str) -> Comparison | None:
    """Return the comparison of A and B in an experiment, from its pairs so far; None before the first complete pair."""
    sides = pairs_of(session, experiment_id)
    record = session.experiment(experiment_id)
    if not sides.a or record is None:
        return None
    return _compare(sides.a[0], sides.b[0], sides, ("A", "B"), experiment=record.start)


def _compare(
    a: RunRecord,
    b: RunRecord,
    sides: ComparisonSides,
    names: tuple[str, str],
    earlier: Sequence[Sequence[RunRecord]] = (),
    experiment: ExperimentStarted | None = None,
) -> Comparison:
    about, direction = _headline_kind(sides)

    def value(run: RunRecord) -> float | None:
        return value_of(run.figures, direction, about)

    between = between_sessions(a, earlier, value) if sides.apart else None
    return Comparison(
        a=a,
        b=b,
        sides=sides,
        rows=tuple(_compare_figures(sides)),
        settings=differing_values(a.start.settings, b.start.settings),
        job=differing_values(filled_fields(a.start.job_texts), filled_fields(b.start.job_texts)),
        provenance=differences(sides),
        between=between,
        disturbances=tuple(_disturbances(without_silent_runs(sides), experiment, value)),
        weakened=weakening_caveats((*sides.a, *sides.b)),
        experiment=experiment,
        names=names,
    )


def _disturbances(
    sides: ComparisonSides, experiment: ExperimentStarted | None, value: Callable[[RunRecord], float | None]
) -> Iterator[DriftPattern]:
    """Yield the patterns of the runs over time, including the carry-over of a setting into the next run."""
    yield from disturbances(sides, value)
    if experiment is not None and not experiment.is_null and sides.order is RunOrder.EXPERIMENT:
        yield from carry_over(sides, value)


def _headline_kind(sides: ComparisonSides) -> tuple[MetricKind, str]:
    """Return the headline metric of the job and its direction, from a run with I/O if there is one."""
    return headline(sorted((*sides.a, *sides.b), key=is_silent))


def differing_values(a: Mapping[str, str], b: Mapping[str, str]) -> Differences:
    """Return the keys whose values differ between two mappings, each with both values."""
    keys = dict.fromkeys((*a, *b))
    return tuple((key, a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key))


def varying_keys(mappings: list[Mapping[str, str]]) -> list[str]:
    """Return the keys whose value is not the same in all mappings. Only these are worth a column in a table."""
    keys = dict.fromkeys(key for mapping in mappings for key in mapping)
    return [key for key in keys if len({mapping.get(key) for mapping in mappings}) > 1]


def compare_headline(sides: ComparisonSides) -> MetricComparison | None:
    """Return the comparison of the headline metric only, which is fast enough for lists."""
    about, direction = _headline_kind(sides)
    return _compare_figure(direction, about, sides, headline=True)


def _compare_figures(sides: ComparisonSides) -> Iterator[MetricComparison]:
    """Yield the headline metric first, with its own verdict, then all others, whose verdicts are corrected together.

    If all I/Os have one size, IOPS and throughput are equivalent. Both get the same verdict, and count as one metric in
    the correction.
    """
    (about, direction), left = _headline_kind(sides), _with_io(sides)
    first = _compare_figure(direction, about, sides, headline=True)
    if first is not None:
        yield first
    repeated_key = _OTHER_RATE.get(about.key, "bytes_per_second") if _one_block_size(sides) else ""
    others = [
        (side, figure)
        for side in SIDES
        for figure in FIGURES
        if (side, figure) != (direction, about) and figure.of(side)
    ]
    repeated = {(side, figure) for side, figure in others if figure.key == repeated_key and side != SYNC}
    counted = [kind for kind in others if kind not in repeated and _judged_values(*kind, left) is not None]
    share = BESIDE / max(1, len(counted))
    other_rows = [
        row for side, figure in others if (row := _compare_figure(side, figure, sides, share=share)) is not None
    ]
    family = [row for row in other_rows if (row.direction, row.figure) not in repeated]
    judgements = correct_for_multiplicity([row.judgement for row in family], share=BESIDE)
    judged = [replace(row, judgement=judgement) for row, judgement in zip(family, judgements, strict=True)]
    judged_rows = {(row.direction, row.figure.key): row for row in (*([first] if first else []), *judged)}
    for row in other_rows:
        if (judged_row := judged_rows.get((row.direction, row.figure.key))) is not None:
            yield judged_row
        elif (twin := judged_rows.get((row.direction, _OTHER_RATE[repeated_key]))) is not None:
            yield replace(row, judgement=twin.judgement, same_as=twin.figure.key)
        else:
            yield row


_OTHER_RATE = {"iops": "bytes_per_second", "bytes_per_second": "iops"}


def _one_block_size(sides: ComparisonSides) -> bool:
    """Return whether all I/Os of both sides have the same known size."""
    jobs = [run.start.job for run in (*sides.a, *sides.b)]
    several = any(job.get(key) for job in jobs for key in ("bssplit", "bsrange", "bs_write"))
    return len({job.get("bs") for job in jobs}) == 1 and all(job.get("bs") for job in jobs) and not several


def _compare_figure(
    direction: str, figure: MetricKind, sides: ComparisonSides, *, headline: bool = False, share: float = 1.0
) -> MetricComparison | None:
    """Return the comparison of one metric.

    `share`: fraction of the level that the metric gets if it is one of several; 1 for a single metric.
    """
    left = _with_io(sides)
    a, b = values_of(left.a, direction, figure), values_of(left.b, direction, figure)
    one_is_silent = len({is_silent(run) for run in (*sides.a, *sides.b)}) == 2
    if all(value is None for value in (*a, *b)) and not (one_is_silent and headline):
        return None
    judgement, stopped = None, _has_stopped(sides)
    if stopped or (one_is_silent and left is sides):
        if headline:
            judgement = VerdictResult(
                verdict=Verdict.STOPPED_ANSWERING if stopped else Verdict.NOT_DECIDED,
                interval=None,
                interleaved=sides.interleaved and not stopped,
                reason=Reason.NO_IO,
                threshold=sides.threshold,
            )
    elif (values := _judged_values(direction, figure, left)) is not None:
        decided = _judge_values(*values, sides, left, (direction, figure), share)
        judgement = apply_caveats(_without_silent_choice(decided, sides), (*sides.a, *sides.b))
    return MetricComparison(
        direction=direction,
        figure=figure,
        a=_mean(_complete_values(a)),
        b=_mean(_complete_values(b)),
        judgement=judgement,
        headline=headline,
    )


def _with_io(sides: ComparisonSides) -> ComparisonSides:
    """Return the sides without the runs that completed no I/O; unchanged if a side would then have no runs."""
    left = without_silent_runs(sides)
    return left if left.a and left.b else sides


def _has_stopped(sides: ComparisonSides) -> bool:
    """Return whether one side stopped answering, because chance does not explain that it has all silent runs.

    A silent run completed no I/O. A device that failed for good would also leave silent runs on one side. Only two
    facts rule that out: a random order, or runs of the first side that complete I/O after the second side.
    """
    letter = silent_side(sides)
    if not letter:
        return False
    look, ahead = due_look(sides.looks, len(sides.a)), next_look(sides.looks, len(sides.a))
    if sides.after:
        level = BETWEEN_LEVEL
    elif sides.order is RunOrder.EXPERIMENT and sides.has_plan and (look is not None or ahead is None):
        level = LEVEL if look is None else look.level
    else:
        return False
    runs = sides.a if letter == "A" else sides.b
    return chance_of_silence(sum(map(is_silent, runs)), len(runs), len(sides.a) + len(sides.b)) <= level


def _without_silent_choice(judgement: VerdictResult, sides: ComparisonSides) -> VerdictResult:
    """Return NOT_DECIDED if one side has several more silent or slow runs than the other, else `judgement`.

    `judgement`: the verdict on the runs with I/O. Without this check, it could recommend a side that often completed no
    I/O, because of the results of its other runs.
    """
    more_on_b = sum(map(is_silent, sides.b)) - sum(map(is_silent, sides.a))
    if not more_on_b or not judgement.decided:
        return judgement
    slow = judgement.slow if judgement.verdict is Verdict.NO_DIFFERENCE else None
    more_on_b += 0 if slow is None else slow.count if slow.side == "B" else -slow.count
    if abs(more_on_b) < FEWEST_SLOW:
        return judgement
    return replace(judgement, verdict=Verdict.NOT_DECIDED, reason=Reason.NO_IO)


def _judged_values(
    direction: str, figure: MetricKind, sides: ComparisonSides
) -> tuple[list[float], list[float]] | None:
    """Return the metric's value for each run of both sides; None if the values allow no verdict."""
    a, b = (_complete_values(values_of(side, direction, figure)) for side in (sides.a, sides.b))
    alike = not figure.is_latency or direction == SYNC or len(latency_kinds(sides)) == 1
    return (a, b) if figure.judged and alike and a and b and min(*a, *b) > 0 else None


def latency_kinds(sides: ComparisonSides) -> set[bool]:
    """Return the kinds of latency that runs recorded: True includes submission, False does not (earlier versions)."""
    both = (side for run in (*sides.a, *sides.b) for side in run.figures.transfers)
    return {side.completion_ns is not None for side in both}


def _judge_values(
    a: list[float],
    b: list[float],
    sides: ComparisonSides,
    left: ComparisonSides,
    kind: tuple[str, MetricKind],
    share: float,
) -> VerdictResult:
    """Return the verdict on one metric, by the method that suits the order in which the runs were measured.

    The order is that of an experiment's plan, B between two measurements of A, or two groups. `a` and `b`: values of
    the runs in `left`, which are those with I/O. All pairs in `sides`, even those without I/O, count towards the next
    interim analysis.
    """
    direction, figure = kind
    step = sum(fmean(half_step(run.figures, direction, figure) for run in runs) for runs in (left.a, left.b))
    higher_is_better = figure.higher_is_better
    if left.after:
        before, after = a[: -left.after], a[-left.after :]
        return judge_between(before, b, after, higher_is_better=higher_is_better, threshold=sides.threshold, step=step)
    pairs, silent_pairs = len(sides.a), len(sides.a) - len(a)
    reached_look, ahead = due_look(sides.looks, pairs), next_look(sides.looks, pairs)
    planned = reached_look or ahead
    level = LEVEL if planned is None else planned.level
    judgement = judge(
        a,
        b,
        interleaved=sides.interleaved,
        higher_is_better=higher_is_better,
        threshold=sides.threshold,
        level=level,
        inside_level=LEVEL if planned is None else planned.inside_level,
        strictest=level * share,
        step=step,
        ahead=[replace(look, pairs=look.pairs - silent_pairs) for look in sides.looks if look.pairs > pairs],
    )
    if sides.order is RunOrder.IN_TURN or not sides.has_plan:
        reason = Reason.NOT_DRAWN if sides.has_plan else Reason.OF_EXPERIMENT
        return replace(judgement, verdict=Verdict.NOT_DECIDED, reason=reason, further_pairs=None)
    if reached_look is not None or ahead is None:
        return judgement
    return replace(
        judgement,
        verdict=Verdict.NOT_DECIDED,
        reason=Reason.BEFORE_LOOK,
        further_pairs=ahead.pairs - pairs,
        measured=pairs,
    )


def _complete_values(values: Sequence[float | None]) -> list[float]:
    """Return the values; an empty list if any is missing, because the other values cannot replace the missing one."""
    present = [value for value in values if value is not None]
    return present if len(present) == len(values) else []


def _mean(values: list[float]) -> float | None:
    if len(values) < 2 or min(values) <= 0:
        return sum(values) / len(values) if values else None
    return geometric_mean(values)


def tail_row(rows: Sequence[MetricComparison]) -> MetricComparison | None:
    """Return the p99 latency row to show with a headline; None without repeats, or if the headline is a p99.

    The row is that of the slower direction, or of the flushes if the headline metric is about flushes.
    """
    about = next((row for row in rows if row.headline), None)
    if about is not None and about.figure.key == "latency_p99_ns":
        return None
    wanted = (SYNC,) if about is not None and about.direction == SYNC else DIRECTIONS
    tails = (row for row in rows if row.figure.key == "latency_p99_ns" and row.direction in wanted)
    judged = [row for row in tails if row.interval is not None]
    return max(judged, key=lambda row: row.a or 0.0, default=None)


# -- recorded facts that differ between the sides, and the scatter between sessions -----------------------------------

_OF_SCHEDULER = ("queue_iosched_", "member_queue_iosched_")
"""Prefixes of the keys of I/O scheduler parameters.

A parameter that only one side has belongs to its scheduler, so it is not listed as a further difference.
"""


def differences(sides: ComparisonSides) -> Differences:
    """Return the provenance that differs: key, value of the first side, value of the second side.

    Facts about the measured device are first, the boot id is last. If the runs of a side have several values, all are
    listed.
    """
    provenances = [[run.provenance for run in runs] for runs in (sides.a, sides.b)]
    keys = dict.fromkeys(key for side in provenances for run in side for key in run)
    differing = []
    for key in sorted(
        keys, key=lambda key: SUBJECT.index(key) if key in SUBJECT else len(SUBJECT) + (key == "boot_id")
    ):
        a, b = ({run.get(key) for run in side} for side in provenances)
        name, other = _values_text(a), _values_text(b)
        if a != b and not (key.startswith(_OF_SCHEDULER) and None in (name, other)):
            differing.append((key, name, other))
    return tuple(differing)


def _values_text(values: set[str | None]) -> str | None:
    return " or ".join(sorted(filter(None, values))) or None


def between_sessions(
    run: RunRecord, sessions: Sequence[Sequence[RunRecord]], value: Callable[[RunRecord], float | None]
) -> MeanInterval | None:
    """Return the scatter between sessions, from the logarithms of their means; None for too few sessions.

    Only runs of `sessions` that repeat the measurement of `run` count.
    """
    groups = (repeats(runs).get(condition(run), ()) for runs in sessions)
    measured = [[measured_value for record in group if (measured_value := value(record))] for group in groups]
    return session_scatter([geometric_mean(values) for values in measured if values and min(values) > 0])
