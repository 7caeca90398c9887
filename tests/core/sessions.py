"""Sessions made of events by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.core.analysis.pair_design import RULE
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import (
    ChangeEnded,
    ChangeIntended,
    ExperimentMark,
    ExperimentStarted,
    InventorySeen,
    LoggedEvent,
    MachineFacts,
    NoteAdded,
    RunEnded,
    RunStarted,
    SessionStarted,
)
from app.core.session.results import Advice, DirectionStats, LatencyStats, RunResult, RunStatus, SteadyStateResult
from app.core.session.state import Session, replay
from app.core.session.store import SessionLog
from backends.change import Change, ChangeStep
from backends.identity import Identity
from backends.model import Drive, Inventory, Media, State, Target

SDA = Target(backend="block", address="sda")


def started(*, simulated: bool = False) -> SessionStarted:
    """The first event."""
    facts = MachineFacts(
        host="pear", cpu="Testium", cores=4, memory_bytes=1 << 30, kernel="6.1.0", system="Testix", root=True
    )
    return SessionStarted(at=1000.0, id="s1", version="1.0", simulated=simulated, machine=facts)


def seen(model: str = "TOSHIBA DT01", *, wwn: str | None = None) -> InventorySeen:
    """A machine with one disk."""
    drive = Drive(
        target=SDA,
        model=model,
        media=Media.HDD,
        size_bytes=1 << 40,
        state=State.ONLINE,
        device="/dev/sda",
        identity=None if wwn is None else Identity(name="sda", wwn=wwn),
    )
    return InventorySeen(at=1001.0, inventory=Inventory(drives=(drive,)))


def change(id: str = "c1", *, undoes: str | None = None, result: str | None = "verified") -> list[LoggedEvent]:
    """A change of the read-ahead from 128 to 4096; no outcome if `result` is None."""
    path = "/sys/block/sda/queue/read_ahead_kb"
    intent = ChangeIntended(
        at=1002.0,
        id=id,
        undoes=undoes,
        change=Change(
            target=SDA,
            key="read_ahead_kb",
            label="Read-ahead",
            before="128",
            after="4096",
            writes=(ChangeStep(path=path, text="4096"),),
            undo=(ChangeStep(path=path, text="128"),),
        ),
    )
    return [intent] if result is None else [intent, ChangeEnded(at=1002.5, id=id, result=result, now="4096")]


def run(
    id: str = "r1",
    *,
    iops: float = 1000.0,
    settings: dict[str, str] | None = None,
    status: RunStatus = RunStatus.OK,
    scratch: str | None = None,
    ended: bool = True,
    target: str = "block:sda",
    job: dict[str, str] | None = None,
    warnings: tuple[str, ...] = (),
    advice: tuple[Advice, ...] = (),
    steady: SteadyStateResult | None = None,
    at: float = 1003.0,
    provenance: dict[str, str] | None = None,
    fio: str | None = None,
) -> list[LoggedEvent]:
    """A read run; never ended if not `ended`."""
    start = RunStarted(
        at=at,
        id=id,
        target=target,
        device="/dev/sda",
        profile="randread-4k",
        job=job or {"rw": "randread", "bs": "4k"},
        title="4k random read",
        planned_seconds=60.0,
        settings=settings or {"read_ahead_kb": "128"},
        scratch=scratch,
        provenance=provenance or {},
        fio_version=fio,
    )
    latency = LatencyStats(mean=1_000_000.0, p50=900_000, p95=1_500_000, p99=2_000_000, p99_9=None, max=9_000_000)
    read = DirectionStats(
        iops=iops,
        bytes_per_second=iops * 4096,
        total_ios=int(iops * 60),
        total_bytes=int(iops * 60 * 4096),
        runtime_s=60.0,
        latency_ns=latency,
    )
    figures = RunResult(status=status, seconds=60.0, read=read, warnings=warnings, advice=advice, steady=steady)
    return [start, RunEnded(at=1063.0, id=id, figures=figures, folder=f"runs/{id}")] if ended else [start]


def in_pairs(
    runs: list[list[LoggedEvent]], letters: str, *, seed: int | None = 1, judged: int | None = None
) -> Session:
    """A session with an A/B of these runs, judged once, at the end or after so many."""
    start = ExperimentStarted(
        at=1002.0,
        id="e1",
        target=SDA,
        key="a",
        label="a",
        a="1",
        b="2",
        order=tuple(letters),
        title="4k random read",
        measured="block:sda",
        looks=(InterimAnalysis(pairs=judged or len(letters) // 2, level=0.05),),
        seed=seed,
        rule=RULE,
    )
    events: list[LoggedEvent] = [started(), start]
    for at, (run_events, letter) in enumerate(zip(runs, letters, strict=True)):
        begun, *over = run_events
        mark = ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)
        events += [replace(begun, mark=mark), *over]  # type: ignore[arg-type]
    return replay(events)


def note(text: str) -> NoteAdded:
    """Something written down."""
    return NoteAdded(at=1100.0, text=text)


def written(folder: Path, *events: LoggedEvent) -> Path:
    """A session on disk, held by nobody."""
    log = SessionLog(folder)
    for event in events:
        log.append(event)
    log.close()
    return folder
