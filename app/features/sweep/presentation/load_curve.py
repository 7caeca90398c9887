"""Saturation searches and throughput-latency curves as facts, tables and sentences. No I/O."""

from __future__ import annotations

from app.core.analysis.knee import Knee
from app.core.analysis.stats import LogMeanInterval, MeanInterval
from app.core.presentation.table import Align, Cell, Column, FactLine, Facts, Row, Table, Tone
from app.core.session.sweep_steps import Saturation
from app.features.sweep.engine.cells import LatencyFigure
from app.features.sweep.engine.load_curve import LoadCurve, RatePoint
from app.features.sweep.engine.saturation import SaturationResult
from widgets.text_utils import units

TOO_FEW = "too few I/Os"
"""Shown in place of a percentile that has too few I/Os."""

SATURATED = "saturated"
"""Shown at a requested I/O rate that was not reached."""


def spread_text(mean: MeanInterval | None) -> str:
    """Return mean IOPS with their interval, such as `41.2k +- 1.2 %`. For a single run, return only the number."""
    if mean is None:
        return units.NOTHING
    share = "" if mean.half is None or not mean.mean else f" +- {mean.half / mean.mean * 100:.1f} %"
    return f"{units.iops(mean.mean)}{share}"


def latency_text(mean: LogMeanInterval | None) -> str:
    """Return a mean latency with its interval, such as `620 µs [590, 651 µs]`. For a single run, return only the
    number.
    """
    if mean is None:
        return TOO_FEW
    if mean.low is None or mean.high is None:
        return units.latency(mean.mean)
    return f"{units.latency(mean.mean)} [{units.latency(mean.low)}, {units.latency(mean.high)}]"


def goal_text(goal: Saturation) -> str:
    """Return the latency limit of a search as a phrase that follows "Most IOPS"; "" without a latency limit."""
    return "" if goal.p99_ns is None else f"with a p99 of at most {units.latency(goal.p99_ns)}"


def search_facts(search: SaturationResult, goal: Saturation, of: str) -> Facts:
    """Return the tried depths and the result of a search; `of` is the name of the cell."""
    tried = [
        FactLine(
            f"depth {point.depth}",
            f"{spread_text(point.iops)} IOPS, p99 {latency_text(point.p99_ns)}"
            f" ({units.plural(len(point.scores), 'run')})",
            Tone.GOOD if point == search.best else Tone.PLAIN,
        )
        for point in search.points
    ]
    heading = f"Saturation of {of}" if goal.p99_ns is None else f"Most IOPS of {of} {goal_text(goal)}"
    return Facts(heading=heading, facts=(*tried, FactLine("found", *_result_text(search, goal))))


def search_text(search: SaturationResult, goal: Saturation) -> str:
    """Return the result of a search as a sentence."""
    return _result_text(search, goal)[0]


def _result_text(search: SaturationResult, goal: Saturation) -> tuple[str, Tone]:
    best = search.best
    if not search.complete:
        most = max((point.iops.mean for point in search.points if point.iops is not None), default=None)
        return f"The search is not complete. The maximum so far is {units.iops(most)} IOPS.", Tone.ATTENTION
    if best is None:
        return "No tried depth stays within the limit.", Tone.ATTENTION
    if goal.p99_ns is not None:
        text = f"Most IOPS {goal_text(goal)} at queue depth {best.depth}: {spread_text(best.iops)} IOPS"
        return f"{text}, p99 {latency_text(best.p99_ns)}.", Tone.GOOD
    least = f"Queue depth {best.depth} is the lowest within {goal.within:g} % of the maximum"
    rising = best == search.points[-1] and best.depth >= goal.highest
    more = " A higher depth may reach more, but none was tried." if rising else ""
    return (
        f"Saturated at {spread_text(search.plateau)} IOPS. {least}.{more}",
        Tone.ATTENTION if rising else Tone.GOOD,
    )


