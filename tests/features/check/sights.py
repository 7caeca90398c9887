"""Machines with one fault each, and the same just inside its limit."""

from __future__ import annotations

from typing import Any

from app.features.check.snapshot import BlockDevice, PciSlot, SystemSnapshot
from backends.identity import Identity
from backends.model import (
    UNRECOVERABLE,
    Array,
    Controller,
    Drive,
    Fact,
    Health,
    Inventory,
    Level,
    Media,
    Protection,
    Scope,
    State,
    Target,
    Task,
)
from backends.pci import Link
from backends.settings import Choice, Reading, Span
from backends.topology.mounts import Mount

CARD = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
VOLUME = Target(backend="megaraid", address="/c0/v0", scope=Scope.ARRAY)
DISK = Target(backend="block", address="sda")
MEMBERS = tuple(Target(backend="megaraid", address=f"/c0/e1/s{n}") for n in range(4))
K, M = 1 << 10, 1 << 20


def card(**more: Any) -> Controller:
    good = {"pci": "0000:03:00.0", "protection": Protection(kind="bbu", state="optimal")}
    return Controller(target=CARD, vendor="megaraid", **{**good, **more})


def volume(**more: Any) -> Array:
    good = {"controller": CARD, "level": Level.RAID5, "state": State.OPTIMAL, "strip_bytes": 64 * K, "data_drives": 3}
    return Array(target=VOLUME, **{**good, "device": "/dev/sda", "members": MEMBERS, **more})


def members(**more: Any) -> tuple[Drive, ...]:
    good = {"controller": CARD, "array": VOLUME, "media": Media.HDD, "state": State.ONLINE, "physical_block": 4096}
    return tuple(Drive(target=target, **{**good, **more}) for target in MEMBERS)


def disk(**more: Any) -> Drive:
    good = {
        "device": "/dev/sda",
        "media": Media.HDD,
        "interface": "sata",
        "state": State.ONLINE,
        "physical_block": 4096,
    }
    return Drive(**{"target": DISK, **good, **more})


def fact(label: str, value: str) -> tuple[Fact, ...]:
    return (Fact(label=label, value=value),)


def on(target: Target, **values: str | Reading) -> dict[Target, dict[str, Reading]]:
    """What is set on a target."""
    return {target: {key: one if isinstance(one, Reading) else Reading(now=one) for key, one in values.items()}}


def two_disks(first: str, second: str) -> SystemSnapshot:
    """Two disks of one WWN with these serial numbers."""
    names = zip(("sda", "sdb"), (first, second), strict=True)
    return SystemSnapshot(
        inventory=Inventory(
            drives=tuple(
                disk(
                    target=Target(backend="block", address=name),
                    device=f"/dev/{name}",
                    wwn="naa.5",
                    serial=serial,
                    identity=Identity(name=name, wwn="naa.5", serial=serial),
                )
                for name, serial in names
            )
        )
    )


def array_of(
    *,
    controller: Controller | None = None,
    array: Array | None = None,
    drives: tuple[Drive, ...] | None = None,
    **more: Any,
) -> SystemSnapshot:
    """A card with one volume, which the kernel has as sda."""
    inventory = Inventory(
        controllers=(controller or card(),),
        arrays=(array or volume(),),
        drives=(*(members() if drives is None else drives), disk(interface="raid volume")),
    )
    return SystemSnapshot(**{"inventory": inventory, "blocks": {"sda": BlockDevice(name="sda")}, "cores": 8, **more})


def disk_of(drive: Drive | None = None, /, **more: Any) -> SystemSnapshot:
    """One disk at the kernel."""
    return SystemSnapshot(
        **{
            "inventory": Inventory(drives=(drive or disk(),)),
            "blocks": {"sda": BlockDevice(name="sda")},
            "cores": 8,
            **more,
        }
    )


def ill(**health: Any) -> SystemSnapshot:
    """One disk at the kernel that reports this of its health."""
    return disk_of(disk(health=Health(**health)))


