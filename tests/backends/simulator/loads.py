"""Running the engine's own load on the rack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from app.core.fio.job import Job, JobTarget, TargetKind
from app.core.fio.load import FioLoad
from app.core.session.event_types import LoadEvent, PhaseChanged, SampleTaken, WorkloadFinished
from app.core.session.results import RunResult, RunStatus, Sample
from backends.host import Host


@dataclass
class Ran:
    """What a load told."""

    figures: RunResult = field(default_factory=lambda: RunResult(status=RunStatus.FAILED))
    samples: list[Sample] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)


def on(device: str) -> JobTarget:
    """A device of the rack."""
    return JobTarget(path=device, name=device, kind=TargetKind.BLOCK, size=1 << 38)


async def run(host: Host, job: Job, folder: Path, device: str = "/dev/sdb", stop_after: int | None = None) -> Ran:
    """A job to its end, or told to stop after so many samples."""
    stop = asyncio.Event()
    load = FioLoad(host).run(job, [on(device)], folder, stop)
    return await follow(load, stop, stop_after)


async def follow(load: AsyncGenerator[LoadEvent, None], stop: asyncio.Event, stop_after: int | None = None) -> Ran:
    """Everything a load tells."""
    ran = Ran()
    async with aclosing(load) as events:
        async for event in events:
            match event:
                case SampleTaken():
                    ran.samples.append(event.sample)
                    if stop_after is not None and len(ran.samples) == stop_after:
                        stop.set()
                case PhaseChanged():
                    ran.phases.append(event.phase.value)
                case WorkloadFinished():
                    ran.figures = event.figures
                case _:
                    pass
    return ran