def curve_table(curve: LoadCurve) -> Table:
    """Return a table with a row for each requested I/O rate."""
    columns = (
        Column(title="Asked", key="asked", align=Align.RIGHT),
        Column(title="%", key="percent", align=Align.RIGHT, priority=5),
        Column(title="n", key="n", align=Align.RIGHT, priority=4),
        Column(title="Reached", key="reached", align=Align.RIGHT),
        *(
            Column(title=title, key=title, align=Align.RIGHT, priority=priority)
            for title, priority in (("Mean", 0), ("+-", 2), ("p50", 3), ("p99", 0), ("p99 +-", 2), ("p99.9", 1))
        ),
        Column(title="", key="word"),
    )
    nearest = _nearest_point(curve)
    return Table(columns=columns, rows=tuple(_row(point, knee=point is nearest) for point in curve.points))


def _row(point: RatePoint, *, knee: bool) -> Row:
    mean, p50, p99, p99_9 = (point.latency(figure) for figure in LatencyFigure)
    word, tone = ("knee", Tone.GOOD) if knee else ("", Tone.PLAIN)
    if not point.carried:
        word, tone = (SATURATED, Tone.ATTENTION) if point.scores else ("failed", Tone.BAD)
    return Row(
        cells=(
            units.iops(point.asked),
            str(point.percent),
            str(len(point.scores)),
            units.iops(None if point.iops is None else point.iops.mean),
            _mean_text(mean),
            _half_interval_text(mean),
            _mean_text(p50),
            _mean_text(p99),
            _half_interval_text(p99),
            _mean_text(p99_9),
            Cell(word, tone),
        )
    )


def _mean_text(mean: LogMeanInterval | None) -> str:
    return units.NOTHING if mean is None else units.latency(mean.mean)


def _half_interval_text(mean: LogMeanInterval | None) -> str:
    """Return the distance from a mean latency to the upper end of its interval, which is the farther one, in percent; a
    dash without an interval.
    """
    if mean is None or mean.high is None:
        return units.NOTHING
    return f"{(mean.high / mean.mean - 1) * 100:.0f} %"


def _nearest_point(curve: LoadCurve) -> RatePoint | None:
    """Return the point of a curve nearest to its knee; None without a knee."""
    knee = curve.knee
    if knee is None:
        return None
    carried = [point for point in curve.points if point.carried and point.iops is not None]
    return min(carried, key=lambda point: abs((point.iops.mean if point.iops else 0.0) - knee.rate), default=None)


def knee_text(curve: LoadCurve, *, complete: bool = True) -> str:
    """Return a sentence about the knee of a curve. If `complete`, no more rates will be measured."""
    knee = curve.knee
    if knee is None:
        carried = [point.iops.mean for point in curve.points if point.carried and point.iops is not None]
        if not complete or not carried:
            return "The knee is not known yet." if not complete else "No rate was reached, so there is no knee."
        return f"No knee up to {units.iops(max(carried))} IOPS: latency rises less than the load."
    where = f"Knee at {units.iops(knee.rate)} IOPS ({units.iops(knee.low)} to {units.iops(knee.high)})"
    at = f"mean latency {units.latency(knee.latency)}"
    share = _share(curve, knee)
    if knee.at_limit:
        return f"{where}, {at}{share}: the latency hardly rises before saturation."
    return f"{where}, {at}{share}: above it, 1 % more load costs more than 1 % of latency."


def _share(curve: LoadCurve, knee: Knee) -> str:
    full = curve.saturation.plateau
    return "" if full is None or not full.mean else f", {knee.rate / full.mean * 100:.0f} % of saturation"


def curve_facts(curve: LoadCurve, of: str, *, complete: bool) -> Facts:
    """Return the knee of a curve and the rates that were not reached; `of` is the name of the cell."""
    missed = [point for point in curve.points if point.scores and not point.carried]
    lines = [FactLine("found", knee_text(curve, complete=complete), Tone.GOOD if curve.knee else Tone.ATTENTION)]
    lines += [FactLine(f"{units.iops(point.asked)} asked", _missed_text(point), Tone.ATTENTION) for point in missed]
    return Facts(heading=curve_heading(of), facts=tuple(lines))


def curve_heading(of: str) -> str:
    """Return the heading of a curve; `of` is the name of the cell."""
    return f"Latency of {of} under load"


def _missed_text(point: RatePoint) -> str:
    missing = (1 - point.iops.mean / point.asked) * 100 if point.iops is not None else 100.0
    return f"{spread_text(point.iops)} IOPS reached, {missing:.0f} % missing: {SATURATED}"
