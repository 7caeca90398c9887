"""Runs or their intervals as CSV. Column names are stable and contain the unit; numbers have no unit. No I/O."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from app.core.fio.job import Job
from app.core.presentation.run import outcome_text
from app.core.session.results import (
    SIDES,
    DirectionSample,
    DirectionStats,
    GroupFigures,
    PartFigures,
    Sample,
    SectionFigures,
    SectionSample,
    TargetSample,
    TargetStats,
)
from app.core.session.state import RunRecord, Session
from backends.text import clean

_LONGEST = 2000
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "|", "%")
"""Characters at the start of a cell that may make a spreadsheet treat it as a formula or a command."""

_RUN = (
    "run",
    "session",
    "started_utc",
    "host",
    "target",
    "device",
    "job",
    "profile",
    "experiment",
    "letter",
    "pair",
    "sweep_setup",
    "sweep_workload",
    "status",
    "simulated",
    "destructive",
    "fio_version",
    "measured_s",
    "row",
    "section",
)
_DIRECTION = (
    "iops",
    "bytes_per_s",
    "ios",
    "bytes",
    "latency_mean_ns",
    "latency_stddev_ns",
    "latency_min_ns",
    "latency_p50_ns",
    "latency_p95_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_max_ns",
    "latency_p99_99_ns",
    "completion_mean_ns",
    "completion_p99_ns",
    "submission_mean_ns",
    "latency_p99_999_ns",
    "latency_p99_9999_ns",
)
_SAMPLE = ("iops", "bytes_per_s", "ios", "latency_p50_ns", "latency_p99_ns", "latency_p99_9_ns", "latency_max_ns")
_AFTER = ("fio_cpu_percent_of_core", "host_cpu_percent", "reason", "warnings", "advice")
_NOTHING_AFTER = (None,) * len(_AFTER)
"""Empty values for the columns `_AFTER`, which have values only in the row of a run, not of a target or section."""

_OWN_COLUMNS = ("host", "fio_version")
"""Keys of a run's provenance (recorded conditions) that already have a column of their own."""

_KINDS: Mapping[type[object], str] = {
    type(None): "run",
    TargetStats: "target",
    TargetSample: "target",
    SectionFigures: "section",
    SectionSample: "section",
    GroupFigures: "group",
}
"""Text in the column `row`, by the type of the object that the row describes."""

Value = str | int | float | bool | None


def runs_csv(session: Session) -> str:
    """Return CSV with one row per run. If a run has several targets, sections or section groups, a row for each of them
    follows.

    The column `row` is `run`, `target`, `section` or `group`. The columns `job_*` are the fields of the job; in a
    section's row, they are those of the section. The columns `setting_*` are the effective settings, and `provenance_*`
    the other conditions of the run.
    """
    fields = list(dict.fromkeys([*Job().texts(), *(key for run in session.runs for key in run.start.job)]))
    section_jobs = {run.id: {section.name: section.job for section in run.start.sections} for run in session.runs}
    settings = list(dict.fromkeys(key for run in session.runs for key in run.start.settings))
    provenance = list(dict.fromkeys(key for run in session.runs for key in run.provenance if key not in _OWN_COLUMNS))
    header = [
        *_RUN,
        *(f"job_{key}" for key in fields),
        *(f"{name}_{key}" for name in SIDES for key in _DIRECTION),
        *_AFTER,
        *(f"setting_{key}" for key in settings),
        *(f"provenance_{key}" for key in provenance),
    ]
    cells = _sweep_cells(session)
    rows = (
        [
            *_identity(run, session, cells.get(run.id, ("", "")), part),
            *(job.get(key) for key in fields),
            *(value for name in SIDES for value in _direction((part or run.figures).side(name))),
            *(_trailing_values(run) if part is None else _NOTHING_AFTER),
            *(run.start.settings.get(key) for key in settings),
            *(origin.get(key) for key in provenance),
        ]
        for run in session.runs
        for origin in (run.provenance,)
        for part in (None, *run.figures.targets, *run.figures.sections, *run.figures.groups)
        for job in (section_jobs[run.id].get(part.name, {}) if isinstance(part, SectionFigures) else run.start.job,)
    )
    return _csv_text(header, rows)


