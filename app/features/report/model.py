"""Builds the content of a report from a session, independent of the format. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.analysis.sample_groups import repeats
from app.core.presentation.change import in_force_text
from app.core.presentation.raw_data import Raw
from app.core.session.events import NoteAdded
from app.core.session.state import Session
from app.doors import require_action
from app.features.report import changes, experiments, runs, sweep
from app.features.report.blocks import Graphs, Paragraph, Report, Section, Sentences, report_table, section
from app.features.report.series import MOST_RUNS, run_graphs, runs_with_graphs
from app.features.report.session_summary import session_highlights
from backends.text import clean
from widgets.text_utils import units

_SINGLE = "n is the number of runs. A single run does not show the run-to-run noise."
_COUNTED = "From the kernel counters during the run. I/O of other programs on a member is included."

_NOTHING = Raw()


def report_of(session: Session, raw: Raw = _NOTHING) -> Report:
    """Return the report of a session.

    `raw`: data from the session's other files (not the log), for graphs over time, job files and multi-host runs.
    """
    return Report(
        title=f"Storage session {clean(session.id)}",
        simulated=session.simulated or any(run.start.simulated for run in session.runs),
        sections=tuple(_sections(session, raw)),
    )


def run_ids_to_draw(session: Session) -> tuple[str, ...]:
    """Return the ids of the runs for which the report has graphs over time."""
    return tuple(run.id for run in runs_with_graphs(session))


def _sections(session: Session, raw: Raw) -> Iterator[Section]:
    yield from section("Summary", Sentences(items=tuple(session_highlights(session))))
    yield from _results(session, raw)
    yield from _multihost_sections(raw)
    yield from section("Test objects", changes.tested_devices_table(session))
    yield from section("Machine", changes.machine_facts(session), always=True)
    yield from section("Findings of the check", changes.findings(session))
    yield from changes.change_sections(session)
    yield from section("Restored", Sentences(items=tuple(changes.restored_sentences(session))))
    yield from section("Still changed", Sentences(items=tuple(map(in_force_text, session.in_force))), always=True)
    notes = (event for event in session.events if isinstance(event, NoteAdded))
    yield from section("Notes", Sentences(items=tuple(f"{units.moment(note.at)}: {note.text}" for note in notes)))
    yield from section("Problems and persistent settings", Sentences(items=tuple(changes.problems(session))))
    yield from section("Jobs as they ran", *runs.job_blocks(session, raw))
    yield from section("Commands that made changes", changes.commands(session), always=True)
    yield from section("Runs", runs.every_run_table(session.runs), always=True)
    yield from section("Steady state", Sentences(items=tuple(runs.steadiness(session.runs))), level=3)
    yield from section("Latency", runs.latencies(session.runs), level=3)
    yield from (
        section("Members", runs.members_table(session.runs), Paragraph(text=_COUNTED), level=3)
        if any(run.figures.members for run in session.runs)
        else ()
    )
    yield from section("Caches", runs.caches(session.runs), level=3)
    yield from section("Provenance", runs.provenance(session.runs))
    yield from section("Devices", changes.devices(session.inventory), always=True)


def _results(session: Session, raw: Raw) -> Iterator[Section]:
    if not session.runs:
        return
    grouped = repeats(session.runs)
    table = runs.results(session.runs) if session.sweep is None else None
    text = f"{units.plural(len(session.runs), 'run')}, {units.plural(len(grouped), 'combination')} of job and settings."
    several = "" if all(len(group) > 1 for group in grouped.values()) else _SINGLE
    yield from section("Results", table, Paragraph(text=f"{text} {several if table is not None else ''}".rstrip()))
    yield from section(
        "A/B",
        Graphs(graphs=experiments.experiment_graphs(session)),
        experiments.experiments_table(session),
        level=3,
    )
    yield from sweep.sweep_sections(session)
    yield from section("Caveats", Sentences(items=tuple(runs.warnings(session.runs))), level=3)
    graphs = run_graphs(session, raw)
    drawn = len(runs_with_graphs(session))
    many = f"Only the newest {MOST_RUNS} runs outside A/B experiments and sweeps." if drawn == MOST_RUNS else ""
    yield from section("Run by run", Graphs(graphs=graphs), Paragraph(text=many), level=3) if graphs else ()
    yield from section("Settings", Paragraph(text=runs.common_settings(session.runs)), level=3)


def _multihost_sections(raw: Raw) -> Iterator[Section]:
    for record in raw.joint:
        table, sentences = require_action("fleet.table")(record), require_action("fleet.sentences")(record)
        heading = f"{record.id}: {record.target} on {units.plural(len(record.hosts), 'host')}"
        job = Paragraph(text=", ".join(f"{key}={text}" for key, text in record.job.items()))
        yield from section(heading, report_table(table), Sentences(items=tuple(sentences)), job)
    yield from section("Unreadable multi-host runs", Sentences(items=raw.joint_problems))
