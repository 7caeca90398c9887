"""Real snapshots and thin pools: what would fill them is refused, what fits is written, a run ends at the margin."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.session.results import RunStatus
from app.core.workbench import Workbench
from backends.model import Inventory
from tests.lab.disks import Disk
from tests.lab.layers import loop
from tests.lab.running import run
from tests.lab.writing import Writer, command_line

Blank = Callable[..., tuple[Disk, ...]]

GROUP = "labthin"
MIB = 1 << 20

pytestmark = pytest.mark.vendors("block", "lvm")


@pytest.fixture
def group(blank: Blank) -> Iterator[str]:
    """A volume group of one drive."""
    run("modprobe", "-a", "dm-snapshot", "dm-thin-pool")
    (disk,) = blank("nvme0")
    run("pvcreate", "--yes", disk.device)
    run("vgcreate", "--yes", "--physicalextentsize=1M", GROUP, disk.device)
    yield GROUP
    run("vgchange", "--activate=n", GROUP)
    run("vgremove", "--yes", "--force", GROUP)
    disk.wipe()


def make(*words: str) -> None:
    """A volume without anything on it."""
    run("lvcreate", "--yes", "--zero=n", "--wipesignatures=n", *words)


def node(volume: str) -> str:
    """Its node by the kernel's name."""
    return os.path.realpath(f"/dev/{GROUP}/{volume}")


def told(volume: str, column: str) -> str:
    """What LVM says of a volume."""
    said = json.loads(run("lvs", "--reportformat=json", "-o", column, f"{GROUP}/{volume}"))
    return str(said["report"][0]["lv"][0][column])


@pytest.fixture
def snapshotted(group: str) -> None:
    """A volume of 64 MiB, and a snapshot with a store of 16."""
    make("--size=64M", "--name=linear", group)
    run("lvcreate", "--yes", "--snapshot", "--size=16M", "--name=snap", f"{group}/linear")


@pytest.fixture
def pooled(group: str) -> None:
    """Two volumes of 64 MiB in a pool of 32."""
    run("lvcreate", "--yes", "--type=thin-pool", "--size=32M", "--zero=n", "--name=pool", group)
    for name in ("thin", "mail"):
        run("lvcreate", "--yes", "--thin", "--virtualsize=64M", f"--name={name}", f"{group}/pool")


@pytest.mark.usefixtures("snapshotted")
def test_the_origin_of_a_snapshot_is_never_written(writer: Writer, state: Path, tmp_path: Path) -> None:
    before = told("snap", "data_percent")
    result, said = writer.raw(node("linear"), Path(node("linear")).name)
    assert (result, command_line(node("linear"), Path(node("linear")).name, tmp_path)) == ("refused", "refused")
    assert f"is the origin of the active snapshot {GROUP}/snap" in said
    assert told("snap", "data_percent") == before


@pytest.mark.usefixtures("snapshotted")
async def test_a_snapshot_is_shown_as_one_and_as_lost_once_it_ran_full(workbench: Workbench) -> None:
    def shown(found: Inventory) -> tuple[str, str, int | None]:
        (one,) = [array for array in found.arrays if array.name == f"{GROUP}/snap"]
        return one.level.value, one.state.value, one.size_bytes

    assert shown(await workbench.hardware.probe()) == ("snapshot", "optimal", 64 << 20)
    run("dd", "if=/dev/urandom", f"of={node('linear')}", "bs=1M", "count=24", "oflag=direct")
    assert "invalid" in told("snap", "lv_snapshot_invalid")
    assert shown(await workbench.hardware.probe()) == ("snapshot", "failed", 64 << 20)


@pytest.mark.usefixtures("snapshotted")
def test_a_snapshot_is_written_as_far_as_its_store_reaches(writer: Writer, state: Path) -> None:
    device = node("snap")
    assert writer.raw(device, Path(device).name)[0] == "refused"
    assert writer.raw(device, Path(device).name, size="8M")[0] == "written"
    assert "invalid" not in told("snap", "lv_attr")


@pytest.mark.usefixtures("snapshotted")
def test_the_hidden_parts_of_a_snapshot_are_never_written(writer: Writer, state: Path) -> None:
    for name in (f"{GROUP}-linear-real", f"{GROUP}-snap-cow"):
        device = os.path.realpath(f"/dev/mapper/{name}")
        assert writer.raw(device, Path(device).name)[0] == "refused"


@pytest.mark.usefixtures("pooled")
def test_a_pool_is_never_filled_and_the_other_volume_is_named(writer: Writer, state: Path, tmp_path: Path) -> None:
    device = node("thin")
    result, said = writer.raw(device, Path(device).name)
    assert (result, command_line(device, Path(device).name, tmp_path)) == ("refused", "refused")
    assert f"of the thin pool {GROUP}/pool" in said
    assert f"writes to {GROUP}/mail fail as well" in said
    assert float(told("pool", "data_percent")) == 0


@pytest.mark.usefixtures("pooled")
def test_what_fits_into_the_pool_is_written_and_written_again(writer: Writer, state: Path) -> None:
    device = node("thin")
    for _ in range(2):
        assert writer.raw(device, Path(device).name, size="24M") == ("written", "")
    assert float(told("pool", "data_percent")) <= 80


@pytest.mark.usefixtures("pooled")
def test_what_a_snapshot_shares_takes_room_again(writer: Writer, state: Path) -> None:
    device = node("thin")
    assert writer.raw(device, Path(device).name, size="20M", rw="write", bs="1M")[0] == "written"
    run("lvcreate", "--yes", "--snapshot", "--name=later", f"{GROUP}/thin")  # not active, as thin snapshots are
    assert writer.raw(device, Path(device).name, size="20M")[0] == "refused"


@pytest.mark.usefixtures("pooled")
def test_a_run_is_ended_when_another_volume_takes_the_room(writer: Writer, state: Path) -> None:
    def take() -> None:
        run("dd", "if=/dev/zero", f"of={node('mail')}", "bs=1M", "count=28", "oflag=direct")

    device = node("thin")
    ready = writer.ready(device, size="1M", runtime="120")
    figures = writer.measured_during(ready, Path(device).name, take)
    assert figures.status is RunStatus.STOPPED
    assert (figures.reason or "").startswith(f"Stopped for lack of free space: the thin pool {GROUP}/pool has")


@pytest.mark.usefixtures("pooled")
def test_a_scratch_file_on_a_thin_volume_does_not_fill_the_pool(writer: Writer, state: Path, tmp_path: Path) -> None:
    point = tmp_path / "point"
    point.mkdir()
    run("lvcreate", "--yes", "--thin", "--virtualsize=1G", "--name=files", f"{GROUP}/pool")
    run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "nodiscard", node("files"))
    run("mount", node("files"), str(point))
    try:
        result, said = writer.raw(str(point / "scratch"), None, size="28M")
    finally:
        run("umount", str(point))
    assert result == "refused"
    assert f"of the thin pool {GROUP}/pool" in said


def test_a_loop_device_on_a_sparse_file_does_not_fill_its_file_system(
    writer: Writer, blank: Blank, state: Path, tmp_path: Path
) -> None:
    (disk,) = blank("nvme1")
    point = tmp_path / "point"
    point.mkdir()
    run("mkfs.ext4", "-q", disk.device)
    run("mount", disk.device, str(point))
    try:
        with open(point / "image", "wb") as file:
            file.truncate(4 << 30)
        with loop(point / "image") as device:
            result, said = writer.raw(device, Path(device).name)
    finally:
        run("umount", str(point))
        disk.wipe()
    assert result == "refused"
    assert f"of the filesystem on {point} below {point}/image" in said
