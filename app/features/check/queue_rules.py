"""Rules about the kernel's queues, multipath devices, TRIM and caches."""

from __future__ import annotations

import re

from app.features.advice.condition_rules import PERFORMANCE
from app.features.check.finding import FAULT, NOTE, WARN, Finding, RuleOutput, UnknownResult, rule
from app.features.check.snapshot import SystemSnapshot, alignment_of, fact
from backends.model import Array, Media
from backends.sizes import exact_text
from widgets.text_utils import units

FLASH = (Media.SSD, Media.NVME)

_READING_AHEAD = ("read-ahead", "adaptive", "always", "on")
"""Values of `read_ahead` with which a controller reads ahead."""

_DIRTY = re.compile(r"(\d+) of (\d+) used, (\d+) not yet on the slow part")
_USED = re.compile(r"(\d+) of (\d+) blocks used")
_DIRTY_SHARE = 0.75
"""Share of dirty data in a cache from which new writes soon have to wait for the slow device."""


@rule(WARN, "scheduler-unfit", "flash uses the scheduler bfq", "Documentation/block/bfq-iosched.rst, overhead")
def scheduler(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield flash devices with the scheduler BFQ, whose CPU time per I/O limits the IOPS."""
    for device in snapshot.things():
        target = snapshot.queue_of(device)
        if snapshot.now(target, "scheduler") == "bfq" and snapshot.media(device) in FLASH:
            yield Finding(
                where=str(target),
                message="The scheduler is bfq on flash. Its CPU time per I/O limits the IOPS.",
                evidence="queue/scheduler: bfq",
                do="Set scheduler to none or mq-deadline.",
                staged=snapshot.staged(target, "scheduler", "none")
                or snapshot.staged(target, "scheduler", "mq-deadline"),
            )


@rule(
    NOTE,
    "read-ahead-small",
    "the kernel read-ahead is smaller than a full stripe of hard disks",
    "Documentation/ABI/stable/sysfs-block, read_ahead_kb",
)
def small_read_ahead(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield striped arrays of hard disks with a kernel read-ahead smaller than a full stripe."""
    for array in snapshot.inventory.arrays:
        unit = None if array.strip_bytes is None else array.strip_bytes * (array.data_drives or 0)
        target = snapshot.queue_of(array)
        text = snapshot.now(target, "read_ahead_kb") or ""
        if not unit or not text.isdigit() or snapshot.media(array) is not Media.HDD or (array.data_drives or 0) < 2:
            continue
        if int(text) << 10 < unit and snapshot.now(array.target, "read_ahead") not in _READING_AHEAD:
            wanted = -(-2 * unit // 1024)
            yield Finding(
                where=str(target),
                message=f"The kernel read-ahead is {exact_text(int(text) << 10)}, but a full stripe is"
                f" {exact_text(unit)}. A sequential reader keeps only some disks busy.",
                evidence=f"queue/read_ahead_kb: {text}",
                do=f"If sequential reads matter, set read_ahead_kb to {wanted}.",
                staged=snapshot.staged(target, "read_ahead_kb", str(wanted)),
            )


@rule(
    NOTE,
    "read-ahead-large",
    "the kernel read-ahead is 4 MiB or more on flash",
    "Documentation/ABI/stable/sysfs-block, read_ahead_kb",
)
def large_read_ahead(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield flash devices with a kernel read-ahead of 4 MiB or more, which no sequential reader needs."""
    for device in snapshot.things():
        target = snapshot.queue_of(device)
        text = snapshot.now(target, "read_ahead_kb") or ""
        striped = isinstance(device, Array) and (alignment_of(device) or 0) >= 1 << 20
        if text.isdigit() and int(text) >= 4096 and snapshot.media(device) in FLASH and not striped:
            yield Finding(
                where=str(target),
                message=f"The kernel read-ahead is {exact_text(int(text) << 10)} on flash. Buffered random reads"
                " fetch data that is not needed.",
                evidence=f"queue/read_ahead_kb: {text}",
                do="Set read_ahead_kb to 128 unless the host only reads large files.",
                staged=snapshot.staged(target, "read_ahead_kb", "128"),
            )


@rule(NOTE, "card-read-ahead", "a controller reads ahead on flash", "Broadcom, MegaRAID tips: no read-ahead for SSDs")
def card_read_ahead(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield flash arrays whose controller reads ahead."""
    for array in snapshot.inventory.arrays:
        now = snapshot.now(array.target, "read_ahead")
        if now in _READING_AHEAD and snapshot.media(array) in FLASH:
            yield Finding(
                where=str(array.target),
                message="The controller reads ahead on flash. This costs random read IOPS.",
                evidence=f"read_ahead {now}",
                do="Set read_ahead to none, and compare both with a benchmark.",
                staged=snapshot.staged(array.target, "read_ahead", "none"),
            )


@rule(
    WARN,
    "queue-smaller",
    "the kernel queue is smaller than the queue of the device",
    "Documentation/ABI/stable/sysfs-block, nr_requests",
)
def small_queue(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield disks with a kernel queue that is smaller than the queue of the device."""
    for drive in snapshot.inventory.drives:
        block, target = snapshot.block_of(drive), snapshot.queue_of(drive)
        depth = None if block is None else block.number("device/queue_depth")
        text = snapshot.now(target, "nr_requests") or ""
        if target != drive.target or depth is None or not text.isdigit():
            continue
        if int(text) < depth:
            yield Finding(
                where=str(target),
                message=f"The kernel queues {text} requests, but the device accepts {depth}. The device queue is"
                " never full.",
                evidence=f"queue/nr_requests: {text}, device/queue_depth: {depth}",
                do="Raise nr_requests.",
                staged=snapshot.staged(target, "nr_requests", str(depth)),
            )


@rule(WARN, "no-queueing", "a disk receives only one command at a time", "Documentation/driver-api/libata.rst, NCQ")
def no_queueing(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield SATA and SAS disks that receive only one command at a time."""
    for drive in snapshot.inventory.drives:
        text = snapshot.now(drive.target, "queue_depth")
        if text == "1" and drive.interface in ("sata", "sas"):
            yield Finding(
                where=str(drive.target),
                message="The disk receives only one command at a time (NCQ is off). It cannot reorder commands.",
                evidence="device/queue_depth: 1",
                do="Set queue_depth to 31 (SATA) or more (SAS). The kernel option libata.force=noncq prevents that.",
                staged=snapshot.staged(drive.target, "queue_depth", "31"),
            )


@rule(NOTE, "one-queue", "a virtual disk has one queue for several CPUs", "virtio specification, num_queues")
def single_queues(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield virtual disks with one queue for several CPUs."""
    for block in snapshot.blocks.values():
        if block.driver == "virtio_blk" and block.queues == 1 and snapshot.cores > 1:
            yield Finding(
                where=block.name,
                message=f"The virtual disk has one queue for {snapshot.cores} CPUs. One CPU handles all of its I/O.",
                evidence=f"/sys/block/{block.name}/mq: 1",
                do="In the definition of the guest, set num-queues to the number of CPUs.",
            )


@rule(NOTE, "power-state", "an NVMe drive is in a slower power state", "NVMe, Power Management")
def power_state(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield NVMe drives that are in a slower power state than state 0."""
    targets = {target for target, readings in snapshot.readings.items() if "power_state" in readings}
    # The power state belongs to the controller, so report it once and not for each namespace.
    targets -= {drive.target for drive in snapshot.inventory.drives if drive.controller in targets}
    for target, readings in snapshot.readings.items():
        now = readings["power_state"].now if target in targets else None
        if now is not None and now.isdigit() and int(now) > 0:
            yield Finding(
                where=str(target),
                message=f"The drive is in power state {now}. States above 0 are slower.",
                evidence=f"power_state {now}",
                do="Set power_state to 0.",
                staged=snapshot.staged(target, "power_state", "0"),
            )


@rule(NOTE, "governor", "CPUs lower their frequency between I/Os", "Documentation/admin-guide/pm/cpufreq.rst")
def governor(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield a finding if CPUs lower their frequency between I/Os."""
    others = {name: count for name, count in snapshot.governors.items() if name != PERFORMANCE}
    if others:
        text = ", ".join(f"{count} with {name}" for name, count in others.items())
        yield Finding(
            where="processors",
            message="CPUs lower their frequency between I/Os. Short I/Os take longer.",
            evidence=f"scaling_governor: {text}",
            do="If latency matters, run `cpupower frequency-set -g performance`.",
        )


@rule(NOTE, "io-capped", "a control group has an I/O limit", "Documentation/admin-guide/cgroup-v2.rst, io.max")
def io_limits(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield control groups with an I/O limit."""
    for path, text in snapshot.caps.items():
        if any(word for word in text.split()[1:] if not word.endswith("=max")):
            yield Finding(
                where=path.removeprefix("/sys/fs/cgroup/").removesuffix("/io.max"),
                message="The control group has an I/O limit. Programs in it cannot exceed that limit.",
                evidence=f"{path}: {text}",
                do="If the limit is not intended, raise or remove it (systemd: IOReadBandwidthMax and similar).",
            )


@rule(
    WARN,
    "trim-lost",
    "TRIM is not passed down to disks that support it",
    "Documentation/ABI/stable/sysfs-block, discard_max_bytes",
)
def lost_trim(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield stacked devices that do not pass TRIM down although all devices below them support it."""
    for block in snapshot.blocks.values():
        limit = block.number("queue/discard_max_bytes")
        if limit != 0 or not block.below:
            continue
        lower = [snapshot.disk_of_part(name)[0] for name in block.below]
        lower_limits = [device.number("queue/discard_max_bytes") if device is not None else None for device in lower]
        if None in lower_limits:
            yield UnknownResult(where=block.name, why="TRIM support of the devices below is not reported")
        elif all(lower_limits):
            yield Finding(
                where=block.name,
                message="The disks support TRIM, but this device does not pass it down. The disks slow down over time.",
                evidence=f"/sys/block/{block.name}/queue/discard_max_bytes: 0, but above 0 for"
                f" {', '.join(block.below)}",
                do="dm-crypt: set allow_discards. md RAID 4, 5 or 6: if trimmed blocks read zeros, set"
                " raid456.devices_handle_discard_safely=1.",
            )


@rule(
    FAULT,
    "barriers-off",
    "a filesystem is mounted without flushes",
    "ext4(5), barrier; xfs(5) of kernels before 4.19, nobarrier",
)
def missing_barriers(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield filesystems that are mounted without flushes."""
    for mount in snapshot.mounts:
        off = [option for option in mount.options if option in ("nobarrier", "barrier=0")]
        if off and mount.source.startswith("/dev/"):
            yield Finding(
                where=mount.where(),
                message="The filesystem sends no flushes. A power loss can lose synced data or corrupt the filesystem.",
                evidence=f"{mount.fstype} mounted with {off[0]}",
                do=f"Remove {off[0]} from /etc/fstab and remount the filesystem.",
            )


@rule(NOTE, "discard-twice", "a filesystem trims at every deletion although a timer trims it", "fstrim(8)")
def double_discard(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield filesystems that trim at every deletion although fstrim.timer trims them anyway."""
    for mount in snapshot.mounts:
        if snapshot.trim_timer and "discard" in mount.options and mount.fstype in ("ext4", "xfs"):
            yield Finding(
                where=mount.where(),
                message="The filesystem trims at every deletion, which slows down deletions. fstrim.timer already"
                " trims it weekly.",
                evidence=f"{mount.fstype} mounted with discard; fstrim.timer is enabled",
                do="Remove discard from /etc/fstab.",
            )


@rule(
    WARN,
    "cache-dirty",
    "a kernel cache is full of dirty data",
    "lvmcache(7); Documentation/admin-guide/bcache.rst",
)
def dirty_caches(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield kernel caches with much data that is not written to the slow device yet."""
    for array in snapshot.inventory.arrays:
        share = _dirty_share(array)
        if share is not None and share >= _DIRTY_SHARE:
            yield Finding(
                where=str(array.target),
                message=f"{units.fraction(share)} of the cache is not on the slow device yet. New writes will soon "
                "have to wait for that device.",
                evidence=" / ".join(
                    f"{fact.label}: {fact.value}"
                    for fact in array.facts
                    if fact.label in ("Cache blocks", "Writecache", "Not dirty")
                ),
                do="Reduce the writes, enlarge the cache, or lower its watermark.",
            )


def _dirty_share(array: Array) -> float | None:
    blocks = _DIRTY.search(fact(array, "Cache blocks") or "")
    if blocks and int(blocks[2]):
        return int(blocks[3]) / int(blocks[2])
    used = _USED.search(fact(array, "Writecache") or "")
    if used and int(used[2]):
        return int(used[1]) / int(used[2])
    clean = re.match(r"(\d+) %", fact(array, "Not dirty") or "")
    return 1 - int(clean[1]) / 100 if clean else None


@rule(WARN, "cache-bypassed", "a cache accepts no new data", "lvmcache(7), passthrough; bcache.rst, cache_mode none")
def bypassed_caches(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield caches whose mode lets them accept no new data."""
    for array in snapshot.inventory.arrays:
        mode = snapshot.now(array.target, "cache_mode")
        if mode in ("none", "pass-through", "passthrough"):
            yield Finding(
                where=str(array.target),
                message=f"The cache mode is {mode}. The cache accepts no new data.",
                evidence=f"cache_mode {mode}",
                do="Set cache_mode to write-through.",
                staged=snapshot.staged(array.target, "cache_mode", "write-through"),
            )


@rule(WARN, "one-path", "a multipath device has only one path", "multipath(8)")
def single_paths(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield multipath devices with a single path."""
    for block in snapshot.blocks.values():
        if block.attributes.get("dm/uuid", "").startswith("mpath-") and len(block.below) == 1:
            name = block.attributes.get("dm/name", block.name)
            yield Finding(
                where=name,
                message="The multipath device has only one path. There is no failover.",
                evidence=f"/sys/block/{block.name}/slaves: {block.below[0]}",
                do="Check the cable, the port and the second HBA. `multipath -ll` lists the paths.",
            )


@rule(WARN, "path-dead", "a path of a multipath device is down", "multipath(8); sysfs, device/state")
def dead_paths(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield multipath devices of which some paths are down."""
    for block in snapshot.blocks.values():
        if not block.attributes.get("dm/uuid", "").startswith("mpath-") or len(block.below) < 2:
            continue
        states = {
            name: snapshot.blocks[name].attributes.get("device/state")
            for name in block.below
            if name in snapshot.blocks
        }
        dead = [name for name, state in states.items() if state not in (None, "running", "live")]
        if dead:
            yield Finding(
                where=block.attributes.get("dm/name", block.name),
                message=f"{len(dead)} of {len(block.below)} paths are down.",
                evidence=", ".join(f"{name}: {states[name]}" for name in dead),
                do="Check the cable and the port. `multipath -ll` lists the paths.",
            )


@rule(
    NOTE,
    "path-policy",
    "an NVMe device with several paths uses only one at a time",
    "Documentation/admin-guide/nvme-multipath.rst, iopolicy",
)
def path_policy(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield NVMe subsystems with several paths of which each NUMA node uses only one."""
    for name, (policy, paths) in snapshot.policies.items():
        if paths > 1 and policy == "numa":
            yield Finding(
                where=name,
                message=f"The device has {paths} paths, but the policy numa uses only one per NUMA node.",
                evidence=f"/sys/class/nvme-subsystem/{name}/iopolicy: numa",
                do=f"Write round-robin or queue-depth to /sys/class/nvme-subsystem/{name}/iopolicy, and compare with"
                " a benchmark.",
            )
