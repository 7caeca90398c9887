"""JSON of the command line for experiments, comparisons and repeats. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from math import expm1

from app.core.analysis.comparison import Comparison, MetricComparison
from app.core.analysis.sample_groups import is_silent
from app.core.analysis.stats import THRESHOLD_PERCENT, MeanInterval
from app.core.presentation.comparison import shown_lines
from app.core.presentation.json_schema import Json, pick
from app.core.presentation.verdict_text import outliers_text, reason_text, slow_text
from app.core.session.event_types import InterimAnalysis
from app.core.session.state import ExperimentRecord, Session


def looks(planned: Iterable[InterimAnalysis]) -> list[Json]:
    """Return the planned interim analyses of an experiment, with the level of each."""
    return [{"pairs": look.pairs, "level": look.level, "no_difference_level": look.inside_level} for look in planned]


def experiment(record: ExperimentRecord, log: Session, compared: Comparison | None, *, session: str) -> Json:
    """Return an experiment as JSON. `compared`: its comparison; None before the first complete pair.

    The field `runs` has the ids of its runs.
    """
    start, end = record.start, record.end
    runs = [run for run in log.runs if run.start.mark is not None and run.start.mark.experiment == record.id]
    return {
        "id": record.id,
        "at": start.at,
        **pick(start, "target", "key", "a", "b", "order"),
        "pairs": 0 if compared is None else len(compared.sides.a) - compared.sides.before,
        "judged_with": [] if compared is None else list(compared.sides.others),
        "looks": looks(start.looks),
        **pick(start, "until_percent"),
        "threshold_percent": start.threshold_percent or THRESHOLD_PERCENT,
        **pick(start, "seed", "rule", "measured", "title"),
        "status": None if end is None else end.status.value,
        "reason": None if end is None else end.reason or None,
        "restored": None if end is None else end.restored,
        "rule": start.rule if compared is None or compared.rule is None else compared.rule,
        "moved": {} if end is None else dict(end.moved),
        "not_counted": [] if end is None else list(end.not_counted),
        "stopped_answering": {} if compared is None else _silent_runs(compared),
        "simulated": any(run.start.simulated for run in runs),
        "sentence": None if compared is None else " ".join(shown_lines(record, compared)),
        "null": start.is_null,
        "figures": [] if compared is None else [figure(row) for row in compared.rows],
        "runs": [run.id for run in runs],
        "session": session,
    }


def _silent_runs(compared: Comparison) -> Json:
    """Return the ids of runs that completed no I/O, by the letter of their side.

    A side without such runs is left out.
    """
    sides = {"A": compared.sides.a, "B": compared.sides.b}
    ids_by_letter = {letter: [run.id for run in runs if is_silent(run)] for letter, runs in sides.items()}
    return {letter: ids for letter, ids in ids_by_letter.items() if ids}


def figure(row: MetricComparison) -> Json:
    """Return one metric of both sides, with its verdict, as JSON."""
    judgement, interval = row.judgement, row.interval
    return {
        "direction": row.direction,
        "figure": row.figure.key,
        **pick(row, "a", "b", "percent"),
        "verdict": None if judgement is None else judgement.verdict.value,
        "reason": None if judgement is None else reason_text(judgement) or None,
        "reason_code": None if judgement is None or judgement.reason is None else judgement.reason.value,
        "headline": row.headline,
        "same_as": row.same_as or None,
        "interval_percent": None if interval is None else [interval.percent_low, interval.percent_high],
        "level": None if interval is None else interval.level,
        "smallest_percent": None if interval is None else interval.smallest_percent,
        "outlier": None if judgement is None or not judgement.outliers else outliers_text(judgement.outliers),
        "slow_runs": None if judgement is None or judgement.slow is None else slow_text(judgement.slow),
        "sd_percent": None if interval is None else interval.sd * 100,
        "n": None if interval is None else interval.n,
        "p": None if interval is None else interval.p,
        "interleaved": None if judgement is None else judgement.interleaved,
        "further_pairs": None if judgement is None else judgement.further_pairs,
    }


def between(interval: MeanInterval | None) -> Json | None:
    """Return the scatter between earlier sessions of the same configuration as JSON; None if unknown."""
    return None if interval is None else {"sessions": interval.n, "sd_percent": expm1(interval.sd or 0.0) * 100}


def spread(direction: str, figure_key: str, interval: MeanInterval) -> Json:
    """Return the mean and interval of one metric of repeats as JSON."""
    low, high = (
        (None, None) if interval.half is None else (interval.mean - interval.half, interval.mean + interval.half)
    )
    return {
        "direction": direction,
        "figure": figure_key,
        **pick(interval, "n", "mean"),
        "low": low,
        "high": high,
        "sd": interval.sd,
    }
