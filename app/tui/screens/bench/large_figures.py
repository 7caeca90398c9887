"""The large figures of a run: of the interval with their means while it goes on, of all of it once it is over. Pure."""

from __future__ import annotations

from app.engine.session.figures import DirectionFigures, RunFigures
from app.engine.view.run import DIRECTIONS
from app.tui.screens.bench.curves import CurveFigures, Curves
from widgets.figure_rows import FigureColumn, Figures
from widgets.plain import units

_NOTHING = CurveFigures()
_LATENCIES = (("p50_ns", "p50", "good"), ("p99_ns", "p99", "warning"), ("p99_9_ns", "p99.9", "bad"))


def figure_columns(*, running: bool, names: tuple[str, ...]) -> tuple[FigureColumn, ...]:
    """What the figures are; a mean has a place beside each while a job runs."""
    mean = "mean" if running else ""
    of = f" {names[0]}" if len(names) == 1 else ""
    return (
        FigureColumn(label=f"IOPS{of}", beside=mean, tone="accent", room=6),
        FigureColumn(label="MiB/s", beside=mean, tone="accent", room=5),
        *(FigureColumn(label=label, beside=mean, tone=tone) for _, label, tone in _LATENCIES),
        FigureColumn(label="max", beside="at" if running else "", tone="bad"),
    )


def directions_of(curves: Curves) -> tuple[str, ...]:
    """What a running job does: `read`, `write` or both."""
    return tuple(name for name in DIRECTIONS if f"{name} iops" in curves.spreads)


def running_figures(curves: Curves) -> tuple[Figures, ...]:
    """A row for each direction: the last interval, and the mean of what is measured."""
    names = directions_of(curves)
    return tuple(Figures(name=name if len(names) > 1 else "", cells=_of_curves(curves, name)) for name in names)


def _of_curves(curves: Curves, name: str) -> tuple[tuple[str, str], ...]:
    def of(key: str) -> CurveFigures:
        return curves.spreads.get(f"{name} {key}", _NOTHING)

    largest = of("max_ns")
    return (
        (units.iops(of("iops").now), units.iops(of("iops").mean)),
        (units.mib_per_s(of("rate").now), units.mib_per_s(of("rate").mean)),
        *((units.latency(of(key).now), units.latency(of(key).mean)) for key, _, _ in _LATENCIES),
        (units.latency(largest.high), "" if largest.high_at is None else units.elapsed(largest.high_at)),
    )


def ended_figures(figures: RunFigures) -> tuple[tuple[str, ...], tuple[Figures, ...]]:
    """The directions of a finished run, and a row for each: fio's own totals."""
    sides = tuple((name, side) for name in DIRECTIONS if (side := figures.side(name)) is not None)
    names = tuple(name for name, _ in sides)
    rows = tuple(Figures(name=name if len(names) > 1 else "", cells=_of_run(side)) for name, side in sides)
    return names, rows


def _of_run(side: DirectionFigures) -> tuple[tuple[str, str], ...]:
    times = side.latency_ns
    return (
        (units.iops(side.iops), ""),
        (units.mib_per_s(side.bytes_per_second), ""),
        *((units.latency(value), "") for value in (times.p50, times.p99, times.p99_9, times.max)),
    )
