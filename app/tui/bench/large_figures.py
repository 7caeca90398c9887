"""The metrics of a run in large digits: the last interval and means while it runs, totals afterwards. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.session.results import SIDES, DirectionSample, DirectionStats, PartFigures, RunResult
from app.tui.bench.curves import CurveFigures, Curves
from widgets.figure_rows import FigureColumn, FigureRow
from widgets.text_utils import units
from widgets.text_utils.text import clean, shorten

Cells = tuple[tuple[str, str], ...]
"""Metrics of a row: for each, its value and the text next to it, such as the mean."""

_ALL = 10_000
_NAME = 18
"""Number of cells for the name of a target."""
_BLANK: Cells = (("", ""),) * 6
_NOTHING = CurveFigures()
_LATENCIES = (("p50_ns", "p50", "good"), ("p99_ns", "p99", "warning"), ("p99_9_ns", "p99.9", "bad"))


def figure_columns(*, running: bool, names: tuple[str, ...]) -> tuple[FigureColumn, ...]:
    """Return the columns of the metrics. While a job runs, each has room for a mean. `names`: the directions."""
    mean = "mean" if running else ""
    of = f" {names[0]}" if len(names) == 1 else ""
    return (
        FigureColumn(label=f"IOPS{of}", beside=mean, tone="accent", room=6),
        FigureColumn(label="MiB/s", beside=mean, tone="accent", room=5),
        *(FigureColumn(label=label, beside=mean, tone=tone) for _, label, tone in _LATENCIES),
        FigureColumn(label="max", beside="at" if running else "", tone="bad"),
    )


def directions_of(curves: Curves) -> tuple[str, ...]:
    """Return the directions of a running job, such as `write`, and `sync` for flushes."""
    return tuple(name for name in SIDES if f"{name} iops" in curves.spreads)


def running_figures(curves: Curves, most: int = _ALL) -> tuple[FigureRow, ...]:
    """Return a row with the last interval and the mean of each direction, then rows for each of several targets.

    `most`: number of target rows that fit.
    """
    sums = [(name, _curve_cells(curves, name)) for name in directions_of(curves)]
    parts = ((part, name, sample.side(name)) for part, sample in curves.parts for name in SIDES)
    shown = [(part, name, _interval_cells(side)) for part, name, side in parts if side is not None]
    return _sum_first(sums, shown, most)


def ended_figures(figures: RunResult, most: int = _ALL) -> tuple[tuple[str, ...], tuple[FigureRow, ...]]:
    """Return the directions of a finished run, and rows with fio's totals of each direction, then of each target."""
    sums = [(name, _run_cells(side)) for name in SIDES if (side := figures.side(name)) is not None]
    parts = ((part, name, result.side(name)) for part, result in parts_of_run(figures) for name in SIDES)
    shown = [(part, name, _run_cells(side)) for part, name, side in parts if side is not None]
    return tuple(name for name, _ in sums), _sum_first(sums, shown, most)


def parts_of_run(figures: RunResult) -> tuple[tuple[str, PartFigures], ...]:
    """Return the targets or sections of a run, each with its name; empty for one section on one target."""
    sections = tuple((section.name, section) for section in figures.sections)
    return sections or tuple((target.target, target) for target in figures.targets)


def _sum_first(
    sums: Sequence[tuple[str, Cells]], parts: Sequence[tuple[str, str, Cells]], most: int
) -> tuple[FigureRow, ...]:
    """Return the rows of the sums, then as many rows of targets or sections as fit."""
    rows = [("all" if parts else "", direction, cells) for direction, cells in sums]
    shown = parts if len(parts) <= most else parts[: most - 1]
    rows += [(shorten(clean(target), _NAME), direction, cells) for target, direction, cells in shown]
    figure_rows = [
        FigureRow(name=name if len(sums) == 1 else f"{name} {direction}".strip(), cells=cells)
        for name, direction, cells in rows
    ]
    if len(shown) < len(parts):
        figure_rows.append(FigureRow(name=f"+{len(parts) - len(shown)} more", cells=_BLANK))
    return tuple(figure_rows)


def _interval_cells(part: DirectionSample) -> Cells:
    times = (part.p50_ns, part.p99_ns, part.p99_9_ns, part.max_ns)
    shown = (units.iops(part.iops), units.mib_per_s(part.bytes_per_second), *map(units.latency, times))
    return tuple((text, "") for text in shown)


def _curve_cells(curves: Curves, name: str) -> Cells:
    def of(key: str) -> CurveFigures:
        return curves.spreads.get(f"{name} {key}", _NOTHING)

    largest = of("max_ns")
    return (
        (units.iops(of("iops").now), units.iops(of("iops").mean)),
        (units.mib_per_s(of("rate").now), units.mib_per_s(of("rate").mean)),
        *((units.latency(of(key).now), units.latency(of(key).mean)) for key, _, _ in _LATENCIES),
        (units.latency(largest.high), "" if largest.high_at is None else units.elapsed(largest.high_at)),
    )


def _run_cells(side: DirectionStats) -> Cells:
    times = side.latency_ns
    return (
        (units.iops(side.iops), ""),
        (units.mib_per_s(side.bytes_per_second), ""),
        *((units.latency(value), "") for value in (times.p50, times.p99, times.p99_9, times.max)),
    )
