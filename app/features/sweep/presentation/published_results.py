"""Tables of published results in the layout of their source, with the sweep's results and the differences. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.core.presentation.json_schema import Json, pick
from app.core.presentation.percent import difference_text
from app.core.presentation.table import Align, Column, Row, Table, text_of
from app.core.session.sweep_steps import PublishedFigure, PublishedKind, PublishedRows
from app.features.sweep.engine.plan_values import LATENCY_UNITS
from app.features.sweep.engine.published_results import PublishedComparison
from app.features.sweep.engine.results import Results
from widgets.text_utils import units
from widgets.text_utils.text import width_of

HEADING = "Comparison with published results"

WIDTH = 80
"""Maximum width of a table in characters. It does not apply if the plan specifies the kind of rows."""

_GAP = 2
_OURS = "ours"
_DIFFERENCE = "difference"

_TITLES = {
    PublishedKind.IOPS: "IOPS",
    PublishedKind.READ_IOPS: "read IOPS",
    PublishedKind.WRITE_IOPS: "write IOPS",
    PublishedKind.MBPS: "MB/s",
    PublishedKind.LATENCY: "mean",
}
"""Titles of the kinds of results."""

_TIME = re.compile(r"[\d.]+\s*(ns|us|µs|ms|s)", re.ASCII)


_Place = tuple[tuple[str, ...], tuple[str, str]]
"""Place of a result in its table.

The first element contains the cells that name its row. The second contains the set-up or workload of its column, and
the kind of result.
"""


def published_tables(results: Results) -> Iterator[Table]:
    """Yield a table for each source of published results, in the order of the plan."""
    for source in dict.fromkeys(comparison.figure.source for comparison in results.published):
        comparisons = [comparison for comparison in results.published if comparison.figure.source == source]
        shapes = list(PublishedRows) if results.published_rows is None else [results.published_rows]
        tables = [_table(comparisons, shape, source, results.columns) for shape in shapes]
        yield next((table for table in tables if _width(table) <= WIDTH), tables[-1])


def _table(
    comparisons: Sequence[PublishedComparison], shape: PublishedRows, source: str, order: Sequence[str]
) -> Table:
    """Return the table of one source.

    Below each published row are a row with the results of the sweep and a row with the differences. `order` contains
    the workloads of the sweep.
    """
    at = {_place(comparison.figure, shape): comparison for comparison in comparisons}
    workloads = list(dict.fromkeys((*order, *(comparison.figure.column for comparison in comparisons))))
    together = sorted(at, key=lambda key: workloads.index(at[key].figure.column))
    lines = tuple(dict.fromkeys(line for line, _ in (together if shape is PublishedRows.WORKLOADS else at)))
    columns = tuple(dict.fromkeys(column for _, column in together))
    heads = tuple(comparisons[0].figure.labels) or ("Configuration", "Workload")
    heads = (
        heads
        if shape is PublishedRows.CELLS
        else ("Workload" if shape is PublishedRows.WORKLOADS else "Configuration",)
    )
    titles = _titles(columns)
    rows: list[Row] = []
    for line in lines:
        present = [at.get((line, column)) for column in columns]
        empty = ("",) * (len(heads) - 1)
        differences = (
            "" if comparison is None else difference_text(comparison.figure.value, comparison.measured)
            for comparison in present
        )
        rows += (
            Row(
                cells=(
                    *line,
                    *(
                        "" if comparison is None else figure_text(comparison.figure, comparison.figure.value)
                        for comparison in present
                    ),
                )
            ),
            Row(cells=(_OURS, *empty, *map(_our_figure_text, present)), depth=1),
            Row(cells=(_DIFFERENCE, *empty, *differences), depth=1),
        )
    named = [Column(key=f"head{number}", title=head, shrinks=True) for number, head in enumerate(heads)]
    figures = [Column(key=str(number), title=title, align=Align.RIGHT) for number, title in enumerate(titles)]
    return Table(columns=(*named, *figures), rows=tuple(rows), heading=f"{HEADING}: {source}")


def _place(figure: PublishedFigure, shape: PublishedRows) -> _Place:
    setup, workload = figure.row_name or figure.row, figure.column_name or figure.column
    kind = " ".join(filter(None, (_TITLES[figure.kind], _unit(figure))))
    match shape:
        case PublishedRows.SETUPS:
            return ((setup,), (workload, kind))
        case PublishedRows.WORKLOADS:
            return ((f"{workload} {kind}",), (setup, ""))
        case PublishedRows.CELLS:
            return (tuple(figure.labels.values()) or (setup, workload), ("", kind))


def _titles(columns: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the titles of `columns`, each of which is (name of a workload or set-up, kind of result). Of adjacent
    columns with the same name, only the first shows it.
    """
    before = ""
    for name, kind in columns:
        yield " ".join(filter(None, (name if name != before or not kind else "", kind)))
        before = name


def _unit(figure: PublishedFigure) -> str:
    """Return the unit of a published latency as its source prints it; "" if the unit is unknown, or for other kinds of
    results.
    """
    match = _TIME.fullmatch(figure.printed) if figure.kind is PublishedKind.LATENCY else None
    return "" if match is None else match[1].replace("us", "µs")


def _our_figure_text(comparison: PublishedComparison | None) -> str:
    if comparison is None:
        return ""
    if comparison.cell is None:
        return "skipped"
    return units.NOTHING if comparison.measured is None else figure_text(comparison.figure, comparison.measured)


def figure_text(figure: PublishedFigure, value: float) -> str:
    """Return `value` in the unit of a published result, and with as many decimals as the source prints."""
    if figure.kind is not PublishedKind.LATENCY:
        return f"{value:,.{_decimals(figure.printed)}f}"
    unit = _unit(figure)
    return f"{value / LATENCY_UNITS[unit]:,.{_decimals(figure.printed)}f}" if unit else units.latency(value)


def _decimals(printed: str) -> int:
    """Return the number of digits after the decimal point of a printed number."""
    match = re.search(r"\.(\d+)", printed, re.ASCII)
    return 0 if match is None else len(match[1])


def _width(table: Table) -> int:
    """Return the width of a table in characters."""
    texts = [[column.title for column in table.columns]]
    texts += [["  " * row.depth + text_of(row.cells[0]), *map(text_of, row.cells[1:])] for row in table.rows]
    return sum(max(map(width_of, column)) for column in zip(*texts, strict=True)) + _GAP * (len(table.columns) - 1)


def published_json(results: Results) -> list[Json]:
    """Return the published and measured results as JSON; latency in ns, `mbps` in 10^6 bytes per second."""
    return [
        {
            **pick(comparison.figure, "row", "column", "kind", "source"),
            "published": comparison.figure.value,
            **pick(comparison, "cell", "measured", "percent"),
        }
        for comparison in results.published
    ]
