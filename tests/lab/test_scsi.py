"""SATA and SAS disks for real: what raidbench sets, the drive's own tools and the kernel tell independently."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.model import Drive, Media, Target
from backends.system.local import LocalHost
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.taking_back import take_back
from tests.lab.disks import Disk, Disks
from tests.lab.making import Made
from tests.lab.results import Results
from tests.lab.running import run


def target(kernel: str) -> Target:
    return Target(backend="scsi", address=kernel)


def drive_caches(disk: Disk | Made) -> str:
    """`on` or `off`, as the drive itself says."""
    if isinstance(disk, Disk) and disk.name.startswith("sata"):
        said = run("hdparm", "-W", disk.device)
    else:
        said = run("sdparm", "--quiet", "--get=WCE", disk.device, status=None)
    bit = re.search(r"(?:WCE|=) +([01])", said)
    assert bit is not None, said
    return {"0": "off", "1": "on"}[bit[1]]


def kernel_believes(disk: Disk | Made) -> str:
    """`on` or `off`, by whether the kernel sends flushes; sd's own word must agree."""
    (cache_type,) = [path.read_text().strip() for path in (disk.sysfs / "device/scsi_disk").glob("*/cache_type")]
    assert cache_type == disk.read("queue/write_cache")
    return {"write back": "on", "write through": "off"}[cache_type]


def depth(disk: Disk | Made) -> str:
    return disk.read("device/queue_depth")


def both(disk: Disk | Made) -> str:
    """Drive and kernel."""
    return f"drive {drive_caches(disk)}, kernel {kernel_believes(disk)}"


async def changed_and_taken_back(
    bench: Workbench, disk: Disk | Made, key: str, value: str, look: Callable[[Disk | Made], str]
) -> tuple[str, str, str]:
    """What an independent look saw before, after the change and after its undo."""
    before = look(disk)
    ended = await bench.changes.apply(await bench.hardware.plan(target(disk.kernel), key, value))
    assert ended.result == "verified", ended.message
    after = look(disk)
    undone = await bench.changes.undo(ended.id)
    assert undone.result == "verified", undone.message
    return before, after, look(disk)


@pytest.mark.parametrize("name", ["sata0", "sata1", "scsi0", "scsi2"])
async def test_a_drives_cache_is_switched_for_drive_and_kernel(
    workbench: Workbench, disks: Disks, table: Results, name: str
) -> None:
    seen = await changed_and_taken_back(workbench, disks[name], "drive_cache", "off", both)
    on, off = "drive on, kernel on", "drive off, kernel off"
    assert table.setting(
        backend="scsi", on=name, setting="drive_cache", before=seen[0], after=off, read_back=seen[1], undone=seen[2]
    )
    assert seen == (on, off, on)


async def test_a_pretended_drives_cache_is_switched_through_unit_attentions(
    workbench: Workbench, scsi_debug: Callable[..., Made], table: Results
) -> None:
    seen = await changed_and_taken_back(workbench, scsi_debug(), "drive_cache", "off", both)
    assert table.setting(
        backend="scsi",
        on="scsi_debug",
        setting="drive_cache",
        before=seen[0],
        after="drive off, kernel off",
        read_back=seen[1],
        undone=seen[2],
    )


class Toolless(LocalHost):
    """This machine without the drive tools."""

    def which(self, names: object) -> str | None:
        found = super().which(list(names))  # type: ignore[call-overload]
        return None if found is not None and found.endswith(("hdparm", "sdparm", "smartctl")) else found


@pytest.mark.parametrize("name", ["sata0", "scsi0"])
async def test_without_tools_the_kernel_switches_the_drives_cache(disks: Disks, table: Results, name: str) -> None:
    disk, backend = disks[name], ScsiBackend(Toolless())
    before = both(disk)
    change = await backend.plan(target(disk.kernel), "drive_cache", "off")
    await backend.apply(change)
    after = both(disk)
    await take_back(backend, change)
    assert table.setting(
        backend="scsi, no tool",
        on=name,
        setting="drive_cache",
        before=before,
        after="drive off, kernel off",
        read_back=after,
        undone=both(disk),
    )


@pytest.mark.parametrize(("name", "value"), [("sata0", "1"), ("scsi0", "7"), ("mega0", "16")])
async def test_a_queue_depth_is_set(workbench: Workbench, disks: Disks, table: Results, name: str, value: str) -> None:
    seen = await changed_and_taken_back(workbench, disks[name], "queue_depth", value, depth)
    assert table.setting(
        backend="scsi", on=name, setting="queue_depth", before=seen[0], after=value, read_back=seen[1], undone=seen[2]
    )