def slot(now: str = "8.0 GT/s", lanes: int = 8, port_lanes: int | None = 8, **more: Any) -> dict[str, PciSlot]:
    link = Link(speed=now, width=lanes, max_speed="8.0 GT/s", max_width=8)
    port = Link(max_speed="8.0 GT/s", max_width=port_lanes) if port_lanes else Link()
    return {"0000:03:00.0": PciSlot(link=link, port=port, **more)}


def irqs(*cpus: int) -> dict[str, frozenset[int]]:
    return {str(30 + at): frozenset({cpu}) for at, cpu in enumerate(cpus)}


def begins(at: int) -> SystemSnapshot:
    return array_of(blocks={"sda": BlockDevice(name="sda", parts={"sda1": at})})


def mounted(*options: str, fstype: str = "xfs", source: str = "/dev/sda") -> tuple[Mount, ...]:
    return (Mount(devno="8:0", point="/srv", fstype=fstype, source=source, options=options),)


def pool(**values: str) -> SystemSnapshot:
    """A RAID-Z of three disks with a volume."""
    own = Target(backend="zfs", address="tank", scope=Scope.ARRAY)
    zvol = Target(backend="zfs", address="tank/vm", scope=Scope.ARRAY)
    targets = tuple(Target(backend="block", address=f"sd{one}") for one in "abc")
    inventory = Inventory(
        arrays=(
            Array(target=own, level=Level.RAIDZ1, state=State.OPTIMAL, members=targets),
            Array(target=zvol, level=Level.ZVOL, state=State.OPTIMAL),
        ),
        drives=tuple(Drive(target=one, physical_block=4096) for one in targets),
    )
    return SystemSnapshot(
        inventory=inventory, readings=on(own, ashift=values["ashift"]) | on(zvol, volblocksize=values["block"])
    )


def stacked(own: str, **lower: str) -> SystemSnapshot:
    """md0 of some disks, with what each says of TRIM."""
    path = "queue/discard_max_bytes"
    below = {name: BlockDevice(name=name, attributes={path: text} if text else {}) for name, text in lower.items()}
    return SystemSnapshot(blocks={"md0": BlockDevice(name="md0", attributes={path: own}, below=tuple(lower)), **below})


def paths(*states: str) -> SystemSnapshot:
    below = {f"sd{at}": BlockDevice(name=f"sd{at}", attributes={"device/state": one}) for at, one in enumerate(states)}
    names = {"dm/uuid": "mpath-3600", "dm/name": "mpatha"}
    return SystemSnapshot(blocks={"dm-0": BlockDevice(name="dm-0", attributes=names, below=tuple(below)), **below})


def virtual(queues: int) -> SystemSnapshot:
    return SystemSnapshot(blocks={"vda": BlockDevice(name="vda", driver="virtio_blk", queues=queues)}, cores=4)


def formats(now: str) -> SystemSnapshot:
    choices = (Choice(value="512", label="512 bytes, good"), Choice(value="4096", label="4096 bytes, best"))
    return disk_of(readings=on(DISK, lba_format=Reading(now=now, choices=choices)))


def queue(**values: str) -> SystemSnapshot:
    return array_of(readings=on(DISK, **values))


def attributes(name: str, **values: str) -> SystemSnapshot:
    """Return a machine whose kernel has one disk with these files; `__` in a key is a `/` of the path."""
    files = {key.replace("__", "/"): text for key, text in values.items()}
    return SystemSnapshot(blocks={name: BlockDevice(name=name, attributes=files)})


def md(*facts: Fact, **more: Any) -> SystemSnapshot:
    """Return a machine with an md mirror of two disks of 1 TiB."""
    target = Target(backend="md", address="md0", scope=Scope.ARRAY)
    good = {"level": Level.RAID1, "state": State.OPTIMAL, "size_bytes": 1 << 40, "data_drives": 1, "device": "/dev/md0"}
    readings = more.pop("readings", {})
    blocks = {"md0": BlockDevice(name="md0")}
    array = Array(target=target, facts=facts, **{**good, **more})
    return SystemSnapshot(inventory=Inventory(arrays=(array,)), readings={target: readings}, blocks=blocks)


