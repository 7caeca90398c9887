"""The whole workbench on a machine that is a dictionary of files, with a load that does what it is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from textual.pilot import Pilot

from app.core.benchmark.device_access import DeviceAccess, DeviceGuardResult
from app.core.benchmark.runner import BenchmarkRunner
from app.core.benchmark.scratch_manager import OpenTarget
from app.core.fio.job import Engine, Job, JobTarget
from app.core.fio.preflight import Preflight
from app.core.session.event_types import CpuSampled, LoadEvent, PhaseChanged, SampleTaken, SteadyPlan, WorkloadFinished
from app.core.session.events import MachineFacts
from app.core.session.paths import Paths
from app.core.session.results import (
    CpuStats,
    DirectionSample,
    DirectionStats,
    LatencyStats,
    Phase,
    RunResult,
    RunStatus,
    Sample,
)
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.notices import Notices
from app.tui.options import ScreenOptions
from backends.change import Change
from backends.device_label import device_label
from backends.guard import GuardResult, Intent, require
from backends.identity import Identity
from backends.model import Inventory, Problem, Target
from backends.protocol import Backend, Vendor
from backends.registry import Backends, MachineBackends
from backends.settings import Reading, Setting
from backends.topology.thin_capacity import WHOLE, ThinCapacity, WriteRange
from backends.vendors.block import VENDOR as BLOCK
from tests.backends.fakes import QUEUE, FakeHost, disk, machine
from widgets.guarded_dialog import GRACE, GuardedDialog

MACHINE = MachineFacts(
    host="tea",
    cpu="AMD EPYC 7302",
    cores=16,
    memory_bytes=64 << 30,
    kernel="6.1.0-18-amd64",
    system="Debian 12",
    root=True,
)
"""The machine of all pictures."""

SECTOR = "/sys/block/sda/queue"
SIZES = {"small": (80, 24), "large": (120, 40)}
"""A terminal that just does, and a comfortable one."""

NOON = 1_790_000_000.0
"""When everything in a picture happens."""


def host_of(*, root: bool = True, more: Mapping[str, str] | None = None) -> FakeHost:
    """A root disk, a hard disk and a flash drive."""
    nvme = {**QUEUE, "scheduler": "[none] mq-deadline", "rotational": "0", "write_cache": "write through"}
    del nvme["wbt_lat_usec"]
    host = FakeHost(
        machine(
            disk("vda", devno="254:0", size=32 << 30),
            disk("sda", devno="8:0", size=4 << 40, device__vendor="ATA", device__model="ST4000NM0035"),
            disk("nvme0n1", devno="259:0", size=960 << 30, queue=nvme, device__model="SAMSUNG MZQL2960"),
            **(more or {}),
        ),
        root=root,
    )
    host.kernel = kernel
    return host


def kernel(host: FakeHost, path: str, text: str) -> None:
    """What sysfs does with a write: the scheduler is the one in brackets."""
    if path.endswith("/scheduler"):
        words = host.files[path].replace("[", "").replace("]", "").split()
        text = " ".join(f"[{word}]" if word == text else word for word in words)
    host.files[path] = text


WRITTEN = DirectionStats(
    iops=16_000.0,
    bytes_per_second=2e9,
    total_ios=1,
    total_bytes=0,
    runtime_s=60.0,
    latency_ns=LatencyStats(),
)
"""A fill, but for how much it wrote."""


@dataclass
class FakeLoad:
    """Samples on demand: `take` one, `finish`, or be stopped."""

    queue: asyncio.Queue[LoadEvent] = field(default_factory=asyncio.Queue)
    laid_out: bool = True
    """Whether a layout comes to its end by itself."""

    async def run(
        self,
        job: Job,
        targets: Sequence[JobTarget],
        workdir: Path,
        stop: asyncio.Event,
        *,
        steady: SteadyPlan | None = None,
    ) -> AsyncGenerator[LoadEvent, None]:
        """Passes on what it is given until the end, or the stop."""
        yield PhaseChanged(phase=Phase.MEASURING)
        while True:
            ask = asyncio.create_task(self.queue.get())
            halt = asyncio.create_task(stop.wait())
            await asyncio.wait({ask, halt}, return_when=asyncio.FIRST_COMPLETED)
            halt.cancel()
            if not ask.done():
                ask.cancel()
                yield WorkloadFinished(
                    figures=figures(RunStatus.STOPPED, "stopped on request"), raw=workdir / "fio.out"
                )
                return
            event = ask.result()
            yield event
            if isinstance(event, WorkloadFinished):
                return

    async def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Nothing is written."""
        yield PhaseChanged(phase=Phase.LAYOUT)
        if not self.laid_out:
            await stop.wait()
        status = RunStatus.OK if self.laid_out else RunStatus.STOPPED
        yield WorkloadFinished(figures=RunResult(status=status), raw=workdir / "layout.out")

    async def fill(
        self, target: JobTarget, workdir: Path, stop: asyncio.Event, *, loops: int, engine: Engine, block: int
    ) -> AsyncGenerator[LoadEvent, None]:
        """Passes on what it is given until the end, or the stop; stopped, half of it was written."""
        yield PhaseChanged(phase=Phase.FILLING, total_bytes=target.size * loops)
        async with aclosing(self.run(Job(), [target], workdir, stop)) as events:
            async for event in events:
                if isinstance(event, WorkloadFinished):
                    part = 1.0 if event.figures.status is RunStatus.OK else 0.5
                    written = replace(WRITTEN, total_bytes=int(target.size * loops * part))
                    event = replace(event, figures=replace(event.figures, read=None, write=written))
                if not isinstance(event, PhaseChanged):
                    yield event

    def take(self, at: float, iops: float = 85_400.0, *, p99: int | None = 1_200_000, stalled: bool = False) -> None:
        """One interval."""
        reads = DirectionSample(
            iops=iops,
            bytes_per_second=iops * 4096,
            ios=int(iops / 4),
            p50_ns=310_000,
            p99_ns=p99,
            p99_9_ns=None if p99 is None else p99 * 3,
        )
        sample = Sample(at=at, seconds=0.25, phase=Phase.MEASURING, read=reads, stalled=stalled)
        self.queue.put_nowait(SampleTaken(sample=sample))

    def cpu(self, fio: float = 41.0) -> None:
        """Processor shares."""
        self.queue.put_nowait(CpuSampled(fio_percent_of_core=fio, host_percent=27.0, silent_s=0.1))

    def finish(self, status: RunStatus = RunStatus.OK, reason: str | None = None, iops: float = 85_400.0) -> None:
        """The end."""
        self.queue.put_nowait(WorkloadFinished(figures=figures(status, reason, iops), raw=Path("fio.out")))


