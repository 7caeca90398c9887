"""A disk in use is in use under every name: no way to write reaches it, and not a byte of it changes."""

from __future__ import annotations

import asyncio
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from backends.guard import Intent, judge
from backends.system.local import LocalHost
from backends.topology import scan_topology
from backends.topology.facts import DeviceFacts
from tests.lab.disks import Disk
from tests.lab.layers import ARRANGEMENTS, Place, Tried, filesystem
from tests.lab.making import Made, two_path_disk
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.writing import REFUSED, Writer, bench, precondition, told

pytestmark = pytest.mark.seconds(900)


@pytest.fixture(scope="module")
def paths() -> Iterator[tuple[Made, Made]]:
    with two_path_disk() as made:
        yield made


@pytest.fixture
def place(paths: tuple[Made, Made], blank: Callable[..., tuple[Disk, ...]], tmp_path: Path) -> Place:
    first, second = paths
    run("dd", "if=/dev/zero", f"of={first.device}", "bs=1M", "oflag=direct", status=None)  # ends where the disk does
    for path in paths:
        run("blockdev", "--flushbufs", "--rereadpt", path.device)
    (other,) = blank("nvme1")
    return Place(first, second, other, tmp_path)


def names(place: Place) -> dict[str, str]:
    """What is said for what differs from boot to boot."""
    return {place.first.kernel: "sdX", place.second.kernel: "sdY", place.other.kernel: "sdZ"}


def contents(place: Place) -> list[bytes]:
    """Every byte of the disk and of the image, if there is one."""
    return [_bytes(each) for each in (place.first.device, str(place.image)) if Path(each).exists()]


def _bytes(device: str) -> bytes:
    """Whole, not a digest: that would take the emulated processor longer than reading and comparing it."""
    direct = os.O_DIRECT if Path(device).is_block_device() else 0  # past the page cache: what is really there
    descriptor = os.open(device, os.O_RDONLY | direct)
    try:
        with mmap.mmap(-1, os.lseek(descriptor, 0, os.SEEK_END)) as buffer:
            count = os.preadv(descriptor, [buffer], 0)
            assert count == len(buffer)
            return buffer[:]
    finally:
        os.close(descriptor)


def seen(tried: Sequence[Tried]) -> dict[str, str]:
    """What the guard says of each by one look at the machine, before anything is opened."""

    async def judged() -> dict[str, str]:
        picture = await scan_topology(LocalHost(), everywhere=True)
        found: dict[str, str] = {}
        for one in tried:
            node = picture.tree.nodes[Path(one.device).name]
            disk = picture.tree.nodes[picture.tree.disk_of(node.name)]
            facts = DeviceFacts(
                device=node.device,
                is_block=True,
                disk=disk.device if disk is not node else None,
                size_bytes=node.size_bytes,
                uses=picture.uses(node.name),
                link=picture.link(node.name),
            )
            found[one.device] = " ".join(judge(facts, Intent.WRITE).refused)
        return found

    return asyncio.run(judged())


def commanded(tried: Tried, folder: Path) -> str:
    """What came of the command line: `refused` only with its exit status and the real reason."""
    status, said = bench(tried.device, Path(tried.device).name, folder)
    return "refused" if status == REFUSED and tried.said in said else f"status {status}: {said}"


@pytest.mark.parametrize("use", ARRANGEMENTS)
def test_what_is_in_use_is_in_use_under_every_name(place: Place, table: Results, state: Path, use: str) -> None:
    with ARRANGEMENTS[use](place) as tried:
        run("sync")
        before = contents(place)
        said = seen(tried)
        came = {one: commanded(one, place.folder) for number, one in enumerate(tried) if number == 0 or one.hidden}
        untouched = contents(place) == before
    told_of = {one: one.hidden or one.said in said[one.device] for one in tried}
    for one, known in told_of.items():
        words = told(one.said, names(place), place.folder)
        ok = known and untouched and came.get(one, "refused") == "refused"
        by_guard = "-" if one.hidden else "refused" if known else "NOT REFUSED"
        table.add("Guard", f"{use}: {one.what}", by_guard, came.get(one, "-"), "-", words, ok=ok)
    assert untouched
    assert all(told_of.values()), said
    assert set(came.values()) == {"refused"}


def test_no_other_way_writes_to_the_other_path(place: Place, table: Results, state: Path) -> None:
    with ARRANGEMENTS["mounted"](place) as (path, *_):
        run("sync")
        before = contents(place)
        status, said = precondition(path.device, place.second.kernel, place.folder)
        untouched = contents(place) == before
    ok = status == REFUSED and path.said in said and untouched
    words = told(path.said, names(place), place.folder)
    assert table.add(
        "Guard", "mounted: the other path, filled twice", "-", "refused" if ok else said, "-", words, ok=ok
    )


def test_what_came_after_the_question_is_not_covered_by_the_answer(
    writer: Writer, place: Place, table: Results
) -> None:
    shown = writer.ready(place.second.device)
    assert not shown.refused
    filesystem(place.first.device)
    before = contents(place)
    result, said = writer.measured(shown, shown.confirm_text)
    words = told(said, names(place), place.folder)
    ok = result == "refused" and "changed after you confirmed it" in said and contents(place) == before
    state = "a filesystem is made on the other path after the question"
    assert table.add("Guard", state, result, "-", "-", words, ok=ok), said
