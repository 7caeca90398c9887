"""The results of a session's sweep as sentences, tables and graphs. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from app.core.fio.fields import unit_of
from app.core.presentation.figures import mean_text
from app.core.presentation.labels import field_name, with_labels
from app.core.session.state import Session
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Rank
from app.features.report.blocks import Graphs, Paragraph, Section, Sentences, report_table, section
from app.features.report.graph import (
    IOPS,
    LATENCY,
    MOST_LINES,
    Axis,
    AxisUnit,
    Graph,
    HeatMap,
    IntervalGraph,
    LineGraph,
    Spacing,
    Whisker,
    line_of_means,
)
from app.features.sweep.engine.cells import CellResult, LatencyFigure, latency
from app.features.sweep.engine.load_curve import (
    LoadCurve,
    Measured,
    curves,
    number_of,
    numeric_field,
    separate_workloads,
    values_along,
)
from app.features.sweep.engine.results import Results, results
from app.features.sweep.presentation.findings import finding_facts
from app.features.sweep.presentation.load_curve import curve_heading, curve_table, knee_text
from app.features.sweep.presentation.published_results import published_tables
from app.features.sweep.presentation.sweep import (
    RANK_TITLES,
    cell_name,
    figure_text,
    matrix,
    matrix_table,
    rankings,
    workloads_go_down,
)
from widgets.text_utils import units

_UNITS = {Rank.IOPS: AxisUnit.IOPS, Rank.BANDWIDTH: AxisUnit.MIB_PER_S, Rank.P99: AxisUnit.LATENCY}
_MOST_ROWS = 24


def sweep_sections(session: Session) -> Iterator[Section]:
    """Yield all sections about the sweep. Yield nothing if the session has no sweep."""
    if session.sweep is None:
        return
    record = with_labels(session.sweep)
    outcome = results(record, session.runs)
    design = record.design
    steps, runs = units.plural(len(record.steps), "step"), units.plural(design.repeats, "run")
    how = f"{design.title}. {record.done} of {steps} done, {runs} of each cell."
    figures = matrix_table(record, outcome)
    for table in published_tables(outcome):
        yield from section(table.heading, report_table(table), level=3)
    yield from section(
        "Sweep",
        Paragraph(text=how),
        Graphs(graphs=sweep_graphs(session)),
        None if figures is None else report_table(figures),
        level=3,
    )
    yield from section("Ranking", *map(report_table, rankings(outcome)), level=3)
    tables = {
        curve_heading(cell_name(outcome, curve.cell)): report_table(curve_table(curve)) for curve in outcome.load_curves
    }
    for group in finding_facts(record, outcome):
        sentences = (f"{fact.label}: {fact.value}" if fact.label else fact.value for fact in group.facts)
        yield from section(group.heading, Sentences(items=tuple(sentences)), tables.get(group.heading), level=3)


def sweep_graphs(session: Session) -> tuple[Graph, ...]:
    """Return the graphs of the sweep.

    These are the heat map of a matrix, latency by IOPS, curves over a numeric field, and means with intervals.
    """
    if session.sweep is None:
        return ()
    record = with_labels(session.sweep)
    outcome = results(record, session.runs)
    if not any(cell.value is not None for cell in outcome.cells):
        return ()
    ids = {end.run for end in record.ended}
    simulated = any(run.start.simulated for run in session.runs if run.id in ids)
    graphs: list[Graph | None] = []
    if len(outcome.rows) > 1 and len(outcome.columns) > 1:
        graphs.append(_heat(record, outcome, simulated))
    graphs += load_graphs(outcome, simulated)
    groups = separate_workloads(record) or {"": frozenset(cell.id for cell in record.cells)}
    for number, (workload, cells) in enumerate(groups.items()):
        title = ", ".join(filter(None, (record.design.title, workload)))
        graphs += _curves(outcome.of_cells(cells), title, simulated, key=f"-{number}" if number else "")
    if len(outcome.columns) == 1 or len(outcome.rows) == 1:
        graphs.append(_intervals(outcome, record.design.title, simulated))
    return tuple(graph for graph in graphs if graph is not None)


def _heat(record: SweepRecord, outcome: Results, simulated: bool) -> HeatMap:
    """Return the heat map of configurations and workloads. The more numerous of the two are the rows."""
    shown, along_rows = matrix(record, outcome), workloads_go_down(outcome)
    values = {(result.cell.row, result.cell.column): result.value for result in outcome.cells}
    return HeatMap(
        key="sweep-heat",
        title=f"{shown.corner} of every combination",
        about=f"{record.design.title}. Means of the runs; the colour is the share of the best cell of the same"
        " workload.",
        rows=shown.down,
        columns=shown.across,
        cells=tuple(
            tuple(values.get((other, name) if along_rows else (name, other)) for other in shown.across)
            for name in shown.down
        ),
        texts=tuple(tuple(cell.text for cell in places) for places in shown.places),
        framed=frozenset(
            (row, column) for row, places in enumerate(shown.places) for column, cell in enumerate(places) if cell.leads
        ),
        along_rows=along_rows,
        lower_is_better=outcome.rank is Rank.P99,
        simulated=simulated,
    )


def _curves(outcome: Results, title: str, simulated: bool, *, key: str = "") -> list[Graph | None]:
    """Return graphs of the ranking metric and of the p99 latency over a numeric job field that varies between cells.

    Return an empty list if there is no such field, or too many or too few lines to draw. `key`: end of their keys.
    """
    field = numeric_field(outcome.cells)
    if field is None:
        return []
    lines = {name: line for name, line in curves(outcome.cells).items() if len(line) > 2}
    if not lines or len(lines) > MOST_LINES:
        return []
    values = sorted({number_of(cell_result.cell.job[field]) for line in lines.values() for cell_result in line})
    wide = values[0] > 0 and values[-1] / values[0] > 10
    unit = AxisUnit.BYTES if field == "bs" else AxisUnit.NUMBER
    x = Axis(label=_axis(field), unit=unit, spacing=Spacing.LOG if wide else Spacing.LINEAR, at=tuple(values))
    figure = Axis(label=RANK_TITLES[outcome.rank], unit=_UNITS[outcome.rank])
    kinds: list[tuple[str, Axis, Callable[[CellResult], Measured]]] = [
        ("figure", figure, lambda cell_result: cell_result.figure)
    ]
    if outcome.rank is not Rank.P99:
        tail = replace(LATENCY, label="p99 of the latency")
        kinds.append(("p99", tail, lambda cell_result: latency(cell_result.scores, LatencyFigure.P99)))
    graphs: list[Graph | None] = []
    for kind, y, read in kinds:
        series = [
            line_of_means(name or line[0].cell.row, values_along(field, line, read)) for name, line in lines.items()
        ]
        if any(value is not None for line_series in series for _, value in line_series.points):
            graphs.append(
                LineGraph(
                    key=f"sweep-{kind}{key}",
                    title=f"{y.label} by {x.label}",
                    about=f"{title}. Means of the runs of each cell with their 95 % intervals.",
                    x=x,
                    y=y,
                    series=tuple(series),
                    simulated=simulated,
                )
            )
    return graphs


def _intervals(outcome: Results, title: str, simulated: bool) -> IntervalGraph | None:
    rows = []
    for result in outcome.cells[:_MOST_ROWS]:
        figure = result.figure
        if figure is None:
            continue
        low, high = figure.ends or (None, None)
        text = f"{mean_text(figure, lambda mean: figure_text(mean, outcome.rank))}  n={figure.n}"
        name = result.cell.column if len(outcome.rows) == 1 else result.cell.row
        rows.append(Whisker(label=name, mean=figure.mean, low=low, high=high, text=text))
    if len(rows) < 2:
        return None
    return IntervalGraph(
        key="sweep-intervals",
        title=f"{RANK_TITLES[outcome.rank]} with 95 % intervals",
        about=f"{title}. Means of the runs of each cell with their uncertainty.",
        axis=Axis(label=RANK_TITLES[outcome.rank], unit=_UNITS[outcome.rank]),
        rows=tuple(rows),
        simulated=simulated,
    )


def _axis(field: str) -> str:
    """Return the label of an axis: the job field with its unit, such as `queue depth` or `read share, %`."""
    unit = unit_of(field)
    return f"{field_name(field)}, {unit}" if unit else field_name(field)


# -- saturation searches and throughput-latency curves ----------------------------------------------------------------

_HOW = "Random arrivals at the requested rates; means of the runs with 95 % intervals."
_NAMES = {LatencyFigure.MEAN: "mean", LatencyFigure.P50: "p50", LatencyFigure.P99: "p99", LatencyFigure.P99_9: "p99.9"}


def load_graphs(outcome: Results, simulated: bool) -> list[LineGraph]:
    """Return one graph of latency by IOPS per load curve, and one of IOPS by queue depth per saturation search."""
    graphs = []
    for number, curve in enumerate(outcome.load_curves, 1):
        lines = (line_of_means(name, curve.latencies(figure)) for figure, name in _NAMES.items())
        graphs.append(
            LineGraph(
                key=f"curve-{number}",
                title=f"Latency by IOPS: {cell_name(outcome, curve.cell)}",
                about=f"{knee_text(curve)} {_HOW}",
                x=IOPS,
                y=replace(LATENCY, label="Latency"),
                series=tuple(line for line in lines if line.points),
                shaded=_knee(curve),
                shaded_as="knee",
                simulated=simulated,
            )
        )
    for number, search in enumerate(outcome.saturated, 1):
        line = line_of_means("IOPS", ((float(at.depth), at.iops) for at in search.points if at.scores))
        if len(line.points) > 2:
            graphs.append(
                LineGraph(
                    key=f"saturation-{number}",
                    title=f"IOPS by queue depth: {cell_name(outcome, search.cell)}",
                    about="Queue depths tried by the search; means of the runs with 95 % intervals.",
                    x=Axis(label="queue depth", spacing=Spacing.LOG, at=tuple(x for x, _ in line.points)),
                    y=IOPS,
                    series=(line,),
                    simulated=simulated,
                )
            )
    return graphs


def _knee(curve: LoadCurve) -> tuple[float, float] | None:
    """Return the IOPS between which the knee is, at most those of the last point; None without a knee."""
    if curve.knee is None:
        return None
    farthest = max((point.iops.mean for point in curve.points if point.iops is not None), default=curve.knee.high)
    return curve.knee.low, min(curve.knee.high, farthest)