def figures(status: RunStatus = RunStatus.OK, reason: str | None = None, iops: float = 85_400.0) -> RunResult:
    """What a run of a minute measured."""
    latency = LatencyStats(
        mean=370_000.0,
        stddev=42_000.0,
        min=80_000,
        p50=310_000,
        p95=800_000,
        p99=1_200_000,
        p99_9=3_600_000,
        max=9_000_000,
    )
    read = DirectionStats(
        iops=iops,
        bytes_per_second=iops * 4096,
        total_ios=int(iops * 60),
        total_bytes=int(iops * 60) * 4096,
        runtime_s=60.0,
        latency_ns=latency,
    )
    cpu = CpuStats(fio_percent_of_core=41.0, host_percent=27.0)
    return RunResult(status=status, reason=reason, seconds=60.0, read=read, cpu=cpu, fio_version="fio-3.33")


class FakeGate(DeviceAccess):
    """Lets through what it is told to; everything below /dev is a device."""

    refused: tuple[str, ...] = ()
    """Why not."""
    found: tuple[str, ...] = ()
    """What lies on it."""

    async def is_device(self, path: str) -> bool:
        """By its name."""
        return path.startswith("/dev/")

    async def judge(self, path: str, *, writes: bool, area: WriteRange = WHOLE) -> DeviceGuardResult:
        """As it was told."""
        name = path.removeprefix("/dev/")
        refused = self.refused if writes else ()
        found = self.found if writes else ()
        verdict = GuardResult(
            device=path,
            ok=not refused,
            refused=refused,
            hint="Unmount it first." if refused else "",
            needs_confirmation=bool(found),
            label=device_label(Identity(name=name, serial="S1"), name=path),
            content=found,
        )
        return DeviceGuardResult(
            device=path,
            disk=path,
            size=4 << 40,
            logical_block_size=512,
            identity=Identity(name=name, serial="S1"),
            intent=Intent.WRITE if writes else Intent.READ,
            verdict=verdict,
            area=area,
        )

    async def rooms(self, devno: str, path: str = "") -> tuple[ThinCapacity, ...]:
        """All have what they need."""
        return ()

    async def disk_below(self, devno: str) -> tuple[str | None, int]:
        """Nothing known."""
        return None, 512

    @contextlib.asynccontextmanager
    async def hold(self, judgement: DeviceGuardResult, typed: str | None) -> AsyncGenerator[OpenTarget, None]:
        """Insists as the real one does."""
        require(judgement.verdict, typed)
        yield OpenTarget(path=judgement.device)


