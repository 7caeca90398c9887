"""The load: whatever does I/O to a target and tells how it goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Protocol

from app.engine.fio.events import CpuSampled, Finished, LoadEvent, NoiseHeard, PhaseChanged, SampleTaken
from app.engine.fio.job import Job
from app.engine.fio.target import JobTarget

__all__ = ["CpuSampled", "Finished", "Load", "LoadEvent", "NoiseHeard", "PhaseChanged", "SampleTaken"]


class Load(Protocol):
    """Does I/O and tells how it goes: fio, or a simulation that answers in fio's words.

    Both methods are async generators whose last event is `Finished`, whatever happens to the I/O; consume
    them inside `contextlib.aclosing`, since an abandoned generator would keep the program alive. Setting
    `stop` ends the load in good order: figures so far are kept, the status is STOPPED. `workdir` exists and
    receives `job.fio`, `fio.out` (standard output as it came) and `stderr`.

    Raise ToolMissingError (no fio), RefusedError (read-only host and a job that writes), InvalidValueError
    (the target is too small for the job), StorageError (`workdir` cannot be written).
    """

    def run(self, job: Job, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Run the job on the target."""
        ...

    def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Write `target.size` bytes to the scratch file, so that reads have something to read."""
        ...
