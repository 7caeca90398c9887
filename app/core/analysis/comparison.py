"""Two sides next to each other: figures, differences with their intervals, and what they show. No I/O."""

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
"""What differs between two sides: key, value of the first, of the second; None where it was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One figure of both sides."""

    direction: str
    """`read`, `write`, `both` or `sync`."""
    figure: MetricKind
    """Which."""
    a: float | None
    """Of the first side, the geometric mean of its runs; None if one of them has none."""
    b: float | None
    """Of the second side."""
    judgement: VerdictResult | None = None
    """What the repeats show; None where one side has no figure, or it is not one to be judged."""
    headline: bool = False
    """Whether it is the figure that the job is about."""
    same_as: str = ""
    """The figure of the same direction that says the same, as all I/Os are of one size; "" of one that says more."""

    @property
    def percent(self) -> float | None:
        """How far the second is from the first, in percent of the first."""
        if self.a is None or self.b is None or not self.a:
            return None
        return (self.b - self.a) / self.a * 100

    @property
    def interval(self) -> ConfidenceInterval | None:
        """The interval of the difference; None without a judgement, or where its runs give none."""
        return None if self.judgement is None else self.judgement.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sides."""

    a: RunRecord
    """The first, or one of its runs."""
    b: RunRecord
    """The second, or one of its runs."""
    sides: ComparisonSides
    """All runs of both."""
    rows: tuple[MetricComparison, ...]
    """Figures that at least one of them has."""
    settings: Differences
    """Settings that differ: key, value in a, value in b; None where it was not recorded."""
    job: Differences
    """Fields of the job that differ."""
    provenance: Differences
    """What else differs, as for settings."""
    between: MeanInterval | None
    """How far earlier sessions of the same lie apart, as logarithms of means of the headline; None if not known."""
    disturbances: tuple[DriftPattern, ...]
    """What the runs did by themselves in the figure that the job is about."""
    weakened: tuple[Caveat, ...]
    """What was said of the runs that weakens a verdict."""
    experiment: ExperimentStarted | None = None
    """The A/B they are of."""
    names: tuple[str, str] = ("", "")
    """What the sides are called where they differ in nothing that was set."""
    rule: int | None = None
    """The number of the rule that judged it when it ended; None where it is judged now."""

    @property
    def differing(self) -> Differences:
        """Settings, fields of the job, and what else differs."""
        return (*self.settings, *self.job, *self.provenance)

    @property
    def headline(self) -> MetricComparison | None:
        """The figure that the job is about; None where a side has none."""
        return next((row for row in self.rows if row.headline), None)

    @property
    def level(self) -> float:
        """What its intervals leave out: 0.05 for those of 95 %."""
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
    """Both runs, each with its repeats among the runs of its session.

    `names`: what they are called, by their ids where None. `earlier`: runs of other sessions, each of one. `threshold`:
    a difference within it is none, in percent, 2 where None. `experiments`: of the first one's session, for
    the plan of one that both are of.
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
    """The comparison of each section with the section of the same name; see `compare`."""
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
    """The two letters of an experiment by the pairs so far; None before the first whole pair."""
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
        rows=tuple(_compared_figures(sides)),
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
    """What the runs did by themselves, and what a change of the setting did to the run after it."""
    yield from disturbances(sides, value)
    if experiment is not None and not experiment.is_null and sides.order is RunOrder.EXPERIMENT:
        yield from carry_over(sides, value)


def _headline_kind(sides: ComparisonSides) -> tuple[MetricKind, str]:
    """What the job is about, by runs that did any I/O."""
    return headline(sorted((*sides.a, *sides.b), key=is_silent))


def differing_values(a: Mapping[str, str], b: Mapping[str, str]) -> Differences:
    """What the two mappings do not agree on."""
    keys = dict.fromkeys((*a, *b))
    return tuple((key, a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key))


def varying_keys(mappings: list[Mapping[str, str]]) -> list[str]:
    """Keys whose values are not the same in all of them: the columns worth showing."""
    keys = dict.fromkeys(key for mapping in mappings for key in mapping)
    return [key for key in keys if len({mapping.get(key) for mapping in mappings}) > 1]


def compare_headline(sides: ComparisonSides) -> MetricComparison | None:
    """The figure that the job is about, alone: quick where there are many to be told of."""
    about, direction = _headline_kind(sides)
    return _compared_figure(direction, about, sides, headline=True)


