"""The runs on each side of a comparison, and the order in which they were measured. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from app.core.analysis.metric_kinds import FIGURES, MetricKind
from app.core.analysis.pair_design import repeated_looks
from app.core.analysis.stats import THRESHOLD_PERCENT, MeanInterval, mean_interval
from app.core.session.event_types import InterimAnalysis
from app.core.session.results import SIDES, RunStatus
from app.core.session.state import ExperimentRecord, RunRecord, Session
from backends.values import dataclass


class RunOrder(StrEnum):
    """Order in which the runs of two sides were measured."""

    EXPERIMENT = "experiment"
    """In pairs, by the plan of an experiment; the order within each pair is random."""
    SINGLE = "single"
    """One run of each side."""
    IN_TURN = "in-turn"
    """In pairs of consecutive runs that the user started without an experiment."""
    BETWEEN = "between"
    """All runs of the second side between two groups of runs of the first."""
    GROUPS = "groups"
    """All runs of one side after all runs of the other, or in any other order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSides:
    """The runs on both sides of a comparison."""

    a: tuple[RunRecord, ...]
    """Runs of the reference."""
    b: tuple[RunRecord, ...]
    """Runs of the side that is compared with the reference."""
    interleaved: bool
    """Whether a[i] and b[i] are a pair, and the pairs were measured one after the other."""
    alike: bool = False
    """Whether both sides are repeats of the same measurement."""
    order: RunOrder = RunOrder.SINGLE
    """Order in which the runs were measured."""
    experiment: str = ""
    """Id of the experiment that the runs belong to; "" if they belong to none."""
    looks: tuple[InterimAnalysis, ...] = ()
    """The planned interim analyses; their numbers of pairs include those of `others`. Empty without a plan."""
    others: tuple[str, ...] = ()
    """Ids of earlier experiments of the session with the same comparison. Their pairs are first in `a` and `b`."""
    before: int = 0
    """Number of pairs from the experiments in `others`."""
    has_plan: bool = True
    """Whether the plan of the experiment is available; True if the runs belong to no experiment."""
    apart: bool = False
    """Whether the sides are from two different sessions."""
    threshold: float = THRESHOLD_PERCENT
    """A difference within this many percent counts as none."""
    after: int = 0
    """Number of runs at the end of `a` that were after all of `b`; 0 unless all other runs of `a` were before `b`."""


SUBJECT = (
    *("backing_file", "backing_inode", "backing_bytes", "size_bytes"),
    *("array_level", "array_members", "array_strip_bytes", "array_id"),
    *("controller", "controller_serial", "controller_firmware"),
    *("drive_model", "drive_serial", "drive_firmware"),
)
"""Provenance keys that identify the measured device. Runs on another device of the same name are not repeats."""

Condition = tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...], tuple[str | None, ...]]


