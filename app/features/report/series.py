"""Graphs of single runs: IOPS and latency over time, and latency by percentile. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log10

from app.core.fio.histogram import Histogram
from app.core.fio.run_phases import with_seconds
from app.core.presentation.raw_data import Raw
from app.core.session.results import DIRECTIONS, SIDES, DirectionSample, DirectionStats, Phase, Sample
from app.core.session.state import RunRecord, Session
from app.features.report.graph import (
    IOPS,
    LATENCY,
    MOST_LINES,
    Axis,
    AxisUnit,
    Graph,
    GraphLine,
    LineGraph,
    Point,
    Spacing,
)
from app.features.report.session_summary import standalone_runs
from widgets.plot_render.latencies import BEYOND, percentile_points

MOST_RUNS = 12
"""Maximum number of standalone runs (outside an A/B or sweep) that get their own graphs. The newest runs get them."""

_MOST_POINTS = 400

_PER_DECADE = 24
"""Maximum number of points of a percentile curve between two percentiles such as 90, 99 and 99.9 %."""


def runs_with_graphs(session: Session) -> tuple[RunRecord, ...]:
    """Return the newest standalone runs: at most `MOST_RUNS` that did not fail and belong to no A/B or sweep."""
    return standalone_runs(session)[-MOST_RUNS:]


def run_graphs(session: Session, raw: Raw) -> tuple[Graph, ...]:
    """Return the graphs of the newest standalone runs."""
    every: list[Graph] = []
    for run in runs_with_graphs(session):
        samples = raw.samples.get(run.id, ())
        graphs = (
            _iops(run, samples),
            *_section_iops(run, samples),
            *_latencies(run, samples),
            _percentiles(run),
            *_section_percentiles(run),
        )
        every += [graph for graph in graphs if graph is not None]
    return tuple(every)


def percentile_series(name: str, figures: Iterable[DirectionStats]) -> GraphLine | None:
    """Return one percentile curve over the I/Os of all `figures`, up to the highest percentile with ten I/Os beyond it.

    Return None if there are too few I/Os.
    """
    together = Histogram.merged(Histogram(dict(stats.bins)) for stats in figures)
    if together.total < 2 * BEYOND:
        return None
    points: list[Point] = []
    last = -1
    for below, value in percentile_points(together.bins):
        step = int(_nines(together.total, below) * _PER_DECADE)
        if step != last:
            points.append((below / together.total * 100, value))
            last = step
    return GraphLine(name=name, points=tuple(points)) if len(points) > 1 else None


def percentile_graph(key: str, title: str, about: str, series: Sequence[GraphLine], *, simulated: bool) -> LineGraph:
    """Return a graph of several percentile curves."""
    return LineGraph(
        key=key,
        title=title,
        about=about,
        x=Axis(label="percentile", unit=AxisUnit.PERCENT, spacing=Spacing.NINES),
        y=LATENCY,
        series=tuple(series),
        simulated=simulated,
    )


def downsample(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return about `_MOST_POINTS` of the points: the lowest and the highest of each stretch of points, so that no peak
    is lost.
    """
    if len(points) <= _MOST_POINTS:
        return tuple(points)
    width = -(-len(points) * 2 // _MOST_POINTS)
    kept: list[Point] = []
    for start in range(0, len(points), width):
        part = points[start : start + width]
        values = [(y, at) for at, (_, y) in enumerate(part) if y is not None]
        if not values:
            kept.append(part[0])
        else:
            kept += [part[at] for at in sorted({min(values)[1], max(values)[1]})]
    return tuple(kept)


def _nines(total: int, below: int) -> float:
    return -log10(max(1, total - below) / total)


def _time(samples: Sequence[Sample]) -> tuple[list[tuple[float, Sample]], tuple[float, float] | None]:
    """Return the samples with their times, and the range of times before the measured phase; None without such samples.

    Times are in seconds since the start of the measured phase.
    """
    placed = with_seconds(samples)
    before = any(sample.phase is not Phase.MEASURING for _, sample in placed)
    return placed, (min(placed[0][0], 0.0), 0.0) if before else None


def _line(
    name: str,
    parts: Iterable[tuple[float, DirectionSample | None]],
    read: Callable[[DirectionSample], float | None] = lambda sample: sample.iops,
) -> GraphLine | None:
    points = [(at, None if part is None else read(part)) for at, part in parts]
    if not any(y for _, y in points):
        return None
    return GraphLine(name=name, points=downsample(points))


_PERCENTILES: tuple[tuple[str, Callable[[DirectionSample], float | None]], ...] = (
    ("p50", lambda sample: sample.p50_ns),
    ("p99", lambda sample: sample.p99_ns),
    ("p99.9", lambda sample: sample.p99_9_ns),
)


def _iops(run: RunRecord, samples: Sequence[Sample]) -> LineGraph | None:
    placed, ramp = _time(samples)
    lines = [_line(name, [(at, sample.side(name)) for at, sample in placed]) for name in DIRECTIONS]
    return _over_time(run, "iops", "IOPS", IOPS, lines, ramp)


def _section_iops(run: RunRecord, samples: Sequence[Sample]) -> Iterator[LineGraph | None]:
    """Yield the IOPS graphs of a run, with one line per section and direction, and at most `MOST_LINES` lines per
    graph.
    """
    placed, ramp = _time(samples)
    lines = [
        _line(f"{section.name} {side}", [(at, _section_side(section.name, side, sample)) for at, sample in placed])
        for section in run.start.sections
        for side in DIRECTIONS
    ]
    for number, more, part in _split_lines(lines):
        yield _over_time(run, f"section-iops-{number}", f"IOPS of each section{more}", IOPS, part, ramp)


def _split_lines(lines: Iterable[GraphLine | None]) -> Iterator[tuple[int, str, Sequence[GraphLine]]]:
    """Distribute lines over graphs of at most `MOST_LINES` lines. Yield the number, the title suffix and the lines of
    each graph.
    """
    drawn = [line for line in lines if line is not None]
    for number, at in enumerate(range(0, len(drawn), MOST_LINES), 1):
        yield number, f" ({number})" if len(drawn) > MOST_LINES else "", drawn[at : at + MOST_LINES]


def _section_side(name: str, side: str, sample: Sample) -> DirectionSample | None:
    row = next((row for row in sample.sections if row.name == name), None)
    return None if row is None else row.side(side)


def _latencies(run: RunRecord, samples: Sequence[Sample]) -> Iterator[LineGraph | None]:
    """Yield one latency graph per direction, and one of the flushes. All lines in one graph would be unreadable."""
    placed, ramp = _time(samples)
    both = sum(run.figures.side(name) is not None for name in SIDES) > 1
    for name in SIDES:
        parts = [(at, sample.side(name)) for at, sample in placed]
        lines = [_line(percentile, parts, read) for percentile, read in _PERCENTILES]
        title = f"{name} latency" if both else "latency"
        yield _over_time(run, f"{name}-latency", title, LATENCY, lines, ramp)


def _over_time(
    run: RunRecord,
    key: str,
    title: str,
    axis: Axis,
    lines: Sequence[GraphLine | None],
    ramp: tuple[float, float] | None,
) -> LineGraph | None:
    drawn = tuple(line for line in lines if line is not None)
    if not drawn or max(len(line.points) for line in drawn) < 2:
        return None
    return LineGraph(
        key=f"{run.id}-{key}",
        title=f"{run.id}: {title} over time",
        about=f"{run.start.title} on {run.start.target}: each interval as fio reported it.",
        x=Axis(label="seconds", unit=AxisUnit.SECONDS, tight=True),
        y=axis,
        series=drawn,
        shaded=ramp,
        shaded_as="ramp" if run.start.steady is None else "not measured",
        simulated=run.start.simulated,
    )


def _percentiles(run: RunRecord) -> LineGraph | None:
    lines = [percentile_series(name, [figures]) for name in SIDES if (figures := run.figures.side(name)) is not None]
    return _by_percentile(run, "percentiles", "latency by percentile", lines)


def _section_percentiles(run: RunRecord) -> Iterator[LineGraph | None]:
    """Yield the percentile graphs of a run, with one line per section and direction, and at most `MOST_LINES` lines
    each.
    """
    graph_lines = [
        percentile_series(f"{section.name} {name}", [figures])
        for section in run.figures.sections
        for name in DIRECTIONS
        if (figures := section.side(name)) is not None
    ]
    for number, more, part in _split_lines(graph_lines):
        yield _by_percentile(run, f"section-percentiles-{number}", f"latency of each section by percentile{more}", part)


def _by_percentile(run: RunRecord, key: str, title: str, lines: Sequence[GraphLine | None]) -> LineGraph | None:
    drawn = [line for line in lines if line is not None]
    if not drawn:
        return None
    return percentile_graph(
        f"{run.id}-{key}",
        f"{run.id}: {title}",
        f"{run.start.title} on {run.start.target}: percentage of the I/Os up to each latency, up to the percentile with"
        " ten I/Os beyond it.",
        drawn,
        simulated=run.start.simulated,
    )
