"""Rules about md, ZFS, LVM, filesystems and the limits of the kernel's queues."""

from __future__ import annotations

import re

from app.features.check.finding import FAULT, WARN, Finding, RuleOutput, UnknownResult, rule
from app.features.check.snapshot import SystemSnapshot, fact
from backends.model import BROKEN, Fact, Level, Media
from backends.sizes import exact_text
from backends.topology import kernel_name

_MIRRORED = (Level.RAID1, Level.RAID4, Level.RAID5, Level.RAID6, Level.RAID10)

BITMAP_FROM = 100 << 30
"""Size of a member in bytes from which mdadm creates a bitmap automatically (mdadm(8), --bitmap)."""

SLOW_RESYNC = 10_000
"""Speed in KiB/s per member below which a resync of one terabyte takes longer than a day."""

LEAST_REQUEST_KIB = 128
"""Smallest acceptable limit for request sizes in KiB, unless the device accepts less.

The kernel default is 1280 (BLK_DEF_MAX_SECTORS).
"""

LEAST_REQUESTS = 31
"""Smallest acceptable queue of an NVMe drive, multipath device or virtual disk, unless the device accepts less.

It is the smallest default of all their drivers (EBS volumes, io_queue_depth).
"""

_COUNT = re.compile(r"\S+ (?:read|write|checksum) errors")


