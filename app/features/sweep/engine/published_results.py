"""Read the published results of a plan, and compare them with the results of a sweep. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import PublishedFigure, PublishedKind, PublishedRows
from app.core.toml_table import TomlTable, text
from app.features.sweep.engine.cells import CellResult, Runs, runs_of_cell, score
from app.features.sweep.engine.plan import SweepPlan
from app.features.sweep.engine.plan_values import latency, names
from backends.did_you_mean import suggestion_hint
from backends.text import clean
from backends.values import dataclass

# -- reading published results ----------------------------------------------------------------------------------------


def with_published(plan: SweepPlan, rows: Sequence[TomlTable], shape: TomlTable) -> SweepPlan:
    """Return the plan with its published results.

    `rows` are the [[published]] tables of the plan file, each with the published results of one row. `shape` is
    [published_table], the layout of the published table. Raises PlanError when they do not fit the plan.
    """
    if not rows:
        if shape.given:
            raise shape.error("", "the table has no results. Add [[published]].")
        return plan
    # Imported only now, because it is slow and most plans have no published results.
    from app.features.sweep.engine.plan_expansion import row_and_column_names

    lines, columns = row_and_column_names(plan)
    figures: dict[tuple[str, str, PublishedKind], PublishedFigure] = {}
    source = ""
    for row in rows:
        row.require_keys("source", "row", *PublishedKind)
        source = row.get("source", text, source)
        if not source:
            raise row.error("source", "the source of the results is missing: source = ...")
        name = row.parse(
            "row", partial(_require_name, lines), row.given.get("row", lines[0] if len(lines) == 1 else None)
        )
        for figure in _figures(row, name, source, columns):
            if figures.setdefault((figure.row, figure.column, figure.kind), figure) is not figure:
                raise row.error(figure.kind, f"{clean(name, 80)}, {clean(figure.column, 80)} already has a result.")
    kind, named = _shape(shape, lines, columns)
    return replace(plan, published=tuple(map(named, figures.values())), published_rows=kind)


_Named = Callable[[PublishedFigure], PublishedFigure]


def _shape(shape: TomlTable, rows: Sequence[str], columns: Sequence[str]) -> tuple[PublishedRows | None, _Named]:
    """Return the kind of rows of the published table, and a function that adds the names in that table to a published
    result. `rows` and `columns` are the row and column names of the sweep.

    Raises PlanError when the shape is not valid.
    """
    shape.require_keys("rows", "columns", "names")
    kind = shape.get("rows", _rows, None)
    none: tuple[str, ...] = ()
    heads = shape.get("columns", names, none)
    if heads and kind is not PublishedRows.CELLS:
        raise shape.error(
            "columns",
            f'`columns` names the first columns of the table. It is only valid with rows = "{PublishedRows.CELLS}".',
        )
    given = shape.table("names")
    display_names: dict[str, str] = {}
    labels: dict[str, dict[str, str]] = {}
    for key, value in given.given.items():
        given.parse(key, partial(_require_name, (*rows, *columns)), key)
        if heads:
            table = given.table(key)
            table.require_keys(*heads)
            labels[key] = {head: table.parse(head, text, item) for head, item in table.given.items()}
        else:
            display_names[key] = given.parse(key, text, value)

    def name(figure: PublishedFigure) -> PublishedFigure:
        cell_labels = labels.get(figure.row, {}) | labels.get(figure.column, {})
        if missing := [head for head in heads if head not in cell_labels]:
            subject = f"{clean(figure.row, 80)}, {clean(figure.column, 80)}"
            raise shape.error("names", f"{subject} has no {', '.join(missing)}.")
        return replace(
            figure,
            row_name=display_names.get(figure.row, ""),
            column_name=display_names.get(figure.column, ""),
            labels={head: cell_labels[head] for head in heads},
        )

    return kind, name


def _rows(value: Any) -> PublishedRows:
    """Parse the kind of rows of a table. Raises ValueError when it is unknown."""
    try:
        return PublishedRows(text(value))
    except ValueError:
        raise ValueError(f"must be one of: {', '.join(PublishedRows)}") from None


def _figures(row: TomlTable, name: str, source: str, columns: Sequence[str]) -> Iterator[PublishedFigure]:
    given = [kind for kind in PublishedKind if kind in row.given]
    if not given:
        raise row.error("row", f"a result is missing: {', '.join(PublishedKind)} = {{ ... }}.")
    for kind in given:
        table = row.given[kind]
        if not isinstance(table, dict) or not table:
            raise row.error(kind, f'{kind} must be a table of results by workload: {{ "{columns[0]}" = ... }}.')
        for column, value in table.items():
            row.parse(kind, partial(_require_name, columns), column)
            read: Callable[[Any], float] = latency if kind is PublishedKind.LATENCY else _positive
            figure = row.parse(kind, read, value)
            yield PublishedFigure(
                row=name, column=column, kind=kind, value=float(figure), source=source, printed=str(value)
            )


def _require_name(names: Sequence[str], value: Any) -> str:
    """Return the name of a row or column. Raises ValueError when it is not one of the sweep's `names`."""
    name = text(value)
    if name not in names:
        hint = suggestion_hint(name, names, f"Available: {'; '.join(names)}.")
        raise ValueError(f"is not in the result of this plan: {clean(name, 80)!r}. {hint.rstrip('.')}")
    return name


def _positive(value: Any) -> float:
    """Return a number above 0. Raises ValueError for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
        raise ValueError("must be a number above 0")
    return float(value)


# -- comparing published results with a sweep -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedComparison:
    """A published result and the corresponding result of the sweep."""

    figure: PublishedFigure
    """The published result."""
    cell: str | None = None
    """Id of the sweep's cell; None if the combination is left out."""
    measured: float | None = None
    """Mean of the cell's runs in the unit of the published result; None before the first run."""

    @property
    def percent(self) -> float | None:
        """Difference of the measured from the published result, in percent; None without a measured result."""
        return None if self.measured is None else (self.measured / self.figure.value - 1) * 100


def compare_published(record: SweepRecord, cells: Sequence[CellResult], runs: Runs) -> tuple[PublishedComparison, ...]:
    """Return each published result with the corresponding result of the sweep, in the order of the plan."""
    places: Mapping[tuple[str, str], CellResult] = {(cell.cell.row, cell.cell.column): cell for cell in cells}
    comparisons = []
    for figure in record.design.published:
        cell_result = places.get((figure.row, figure.column))
        if cell_result is None:
            comparisons.append(PublishedComparison(figure=figure))
            continue
        measured = _measured_value(figure.kind, cell_result, runs_of_cell(record, runs, cell_result.cell.id))
        comparisons.append(PublishedComparison(figure=figure, cell=cell_result.cell.id, measured=measured))
    return tuple(comparisons)


def _measured_value(kind: PublishedKind, cell_result: CellResult, runs: Sequence[RunRecord]) -> float | None:
    match kind:
        case PublishedKind.IOPS:
            return cell_result.iops
        case PublishedKind.LATENCY:
            return cell_result.mean_ns
        case PublishedKind.MBPS:
            return _mean([item.bytes_per_second / 1e6 for item in cell_result.scores])
        case PublishedKind.READ_IOPS | PublishedKind.WRITE_IOPS:
            name = "read" if kind is PublishedKind.READ_IOPS else "write"
            sides = [run.figures.side(name) for run in runs if score(run) is not None]
            return _mean([0.0 if side is None else side.iops for side in sides])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
