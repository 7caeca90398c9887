"""What happens in the pictures: look, measure, stage a change, apply it, measure again, compare."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from textual.pilot import Pilot

from app.engine.session.paths import Paths
from app.engine.session.sweep_steps import SweepResult
from app.engine.sweep.expand import expand
from app.engine.sweep.plan_file import load_plan
from app.engine.sweep.targets import Known
from app.engine.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from app.tui.screens.bench.screen import BenchScreen
from app.tui.screens.devices.device_list import DeviceList
from app.tui.screens.sweep.screen import SweepScreen
from backends.hosts.recorded import ReplayHost
from tests.engine.sweep.loaded import LoadedSweep
from tests.machines.storage_server import FOLDER
from tests.method.loads import DEVICES
from tests.screenshots.clock import Clock
from tests.screenshots.drawing import save
from tests.tui.sweeps import WrittenSweep
from widgets.guard import GRACE

DEVICE = "scsi:sdb"
"""What is measured: the streams of the recording are of it."""

MIDDLE = 46.0
"""Seconds of a run at which its picture is taken."""


@dataclass
class Story:
    """An app on the recorded machine, and the album its pictures go into."""

    pilot: Pilot[int]
    clock: Clock
    album: Path
    wanted: frozenset[str]

    @property
    def app(self) -> WorkbenchApp:
        """The app."""
        app = self.pilot.app
        assert isinstance(app, WorkbenchApp)
        return app

    async def shoot(self, name: str, title: str) -> None:
        """Take a picture, if it is wanted."""
        await self.rest()
        if name in self.wanted:
            save(self.app, self.album, name, title)

    async def press(self, *keys: str) -> None:
        """Keys, one after the other."""
        for key in keys:
            await self.pilot.press(key)
        await self.rest()

    async def rest(self) -> None:
        """Until nothing moves any more."""
        for _ in range(3):
            await self.pilot.pause(0.05)

    async def until(self, condition: Callable[[], object]) -> None:
        """Until it is so."""
        async with asyncio.timeout(60):
            while not condition():
                await self.pilot.pause(0.02)

    async def choose_device(self) -> None:
        """Put the cursor of the list on the device."""
        await self.press("1")
        devices = self.app.screen.query_one(DeviceList)
        devices.focus()
        devices.go_to(DEVICE)
        await self.rest()
        await self.until(lambda: not any(worker.group == "read" for worker in self.app.workers))
        await self.rest()

    async def tick(self, axis: str, *values: str) -> None:
        """Tick values of an axis of a sweep."""
        screen = self.app.screen
        assert isinstance(screen, SweepScreen)
        table = screen.planner.table
        screen.planner.seed = 1
        await self.until(lambda: axis in [row.key for row in table.rows])
        table.cursor = axis
        await self.press("right")
        for value in values:
            table.cursor = f"{axis}|{value}"
            await self.press("space")

    async def run(self, profile: str, picture: Callable[[], object] | None = None) -> None:
        """Measure the device; with a picture, the recording stands still while it is taken."""
        from app.engine.fio.profiles import profile as profile_named

        await self.press("2")
        screen = self.app.screen
        assert isinstance(screen, BenchScreen)
        screen.profile, screen.job = profile, profile_named(profile).job
        screen.take_device(DEVICE, "/dev/sdb")
        self.clock.begin(None if picture is None else MIDDLE)
        count = len(self.app.workbench.session.runs)
        await self.pilot.press("r")
        if picture is not None:
            await asyncio.wait_for(self.clock.still.wait(), 60)
            await self.pilot.pause(1.5)  # fio's share of the processor is told once a second
            await self.rest()
            result = picture()
            if asyncio.iscoroutine(result):
                await result
            self.clock.go_on()
        await self.until(lambda: len(self.app.workbench.session.runs) > count and not self.app.workbench.jobs.running)
        self.app.clear_notifications()
        await self.rest()

    async def curve(self) -> None:
        """Show a throughput-latency curve that somebody's sweep has measured."""
        plan = load_plan("throughput-latency")
        found = Known(addresses={"target": DEVICE}, devices={"target": "/dev/sdb"})
        made = expand(replace(plan, title=f"{plan.title} of randread-4k on {DEVICE}"), found, 1)
        loaded = LoadedSweep(device=DEVICES["32 servers (M/M/32)"], made=made)
        sweep = WrittenSweep(self.app.workbench.paths.sessions / "2026-03-10-094500", made)
        sweep.write(*loaded.events)
        sweep.end(SweepResult.FINISHED)
        self.app.sweeping.follow(sweep.folder)
        await self.press("v")
        await self.until(lambda: self.app.sweeping.follower is not None and self.app.sweeping.follower.over)
        self.app.clear_notifications()
        await self.rest()