def samples_csv(session: Session, samples: Mapping[str, Sequence[Sample]]) -> str:
    """Return CSV with one row per interval of a run. If the run has several targets or sections, rows for each target
    and each running section follow.

    The column `row` is `run`, `target` or `section`. `at_s` is the time from the start of the phase to the end of the
    interval.
    """
    header = ["run", "target", "simulated", "phase", "at_s", "interval_s", "stalled", "row", "section"]
    header += [f"{name}_{key}" for name in SIDES for key in _SAMPLE]
    rows = (
        [
            run.id,
            part.target if isinstance(part, TargetSample) else run.start.target,
            run.start.simulated,
            part.phase.value if isinstance(part, SectionSample) and part.phase is not None else sample.phase.value,
            round(sample.at, 3),
            round(sample.seconds, 3),
            sample.stalled,
            _KINDS[type(part)],
            part.name if isinstance(part, SectionSample) else None,
            *(value for name in SIDES for value in _interval((part or sample).side(name))),
        ]
        for run in session.runs
        for sample in samples.get(run.id, ())
        for part in (None, *sample.targets, *(section for section in sample.sections if section.phase is not None))
    )
    return _csv_text(header, rows)


def cell_text(value: Value) -> str:
    """Return the text of a cell. None becomes "". Text that a spreadsheet may run as a formula gets a leading quote."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return f"{value:.10g}"
        case str():
            text = clean(value, _LONGEST)
            return f"'{text}" if text.startswith(_ACTIVE) and not _NUMBER.fullmatch(text) else text


def _csv_text(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([cell_text(name) for name in header])
    writer.writerows([cell_text(value) for value in row] for row in rows)
    return file.getvalue()


def _identity(run: RunRecord, session: Session, swept: tuple[str, str], part: PartFigures | None) -> Iterator[Value]:
    start, mark = run.start, run.start.mark
    devices = {target.target: target.device for target in start.all_targets}
    yield from (run.id, session.id, _utc(start.at))
    yield None if session.machine is None else session.machine.host
    yield from (
        (part.target, devices.get(part.target)) if isinstance(part, TargetStats) else (start.target, start.device)
    )
    titles = {section.name: section.title for section in start.sections}
    yield from (titles.get(part.name) if isinstance(part, SectionFigures) else start.title, start.profile)
    yield from (None, None, None) if mark is None else (mark.experiment, mark.letter, mark.pair)
    yield from swept
    version = (
        f"fio-{start.fio_version}" if start.fio_version else None
    )  # without the prefix, a spreadsheet would read 3.40 as a number
    yield from (run.figures.status.value, start.simulated, start.destructive, version)
    yield part.seconds if isinstance(part, SectionFigures) else run.figures.seconds
    yield _KINDS[type(part)]
    match part:
        case SectionFigures(name=name):
            yield name
        case GroupFigures(sections=names):
            yield ", ".join(names)
        case _:
            yield None


def _utc(at: float) -> str | None:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return None  # the time is invalid, because the log is damaged


def _direction(figures: DirectionStats | None) -> Sequence[Value]:
    if figures is None:
        return [None] * len(_DIRECTION)
    times = figures.latency_ns
    sums = (figures.iops, figures.bytes_per_second, figures.total_ios, figures.total_bytes)
    every = (times.mean, times.stddev, times.min, times.p50, times.p95, times.p99, times.p99_9, times.max, times.p99_99)
    done, begun = figures.completion_ns, figures.submission_ns
    apart = (None, None) if done is None else (done.mean, done.p99)
    beyond = (times.p99_999, times.p99_9999)
    return (*sums, *every, *apart, None if begun is None else begun.mean, *beyond)


def _interval(sample: DirectionSample | None) -> Sequence[Value]:
    if sample is None:
        return [None] * len(_SAMPLE)
    times = (sample.p50_ns, sample.p99_ns, sample.p99_9_ns, sample.max_ns)
    return (sample.iops, sample.bytes_per_second, sample.ios, *times)


def _trailing_values(run: RunRecord) -> Iterator[Value]:
    figures = run.figures
    yield from (figures.cpu.fio_percent_of_core, figures.cpu.host_percent, figures.reason)
    steady_state = figures.steady
    steady = outcome_text(steady_state) if steady_state is not None and steady_state.capped else None
    yield "; ".join(filter(None, (steady, *figures.warnings)))
    yield "; ".join(advice.message for advice in figures.advice)


def _sweep_cells(session: Session) -> dict[str, tuple[str, str]]:
    """Return, by run id, the row and the column of the sweep's matrix to which a run belongs, by name."""
    record = session.sweep
    if record is None:
        return {}
    cells = {cell.id: (cell.row, cell.column) for cell in record.cells}
    steps = {step.number: cells.get(step.cell, ("", "")) for step in record.steps}
    return {end.run: steps.get(end.step, ("", "")) for end in record.ended if end.run is not None}
