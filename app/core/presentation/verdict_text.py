"""Texts for verdicts, their reasons and their caveats, for screens, command line and report. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from app.core.analysis.pair_design import FEWEST_PAIRS
from app.core.analysis.reasons import Caveat, OutlierPair, PlannedCount, Reason, SlowRuns
from app.core.analysis.verdict import FEWEST_RUNS, Verdict, VerdictResult
from app.core.benchmark.task_names import TASKS
from app.core.presentation.percent import effect_text, is_too_noisy, percent_text
from widgets.text_utils import units

_MOST_NAMED = 6

_PLANNED = (Reason.BEFORE_ROUNDS, Reason.BEFORE_PAIRS, Reason.FEW_ROUNDS)

_OF_SWEEP = {
    Reason.ROUND_FAILED: "one of its rounds failed, so it has no verdict",
    Reason.BASELINE_ROUND_FAILED: "one of the rounds of its baseline failed, so it has no verdict",
    Reason.WIDER_SCATTER: "its runs are noisier than the others, so it has no verdict",
    Reason.BASELINE_SCATTER: "the runs of its baseline are noisier than the others, so it has no verdict",
}
"""Reasons why a cell of a sweep has no verdict, even with more rounds."""

NOT_COMPARED = "not compared"
"""Text shown instead of a verdict if there is no value to compare."""

_STATE = {
    "policy-changed": "the effective value of a policy changed",
    "battery-learning": "the controller's battery was learning",
    "policy-not-in-force": "write-back was not in force",
}
"""Clauses about conditions that forbid a verdict, by the key of the advice about the condition."""

WEAKENING_TEXTS = {
    "page-cache": "page cache",
    "unwritten-flash": "unwritten blocks read",
    "device-busy": "other processes used the disk",
    "throttled": "too hot",
    "fio-cpu-bound": "fio limited by its CPU core",
    "host-cpu-bound": "CPUs without idle time",
    "policy-not-in-force": "a configured policy was not in force",
    "array-degraded": "array degraded",
    "cache-larger-than-area": "area small compared with the cache",
    "rate-not-held": "rate not reached",
    "depth-not-kept": "queue depth not reached",
    "not-steady": "not steady",
    "same-blocks": "jobs reading the same blocks",
    "same-seed": "same blocks in each run",
    "cache-not-full": "cache still warming up",
    "governor": "frequency governor",
    "too-short": "too short",
}
"""Names of conditions that weaken a verdict, by the key of the advice about the condition."""


def verdict_word(verdict: Verdict) -> str:
    """Return a verdict in words: `no difference`."""
    return verdict.value.replace("-", " ")


def judgement_word(judgement: VerdictResult | None) -> str:
    """Return the verdict in words; `not compared` for None."""
    return NOT_COMPARED if judgement is None else verdict_word(judgement.verdict)


def further_text(judgement: VerdictResult) -> str:
    """Return the verdict for a table cell, with the number of additional pairs if more pairs would help.

    If chance explains a difference in one of so many metrics (`Reason.ONE_OF_MANY`), their number is added instead.
    """
    word = judgement_word(judgement)
    if judgement.reason is Reason.ONE_OF_MANY:
        return f"{word}, one of {judgement.figures} metrics"
    return word if judgement.further_pairs is None else f"{word}, {units.plural(judgement.further_pairs, 'more pair')}"


def no_sign_text(judgement: VerdictResult | None) -> str:
    """Return why a cell of a sweep has no verdict and more rounds would give none; "" for any other cell."""
    return "" if judgement is None or judgement.reason is None else _OF_SWEEP.get(judgement.reason, "")


def reason_text(judgement: VerdictResult) -> str:
    """Return clauses that say why the verdict is not stronger, or how large the effect can be; "" if none apply."""
    return "; ".join(_reasons(judgement))


def _reasons(judgement: VerdictResult) -> Iterator[str]:
    reason, interval = judgement.reason, judgement.interval
    if reason is None:
        pass
    elif reason is Reason.NOT_SHOWN and interval is not None:
        if judgement.further_pairs is not None:
            yield f"about {units.plural(judgement.further_pairs, 'more pair')} would decide it"
        elif judgement.slow is None and not is_too_noisy(interval):  # otherwise other clauses explain the verdict
            yield effect_text(max(abs(interval.percent_low), abs(interval.percent_high)))
    elif reason is Reason.SMALL and interval is not None:
        yield f"by as little as {min(abs(interval.percent_low), abs(interval.percent_high)):.1f} %"
    elif reason in _OF_SWEEP:
        yield _OF_SWEEP[reason]
    elif judgement.wanted is not None and reason in _PLANNED:
        yield _planned_reason(reason, judgement.wanted)
    else:
        yield _plain_reason(judgement)
    if judgement.drift is not None:
        yield f"the runs before and after the second side differ by {judgement.drift:.1f} %"


def _planned_reason(reason: Reason, planned: PlannedCount) -> str:
    """Return why a sweep gives no verdict: its rounds or pairs are too few, or not completed yet."""
    if reason is Reason.FEW_ROUNDS:
        return (
            f"{planned.number} rounds of {planned.setups} configurations are too few to show it, "
            f"{planned.enough} are enough"
        )
    unit = "pair" if reason is Reason.BEFORE_PAIRS else "round"
    return f"the verdict is due after {units.plural(planned.number, unit)}"


def _plain_reason(judgement: VerdictResult) -> str:
    further = judgement.further_pairs or 0
    match judgement.reason:
        case Reason.INSIDE:
            return f"all within +-{judgement.threshold:g} %"
        case Reason.FEW_PAIRS:
            return f"at least {FEWEST_PAIRS} pairs are needed"
        case Reason.BEFORE_LOOK:
            pairs = judgement.measured + further
            return f"the verdict is due after {pairs} pairs, {units.plural(further, 'pair')} more"
        case Reason.ONE_OF_MANY:
            return f"not significant among all {judgement.figures} metrics"
        case Reason.NO_REPEATS:
            return "the run-to-run noise is not known"
        case Reason.FEW_RUNS:
            return f"at least {FEWEST_RUNS} runs of each are needed"
        case Reason.NOT_IN_TURN:
            return "not measured in turn, so drift could look like an effect"
        case Reason.MADE_ONCE:
            return (
                "each array was created only once, so its level cannot be separated from other effects of that creation"
            )
        case Reason.NOT_DRAWN:
            return (
                "the run order was not randomised and the number of pairs was not fixed in advance, so a "
                "periodic disturbance could look like an effect: use `raidbench ab`"
            )
        case Reason.OF_EXPERIMENT:
            return "the pairs belong to an A/B experiment, which is judged only as a whole, by its plan"
        case Reason.STATE:
            return state_text(judgement.doubts)
        case Reason.ENGINES:
            return "their I/O engines differ, which changes the results, most of all for flushes"
        case Reason.NO_IO | Reason.SLOW_ON_ONE_SIDE:
            return _one_sided_reason(judgement)
        case _:
            return ""


def _one_sided_reason(judgement: VerdictResult) -> str:
    if judgement.interval is None:
        return "no two comparable runs completed I/O"
    if judgement.reason is Reason.NO_IO:
        return "more runs on one side than on the other completed no I/O or far less I/O"
    return f"the interval is within +-{judgement.threshold:g} %, but several runs are far slower"


def slow_text(slow: SlowRuns, where: tuple[str, str] = ("on A", "on B")) -> str:
    """Return a clause about the side with the slow runs: `all 3 slow runs are on B`. `where`: phrases for the sides."""
    which = "both" if slow.count == 2 else f"all {slow.count}"
    return f"{which} slow runs are {where[slow.side == 'B']}"


def outliers_text(outliers: Sequence[OutlierPair]) -> str:
    """Return a clause about the outliers among pairs: `pair 12 (-30.0 %) is far from the others`."""
    named = [f"{pair.pair} ({percent_text(pair.percent)})" for pair in outliers]
    if len(named) > 1:
        return f"pairs {', '.join(named[:-1])} and {named[-1]} are far from the others"
    return f"pair {named[0]} is far from the others"


# -- conditions during the runs ---------------------------------------------------------------------------------------


def state_text(doubts: Iterable[Caveat]) -> str:
    """Return why runs allow no verdict, `a rebuild was running in r3, r5`; "" if they allow one."""
    return ", ".join(f"{_blocking_text(doubt)} in {_runs_text(doubt)}" for doubt in doubts)


def weakened_text(doubts: Iterable[Caveat]) -> str:
    """Return the caveats of a verdict, `not steady in r1, frequency governor in all runs`; "" if there are none."""
    return ", ".join(f"{WEAKENING_TEXTS[doubt.key]} in {_runs_text(doubt)}" for doubt in doubts)


def _blocking_text(caveat: Caveat) -> str:
    if caveat.key in _STATE:
        return _STATE[caveat.key]
    kinds = [TASKS[kind] for kind in caveat.about] or ["background work"]
    return f"{' and '.join(kinds)} {'was' if len(kinds) == 1 else 'were'} running"


def _runs_text(caveat: Caveat) -> str:
    return "all runs" if caveat.all_runs else units.first_of(caveat.runs, _MOST_NAMED)
