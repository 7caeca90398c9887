"""A run of several sections as one run for each section, for all that shows or judges runs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.engine.session.events import RunSection
from app.engine.session.figures import RunFigures, SectionFigures
from app.engine.session.state import RunRecord


def section_runs(run: RunRecord) -> tuple[tuple[str, RunRecord], ...]:
    """The name of each section and its run: its own job and figures, all else as of the whole run."""
    figures = {one.name: one for one in run.figures.sections}
    return tuple((section.name, _of_section(run, section, figures.get(section.name))) for section in run.start.sections)


def same_sections(runs: Sequence[RunRecord]) -> tuple[tuple[str, tuple[RunRecord, ...]], ...]:
    """The sections that every run has, each with its runs, in the order of the first."""
    if not runs:
        return ()
    each = [dict(section_runs(run)) for run in runs]
    return tuple((name, tuple(one[name] for one in each)) for name in each[0] if all(name in one for one in each))


def _of_section(run: RunRecord, section: RunSection, own: SectionFigures | None) -> RunRecord:
    start = replace(
        run.start, job=section.job, title=section.title, planned_seconds=section.planned_seconds, sections=()
    )
    if run.end is None:
        return replace(run, start=start)
    whole = run.end.figures
    figures = RunFigures(
        status=whole.status,
        reason=whole.reason,
        hint=whole.hint,
        seconds=0.0 if own is None else own.seconds,
        read=None if own is None else own.read,
        write=None if own is None else own.write,
        sync=None if own is None else own.sync,
        fio_version=whole.fio_version,
    )
    return replace(run, start=start, end=replace(run.end, figures=figures))
