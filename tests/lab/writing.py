"""Every way to write to a device, and what was said of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from click.testing import CliRunner

from app.cli.main import cli
from app.core.benchmark.runner import BenchmarkRequest, RunPlan
from app.core.fio.job import Job
from app.core.fio.profiles import profile
from app.core.session.events import ChangeEnded
from app.core.session.paths import Paths
from app.core.session.results import RunResult
from app.core.workbench import Workbench
from backends.change import Change
from backends.errors import RaidbenchError
from backends.model import Target
from backends.system.local import LocalHost

WORDS = ("--profile", "randwrite-4k", "--runtime", "1", "--ramp", "0")
REFUSED = 3
"""Exit status of what is refused."""
REFUSES = (2, REFUSED)
"""Exit statuses for what is wrongly asked for and for what is refused."""


class Writer:
    """Every way to write, tried for as long as a module's tests take: fio is asked once what it can do."""

    def __init__(self, folder: Path) -> None:
        paths = Paths(sessions=folder / "s", journal=folder / "j", locks=folder / "l", config=folder / "none")
        self._bench = Workbench(LocalHost(), paths=paths)
        self._loop = asyncio.Runner()
        self._loop.run(self._bench.open())

    def close(self) -> None:
        self._bench.close()
        self._loop.close()

    def raw(self, device: str, typed: str | None, **fields: str) -> tuple[str, str]:
        """What came of a run that writes to the device, and what was said. `fields`: of its job."""
        try:
            ready = self.ready(device, **fields)
        except RaidbenchError as error:
            return "refused", error.message
        return self.measured(ready, typed)

    def ready(self, device: str, **fields: str) -> RunPlan:
        """Such a run, as it is shown before somebody agrees."""
        job = Job.from_fields({"runtime": "1", "ramp": "0", **fields}, profile("randwrite-4k").job)
        return self._loop.run(self._bench.jobs.prepare(BenchmarkRequest(where=device, name=device, job=job)))

    def measured(self, ready: RunPlan, typed: str | None) -> tuple[str, str]:
        """What came of it when `typed` was answered, and what was said."""

        async def measure() -> bool:
            record = await self._bench.jobs.measure(ready, confirm=typed)
            return record.figures.write is not None and record.figures.write.total_ios > 0

        runs = len(self._bench.session.runs)
        try:
            return ("written" if self._loop.run(measure()) else "nothing written", "")
        except RaidbenchError as error:
            untouched = len(self._bench.session.runs) == runs
            return ("refused" if untouched else "begun", error.message)

    def measured_during(self, ready: RunPlan, typed: str | None, take: Callable[[], None]) -> RunResult:
        """The figures of a run during which something else happens, once it has begun to measure."""

        async def measure() -> RunResult:
            task = asyncio.create_task(self._bench.jobs.measure(ready, confirm=typed))
            while self._bench.session.active is None or not self._bench.session.active.samples:
                assert not task.done(), task.result()
                await asyncio.sleep(0.05)
            await asyncio.to_thread(take)
            return (await task).figures

        return self._loop.run(measure())

    def plan(self, target: Target, key: str, value: str) -> Change:
        """A change that destroys data, planned while nothing stands against it."""
        return self._loop.run(self._bench.hardware.plan(target, key, value))

    def apply(self, change: Change) -> str:
        """What came of it: `verified`, or something else."""
        try:
            ended: ChangeEnded = self._loop.run(self._bench.changes.apply(change))
        except RaidbenchError:
            return "refused"
        return ended.result


def bench(device: str, typed: str, folder: Path) -> tuple[int, str]:
    """`raidbench bench DEVICE ... --confirm NAME`, with a link to the device: nothing is looked up."""
    return _said("bench", device, folder, *WORDS, "--confirm", typed)


def precondition(device: str, typed: str, folder: Path) -> tuple[int, str]:
    """`raidbench precondition DEVICE --confirm NAME`."""
    return _said("precondition", device, folder, "--confirm", typed)


def _said(verb: str, device: str, folder: Path, *words: str) -> tuple[int, str]:
    link = folder / f"{verb}-{Path(device).name}"
    link.symlink_to(device)
    done = CliRunner().invoke(cli, [verb, str(link), *words], prog_name="raidbench")
    return done.exit_code, " ".join(done.stderr.split())


def command_line(device: str, typed: str, folder: Path) -> str:
    """What came of `bench`, in a word."""
    status, said = bench(device, typed, folder)
    if status in REFUSES:
        return "refused"
    return "written" if status == 0 else f"status {status}: {said}"


def told(said: str, names: Mapping[str, str], folder: Path) -> str:
    """The words without what differs from boot to boot. `names`: what to say for a kernel name or serial number."""
    for one, name in names.items():
        said = said.replace(one, name)
    said = said.replace(str(folder), "/point")
    said = re.sub(r"process \d+", "process N", said)
    said = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", said)
    return re.sub(r"\b(md|dm-|loop|lab)\d+", r"\1N", said)
