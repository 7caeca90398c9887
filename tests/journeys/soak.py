"""A walk by keys through every screen and dialog, and a program that repeats it and tells how much memory that takes.

`python -m tests.journeys.soak FOLDER ROUNDS` draws on a terminal of its own. It prints as JSON the resident memory in
MB after each round and after a collection at each quarter of the rounds, its processor time in seconds, and the closed
screens that are left after a collection.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import gc
import json
import os
import pty
import shutil
import struct
import sys
import termios
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.screen import Screen

from app.core.session.events import RunEnded
from app.core.workbench import Workbench
from app.features.ab.screen import ExperimentDialog
from app.features.advice.rules import advise
from app.features.arrays.screen import NewArrayScreen
from app.features.check.screen import FindingsScreen
from app.features.fit.screen import FitSheet
from app.features.fleet.screen.findings import HostFindingsScreen
from app.features.fleet.screen.host import HostScreen
from app.features.fleet.screen.multihost_run import JointScreen
from app.features.fleet.screen.screen import HostsScreen
from app.features.fleet.screen.targets import FolderDialog
from app.features.history.screen import HistoryScreen
from app.features.observe.screen import ObservationScreen
from app.features.plots.screen.screen import ExploreScreen
from app.features.slowest.screen import SlowestScreen
from app.features.sweep.screen.screen import SweepScreen
from app.startup import raise_gc_threshold
from app.tui.app import WorkbenchApp
from app.tui.bench.advice import AdviceScreen
from app.tui.bench.job_form import JobForm
from app.tui.bench.past_run import RunScreen
from app.tui.bench.screen import BenchScreen
from app.tui.devices.screen import DevicesScreen
from app.tui.help import HelpScreen
from app.tui.log.screen import LogScreen
from app.tui.options import ScreenOptions
from app.tui.palette import Palette
from app.tui.runner import SteadyDriver
from app.tui.runs.compare import CompareScreen
from app.tui.runs.figures import FiguresScreen
from app.tui.runs.screen import RunsScreen
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.core import sessions
from tests.features.fleet.fleets import a_fleet
from tests.features.fleet.multihost.test_conductor import HostDouble
from tests.features.fleet.multihost.test_conductor import Table as Doubles
from tests.journeys.test_compare import STREAM, ab_events
from tests.tui.stage import heard, paths_in, settled, text_of, until
from widgets.choice_list import ChoiceDialog, MarkDialog
from widgets.confirm import ConfirmDialog
from widgets.field_dialog import NumberDialog, TextDialog
from widgets.question import QuestionDialog

AnyScreen = Screen[Any]

SIZE = (80, 24)


@dataclass(frozen=True)
class Visit:
    """Keys that show a screen, what is opened over it, and the keys that leave it."""

    keys: tuple[str, ...]
    kind: type[AnyScreen]
    over: tuple[Visit, ...] = ()
    leave: tuple[str, ...] = ("escape",)
    shows: str = ""
    """Words that it shows when it is ready for more keys; "" if it is at once."""


def opens(keys: str, kind: type[AnyScreen], *over: Visit, shows: str = "") -> Visit:
    """A screen that escape closes."""
    return Visit(tuple(keys.split()), kind, over, shows=shows)


def stays(keys: str, kind: type[AnyScreen], *over: Visit, leave: str = "", shows: str = "") -> Visit:
    """A screen of the header, or another state of it: never closed."""
    return Visit(tuple(keys.split()), kind, over, tuple(leave.split()), shows)


JOB = (
    opens("p", ChoiceDialog),
    opens("p end enter", FitSheet, shows="There is no answer."),
    opens("e", JobForm, opens("enter", ChoiceDialog)),
    opens("T", MarkDialog),
    opens("o", TextDialog),
    opens("i", AdviceScreen),
)

WALK: tuple[Visit, ...] = (
    stays(
        "0 end",
        HostsScreen,
        opens("enter", HostScreen),
        opens("exclamation_mark", HostFindingsScreen),
        shows="4 of 5 hosts answered",
    ),
    stays(
        "1",
        DevicesScreen,
        opens("question_mark", HelpScreen),
        opens("ctrl+p r u n", Palette),
        opens("s", ChoiceDialog),
        opens("E", TextDialog),
        opens("A", NewArrayScreen),
        stays(
            "slash m d 1 enter",
            DevicesScreen,
            opens("S", SlowestScreen),
            opens("O", ObservationScreen),
            leave="escape",
            shows="of 35 match",
        ),
        opens("exclamation_mark", FindingsScreen, shows="no findings"),
        stays(
            "slash s d e enter",
            DevicesScreen,
            stays(
                "enter down down down down down down",
                DevicesScreen,
                opens("enter", ChoiceDialog),
                stays(
                    "down right_square_bracket",
                    DevicesScreen,
                    opens("enter", NumberDialog),
                    opens("a", ConfirmDialog),
                    opens("B", ExperimentDialog),
                    leave="backspace",
                    shows="1 staged",
                ),
                stays("t", DevicesScreen, leave="t t", shows="Identity"),
                leave="escape",
                shows="> I/O scheduler",
            ),
            leave="escape",
            shows="2 of 35 match",
        ),
    ),
    stays("2", BenchScreen, *JOB, shows="▲"),
    stays(
        "3 home",
        RunsScreen,
        opens("enter", RunScreen, opens("f", FiguresScreen)),
        opens("H", HistoryScreen),
        opens(
            "X",
            ExploreScreen,
            opens("enter", ChoiceDialog),
            opens("E", TextDialog),
            opens("v", ChoiceDialog),
            shows="Explore ·",
        ),
        opens("c", CompareScreen, stays("v g", CompareScreen)),
    ),
    stays("4", SweepScreen, opens("T", ChoiceDialog), opens("o", ChoiceDialog)),
    stays("5 f", LogScreen, opens("A", TextDialog)),
)
"""All screens and dialogs but those of a measurement on many hosts, by the screens of the header."""


@dataclass
class Met:
    """The screens that were seen, without keeping them."""

    screens: weakref.WeakSet[AnyScreen] = field(default_factory=weakref.WeakSet)
    kinds: set[type[AnyScreen]] = field(default_factory=set)

    def meet(self, screen: AnyScreen) -> None:
        self.screens.add(screen)
        self.kinds.add(type(screen))

    async def left(self) -> list[str]:
        """Return the names of the closed screens that are still there. The last one needs a moment to end its tasks."""
        names: list[str] = []
        # asyncio keeps the cancelled timers of this walk, whose contexts name drawn screens, until they are many.
        for _ in range(1000):
            asyncio.get_running_loop().call_later(3600.0, names.clear).cancel()
        for _ in range(20):
            await asyncio.sleep(0.1)
            gc.collect()
            names = sorted(type(screen).__name__ for screen in self.screens if not screen.is_running)
            if not names:
                break
        return names


@contextmanager
def hurried() -> Iterator[None]:
    """After a key, let messages go from widget to widget; Textual's pilot waits until the processor is idle.

    The pilot also waits for each widget, and raises an error if one is removed meanwhile, such as an expired notice.
    The walk does not need that: it waits for what the screen shows.
    """
    wait_for_screen = Pilot._wait_for_screen

    async def pass_on(_least: float = 0.0) -> None:
        for _ in range(30):
            await asyncio.sleep(0)

    async def wait_for_widgets(pilot: Pilot[int]) -> bool:
        try:
            return await wait_for_screen(pilot, timeout=2.0)
        except WaitForScreenTimeout:
            return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pilot, "_wait_for_screen", wait_for_widgets)
        patch.setattr("textual.app.wait_for_idle", pass_on)
        patch.setattr("textual.pilot.wait_for_idle", pass_on)
        yield


async def walk(pilot: Pilot[int], met: Met, visits: Sequence[Visit] = WALK) -> None:
    """Make these visits one after the other."""
    for visit in visits:
        before = weakref.ref(pilot.app.screen)
        await pilot.press(*visit.keys)
        await until(pilot, lambda visit=visit: type(pilot.app.screen) is visit.kind)  # type: ignore[misc]
        if visit.shows:
            await until(pilot, lambda visit=visit: visit.shows in text_of(pilot))  # type: ignore[misc]
        met.meet(pilot.app.screen)
        await walk(pilot, met, visit.over)
        await pilot.press(*visit.leave)
        if visit.leave:
            await until(pilot, lambda before=before: pilot.app.screen is before())  # type: ignore[misc]


async def measure_together(pilot: Pilot[int], met: Met) -> None:
    """Measure on two hosts that answer at once: its dialogs and its screen."""
    await pilot.press("0")
    await until(pilot, lambda: "4 of 5 hosts answered" in text_of(pilot))
    await pilot.press("end", "space", "up", "space")
    await _through(pilot, met, ("m", ChoiceDialog), ("enter", ChoiceDialog), ("end enter", FolderDialog))
    await pilot.press("escape")
    await until(pilot, lambda: type(pilot.app.screen) is HostsScreen)
    await _through(
        pilot, met, ("m", ChoiceDialog), ("enter", ChoiceDialog), ("enter", QuestionDialog), ("s", JointScreen)
    )
    await until(pilot, lambda: "Total: 2 of 2 hosts" in text_of(pilot))
    await pilot.press("escape", "space", "down", "space")


async def _through(pilot: Pilot[int], met: Met, *steps: tuple[str, type[AnyScreen]]) -> None:
    """Press the keys of each step, which open its screen in place of the one before."""
    for keys, kind in steps:
        before = pilot.app.screen
        await pilot.press(*keys.split())
        await until(pilot, lambda old=before: pilot.app.screen is not old)  # type: ignore[misc]
        del before
        await until(pilot, lambda kind=kind: type(pilot.app.screen) is kind)  # type: ignore[misc]
        met.meet(pilot.app.screen)
        await heard(pilot)


def workbench(folder: Path) -> WorkbenchApp:
    """The workbench on a simulated machine with a session that has an A/B, beside five hosts."""
    host = SimulatedHost(linux_rack(), speed=60.0)
    begin = sessions.started(simulated=True)
    events = ab_events(replace(begin, machine=replace(begin.machine, host=host.name)))
    session = sessions.written(folder / "sessions" / "s1", *events)
    for event in events:
        if isinstance(event, RunEnded):
            (session / "runs" / event.id).mkdir(parents=True)
            shutil.copy(STREAM, session / "runs" / event.id / "fio.out")
    fleet = a_fleet()
    fleet.doubles = Doubles(HostDouble("n1"), HostDouble("n5"))
    bench = Workbench(host, paths=paths_in(folder), advisor=advise)
    options = ScreenOptions(
        session=session, config=folder / "config.toml", scratch=str(folder), scratch_size=1 << 20, fleet=fleet.fleet()
    )
    return WorkbenchApp(bench, options)


def resident() -> float:
    """Return the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def resident_after_collection() -> float:
    """Return the resident memory in MB once garbage is collected and freed memory is given back to the kernel."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return resident()


@contextmanager
def own_terminal() -> Iterator[None]:
    """Give this process a terminal that takes all it is sent, in place of its input and its errors."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    streams = {stream: os.dup(stream) for stream in (0, 2)}
    for stream in streams:
        os.dup2(slave, stream)
    Thread(target=lambda: all(iter(lambda: os.read(master, 1 << 16), b"")), daemon=True).start()
    try:
        yield
    finally:
        for stream, before in streams.items():
            os.dup2(before, stream)


def main(folder: Path, rounds: int) -> None:
    """Go to so many screens of the header, one after the other, and to all that each opens; print what that took."""
    memory: list[float] = []
    kept: list[float] = []
    left: list[str] = []
    failed: list[Exception] = []

    async def soak(pilot: Pilot[int]) -> None:
        met = Met()
        try:
            await settled(pilot)
            await measure_together(pilot, met)
            for number in range(rounds):
                await walk(pilot, met, [WALK[number % len(WALK)]])
                memory.append(round(resident(), 1))
                if (number + 1) * 4 % rounds == 0:
                    kept.append(round(resident_after_collection(), 1))
            left.extend(await met.left())
        except Exception as error:
            error.add_note(text_of(pilot))
            failed.append(error)
        pilot.app.exit(0)

    gc.freeze()
    raise_gc_threshold()
    with own_terminal(), hurried():
        app = workbench(folder)
        app.driver_class = SteadyDriver
        app.run(auto_pilot=soak)  # type: ignore[arg-type]
    for error in (*failed, app.crash):
        if error is not None:
            raise error
    used = {"memory": memory, "kept": kept, "seconds": round(time.process_time(), 1), "left": left}
    print(json.dumps(used), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
