"""Two sides next to each other: figures, differences with their intervals, and what they show. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.engine.judge.caveats import weakened, weighed
from app.engine.judge.grouping import Sides, pairs_of, sides_of
from app.engine.judge.stats import THRESHOLD_PERCENT, geometric_mean
from app.engine.judge.verdict import Judgement, Verdict, judge
from app.engine.session.figures import DirectionFigures, RunStatus
from app.engine.session.state import RunRecord, Session
from widgets.plain import units

Read = Callable[[DirectionFigures], float | None]

SINGLE_RUNS = (
    "These are two single runs: how far runs of the same settings lie apart is not known, so nothing says whether the "
    "difference comes from the settings. Repeat both in turn: `raidbench ab` does."
)
"""What has to stand under every comparison of single runs."""

NOT_INTERLEAVED = (
    "The runs were not measured in turn, so drift and order may be behind a difference: none below 5 % is judged."
)
"""What has to stand under every comparison of groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A kind of figure of one direction."""

    key: str
    """In JSON."""
    label: str
    """For people."""
    read: Read
    """Where it is found; None where too few I/Os carry it."""
    show: Callable[[float | None], str]
    """How it is written."""
    higher_is_better: bool = False
    """More of it is faster; of times less is."""
    judged: bool = True
    """Whether it is a figure of a whole run that repeats can settle."""


FIGURES: tuple[Figure, ...] = (
    Figure(key="iops", label="IOPS", read=lambda of: of.iops, show=units.iops, higher_is_better=True),
    Figure(
        key="bytes_per_second",
        label="MiB/s",
        read=lambda of: of.bytes_per_second,
        show=units.mib_per_s,
        higher_is_better=True,
    ),
    Figure(key="latency_mean_ns", label="mean latency", read=lambda of: of.latency_ns.mean, show=units.latency),
    Figure(key="latency_p50_ns", label="p50", read=lambda of: of.latency_ns.p50, show=units.latency),
    Figure(key="latency_p95_ns", label="p95", read=lambda of: of.latency_ns.p95, show=units.latency),
    Figure(key="latency_p99_ns", label="p99", read=lambda of: of.latency_ns.p99, show=units.latency),
    Figure(key="latency_p99_9_ns", label="p99.9", read=lambda of: of.latency_ns.p99_9, show=units.latency),
    # One request decides it.
    Figure(key="latency_max_ns", label="max", read=lambda of: of.latency_ns.max, show=units.latency, judged=False),
)
"""In the order to show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureComparison:
    """One figure of both sides."""

    direction: str
    """`read` or `write`."""
    figure: Figure
    """Which."""
    a: float | None
    """Of the first side, the geometric mean of its runs; None if one of them has none."""
    b: float | None
    """Of the second side."""
    judgement: Judgement | None = None
    """What the repeats show; None where one side has no figure, or it is not one to be judged."""

    @property
    def percent(self) -> float | None:
        """How far the second is from the first, in percent of the first."""
        if self.a is None or self.b is None or not self.a:
            return None
        return (self.b - self.a) / self.a * 100

    @property
    def name(self) -> str:
        """`read IOPS`."""
        return f"{self.direction} {self.figure.label}"

    @property
    def difference(self) -> str:
        """The difference with its interval, if there is one."""
        interval = None if self.judgement is None else self.judgement.interval
        return units.difference(self.a, self.b) if interval is None else str(interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sides."""

    a: RunRecord
    """The first, or one of its runs."""
    b: RunRecord
    """The second, or one of its runs."""
    sides: Sides
    """All runs of both."""
    rows: tuple[FigureComparison, ...]
    """Figures that at least one of them has."""
    settings: tuple[tuple[str, str | None, str | None], ...]
    """Settings that differ: key, value in a, value in b; None where it was not recorded."""
    job: tuple[tuple[str, str | None, str | None], ...]
    """Fields of the job that differ."""
    sentence: str
    """What they show of the IOPS, in one sentence for each direction, and what weakens it."""
    caveats: tuple[str, ...]
    """Sentences that have to be read with the figures."""

    @property
    def differing(self) -> tuple[tuple[str, str | None, str | None], ...]:
        """Settings and fields of the job that differ."""
        return (*self.settings, *self.job)

    @property
    def counted(self) -> str:
        """`6 pairs`, `3 and 2 runs, not interleaved`."""
        return _counted(self.sides)


def compare(
    a: RunRecord, b: RunRecord, a_session: Sequence[RunRecord] = (), b_session: Sequence[RunRecord] = ()
) -> Comparison:
    """Both runs, each with its repeats among the runs of its session."""
    return _compare(a, b, sides_of(a, b, a_session, b_session), (a.id, b.id))


def compare_experiment(session: Session, experiment_id: str) -> Comparison | None:
    """The two letters of an experiment by the pairs so far; None before the first whole pair."""
    sides = pairs_of(session, experiment_id)
    record = session.experiment(experiment_id)
    if not sides.a or record is None:
        return None
    start = record.start
    return _compare(sides.a[0], sides.b[0], sides, (f"{start.key}={start.a}", f"{start.key}={start.b}"))


def _compare(a: RunRecord, b: RunRecord, sides: Sides, names: tuple[str, str]) -> Comparison:
    job = differing(a.start.job, b.start.job)
    rows = tuple(_compared_figures(sides))
    return Comparison(
        a=a,
        b=b,
        sides=sides,
        rows=rows,
        settings=differing(a.start.settings, b.start.settings),
        job=job,
        sentence=" ".join(_sentences(rows, sides, names)),
        caveats=tuple(_caveats(a, b, sides, bool(job))),
    )


def differing(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[tuple[str, str | None, str | None], ...]:
    """What the two mappings do not agree on."""
    keys = dict.fromkeys((*a, *b))
    return tuple((key, a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key))


def varying(mappings: list[Mapping[str, str]]) -> list[str]:
    """Keys whose values are not the same in all of them: the columns worth showing."""
    keys = dict.fromkeys(key for mapping in mappings for key in mapping)
    return [key for key in keys if len({mapping.get(key) for mapping in mappings}) > 1]


def interim(session: Session, experiment_id: str) -> str:
    """The IOPS of a running experiment so far: an interval, never a verdict; "" before there is one.

    Whoever stops as soon as an interval excludes 0 finds differences where there are none.
    """
    comparison = compare_experiment(session, experiment_id)
    rows = () if comparison is None else comparison.rows
    shown = [
        f"{row.name} {row.judgement.interval}"
        for row in rows
        if row.figure.key == "iops" and row.judgement is not None and row.judgement.interval is not None
    ]
    return f"{', '.join(shown)}, not yet decided" if shown else ""


def _compared_figures(sides: Sides) -> Iterator[FigureComparison]:
    for direction in ("read", "write"):
        for figure in FIGURES:
            a, b = _values(sides.a, direction, figure), _values(sides.b, direction, figure)
            if any(value is not None for value in (*a, *b)):
                yield _compared_figure(direction, figure, a, b, sides)


def _values(runs: Sequence[RunRecord], direction: str, figure: Figure) -> list[float | None]:
    both = (run.figures.read if direction == "read" else run.figures.write for run in runs)
    return [None if figures is None else figure.read(figures) for figures in both]


def _compared_figure(
    direction: str, figure: Figure, a: Sequence[float | None], b: Sequence[float | None], sides: Sides
) -> FigureComparison:
    ones, others = _all(a), _all(b)
    judgement = None
    if figure.judged and ones and others and min(*ones, *others) > 0:
        judgement = judge(ones, others, interleaved=sides.interleaved, higher_is_better=figure.higher_is_better)
        judgement = weighed(judgement, (*sides.a, *sides.b))
    return FigureComparison(direction=direction, figure=figure, a=_mean(ones), b=_mean(others), judgement=judgement)


def _all(values: Sequence[float | None]) -> list[float]:
    """The values, none if one is missing: what too few I/Os carry in one run is not carried by the others."""
    there = [value for value in values if value is not None]
    return there if len(there) == len(values) else []


def _mean(values: list[float]) -> float | None:
    if len(values) < 2 or min(values) <= 0:
        return sum(values) / len(values) if values else None
    return geometric_mean(values)


def _sentences(rows: Sequence[FigureComparison], sides: Sides, names: tuple[str, str]) -> Iterator[str]:
    yield from (_sentence(row, sides, names) for row in rows if row.figure.key == "iops")
    caveats = weakened((*sides.a, *sides.b))
    if caveats:
        yield f"Caveats: {caveats}."


def _sentence(row: FigureComparison, sides: Sides, names: tuple[str, str]) -> str:
    a, b = names
    judgement = row.judgement
    if judgement is None:
        return f"{row.name.capitalize()} cannot be compared: one side has none."
    if sides.alike:
        return f"{b} repeats {a}: {row.name} {row.difference}, which is chance and drift."
    what = f"{row.name} {row.difference} in {_counted(sides)}"
    match judgement.verdict:
        case Verdict.NO_DIFFERENCE:
            return f"No difference between {a} and {b}: {what}, all within +-{THRESHOLD_PERCENT:g} %."
        case Verdict.NOT_DECIDED:
            return f"Not decided between {a} and {b}: {what}; {judgement.reason}."
        case Verdict.REFUSED:
            return f"Verdict on {b} against {a} refused: {judgement.reason}; {what}."
        case _:
            return f"{b} is {judgement.word} than {a}: {what}."


def _counted(sides: Sides) -> str:
    if sides.interleaved:
        return units.plural(len(sides.a), "pair")
    if len(sides.a) == len(sides.b) == 1:
        return "two single runs"
    return f"{len(sides.a)} and {units.plural(len(sides.b), 'run')}, not interleaved"


def _caveats(a: RunRecord, b: RunRecord, sides: Sides, jobs_differ: bool) -> Iterator[str]:
    for run in (a, b):
        if run.figures.status is not RunStatus.OK:
            yield f"{run.id} is not a whole run: {run.figures.reason or run.figures.status.value}"
    if a.start.target != b.start.target:
        yield f"The targets differ: {a.start.target} and {b.start.target}."
    if jobs_differ:
        yield "The jobs differ, so more than the settings may be behind a difference."
    if a.start.simulated or b.start.simulated:
        yield "SIMULATED: at least one of them was not measured on hardware."
    if sides.note:
        yield sides.note
    if sides.alike:
        return
    if len(sides.a) == len(sides.b) == 1:
        yield SINGLE_RUNS
    elif not sides.interleaved:
        yield NOT_INTERLEAVED
