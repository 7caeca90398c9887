"""A run of several sections as one run for each section, for all that shows or judges runs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.core.session.events import RunSection
from app.core.session.results import RunResult, SectionFigures
from app.core.session.state import RunRecord


def section_runs(run: RunRecord) -> tuple[tuple[str, RunRecord], ...]:
    """The name of each section that has figures, and its run: its own job and figures, all else as of the whole run.

    Its start still knows the other sections, so that it repeats no run that had others beside it.
    """
    sections = {section.name: section for section in run.start.sections}
    return tuple(
        (figures.name, _section_run(run, sections[figures.name], figures))
        for figures in run.figures.sections
        if figures.name in sections
    )


def shared_sections(runs: Sequence[RunRecord]) -> tuple[tuple[str, tuple[RunRecord, ...]], ...]:
    """The sections that every run has, each with its runs, in the order of the first."""
    if not runs:
        return ()
    runs_by_section = [dict(section_runs(run)) for run in runs]
    return tuple(
        (name, tuple(record[name] for record in runs_by_section))
        for name in runs_by_section[0]
        if all(name in record for record in runs_by_section)
    )


def runs_of_section(runs: Sequence[RunRecord], name: str) -> tuple[RunRecord, ...]:
    """The runs of the section of that name, of all runs that have one."""
    return tuple(section_run for run in runs for section_name, section_run in section_runs(run) if section_name == name)


def _section_run(run: RunRecord, section: RunSection, section_figures: SectionFigures) -> RunRecord:
    start = replace(
        run.start,
        job=section.job,
        title=section.title,
        planned_seconds=section.planned_seconds,
        sections=tuple(entry for entry in run.start.sections if entry.name != section.name),
    )
    assert run.end is not None  # it has figures of sections
    whole = run.end.figures
    figures = RunResult(
        status=whole.status,
        reason=whole.reason,
        hint=whole.hint,
        seconds=section_figures.seconds,
        read=section_figures.read,
        write=section_figures.write,
        trim=section_figures.trim,
        sync=section_figures.sync,
        fio_version=whole.fio_version,
        happened=whole.happened,
    )
    return replace(run, start=start, end=replace(run.end, figures=figures))
