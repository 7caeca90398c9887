"""What devices do now, in the pane of the device and on the Bench screen: read only where it is shown, never kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from app.core.benchmark.device_stats.activity import ActivityMeter
from app.core.benchmark.device_stats.diskstats import DeviceRates, DiskCounters
from app.tui.activity_watch import ActivityWatch
from app.tui.bench.current_load import CURRENT_LOAD, SPAN_S, CurrentLoad
from app.tui.bench.screen import BenchScreen
from app.tui.devices.device_list import DeviceList
from app.tui.devices.screen import DevicesScreen
from backends.model import Drive, Inventory, Scope, Target
from tests.backends.fakes import FakeHost, machine
from tests.core.benchmark.device_stats.machines import STATS, stats
from tests.journeys.bench_walk import start
from tests.tui.stage import Table, app_of, opened, text_in, text_of, until
from widgets.table_layout import plain

_read = ActivityWatch.read


@dataclass
class Seconds:
    """Lets seconds pass for the screen in front, and counts how often its machine's counters are read."""

    pilot: Pilot[int]
    table: Table
    now: float = 1000.0
    reads: int = 0
    done: int = 0

    def __post_init__(self) -> None:
        inner = self.table.host.read

        async def read(path: str) -> str | None:
            self.reads += path == STATS
            return await inner(path)

        self.table.host.read = read  # type: ignore[method-assign]

    async def passes(self, **devices: int) -> None:
        """A second, in which these devices completed so many reads of 4 KiB of a millisecond each."""
        self.now += 1.0
        files = self.table.host.files
        names = ("vda", "sda", "nvme0n1")
        before = self.table.host.__dict__.setdefault("totals", dict.fromkeys(names, 0))
        for name, reads in devices.items():
            before[name] += reads
        files[STATS] = stats(**{name: {"reads": total, "busy": total, "took": total} for name, total in before.items()})
        watch = getattr(self.pilot.app.screen, "_activity", None)
        if watch is not None:
            watch.meter._clock = watch.meter._counter_clock = lambda: self.now
            load = getattr(self.pilot.app.screen, "_load", None)
            if load is not None:
                load._clock = lambda: self.now
            await _read(watch)
        await self.pilot.pause()


async def choose(pilot: Pilot[int], address: str = "block:sda") -> None:
    """Put the cursor on a device, and show it."""
    screen = pilot.app.screen
    assert isinstance(screen, DevicesScreen)
    screen.devices.go_to(address)
    await until(pilot, lambda: screen._shown == address)


def logged(table: Table) -> bytes:
    """All files of the session."""
    folder = table.bench.folder
    assert folder is not None
    return b"".join(path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file())


async def test_the_pane_of_the_device_shows_what_it_does_now(table: Table) -> None:
    async with opened(table) as pilot:
        await choose(pilot)
        seconds = Seconds(pilot, table)
        for _ in range(3):
            await seconds.passes(sda=250)
        assert "250 IOPS 0.977 MiB/s" in text_in(pilot, "#activity")
        assert "25 %" in text_in(pilot, "#activity")
        await seconds.passes()
        assert text_in(pilot, "#activity").split()[:6] == ["0", "IOPS", "0", "MiB/s", "-", "0"]
        del table.host.files[STATS]
        seconds.now += 1.0
        await _read(app_of(pilot).screen._activity)  # type: ignore[attr-defined]
        await pilot.pause()
        assert text_in(pilot, "#activity").split()[:4] == ["-", "IOPS", "-", "MiB/s"]


