"""The results of each A/B experiment of a session, as a table and as graphs. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.analysis.comparison import Comparison
from app.core.analysis.stored_verdicts import stored_comparison
from app.core.presentation.comparison import comparison_table
from app.core.presentation.comparison_text import count_text, letter_labels, row_name
from app.core.presentation.percent import covers_text, interval_text
from app.core.presentation.verdict_text import judgement_word
from app.core.session.results import DIRECTIONS
from app.core.session.state import ExperimentRecord, Session
from app.features.report.blocks import ReportTable, report_table
from app.features.report.graph import Axis, AxisUnit, Graph, GraphLine, IntervalGraph, LineGraph, Spacing, Whisker
from app.features.report.series import percentile_graph, percentile_series
from app.features.report.svg.scales import Scale

_COLUMNS = ("A/B", "Metric", "A", "B", "", "Difference", "Interval", "Verdict")

_WIDE = 4.0
"""If the largest difference is more than this many times the smallest, the axis of the graph uses `Spacing.RATIO`."""


def experiments_table(session: Session) -> ReportTable:
    """Return a table with the results of A and B, intervals and verdicts of each experiment.

    Each row names the confidence level of its interval, because experiments may use different levels.
    """
    pairs = [(record.id, stored_comparison(session, record.id)) for record in session.experiments]
    rows = [
        (name, *row[:-1], covers_text(comparison.level), row[-1])
        for name, comparison in pairs
        if comparison is not None
        for row in report_table(comparison_table(comparison)).rows
    ]
    return ReportTable(columns=_COLUMNS if rows else (), rows=tuple(rows))


def experiment_graphs(session: Session) -> tuple[Graph, ...]:
    """Return the graphs of each experiment: differences with intervals, results by pair, and latency percentiles."""
    every: list[Graph] = []
    for record in session.experiments:
        comparison = stored_comparison(session, record.id)
        if comparison is not None:
            graphs = (_differences(record, comparison), _pairs(record, comparison), _percentiles(record, comparison))
            every += [graph for graph in graphs if graph is not None]
    return tuple(every)


def _names(record: ExperimentRecord) -> tuple[str, str]:
    a, b = letter_labels(record.start)
    return f"A: {a}", f"B: {b}"


def _is_simulated(comparison: Comparison) -> bool:
    return any(run.start.simulated for run in (*comparison.sides.a, *comparison.sides.b))


def _differences(record: ExperimentRecord, comparison: Comparison) -> IntervalGraph | None:
    rows = []
    for line in comparison.rows:
        judgement = line.judgement
        if judgement is None or judgement.interval is None or line.same_as:
            continue
        interval = judgement.interval
        label = row_name(line)
        text = f"{interval_text(interval)}  {judgement_word(judgement)}"
        rows.append(
            Whisker(label=label, mean=interval.percent, low=interval.percent_low, high=interval.percent_high, text=text)
        )
    if not rows:
        return None
    start = record.start
    a, b = _names(record)
    return IntervalGraph(
        key=f"{record.id}-differences",
        title=f"{record.id}: {start.label}, B against A",
        about=f"{start.title} on {start.measured}; {a}, {b}; {count_text(comparison.sides)}, intervals of"
        f" {covers_text(comparison.level)}. The band is +-{comparison.sides.threshold:g} %: differences"
        " inside it count as no difference.",
        axis=Axis(
            label="B compared with A; for latencies, less is better",
            unit=AxisUnit.PERCENT,
            spacing=Spacing.RATIO if _is_wide(rows) else Spacing.LINEAR,
        ),
        rows=tuple(rows),
        zero=True,
        threshold=comparison.sides.threshold,
        simulated=_is_simulated(comparison),
    )


def _is_wide(rows: Sequence[Whisker]) -> bool:
    """Return whether the differences vary so much that a linear axis would leave no space for the small ones."""
    ends = [1 + (end if end is not None else row.mean) / 100 for row in rows for end in (row.low, row.high)]
    return max(*ends, 1.0) > _WIDE * max(min(*ends, 1.0), 1e-12)


def _pairs(record: ExperimentRecord, comparison: Comparison) -> LineGraph | None:
    series = []
    for name, runs in zip(_names(record), (comparison.sides.a, comparison.sides.b), strict=True):
        values = [sum(line.iops for line in run.figures.transfers) for run in runs]
        points = tuple((float(pair), value) for pair, value in enumerate(values, start=1))
        series.append(GraphLine(name=name, points=points, measured=True, joined=False))
    if len(series[0].points) < 2:
        return None
    y = Axis(label="IOPS, reads and writes", unit=AxisUnit.IOPS)
    cut = Scale(y, [value for line in series for _, value in line.points if value is not None]).low > 0
    return LineGraph(
        key=f"{record.id}-pairs",
        title=f"{record.id}: IOPS of each pair",
        about=f"{record.start.title} on {record.start.measured}: the runs of a pair were measured one after the"
        f" other.{' The axis does not begin at 0.' if cut else ''}",
        x=Axis(label="pair", at=tuple(float(pair) for pair in range(1, len(series[0].points) + 1))),
        y=y,
        series=tuple(series),
        from_zero=False,
        simulated=_is_simulated(comparison),
    )


def _percentiles(record: ExperimentRecord, comparison: Comparison) -> LineGraph | None:
    series = []
    for name, runs in zip(_names(record), (comparison.sides.a, comparison.sides.b), strict=True):
        matches = {way: [side for run in runs if (side := run.figures.side(way)) is not None] for way in DIRECTIONS}
        measured = {way: figures for way, figures in matches.items() if figures}
        for direction, figures in measured.items():
            label = f"{name}, {direction}" if len(measured) > 1 else name
            line = percentile_series(label, figures)
            series += [line] if line is not None else []
    if len(series) < 2:
        return None
    return percentile_graph(
        f"{record.id}-percentiles",
        f"{record.id}: latency by percentile",
        f"{record.start.title} on {record.start.measured}: all I/Os of all pairs, up to the percentile with ten I/Os"
        " beyond it.",
        series,
        simulated=_is_simulated(comparison),
    )
