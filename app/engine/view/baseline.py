"""What is told of baselines: their list, and what came of a check, in one sentence. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.history.baselines import Baseline
from app.engine.history.checking import Check
from app.engine.judge.kinds import headline, name_of, value_of
from app.engine.judge.later import FEWEST_SESSIONS, LaterVerdict
from app.engine.judge.provenance import between_words
from app.engine.judge.repeats import mean_text
from app.engine.judge.stats import spread
from app.engine.view import schema
from app.engine.view.history import differences
from app.engine.view.table import Align, Column, Row, Table
from widgets.plain import units

_BEGINNINGS = {
    LaterVerdict.WORSE: "Worse than baseline {name} by {threshold} or more",
    LaterVerdict.NOT_WORSE: "Not worse than baseline {name} by {threshold} or more",
    LaterVerdict.NOT_DECIDED: "Not decided whether it is worse than baseline {name} by {threshold} or more",
    LaterVerdict.REFUSED: "Check against baseline {name} refused",
}


def check_sentence(check: Check) -> str:
    """What came of it, with what it rests on."""
    interval = check.judgement.interval
    name = name_of(check.figure, check.direction)
    parts = [check.reason] if check.reason else []
    if interval is not None:
        counted = f"{units.plural(len(check.runs), 'run')} against {len(check.baseline.runs)}"
        parts.append(f"{name} {interval}, {counted}")
    if check.differs:
        parts.append(f"other than then: {differences(check.differs)}")
    if interval is not None:
        parts.append(_between(check))
    if check.judgement.standing is LaterVerdict.NOT_DECIDED and interval is not None:
        parts.append("more --repeats or a larger --threshold may decide it")
    if check.caveats:
        parts.append(f"caveats: {check.caveats}")
    begun = _BEGINNINGS[check.judgement.standing].format(name=check.baseline.name, threshold=f"{check.threshold:g} %")
    return f"{begun}: {'; '.join(parts)}."


def _between(check: Check) -> str:
    if check.between is None:
        return f"drift since then cannot be excluded, as fewer than {FEWEST_SESSIONS} other sessions measured the same"
    said = between_words(check.between).rstrip(".")
    return f"{said[:1].lower()}{said[1:]}, which is allowed for"


def baselines_table(baselines: Sequence[Baseline]) -> Table:
    """One row each."""
    columns = (
        Column(title="Name", key="name"),
        Column(title="Target", key="target", shrinks=True),
        Column(title="Workload", key="workload", shrinks=True),
        Column(title="Headline", key="headline", align=Align.POINT),
        Column(title="Runs", key="runs", align=Align.POINT),
        Column(title="Saved", key="saved"),
        Column(title="Session", key="session", priority=2),
        Column(title="", key="simulated"),
    )
    return Table(columns=columns, rows=tuple(_row(baseline) for baseline in baselines))


def _row(baseline: Baseline) -> Row:
    start = baseline.start
    about, direction = headline(baseline.runs)
    values = [value_of(run.figures, direction, about) for run in baseline.runs]
    seen = spread([value for value in values if value is not None] or [0.0])
    return Row(
        key=baseline.name,
        cells=(
            baseline.name,
            start.target,
            start.profile or start.title,
            f"{mean_text(seen, about.show)} {name_of(about, direction)}",
            str(len(baseline.runs)),
            units.moment(baseline.at)[:16],
            baseline.session,
            "SIMULATED" if start.simulated else "",
        ),
    )


def baseline_json(baseline: Baseline) -> schema.Json:
    """A baseline."""
    start = baseline.start
    return {
        **schema.picked(baseline, "name", "at", "session", "thing"),
        **schema.picked(start, "target", "profile", "title", "simulated"),
        "job": dict(start.job),
        "settings": dict(start.settings),
        "runs": [run.id for run in baseline.runs],
    }


def check_json(check: Check, session: str) -> schema.Json:
    """What came of a check."""
    interval = check.judgement.interval
    between = check.between
    return schema.document(
        baseline=baseline_json(check.baseline),
        verdict=check.judgement.standing.value,
        sentence=check_sentence(check),
        reason=check.reason or None,
        figure=check.figure.key,
        direction=check.direction,
        saved=check.saved,
        now=check.now,
        percent=None if interval is None else interval.percent,
        interval_percent=None if interval is None else [interval.percent_low, interval.percent_high],
        threshold_percent=check.threshold,
        between_sessions=None if between is None else {"sessions": between.n, "sd": between.sd},
        differs=[{"key": key, "before": a, "after": b} for key, a, b in check.differs],
        runs=[schema.run(run, session=session) for run in check.runs],
    )