@pytest.mark.parametrize("name", ["sata0", "scsi0", "mega0"])
async def test_the_largest_queue_depth_offered_is_taken(
    workbench: Workbench, disks: Disks, table: Results, name: str
) -> None:
    disk = disks[name]
    span = (await workbench.hardware.read(target(disk.kernel)))["queue_depth"].span
    assert span is not None
    await workbench.changes.apply(await workbench.hardware.plan(target(disk.kernel), "queue_depth", "1"))
    seen = await changed_and_taken_back(workbench, disk, "queue_depth", str(span.maximum), depth)
    (first,) = [one for one in workbench.session.in_force if one.change.after == "1"]
    await workbench.changes.undo(first.intent.id)
    assert table.setting(
        backend="scsi",
        on=name,
        setting="queue_depth, the most that is offered",
        before=seen[0],
        after=str(span.maximum),
        read_back=seen[1],
        undone=seen[2],
    )


BLOCKED = {
    ("sata0", "read_look_ahead"): "the drive does not have this setting",
    ("sata0", "apm"): "the drive does not have this setting",
    ("sata0", "acoustic"): "the drive does not have this setting",
    ("sata0", "read_cache"): "an ATA drive has a switch only for look-ahead, not for its read cache",
    ("scsi0", "read_look_ahead"): "the drive does not allow changing it",
    ("scsi0", "read_cache"): "the drive does not allow changing it",
    ("scsi0", "apm"): "only ATA drives have this setting",
    ("mega0", "drive_cache"): "this is a virtual drive of a RAID controller, which owns the cache",
}
"""What these emulated drives lack."""


@pytest.mark.parametrize(("name", "key"), BLOCKED)
async def test_what_a_drive_lacks_is_blocked_with_the_reason(
    workbench: Workbench, disks: Disks, table: Results, name: str, key: str
) -> None:
    why_not = (await workbench.hardware.read(target(disks[name].kernel)))[key].availability.why_not
    reason = BLOCKED[name, key]
    assert table.setting(
        backend="scsi",
        on=name,
        setting=key,
        before="blocked",
        after="-",
        read_back=why_not,
        undone="-",
        ok=why_not == reason,
    )


async def test_a_cache_switched_behind_the_kernels_back_is_shown_as_two_values(
    workbench: Workbench, disks: Disks, table: Results
) -> None:
    disk = disks["scsi1"]
    run("sdparm", "--set=WCE=0", disk.device)
    reading = (await workbench.hardware.read(target(disk.kernel)))["drive_cache"]
    run("sdparm", "--set=WCE=1", disk.device)
    (disk.sysfs / "device/rescan").write_text("1")
    assert table.setting(
        backend="scsi",
        on="scsi1",
        setting="drive_cache, switched by another program",
        before="on",
        after="off, in force with flushes",
        read_back=f"{reading.now}, in force {reading.effective}",
        undone="on",
        ok=(reading.now, reading.effective, both(disk)) == ("off", "with flushes", "drive on, kernel on"),
    )


async def test_a_kernel_told_to_believe_otherwise_is_shown_as_two_values(
    workbench: Workbench, disks: Disks, table: Results
) -> None:
    disk = disks["sata1"]
    (path,) = (disk.sysfs / "device/scsi_disk").glob("*/cache_type")
    path.write_text("temporary write through")
    reading = (await workbench.hardware.read(target(disk.kernel)))["drive_cache"]
    path.write_text("temporary write back")
    assert table.setting(
        backend="scsi",
        on="sata1",
        setting="drive_cache, the kernel told otherwise",
        before="on",
        after="on, in force without flushes",
        read_back=f"{reading.now}, in force {reading.effective}",
        undone="on",
        ok=(reading.now, reading.effective, both(disk)) == ("on", "without flushes", "drive on, kernel on"),
    )


def appears(disk: Disk) -> None:
    """udev hears of a disk as at boot."""
    run("udevadm", "trigger", "--action=add", f"--name-match={disk.device}")
    run("udevadm", "settle", "--timeout=60")


@pytest.mark.parametrize("name", ["sata2", "scsi2"])
async def test_a_kept_cache_and_queue_depth_are_set_when_the_drive_appears(
    workbench: Workbench, disks: Disks, table: Results, udev: None, name: str
) -> None:
    disk, values = disks[name], {"drive_cache": "off", "queue_depth": "5"}
    appears(disk)  # so that udev knows its serial number
    before = f"{both(disk)}, {depth(disk)}"
    rule = (await workbench.keeping.plan_rules(target(disk.kernel), values))[0].rule
    await workbench.keeping.install_rule(target(disk.kernel), rule, values)
    appears(disk)
    after = f"{both(disk)}, {depth(disk)}"
    without = (await workbench.keeping.plan_rules(target(disk.kernel), {}))[0].rule
    await workbench.keeping.install_rule(target(disk.kernel), without, {})
    for key, value in (("drive_cache", "on"), ("queue_depth", before.rpartition(" ")[2])):
        await workbench.changes.apply(await workbench.hardware.plan(target(disk.kernel), key, value))
    assert not Path(rule.path).exists()
    assert table.setting(
        backend="scsi",
        on=name,
        setting="drive_cache and queue_depth, kept by udev",
        before=before,
        after="drive off, kernel off, 5",
        read_back=after,
        undone=f"{both(disk)}, {depth(disk)}",
    )


