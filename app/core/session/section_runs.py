"""Splits a run of several sections into one run for each section, to be shown or judged. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.core.session.events import RunSection
from app.core.session.results import RunResult, SectionFigures
from app.core.session.state import RunRecord


def section_runs(run: RunRecord) -> tuple[tuple[str, RunRecord], ...]:
    """Return the name of each section that has results, with a run that has the job and the results of the section.

    Everything else is as in the whole run. The start event of such a run still names the other sections, so only runs
    with the same sections count as repeats.
    """
    sections = {section.name: section for section in run.start.sections}
    return tuple(
        (figures.name, _section_run(run, sections[figures.name], figures))
        for figures in run.figures.sections
        if figures.name in sections
    )


def shared_sections(runs: Sequence[RunRecord]) -> tuple[tuple[str, tuple[RunRecord, ...]], ...]:
    """Return the name of each section that all runs have, with its runs, in the order of the first run's sections."""
    if not runs:
        return ()
    runs_by_section = [dict(section_runs(run)) for run in runs]
    return tuple(
        (name, tuple(record[name] for record in runs_by_section))
        for name in runs_by_section[0]
        if all(name in record for record in runs_by_section)
    )


def runs_of_section(runs: Sequence[RunRecord], name: str) -> tuple[RunRecord, ...]:
    """Return a run of the section `name` for each of the runs that has such a section."""
    return tuple(section_run for run in runs for section_name, section_run in section_runs(run) if section_name == name)


def _section_run(run: RunRecord, section: RunSection, section_figures: SectionFigures) -> RunRecord:
    start = replace(
        run.start,
        job=section.job,
        title=section.title,
        planned_seconds=section.planned_seconds,
        sections=tuple(entry for entry in run.start.sections if entry.name != section.name),
    )
    assert run.end is not None  # a run with results has ended
    result = run.end.figures
    figures = RunResult(
        status=result.status,
        reason=result.reason,
        hint=result.hint,
        seconds=section_figures.seconds,
        read=section_figures.read,
        write=section_figures.write,
        trim=section_figures.trim,
        sync=section_figures.sync,
        fio_version=result.fio_version,
        happened=result.happened,
    )
    return replace(run, start=start, end=replace(run.end, figures=figures))
