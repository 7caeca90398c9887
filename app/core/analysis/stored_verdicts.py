"""The verdicts of an experiment as stored in the log. A later version with another rule still shows them. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.core.analysis.caveats import blocking_caveats
from app.core.analysis.comparison import Comparison, MetricComparison, compare_experiment
from app.core.analysis.reasons import OutlierPair, Reason, SlowRuns
from app.core.analysis.stats import THRESHOLD_PERCENT, ConfidenceInterval
from app.core.analysis.verdict import Verdict, VerdictResult
from app.core.session.event_types import RecordedVerdict
from app.core.session.events import ExperimentEnded
from app.core.session.state import ExperimentRecord, Session


def verdicts_of(comparison: Comparison) -> tuple[RecordedVerdict, ...]:
    """Return the verdicts to store: one for every metric that has one."""
    return tuple(_record_of(row, row.judgement) for row in comparison.rows if row.judgement is not None)


def _record_of(row: MetricComparison, judgement: VerdictResult) -> RecordedVerdict:
    record = RecordedVerdict(
        direction=row.direction,
        figure=row.figure.key,
        verdict=judgement.verdict.value,
        headline=row.headline,
        reason="" if judgement.reason is None else judgement.reason.value,
        n=judgement.measured,
        threshold=judgement.threshold,
        further_pairs=judgement.further_pairs,
        figures=judgement.figures,
    )
    if (interval := judgement.interval) is not None:
        record = replace(
            record,
            mean=interval.mean,
            low=interval.low,
            high=interval.high,
            sd=interval.sd,
            p=interval.p,
            level=interval.level,
        )
    if (slow := judgement.slow) is not None:
        record = replace(record, slow_side=slow.side, slow_runs=slow.count)
    far_pairs = tuple(pair.pair for pair in judgement.outliers)
    return replace(record, far_pairs=far_pairs, far_percents=tuple(pair.percent for pair in judgement.outliers))


def stored_comparison(session: Session, experiment_id: str) -> Comparison | None:
    """Return the comparison of an experiment with its stored verdicts.

    Without a recorded end, return the comparison from its pairs so far. None before the first complete pair.
    """
    comparison, record = compare_experiment(session, experiment_id), session.experiment(experiment_id)
    if comparison is None or record is None or record.end is None:
        return comparison
    rule = record.start.rule if record.end.verdicts else None
    return replace(comparison, rows=tuple(_rows(comparison, record.end)), rule=rule)


def without_stored_verdicts(session: Session) -> Session:
    """Return the session without stored verdicts, so that its experiments are judged by the current rule."""
    return replace(session, experiments=tuple(map(_without_verdicts, session.experiments)))


def _without_verdicts(record: ExperimentRecord) -> ExperimentRecord:
    end = None if record.end is None else replace(record.end, verdicts=())
    return replace(record, end=end)


def _rows(comparison: Comparison, end: ExperimentEnded) -> Iterator[MetricComparison]:
    """Yield the rows of the comparison; a row for which a verdict was stored has that verdict."""
    verdicts = {
        (verdict.direction, verdict.figure): verdict for verdict in end.verdicts if verdict.verdict in {*Verdict}
    }
    for row in comparison.rows:
        kept = verdicts.get((row.direction, row.figure.key))
        yield row if kept is None else replace(row, judgement=_judgement(comparison, kept))


def _judgement(comparison: Comparison, kept: RecordedVerdict) -> VerdictResult:
    verdict = Verdict(kept.verdict)
    return VerdictResult(
        verdict=verdict,
        interval=interval_of(kept),
        further_pairs=kept.further_pairs,
        interleaved=True,
        reason=Reason(kept.reason) if kept.reason in {*Reason} else None,
        threshold=kept.threshold or THRESHOLD_PERCENT,
        outliers=tuple(
            OutlierPair(pair=pair, percent=percent)
            for pair, percent in zip(kept.far_pairs, kept.far_percents, strict=False)
        ),
        slow=SlowRuns(side=kept.slow_side, count=kept.slow_runs) if kept.slow_side else None,
        measured=kept.n,
        figures=kept.figures,
        doubts=blocking_caveats((*comparison.sides.a, *comparison.sides.b)) if verdict is Verdict.REFUSED else (),
    )


def interval_of(kept: RecordedVerdict) -> ConfidenceInterval | None:
    """Return the interval that was stored with a verdict; None if it had none."""
    if kept.mean is None or kept.low is None or kept.high is None or kept.level is None:
        return None
    p = 1.0 if kept.p is None else kept.p
    return ConfidenceInterval(
        mean=kept.mean, low=kept.low, high=kept.high, sd=kept.sd or 0.0, n=kept.n, p=p, level=kept.level
    )
