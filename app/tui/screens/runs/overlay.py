"""Finished runs drawn over each other with plotext: a chart that stands still."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.session.figures import Phase, Sample
from widgets.plain import units

_SIGNS = ("braille", "dot")
_COLORS = ("cyan+", "orange+")


def overlay(
    runs: Sequence[tuple[str, tuple[Sample, ...]]], width: int, height: int, *, latency: bool, ascii_only: bool
) -> str:
    """A chart of the measured phase of each run with ANSI colours: IOPS of both directions, or the higher p99."""
    import plotext

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)  # by the terminal, of which it knows nothing here
    plotext.plot_size(width, height)
    plotext.title("p99 of each interval" if latency else "IOPS of each interval")
    highest = 0.0
    for index, (name, samples) in enumerate(runs):
        points = [(sample.at, value) for sample in samples if (value := _value(sample, latency)) is not None]
        if not points:
            continue
        highest = max(highest, *(value for _, value in points))
        plotext.plot(
            [at for at, _ in points],
            [value for _, value in points],
            label=name,
            color=_COLORS[index % 2],
            marker=("*", "o")[index % 2] if ascii_only else _SIGNS[index % 2],
        )
    if highest:
        ticks = [highest * step / 4 for step in range(5)]
        label = units.latency if latency else units.iops
        plotext.ylim(0, highest * 1.05)
        plotext.yticks(ticks, [label(tick) if tick else "0" for tick in ticks])
        plotext.xlabel("seconds")
    text: str = plotext.build()
    plotext.clear_figure()
    return text


def _value(sample: Sample, latency: bool) -> float | None:
    if sample.phase is not Phase.MEASURING:
        return None
    both = [direction for direction in (sample.read, sample.write) if direction is not None]
    if not latency:
        return sum(direction.iops for direction in both) if both else None
    values = [direction.p99_ns for direction in both if direction.p99_ns is not None]
    return float(max(values)) if values else None
