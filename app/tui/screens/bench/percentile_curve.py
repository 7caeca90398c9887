"""All latencies of a finished run as one curve: how long the share of I/Os took that percentiles only sample. Pure."""

from __future__ import annotations

import itertools
import math

from app.engine.session.figures import DirectionFigures, RunFigures
from app.engine.session.state import RunRecord
from app.engine.view.run import DIRECTIONS
from widgets.chart import ChartData, Point, Series
from widgets.plain import units

TICKS = ((0.0, "0"), (1.0, "90"), (2.0, "99"), (3.0, "99.9"), (4.0, "99.99"), (5.0, "5 nines"), (6.0, "6 nines"))
"""Where a percentile stands: as many to the right as it has nines."""

_COLORS = {"read": "$primary", "write": "$warning"}


def percentile_chart(figures: RunFigures, baseline: RunRecord | None = None) -> ChartData | None:
    """Latency by nines, each direction a curve, beneath them those of the baseline; None where nothing was kept."""
    own = _curves(figures, "")
    if not own:
        return None
    beneath = () if baseline is None else _curves(baseline.figures, f"{baseline.id} ")
    end = max(points[-1][0] for _, points in own)
    series = (
        *(Series(name=name, points=points, color="$secondary") for name, points in beneath),
        *(Series(name=name, points=points, color=_COLORS[name]) for name, points in own),
    )
    return ChartData(series=series, x_max=max(1.0, end), x_ticks=TICKS, x_label="%", y_format=units.latency)


def _curves(figures: RunFigures, prefix: str) -> list[tuple[str, tuple[Point, ...]]]:
    sides = ((name, figures.side(name)) for name in DIRECTIONS)
    return [(f"{prefix}{name}", nines(side)) for name, side in sides if side is not None and side.bins]


def nines(side: DirectionFigures) -> tuple[Point, ...]:
    """(nines of the share of I/Os, the latency in ns within which they were), as far as the I/Os carry it."""
    total = sum(count for _, count in side.bins)
    done = itertools.accumulate(count for _, count in side.bins)
    return tuple(
        (-math.log10((total - so_far) / total) if so_far < total else math.log10(total), float(value))
        for so_far, (value, _) in zip(done, side.bins, strict=True)
        if total > 1
    )
