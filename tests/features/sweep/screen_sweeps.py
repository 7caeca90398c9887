"""Sweeps for the screens: one on disk that somebody else seems to run, and one that runs in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.core.session.event_types import PhaseChanged, SampleTaken
from app.core.session.events import LiveEvent, LoggedEvent, SessionStarted
from app.core.session.flag_files import STOP, SWEEP
from app.core.session.paths import Paths
from app.core.session.results import DirectionSample, Phase, Sample
from app.core.session.state import Session
from app.core.session.store import SessionLog
from app.core.session.sweep_record import SweepEnded, SweepStarted, SweepStepEnded, SweepStepStarted
from app.core.session.sweep_steps import Design, Step, StepResult, SweepResult
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.features.sweep.engine.live_log import LiveWriter
from app.features.sweep.engine.runner import SweepRunner
from backends.host import Host
from tests.features.sweep.making import design, run
from tests.tui.stage import MACHINE, NOON

TWO_BY_THREE = design(
    '[[axis]]\ntarget = "array"\nsetting = "ahead"\nvalues = ["none", "some", "all"]\n'
    '[[axis]]\njob = "iodepth"\nvalues = [1, 32]\n',
    seed=4,
)
"""Three values of a setting under two queue depths, each twice."""

IOPS: Mapping[str, float] = {"ahead=none": 1.0, "ahead=some": 0.98, "ahead=all": 0.6}
"""Share of what the array can that is left with each value."""


class WrittenSweep:
    """The log of a sweep, held as its process holds it."""

    def __init__(self, folder: Path, made: Design = TWO_BY_THREE, *, simulated: bool = False) -> None:
        self.folder = folder
        self.design = made
        self._log = SessionLog(folder)
        self._live = LiveWriter(folder)
        started = SessionStarted(at=NOON, id=folder.name, version="1.0", simulated=simulated, machine=MACHINE)
        SWEEP.create(folder)
        self.write(started, SweepStarted(at=NOON, design=made, pid=1))

    def write(self, *events: LoggedEvent) -> None:
        for event in events:
            self._log.append(event)

    def steps(self, count: int) -> None:
        """Carries out the first steps."""
        for step in self.design.steps[:count]:
            cell = self.design.cell(step.cell)
            share, depth = IOPS.get(cell.row, 1.0), int(cell.job["iodepth"])
            wobble = 1 + 0.0004 * (step.number % 3)
            record = run(f"r{step.number}", 4000.0 * share * depth**0.8 * wobble, p99=200_000 * depth)
            assert record.end is not None
            done = SweepStepEnded(at=NOON + 7, step=step.number, result=StepResult.DONE, run=record.id)
            self.write(SweepStepStarted(at=NOON, step=step.number), record.start, record.end, done)

    def running(self, step: Step, samples: int = 12) -> None:
        """Begins a step, and what is seen of it."""
        record = run(f"r{step.number}", 1.0)
        self.write(SweepStepStarted(at=NOON, step=step.number), record.start)
        self._live.handle_event(Session(), record.start)
        self._live.handle_event(
            Session(), LiveEvent(at=NOON, id=record.id, progress=PhaseChanged(phase=Phase.MEASURING, seconds=5.0))
        )
        for at in range(samples):
            figures = DirectionSample(
                iops=64_000.0 + 900 * (at % 3),
                bytes_per_second=2.6e8,
                ios=16_000,
                p50_ns=310_000,
                p99_ns=900_000 + 40_000 * (at % 2),
                p99_9_ns=2_400_000,
            )
            sample = Sample(at=0.25 * (at + 1), seconds=0.25, phase=Phase.MEASURING, read=figures)
            self._live.handle_event(Session(), LiveEvent(at=NOON, id=record.id, progress=SampleTaken(sample=sample)))

    def end(self, result: SweepResult, reason: str = "", left: tuple[str, ...] = ()) -> None:
        self.write(SweepEnded(at=NOON + 90, result=result, reason=reason, left=left))
        if not left:
            SWEEP.remove(self.folder)
        self.close()

    def close(self) -> None:
        self._log.close()

    @property
    def asked_to_stop(self) -> bool:
        return STOP.exists_in(self.folder)


@dataclass
class InThisProcess:
    """Goes on with a sweep as the process of its own would."""

    host: Host
    paths: Paths
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def __call__(self, folder: Path) -> int:
        bench = Workbench(self.host, paths=self.paths, advisor=advise)
        await bench.open(folder)
        await bench.hardware.probe()
        runner = SweepRunner(bench)
        await runner.resume()
        self.tasks.append(asyncio.create_task(self._go(runner, bench)))
        return 1

    async def _go(self, runner: SweepRunner, bench: Workbench) -> None:
        try:
            await runner.run_all()
        finally:
            bench.close()
