"""The block backend on real loop devices of our own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.change import Change, ChangeStep
from backends.errors import DeviceGoneError, ToolFailedError
from backends.model import Media, Target
from backends.protocol import Backend
from backends.system.local import LocalHost
from backends.system.wrapped import ReadOnlyHost
from backends.testing.conformance import Conformance
from backends.vendors.block.backend import BlockBackend
from tests.backends.loops import Loop, exchanged, loop, needs_loops, wait_for
from tests.backends.taking_back import take_back

pytestmark = [pytest.mark.root, needs_loops()]


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk") as made:
        yield made


@pytest.fixture
def target(device: Loop) -> Target:
    return Target(backend="block", address=device.name)


@pytest.fixture
def backend(device: Loop) -> Backend:
    return BlockBackend(LocalHost())


class TestBlockConforms(Conformance):
    @pytest.fixture(scope="class")
    def device(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loop]:
        """Return one device for all of these tests, each of which restores what it changes."""
        with loop(tmp_path_factory.mktemp("conforming") / "disk") as made:
            yield made

    @pytest.fixture
    def backend(self, device: Loop) -> Backend:
        return BlockBackend(LocalHost())

    @pytest.fixture
    def targets(self, target: Target) -> tuple[Target, ...]:
        return (target,)


async def test_a_loop_device_is_found_with_its_file(backend: Backend, device: Loop) -> None:
    found = {drive.device: drive for drive in (await backend.inventory()).drives}
    drive = found[device.device]
    assert (drive.backing, drive.size_bytes, drive.media) == (str(device.backing), 64 << 20, Media.VIRTUAL)


async def test_a_loop_device_without_a_file_is_no_drive(backend: Backend, tmp_path: Path) -> None:
    with loop(tmp_path / "other") as other:
        pass
    gone = Path(f"/sys/block/{other.name}/loop/backing_file")
    wait_for(lambda: not gone.exists() or gone.read_text().strip() != str(other.backing))
    assert str(other.backing) not in {drive.backing for drive in (await backend.inventory()).drives}


async def test_partitions_are_listed_with_their_disk(tmp_path: Path) -> None:
    with loop(tmp_path / "parted", "--partscan") as disk:
        disk.partition((2048, 8192), (16384, 8192))
        found = (await BlockBackend(LocalHost()).inventory()).find(f"block:{disk.name}")
    assert getattr(found, "partitions", None) == (f"{disk.name}p1", f"{disk.name}p2")


async def test_undo_of_a_scheduler_puts_back_what_the_kernel_reset(
    backend: Backend, device: Loop, target: Target
) -> None:
    queue = Path(f"/sys/block/{device.name}/queue")
    kept = {"scheduler": "mq-deadline", "nr_requests": "64", "wbt_lat_usec": "5000", "iosched/read_expire": "120"}
    if "mq-deadline" not in (queue / "scheduler").read_text() or "bfq" not in (queue / "scheduler").read_text():
        pytest.skip("needs mq-deadline and bfq in the kernel")
    device.sure()
    first = await backend.plan(target, "scheduler", "mq-deadline")
    await backend.apply(first)
    for key in list(kept)[1:]:
        (queue / key).write_text(kept[key])
    change = await backend.plan(target, "scheduler", "bfq")
    await backend.apply(change)
    assert (queue / "nr_requests").read_text().strip() != "64"
    await take_back(backend, change)
    now = {key: (queue / key).read_text().strip() for key in kept}
    await take_back(backend, first)
    assert now == kept | {"scheduler": now["scheduler"]}
    assert "[mq-deadline]" in now["scheduler"]


async def test_throttling_back_to_default_is_planned_as_the_default(backend: Backend, target: Target) -> None:
    change = await backend.plan(target, "wbt_lat_usec", "-1")
    await backend.apply(change)
    now = (await backend.read(target))["wbt_lat_usec"].now
    await take_back(backend, change)
    assert (change.writes[0].text, now) == ("-1", change.after)


async def test_the_kernels_refusal_becomes_a_sentence(backend: Backend, target: Target) -> None:
    change = await backend.plan(target, "nr_requests", "8")
    path = change.writes[0].path
    bad = Change(**{**_fields(change), "writes": (ChangeStep(path=path, text="123456789"),)})  # type: ignore[arg-type]
    with pytest.raises(ToolFailedError, match=r"Queue size of block:loop.*Invalid argument"):
        await backend.apply(bad)


def test_another_device_under_the_same_name_is_refused(tmp_path: Path) -> None:
    backend = BlockBackend(LocalHost())

    def planned(device: Loop) -> Change:
        return asyncio.run(backend.plan(Target(backend="block", address=device.name), "nomerges", "2"))

    with (
        exchanged(tmp_path / "disk", tmp_path / "disk", planned) as (_, change),
        pytest.raises(DeviceGoneError, match="is now a different device: disk sequence number"),
    ):
        asyncio.run(backend.apply(change))


async def test_devices_on_one_file_have_one_lock(backend: Backend, target: Target, device: Loop) -> None:
    with loop(device.backing) as other:
        here, there = target, Target(backend="block", address=other.name)
        locks = {(await backend.plan(one, "nomerges", "2")).lock for one in (here, there)}
    assert locks == {f"disk-file {device.backing}"}


async def test_a_detached_device_is_gone(tmp_path: Path) -> None:
    backend = BlockBackend(LocalHost())
    with loop(tmp_path / "disk") as device:
        change = await backend.plan(Target(backend="block", address=device.name), "nomerges", "2")
    with pytest.raises(DeviceGoneError):
        await backend.apply(change)


async def test_read_only_mode_blocks_every_setting(device: Loop, target: Target) -> None:
    readings = await BlockBackend(ReadOnlyHost(LocalHost())).read(target)
    assert {reading.availability.why_not for reading in readings.values()} == {"read-only mode"}


_AS_NOBODY = """
import asyncio, concurrent.futures.thread, os, sys
from backends.errors import BlockedError, ToolFailedError
from backends.system.local import LocalHost
from backends.change import Change, ChangeStep
from backends.model import Target
from backends.vendors.block.backend import BlockBackend
from tests.backends.taking_back import take_back

async def main(name):
    backend = BlockBackend(LocalHost())
    target = Target(backend="block", address=name)
    readings = await backend.read(target)
    print(sorted({str(reading.availability.why_not) for reading in readings.values()}))
    try:
        await backend.plan(target, "nomerges", "2")
    except BlockedError as error:
        print(error)
    drive = (await backend.inventory()).find(f"block:{name}")
    write = ChangeStep(path=f"/sys/block/{name}/queue/nomerges", text="2")
    change = Change(target=target, key="nomerges", label="Merging", before="0", after="2", writes=(write,),
                    undo=(write,), identity=drive.identity)
    try:
        await backend.apply(change)
    except ToolFailedError as error:
        print(error)

os.setgroups([]); os.setgid(65534); os.setuid(65534)
asyncio.run(main(sys.argv[1]))
"""


async def test_without_root_settings_are_blocked_and_a_write_is_told(device: Loop) -> None:
    argv = [sys.executable, "-c", _AS_NOBODY, device.name]
    root = Path(__file__).parents[2]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=root, env={"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    blocked, planned, applied = done.stdout.splitlines()
    assert blocked == "['needs root']"
    assert planned == f"Merging of block:{device.name} cannot be changed: needs root."
    assert "Permission denied" in applied


def _fields(change: Change) -> dict[str, object]:
    return {name: getattr(change, name) for name in Change.__dataclass_fields__}
