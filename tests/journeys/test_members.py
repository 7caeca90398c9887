"""An array is measured, and each of its members is seen at work: while it runs, afterwards, and in the report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.benchmark.device_stats import MemberSampler
from app.features.report.screen import export
from app.tui.bench.past_run import RunScreen
from app.tui.runs.figures import FiguresScreen
from tests.backends.fakes import FakeHost, disk, machine
from tests.core.benchmark.device_stats.machines import STATS, array, stats
from tests.journeys.test_pictures import Compare
from tests.tui.conftest import stillness
from tests.tui.stage import SIZES, Moment, Table, app_of, moment, opened, set_table, settled, text_of, until

MIRROR = ("nvme0n1", "sda")


def stripe_host(names: tuple[str, ...] = MIRROR, level: str = "raid10", **states: str) -> FakeHost:
    """An array and its disks, none of which has done anything."""
    members = {name: states.get(name, "in_sync") for name in names}
    disks = [
        disk(name, devno=f"8:{at}", device__model="PM983" if "nvme" in name else "SM883")
        for at, name in enumerate(names)
    ]
    top = array("md0", level, **members) | {"/sys/block/md0/dev": "9:0", "/sys/block/md0/size": str(8 << 30)}
    return FakeHost(machine(*disks, top, {STATS: stats(**{name: {} for name in names})}))


@contextmanager
def quarters() -> Iterator[None]:
    """Every reading of the counters is a quarter of a second after the one before."""
    ticks = count()
    plain = MemberSampler.__init__

    def init(self: MemberSampler, *words: object, clock: object = None) -> None:
        plain(self, *words, clock=lambda: next(ticks) * 0.25)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemberSampler, "__init__", init)
        yield


@pytest.fixture
def clock() -> Iterator[None]:
    """For the length of a test."""
    with quarters():
        yield


@pytest.fixture
async def bench(tmp_path: Path, still: None, clock: None) -> AsyncIterator[tuple[Pilot[int], Table]]:
    """The Bench screen, a mirror of NVMe and SATA its target."""
    table = set_table(tmp_path, stripe_host(sda="in_sync,write_mostly"))
    async with opened(table) as pilot:
        await on_array(pilot)
        yield pilot, table


async def on_array(pilot: Pilot[int]) -> None:
    """The array is what is measured."""
    app_of(pilot).measure_device("block:md0", "/dev/md0")
    await pilot.pause()


async def start(pilot: Pilot[int], table: Table, **loads: int) -> None:
    """A job runs and the disks did these many reads a second, and a third of that in writes."""
    await pilot.press("r")
    await until(pilot, lambda: app_of(pilot).session.active is not None)
    await until(pilot, lambda: table.load.queue.empty())
    for number in range(1, 4):
        table.host.files[STATS] = stats(**{name: step(reads, number) for name, reads in loads.items()})
        table.load.take(number * 0.25)
        await until(pilot, lambda number=number: samples(pilot) == number)  # type: ignore[misc]


def step(reads: int, number: int) -> dict[str, int]:
    """The counters of a disk after so many quarters of a second."""
    return {"reads": reads * number // 4, "writes": reads * number // 12, "busy": 235 * number, "waited": 3900 * number}


def samples(pilot: Pilot[int]) -> int:
    run = app_of(pilot).session.active
    return len(run.samples) if run is not None else 0


def line_of(shown: Pilot[int] | Moment, name: str) -> str:
    """The row of a member, its blanks made one."""
    text = shown.text if isinstance(shown, Moment) else text_of(shown)
    return next(" ".join(line.split()) for line in text.splitlines() if line.strip().startswith(name))


async def ended(pilot: Pilot[int], table: Table) -> None:
    """The job is over."""
    table.load.finish()
    await until(pilot, lambda: not table.bench.jobs.running)
    await pilot.pause()


@dataclass(frozen=True)
class Watched:
    """A run on the mirror: while it went, when it had ended, its sheet of figures, and what was kept of it."""

    going: Moment
    over: Moment
    sheet: Moment
    shares: list[float | None]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """One run for those who look."""
    table = set_table(tmp_path_factory.mktemp("watched"), stripe_host(sda="in_sync,write_mostly"))

    async def walk() -> Watched:
        async with opened(table) as pilot:
            await on_array(pilot)
            await start(pilot, table, nvme0n1=11_000, sda=9_000)
            going = moment(pilot, table)
            await ended(pilot, table)
            over = moment(pilot, table)
            shares = [member.share_of_reads for member in app_of(pilot).session.runs[0].figures.members]
            await pilot.press("3", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))
            await pilot.press("f")
            await until(pilot, lambda: isinstance(pilot.app.screen, FiguresScreen))
            return Watched(going, over, moment(pilot, table), shares)

    with stillness(), quarters():
        return asyncio.run(walk())


@pytest.mark.long
def test_each_member_is_seen_at_work(watched: Watched) -> None:
    assert line_of(watched.going, "nvme0n1").startswith("nvme0n1 ████████████████████ 55 % 14.7k 11.0k 3.66k")


@pytest.mark.long
def test_its_role_stands_beside_it(watched: Watched) -> None:
    assert "write-mostly" in line_of(watched.going, "sda")


def test_shares_are_bars_with_their_figure(watched: Watched) -> None:
    assert ("█" in line_of(watched.going, "nvme0n1"), "55 %" in line_of(watched.going, "nvme0n1")) == (True, True)


def test_the_figures_of_the_whole_run_stay(watched: Watched) -> None:
    assert "45 %" in line_of(watched.over, "sda")


def test_they_are_among_the_figures_of_the_run(watched: Watched) -> None:
    assert watched.shares == [pytest.approx(0.45), pytest.approx(0.55)]


def test_the_sheet_of_figures_has_them(watched: Watched) -> None:
    assert "write-mostly" in watched.sheet.text


@pytest.mark.long
async def test_the_report_has_them(bench: tuple[Pilot[int], Table], tmp_path: Path) -> None:
    pilot, table = bench
    await start(pilot, table, nvme0n1=11_000, sda=9_000)
    await ended(pilot, table)
    assert table.bench.folder is not None
    export(app_of(pilot), table.bench.session, table.bench.folder, str(tmp_path / "out.md"))
    await pilot.app.workers.wait_for_complete()
    assert "| r1 | nvme0n1 | PM983 |" in (tmp_path / "out.md").read_text()


async def test_a_disk_without_members_shows_none(bench: tuple[Pilot[int], Table]) -> None:
    pilot, table = bench
    app_of(pilot).measure_device("block:sda", "/dev/sda")
    await start(pilot, table)
    assert "Of IOPS" not in text_of(pilot)


@pytest.mark.long
async def test_a_frozen_screen_keeps_its_members(bench: tuple[Pilot[int], Table]) -> None:
    pilot, table = bench
    await start(pilot, table, nvme0n1=11_000, sda=9_000)
    await pilot.press("space")
    before = line_of(pilot, "sda")
    table.load.take(1.0)
    await until(pilot, lambda: samples(pilot) == 4)
    assert line_of(pilot, "sda") == before


@pytest.mark.long
async def test_many_members_leave_the_graphs_their_room(tmp_path: Path, still: None, clock: None) -> None:
    names = tuple(f"sd{letter}" for letter in "abcdefghijklmnopqrstuvwx")
    table = set_table(tmp_path, stripe_host(names, "raid0"))
    async with opened(table, size=(80, 24)) as pilot:
        await on_array(pilot)
        await start(pilot, table, **dict.fromkeys(names, 100) | {"sdq": 20})
        shown = text_of(pilot)
        seen = ["least of 24" in shown, "median" in shown, line_of(pilot, "sdq").startswith("sdq"), "Latency" in shown]
    assert seen == [True] * 4


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("disks", [2, 24])
def test_picture(snap_compare: Compare, tmp_path: Path, still: None, clock: None, size: str, disks: int) -> None:
    names = MIRROR if disks == 2 else tuple(f"sd{letter}" for letter in "abcdefghijklmnopqrstuvwx")
    table = set_table(tmp_path, stripe_host(names, sda="in_sync,write_mostly" if disks == 2 else "in_sync"))

    async def act(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await on_array(pilot)
        await start(pilot, table, **dict.fromkeys(names, 11_000) | {names[-1]: 9_000})

    assert snap_compare(table.app(), terminal_size=SIZES[size], run_before=act)
