"""What is told of one run beside its figures: settings, what is other than at the baseline, what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.judge.comparison import Comparison, compare
from app.engine.session.state import RunRecord
from app.engine.view.comparison import verdict_tone
from app.engine.view.names import key_heading, key_value, named
from app.engine.view.run import advice_facts
from app.engine.view.table import FactLine, Facts, Tone

_MOST_DIFFERENCES = 6

PREVIEWED = ("", "IOPS", "MiB/s", "p50", "p99", "p99.9", "max", "Status")
"""Headings of the figures that are shown of a run in passing."""


def preview_facts(run: RunRecord, baseline: RunRecord | None, session: Sequence[RunRecord]) -> tuple[Facts, ...]:
    """Verdict, settings in force, what differs from the baseline, advice; `session`: the runs of its session."""
    groups: list[Facts] = []
    if baseline is not None and baseline.id != run.id:
        groups.append(_against(compare(baseline, run, session, session)))
    settings = tuple(FactLine(*each) for each in sorted(named(run.start.settings)))
    if settings:
        groups.append(Facts(heading="In force", facts=settings))
    groups += advice_facts(run.figures.advice)
    notes = tuple(FactLine("", each, Tone.ATTENTION) for each in (*_ending(run), *run.figures.warnings))
    return (*groups, *((Facts(heading="Notes", facts=notes),) if notes else ()))


def _against(comparison: Comparison) -> Facts:
    row = comparison.headline
    tone = Tone.PLAIN if row is None else verdict_tone(row.judgement)
    told = [FactLine("", comparison.sentence, Tone.PLAIN if tone is Tone.DIM else tone)]
    differing = comparison.differing
    told += [
        FactLine(key_heading(key), f"{key_value(key, b)}, was {key_value(key, a)}")
        for key, a, b in differing[:_MOST_DIFFERENCES]
    ]
    if more := len(differing) - _MOST_DIFFERENCES:
        told += [FactLine("", f"{more} more: c compares them")] if more > 0 else []
    return Facts(heading=f"Against {comparison.a.id}", facts=tuple(told))


def _ending(run: RunRecord) -> Iterator[str]:
    yield from filter(None, (run.figures.reason, run.figures.hint))
