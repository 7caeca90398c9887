"""Runs and events as the rows that the Runs and Log screens show. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable

from app.engine.judge.comparison import FIGURES, varying
from app.engine.judge.repeats import Repeats, mean_text, spread_of
from app.engine.session.events import LoggedEvent
from app.engine.session.figures import DirectionFigures, RunStatus
from app.engine.session.state import RunRecord
from app.engine.view.events import minded_mark, told
from widgets.keyed_table import Cell, Column, Row
from widgets.log_view import LogEntry
from widgets.plain import units
from widgets.table_layout import Tone

_MARKS: dict[RunStatus, tuple[str, Tone]] = {
    RunStatus.OK: ("ok", "good"),
    RunStatus.STOPPED: ("stopped", "warning"),
    RunStatus.FAILED: ("failed", "bad"),
}


def differing_settings(runs: Iterable[RunRecord]) -> tuple[str, ...]:
    """Keys of the settings that are not the same in all runs."""
    return tuple(varying([run.start.settings for run in runs]))


def run_columns(keys: tuple[str, ...], *, marked: bool = False, repeated: bool = False) -> tuple[Column, ...]:
    """Columns of the list of runs, with one for each differing setting.

    `marked`: whether any belongs to an experiment; `repeated`: whether anything was measured more than once.
    """
    return (
        Column(key="id", label="Run"),
        *((Column(key="ab", label="A/B"),) if marked else ()),
        Column(key="time", label="Time", priority=4),
        Column(key="target", label="Target", priority=2),
        Column(key="job", label="Job", priority=1),
        *(Column(key=key, label=key, priority=3) for key in keys),
        Column(key="read", label="Read/s", align="decimal"),
        Column(key="write", label="Write/s", align="decimal"),
        *((Column(key="mean", label="Mean of repeats", priority=2),) if repeated else ()),
        Column(key="p50", label="p50", align="right"),
        Column(key="p99", label="p99", align="right"),
        Column(key="status", label="Status"),
    )


def run_row(
    run: RunRecord,
    keys: tuple[str, ...],
    *,
    key: str,
    marked: bool,
    baseline: bool,
    active: bool,
    more: tuple[str | None, str | None] = (None, None),
) -> Row:
    """One run. `more`: its place in an experiment and the mean of its repeats, None without such a column."""
    place, mean = more
    figures = run.figures
    both = [direction for direction in (figures.read, figures.write) if direction is not None]
    status, tone = ("running", "accent") if active else _MARKS[figures.status]
    if baseline:
        status += " baseline"
    status += minded_mark(figures)
    where = run.start.target
    return Row(
        key=key,
        cells=(
            key if "/" not in key else key.rpartition("/")[2],
            *(() if place is None else (place,)),
            time.strftime("%H:%M:%S", time.localtime(run.start.at)),
            where if len(where) <= 24 else f"…{where[-23:]}",
            run.start.profile or run.start.title,
            *(run.start.settings.get(name, "") for name in keys),
            units.iops(figures.read.iops) if figures.read else "",
            units.iops(figures.write.iops) if figures.write else "",
            *(() if mean is None else (mean,)),
            units.latency(_slowest(both, "p50")) if both else "",
            units.latency(_slowest(both, "p99")) if both else "",
            Cell(text=status, tone=tone),  # type: ignore[arg-type]
        ),
        marked=marked,
    )


def _slowest(directions: list[DirectionFigures], name: str) -> float | None:
    values = [value for direction in directions if (value := getattr(direction.latency_ns, name)) is not None]
    return max(values) if values else None


def place_of(run: RunRecord) -> str:
    """`e1 3B`: experiment, pair and letter; "" for a run by itself."""
    mark = run.start.mark
    return "" if mark is None else f"{mark.experiment} {mark.pair}{mark.letter}"


def mean_of(run: RunRecord, known: Repeats) -> str:
    """`83.6k ±0.6 % (6)`: IOPS of all runs that measured the same, reads if there are any; "" for a single one."""
    alike = known.of(run)
    seen = spread_of(alike, "read" if run.figures.read else "write", FIGURES[0]) if len(alike) > 1 else None
    return "" if seen is None else f"{mean_text(seen, units.iops)} ({seen.n})"


def log_entry(index: int, event: LoggedEvent) -> LogEntry:
    """One event as a line that unfolds."""
    clock = time.strftime("%H:%M:%S", time.localtime(event.at))
    words = told(event)
    return LogEntry(key=str(index), head=f"{clock}  {words.head}", body=words.body, kind=words.kind, tone=words.tone)
