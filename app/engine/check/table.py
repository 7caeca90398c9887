"""All rules in one table: those that judge a machine at rest, and the advisor's, of which most need a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from app.engine.advisor.rules import KEYS
from app.engine.check import card_rules, health_rules, layout_rules, link_rules, queue_rules, stack_rules
from app.engine.check.finding import Rule, Said, Severity
from app.engine.check.run_rules import RUNS
from app.engine.check.sight import Sight

_NOTE, _WARN, _FAULT = Severity.NOTE, Severity.WARN, Severity.FAULT


def _rule(severity: Severity, id: str, look: Callable[[Sight], Said], what: str, source: str) -> Rule:
    return Rule(id=id, severity=severity, what=what, source=source, look=look)


_AT_REST: Iterable[Rule] = (
    _rule(_FAULT, "array-degraded", health_rules.array_state, "an array is not whole", "the tool of the array"),
    _rule(
        _FAULT,
        "drive-failed",
        health_rules.drive_state,
        "a drive is failed, offline or missing",
        "its card's tool, or sysfs",
    ),
    _rule(
        _FAULT,
        "drive-failing",
        health_rules.failing,
        "a drive or its controller predicts the drive's failure",
        "ATA and SCSI, SMART status; the controller's tool",
    ),
    _rule(
        _FAULT,
        "drive-warns",
        health_rules.warns,
        "an NVMe drive raises its critical warning",
        "NVMe base specification, SMART / Health Information",
    ),
    _rule(
        _FAULT,
        "array-blocks-lost",
        health_rules.lost_blocks,
        "a controller could not restore blocks of an array",
        "the controller's tool, unrecoverable media errors",
    ),
    _rule(
        _FAULT,
        "battery-failed",
        card_rules.battery,
        "a card's battery or capacitor is failed or missing",
        "the card's tool",
    ),
    _rule(
        _FAULT,
        "flushes-off",
        card_rules.flushes_off,
        "a drive caches writes and is sent no flushes",
        "Documentation/block/writeback_cache_control.rst",
    ),
    _rule(
        _FAULT,
        "barriers-off",
        queue_rules.barriers,
        "a filesystem is mounted so that it sends no flushes",
        "ext4(5), barrier; xfs(5) of kernels before 4.19, nobarrier",
    ),
    _rule(
        _FAULT,
        "sync-off",
        stack_rules.sync_off,
        "ZFS does not wait for synchronous writes",
        "zfsprops(7), sync",
    ),
    _rule(
        _FAULT,
        "pool-data-errors",
        stack_rules.pool_data,
        "a ZFS pool has lost data",
        "zpool-status(8), errors; zed(8)",
    ),
    _rule(
        _FAULT,
        "group-incomplete",
        stack_rules.group_incomplete,
        "a volume group misses a physical volume",
        "lvs(8), vg_missing_pv_count",
    ),
    _rule(
        _FAULT,
        "filesystem-errors",
        stack_rules.filesystem_errors,
        "a filesystem has met errors",
        "Documentation/ABI/testing/sysfs-fs-ext4, errors_count",
    ),
    _rule(
        _FAULT,
        "nvme-down",
        stack_rules.nvme_down,
        "an NVMe controller or path is not live",
        "drivers/nvme/host/sysfs.c, state",
    ),
    _rule(
        _FAULT,
        "card-memory-errors",
        link_rules.memory_errors,
        "a controller's memory had uncorrectable errors",
        "the card's tool, Memory Uncorrectable Errors",
    ),
    _rule(
        _WARN,
        "policy-not-in-force",
        card_rules.not_in_force,
        "write-back or another cache policy is set and not in force",
        "the card's tool; docs/advice.md",
    ),
    _rule(
        _WARN,
        "battery-replace",
        card_rules.replace_battery,
        "a battery or capacitor is to be replaced",
        "the card's tool",
    ),
    _rule(
        _WARN,
        "drive-cache-unprotected",
        card_rules.drive_caches,
        "drives cache behind a card without protection",
        "Broadcom, MegaRAID SAS software user guide, disk cache policy",
    ),
    _rule(
        _WARN,
        "drive-unusable",
        health_rules.unusable,
        "a drive has sectors that the kernel does not take",
        "drivers/scsi/sd.c, sd_read_capacity; sg_format(8)",
    ),
    _rule(
        _WARN,
        "drive-locked",
        health_rules.locked,
        "a drive is encrypted and locked",
        "TCG Storage, locked drives; the controller's tool",
    ),
    _rule(
        _WARN, "drive-foreign", health_rules.foreign, "a drive has the configuration of another card", "the card's tool"
    ),
    _rule(
        _WARN,
        "drive-errors",
        health_rules.errors,
        "a drive has had media errors",
        "the card's counters; NVMe, Media and Data Integrity Errors",
    ),
    _rule(
        _WARN,
        "drive-other-errors",
        health_rules.other_errors,
        "a drive has had 100 errors that are not of its medium",
        "the controller's counters; small counts are usual after hot-plugs and resets",
    ),
    _rule(
        _WARN,
        "drive-worn",
        health_rules.worn,
        "80 % of a drive's endurance is used, or its spare is at its threshold",
        "NVMe, Percentage Used and Available Spare",
    ),
    _rule(
        _WARN,
        "drive-hot",
        health_rules.hot,
        "a drive is as warm as its own limit; without one: HDD 60 °C, SSD 70 °C",
        "NVMe, Warning Composite Temperature Threshold; operating temperatures in data sheets",
    ),
    _rule(
        _WARN,
        "array-mismatches",
        health_rules.mismatches,
        "copies or parity of an array do not agree",
        "Documentation/admin-guide/md.rst, mismatch_cnt",
    ),
    _rule(_WARN, "pool-filling", health_rules.filling, "a pool is 80 % full", "zpool-list(8); lvmthin(7); lvmvdo(7)"),
    _rule(
        _NOTE,
        "wwn-shared",
        health_rules.shared_wwn,
        "two drives report one WWN",
        "udev, 60-persistent-storage.rules (links by-id/wwn-)",
    ),
    _rule(
        _WARN,
        "pcie-link-slow",
        card_rules.link,
        "a PCIe link is below what card and slot both can",
        "Documentation/ABI/testing/sysfs-bus-pci, max_link_speed",
    ),
    _rule(
        _WARN,
        "irq-one-cpu",
        card_rules.one_cpu,
        "all interrupts of a card go to one processor",
        "Documentation/core-api/irq/irq-affinity.rst",
    ),
    _rule(
        _WARN,
        "irq-far",
        card_rules.far,
        "no interrupt of a card is on its NUMA node",
        "Documentation/ABI/testing/sysfs-bus-pci, numa_node",
    ),
    _rule(
        _WARN,
        "misaligned",
        layout_rules.misaligned,
        "a partition or md member begins inside a strip or sector",
        "parted(8), align-check",
    ),
    _rule(
        _WARN,
        "stack-misaligned",
        layout_rules.offset_told,
        "the kernel finds a device off what lies beneath",
        "Documentation/ABI/stable/sysfs-block, alignment_offset",
    ),
    _rule(
        _WARN,
        "fs-stripe-other",
        layout_rules.fs_other,
        "a filesystem was made for another stripe",
        "xfs(5), sunit and swidth; ext4(5), stripe",
    ),
    _rule(
        _WARN,
        "ashift-small",
        layout_rules.ashift,
        "a ZFS pool has smaller sectors than its disks",
        "zpoolprops(7), ashift",
    ),
    _rule(
        _WARN,
        "sector-format-slow",
        layout_rules.sector_format,
        "an NVMe drive has a format that it calls faster",
        "NVMe, LBA Format, Relative Performance",
    ),
    _rule(
        _WARN,
        "scheduler-unfit",
        queue_rules.scheduler,
        "bfq schedules flash",
        "Documentation/block/bfq-iosched.rst, overhead",
    ),
    _rule(
        _WARN,
        "queue-smaller",
        queue_rules.small_queue,
        "the kernel queues less than the device takes",
        "Documentation/ABI/stable/sysfs-block, nr_requests",
    ),
    _rule(
        _WARN,
        "no-queueing",
        queue_rules.no_queueing,
        "a disk is given one command at a time",
        "Documentation/driver-api/libata.rst, NCQ",
    ),
    _rule(
        _WARN,
        "trim-lost",
        queue_rules.trim_lost,
        "disks take TRIM and what is made of them does not",
        "Documentation/ABI/stable/sysfs-block, discard_max_bytes",
    ),
    _rule(
        _WARN,
        "cache-dirty",
        queue_rules.cache_dirty,
        "a cache of the kernel's is full of unwritten data",
        "lvmcache(7); Documentation/admin-guide/bcache.rst",
    ),
    _rule(
        _WARN,
        "cache-bypassed",
        queue_rules.cache_bypassed,
        "nothing new comes into a cache",
        "lvmcache(7), passthrough; bcache.rst, cache_mode none",
    ),
    _rule(_WARN, "one-path", queue_rules.one_path, "a multipath device has one path", "multipath(8)"),
    _rule(
        _WARN,
        "path-dead",
        queue_rules.dead_path,
        "a path of a multipath device does not run",
        "multipath(8); sysfs, device/state",
    ),
    _rule(
        _WARN,
        "rebuild-paused",
        link_rules.paused,
        "a rebuild is paused or frozen",
        "the tool of the array; Documentation/admin-guide/md.rst, sync_action",
    ),
    _rule(
        _WARN,
        "card-hot",
        link_rules.heat,
        "a controller has 100 °C, or its cache module 85 °C",
        "the card's tool, temperature",
    ),
    _rule(
        _WARN,
        "battery-hot",
        link_rules.battery_heat,
        "a battery or capacitor has 60 °C",
        "the card's tool, temperature",
    ),
    _rule(
        _WARN,
        "write-throttled",
        link_rules.throttling,
        "an ioMemory drive slows down its writes",
        "fio-status, write throttling",
    ),
    _rule(
        _WARN,
        "pool-errors",
        stack_rules.pool_errors,
        "devices of a ZFS pool have counted errors",
        "zpool-status(8), READ, WRITE, CKSUM",
    ),
    _rule(
        _WARN,
        "md-member-errors",
        stack_rules.member_errors,
        "a member of md has bad blocks or write errors",
        "Documentation/admin-guide/md.rst, bad_blocks",
    ),
    _rule(
        _WARN,
        "array-read-only",
        stack_rules.read_only,
        "an array takes no writes",
        "mdadm(8), --readonly; the card's tool",
    ),
    _rule(
        _WARN,
        "md-no-bitmap",
        stack_rules.no_bitmap,
        "a large md array has no write-intent bitmap",
        "mdadm(8), --bitmap",
    ),
    _rule(
        _WARN,
        "md-resync-slow",
        stack_rules.slow_resync,
        "a rebuild of md is limited to less than 10 MB/s",
        "Documentation/admin-guide/md.rst, sync_speed_max",
    ),
    _rule(
        _WARN,
        "drive-link-slow",
        link_rules.link_speed,
        "a SAS or SATA link is slower than drive and port",
        "Documentation/ABI/testing/sysfs-ata; the card's tool",
    ),
    _rule(
        _WARN,
        "queue-tiny",
        stack_rules.few_requests,
        "NVMe, multipath or a virtual disk queues few requests",
        "Documentation/ABI/stable/sysfs-block, nr_requests",
    ),
    _rule(
        _WARN,
        "requests-small",
        stack_rules.small_requests,
        "I/Os are cut into small requests",
        "Documentation/ABI/stable/sysfs-block, max_sectors_kb",
    ),
    _rule(
        _WARN,
        "merges-off",
        stack_rules.merges_off,
        "I/Os to a hard disk are not merged",
        "Documentation/ABI/stable/sysfs-block, nomerges",
    ),
    _rule(
        _NOTE,
        "background-task",
        health_rules.tasks,
        "a rebuild, check or patrol read is under way",
        "the tool of the array; docs/advice.md",
    ),
    _rule(
        _NOTE,
        "battery-learning",
        card_rules.learning,
        "a battery learns or is being charged",
        "the card's tool; docs/advice.md",
    ),
    _rule(
        _NOTE,
        "writes-always-cached",
        card_rules.always_cached,
        "a controller caches writes also without a healthy battery",
        "the card's tool, write policy",
    ),
    _rule(
        _NOTE,
        "drive-throttled",
        health_rules.throttled,
        "a drive has slowed down for its temperature",
        "NVMe, Thermal Management Temperature transition counts",
    ),
    _rule(
        _NOTE,
        "stripe-misaligned",
        layout_rules.off_stripe,
        "a partition begins inside a full stripe with parity",
        "xfs(5); mke2fs(8), stripe_width",
    ),
    _rule(
        _NOTE,
        "fs-stripe-unset",
        layout_rules.fs_unset,
        "a filesystem on parity knows of no stripe",
        "xfs(5), sunit and swidth; ext4(5), stripe",
    ),
    _rule(
        _NOTE,
        "volblocksize-small",
        layout_rules.volblocksize,
        "blocks of a volume are smaller than a row of RAID-Z",
        "zfsprops(7), volblocksize",
    ),
    _rule(
        _NOTE,
        "md-bitmap-fine",
        layout_rules.bitmap,
        "a bit of md's bitmap stands for less than 64 MiB",
        "mdadm(8), --bitmap-chunk",
    ),
    _rule(
        _NOTE,
        "md-stripe-cache",
        layout_rules.stripe_cache,
        "md gathers few stripes before it writes parity",
        "Documentation/admin-guide/md.rst, stripe_cache_size",
    ),
    _rule(
        _NOTE,
        "md-journal-through",
        layout_rules.journal_through,
        "md's journal only closes the write hole",
        "md(4), journal; drivers/md/raid5-cache.c",
    ),
    _rule(
        _NOTE,
        "drive-copyback",
        health_rules.copyback,
        "a controller copies a drive to or from another",
        "Broadcom, MegaRAID SAS software user guide, copyback",
    ),
    _rule(
        _NOTE,
        "rebuild-rate-high",
        card_rules.rebuild_rate,
        "a rebuild may take more than half of a card's time",
        "Broadcom, MegaRAID SAS software user guide, rebuild rate",
    ),
    _rule(
        _NOTE,
        "read-ahead-small",
        queue_rules.kernel_read_ahead,
        "the kernel reads less ahead than a stripe over disks",
        "Documentation/ABI/stable/sysfs-block, read_ahead_kb",
    ),
    _rule(
        _NOTE,
        "read-ahead-large",
        queue_rules.large_read_ahead,
        "the kernel reads 4 MiB or more ahead on flash",
        "Documentation/ABI/stable/sysfs-block, read_ahead_kb",
    ),
    _rule(
        _NOTE,
        "card-read-ahead",
        queue_rules.card_read_ahead,
        "a card reads ahead on flash",
        "Broadcom, MegaRAID tips: no read-ahead for SSDs",
    ),
    _rule(
        _NOTE,
        "one-queue",
        queue_rules.one_queue,
        "a virtual disk has one queue for several processors",
        "virtio specification, num_queues",
    ),
    _rule(
        _NOTE,
        "power-state",
        queue_rules.power_state,
        "an NVMe drive is in a slower power state",
        "NVMe, Power Management",
    ),
    _rule(
        _NOTE,
        "governor",
        queue_rules.governor,
        "processors lower their frequency between I/Os",
        "Documentation/admin-guide/pm/cpufreq.rst",
    ),
    _rule(
        _NOTE,
        "io-capped",
        queue_rules.caps,
        "a control group is limited in its I/O",
        "Documentation/admin-guide/cgroup-v2.rst, io.max",
    ),
    _rule(
        _NOTE,
        "discard-twice",
        queue_rules.discard,
        "a filesystem trims with every deletion and by a timer",
        "fstrim(8)",
    ),
    _rule(
        _NOTE,
        "path-policy",
        queue_rules.path_policy,
        "NVMe with several paths uses one at a time",
        "Documentation/admin-guide/nvme-multipath.rst, iopolicy",
    ),
    _rule(
        _NOTE,
        "firmware-mixed",
        link_rules.firmware,
        "members of one model have different firmware",
        "the card's tool, or sysfs",
    ),
)

RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.id: rule for rule in _AT_REST}
    | {
        key: Rule(id=key, severity=RUNS[key][0], what=RUNS[key][1], source="docs/advice.md")
        for key in KEYS
        if key in RUNS
    }
)
"""Every rule by its id: first those that need no run, the gravest first."""


def rows() -> list[str]:
    """The table of docs/check.md."""
    head = ["| id | severity | what | needs | source |", "| --- | --- | --- | --- | --- |"]
    return head + [
        f"| `{one.id}` | {one.severity} | {one.what} | {_needs(one)} | {_source(one)} |" for one in RULES.values()
    ]


def _needs(rule: Rule) -> str:
    return "a run" if rule.needs_run else "nothing"


def _source(rule: Rule) -> str:
    advice = f"[advice.md](advice.md#{rule.id})"
    return rule.source.replace("docs/advice.md", advice)