class BrokenBackend:
    """A vendor module that does one thing wrong."""

    def __init__(self, inner: Backend | None = None, *, error: Exception | None = None) -> None:
        self.inner = inner
        self.error = error
        self.answers = asyncio.Event()

    async def inventory(self) -> Inventory:
        if self.inner is not None:
            return await self.inner.inventory()
        if self.error is not None:
            raise self.error
        await self.answers.wait()
        return Inventory()

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        return () if self.inner is None else self.inner.settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        if self.error is not None:
            raise self.error
        return {} if self.inner is None else await self.inner.read(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        raise self.error or KeyError(key)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        raise self.error or KeyError(key)

    async def apply(self, change: Change) -> None:
        raise self.error or KeyError(change.key)


def put(table: Table, name: str, backend: BrokenBackend) -> None:
    """A backend beside those of the table, or in place of one."""
    there = {**table.bench.hardware.machine.backends, name: backend}
    vendors = [Vendor(name=each, backend=lambda _host, one=one: one) for each, one in there.items()]  # type: ignore[misc]
    table.bench.hardware.machine.backends = Backends(table.host, vendors)


async def ready_fio(_job: Job) -> Preflight:
    """A fio that is there."""
    return Preflight(path="/usr/bin/fio", version="fio-3.33", engines=frozenset())


def paths_in(folder: Path) -> Paths:
    """Everything below one folder."""
    return Paths(
        sessions=folder / "sessions",
        journal=folder / "journal",
        locks=folder / "locks",
        config=folder / "config.toml",
    )


@dataclass
class Table:
    """A workbench, its machine and its load."""

    host: FakeHost
    bench: Workbench
    load: FakeLoad
    gate: FakeGate
    options: ScreenOptions

    def app(self) -> WorkbenchApp:
        app = WorkbenchApp(self.bench, self.options)
        app.notices = Notices(lambda: 0.0)  # what was said stands as long on a slow machine as on a quick one
        return app


def set_table(
    folder: Path, host: FakeHost | None = None, vendors: tuple[Vendor, ...] = (BLOCK,), **options: object
) -> Table:
    """A workbench in `folder`, its session of a fixed name, on the kernel's disks alone unless `vendors` says more."""
    host = host or host_of()
    bench = Workbench(host, paths=paths_in(folder), advisor=advise)
    bench.hardware.machine = MachineBackends(bench.host, vendors)
    load = FakeLoad()
    gate = FakeGate(bench.host)

    def measurer(folder: Path) -> BenchmarkRunner:
        return BenchmarkRunner(
            bench,
            folder,
            load=load,
            preflight=ready_fio,
            gate=gate,
            ranges=bench.jobs._left,
        )

    bench.jobs._measurer = measurer  # type: ignore[method-assign]
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    given: dict[str, object] = {
        "session": folder / "sessions" / "2026-11-21-120000",
        "scratch": str(scratch),
        "scratch_size": 1 << 20,
        "fps": 30.0,
    }
    return Table(host=host, bench=bench, load=load, gate=gate, options=ScreenOptions(**(given | options)))  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def opened(table: Table, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Pilot[int]]:
    """The app, all found, at rest."""
    app = table.app()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


async def settled(pilot: Pilot[int]) -> None:
    """Until the session is open, hardware is found, the settings are read and what they say is judged."""
    app = app_of(pilot)
    awaited = "probe, read, tuning, check"  # one string, because `tests.without` looks for quoted names of commands

    def busy() -> bool:
        workers = (worker for worker in app.workers if worker.group in awaited.split(", "))
        return not app.opened or app.session.probing or not all(worker.is_finished for worker in workers)

    await pilot.pause()
    while busy():  # one thing begins the next, which the pause behind lets it do
        await until(pilot, lambda: not busy())


async def until(pilot: Pilot[int], condition: Callable[[], object]) -> None:
    """Until it is so; the deadline is for what never comes."""
    async with asyncio.timeout(120):
        while not condition():
            if pilot.app._exception is not None:
                raise pilot.app._exception
            await asyncio.sleep(0.01)
    await pilot.pause()


def app_of(pilot: Pilot[int]) -> WorkbenchApp:
    """The app under test, as what it is."""
    assert isinstance(pilot.app, WorkbenchApp)
    return pilot.app


def text_of(pilot: Pilot[int]) -> str:
    """All that is on the screen, line by line."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


def text_in(pilot: Pilot[int], selector: str) -> str:
    """What is on the screen where a widget is."""
    region = pilot.app.screen.query_one(selector).region
    lines = text_of(pilot).splitlines()[region.y : region.bottom]
    return "\n".join(line[region.x : region.right] for line in lines)


def words_in(pilot: Pilot[int], selector: str) -> str:
    """What is on the screen where a widget is, without frames and line breaks."""
    return " ".join("".join(" " if sign in "│┃▏▎▌" else sign for sign in text_in(pilot, selector)).split())


def notices(pilot: Pilot[int]) -> str:
    """What was said above the footer."""
    return "\n".join(notice.text for notice in app_of(pilot).notices.messages)


@dataclass(frozen=True)
class Moment:
    """A workbench as it stood on the way. Tests that only look share one that was walked through."""

    text: str
    notices: str
    screen: type[object]
    staged: Mapping[str, Mapping[str, str]]
    written: tuple[tuple[str, str], ...]

    def row(self, words: str) -> str:
        """The line that has these words."""
        return next(line for line in self.text.splitlines() if words in line)


def moment(pilot: Pilot[int], table: Table) -> Moment:
    """As it stands now; what was said until now is not said again."""
    staged = {key: dict(values) for key, values in app_of(pilot).staged.items()}
    now = Moment(text_of(pilot), notices(pilot), type(pilot.app.screen), staged, tuple(table.host.written))
    pilot.app.clear_notifications()
    return now


async def heard(pilot: Pilot[int]) -> None:
    """Until a dialog listens: it is deaf to keys typed ahead."""
    await pilot.pause()
    screen = pilot.app.screen
    if isinstance(screen, GuardedDialog):
        await until(pilot, lambda: screen._opened is not None)
        assert screen._opened is not None
        screen._opened -= GRACE


async def read_to_the_end(pilot: Pilot[int]) -> None:
    """Page down until every line of the dialog was on the screen: it takes no answer before."""
    screen = pilot.app.screen
    while isinstance(screen, GuardedDialog) and (unread := screen.unread):
        await pilot.press("pagedown")
        await until(pilot, lambda: screen.unread < unread)


async def answer(pilot: Pilot[int], *keys: str) -> None:
    """Wait for a dialog, read it to its end and answer it."""
    await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
    await heard(pilot)
    await read_to_the_end(pilot)
    await pilot.press(*keys)
    await pilot.pause()
