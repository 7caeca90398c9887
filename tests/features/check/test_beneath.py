"""What belongs to a filesystem: its own mount and everything below, but not its neighbours."""

from __future__ import annotations

from typing import Any

from app.features.check.beneath import CheckedFoundation, beneath
from app.features.check.snapshot import BlockDevice, SystemSnapshot
from backends.model import Array, Inventory, Media, Protection, Target
from backends.settings import Reading
from backends.topology.mounts import Mount
from tests.features.check.sights import array_of, card, disk, on


def mount(point: str, source: str = "/dev/sda1", *options: str, fstype: str = "ext4") -> Mount:
    return Mount(devno="8:1", point=point, fstype=fstype, source=source, options=options)


def rules(found: CheckedFoundation) -> set[str]:
    return {finding.rule for finding in found.findings}


def stacked(**more: Any) -> SystemSnapshot:
    """A logical volume on an array of two disks, and a third disk."""
    names = ("sda", "sdb", "sdc")
    drives = tuple(
        disk(target=Target(backend="block", address=name), device=f"/dev/{name}", media=Media.SSD) for name in names
    )
    blocks = {name: BlockDevice(name=name, parts={f"{name}1": 1 << 20}) for name in names}
    blocks["md0"] = BlockDevice(name="md0", below=("sda1", "sdb1"))
    blocks["dm-0"] = BlockDevice(name="dm-0", below=("md0",), attributes={"dm/name": "vg0-db"})
    return SystemSnapshot(**{"inventory": Inventory(drives=drives), "blocks": blocks, **more})


def test_the_drives_of_all_levels_belong_to_the_filesystem() -> None:
    found = beneath(stacked(), "/dev/dm-0", mount("/db", "/dev/mapper/vg0-db"))
    assert [drive.device for drive in found.drives] == ["/dev/sda", "/dev/sdb"]


def test_missing_flushes_of_a_drive_below_are_found_and_those_of_another_are_not() -> None:
    for name, expected in (("sdb", {"flushes-off"}), ("sdc", set())):
        target = Target(backend="block", address=name)
        readings = {target: {"drive_cache": Reading(now="on", effective="without flushes")}}
        found = beneath(stacked(readings=readings), "/dev/dm-0", mount("/db", "/dev/mapper/vg0-db"))
        assert rules(found) & {"flushes-off"} == expected


def test_only_the_own_mount_counts() -> None:
    mine, other = mount("/mine"), mount("/other", "/dev/sda2", "nobarrier")
    snapshot = stacked(mounts=(mine, other))
    assert "barriers-off" not in rules(beneath(snapshot, "/dev/sda", mine))
    assert "barriers-off" in rules(beneath(snapshot, "/dev/sda", other))


def test_the_controller_of_a_virtual_drive_belongs_to_it() -> None:
    failed = card(protection=Protection(kind="bbu", state="failed"))
    found = beneath(array_of(controller=failed), "/dev/sda", mount("/db"))
    assert "battery-failed" in rules(found)
    assert found.controllers == (failed,)
    assert len(found.drives) == 5


def test_a_dataset_of_zfs_is_found_by_its_name() -> None:
    dataset = Target(backend="zfs", address="tank/db")
    arrays = (Array(target=Target(backend="zfs", address="tank")), Array(target=dataset))
    snapshot = SystemSnapshot(inventory=Inventory(arrays=arrays), readings=on(dataset, sync="disabled"))
    found = beneath(snapshot, None, mount("/tank/db", "tank/db", fstype="zfs"))
    assert "sync-off" in rules(found)
    assert "sync-off" not in rules(beneath(snapshot, None, mount("/tank/web", "tank/web", fstype="zfs")))