@asynccontextmanager
async def opened(
    folder: Path, clock: Clock, album: Path, wanted: frozenset[str], size: tuple[int, int]
) -> AsyncIterator[Story]:
    """The app on the recorded machine, all found."""
    paths = Paths(
        sessions=folder / "sessions", journal=folder / "journal", locks=folder / "locks", config=folder / "config.toml"
    )
    bench = Workbench(ReplayHost(FOLDER, pace=clock.pace), paths=paths)
    name = "2026-03-10-091000"
    app = WorkbenchApp(bench, ScreenOptions(session=folder / "sessions" / name, scratch="/srv/scratch"))
    async with app.run_test(size=size) as pilot:
        story = Story(pilot, clock, album, wanted)
        await story.until(lambda: app.opened and not app.session.probing)
        await story.rest()
        yield story
    bench.close()


async def large(story: Story) -> None:
    """All of it on a comfortable terminal."""
    await story.choose_device()
    await story.run("randread-4k")
    await story.press("b")
    story.app.clear_notifications()
    story.clock.now += 60
    await story.choose_device()
    await story.press("enter", "space")
    await story.press("down", "space", "space")
    await story.shoot("devices", "The devices of a storage server, two changes staged")
    await story.pilot.press("a")
    await story.pilot.pause(GRACE + 0.3)
    await story.shoot("review", "The review of two staged changes")
    await story.press("enter")
    await story.until(lambda: story.app.staged_count == 0)
    story.clock.now += 30
    story.app.clear_notifications()

    async def live() -> None:
        await story.shoot("bench", "A run against the baseline, live")

    await story.run("randread-4k", live)
    story.clock.now += 20
    await story.run("seqread-4m")
    await story.press("3")
    await story.press("home", "space", "down", "space")
    story.app.clear_notifications()
    await story.until(lambda: story.app.screen.query_one("#preview-graphs").display)
    await story.shoot("runs", "The runs of a session")
    await story.press("c")
    await story.pilot.pause(0.5)
    await story.shoot("compare", "Two runs side by side")
    await story.press("escape", "5", "end")
    await story.shoot("log", "The log of a session")
    await story.press("4")
    await story.tick("job:iodepth", "1", "32", "256")
    await story.tick("setting:scheduler", "none", "mq-deadline")
    await story.shoot("sweep", "A sweep is ticked, and the plan it makes")
    await story.curve()
    await story.shoot("curve", "Latency under load, and its knee")


async def small(story: Story) -> None:
    """The same on the smallest terminal that shows everything."""
    await story.choose_device()
    await story.press("enter", "space")
    await story.shoot("devices-80x24", "The devices on a terminal of 80x24")
    await story.press("backspace")

    async def live() -> None:
        await story.shoot("bench-80x24", "A run on a terminal of 80x24, live")

    await story.run("randread-4k", live)


LARGE = ("devices", "review", "bench", "runs", "compare", "log", "sweep", "curve")
"""Pictures of the large terminal, in the order they are taken."""

SMALL = ("devices-80x24", "bench-80x24")
"""Pictures of the small one."""
