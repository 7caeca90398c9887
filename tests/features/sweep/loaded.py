"""Whole searches and curves of a sweep on a device whose curve is known, as the log tells them."""

from __future__ import annotations

from math import exp
from random import Random

from app.core.session.events import LoggedEvent, RunEnded, RunStarted
from app.core.session.results import DirectionStats, LatencyStats, RunResult, RunStatus
from app.core.session.state import RunRecord
from app.core.session.sweep_record import (
    SweepRecord,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
    first_record,
    fold_sweep,
)
from app.core.session.sweep_steps import Design, StepResult, SweepCell
from app.features.sweep.engine.adaptive_steps import next_steps
from tests.features.sweep.making import design
from tests.method.loads import DEVICES, SECONDS, Device

NINE_RATES = '[[workload]]\nname="randread-4k"\n[curve]\npercents=[20, 40, 60, 70, 80, 90, 95, 100, 110]\n'
SERVERS = DEVICES["8 servers (M/M/8)"]


class LoadedSweep:
    """A sweep that has been carried out, and the runs it made."""

    def __init__(
        self, text: str = NINE_RATES, device: Device = SERVERS, *, most: int = 10_000, made: Design | None = None
    ) -> None:
        """`most`: steps after which it is cut short; `made`: a design in place of that of `text`."""
        self.design: Design = design(text) if made is None else made
        self.runs: list[RunRecord] = []
        self.events: list[LoggedEvent] = []
        self._device, self._random = device, Random(1)
        self.record: SweepRecord = first_record(SweepStarted(at=0.0, design=self.design, pid=1))
        for _ in range(most):
            if not self._step():
                break

    def _step(self) -> bool:
        if not self.record.todo:
            more = next_steps(self.record, self.runs)
            if more is None:
                return False
            self._take(more)
            return True
        step = self.record.todo[0]
        run = self._run(f"r{step.number}", self.record.cell(step.cell))
        self.runs.append(run)
        assert run.end is not None
        self._take(SweepStepStarted(at=1.0, step=step.number))
        self.events += [run.start, run.end]
        self._take(SweepStepEnded(at=3.0, step=step.number, result=StepResult.DONE, run=run.id))
        return True

    def _take(self, event: object) -> None:
        self.events.append(event)  # type: ignore[arg-type]
        folded = fold_sweep(self.record, event)  # type: ignore[arg-type]
        assert folded is not None
        self.record = folded

    def _run(self, name: str, cell: SweepCell) -> RunRecord:
        scatter = exp(self._random.gauss(0, 0.01))
        depth, rate = int(cell.job["iodepth"]), cell.job.get("rate_iops")
        if rate is None:
            iops = self._device.closed(depth) * scatter
            seconds = depth / iops
        else:
            iops, seconds = self._device.open(float(rate), depth)
        return _finished(name, iops, seconds * scatter)


def _finished(name: str, iops: float, seconds: float) -> RunRecord:
    latency = seconds * 1e9
    percentiles = {key: round(latency * share) for key, share in (("p50", 0.9), ("p99", 3), ("p99_9", 5))}
    read = DirectionStats(
        iops=iops,
        bytes_per_second=iops * 4096,
        total_ios=round(iops * SECONDS),
        total_bytes=round(iops * SECONDS) * 4096,
        runtime_s=SECONDS,
        latency_ns=LatencyStats(mean=latency, **percentiles),
    )
    start = RunStarted(at=0.0, id=name, target="t", device=None, profile=None, job={}, title="", planned_seconds=6.0)
    figures = RunResult(status=RunStatus.OK, read=read)
    return RunRecord(start=start, end=RunEnded(at=1.0, id=name, figures=figures, folder=""))