def tank(*facts: Fact, sync: str = "inherit") -> SystemSnapshot:
    """Return a machine with one ZFS pool."""
    target = Target(backend="zfs", address="tank", scope=Scope.ARRAY)
    return SystemSnapshot(
        inventory=Inventory(arrays=(Array(target=target, facts=facts),)), readings=on(target, sync=sync)
    )


def group(*facts: Fact) -> SystemSnapshot:
    """Return a machine with a logical volume."""
    target = Target(backend="lvm", address="vg0/db", scope=Scope.ARRAY)
    return SystemSnapshot(inventory=Inventory(arrays=(Array(target=target, facts=facts),)))


def linked(*links: tuple[str, str], **more: Any) -> SystemSnapshot:
    """Return a card with drives of one model, by the speed of their links and what the drives can do."""
    return array_of(
        drives=tuple(
            Drive(
                target=target,
                controller=CARD,
                model="SSD 1",
                **{"media": Media.SSD, "interface": "sata", **more},
                facts=(*fact("Link", now), *fact("Link limit", most)),
            )
            for target, (now, most) in zip(MEMBERS, links, strict=False)
        )
    )


def firmwares(*pairs: tuple[str, str]) -> SystemSnapshot:
    """Return an array whose members have these models and firmware."""
    found = zip(MEMBERS, pairs, strict=False)
    return array_of(
        drives=tuple(Drive(target=target, model=model, firmware=version) for target, (model, version) in found)
    )


def rebuild(**more: Any) -> SystemSnapshot:
    return array_of(array=volume(tasks=(Task(**{"kind": "rebuild", "progress": 0.3, **more}),)))


BITMAP_OFF = (*fact("Consistency policy", "resync"), *fact("Bitmap", "none"))
FLASH = members(media=Media.SSD)
SPARE_LEFT = fact("Spare", "11 % (warns at 10 %)")
KIB = Span(minimum=0, maximum=1 << 20)

