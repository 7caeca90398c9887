"""The runs of a session as report tables and sentences. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.core.analysis.comparison import varying_keys
from app.core.analysis.metric_kinds import FIGURES, MetricKind
from app.core.analysis.sample_groups import Replicates, repeats, spread_of
from app.core.presentation.device import run_setting_cell, settings_in_force
from app.core.presentation.figures import formatter_for, mean_text
from app.core.presentation.labels import key_heading, key_name, key_value
from app.core.presentation.members import CACHE_COLUMNS, COLUMNS, cache_cells, member_cells, member_paths
from app.core.presentation.raw_data import Raw
from app.core.presentation.run import figures_table, measured_directions, outcome_text
from app.core.presentation.run_list import ListedRun, runs_table
from app.core.presentation.table import text_of, with_titles
from app.core.session.events import CommandRan
from app.core.session.section_runs import shared_sections
from app.core.session.state import RunRecord, Session
from app.features.report.blocks import Code, ReportTable, report_table
from widgets.text_utils import units

_FIGURE = {figure.key: figure for figure in FIGURES}
_COLUMNS = (
    ("Read IOPS", "read", _FIGURE["iops"]),
    ("Write IOPS", "write", _FIGURE["iops"]),
    ("Read MiB/s", "read", _FIGURE["bytes_per_second"]),
    ("Write MiB/s", "write", _FIGURE["bytes_per_second"]),
    ("Read p50", "read", _FIGURE["latency_p50_ns"]),
    ("Read p99", "read", _FIGURE["latency_p99_ns"]),
    ("Write p50", "write", _FIGURE["latency_p50_ns"]),
    ("Write p99", "write", _FIGURE["latency_p99_ns"]),
)
_FLUSHES = (("Sync mean", "sync", _FIGURE["latency_mean_ns"]), ("Sync p99", "sync", _FIGURE["latency_p99_ns"]))
_TRIMS = (
    ("Trim IOPS", "trim", _FIGURE["iops"]),
    ("Trim MiB/s", "trim", _FIGURE["bytes_per_second"]),
    ("Trim p50", "trim", _FIGURE["latency_p50_ns"]),
    ("Trim p99", "trim", _FIGURE["latency_p99_ns"]),
)
_LATENCIES = ("Run", "", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "p99.999", "p99.9999", "max", "I/Os")


def results(runs: Sequence[RunRecord]) -> ReportTable:
    """Return a table with one row per job and settings: means of the repeats with their 95 % intervals.

    If a job has several sections, a row for each section follows.
    """
    groups = tuple(repeats(runs).values())
    mixed = len({run.start.simulated for run in runs}) > 1
    keys = varying_keys([settings_in_force(group[0].start) for group in groups])
    flushed = any(run.figures.sync is not None for run in runs)
    trimmed = any(run.figures.trim is not None for run in runs)
    shown = (*(_FLUSHES if flushed else ()), *_COLUMNS, *(_TRIMS if trimmed else ()))
    rows = []
    for group in groups:
        start = group[0].start
        cells = [start.title, *_means(group, shown)]
        marked = " SIMULATED" if start.simulated and mixed else ""
        settings = (text_of(run_setting_cell(start, key)) for key in keys)
        rows.append(
            (*cells, str(len(group)), *settings, start.target, run_list_text([run.id for run in group]) + marked)
        )
        rows += [
            (f"{name}: {section_runs[0].start.title}", *_means(section_runs, shown), *[""] * (len(keys) + 3))
            for name, section_runs in shared_sections(group)
        ]
    columns = ("Job", *(name for name, _, _ in shown), "n", *map(key_name, keys), "Target", "Runs")
    return ReportTable(columns=columns, rows=tuple(rows))


def _means(group: Sequence[RunRecord], shown: Sequence[tuple[str, str, MetricKind]]) -> Iterator[str]:
    for _, direction, figure in shown:
        mean = spread_of(group, direction, figure)
        yield "" if mean is None else mean_text(mean, formatter_for(figure))


def every_run_table(runs: Sequence[RunRecord]) -> ReportTable:
    """Return a table with one row per run. Settings that differ between runs have columns."""
    replicates = Replicates(runs)
    return report_table(runs_table([ListedRun(record=run, name=run.id, repeats=replicates) for run in runs], full=True))


def common_settings(runs: Sequence[RunRecord]) -> str:
    """Return a sentence with the settings that were identical in all runs; "" if there are none."""
    keys = varying_keys([settings_in_force(run.start) for run in runs])
    same = [
        f"{key_name(key)} {text_of(run_setting_cell(run.start, key))}"
        for run in runs[:1]
        for key in run.start.settings
        if key not in keys
    ]
    return f"Identical in all runs: {', '.join(same)}." if same else ""


def provenance(runs: Sequence[RunRecord]) -> ReportTable:
    """Return a table with each recorded condition (provenance) of the runs, and the runs to which it applies."""
    by_fact: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        for fact in run.provenance.items():
            by_fact.setdefault(fact, []).append(run.id)
    order = list(dict.fromkeys(key for key, _ in by_fact))
    rows = [
        (key_heading(key), key_value(key, text), "all" if len(ids) == len(runs) else run_list_text(ids))
        for (key, text), ids in sorted(by_fact.items(), key=lambda item: order.index(item[0][0]))
    ]
    return ReportTable(columns=("What", "Value", "Runs"), rows=tuple(rows))


def latencies(runs: Sequence[RunRecord]) -> ReportTable:
    """Return a table with the latencies of each run and direction."""
    measured = [run for run in runs if any(measured_directions(run.figures))]
    return report_table(with_titles(figures_table(measured), _LATENCIES))


def members_table(runs: Sequence[RunRecord]) -> ReportTable:
    """Return a table with the load on each device below the measured device, for each run."""
    rows = []
    for run in runs:
        below = run.figures.members
        rows += [(run.id, *member_cells(member, path)) for member, path in zip(below, member_paths(below), strict=True)]
    return ReportTable(columns=("Run", *COLUMNS), rows=tuple(rows))


def caches(runs: Sequence[RunRecord]) -> ReportTable:
    """Return a table with the hits and writes of each cache in front of the drives, for each run."""
    rows = [(run.id, *cache_cells(cache)) for run in runs for cache in run.figures.caches]
    return ReportTable(columns=("Run", *CACHE_COLUMNS), rows=tuple(rows))


def warnings(runs: Sequence[RunRecord]) -> Iterator[str]:
    """Yield each warning and each advice about results once, with its remedy and the runs to which it applies.

    Also yield which runs overwrote data.
    """
    by_sentence: dict[str, list[str]] = {}
    for run in runs:
        for sentence in _run_warnings(run):
            by_sentence.setdefault(sentence, []).append(run.id)
    for sentence, ids in by_sentence.items():
        yield f"{run_list_text(ids)}: {sentence}"
    lost: dict[str, list[str]] = {}
    for run in runs:
        if run.start.destructive:
            contents = "; ".join(run.start.found) or "unknown"
            text = f"overwrote {run.start.location}, which contained: {contents}"
            lost.setdefault(text, []).append(run.id)
    for text, ids in lost.items():
        yield f"{run_list_text(ids)} {text}"


def steadiness(runs: Sequence[RunRecord]) -> Iterator[str]:
    """Yield the outcome of the steady-state rule for each run that waited for it or was ended early by it."""
    for run in runs:
        steady = run.figures.steady
        if steady is not None and (steady.waited_s or steady.capped or steady.ended_early):
            # Only the outcome text of a run that was ended early lacks the waiting time.
            waited = f"waited {units.duration(steady.waited_s)}: " if steady.waited_s and steady.ended_early else ""
            yield f"{run.id}: {waited}{outcome_text(steady)}."


def run_list_text(ids: Sequence[str]) -> str:
    """Return a string that lists the first run ids and gives the number of the others."""
    return units.first_of(ids, 6)


def job_blocks(session: Session, raw: Raw) -> tuple[Code, ...]:
    """Return each distinct fio command with its job file, labelled with the runs that used it."""
    ran = (event for event in session.events if isinstance(event, CommandRan) and event.output_file)
    commands = {event.output_file: event.line for event in ran}
    used: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for run in session.runs:
        line = commands.get(f"runs/{run.id}/fio.out", "").replace(f"runs/{run.id}/", "")
        lines = raw.jobs.get(run.id, ())
        if line or lines:
            used.setdefault((line, lines), []).append(run.id)
    return tuple(
        Code(
            label=f"{run_list_text(ids)}:",
            lines=(*((line,) if line else ()), *(("",) if line and lines else ()), *lines),
        )
        for (line, lines), ids in used.items()
    )


def _run_warnings(run: RunRecord) -> Iterator[str]:
    if run.figures.reason:
        yield " ".join(filter(None, (f"{run.figures.reason.rstrip('.')}.", run.figures.hint)))
    yield from run.figures.warnings
    for advice in run.figures.advice:
        yield " ".join(filter(None, (advice.message, advice.do)))
