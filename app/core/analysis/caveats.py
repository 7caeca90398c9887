"""Caveats of a comparison: the advice given during its runs that forbids or weakens a verdict. No I/O.

With background work, a battery learn cycle or ineffective write-back, the array is in different states during the runs.
The interval cannot distinguish the effect of such a state from the effect of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from app.core.analysis.reasons import Caveat, Reason
from app.core.analysis.sample_groups import engine_of
from app.core.analysis.verdict import Verdict, VerdictResult
from app.core.benchmark.task_names import TASKS
from app.core.session.results import Advice
from app.core.session.state import RunRecord

LOST_WRITE_BACK = ("write_cache", "write-through")
"""Subject of the advice about an array whose configured write-back is not in force."""


FORBIDS: Mapping[str, tuple[str, ...] | None] = MappingProxyType(
    {
        "background-task": None,
        "policy-changed": None,
        "battery-learning": None,
        # Not if write-through acts as write-back: that is the effect of another setting, cached I/O.
        "policy-not-in-force": LOST_WRITE_BACK,
    }
)
"""Advice that forbids a verdict, by its key in docs/advice.md.

Each value is the subject that the advice must have; None for any subject.
"""

WEAKENS = frozenset(
    {
        "page-cache",
        "unwritten-flash",
        "device-busy",
        "throttled",
        "fio-cpu-bound",
        "host-cpu-bound",
        "policy-not-in-force",
        "array-degraded",
        "cache-larger-than-area",
        "rate-not-held",
        "depth-not-kept",
        "not-steady",
        "same-blocks",
        "same-seed",
        "cache-not-full",
        "governor",
        "too-short",
    }
)
"""Keys of advice that weakens a verdict and is shown with it."""


def apply_caveats(judgement: VerdictResult, runs: Iterable[RunRecord]) -> VerdictResult:
    """Return `judgement`, or the verdict REFUSED with the same interval.

    REFUSED means that the advice of a run forbids a verdict, or that the I/O engines of the runs differ.
    """
    runs = tuple(runs)
    if len({engine_of(run) for run in runs}) > 1:
        return replace(judgement, verdict=Verdict.REFUSED, reason=Reason.ENGINES, further_pairs=None)
    doubts = blocking_caveats(runs)
    if not doubts:
        return judgement
    return replace(judgement, verdict=Verdict.REFUSED, reason=Reason.STATE, doubts=doubts, further_pairs=None)


def blocking_caveats(runs: Iterable[RunRecord]) -> tuple[Caveat, ...]:
    """Return the caveats that forbid a verdict on these runs; an empty tuple if a verdict is allowed."""
    return _grouped_caveats(runs, _blocking_keys)


def weakening_caveats(runs: Iterable[RunRecord]) -> tuple[Caveat, ...]:
    """Return the caveats that weaken a verdict on these runs."""
    return _grouped_caveats(runs, _weakening_keys)


_Key = tuple[str, tuple[str, ...]]


def _grouped_caveats(runs: Iterable[RunRecord], keys_of: Callable[[RunRecord], Iterator[_Key]]) -> tuple[Caveat, ...]:
    runs = tuple(sorted(runs, key=lambda run: run.start.at))
    ids_by_key: dict[_Key, list[str]] = {}
    for run in runs:
        for key in dict.fromkeys(keys_of(run)):
            ids_by_key.setdefault(key, []).append(run.id)
    return tuple(
        Caveat(key=key, about=about, runs=tuple(ids), all_runs=len(ids) == len(runs) > 2)
        for (key, about), ids in ids_by_key.items()
    )


def _blocking_keys(run: RunRecord) -> Iterator[_Key]:
    for advice in run.figures.advice:
        if _is_blocking(advice):
            tasks = advice.key == "background-task"
            yield advice.key, tuple(kind for kind in advice.about if kind in TASKS) if tasks else ()


def _weakening_keys(run: RunRecord) -> Iterator[_Key]:
    for advice in run.figures.advice:
        if advice.key in WEAKENS and not _is_blocking(advice):
            yield advice.key, ()
    if run.figures.steady is not None and not run.figures.steady.attained:
        yield "not-steady", ()


def _is_blocking(advice: Advice) -> bool:
    return advice.key in FORBIDS and FORBIDS[advice.key] in (None, advice.about)