CASES: dict[str, tuple[SystemSnapshot, SystemSnapshot]] = {
    "array-degraded": (array_of(array=volume(state=State.DEGRADED)), array_of(array=volume(state=State.OPTIMAL))),
    "drive-failed": (disk_of(disk(state=State.FAILED)), disk_of(disk(state=State.SPARE))),
    "drive-failing": (ill(predicts_failure=True), ill(predicts_failure=False, predictive_errors=0)),
    "drive-warns": (disk_of(disk(facts=fact("Warning", "spare capacity low"))), disk_of(disk(facts=()))),
    "array-blocks-lost": (
        array_of(array=volume(facts=fact(UNRECOVERABLE, "Detected"))),
        array_of(array=volume(facts=fact(UNRECOVERABLE, "None"))),
    ),
    "battery-failed": (
        array_of(controller=card(protection=Protection(kind="bbu", state="failed"))),
        array_of(controller=card(protection=Protection(kind="none", state="missing"))),
    ),
    "flushes-off": (
        disk_of(readings=on(DISK, drive_cache=Reading(now="on", effective="without flushes"))),
        disk_of(
            disk(interface="fibre channel"),
            readings=on(DISK, drive_cache=Reading(now="on", effective="without flushes")),
        ),
    ),
    "barriers-off": (disk_of(mounts=mounted("nobarrier")), disk_of(mounts=mounted("barrier"))),
    "policy-not-in-force": (
        array_of(readings=on(VOLUME, write_cache=Reading(now="write-back", effective="write-through"))),
        array_of(readings=on(VOLUME, write_cache=Reading(now="inherit", effective="write-through", follows=True))),
    ),
    "battery-replace": (
        array_of(controller=card(facts=fact("battery: Replacement required", "Yes"))),
        array_of(controller=card(facts=fact("battery: Replacement required", "No"))),
    ),
    "drive-cache-unprotected": (
        array_of(
            controller=card(protection=Protection(kind="none", state="missing")), readings=on(VOLUME, drive_cache="on")
        ),
        array_of(readings=on(VOLUME, drive_cache="on")),
    ),
    "drive-unusable": (
        disk_of(disk(facts=fact("Unusable", "sector size 520: must be reformatted"))),
        disk_of(disk(facts=fact("Rotation", "7200 rpm"))),
    ),
    "wwn-shared": (two_disks("S1", "S2"), two_disks("S1", "S1")),
    "drive-locked": (ill(locked=True), ill(locked=False)),
    "drive-foreign": (disk_of(disk(state=State.FOREIGN)), disk_of(disk(state=State.UNASSIGNED))),
    "drive-errors": (ill(media_errors=1), ill(media_errors=0)),
    "drive-other-errors": (ill(other_errors=100), ill(other_errors=99)),
    "drive-worn": (ill(wear_percent=80.0), disk_of(disk(health=Health(wear_percent=79.9), facts=SPARE_LEFT))),
    "drive-hot": (
        ill(temperature=77.0, temperature_limit=77.0),
        ill(temperature=76.0, temperature_limit=77.0),
    ),
    "array-mismatches": (
        array_of(array=volume(facts=fact("Mismatches", "128 sectors at the last check or resync"))),
        array_of(array=volume(facts=fact("Array state", "clean"))),
    ),
    "pool-filling": (
        array_of(array=volume(facts=fact("Full", "80 %"))),
        array_of(array=volume(facts=fact("Full", "79 %"))),
    ),
    "pcie-link-slow": (array_of(slots=slot(lanes=4)), array_of(slots=slot(lanes=4, port_lanes=4))),
    "irq-one-cpu": (array_of(slots=slot(interrupts=irqs(0, 0))), array_of(slots=slot(interrupts=irqs(0, 1)))),
    "irq-far": (
        array_of(slots=slot(node=1, interrupts=irqs(0, 1)), nodes={0: frozenset({0, 1}), 1: frozenset({2, 3})}),
        array_of(slots=slot(node=1, interrupts=irqs(1, 2)), nodes={0: frozenset({0, 1}), 1: frozenset({2, 3})}),
    ),
    "misaligned": (begins(63 * 512), begins(M)),
    "stack-misaligned": (
        disk_of(blocks={"sda": BlockDevice(name="sda", attributes={"alignment_offset": "-1"})}),
        disk_of(blocks={"sda": BlockDevice(name="sda", attributes={"alignment_offset": "0"})}),
    ),
    "fs-stripe-other": (
        array_of(mounts=mounted("sunit=128", "swidth=256")),
        array_of(mounts=mounted("sunit=128", "swidth=384")),
    ),
    "ashift-small": (pool(ashift="9", block="131072"), pool(ashift="12", block="131072")),
    "sector-format-slow": (formats("512"), formats("4096")),
    "scheduler-unfit": (
        disk_of(disk(media=Media.SSD), readings=on(DISK, scheduler="bfq")),
        disk_of(disk(media=Media.HDD), readings=on(DISK, scheduler="bfq")),
    ),
    "queue-smaller": (
        disk_of(
            blocks={"sda": BlockDevice(name="sda", attributes={"device/queue_depth": "32"})},
            readings=on(DISK, nr_requests="31"),
        ),
        disk_of(
            blocks={"sda": BlockDevice(name="sda", attributes={"device/queue_depth": "32"})},
            readings=on(DISK, nr_requests="32"),
        ),
    ),
    "no-queueing": (disk_of(readings=on(DISK, queue_depth="1")), disk_of(readings=on(DISK, queue_depth="2"))),
    "trim-lost": (stacked("0", sda="2147450880", sdb="4096"), stacked("0", sda="2147450880", sdb="0")),
    "cache-dirty": (
        array_of(array=volume(facts=fact("Cache blocks", "100 of 100 used, 75 not yet on the slow part"))),
        array_of(array=volume(facts=fact("Cache blocks", "100 of 100 used, 74 not yet on the slow part"))),
    ),
    "cache-bypassed": (
        array_of(readings=on(VOLUME, cache_mode="none")),
        array_of(readings=on(VOLUME, cache_mode="write-around")),
    ),
    "one-path": (paths("running"), paths("running", "running")),
    "path-dead": (paths("running", "offline"), paths("running", "running")),
    "sync-off": (tank(sync="disabled"), tank(sync="always")),
    "pool-data-errors": (
        tank(*fact("Errors", "3 data errors, use '-v' for a list")),
        tank(*fact("Errors", "No known data errors")),
    ),
    "group-incomplete": (group(*fact("Missing physical volumes", "1 of the group vg0")), group()),
    "filesystem-errors": (SystemSnapshot(filesystem_errors={"sda1": 1}), SystemSnapshot(filesystem_errors={})),
    "nvme-down": (SystemSnapshot(nvme_states={"nvme0": "dead"}), SystemSnapshot(nvme_states={"nvme0": "live"})),
    "card-memory-errors": (
        array_of(controller=card(facts=fact("Memory errors", "2 uncorrectable"))),
        array_of(controller=card(facts=fact("Memory errors", "0 uncorrectable"))),
    ),
    "rebuild-paused": (rebuild(paused=True), rebuild(kind="consistency-check", paused=True)),
    "card-hot": (
        array_of(controller=card(facts=fact("RAID-on-chip", "100 °C"))),
        array_of(controller=card(facts=fact("RAID-on-chip", "99 °C"))),
    ),
    "battery-hot": (
        array_of(controller=card(facts=fact("CacheVault", "Optimal, 60 °C, next learn cycle 2026/12/09"))),
        array_of(controller=card(facts=fact("CacheVault", "Optimal, 59 °C, next learn cycle 2026/12/09"))),
    ),
    "write-throttled": (
        disk_of(disk(facts=fact("Write throttling", "Temperature"))),
        disk_of(disk(facts=fact("Temperature", "51 °C"))),
    ),
    "pool-errors": (
        tank(*fact("Device", "/dev/sda1 online, 7 checksum errors")),
        tank(*fact("Device", "/dev/sda1 online (was resilvered)")),
    ),
    "md-member-errors": (
        md(*fact("Member 0", "/dev/sda, in sync, has seen a write error")),
        md(*fact("Member 0", "/dev/sda, in sync, write-mostly, 3 corrected read errors")),
    ),
    "array-read-only": (
        md(*fact("Array state", "read-only")),
        md(*fact("Array state", "read-only until the first write")),
    ),
    "md-no-bitmap": (md(*BITMAP_OFF), md(*BITMAP_OFF, size_bytes=(100 << 30) - 1)),
    "md-resync-slow": (
        md(readings={"sync_speed_max": Reading(now="9999")}),
        md(readings={"sync_speed_max": Reading(now="10000")}),
    ),
    "drive-link-slow": (
        linked(("3.0Gb/s", "6.0Gb/s"), ("6.0Gb/s", "6.0Gb/s")),
        linked(("3.0Gb/s", "6.0Gb/s"), ("6.0Gb/s", "6.0Gb/s"), media=Media.HDD),
    ),
    "queue-tiny": (attributes("nvme0n1", queue__nr_requests="30"), attributes("nvme0n1", queue__nr_requests="31")),
    "requests-small": (
        attributes("sda", queue__max_sectors_kb="127", queue__max_hw_sectors_kb="1024"),
        attributes("sda", queue__max_sectors_kb="64", queue__max_hw_sectors_kb="64"),
    ),
    "merges-off": (
        disk_of(readings=on(DISK, nomerges="2")),
        disk_of(disk(media=Media.SSD), readings=on(DISK, nomerges="2")),
    ),
    "firmware-mixed": (firmwares(("A", "1"), ("A", "2")), firmwares(("A", "1"), ("B", "2"))),
    "background-task": (array_of(array=volume(tasks=(Task(kind="rebuild", progress=0.5),))), array_of()),
    "battery-learning": (
        array_of(controller=card(protection=Protection(kind="bbu", state="learning"))),
        array_of(controller=card(protection=Protection(kind="bbu", state="optimal"))),
    ),
    "writes-always-cached": (
        array_of(readings=on(VOLUME, write_cache="always-write-back")),
        array_of(readings=on(VOLUME, write_cache="write-back")),
    ),
    "drive-throttled": (disk_of(disk(facts=fact("Throttled", "3 times heavily"))), disk_of(disk(facts=()))),
    "stripe-misaligned": (begins(M), begins(3 * M)),
    "fs-stripe-unset": (
        array_of(mounts=mounted("rw")),
        array_of(array=volume(level=Level.RAID10), mounts=mounted("rw")),
    ),
    "volblocksize-small": (pool(ashift="12", block="4096"), pool(ashift="12", block="8192")),
    "md-bitmap-fine": (
        array_of(array=volume(facts=fact("Bitmap", "internal, 0/8 pages [0KB], 4096KB chunk"))),
        array_of(array=volume(facts=fact("Bitmap", "internal, 0/8 pages [0KB], 65536KB chunk"))),
    ),
    "md-stripe-cache": (
        array_of(readings=on(VOLUME, stripe_cache_size="256")),
        array_of(readings=on(VOLUME, stripe_cache_size="512")),
    ),
    "md-journal-through": (
        array_of(readings=on(VOLUME, journal_mode="write-through")),
        array_of(readings=on(VOLUME, journal_mode="write-back")),
    ),
    "drive-copyback": (ill(copyback=True), ill(copyback=False)),
    "rebuild-rate-high": (
        array_of(readings=on(CARD, rebuild_rate="51")),
        array_of(readings=on(CARD, rebuild_rate="50")),
    ),
    "read-ahead-small": (queue(read_ahead_kb="128"), queue(read_ahead_kb="192")),
    "read-ahead-large": (
        array_of(drives=FLASH, readings=on(DISK, read_ahead_kb="4096")),
        array_of(drives=FLASH, readings=on(DISK, read_ahead_kb="4095")),
    ),
    "card-read-ahead": (
        array_of(drives=FLASH, readings=on(VOLUME, read_ahead="adaptive")),
        array_of(readings=on(VOLUME, read_ahead="adaptive")),
    ),
    "one-queue": (virtual(1), virtual(2)),
    "power-state": (disk_of(readings=on(DISK, power_state="1")), disk_of(readings=on(DISK, power_state="0"))),
    "governor": (
        SystemSnapshot(governors={"performance": 7, "powersave": 1}),
        SystemSnapshot(governors={"performance": 8}),
    ),
    "io-capped": (
        SystemSnapshot(caps={"/sys/fs/cgroup/vm/io.max": "8:0 rbps=max wbps=max riops=500 wiops=max"}),
        SystemSnapshot(caps={"/sys/fs/cgroup/vm/io.max": "8:0 rbps=max wbps=max riops=max wiops=max"}),
    ),
    "discard-twice": (
        disk_of(mounts=mounted("discard"), trim_timer=True),
        disk_of(mounts=mounted("discard")),
    ),
    "path-policy": (
        SystemSnapshot(policies={"nvme-subsys0": ("numa", 2)}),
        SystemSnapshot(policies={"nvme-subsys0": ("numa", 1)}),
    ),
}
"""By the id of a rule: the fault, and the near miss."""

UNTOLD: dict[str, SystemSnapshot] = {
    "pcie-link-slow": array_of(slots=slot(lanes=4, port_lanes=None)),
    "irq-far": array_of(slots=slot(node=1), nodes={0: frozenset({0}), 1: frozenset({1})}),
    "battery-failed": array_of(controller=card(protection=Protection(kind="bbu", state="unknown"))),
    "drive-cache-unprotected": array_of(
        controller=card(protection=None), readings=on(VOLUME, drive_cache="on", write_cache="write-back")
    ),
    "stripe-misaligned": array_of(
        array=volume(strip_bytes=None),
        blocks={"sda": BlockDevice(name="sda", parts={"sda1": M})},
    ),
    "ashift-small": SystemSnapshot(
        inventory=Inventory(arrays=(Array(target=VOLUME, level=Level.RAIDZ1),)), readings=on(VOLUME, ashift="9")
    ),
    "trim-lost": stacked("0", sda="4096", sdb=""),
    "pool-data-errors": tank(*fact("Errors", "List of errors unavailable: permission denied")),
    "drive-link-slow": linked(("3.0Gb/s", "6.0Gb/s")),
}
"""By the id of a rule: a machine that does not tell what it would be judged by."""
