"""Sessions for pictures: runs with histograms, an A/B, a sweep of depths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app.core.analysis.pair_design import RULE
from app.core.session.events import (
    ExperimentEnded,
    ExperimentMark,
    ExperimentStarted,
    LoggedEvent,
    RunEnded,
    RunStarted,
)
from app.core.session.results import DirectionStats, RunStatus
from app.core.session.state import Session, replay
from app.features.plots.selection import PlacedRun
from tests.core import sessions

NOWHERE = Path("/nowhere")
BINS = tuple((value * 10_000, 500) for value in range(50, 150))


def run(
    number: int,
    *,
    iops: float = 1000.0,
    ahead: str = "128",
    bins: tuple[tuple[int, int], ...] = BINS,
    job: Mapping[str, str] | None = None,
    mark: ExperimentMark | None = None,
    status: RunStatus = RunStatus.OK,
    writes: float | None = None,
    title: str = "4k random read · QD 16 · 1 job · 60 s",
) -> list[LoggedEvent]:
    """A run of half a million latencies between 0.5 and 1.5 ms; `writes`: how many times as slow its writes are."""
    at = 1003.0 + number * 100
    fields = {"rw": "randread", "bs": "4k", "iodepth": "16", **(job or {})}
    begun, ended = sessions.run(f"r{number}", iops=iops, settings={"read_ahead_kb": ahead}, job=fields, at=at)
    assert isinstance(begun, RunStarted)
    assert isinstance(ended, RunEnded)
    assert ended.figures.read is not None
    read = replace(ended.figures.read, bins=bins)
    figures = replace(ended.figures, status=status, read=None if status is not RunStatus.OK else read)
    if status is not RunStatus.OK:
        figures = replace(figures, reason="fio was killed.")
    if writes is not None:
        figures = replace(figures, write=slower(read, writes))
    return [replace(begun, title=title, mark=mark), replace(ended, at=at + 60, figures=figures)]


def slower(side: DirectionStats, times: float) -> DirectionStats:
    latency = side.latency_ns
    assert latency.p99 is not None
    bins = tuple((int(value * times), count) for value, count in side.bins)
    return replace(side, bins=bins, latency_ns=replace(latency, p99=int(latency.p99 * times)))


def session(*runs: list[LoggedEvent]) -> Session:
    return replay([sessions.started(), sessions.seen(), *(event for run in runs for event in run)])


def placed(held: Session, folder: Path = NOWHERE) -> list[PlacedRun]:
    return [PlacedRun(run=one, folder=folder) for one in held.runs]


def experiment(pairs: int = 3) -> list[LoggedEvent]:
    """Read-ahead 128 against 4096, which is a fifth slower."""
    begun = ExperimentStarted(
        at=1002.0,
        id="e1",
        target=sessions.SDA,
        key="read_ahead_kb",
        label="Read-ahead",
        a="128",
        b="4096",
        order=("A", "B") * pairs,
        title="4k random read",
        measured="block:sda",
        rule=RULE,
    )
    events: list[LoggedEvent] = [begun]
    for at in range(2 * pairs):
        letter = "AB"[at % 2]
        mark = ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)
        iops = (1000.0 if letter == "A" else 800.0) + at
        events += run(at + 1, iops=iops, ahead="128" if letter == "A" else "4096", mark=mark)
    return [*events, ExperimentEnded(at=3000.0, id="e1", status=RunStatus.OK, restored=True)]
