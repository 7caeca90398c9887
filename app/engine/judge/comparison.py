"""Two sides next to each other: figures, differences with their intervals, and what they show. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from app.engine.judge.caveats import weakened, weighed
from app.engine.judge.family import BESIDE, corrected
from app.engine.judge.grouping import Sides, pairs_of, sides_of
from app.engine.judge.kinds import FIGURES, SYNC, Figure, headline, name_of, value_of, values_of
from app.engine.judge.looks import LEVEL, reached, upcoming
from app.engine.judge.provenance import Differences, between_sessions, between_words, differences, sentences
from app.engine.judge.residuals import disturbances
from app.engine.judge.stats import THRESHOLD_PERCENT, Spread, geometric_mean
from app.engine.judge.verdict import Judgement, Verdict, judge, judge_between
from app.engine.session.events import ExperimentStarted
from app.engine.session.figures import SIDES, RunStatus
from app.engine.session.labels import in_words
from app.engine.session.state import RunRecord, Session
from backends.values import dataclass
from widgets.plain import units

SINGLE_RUNS = (
    "These are two single runs: how far runs of the same settings lie apart is not known, so nothing says whether the "
    "difference comes from the settings. Repeat both in turn: `raidbench ab` does."
)
"""What has to stand under every comparison of single runs."""

NOT_INTERLEAVED = (
    "The runs were not measured in turn, so a drift of the machine may be behind a difference. `raidbench ab` measures "
    "in turn; where that cannot be, measure the first side once more after the second."
)
"""What has to stand under every comparison of groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureComparison:
    """One figure of both sides."""

    direction: str
    """`read`, `write`, `both` or `sync`."""
    figure: Figure
    """Which."""
    a: float | None
    """Of the first side, the geometric mean of its runs; None if one of them has none."""
    b: float | None
    """Of the second side."""
    judgement: Judgement | None = None
    """What the repeats show; None where one side has no figure, or it is not one to be judged."""
    headline: bool = False
    """Whether it is the figure that the job is about."""

    @property
    def percent(self) -> float | None:
        """How far the second is from the first, in percent of the first."""
        if self.a is None or self.b is None or not self.a:
            return None
        return (self.b - self.a) / self.a * 100

    @property
    def name(self) -> str:
        """`read IOPS`."""
        return name_of(self.figure, self.direction)

    @property
    def word(self) -> str:
        """The verdict as people read it."""
        return "not compared" if self.judgement is None else self.judgement.word

    @property
    def percent_text(self) -> str:
        """The difference alone: `-18.4 %`."""
        interval = None if self.judgement is None else self.judgement.interval
        return units.difference(self.a, self.b) if interval is None else f"{interval.percent:+.1f} %"

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
    provenance: Differences
    """What else differs, as for settings."""
    between: Spread | None
    """How far earlier sessions of the same lie apart, as logarithms of means of the headline; None if not known."""
    sentence: str
    """What they show of the figure that the job is about, and what weakens it."""
    caveats: tuple[str, ...]
    """Sentences that have to be read with the figures."""

    @property
    def differing(self) -> tuple[tuple[str, str | None, str | None], ...]:
        """Settings, fields of the job, and what else differs."""
        return (*self.settings, *self.job, *self.provenance)

    @property
    def counted(self) -> str:
        """`6 pairs`, `3 and 2 runs, not in turn`."""
        return _counted(self.sides)

    @property
    def headline(self) -> FigureComparison | None:
        """The figure that the job is about; None where a side has none."""
        return next((row for row in self.rows if row.headline), None)

    @property
    def covers(self) -> str:
        """How much its intervals cover: `95 %`."""
        row = self.headline
        interval = None if row is None or row.judgement is None else row.judgement.interval
        return f"{(1 - LEVEL) * 100:g} %" if interval is None else interval.covers


def compare(
    a: RunRecord,
    b: RunRecord,
    a_session: Sequence[RunRecord] = (),
    b_session: Sequence[RunRecord] = (),
    *,
    names: tuple[str, str] | None = None,
    earlier: Sequence[Sequence[RunRecord]] = (),
    threshold: float = THRESHOLD_PERCENT,
) -> Comparison:
    """Both runs, each with its repeats among the runs of its session.

    `names`: what they are called, by their ids where None. `earlier`: runs of other sessions, each of one. `threshold`:
    a difference within it is none, in percent.
    """
    sides = replace(sides_of(a, b, a_session, b_session), threshold=threshold)
    return _compare(a, b, sides, names or (a.id, b.id), earlier)


def compare_experiment(session: Session, experiment_id: str) -> Comparison | None:
    """The two letters of an experiment by the pairs so far; None before the first whole pair."""
    sides = pairs_of(session, experiment_id)
    record = session.experiment(experiment_id)
    if not sides.a or record is None:
        return None
    return _compare(sides.a[0], sides.b[0], sides, letters(record.start))


