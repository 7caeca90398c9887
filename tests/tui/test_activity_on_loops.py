"""Real I/O of a fio that another program started, on a loop device of our own: the list shows it within a second."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.benchmark.device_stats.activity import EVERY_S
from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.devices.device_list import DeviceList
from app.tui.devices.screen import DevicesScreen
from backends.registry import MachineBackends
from backends.system.local import LocalHost
from backends.vendors.block import VENDOR as BLOCK
from tests.backends.loops import Loop, loop, needs_loops
from tests.packages import absence
from tests.tui.stage import paths_in, settled, until
from widgets.table_layout import plain

pytestmark = [
    needs_loops(),
    pytest.mark.root,
    pytest.mark.fio,
    pytest.mark.long,
    pytest.mark.skipif(bool(absence("fio")), reason="needs fio"),
]


@contextmanager
def elsewhere(made: Loop) -> Iterator[None]:
    """A fio that reads the device, and that raidbench knows nothing of."""
    words = ("--name=x", f"--filename={made.sure()}", "--readonly", "--rw=randread", "--bs=4k", "--iodepth=1")
    process = subprocess.Popen(
        ("fio", *words, "--rate_iops=500", "--time_based", "--runtime=60"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def test_the_list_shows_within_a_second_what_another_program_does(tmp_path: Path) -> None:
    with loop(tmp_path / "disk.img") as made:
        key, reads = f"block:{made.name}", Path(f"/sys/block/{made.name}/stat")
        bench = Workbench(LocalHost(), paths=paths_in(tmp_path))
        bench.hardware.machine = MachineBackends(bench.host, (BLOCK,))
        app = WorkbenchApp(bench)
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            devices = pilot.app.screen.query_one(DeviceList)
            devices.go_to(key)
            await pilot.press("v")

            def iops() -> str:
                return next(plain(row.cells[-5]) for row in devices.rows if row.key == key)

            await until(pilot, lambda: iops() == "0")
            screen = pilot.app.screen
            assert isinstance(screen, DevicesScreen)
            assert screen._activity is not None
            meter = screen._activity.meter
            before = int(reads.read_text().split()[0])
            with elsewhere(made):
                await until(pilot, lambda: int(reads.read_text().split()[0]) > before)
                last = meter._last
                await until(pilot, lambda: meter._last is not last)
                assert iops() not in ("0", "-")  # shown with the first reading after it began
            assert EVERY_S <= 1.0
        bench.close()
