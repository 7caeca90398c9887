"""Compare a baseline with new runs of the same job. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from types import MappingProxyType

from app.cli.exit_status import DONE, FOUND, UNDECIDED
from app.core.analysis.caveats import blocking_caveats, weakening_caveats
from app.core.analysis.comparison import differing_values
from app.core.analysis.control_chart import ControlChart, night_chart
from app.core.analysis.metric_kinds import MetricKind, headline, value_of
from app.core.analysis.past_runs.earlier_runs import PastRun, job_text
from app.core.analysis.past_runs.series import Difference
from app.core.analysis.reasons import Caveat
from app.core.analysis.regression import RegressionResult, RegressionVerdict, judge_later, session_scatter
from app.core.analysis.sample_groups import engine_of
from app.core.analysis.stats import MeanInterval, geometric_mean
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord
from app.features.history.baselines import Baseline
from backends.values import dataclass

_OTHER_EACH_TIME = ("boot_id",)

STATUS: Mapping[RegressionVerdict, int] = MappingProxyType(
    {
        RegressionVerdict.WORSE: FOUND,
        # Not FOUND, because nightly mails about a known loss would soon be ignored, and not DONE, as if all were well.
        RegressionVerdict.STILL_WORSE: UNDECIDED,
        RegressionVerdict.NOT_WORSE: DONE,
        RegressionVerdict.NOT_DECIDED: UNDECIDED,
        RegressionVerdict.REFUSED: UNDECIDED,
    }
)
"""Exit status of one baseline check, by verdict."""


def status_of_history(standings: Iterable[RegressionVerdict]) -> int:
    """Return one exit status for the verdicts on many series. A new loss takes precedence over a continuing one.

    Other verdicts, and series without a verdict, do not affect the status.
    """
    worse = {RegressionVerdict.WORSE, RegressionVerdict.STILL_WORSE}.intersection(standings)
    return max((STATUS[verdict] for verdict in worse), default=DONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineCheck:
    """The result of a baseline check."""

    baseline: Baseline
    """The baseline that the new runs are compared with."""
    runs: tuple[RunRecord, ...]
    """The new runs, which are compared with the baseline."""
    figure: MetricKind
    """The headline metric of the job."""
    direction: str
    """I/O direction (read or write) of the headline metric."""
    saved: float | None
    """Geometric mean of the metric over the baseline's runs; None if a run lacks the metric."""
    now: float | None
    """Geometric mean of the metric over the new runs; None if a run lacks the metric."""
    judgement: RegressionResult
    """The verdict on the new runs, with its interval."""
    threshold: float
    """Smallest loss in percent that matters."""
    between: MeanInterval | None
    """Scatter between sessions that measured the same condition; None if there are too few such sessions."""
    chart: ControlChart | None
    """Control chart of all sessions ("nights") since the baseline, including this one; None without a metric or a
    verdict.
    """
    since: float | None
    """When a loss that still continues was first reported, in seconds since the epoch; None if no loss continues."""
    differs: tuple[Difference, ...]
    """Differences between the baseline and the new runs in settings and other recorded conditions."""
    failed: tuple[str, ...]
    """Ids of the new runs that did not finish successfully."""
    engines: tuple[str, ...]
    """I/O engines of the runs, with the engine of the baseline first; empty if all are the same."""
    doubts: tuple[Caveat, ...]
    """Caveats about array states that prevent a verdict."""
    weakened: tuple[Caveat, ...]
    """Caveats about the runs that weaken the result of the check."""


