"""What was said of the runs of a comparison while they were measured: which of it forbids a verdict, which weakens one.

Background work, a battery that learns or write-back that is not in force make figures of two states of the
array, and the interval between runs does not tell them from an effect of the settings. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from app.engine.advisor.condition_rules import TASKS
from app.engine.judge.verdict import Judgement, Verdict
from app.engine.session.figures import Advice
from app.engine.session.state import RunRecord

_MOST_NAMED = 6

LOST_WRITE_BACK = ("write_cache", "write-through")
"""What advice of write-back that is set and not in force is about."""


def _tasks(advice: Advice, _: RunRecord) -> str:
    kinds = [TASKS[kind] for kind in advice.about if kind in TASKS] or ["background work"]
    return f"{' and '.join(kinds)} {'was' if len(kinds) == 1 else 'were'} under way"


def _not_write_back(advice: Advice, run: RunRecord) -> str:
    """Write-back that is not there yet; cached I/O that makes write-through cache is what was set and no mishap."""
    # Logs of earlier versions name no policy: where write-back was set, it may be the one.
    lost = advice.about == LOST_WRITE_BACK if advice.about else run.start.settings.get("write_cache") == "write-back"
    return "write-back was not in force" if lost else ""


FORBIDS: Mapping[str, Callable[[Advice, RunRecord], str]] = MappingProxyType(
    {
        "background-task": _tasks,
        "policy-changed": lambda *_: "a policy in force changed",
        "battery-learning": lambda *_: "the controller's battery was learning",
        "policy-not-in-force": _not_write_back,
    }
)
"""Advice with which there is no verdict, and why, "" where it does not forbid; keys of docs/advice.md."""

WEAKENS: Mapping[str, str] = MappingProxyType(
    {
        "page-cache": "page cache",
        "unwritten-flash": "blocks never written",
        "device-busy": "others used the disk",
        "throttled": "too warm",
        "fio-cpu-bound": "fio at the limit of its core",
        "host-cpu-bound": "processors without idle time",
        "policy-not-in-force": "a policy set but not in force",
        "array-degraded": "array degraded",
        "cache-larger-than-area": "area small compared with the cache",
        "rate-not-held": "rate not held",
        "depth-not-kept": "depth not kept",
        "not-steady": "not steady",
        "same-blocks": "jobs that read the same blocks",
        "same-seed": "same blocks in each run",
        "cache-not-full": "cache not yet full",
        "governor": "frequency governor",
        "too-short": "too short",
    }
)
"""Advice that is named after a verdict, and in which words."""


def weighed(judgement: Judgement, runs: Iterable[RunRecord]) -> Judgement:
    """The judgement, or no verdict where one of the runs it rests on forbids it; the interval stays."""
    reason = forbidden(runs)
    if not reason:
        return judgement
    return replace(judgement, verdict=Verdict.REFUSED, reason=reason, further_pairs=None)


def forbidden(runs: Iterable[RunRecord]) -> str:
    """Why these runs carry no verdict: `a rebuild was under way in r3, r5`; "" if they may."""
    return _listed(runs, _forbidding)


def weakened(runs: Iterable[RunRecord]) -> str:
    """What weakens them: `not steady in r1, frequency governor in all runs`; "" without."""
    return _listed(runs, _weakening)


def _listed(runs: Iterable[RunRecord], words_of: Callable[[RunRecord], Iterator[str]]) -> str:
    runs = tuple(sorted(runs, key=lambda run: run.start.at))
    found: dict[str, list[str]] = {}
    for run in runs:
        for words in dict.fromkeys(words_of(run)):
            found.setdefault(words, []).append(run.id)
    return ", ".join(f"{words} in {_named(ids, len(runs))}" for words, ids in found.items())


def _forbidding(run: RunRecord) -> Iterator[str]:
    for advice in run.figures.advice:
        if words := _reason(advice, run):
            yield words


def _weakening(run: RunRecord) -> Iterator[str]:
    for advice in run.figures.advice:
        if advice.key in WEAKENS and not _reason(advice, run):
            yield WEAKENS[advice.key]
    if run.figures.steady is not None and not run.figures.steady.attained:
        yield WEAKENS["not-steady"]


def _reason(advice: Advice, run: RunRecord) -> str:
    return FORBIDS[advice.key](advice, run) if advice.key in FORBIDS else ""


def _named(ids: list[str], of: int) -> str:
    if len(ids) == of and of > 2:
        return "all runs"
    shown = ", ".join(ids[:_MOST_NAMED])
    return shown if len(ids) <= _MOST_NAMED else f"{shown} and {len(ids) - _MOST_NAMED} more"
