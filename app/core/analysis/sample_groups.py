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
    """As an experiment plans it: in pairs of random order."""
    SINGLE = "single"
    """One run of each."""
    IN_TURN = "in-turn"
    """In pairs of neighbours, started manually."""
    BETWEEN = "between"
    """The second side between two measurements of the first."""
    GROUPS = "groups"
    """One side after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSides:
    """The runs of both sides."""

    a: tuple[RunRecord, ...]
    """The reference."""
    b: tuple[RunRecord, ...]
    """The side compared with the reference."""
    interleaved: bool
    """Whether a[i] and b[i] are a pair, and the pairs were measured in turn."""
    alike: bool = False
    """Whether both are repeats of the same measurement."""
    order: RunOrder = RunOrder.SINGLE
    """Order of the measurements."""
    experiment: str = ""
    """The experiment that they belong to; "" for none."""
    looks: tuple[InterimAnalysis, ...] = ()
    """The planned interim analyses, with the pairs of earlier experiments counted; empty without a plan."""
    others: tuple[str, ...] = ()
    """Earlier experiments of the session with the same question, whose pairs come first."""
    before: int = 0
    """Number of pairs of these experiments."""
    has_plan: bool = True
    """Whether the plan of their experiment is available."""
    apart: bool = False
    """Whether they belong to two sessions."""
    threshold: float = THRESHOLD_PERCENT
    """A difference within this many percent counts as none."""
    after: int = 0
    """Number of the last runs of a that were measured after all of b, if the others were before; otherwise 0."""


SUBJECT = (
    *("backing_file", "backing_inode", "backing_bytes", "size_bytes"),
    *("array_level", "array_members", "array_strip_bytes", "array_id"),
    *("controller", "controller_serial", "controller_firmware"),
    *("drive_model", "drive_serial", "drive_firmware"),
)
"""Provenance keys that identify the measured device: another device with the same name is no repeat."""

Condition = tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...], tuple[str | None, ...]]


def filled_fields(job: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a job that have a value: an empty field means the same as one that an old log lacks."""
    return {key: text for key, text in job.items() if text}


def condition(run: RunRecord) -> Condition:
    """Return what repeats of a run have in common: target, job, every recorded setting, and the device itself."""
    start = run.start
    # A scratch file is identified by the device below it: its name may differ in each run.
    where = start.target if start.scratch is None else start.device or start.target
    subject = tuple(start.provenance.get(key) for key in SUBJECT)
    return where, tuple(sorted(filled_fields(start.job_texts).items())), tuple(sorted(start.settings.items())), subject


def engine_of(run: RunRecord) -> str:
    """Return the I/O engine of a run, which affects results as much as a setting."""
    return run.start.job.get("ioengine") or "libaio"


def is_silent(run: RunRecord) -> bool:
    """Return whether the run completed no I/O, although it was not stopped and fio itself did not fail."""
    figures = run.figures
    both = figures.transfers
    answered = any(side.total_ios or side.iops for side in both)
    return not answered and (figures.status is RunStatus.OK or figures.still_s is not None)


def without_silent_runs(sides: ComparisonSides) -> ComparisonSides:
    """Return the sides without runs that completed no I/O; of pairs only those with I/O in both runs."""
    if not any(map(is_silent, (*sides.a, *sides.b))):
        return sides
    if sides.interleaved:
        both = [pair for pair in zip(sides.a, sides.b, strict=True) if not any(map(is_silent, pair))]
        return replace(sides, a=tuple(a for a, _ in both), b=tuple(b for _, b in both))
    a, b = (tuple(run for run in runs if not is_silent(run)) for runs in (sides.a, sides.b))
    after = sum(not is_silent(run) for run in sides.a[len(sides.a) - sides.after :])
    if after in (0, len(a)):  # no longer between two measurements of A
        return replace(sides, a=a, b=b, after=0, order=RunOrder.GROUPS if sides.after else sides.order)
    return replace(sides, a=a, b=b, after=after)


def silent_side(sides: ComparisonSides) -> str:
    """Return the letter of the only side with runs that stopped answering; "" if neither or both have some."""
    a, b = (any(map(is_silent, runs)) for runs in (sides.a, sides.b))
    return "" if a == b else "A" if a else "B"


def repeats(runs: Iterable[RunRecord]) -> dict[Condition, tuple[RunRecord, ...]]:
    """Return the complete runs by their condition, in order."""
    groups: dict[Condition, tuple[RunRecord, ...]] = {}
    for run in runs:
        if run.figures.status is RunStatus.OK:
            groups[condition(run)] = (*groups.get(condition(run), ()), run)
    return groups