def check_runs(
    baseline: Baseline, runs: Sequence[RunRecord], past_runs: Iterable[PastRun], *, threshold: float
) -> BaselineCheck:
    """Return the comparison of the new runs with the baseline.

    `past_runs` are the earlier runs of all sessions, which show the scatter between sessions. `threshold` is the
    smallest loss in percent that matters.
    """
    about, direction = headline((*baseline.runs, *runs))
    saved = [value_of(run.figures, direction, about) for run in baseline.runs]
    now = [value_of(run.figures, direction, about) for run in runs]
    same_metric = [run for run in past_runs if run.kind == (about.key, direction)]
    others = _other_sessions(baseline, same_metric, {run.start.at for run in runs})
    judgement = RegressionResult(standing=RegressionVerdict.NOT_DECIDED, interval=None)
    chart, since = None, None
    failed = tuple(run.id for run in runs if run.figures.status is not RunStatus.OK)
    saved_values, present_values = _complete_values(saved), _complete_values(now)
    doubts: tuple[Caveat, ...] = ()
    engines = tuple(dict.fromkeys(engine_of(run) for run in (*baseline.runs, *runs)))
    if failed or not saved_values or not present_values:
        pass
    elif len(engines) > 1:
        judgement = RegressionResult(standing=RegressionVerdict.REFUSED, interval=None)
    elif doubts := blocking_caveats((*baseline.runs, *runs)):
        comparison = judge_later(
            saved_values, present_values, between=session_scatter(_means(others)), threshold=threshold
        )
        judgement = RegressionResult(standing=RegressionVerdict.REFUSED, interval=comparison.interval)
    else:
        nights = _nights_between(baseline, runs, same_metric)
        chart = night_chart(
            [saved_values, *map(_values, nights), present_values],
            earlier=_means(session_runs for session_runs in others if session_runs[0].at < baseline.start.at),
            higher_is_better=about.higher_is_better,
            threshold=threshold,
        )
        judgement = chart.judgement
        starts = [baseline.start.at, *(night[0].at for night in nights), runs[0].start.at]
        since = None if chart.begun is None else starts[chart.begun]
    return BaselineCheck(
        baseline=baseline,
        runs=tuple(runs),
        figure=about,
        direction=direction,
        saved=geometric_mean(saved_values) if saved_values else None,
        now=geometric_mean(present_values) if present_values else None,
        judgement=judgement,
        threshold=threshold,
        between=session_scatter(_means(others)),
        chart=chart,
        since=since,
        differs=_differences(baseline.runs[0], runs[-1]) if runs else (),
        failed=failed,
        engines=engines if len(engines) > 1 else (),
        doubts=doubts,
        weakened=weakening_caveats((*baseline.runs, *runs)),
    )


def _complete_values(values: Sequence[float | None]) -> list[float]:
    positive = [value for value in values if value is not None and isfinite(value) and value > 0]
    return positive if len(positive) == len(values) else []


def _other_sessions(baseline: Baseline, past_runs: Iterable[PastRun], now: set[float]) -> list[list[PastRun]]:
    """Return, per session, the runs that measured the baseline's condition and settings, without the new runs."""
    settings = baseline.start.settings
    return _sessions(
        run for run in _same_condition(baseline, past_runs) if run.settings == settings and run.at not in now
    )


def _nights_between(baseline: Baseline, now: Sequence[RunRecord], past_runs: Iterable[PastRun]) -> list[list[PastRun]]:
    """Return a list per session of the runs that measured the baseline's condition after the baseline and before the
    new runs.

    Only runs with the settings of the baseline or of the new runs count. So runs with settings that were only tried are
    left out, and runs after a permanent change are included.
    """
    first, last = now[0].start.at, baseline.runs[-1].start.at
    settings = (baseline.start.settings, now[0].start.settings)
    return _sessions(
        run
        for run in _same_condition(baseline, past_runs)
        if last < run.at < first and run.session != baseline.session and run.settings in settings
    )


def _same_condition(baseline: Baseline, past_runs: Iterable[PastRun]) -> list[PastRun]:
    wanted = (baseline.start.simulated, baseline.thing, job_text(baseline.start.job_texts))
    return [run for run in past_runs if run.counts and run.condition == wanted]


def _values(runs: Iterable[PastRun]) -> list[float]:
    return [run.value for run in runs if run.value is not None]


def _means(sessions: Iterable[Iterable[PastRun]]) -> list[float]:
    return [geometric_mean(_values(runs)) for runs in sessions]


def _sessions(runs: Iterable[PastRun]) -> list[list[PastRun]]:
    """Return a list of runs per session. Sessions and runs keep the order of `runs`."""
    by_session: dict[str, list[PastRun]] = {}
    for run in runs:
        by_session.setdefault(run.session, []).append(run)
    return list(by_session.values())


def _differences(saved: RunRecord, now: RunRecord) -> tuple[Difference, ...]:
    beneath = differing_values(saved.provenance, now.provenance)
    return (
        *differing_values(saved.start.settings, now.start.settings),
        *(difference for difference in beneath if difference[0] not in _OTHER_EACH_TIME),
    )
