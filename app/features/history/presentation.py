"""The runs of all sessions as a table, as sentences about level changes, and as JSON. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import expm1

from app.core.analysis.control_chart import LEARNING, SIGHT, ControlChart
from app.core.analysis.past_runs.earlier_runs import Condition, PastRun
from app.core.analysis.past_runs.series import Difference, LevelChange, RunSeries, changed_since_before
from app.core.analysis.regression import RegressionVerdict
from app.core.presentation import json_schema
from app.core.presentation.figures import figure_label, figure_name, figure_value_text
from app.core.presentation.labels import key_name, key_value
from app.core.presentation.percent import interval_text
from app.core.presentation.run import RUN_TONES
from app.core.presentation.table import Align, Cell, Column, Row, Table
from app.core.session.results import RunStatus
from widgets.text_utils import units

_MOST_NAMED = 4
"""Maximum number of differences that one line lists."""


def history_table(runs: Sequence[PastRun], changes: Sequence[LevelChange]) -> Table:
    """Return a table with one row per run, oldest first; a level change is marked at its first run."""
    changed = changed_since_before(runs)
    marks = {change.first.name: interval_text(change.shift.interval) for change in changes}
    columns = (
        Column(title="When", key="when"),
        Column(title="Run", key="run", priority=4, shrinks=True),
        Column(title="Target", key="target", priority=1, shrinks=True),
        Column(title="Workload", key="workload", priority=2, shrinks=True),
        Column(title="Headline", key="headline", align=Align.RIGHT),
        Column(title="p99", key="p99", align=Align.RIGHT, priority=3),
        Column(title="Level", key="level"),
        Column(title="Changed conditions", key="differs", priority=5, shrinks=True),
        Column(title="Status", key="status", priority=6),
    )
    return Table(columns=columns, rows=tuple(_row(run, changed[run.name], marks.get(run.name, "")) for run in runs))


def _row(run: PastRun, differs: Sequence[Difference], mark: str) -> Row:
    return Row(
        key=run.name,
        dim=run.tried,
        cells=(
            units.moment(run.at)[:16],
            run.name,
            run.target,
            run.workload,
            headline_text(run),
            "" if run.p99_ns is None else units.latency(run.p99_ns),
            mark,
            differences(differs),
            "" if run.status == RunStatus.OK else Cell(run.status, RUN_TONES[RunStatus(run.status)]),
        ),
    )


def headline_text(run: PastRun) -> str:
    """Return the headline metric with its unit, such as `85.4k IOPS` or `332 MiB/s`; "" if nothing was measured."""
    return "" if run.value is None else value_text(run, run.value)


def value_text(run: PastRun, value: float) -> str:
    """Return a value of the run's headline metric with its unit."""
    about = run.about
    text = figure_value_text(about, value)
    return text if about.is_latency else f"{text} {figure_label(about)}"


def differences(differs: Sequence[Difference]) -> str:
    """Return differences between runs as a string, such as `Read-ahead 128 KiB -> 64 KiB, Kernel 6.1 -> 6.8`."""
    if not differs:  # nearly all runs of a long history
        return ""
    lines = [f"{key_name(key)} {key_value(key, a)} -> {key_value(key, b)}" for key, a, b in differs[:_MOST_NAMED]]
    more = len(differs) - len(lines)
    return ", ".join((*lines, *([f"{more} more"] if more else [])))


def change_lines(series: RunSeries, *, named: bool = True) -> Iterator[str]:
    """Yield a sentence for each level change; with `named`, it includes the target and the workload."""
    for change in series.changes:
        run, shift = change.first, change.shift
        counted = f"{shift.before} before, {shift.after} from then on"
        also = f"; changed since before: {differences(change.differs)}" if change.differs else ""
        subject = f"{run.target}, {run.workload}: " if named else ""
        figure = f"{figure_name(run.about, run.direction)} {interval_text(shift.interval)}"
        yield f"{units.moment(run.at)[:16]}  {subject}{figure} from {run.name} on ({counted}){also}"


def episode_lines(series: RunSeries) -> Iterator[str]:
    """Yield a sentence about the loss of a series if it began with the last session or continues; nothing otherwise."""
    chart = series.chart
    if chart.begun is None or chart.judgement.interval is None:
        return
    first, run = series.points[chart.begun].runs[0], series.runs[-1]
    figure = f"{figure_name(run.about, run.direction)} {interval_text(chart.judgement.interval)}"
    when = "reported now" if chart.standing is RegressionVerdict.WORSE else f"reported at {first.name}"
    yield (
        f"{units.moment(first.at)[:16]}  {run.target}, {run.workload}: {figure} against the {chart.against} sessions "
        f"before it, {when}"
    )


def chart_json(chart: ControlChart) -> json_schema.Json:
    """Return a control chart of sessions ("nights") as JSON."""
    return {
        "nights": chart.nights,
        "known": chart.reference_size,
        "against": chart.against,
        "episodes": len(chart.episodes),
        "learning": chart.learning,
        "of": LEARNING,
        "sd_percent": None if chart.sd is None else expm1(chart.sd) * 100,
        "seen_percent": chart.seen_percent,
        "seen_within": SIGHT,
    }


def history_document(runs: Sequence[PastRun], series: Mapping[Condition, RunSeries]) -> json_schema.Json:
    """Return the JSON document that `history --json` prints."""
    changed = changed_since_before(runs)
    return json_schema.document(
        runs=[_run(run, changed[run.name]) for run in runs],
        changes=[_change(change, run_series) for run_series in series.values() for change in run_series.changes],
        charts=[_chart(run_series) for run_series in series.values()],
    )


def _run(run: PastRun, differs: Sequence[Difference]) -> json_schema.Json:
    return {
        **json_schema.pick(run, "session", "id", "at", "host", "simulated", "thing", "target", "workload", "profile"),
        **json_schema.pick(run, "job", "figure", "direction", "value", "p99_ns", "status", "tried"),
        "settings": dict(run.settings),
        "around": dict(run.around),
        "differs": _differences(differs),
    }


def _change(change: LevelChange, series: RunSeries) -> json_schema.Json:
    run, shift = change.first, change.shift
    return {
        **json_schema.pick(run, "thing", "target", "workload", "figure", "direction", "at"),
        "from": run.name,
        "percent": shift.interval.percent,
        "interval_percent": [shift.interval.percent_low, shift.interval.percent_high],
        "points_before": shift.before,
        "points_after": shift.after,
        "points": len(series.points),
        "differs": _differences(change.differs),
    }


def _chart(series: RunSeries) -> json_schema.Json:
    chart, run = series.chart, series.runs[-1]
    interval = chart.judgement.interval
    return {
        **json_schema.pick(run, "thing", "target", "workload", "figure", "direction"),
        "verdict": chart.standing.value,
        "since": None if chart.begun is None else series.points[chart.begun].runs[0].name,
        "interval_percent": None if interval is None else [interval.percent_low, interval.percent_high],
        **chart_json(chart),
    }


def _differences(differs: Sequence[Difference]) -> list[json_schema.Json]:
    return [{"key": key, "before": a, "after": b} for key, a, b in differs]
