"""Facts about one run in addition to its results: settings, differences from the baseline, advice and notes."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.analysis.comparison import Comparison, compare
from app.core.presentation.comparison import verdict_tone
from app.core.presentation.comparison_text import comparison_sentence
from app.core.presentation.device import run_setting_cell
from app.core.presentation.labels import key_heading, key_value
from app.core.presentation.run import advice_facts
from app.core.presentation.table import FactLine, Facts, Tone, facts_group, text_of
from app.core.session.state import ExperimentRecord, RunRecord

_MOST_DIFFERENCES = 6

PREVIEWED = ("", "IOPS", "MiB/s", "p50", "p99", "p99.9", "max", "Status")
"""Headings of those columns of the results table that a preview shows."""


def preview_facts(
    run: RunRecord,
    baseline: RunRecord | None,
    session: Sequence[RunRecord],
    experiments: Sequence[ExperimentRecord] = (),
    compare_key: str = "",
) -> tuple[Facts, ...]:
    """Return the comparison of a run with the baseline, its settings in force, its advice and its notes.

    `session`, `experiments`: all runs and experiments of the run's session. `compare_key`: key that compares runs.
    """
    groups: list[Facts] = []
    if baseline is not None and baseline.id != run.id:
        groups.append(_comparison_facts(compare(baseline, run, session, session, experiments=experiments), compare_key))
    if run.start.settings:
        groups.append(in_force_facts(run))
    groups += advice_facts(run.figures.advice)
    notes = filter(None, (run.figures.reason, run.figures.hint, *run.figures.warnings))
    return (*groups, *facts_group("Notes", (FactLine("", note, Tone.ATTENTION) for note in notes)))


def in_force_facts(run: RunRecord) -> Facts:
    """Return the settings in force during a run, by label, with the configured value if that was not in force."""
    shown = sorted((key_heading(key), run_setting_cell(run.start, key)) for key in run.start.settings)
    lines = (FactLine(name, text_of(cell), cell.tone) for name, cell in shown)
    return Facts(heading="In force", facts=tuple(lines))


def _comparison_facts(comparison: Comparison, compare_key: str) -> Facts:
    row = comparison.headline
    tone = Tone.PLAIN if row is None else verdict_tone(row.judgement)
    fact_lines = [FactLine("", comparison_sentence(comparison), Tone.PLAIN if tone is Tone.DIM else tone)]
    differing = comparison.differing
    fact_lines += [
        FactLine(key_heading(key), f"{key_value(key, b)}, was {key_value(key, a)}")
        for key, a, b in differing[:_MOST_DIFFERENCES]
    ]
    if more := len(differing) - _MOST_DIFFERENCES:
        fact_lines += [FactLine("", f"{more} more: press {compare_key} to compare")] if more > 0 else []
    return Facts(heading=f"Against {comparison.a.id}", facts=tuple(fact_lines))
