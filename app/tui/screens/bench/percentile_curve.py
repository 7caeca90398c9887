"""All latencies of a finished run as one curve: how long the share of I/Os took that percentiles only sample. Pure."""

from __future__ import annotations

import itertools
import math

from app.engine.session.figures import DirectionFigures, RunFigures
from app.engine.session.state import RunRecord
from app.engine.view.run import DIRECTIONS
from widgets.chart import ChartData, Point, Series
from widgets.plain import units

_NAMES = ("0", "p90", "p99", "p99.9", "p99.99", *(f"{count} nines" for count in range(5, 10)))

TICKS = tuple((float(at), name) for at, name in enumerate(_NAMES))
"""Where a percentile stands: as many to the right as it has nines, p99.9 at 3."""

_COLORS = {"read": "$primary", "write": "$warning"}


def percentile_chart(figures: RunFigures, baseline: RunRecord | None = None) -> ChartData | None:
    """Latency by nines, each direction a curve, beneath them those of the baseline; None where nothing was kept."""
    own = _curves(figures)
    if not own:
        return None
    beneath = [] if baseline is None else _curves(baseline.figures)
    names = [baseline.id if len(beneath) == 1 else f"{baseline.id} {name}" for name, _ in beneath] if baseline else []
    end = max(points[-1][0] for _, points in own)
    series = (
        *(
            Series(name=name, points=points, color="$secondary")
            for name, (_, points) in zip(names, beneath, strict=True)
        ),
        *(Series(name=name, points=points, color=_COLORS[name]) for name, points in own),
    )
    return ChartData(series=series, x_max=max(1.0, end), x_ticks=TICKS, y_format=units.latency)


def _curves(figures: RunFigures) -> list[tuple[str, tuple[Point, ...]]]:
    sides = ((name, figures.side(name)) for name in DIRECTIONS)
    return [(name, nines(side)) for name, side in sides if side is not None and side.bins]


def nines(side: DirectionFigures) -> tuple[Point, ...]:
    """(nines of the share of I/Os, the latency in ns within which they were), as far as the I/Os carry it."""
    total = sum(count for _, count in side.bins)
    done = itertools.accumulate(count for _, count in side.bins)
    return tuple(
        (-math.log10((total - so_far) / total) if so_far < total else math.log10(total), float(value))
        for so_far, (value, _) in zip(done, side.bins, strict=True)
        if total > 1
    )