@pytest.fixture
async def drives() -> dict[str, Drive]:
    """The drives by kernel name, before other backends' knowledge is joined to them."""
    return {drive.target.address: drive for drive in (await ScsiBackend(LocalHost()).inventory()).drives}


def lsscsi() -> Iterator[tuple[str, str, str, str, str]]:
    """Address, vendor, model, revision and kernel name of every disk, in lsscsi's fixed columns."""
    for line in run("lsscsi", "--brief").splitlines():
        if "/dev/sd" in line:
            address, node = line.split()[0], line.split()[1]
            (detail,) = [row for row in run("lsscsi").splitlines() if row.startswith(address)]
            yield address.strip("[]"), detail[21:30].strip(), detail[30:47].strip(), detail[47:53].strip(), node[5:]


async def test_every_field_is_as_lsscsi_has_it(drives: dict[str, Drive], table: Results) -> None:
    rows = list(lsscsi())
    wrong = []
    for address, maker, product, revision, name in rows:
        drive = drives[name]
        facts = {fact.label: fact.value for fact in drive.facts}
        model = product if maker == "ATA" else f"{maker} {product}"
        if (facts["SCSI address"], drive.model, drive.firmware) != (address, model, revision):
            wrong.append((name, facts["SCSI address"], drive.model, drive.firmware, address, model, revision))
    assert len(rows) == len(drives) > 0
    assert table.add(
        "Machine", "scsi", "address, model and revision as lsscsi has them", f"{len(rows)} disks", ok=not wrong
    )


LSBLK = "KNAME,SIZE,LOG-SEC,PHY-SEC,ROTA,RO,HCTL,REV,MODEL"


async def test_every_field_is_as_lsblk_has_it(drives: dict[str, Drive], table: Results) -> None:
    rows = json.loads(run("lsblk", "--json", "--bytes", "--nodeps", "--output", LSBLK))["blockdevices"]
    disks = [row for row in rows if row["kname"].startswith("sd")]
    wrong = [(row, drives[row["kname"]]) for row in disks if not same(row, drives[row["kname"]])]
    assert len(disks) == len(drives) > 0
    assert table.add("Machine", "scsi", "every field that lsblk has", f"{len(disks)} disks", ok=not wrong), wrong


def same(row: dict[str, str | int | bool], drive: Drive) -> bool:
    """Whether lsblk and raidbench say the same of a disk, as far as both say it."""
    facts = {fact.label: fact.value for fact in drive.facts}
    turns = drive.media is Media.UNKNOWN or row["rota"] is (drive.media is Media.HDD)
    product = str(row["model"]).strip()
    return (
        turns
        and (drive.model or "").endswith(product)
        and (drive.size_bytes, drive.logical_block, drive.physical_block, drive.read_only, facts["SCSI address"])
        == (row["size"], row["log-sec"], row["phy-sec"], row["ro"], row["hctl"])
    )


@pytest.mark.parametrize("name", ["sata0", "sata1", "scsi0", "mega0"])
async def test_a_drive_is_what_it_was_built_as(
    drives: dict[str, Drive], disks: Disks, table: Results, name: str
) -> None:
    wanted = {
        "sata0": ("sata", Media.SSD),
        "sata1": ("sata", Media.HDD),
        "scsi0": ("virtio-scsi", Media.HDD),
        "mega0": ("raid volume", Media.UNKNOWN),
    }
    drive = drives[disks[name].kernel]
    seen = (drive.interface, drive.serial, drive.media)
    ok = (drive.interface, drive.media) == wanted[name] and drive.serial == disks[name].serial
    assert table.add("Machine", name, "interface, serial number, medium", ", ".join(map(str, seen)), ok=ok)


async def test_a_controller_is_the_pci_function_the_disk_hangs_from(drives: dict[str, Drive], table: Results) -> None:
    wrong = []
    for drive in drives.values():
        folders = [
            path for path in Path(f"/sys/block/{drive.target.address}").resolve().parents if (path / "vendor").exists()
        ]
        functions = [path.name for path in folders if (path / "class").exists()]
        own = drive.controller.address if drive.controller is not None else None
        if own != (functions[0] if functions else None):
            wrong.append((drive.target, own, functions))
    assert table.add("Machine", "scsi", "PCI function", "that of the adapter", ok=not wrong), wrong
