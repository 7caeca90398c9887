"""A baseline held against the same job, measured again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from app.engine.history.baselines import Baseline
from app.engine.history.past import PastRun, job_words
from app.engine.history.series import Difference
from app.engine.judge.caveats import forbidden, weakened
from app.engine.judge.comparison import differing
from app.engine.judge.kinds import Figure, headline, value_of
from app.engine.judge.later import LaterJudgement, LaterVerdict, apart, judge_later
from app.engine.judge.stats import Spread, geometric_mean
from app.engine.session.figures import RunStatus
from app.engine.session.state import RunRecord
from backends.values import dataclass

_OTHER_EACH_TIME = ("boot_id",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What came of it."""

    baseline: Baseline
    """What it was held against."""
    runs: tuple[RunRecord, ...]
    """What was measured now."""
    figure: Figure
    """What the job is about."""
    direction: str
    """Of which direction."""
    saved: float | None
    """Geometric mean of the baseline."""
    now: float | None
    """And of the runs; None where one of them has no figure."""
    judgement: LaterJudgement
    """How it stands."""
    threshold: float
    """Percent."""
    between: Spread | None
    """How far sessions of the same lie apart; None of too few."""
    differs: tuple[Difference, ...]
    """Settings, and what else is known of how the runs came about."""
    reason: str
    """Why there is no verdict, where that lies in the runs; "" else."""
    caveats: str
    """What weakens the figures; "" without."""


def check(baseline: Baseline, runs: Sequence[RunRecord], known: Iterable[PastRun], *, threshold: float) -> Check:
    """The runs, measured now, against the baseline. `known`: the history, for how far sessions lie apart."""
    about, direction = headline((*baseline.runs, *runs))
    saved = [value_of(run.figures, direction, about) for run in baseline.runs]
    now = [value_of(run.figures, direction, about) for run in runs]
    alike = [run for run in known if run.kind == (about.key, direction)]
    between = apart(_other_sessions(baseline, alike, {run.start.at for run in runs}))
    judgement, reason = LaterJudgement(standing=LaterVerdict.NOT_DECIDED, interval=None), ""
    failed = [run.id for run in runs if run.figures.status is not RunStatus.OK]
    ones, others = _all(saved), _all(now)
    if failed:
        reason = f"{', '.join(failed)} did not come to a good end"
    elif not ones or not others:
        reason = "a run has no such figure"
    else:
        judgement = judge_later(
            ones, others, between=between, higher_is_better=about.higher_is_better, threshold=threshold
        )
        reason = forbidden((*baseline.runs, *runs))
    if reason and judgement.interval is not None:
        judgement = LaterJudgement(standing=LaterVerdict.REFUSED, interval=judgement.interval)
    return Check(
        baseline=baseline,
        runs=tuple(runs),
        figure=about,
        direction=direction,
        saved=geometric_mean(ones) if ones else None,
        now=geometric_mean(others) if others else None,
        judgement=judgement,
        threshold=threshold,
        between=between,
        differs=_differs(baseline.runs[0], runs[-1]) if runs else (),
        reason=reason,
        caveats=weakened((*baseline.runs, *runs)),
    )


def _all(values: Sequence[float | None]) -> list[float]:
    there = [value for value in values if value is not None and isfinite(value) and value > 0]
    return there if len(there) == len(values) else []


def _other_sessions(baseline: Baseline, known: Iterable[PastRun], now: set[float]) -> list[float]:
    """One value of each session in which the same was measured with the same settings, but for the runs of now."""
    start = baseline.start
    wanted = (start.simulated, baseline.thing, job_words(start.job))
    alike = [run for run in known if run.counts and run.condition == wanted and run.settings == start.settings]
    sessions: dict[str, list[float]] = {}
    for run in alike:
        if run.value is not None and run.at not in now:
            sessions.setdefault(run.session, []).append(run.value)
    return [geometric_mean(values) for values in sessions.values()]


def _differs(saved: RunRecord, now: RunRecord) -> tuple[Difference, ...]:
    beneath = differing(saved.provenance, now.provenance)
    return (
        *differing(saved.start.settings, now.start.settings),
        *(each for each in beneath if each[0] not in _OTHER_EACH_TIME),
    )