def _compared_figures(sides: ComparisonSides) -> Iterator[MetricComparison]:
    """The figure that the job is about first, judged alone; all others as one family.

    Where all I/Os are of one size, bytes are I/Os once more: they are judged as those are, and not counted twice.
    """
    (about, direction), left = _headline_kind(sides), _with_io(sides)
    first = _compared_figure(direction, about, sides, headline=True)
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
        row for side, figure in others if (row := _compared_figure(side, figure, sides, share=share)) is not None
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
    """Whether all I/Os of both sides are of one size that is known."""
    jobs = [run.start.job for run in (*sides.a, *sides.b)]
    several = any(job.get(key) for job in jobs for key in ("bssplit", "bsrange", "bs_write"))
    return len({job.get("bs") for job in jobs}) == 1 and all(job.get("bs") for job in jobs) and not several


def _compared_figure(
    direction: str, figure: MetricKind, sides: ComparisonSides, *, headline: bool = False, share: float = 1.0
) -> MetricComparison | None:
    """`share` of the level: what the first of several figures has to reach."""
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
        decided = _judged(*values, sides, left, (direction, figure), share)
        judgement = apply_caveats(_without_silent_choice(decided, sides), (*sides.a, *sides.b))
    return MetricComparison(
        direction=direction,
        figure=figure,
        a=_mean(_all_known(a)),
        b=_mean(_all_known(b)),
        judgement=judgement,
        headline=headline,
    )


def _with_io(sides: ComparisonSides) -> ComparisonSides:
    """The runs that figures are taken from: those with I/O, as long as both sides have one."""
    left = without_silent_runs(sides)
    return left if left.a and left.b else sides


def _has_stopped(sides: ComparisonSides) -> bool:
    """Whether it is the verdict that one side stopped answering: chance does not put its silent runs on that side.

    Only an order that was drawn, or a first side that answers again afterwards, excludes a device that just died.
    """
    letter = silent_side(sides)
    if not letter:
        return False
    look, ahead = due_look(sides.looks, len(sides.a)), next_look(sides.looks, len(sides.a))
    if sides.after:
        level = BETWEEN_LEVEL
    elif sides.order is RunOrder.EXPERIMENT and sides.known and (look is not None or ahead is None):
        level = LEVEL if look is None else look.level
    else:
        return False
    runs = sides.a if letter == "A" else sides.b
    return chance_of_silence(sum(map(is_silent, runs)), len(runs), len(sides.a) + len(sides.b)) <= level


def _without_silent_choice(judgement: VerdictResult, sides: ComparisonSides) -> VerdictResult:
    """The judgement of the runs with I/O; none where several more of one side than of the other are silent or slow.

    The runs that did answer are no reason to choose a side that often did not.
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
    """The figures of both sides; None where they are not to be judged."""
    a, b = (_all_known(values_of(side, direction, figure)) for side in (sides.a, sides.b))
    alike = not figure.is_latency or direction == SYNC or len(latency_kinds(sides)) == 1
    return (a, b) if figure.judged and alike and a and b and min(*a, *b) > 0 else None


def latency_kinds(sides: ComparisonSides) -> set[bool]:
    """Whether latencies are with submission (True) or, as earlier versions kept them, without."""
    both = (side for run in (*sides.a, *sides.b) for side in run.figures.transfers)
    return {side.completion_ns is not None for side in both}


def _judged(
    a: list[float],
    b: list[float],
    sides: ComparisonSides,
    left: ComparisonSides,
    kind: tuple[str, MetricKind],
    share: float,
) -> VerdictResult:
    """By the plan of an experiment, between two measurements of A, or as what they are.

    `a` and `b` are the figures of `left`, the runs with I/O; the looks count the pairs of `sides`, of all runs.
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
    if sides.order is RunOrder.IN_TURN or not sides.known:
        reason = Reason.NOT_DRAWN if sides.known else Reason.OF_EXPERIMENT
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


def _all_known(values: Sequence[float | None]) -> list[float]:
    """The values, none if one is missing: what too few I/Os carry in one run is not carried by the others."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _mean(values: list[float]) -> float | None:
    if len(values) < 2 or min(values) <= 0:
        return sum(values) / len(values) if values else None
    return geometric_mean(values)


def tail_row(rows: Sequence[MetricComparison]) -> MetricComparison | None:
    """The 99th percentile beside every headline, that of the slower direction; None of single runs.

    Beside flushes it is theirs; it is not said twice.
    """
    about = next((row for row in rows if row.headline), None)
    if about is not None and about.figure.key == "latency_p99_ns":
        return None
    wanted = (SYNC,) if about is not None and about.direction == SYNC else DIRECTIONS
    tails = (row for row in rows if row.figure.key == "latency_p99_ns" and row.direction in wanted)
    judged = [row for row in tails if row.interval is not None]
    return max(judged, key=lambda row: row.a or 0.0, default=None)


# -- what the sides came from beside their settings, and how far sessions of the same lie apart -----------------------

_OF_SCHEDULER = ("queue_iosched_", "member_queue_iosched_")
"""Knobs of one scheduler: another one has others, which says no more than that it is another one."""


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
