"""The list of runs: a row for each run, with columns for the settings that differ. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.analysis.comparison import compare_headline
from app.core.analysis.metric_kinds import FIGURES, TRIM, MetricKind
from app.core.analysis.sample_groups import Replicates, filled_fields, sides_of, spread_of
from app.core.presentation.comparison import verdict_sign, verdict_tone
from app.core.presentation.comparison_text import row_percent
from app.core.presentation.device import run_setting_cell, settings_in_force
from app.core.presentation.figures import figure_value_text, mean_text
from app.core.presentation.labels import key_name
from app.core.presentation.run import RUN_TONES, caveat_mark
from app.core.presentation.table import Align, Cell, Column, Row, Table, Tone
from app.core.presentation.verdict_text import judgement_word
from app.core.session.results import DIRECTIONS
from app.core.session.state import ExperimentRecord, RunRecord
from backends.values import dataclass
from widgets.text_utils import units

_LIST_FIGURES = (
    ("iops", "IOPS", 0),
    ("bytes_per_second", "MiB/s", 5),
    ("latency_p50_ns", "p50", 7),
    ("latency_p99_ns", "p99", 3),
)
"""Metrics in the list of runs: key, heading, and priority of the column. Each direction has its own column."""

_LONGEST_TARGET = 24
_FIGURE: dict[str, MetricKind] = {figure.key: figure for figure in FIGURES}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """A run in the list of runs, with the facts that its row shows."""

    record: RunRecord
    """The run."""
    name: str
    """Name in the list: `r3`, or `SESSION/r3` if several sessions are listed."""
    repeats: Replicates
    """All runs of its session, in groups of repeats."""
    key: str = ""
    """Key of the row; "" to use `name`."""
    baseline: bool = False
    """Whether this run is the baseline, with which other runs are compared."""
    spark: str = ""
    """Graph of its I/Os over time in one line; "" if unknown."""
    against: Cell | None = None
    """Comparison with the baseline; None without a baseline, or if the baseline has another target or job."""


def runs_table(listed: Sequence[ListedRun], *, full: bool) -> Table:
    """Return a table with one row for each run, and a column for each setting that differs between runs of a target.

    In a list of several sessions, target, job and `SIMULATED` are the last columns that a narrow table leaves out.
    `full`: show full dates and paths, throughput and fio's CPU use. Without it, target and job are shown only if they
    differ. On a narrow terminal the settings that differ stay longest, and the graph goes first.
    """
    keys = _setting_keys(listed)
    several = not full and any("/" in run.name for run in listed)
    baselines = [run.name for run in listed if run.baseline]
    figures = [figure for figure in _LIST_FIGURES if full or figure[0] != "bytes_per_second"]
    directions = _directions_of(listed)
    columns = (
        Column(title="Run", key="id"),
        Column(title="A/B", key="ab", priority=5),
        Column(title="When" if full else "Time", key="time"),
        Column(title="Target", key="target", priority=0 if full else 1 if several else 4, shrinks=not several),
        Column(title="Job", key="job", priority=1 if several else 4, shrinks=True),
        *(_direction_column(direction, *figure) for figure in figures[:1] for direction in directions),
        Column(title="Over time", key="spark", priority=8),
        Column(title="Mean of repeats", key="mean", priority=6),
        *(_direction_column(direction, *figure) for figure in figures[1:] for direction in directions),
        *((Column(title="fio CPU", key="cpu", align=Align.RIGHT, priority=7),) if full else ()),
        *(Column(title=key_name(key), key=key, priority=2) for key in keys),
        Column(title=f"Against {baselines[0] if len(baselines) == 1 else 'baseline'}", key="against", priority=1),
        Column(title="Status", key="status"),
        Column(title="", key="simulated", priority=1 if several else 9),
    )
    shown = [key for key, _, _ in figures]
    table = Table(columns=columns, rows=tuple(_listed_row(run, keys, shown, directions, full=full) for run in listed))
    alike = () if full else _alike(listed)
    return table.only(*(column.key for column in columns if column.key not in alike))


def _setting_keys(listed: Sequence[ListedRun]) -> tuple[str, ...]:
    """Return the keys of the settings with different values in runs of the same target."""
    values: dict[tuple[str, str], set[str]] = {}
    for run in listed:
        for key, value in settings_in_force(run.record.start).items():
            values.setdefault((run.record.start.target, key), set()).add(value)
    return tuple(dict.fromkeys(key for (_, key), found in values.items() if len(found) > 1))


def _alike(listed: Sequence[ListedRun]) -> dict[str, str]:
    """Return the target and the job that all runs share, by column key; without those that differ."""
    fields = {
        "job": {run.record.start.workload for run in listed},
        "target": {run.record.start.target for run in listed},
    }
    return {key: names.pop() for key, names in fields.items() if len(names) == 1}


def runs_title(listed: Sequence[ListedRun]) -> str:
    """Return the title of the list, with job and target if all runs share them: `Runs: randread-4k, block:sda`."""
    text = ", ".join(_alike(listed).values())
    return f"Runs: {text}" if text else "Runs"


def _direction_column(direction: str, key: str, title: str, priority: int) -> Column:
    return Column(
        title=f"{direction.capitalize()} {title}", key=f"{direction} {key}", align=Align.RIGHT, priority=priority
    )


def _directions_of(listed: Sequence[ListedRun]) -> tuple[str, ...]:
    """Return the directions for which the list has columns; trims are included only if a run has them."""
    trimmed = any(run.record.figures.trim is not None for run in listed)
    return tuple(name for name in DIRECTIONS if name != TRIM or trimmed)


def _listed_row(
    listed: ListedRun, keys: Sequence[str], shown: Sequence[str], directions: Sequence[str], *, full: bool
) -> Row:
    run = listed.record
    where = run.start.target
    figures = [[_list_figure(run, direction, key) for direction in directions] for key in shown]
    cpu = run.figures.cpu.fio_percent_of_core
    return Row(
        key=listed.key or listed.name,
        cells=(
            listed.name,
            experiment_place_text(run),
            units.moment(run.start.at)[:16] if full else units.clock(run.start.at),
            where if full or len(where) <= _LONGEST_TARGET else f"…{where[1 - _LONGEST_TARGET :]}",
            run.start.workload,
            *figures[0],
            Cell(listed.spark, Tone.DIM),
            repeats_mean_text(run, listed.repeats),
            *(text for pair in figures[1:] for text in pair),
            *(("" if cpu is None else units.percent(cpu),) if full else ()),
            *(run_setting_cell(run.start, key) for key in keys),
            Cell("baseline", Tone.ACCENT) if listed.baseline else listed.against or "",
            _status(listed),
            "SIMULATED" if run.start.simulated else "",
        ),
    )


def _list_figure(run: RunRecord, direction: str, key: str) -> str:
    figures = run.figures.side(direction)
    return "" if figures is None else figure_value_text(_FIGURE[key], _FIGURE[key].read(figures))


def _status(listed: ListedRun) -> Cell:
    figures = listed.record.figures
    return Cell(f"{figures.status.value}{caveat_mark(figures)}", RUN_TONES[figures.status])


def experiment_place_text(run: RunRecord) -> str:
    """Return the position of a run in an experiment, `e1 3B` (experiment, pair, letter); "" for other runs."""
    mark = run.start.mark
    return "" if mark is None else f"{mark.experiment} {mark.pair}{mark.letter}"


def repeats_mean_text(run: RunRecord, replicates: Replicates) -> str:
    """Return the mean IOPS of all repeats with their number, `83.6k ±0.6 % (6)`; "" for a single run.

    The IOPS are those of the reads if the run has reads.
    """
    alike = replicates.of(run)
    direction = next((name for name in DIRECTIONS if run.figures.side(name) is not None), "read")
    mean = spread_of(alike, direction, FIGURES[0]) if len(alike) > 1 else None
    return "" if mean is None else f"{mean_text(mean, units.iops)} ({mean.n})"


def against_cell(
    baseline: RunRecord, run: RunRecord, replicates: Replicates, experiments: Sequence[ExperimentRecord] = ()
) -> Cell | None:
    """Return the comparison of the run's repeats with the baseline in the headline metric: `↓ slower -18.4 %`.

    None if the baseline has another job or target.
    """
    if run.start.target != baseline.start.target or filled_fields(run.start.job_texts) != filled_fields(
        baseline.start.job_texts
    ):
        return None
    runs = (*(replicates.of(baseline) or (baseline,)), *(replicates.of(run) or (run,)))
    sides = sides_of(baseline, run, runs, runs, experiments)
    row = compare_headline(sides)
    if row is None:
        return None
    if sides.alike:
        return Cell(f"repeat {row_percent(row)}", Tone.DIM)
    text = " ".join(filter(None, (verdict_sign(row.judgement), judgement_word(row.judgement), row_percent(row))))
    return Cell(text, verdict_tone(row.judgement))