def filled_fields(job: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a job that have a value. Logs of older versions lack fields that are empty now."""
    return {key: text for key, text in job.items() if text}


def condition(run: RunRecord) -> Condition:
    """Return the properties that all repeats of a run share: target, job, every recorded setting, and device."""
    start = run.start
    # A scratch file is identified by the device below it: its name may differ in each run.
    where = start.target if start.scratch is None else start.device or start.target
    subject = tuple(start.provenance.get(key) for key in SUBJECT)
    return where, tuple(sorted(filled_fields(start.job_texts).items())), tuple(sorted(start.settings.items())), subject


def engine_of(run: RunRecord) -> str:
    """Return the I/O engine of a run; it affects results as much as a setting."""
    return run.start.job.get("ioengine") or "libaio"


def is_silent(run: RunRecord) -> bool:
    """Return whether the run completed no I/O, although it was not stopped and fio itself did not fail."""
    figures = run.figures
    both = figures.transfers
    answered = any(side.total_ios or side.iops for side in both)
    return not answered and (figures.status is RunStatus.OK or figures.still_s is not None)


def without_silent_runs(sides: ComparisonSides) -> ComparisonSides:
    """Return the sides without the runs that completed no I/O. A pair remains only if both its runs completed I/O."""
    if not any(map(is_silent, (*sides.a, *sides.b))):
        return sides
    if sides.interleaved:
        both = [pair for pair in zip(sides.a, sides.b, strict=True) if not any(map(is_silent, pair))]
        return replace(sides, a=tuple(a for a, _ in both), b=tuple(b for _, b in both))
    a, b = (tuple(run for run in runs if not is_silent(run)) for runs in (sides.a, sides.b))
    after = sum(not is_silent(run) for run in sides.a[len(sides.a) - sides.after :])
    if after in (0, len(a)):  # B is no longer between two measurements of A
        return replace(sides, a=a, b=b, after=0, order=RunOrder.GROUPS if sides.after else sides.order)
    return replace(sides, a=a, b=b, after=after)


def silent_side(sides: ComparisonSides) -> str:
    """Return the letter of the only side that has runs without I/O; "" if neither side or both have such runs."""
    a, b = (any(map(is_silent, runs)) for runs in (sides.a, sides.b))
    return "" if a == b else "A" if a else "B"


def repeats(runs: Iterable[RunRecord]) -> dict[Condition, tuple[RunRecord, ...]]:
    """Return the complete runs in groups of repeats, by their condition; each group keeps the order of the runs."""
    groups: dict[Condition, tuple[RunRecord, ...]] = {}
    for run in runs:
        if run.figures.status is RunStatus.OK:
            groups[condition(run)] = (*groups.get(condition(run), ()), run)
    return groups


def pairs_of(session: Session, experiment_id: str) -> ComparisonSides:
    """Return the complete pairs of an experiment, after the pairs of earlier experiments with the same comparison."""
    pairs, record = _pairs(session, experiment_id), session.experiment(experiment_id)
    others = _earlier_experiments(session, record, pairs[0]) if record is not None and pairs else ()
    earlier = [pair for other in others for pair in _pairs(session, other)]
    both = (*earlier, *pairs)
    return ComparisonSides(
        a=tuple(a for a, _ in both),
        b=tuple(b for _, b in both),
        interleaved=True,
        order=RunOrder.EXPERIMENT,
        experiment=experiment_id,
        looks=() if record is None else repeated_looks(record.start.looks, len(others), len(earlier)),
        others=others,
        before=len(earlier),
        has_plan=record is not None,
        threshold=(record and record.start.threshold_percent) or THRESHOLD_PERCENT,
    )


def _earlier_experiments(
    session: Session, record: ExperimentRecord, first: tuple[RunRecord, RunRecord]
) -> tuple[str, ...]:
    """Return the ids of earlier experiments of the session with the same comparison as `record`.

    They have complete pairs, and the same target, setting, values, rule, job, device and kind of plan.
    """
    start = record.start
    if start.until_percent is not None:
        return ()
    places = [experiment.id for experiment in session.experiments]
    earlier = []
    for other in session.experiments[: places.index(record.id)]:
        other_start = other.start
        alike = (other_start.target, other_start.key, other_start.a, other_start.b, other_start.rule) == (
            *(start.target, start.key, start.a, start.b),
            start.rule,
        )
        pairs = _pairs(session, other.id) if alike and other_start.until_percent is None else ()
        if pairs and [*map(condition, pairs[0])] == [*map(condition, first)]:
            earlier.append(other.id)
    return tuple(earlier)


def _pairs(session: Session, experiment_id: str) -> tuple[tuple[RunRecord, RunRecord], ...]:
    """Return the complete pairs of one experiment, each with its run of A and its run of B."""
    pairs: dict[int, dict[str, RunRecord]] = {}
    record = session.experiment(experiment_id)
    left_out = () if record is None or record.end is None else record.end.not_counted
    for run in session.runs:
        mark = run.start.mark
        done = run.end is not None and run.id not in left_out
        counts = done and (run.figures.status is RunStatus.OK or is_silent(run))
        if mark is not None and mark.experiment == experiment_id and counts:
            pairs.setdefault(mark.pair, {})[mark.letter] = run
    return tuple((pair["A"], pair["B"]) for _, pair in sorted(pairs.items()) if len(pair) == 2)


def sides_of(
    a: RunRecord,
    b: RunRecord,
    a_session: Sequence[RunRecord],
    b_session: Sequence[RunRecord],
    experiments: Sequence[ExperimentRecord] = (),
) -> ComparisonSides:
    """Return the two sides to compare for two runs: the pairs of their experiment, or the repeats of each run.

    `a_session` and `b_session`: all runs of the sessions of `a` and `b`. `experiments`: the experiments of the first
    session.
    """
    together = a_session is b_session or tuple(a_session) == tuple(b_session)
    if together and (pairs := _experiment_sides(a, b, a_session, experiments)) is not None:
        return pairs
    if together and condition(a) == condition(b):
        return ComparisonSides(a=(a,), b=(b,), interleaved=False, alike=True)
    a_runs, b_runs = _with_repeats(a, a_session), _with_repeats(b, b_session)
    if len(a_runs) == len(b_runs) == 1:
        return ComparisonSides(a=a_runs, b=b_runs, interleaved=False, apart=not together)
    if together and (in_turn := _interleaved_sides(a_runs, b_runs)):
        return in_turn
    when = place_in_session if together else _started_at
    if after := _runs_after(a_runs, b_runs, when):
        ordered = tuple(sorted(a_runs, key=when))
        return ComparisonSides(
            a=ordered, b=b_runs, interleaved=False, apart=not together, order=RunOrder.BETWEEN, after=after
        )
    return ComparisonSides(a=a_runs, b=b_runs, interleaved=False, apart=not together, order=RunOrder.GROUPS)


def _experiment_sides(
    a: RunRecord, b: RunRecord, runs: Sequence[RunRecord], experiments: Sequence[ExperimentRecord]
) -> ComparisonSides | None:
    """Return the pairs of the experiment that both runs belong to; None without one.

    The side of `a` is first, whichever letter it has.
    """
    mark, other = a.start.mark, b.start.mark
    if mark is None or other is None or mark.experiment != other.experiment or mark.letter == other.letter:
        return None
    pairs = pairs_of(Session(runs=tuple(runs), experiments=tuple(experiments)), mark.experiment)
    if not pairs.a:
        return None
    return pairs if mark.letter == "A" else replace(pairs, a=pairs.b, b=pairs.a)


def _with_repeats(run: RunRecord, runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """Return the run with its repeats; only the run itself if it is not complete."""
    records = repeats(runs).get(condition(run), ())
    return records if run in records else (run,)


def _interleaved_sides(a: tuple[RunRecord, ...], b: tuple[RunRecord, ...]) -> ComparisonSides | None:
    """Return pairs of consecutive runs; None unless every run is in a pair and both orders occur (A first, B first)."""
    letters: Mapping[str, str] = {run.id: "A" for run in a} | {run.id: "B" for run in b}
    timed = sorted((*a, *b), key=place_in_session)
    if len(a) != len(b):
        return None
    pairs = list(zip(timed[::2], timed[1::2], strict=True))
    if any(letters[first.id] == letters[second.id] for first, second in pairs):
        return None
    if len({letters[first.id] for first, _ in pairs}) == 1:
        return None  # the same side is always first, so drift looks like an effect
    ordered = [pair if letters[pair[0].id] == "A" else pair[::-1] for pair in pairs]
    return ComparisonSides(
        a=tuple(record for record, _ in ordered),
        b=tuple(other for _, other in ordered),
        interleaved=True,
        order=RunOrder.IN_TURN,
    )


def place_in_session(run: RunRecord) -> tuple[int, float]:
    """Return a sort key that gives the start order of the runs of one session, even if the clock was changed."""
    return run.number, run.start.at


def _started_at(run: RunRecord) -> tuple[int, float]:
    """Return a sort key for runs of several sessions; only the clock gives their order."""
    return 0, run.start.at


def _runs_after(
    a: tuple[RunRecord, ...], b: tuple[RunRecord, ...], when: Callable[[RunRecord], tuple[int, float]]
) -> int:
    """Return how many runs of `a` were measured after all of `b`; 0 unless all other runs of `a` were before `b`."""
    first, last = min(map(when, b)), max(map(when, b))
    before, after = sum(when(run) < first for run in a), sum(when(run) > last for run in a)
    return after if before and before + after == len(a) else 0


# -- repeats of a run: the mean of their metrics, and its interval ----------------------------------------------------


class Replicates:
    """The runs of a list in groups of repeats."""

    def __init__(self, runs: Sequence[RunRecord]) -> None:
        self._groups: dict[Condition, tuple[RunRecord, ...]] = repeats(runs)

    def of(self, run: RunRecord) -> tuple[RunRecord, ...]:
        """Return the run and its complete repeats, in order; an empty tuple if the run itself is not complete."""
        records = self._groups.get(condition(run), ())
        return records if run in records else ()


def spread_of(runs: Sequence[RunRecord], direction: str, figure: MetricKind) -> MeanInterval | None:
    """Return mean and 95 % interval of one metric; None if there is no run, or a run has no value."""
    both = [run.figures.side(direction) for run in runs]
    values = [figure.read(figures) for figures in both if figures is not None]
    present = [value for value in values if value is not None]
    return mean_interval(present) if present and len(present) == len(runs) else None


def spreads(runs: Sequence[RunRecord]) -> tuple[tuple[str, MetricKind, MeanInterval], ...]:
    """Return (direction, metric, interval) for every metric of these repeats on which a verdict is possible."""
    candidates = (
        (direction, figure, spread_of(runs, direction, figure))
        for direction in SIDES
        for figure in FIGURES
        if figure.judged and figure.of(direction)
    )
    return tuple((direction, figure, interval) for direction, figure, interval in candidates if interval is not None)