def letters(start: ExperimentStarted) -> tuple[str, str]:
    """What the two letters of an experiment are called: `Read-ahead 128 KiB`, `Read-ahead 4096 KiB`."""
    return f"{start.label} {in_words(start.key, start.a)}", f"{start.label} {in_words(start.key, start.b)}"


def _compare(
    a: RunRecord,
    b: RunRecord,
    sides: Sides,
    names: tuple[str, str],
    earlier: Sequence[Sequence[RunRecord]] = (),
) -> Comparison:
    about, direction = headline((*sides.a, *sides.b))
    beneath = differences(sides)
    between = between_sessions(a, earlier, lambda run: value_of(run.figures, direction, about)) if sides.apart else None
    job = differing(a.start.job, b.start.job)
    rows = tuple(_compared_figures(sides))
    return Comparison(
        a=a,
        b=b,
        sides=sides,
        rows=rows,
        settings=differing(a.start.settings, b.start.settings),
        job=job,
        provenance=beneath,
        between=between,
        sentence=" ".join((*sentences(sides, beneath), *_sentences(rows, sides, names, beneath, between))),
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


def headline_beside(sides: Sides) -> FigureComparison | None:
    """The figure that the job is about, alone: quick where there are many to be told of."""
    about, direction = headline((*sides.a, *sides.b))
    return _compared_figure(direction, about, sides, headline=True)


def interim(session: Session, experiment_id: str) -> str:
    """The headline of a running experiment so far: an interval, never a verdict; "" before there is one."""
    sides = pairs_of(session, experiment_id)
    if not sides.a:
        return ""
    row = headline_beside(sides)  # this alone: it is drawn again with every sample of a run
    interval = None if row is None or row.judgement is None else row.judgement.interval
    return "" if row is None or interval is None else f"{row.name} {interval}, not yet decided"


def _compared_figures(sides: Sides) -> Iterator[FigureComparison]:
    """The figure that the job is about first, judged alone; all others as one family."""
    about, direction = headline((*sides.a, *sides.b))
    first = _compared_figure(direction, about, sides, headline=True)
    if first is not None:
        yield first
    rest = [
        row
        for side in SIDES
        for figure in FIGURES
        if (side, figure) != (direction, about)
        and figure.of(side)
        and (row := _compared_figure(side, figure, sides)) is not None
    ]
    judgements = corrected([row.judgement for row in rest], share=BESIDE)
    yield from (replace(row, judgement=judgement) for row, judgement in zip(rest, judgements, strict=True))


def _compared_figure(direction: str, figure: Figure, sides: Sides, headline: bool = False) -> FigureComparison | None:
    a, b = values_of(sides.a, direction, figure), values_of(sides.b, direction, figure)
    if all(value is None for value in (*a, *b)):
        return None
    ones, others = _all(a), _all(b)
    judgement = None
    alike = not figure.is_latency or direction == SYNC or len(_latency_kinds(sides)) == 1
    if figure.judged and alike and ones and others and min(*ones, *others) > 0:
        judgement = weighed(_judged(ones, others, sides, figure.higher_is_better), (*sides.a, *sides.b))
    return FigureComparison(
        direction=direction, figure=figure, a=_mean(ones), b=_mean(others), judgement=judgement, headline=headline
    )


def _latency_kinds(sides: Sides) -> set[bool]:
    """Whether latencies are with submission (True) or, as earlier versions kept them, without."""
    both = (one for run in (*sides.a, *sides.b) for one in (run.figures.read, run.figures.write) if one is not None)
    return {one.completion_ns is not None for one in both}


def _judged(a: list[float], b: list[float], sides: Sides, higher_is_better: bool) -> Judgement:
    """By the plan of an experiment, between two measurements of A, or as what they are."""
    if sides.after:
        before, after = a[: -sides.after], a[-sides.after :]
        return judge_between(before, b, after, higher_is_better=higher_is_better, threshold=sides.threshold)
    look, ahead = reached(sides.looks, len(a)), upcoming(sides.looks, len(a))
    planned = look or ahead
    level = LEVEL if planned is None else planned.level
    judgement = judge(
        a,
        b,
        interleaved=sides.interleaved,
        higher_is_better=higher_is_better,
        threshold=sides.threshold,
        level=level,
    )
    if look is not None or ahead is None:
        return judgement
    more = units.plural(ahead.pairs - len(a), "pair")
    reason = f"it was to be judged after {ahead.pairs} pairs, {more} more"
    return replace(judgement, verdict=Verdict.NOT_DECIDED, reason=reason, further_pairs=ahead.pairs - len(a))


def _all(values: Sequence[float | None]) -> list[float]:
    """The values, none if one is missing: what too few I/Os carry in one run is not carried by the others."""
    there = [value for value in values if value is not None]
    return there if len(there) == len(values) else []


def _mean(values: list[float]) -> float | None:
    if len(values) < 2 or min(values) <= 0:
        return sum(values) / len(values) if values else None
    return geometric_mean(values)


def _sentences(
    rows: Sequence[FigureComparison],
    sides: Sides,
    names: tuple[str, str],
    beneath: Differences,
    between: Spread | None,
) -> Iterator[str]:
    about = next((row for row in rows if row.headline), None)
    if about is not None:
        yield _sentence(about, sides, names, same=not beneath)
        if between is not None:
            yield between_words(between)
        if (tail := tail_of(rows)) is not None and not sides.alike:
            yield f"{tail.name.capitalize()} {tail.difference}: {tail.word}."
        yield from disturbances(sides, lambda run: value_of(run.figures, about.direction, about.figure))
    caveats = weakened((*sides.a, *sides.b))
    if caveats:
        yield f"Caveats: {caveats}."


def tail_of(rows: Sequence[FigureComparison]) -> FigureComparison | None:
    """The 99th percentile beside every headline, that of the slower direction; None of single runs.

    Beside flushes it is theirs; it is not said twice.
    """
    about = next((row for row in rows if row.headline), None)
    if about is not None and about.figure.key == "latency_p99_ns":
        return None
    wanted = (SYNC,) if about is not None and about.direction == SYNC else ("read", "write")
    tails = (row for row in rows if row.figure.key == "latency_p99_ns" and row.direction in wanted)
    found = [row for row in tails if row.judgement and row.judgement.interval]
    return max(found, key=lambda row: row.a or 0.0, default=None)


def _sentence(row: FigureComparison, sides: Sides, names: tuple[str, str], *, same: bool) -> str:
    """`same`: whether nothing beneath differs, so that only chance is left of two repeats."""
    a, b = names
    judgement = row.judgement
    name = row.name
    if judgement is None:
        return f"{name[:1].upper()}{name[1:]} cannot be compared: one side has none."
    if sides.alike:
        why = ", which is chance and drift" if same else ""
        return f"{b} repeats {a}: {name} {row.difference}{why}."
    what = f"{name} {row.difference} in {_counted(sides)}"
    match judgement.verdict:
        case Verdict.NO_DIFFERENCE:
            said = f"No difference between {a} and {b}: {what}, all within +-{sides.threshold:g} %"
        case Verdict.NOT_DECIDED:
            said = f"Not decided between {a} and {b}: {what}; {judgement.reason}"
        case Verdict.REFUSED:
            said = f"Verdict on {b} against {a} refused: {judgement.reason}; {what}"
        case _:
            said = f"{b} is {judgement.word} than {a}: {what}" + (f", {judgement.reason}" if judgement.reason else "")
    if sides.threshold != THRESHOLD_PERCENT and judgement.verdict is not Verdict.NO_DIFFERENCE:
        said += f"; within +-{sides.threshold:g} % is no difference here"
    odd = judgement.outlier if judgement.outlier and judgement.outlier not in said else ""
    return f"{said}; {odd}." if odd else f"{said}."


def _counted(sides: Sides) -> str:
    if sides.interleaved:
        return units.plural(len(sides.a), "pair")
    where = " of two sessions" if sides.apart else ""
    if len(sides.a) == len(sides.b) == 1:
        return f"two single runs{where}"
    return f"{len(sides.a)} and {units.plural(len(sides.b), 'run')}{where}, not in turn"


def _caveats(a: RunRecord, b: RunRecord, sides: Sides, jobs_differ: bool) -> Iterator[str]:
    for run in (a, b):
        if run.figures.status is not RunStatus.OK:
            why = (run.figures.reason or run.figures.status.value).rstrip(".")
            yield f"{run.id} is not a whole run: {why}."
    if a.start.target != b.start.target:
        yield f"The targets differ: {a.start.target} and {b.start.target}."
    if jobs_differ:
        yield "The jobs differ, so more than the settings may be behind a difference."
    if len(_latency_kinds(sides)) > 1:
        yield "Latencies are not compared: some runs, of an earlier version, have them without submission."
    if a.start.simulated or b.start.simulated:
        yield "SIMULATED: at least one of them was not measured on hardware."
    if sides.note:
        yield sides.note
    if sides.alike:
        return
    if len(sides.a) == len(sides.b) == 1:
        yield SINGLE_RUNS
    elif not sides.interleaved and not sides.after:
        yield NOT_INTERLEAVED
