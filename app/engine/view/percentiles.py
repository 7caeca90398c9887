"""How far the percentiles of one run may be off by the number of its I/Os. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.fio.histogram import Histogram

if TYPE_CHECKING:
    from app.engine.session.figures import DirectionFigures

_PERCENTS = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}


def intervals(direction: DirectionFigures) -> dict[str, tuple[int, int]]:
    """Between which latencies in ns each percentile that is shown lies with 95 %, within this run.

    As if the I/Os were independent of each other. How far the next run may lie apart, only repeats tell.
    """
    histogram = Histogram(dict(direction.bins))
    shown = (key for key in _PERCENTS if getattr(direction.latency_ns, key) is not None)
    found = {key: histogram.interval(_PERCENTS[key]) for key in shown}
    return {key: between for key, between in found.items() if between is not None}
