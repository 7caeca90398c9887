"""The runs of one condition drawn with plotext: a point a run, a line where the level changed."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.history.series import RunSeries
from app.engine.judge.kinds import name_of
from app.engine.view.history import headline_text, value_text
from backends.text import clean
from widgets.plain import units

_MOST_DATES = 6


def history_plot(
    series: RunSeries, width: int, height: int, *, ascii_only: bool, color: bool = True, titled: bool = True
) -> str:
    """The chart, in lines of `width` cells with ANSI colours unless not `color`. From zero, so that sizes compare."""
    import plotext

    runs = series.runs
    values = [run.value or 0.0 for run in runs]
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)  # by the terminal, of which it knows nothing here
    plotext.plot_size(width, height)
    first = runs[0]
    if titled:
        plotext.title(
            f"{name_of(first.about, first.direction)}, {clean(first.workload, 60)} on {clean(runs[-1].target, 60)}"
        )
    places = list(range(1, len(runs) + 1))
    plotext.scatter(places, values, marker="o" if ascii_only else "dot", color="cyan+")
    number = {run.name: at for at, run in enumerate(runs, 1)}
    for change in series.changes:
        plotext.vline(number[change.first.name] - 0.5, color="orange+")
    highest = max(values)
    ticks = [highest * step / 4 for step in range(5)]
    plotext.ylim(0, highest * 1.05)
    plotext.yticks(ticks, [value_text(first, tick) if tick else "0" for tick in ticks])
    dated = _spread(places, max(2, min(_MOST_DATES, width // 16)))
    plotext.xticks(dated, [units.moment(runs[at - 1].at)[:10] for at in dated])
    plotext.xlabel(f"{units.plural(len(runs), 'run')} in their order, the last {headline_text(runs[-1])}")
    text: str = plotext.build()
    plotext.clear_figure()
    text = text if color else str(plotext.uncolorize(text))
    return text.translate(_ASCII) if ascii_only else text


_ASCII = str.maketrans("┌┐└┘├┤┬┴┼─│µ", "+++++++++-|u")


def _spread(places: Sequence[int], count: int) -> list[int]:
    """So many of the places at most, the first and the last among them."""
    if len(places) <= count:
        return list(places)
    step = (len(places) - 1) / (count - 1)
    return [places[round(at * step)] for at in range(count)]