def pairs_of(session: Session, experiment_id: str) -> ComparisonSides:
    """Return an experiment's complete pairs (maybe none), after those of earlier ones with the same question."""
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
    """Return earlier experiments with complete pairs, the same question and device, and the same kind of plan."""
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
    """Return the run of A and the run of B of each complete pair of one experiment."""
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
    """Return the sides that two runs represent: the pairs of their experiment, or the repeats of each run.

    `a_session` and `b_session`: the runs of each run's session. `experiments`: those of the first session.
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
    """Return the pairs of the experiment that has both runs; the letter of `a` is first."""
    mark, other = a.start.mark, b.start.mark
    if mark is None or other is None or mark.experiment != other.experiment or mark.letter == other.letter:
        return None
    pairs = pairs_of(Session(runs=tuple(runs), experiments=tuple(experiments)), mark.experiment)
    if not pairs.a:
        return None
    return pairs if mark.letter == "A" else replace(pairs, a=pairs.b, b=pairs.a)


def _with_repeats(run: RunRecord, runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """Return the run with its repeats; at least itself, complete or not."""
    records = repeats(runs).get(condition(run), ())
    return records if run in records else (run,)


def _interleaved_sides(a: tuple[RunRecord, ...], b: tuple[RunRecord, ...]) -> ComparisonSides | None:
    """Return pairs of neighbours in time, if every run is in one and the first side varies; else None."""
    letters: Mapping[str, str] = {run.id: "A" for run in a} | {run.id: "B" for run in b}
    timed = sorted((*a, *b), key=place_in_session)
    if len(a) != len(b):
        return None
    pairs = list(zip(timed[::2], timed[1::2], strict=True))
    if any(letters[first.id] == letters[second.id] for first, second in pairs):
        return None
    if len({letters[first.id] for first, _ in pairs}) == 1:
        return None  # always A before B: drift affects one side only
    ordered = [pair if letters[pair[0].id] == "A" else pair[::-1] for pair in pairs]
    return ComparisonSides(
        a=tuple(record for record, _ in ordered),
        b=tuple(other for _, other in ordered),
        interleaved=True,
        order=RunOrder.IN_TURN,
    )


def place_in_session(run: RunRecord) -> tuple[int, float]:
    """Return a sort key for the start order of one session's runs, independent of the clock."""
    return run.number, run.start.at


def _started_at(run: RunRecord) -> tuple[int, float]:
    """Return a sort key for the runs of several sessions, whose order only the clock gives."""
    return 0, run.start.at


def _runs_after(
    a: tuple[RunRecord, ...], b: tuple[RunRecord, ...], when: Callable[[RunRecord], tuple[int, float]]
) -> int:
    """Return how many runs of a were measured after all of b; 0 unless all others were before."""
    first, last = min(map(when, b)), max(map(when, b))
    before, after = sum(when(run) < first for run in a), sum(when(run) > last for run in a)
    return after if before and before + after == len(a) else 0


# -- repeats of a run: the mean of their metrics, and its interval ----------------------------------------------------


class Replicates:
    """Runs of one list, grouped by their condition."""

    def __init__(self, runs: Sequence[RunRecord]) -> None:
        self._groups: dict[Condition, tuple[RunRecord, ...]] = repeats(runs)

    def of(self, run: RunRecord) -> tuple[RunRecord, ...]:
        """Return the complete runs of the same measurement as this run, itself included; empty if incomplete."""
        records = self._groups.get(condition(run), ())
        return records if run in records else ()


def spread_of(runs: Sequence[RunRecord], direction: str, figure: MetricKind) -> MeanInterval | None:
    """Return mean and 95 % interval of one metric; None if a run lacks it, or there is no run."""
    both = [run.figures.side(direction) for run in runs]
    values = [figure.read(figures) for figures in both if figures is not None]
    present = [value for value in values if value is not None]
    return mean_interval(present) if present and len(present) == len(runs) else None


def spreads(runs: Sequence[RunRecord]) -> tuple[tuple[str, MetricKind, MeanInterval], ...]:
    """Return direction, metric and interval of all metrics that repeats can settle."""
    candidates = (
        (direction, figure, spread_of(runs, direction, figure))
        for direction in SIDES
        for figure in FIGURES
        if figure.judged and figure.of(direction)
    )
    return tuple((direction, figure, interval) for direction, figure, interval in candidates if interval is not None)