@rule(WARN, "md-no-bitmap", "a large md array has no write-intent bitmap", "mdadm(8), --bitmap")
def missing_bitmaps(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield large md arrays without a bitmap, which resync completely after a crash."""
    for array in snapshot.inventory.arrays:
        if array.target.backend != "md" or array.level not in _MIRRORED or fact(array, "Bitmap") != "none":
            continue
        policy = fact(array, "Consistency policy")
        if policy not in (None, "resync") or (fact(array, "Metadata") or "").startswith("external"):
            continue
        member = (array.size_bytes or 0) // (array.data_drives or 1)
        if member >= BITMAP_FROM:
            yield Finding(
                where=str(array.target),
                message="The array has no write-intent bitmap. After a crash it resyncs all"
                f" {exact_text(member) if member % (1 << 30) == 0 else f'{member >> 30} GiB'} of each"
                " member.",
                evidence=f"Bitmap: none; Consistency policy: {policy or 'not reported'}",
                do="Set bitmap to internal.",
                staged=snapshot.staged(array.target, "bitmap", "internal"),
            )


@rule(
    WARN,
    "md-resync-slow",
    "md limits a rebuild to less than 10 MB/s",
    "Documentation/admin-guide/md.rst, sync_speed_max",
)
def slow_resync(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield md arrays whose rebuild speed is limited to less than `SLOW_RESYNC`."""
    for array in snapshot.inventory.arrays:
        text = snapshot.now(array.target, "sync_speed_max") or ""
        is_own_limit = text.isascii() and text.isdigit()
        limit = int(text) if is_own_limit else snapshot.resync_limit if text == "system" else None
        if limit is not None and limit < SLOW_RESYNC and array.level in _MIRRORED:
            file = "md/sync_speed_max" if is_own_limit else "/proc/sys/dev/raid/speed_limit_max"
            yield Finding(
                where=str(array.target),
                message=f"A rebuild or resync is limited to {limit} KiB/s. One terabyte takes"
                f" {10**9 / max(limit, 1) / 86400:.0f} days.",
                evidence=f"{file}: {limit}",
                do="Set sync_speed_max to system." if is_own_limit else f"Write 200000 to {file}.",
                staged=snapshot.staged(array.target, "sync_speed_max", "system") if is_own_limit else None,
            )


@rule(
    WARN,
    "md-member-errors",
    "a member of md has bad blocks or write errors",
    "Documentation/admin-guide/md.rst, bad_blocks",
)
def member_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield md arrays with a failed member or spare, or with a member that has bad blocks or write errors."""
    for array in snapshot.inventory.arrays:
        if array.target.backend != "md":
            continue
        is_complete = array.state not in BROKEN
        parts = [f"{fact.label}: {fact.value}" for fact in array.facts if _has_errors(fact, is_complete=is_complete)]
        block = snapshot.block_of(array)
        attributes = block.attributes if block is not None else {}
        parts += [
            f"{path}: {text}"
            for path, text in attributes.items()
            if path.startswith("md/dev-") and path.endswith("/bad_blocks") and text.strip()
        ]
        if parts:
            yield Finding(
                where=str(array.target),
                message="A member or spare has failed, or has bad blocks or write errors. It does not protect the"
                " data.",
                evidence="; ".join(parts[:4]),
                do="Replace the member: `mdadm --replace`.",
            )


def _has_errors(line: Fact, *, is_complete: bool) -> bool:
    """Return whether a fact reports a bad member. Failed ones of an incomplete array are left to `array_state`."""
    is_marked = any(literal in line.value for literal in ("has seen a write error", "to be replaced"))
    return (line.label.startswith("Member ") and is_marked) or (line.label.startswith("Failed ") and is_complete)


@rule(WARN, "array-read-only", "an array is read-only", "mdadm(8), --readonly; the controller's tool")
def read_only_arrays(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays that are set to read-only or blocked."""
    for array in snapshot.inventory.arrays:
        state, access = fact(array, "Array state") or "", fact(array, "Access") or ""
        if state.partition(",")[0] == "read-only":
            evidence = f"Array state: {state}"
        elif access in ("read-only", "blocked"):
            evidence = f"Access: {access}"
        else:
            continue
        yield Finding(
            where=str(array.target),
            message="The array is read-only: its access is set to read-only or blocked.",
            evidence=evidence,
            do="If this is not intended, make the array writable: `mdadm --readwrite`, or the access policy in the"
            " controller's tool.",
        )


@rule(FAULT, "sync-off", "ZFS does not wait for synchronous writes", "zfsprops(7), sync")
def unsynced_pools(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield pools, filesystems and volumes of ZFS that do not wait for synchronous writes."""
    for array in snapshot.inventory.arrays:
        if array.target.backend == "zfs" and snapshot.now(array.target, "sync") == "disabled":
            yield Finding(
                where=str(array.target),
                message="ZFS does not wait for synchronous writes. A power loss loses synced data.",
                evidence="sync disabled",
                do="Set sync to standard.",
                staged=snapshot.staged(array.target, "sync", "standard"),
            )


@rule(WARN, "pool-errors", "devices of a ZFS pool report errors", "zpool-status(8), READ, WRITE, CKSUM")
def pool_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield ZFS pools whose devices report errors."""
    for array in snapshot.inventory.arrays:
        if array.target.backend != "zfs":
            continue
        lines = [fact.value for fact in array.facts if fact.label.lower().endswith(("device", "group", "spare"))]
        error_lines = [line for line in lines if _COUNT.search(line)]
        if error_lines:
            yield Finding(
                where=str(array.target),
                message="Devices of the pool report read, write or checksum errors.",
                evidence="; ".join(error_lines[:4]),
                do="Check the drive and its cable. Run `zpool scrub`, then `zpool clear`.",
            )


@rule(FAULT, "pool-data-errors", "a ZFS pool has lost data", "zpool-status(8), errors; zed(8)")
def lost_pool_data(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield ZFS pools that have lost data."""
    for array in snapshot.inventory.arrays:
        text = fact(array, "Errors") if array.target.backend == "zfs" else None
        if text is None or text.lower().startswith("no known data errors"):
            continue
        if "unavailable" in text:
            why = f"the pool does not report whether it has lost data: {text.rstrip('.')}"
            yield UnknownResult(where=str(array.target), why=why)
            continue
        yield Finding(
            where=str(array.target),
            message="The pool has lost data. Some blocks cannot be read from any copy.",
            evidence=f"errors: {text}",
            do="List the affected files with `zpool status -v`, and restore them from a backup.",
        )


@rule(FAULT, "group-incomplete", "a volume group lacks a physical volume", "lvs(8), vg_missing_pv_count")
def incomplete_groups(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield LVM volume groups with a missing physical volume."""
    groups: dict[str, str] = {}
    for array in snapshot.inventory.arrays:
        text = fact(array, "Missing physical volumes") if array.target.backend == "lvm" else None
        if text is not None:
            groups.setdefault(array.target.address.partition("/")[0], text)
    for name, text in groups.items():
        yield Finding(
            where=name,
            message="A physical volume is missing. Logical volumes on it are lost or lack redundancy, and LVM"
            " refuses most changes.",
            evidence=f"Missing physical volumes: {text}",
            do="Reconnect the disk, or replace it: `vgextend`, `lvconvert --repair`, `vgreduce --removemissing`.",
        )


@rule(
    FAULT, "filesystem-errors", "a filesystem reports errors", "Documentation/ABI/testing/sysfs-fs-ext4, errors_count"
)
def filesystem_errors(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield filesystems that have counted errors."""
    for name, count in snapshot.filesystem_errors.items():
        mounted = next((mount for mount in snapshot.mounts if kernel_name(mount.source) == name), None)
        yield Finding(
            where=name if mounted is None else mounted.where(),
            message=f"The filesystem reports {count} errors since its last check.",
            evidence=f"/sys/fs: {name}: {count}",
            do="Check the filesystem. ext4: unmount it and run `e2fsck -f`. btrfs: run `btrfs scrub`.",
        )


@rule(FAULT, "nvme-down", "an NVMe controller or path is not live", "drivers/nvme/host/sysfs.c, state")
def nvme_not_live(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield NVMe controllers and paths that are not live, so that they serve no I/O."""
    for name, state in snapshot.nvme_states.items():
        if state != "live":
            yield Finding(
                where=f"nvme:{name}",
                message=f"The NVMe controller is {state} and serves no I/O.",
                evidence=f"/sys/class/nvme/{name}/state: {state}",
                do="Find the cause with `dmesg`. Try `nvme reset` or a power cycle.",
            )


@rule(
    WARN,
    "queue-tiny",
    "an NVMe, multipath or virtual disk has a small queue",
    "Documentation/ABI/stable/sysfs-block, nr_requests",
)
def few_requests(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield NVMe drives, multipath devices and virtual disks with a small queue."""
    for block in snapshot.blocks.values():
        multipath = block.attributes.get("dm/uuid", "").startswith("mpath-")
        count = block.number("queue/nr_requests")
        if count is None or not (multipath or block.name.startswith(("nvme", "vd"))):
            continue
        if block.number("device/queue_depth") is not None and not multipath:
            continue  # `queue_rules.small_queue` checks devices that report a queue depth
        paths = [
            snapshot.blocks[name].number("device/queue_depth") or 0 for name in block.below if name in snapshot.blocks
        ]
        least = min(
            LEAST_REQUESTS, block.number("device/sqsize") or LEAST_REQUESTS, max(paths, default=0) or LEAST_REQUESTS
        )
        if count < least:
            target = next(
                (drive.target for drive in snapshot.inventory.drives if str(drive.target) == f"block:{block.name}"),
                None,
            )
            yield Finding(
                where=str(target) if target is not None else block.attributes.get("dm/name", block.name),
                message=f"The kernel queues only {count} requests. The device queue is never full.",
                evidence=f"queue/nr_requests: {count}",
                do="Raise nr_requests. The kernel default is 128 or more.",
                staged=None if target is None else snapshot.staged(target, "nr_requests", "128"),
            )


@rule(
    WARN, "requests-small", "I/Os are split into small requests", "Documentation/ABI/stable/sysfs-block, max_sectors_kb"
)
def small_requests(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield disks whose I/Os are split into small requests."""
    for block in snapshot.blocks.values():
        size, most = block.number("queue/max_sectors_kb"), block.number("queue/max_hw_sectors_kb")
        if size is None or most is None or size >= min(LEAST_REQUEST_KIB, most):
            continue
        target = next(
            (drive.target for drive in snapshot.inventory.drives if str(drive.target) == f"block:{block.name}"), None
        )
        wanted = str(min(1280, most))
        yield Finding(
            where=str(target) if target is not None else block.name,
            message=f"Larger I/Os are split into requests of {exact_text(size << 10)}. The device accepts"
            f" {exact_text(most << 10)}.",
            evidence=f"queue/max_sectors_kb: {size}, queue/max_hw_sectors_kb: {most}",
            do=f"Set max_sectors_kb to {wanted}.",
            staged=None if target is None else snapshot.staged(target, "max_sectors_kb", wanted),
        )


@rule(WARN, "merges-off", "I/Os to a hard disk are not merged", "Documentation/ABI/stable/sysfs-block, nomerges")
def missing_merges(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield hard disks for which adjacent I/Os are not merged.

    Only `sd` disks are checked: ZFS switches merging off for its volumes, and for md arrays the members merge.
    """
    for device in snapshot.things():
        target = snapshot.queue_of(device)
        spins = any(snapshot.media(view) is Media.HDD for view in (device, *snapshot.views(device)))
        if target.address.startswith("sd") and snapshot.now(target, "nomerges") == "2" and spins:
            yield Finding(
                where=str(target),
                message="Adjacent I/Os are not merged. A hard disk gets many small requests instead of one large"
                " request.",
                evidence="queue/nomerges: 2",
                do="Set nomerges to 0.",
                staged=snapshot.staged(target, "nomerges", "0"),
            )
