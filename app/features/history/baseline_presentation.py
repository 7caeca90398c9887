"""The list of baselines, and the result of a baseline check, as tables, sentences and JSON. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import expm1

from app.core.analysis.control_chart import LEARNING, SIGHT, ControlChart
from app.core.analysis.metric_kinds import headline, value_of
from app.core.analysis.regression import FEWEST_SESSIONS, RegressionVerdict
from app.core.analysis.stats import mean_interval
from app.core.presentation import json_schema
from app.core.presentation.comparison_text import between_sessions_text
from app.core.presentation.figures import figure_name, formatter_for, mean_text
from app.core.presentation.percent import interval_text
from app.core.presentation.table import Align, Column, Row, Table
from app.core.presentation.verdict_text import state_text, weakened_text
from app.features.history.baseline_check import BaselineCheck
from app.features.history.baselines import Baseline
from app.features.history.presentation import chart_json, differences
from widgets.text_utils import units

_BEGINNINGS = {
    RegressionVerdict.WORSE: "Worse than baseline {name} by {threshold} or more",
    RegressionVerdict.STILL_WORSE: "Still worse than baseline {name}, as reported on {told}",
    RegressionVerdict.NOT_WORSE: "Not worse than baseline {name} by {threshold} or more",
    RegressionVerdict.NOT_DECIDED: "Undecided whether the result is worse than baseline {name} by {threshold} or more",
    RegressionVerdict.REFUSED: "Check against baseline {name} refused",
}
"""Beginning of the sentence about a check, by verdict, while there are too few sessions for a control chart."""

_CHARTED = {
    RegressionVerdict.WORSE: "Worse than the {nights} nights since baseline {name}",
    RegressionVerdict.STILL_WORSE: "Still worse than the {nights} nights since baseline {name}, as reported on {told}",
    RegressionVerdict.NOT_WORSE: "Not worse than the {nights} nights since baseline {name}",
    RegressionVerdict.NOT_DECIDED: (
        "Undecided whether the result is worse than the {nights} nights since baseline {name}"
    ),
}


def check_text(check: BaselineCheck) -> str:
    """Return the result of a check as a sentence with its evidence."""
    interval, chart = check.judgement.interval, check.chart
    charted = chart is not None and chart.against > 1 and check.judgement.standing in _CHARTED
    name = figure_name(check.figure, check.direction)
    reason = check_reason(check)
    parts = [reason] if reason else []
    if interval is not None:
        runs = f"{units.plural(len(check.runs), 'run')} against {len(check.baseline.runs)}"
        parts.append(f"{name} {interval_text(interval)}, {units.plural(interval.n, 'night') if charted else runs}")
    if check.differs:
        parts.append(f"changed since then: {differences(check.differs)}")
    if interval is not None:
        parts += _chart_parts(check, chart) if charted and chart is not None else _learning_parts(check)
    if caveats := weakened_text(check.weakened):
        parts.append(f"caveats: {caveats}")
    begun = (_CHARTED if charted else _BEGINNINGS)[check.judgement.standing].format(
        name=check.baseline.name,
        threshold=f"{check.threshold:g} %",
        nights=0 if chart is None else chart.against,
        told="" if check.since is None else units.moment(check.since)[:10],
    )
    return f"{begun}: {'; '.join(parts)}."


def check_reason(check: BaselineCheck) -> str:
    """Return the reason why a check has no verdict, if the runs are the reason; otherwise ""."""
    if check.failed:
        return f"{', '.join(check.failed)} did not complete"
    if check.saved is None or check.now is None:
        return "a run lacks this metric"
    if check.engines:
        return (
            f"the I/O engine changed from {check.engines[0]} to {check.engines[-1]}, which itself changes results,"
            " especially of flushes; save a new baseline with `raidbench baseline save`"
        )
    return state_text(check.doubts)


def _chart_parts(check: BaselineCheck, chart: ControlChart) -> Iterator[str]:
    yield f"night-to-night noise {expm1(chart.sd or 0.0) * 100:.1f} %"
    if check.judgement.standing is RegressionVerdict.NOT_DECIDED:
        yield "another night like this decides it; more runs in one night do not"
    elif check.judgement.standing is RegressionVerdict.STILL_WORSE:
        yield f"to accept the new level, run `raidbench baseline save {check.baseline.name} --replace`"
    if chart.seen_percent is not None:
        yield f"a degradation of {chart.seen_percent:.1f} % is detected within {SIGHT} nights"


def _learning_parts(check: BaselineCheck) -> Iterator[str]:
    chart = check.chart
    yield _drift_text(check)
    if check.judgement.standing is RegressionVerdict.NOT_DECIDED:
        if check.judgement.of_sessions:
            yield "the session-to-session noise is too high: more nights may decide it, more --repeats do not"
        else:
            yield (
                "more --repeats or a larger --threshold may decide it, unless the session-to-session noise is"
                " larger than the run-to-run noise"
            )
    if chart is not None:
        yield f"collecting reference data: {chart.reference_size} of {LEARNING} nights"


def _drift_text(check: BaselineCheck) -> str:
    if check.between is None:
        return f"drift since then cannot be excluded: fewer than {FEWEST_SESSIONS} other sessions measured the same job"
    text = between_sessions_text(check.between).rstrip(".")
    return f"{text[:1].lower()}{text[1:]}, which is taken into account"


def baselines_table(baselines: Sequence[Baseline]) -> Table:
    """Return a table with one row per baseline."""
    columns = (
        Column(title="Name", key="name"),
        Column(title="Target", key="target", shrinks=True),
        Column(title="Workload", key="workload", shrinks=True),
        Column(title="Headline", key="headline", align=Align.RIGHT),
        Column(title="Runs", key="runs", align=Align.RIGHT),
        Column(title="Saved", key="saved"),
        Column(title="Session", key="session", priority=2),
        Column(title="", key="simulated"),
    )
    return Table(columns=columns, rows=tuple(_row(baseline) for baseline in baselines))


def _row(baseline: Baseline) -> Row:
    start = baseline.start
    about, direction = headline(baseline.runs)
    values = [value_of(run.figures, direction, about) for run in baseline.runs]
    mean = mean_interval([value for value in values if value is not None] or [0.0])
    return Row(
        key=baseline.name,
        cells=(
            baseline.name,
            start.target,
            start.workload,
            f"{mean_text(mean, formatter_for(about))} {figure_name(about, direction)}",
            str(len(baseline.runs)),
            units.moment(baseline.at)[:16],
            baseline.session,
            "SIMULATED" if start.simulated else "",
        ),
    )


def baseline_json(baseline: Baseline) -> json_schema.Json:
    """Return a baseline as JSON."""
    start = baseline.start
    return {
        **json_schema.pick(baseline, "name", "at", "session", "thing"),
        **json_schema.pick(start, "target", "profile", "title", "simulated"),
        "job": dict(start.job),
        "settings": dict(start.settings),
        "runs": [run.id for run in baseline.runs],
    }


def check_json(check: BaselineCheck, session: str) -> json_schema.Json:
    """Return the result of a check as JSON."""
    interval = check.judgement.interval
    between = check.between
    return json_schema.document(
        baseline=baseline_json(check.baseline),
        verdict=check.judgement.standing.value,
        sentence=check_text(check),
        reason=check_reason(check) or None,
        figure=check.figure.key,
        direction=check.direction,
        saved=check.saved,
        now=check.now,
        percent=None if interval is None else interval.percent,
        interval_percent=None if interval is None else [interval.percent_low, interval.percent_high],
        threshold_percent=check.threshold,
        between_sessions=None if between is None else {"sessions": between.n, "sd": between.sd},
        nights=None
        if check.chart is None
        else {
            **chart_json(check.chart),
            "since": check.since,
            "told": check.judgement.standing is RegressionVerdict.WORSE,
        },
        differs=[{"key": key, "before": a, "after": b} for key, a, b in check.differs],
        runs=[json_schema.run(run, session=session) for run in check.runs],
    )