async def test_only_what_is_shown_is_read(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        seconds = Seconds(pilot, table)
        await seconds.passes()
        assert seconds.reads == 0  # the list alone has no present I/O
        await pilot.press("enter")
        await seconds.passes()
        assert seconds.reads == 1
        assert len(pilot.app.screen._activity.meter.devices) == 1  # type: ignore[attr-defined]
        await pilot.press("slash")
        await pilot.press("escape", "5")
        await seconds.passes()
        assert seconds.reads == 1


async def test_a_key_switches_the_list_between_settings_and_what_devices_do_now(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        seconds = Seconds(pilot, table)
        await pilot.press("v")
        for _ in range(3):
            await seconds.passes(sda=250)
        lines = text_of(pilot).splitlines()
        heading = next(line for line in lines if "Latency" in line)
        assert all(title in heading for title in ("Name", "IOPS", "MiB/s", "Latency", "Util", "Last minute"))
        assert "Write cache" not in heading
        assert re.search(r"sda .* 250 +0\.977 +1\.00 ms +25 % +▃", next(line for line in lines if " sda " in line))
        assert re.search(r"vda .* 0 +0 +- +0 %", next(line for line in lines if " vda " in line))
        await pilot.press("v")
        reads = seconds.reads
        await seconds.passes(sda=250)
        assert "Latency" not in text_of(pilot)
        assert seconds.reads == reads


async def test_only_rows_in_view_that_change_are_drawn_again(table: Table) -> None:
    async with opened(table) as pilot:
        seconds = Seconds(pilot, table)
        await pilot.press("v")
        for _ in range(3):
            await seconds.passes(sda=250)
        devices = pilot.app.screen.query_one(DeviceList)
        before = {row.key: row for row in devices.rows}
        await seconds.passes(sda=300)
        changed = {row.key for row in devices.rows if row is not before[row.key]}
        assert changed == {"block:sda"}


async def test_a_drive_without_a_block_device_is_blank_and_never_idle(tmp_path: Path) -> None:
    behind = Drive(target=Target(backend="megaraid", address="/c0/e1/s1", scope=Scope.DRIVE), model="DISK")
    disk = Drive(target=Target(backend="block", address="sda", scope=Scope.DRIVE), model="DISK", device="/dev/sda")
    meter = ActivityMeter(FakeHost(machine()))
    meter.rates = {"sda": rates()}

    class Alone(App[None]):
        def compose(self) -> ComposeResult:
            yield DeviceList()

    async with Alone().run_test(size=(120, 20)) as pilot:
        devices = pilot.app.query_one(DeviceList)
        devices.show(Inventory(drives=(behind, disk)), {}, ())
        devices.show_activity(meter)
        shown = {row.key: [plain(cell) for cell in row.cells[-5:-1]] for row in devices.rows}
    assert shown["block:sda"] == ["0", "0", "-", "0 %"]
    assert "0" not in shown["megaraid:/c0/e1/s1"]


async def test_a_row_that_comes_into_view_shows_the_latest_rates(tmp_path: Path) -> None:
    disks = [
        Drive(target=Target(backend="block", address=f"sd{at}", scope=Scope.DRIVE), device=f"/dev/sd{at}")
        for at in range(100)
    ]
    meter = ActivityMeter(FakeHost(machine()))

    class Alone(App[None]):
        def compose(self) -> ComposeResult:
            yield DeviceList()

    async with Alone().run_test(size=(120, 20)) as pilot:
        devices = pilot.app.query_one(DeviceList)
        devices.focus()
        devices.show(Inventory(drives=tuple(disks)), {}, ())
        devices.show_activity(meter)
        meter.rates = {f"sd{at}": rates(100 + at) for at in range(100)}
        devices.update_activity()
        # The list scrolls to the cursor only if it is laid out by then, which takes longer on a busy machine.
        await until(pilot, lambda: devices.max_scroll_y and devices.size.height > 2)  # type: ignore[arg-type]
        await pilot.press("G")
        await until(pilot, lambda: "199" in text_of(pilot))  # type: ignore[arg-type]


async def test_a_dialog_in_front_stops_the_reading(table: Table) -> None:
    async with opened(table) as pilot:
        seconds = Seconds(pilot, table)
        watch = pilot.app.screen._activity  # type: ignore[attr-defined]
        await pilot.press("question_mark")
        await _read(watch)
        assert seconds.reads == 0


@pytest.mark.parametrize("there", ["1", "2"])
async def test_a_screen_that_comes_to_the_front_reads_at_once(
    table: Table, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    reads: list[ActivityWatch] = []

    async def read(watch: ActivityWatch) -> None:
        reads.append(watch)

    monkeypatch.setattr(ActivityWatch, "read", read)
    async with opened(table) as pilot:
        await pilot.press(there)
        watch = pilot.app.screen._activity  # type: ignore[attr-defined]
        watch._timer.pause()
        await pilot.press("5")
        before = reads.count(watch)
        await pilot.press(there)
        await until(pilot, lambda: reads.count(watch) == before + 1)


async def test_before_a_run_the_graphs_show_the_load_of_the_target_and_no_result(table: Table) -> None:
    async with opened(table) as pilot:
        await choose(pilot)
        await pilot.press("m")
        await until(pilot, lambda: pilot.app.screen._load.devices == ("sda",))  # type: ignore[attr-defined]
        seconds = Seconds(pilot, table)
        before = logged(table), len(table.bench.session.runs)
        for _ in range(4):
            await seconds.passes(sda=250, nvme0n1=9000)
        shown = text_of(pilot)
        assert shown.count(CURRENT_LOAD) == 2
        assert "250" in text_in(pilot, "#figures")
        assert "25 %" in text_in(pilot, "#figures")
        assert (logged(table), len(table.bench.session.runs)) == before


async def test_the_load_is_gone_when_a_run_begins(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: pilot.app.screen._advice_state is not None)  # type: ignore[attr-defined]
        pilot.app.screen._load.select(("sda",))  # type: ignore[attr-defined]
        seconds = Seconds(pilot, table)
        for _ in range(3):
            await seconds.passes(sda=250)
        assert CURRENT_LOAD in text_of(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, BenchScreen)
        screen.job = replace(screen.job, ramp=0)  # its first sample is the first of the graphs
        await start(pilot, table, samples=1)
        await until(pilot, lambda: "85.4k" in text_of(pilot))
        assert CURRENT_LOAD not in text_of(pilot)
        assert "p99.9" in text_in(pilot, "#figures")
        reads = seconds.reads
        await _read(pilot.app.screen._activity)  # type: ignore[attr-defined]
        assert seconds.reads == reads
        assert CURRENT_LOAD not in text_of(pilot)
        table.load.finish()
        await until(pilot, lambda: app_of(pilot).session.active is None)


class Clock:
    """Returns the time that a test sets."""

    now = 50.0

    def __call__(self) -> float:
        return self.now


def rates(reads: int = 0, *, writes: int = 0, ms: int = 0) -> DeviceRates:
    """I/O of one second."""
    return DeviceRates(DiskCounters(reads=reads, writes=writes, read_ms=ms, busy_ms=ms), 1.0)


def filled(clock: Clock, seconds: int) -> CurrentLoad:
    """A load of 250 reads per second that was seen for so long."""
    load = CurrentLoad(clock)
    for _ in range(seconds):
        clock.now += 1.0
        load.add([rates(250)])
    return load


def test_the_axis_is_shifted_by_half_when_it_is_full() -> None:
    load = filled(Clock(), 10_000)
    points = load.curves.points("read iops")
    assert (points[0][0] >= 0.0, points[-1][0] <= SPAN_S) == (True, True)
    assert SPAN_S / 2 - 1 <= len(points) <= SPAN_S + 1


@pytest.mark.parametrize("pause", [3.0, 500.0])
def test_the_load_begins_anew_after_a_pause(pause: float) -> None:
    clock = Clock()
    load = filled(clock, 20)
    clock.now += pause
    load.add([rates(7)])
    assert load.curves.points("read iops") == ((0.0, 7.0),)


def test_several_targets_are_added_up_but_their_utilisation_is_not() -> None:
    load = CurrentLoad(Clock())
    load.add([rates(100, ms=300), rates(300, ms=100)])
    assert [text for text, _ in load.rows[0].cells] == ["400", "0", "1.00 ms", ""]


def test_without_counters_nothing_is_drawn() -> None:
    load = filled(Clock(), 5)
    load.add([])
    assert (load.rows, load.curves.until) == ((), 0.0)
