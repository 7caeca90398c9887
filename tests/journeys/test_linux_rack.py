"""The rack without controllers at 80x24: what is there, a run on what is cached, and what its cache had of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.devices.device_list import DeviceList
from app.tui.options import ScreenOptions
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import FAST
from tests.tui.stage import app_of, paths_in, settled, text_in, text_of, until

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class LinuxWalk:
    """What was seen on the way."""

    devices: str
    """The list."""
    aimed: str
    """The Bench screen with a target from it."""
    ended: str
    """The same after the run."""


async def walk(folder: Path) -> LinuxWalk:
    app = WorkbenchApp(
        Workbench(SimulatedHost(linux_rack(), speed=FAST), paths=paths_in(folder), advisor=advise),
        ScreenOptions(session=folder / "session", config=folder / "config.toml"),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        devices = text_in(pilot, "#devices")
        shown = pilot.app.screen.query_one(DeviceList)
        shown.go_to("lvm:vg0/mail")
        await settled(pilot)
        await pilot.press("m")
        await until(pilot, lambda: "vg0/mail" in text_of(pilot) and "r runs the job" in text_of(pilot))
        await until(pilot, lambda: "dm-cache" in text_of(pilot))
        aimed = text_of(pilot)
        await pilot.press("r")
        await until(pilot, lambda: app_of(pilot).session.runs and app_of(pilot).session.runs[-1].end is not None)
        await until(pilot, lambda: "Cache: vg0/mail" in text_of(pilot))
        return LinuxWalk(devices, aimed, text_of(pilot))


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> LinuxWalk:
    return asyncio.run(walk(tmp_path_factory.mktemp("linux")))


def test_every_layer_is_on_one_screen(walked: LinuxWalk) -> None:
    names = ("vg0/db", "vg0/mail", "vg0/spare", "bcache0", "tank/files", "tank/vm", "md0", "nvme0n1")
    assert [name for name in names if name not in walked.devices] == []


def test_what_stands_before_the_volume_is_said_before_the_run(walked: LinuxWalk) -> None:
    assert "is small compared to the dm-cache of" in walked.aimed


def test_what_the_cache_had_of_the_run_is_said_after_it(walked: LinuxWalk) -> None:
    assert "% of reads" in walked.ended
