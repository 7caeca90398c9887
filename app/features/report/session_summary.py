"""Summary of a session in sentences: first the significant effects, largest first, then other results. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from app.core.analysis.comparison import Comparison, varying_keys
from app.core.analysis.metric_kinds import FIGURES
from app.core.analysis.sample_groups import repeats, spread_of
from app.core.analysis.stored_verdicts import stored_comparison
from app.core.analysis.verdict import Verdict
from app.core.presentation.comparison import experiment_lines
from app.core.presentation.comparison_text import row_name
from app.core.presentation.figures import figure_value_text
from app.core.presentation.labels import key_name, key_value, with_labels
from app.core.session.results import DIRECTIONS, RunStatus
from app.core.session.state import ExperimentRecord, RunRecord, Session
from app.core.session.unit_labels import value_text
from app.features.sweep.engine.results import results
from app.features.sweep.presentation.findings import MOST_EFFECTS, shown_effects, standings
from widgets.text_utils import units

_MOST_JOBS = 6
"""Maximum number of combinations of job and settings in the summary. The report's results table has all."""

_IOPS, _MOVED, _TAIL = (
    next(figure for figure in FIGURES if figure.key == key) for key in ("iops", "bytes_per_second", "latency_p99_ns")
)


def session_highlights(session: Session) -> Iterator[str]:
    """Yield the most important results of a session, one or two sentences each."""
    experiments = [(record, stored_comparison(session, record.id)) for record in session.experiments]
    pairs = [(_size(comparison), _experiment(record, comparison)) for record, comparison in experiments]
    outcome = None if session.sweep is None else results(with_labels(session.sweep), session.runs)
    swept = sorted(shown_effects(outcome), reverse=True) if outcome is not None else []
    shown = [*(effect for effect in pairs if effect[0]), *swept[:MOST_EFFECTS]]
    yield from (sentence for _, sentence in sorted(shown, key=lambda effect: -effect[0]))
    if len(swept) > MOST_EFFECTS:
        yield f"{len(swept) - MOST_EFFECTS} smaller effects are in the ranking."
    if session.sweep is not None and outcome is not None:
        yield from standings(session.sweep, outcome)
    yield from (sentence for size, sentence in pairs if not size)
    yield from _figures(standalone_runs(session))
    if session.changes:
        standing = len(session.in_force)
        stand = "all undone" if not standing else f"{standing} still changed"
        yield f"{units.plural(len(session.changes), 'change')} made, {stand}."


def standalone_runs(session: Session) -> tuple[RunRecord, ...]:
    """Return the runs that ended without failing and belong to no A/B experiment or sweep."""
    swept = set() if session.sweep is None else {end.run for end in session.sweep.ended}
    return tuple(
        run
        for run in session.runs
        if run.start.mark is None and run.id not in swept and run.figures.status in (RunStatus.OK, RunStatus.STOPPED)
    )


def _size(comparison: Comparison | None) -> float:
    """Return the effect of an A/B experiment on the main metric as the absolute logarithm of the ratio.

    It is 0 if it is not significant, and infinite if the device stopped responding with one of the values.
    """
    row = None if comparison is None else comparison.headline
    judgement = None if row is None else row.judgement
    if judgement is not None and judgement.verdict is Verdict.STOPPED_ANSWERING:
        return inf
    if judgement is None or not judgement.differs or judgement.interval is None:
        return 0.0
    return abs(judgement.interval.mean)


def _experiment(record: ExperimentRecord, comparison: Comparison | None) -> str:
    row = None if comparison is None else comparison.headline
    sides = ""
    if row is not None:
        a, b = figure_value_text(row.figure, row.a), figure_value_text(row.figure, row.b)
        name, other = (value_text(record.start.key, value) for value in (record.start.a, record.start.b))
        sides = f" {row_name(row)} {a} with {name}, {b} with {other}."
    return f"{record.id}, {record.start.target}:{sides} {' '.join(experiment_lines(record, comparison))}"


def _figures(runs: Sequence[RunRecord]) -> Iterator[str]:
    """Yield one sentence per combination of job and settings, with the mean results of its runs."""
    groups = [*repeats(runs).values()]
    keys = varying_keys([group[0].start.settings for group in groups])
    for group in groups[:_MOST_JOBS]:
        start = group[0].start
        varying = {key: start.settings[key] for key in keys if key in start.settings}
        settings = "".join(f", {key_name(key)} {key_value(key, value)}" for key, value in varying.items())
        count = f" ({units.plural(len(group), 'run')})" if len(group) > 1 else ""
        yield f"{'; '.join(_directions(group))}: {start.title} on {start.target}{settings}{count}."
    if len(groups) > _MOST_JOBS:
        yield f"{len(groups) - _MOST_JOBS} more jobs or settings are in the results."


def _directions(group: Sequence[RunRecord]) -> Iterator[str]:
    for direction in DIRECTIONS:
        ios, moved, tail = (spread_of(group, direction, figure) for figure in (_IOPS, _MOVED, _TAIL))
        if ios is None or moved is None:
            continue
        off = "" if ios.half is None or not ios.mean else f" ±{units.percent(ios.half / ios.mean * 100)}"
        late = "" if tail is None else f", p99 {units.latency(tail.mean)}"
        yield f"{direction.capitalize()} {units.iops(ios.mean)} IOPS{off}, {units.mib_per_s(moved.mean)} MiB/s{late}"
