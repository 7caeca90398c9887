"""Declarations of the request queue settings, and of the side effects: a write to one may reset others. No I/O.

The side effects determine the order of writes, the values that an undo restores, and the other settings that a change
may affect. The tests measure each pair on the running kernel; docs/queue.md compares two kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from backends.change_steps import order_by_moves
from backends.settings import Risk, Setting, offer
from backends.topology.tree import number
from backends.udev import attribute_assignment, queue_rules

_LIMITS = ("read_ahead_kb",)
"""Settings that the kernel's `queue_limits_commit_update` raises to their default (Linux 6.9 and later)."""

SIDE_EFFECTS: Mapping[str, tuple[str, ...]] = {
    "scheduler": ("nr_requests", "wbt_lat_usec"),
    "max_sectors_kb": _LIMITS,
    "write_cache": _LIMITS,
    "iostats": _LIMITS,
    "add_random": _LIMITS,
}
"""Keys that the kernel may reset, by the key that is written.

Sources for `scheduler`: block/elevator.c, elevator_switch; block/bfq-iosched.c, wbt_disable_default. For the others:
block/blk-settings.c, blk_apply_bdi_limits, which block/blk-sysfs.c calls for each commit of limits.
"""

_READ_AHEAD_MIN = 128
"""Minimum default of read-ahead in KiB: VM_READAHEAD_PAGES (include/linux/mm.h)."""


def in_order(keys: Iterable[str]) -> list[str]:
    """Return the keys in an order in which no write resets an earlier one."""
    return order_by_moves(keys, SIDE_EFFECTS)


def resets_to(key: str, value: str, attributes: Mapping[str, str], page_kb: int) -> dict[str, tuple[str, ...]]:
    """Return, by key, the values to which the kernel may reset other settings when `key` is set to `value` or undone.

    A setting without an entry may be reset to any value. The default of read-ahead is twice the optimal I/O size, or
    twice the largest request of a rotational device that reports no optimal size. It is a whole number of pages and at
    least 128 KiB.
    """
    if "read_ahead_kb" not in SIDE_EFFECTS.get(key, ()):
        return {}
    optimal = (number(attributes.get("optimal_io_size")) or 0) // 1024
    present = number(attributes.get("max_sectors_kb")) or 0
    wanted = number(value) or 0 if key == "max_sectors_kb" else present
    defaults = {max(2 * size // page_kb * page_kb, _READ_AHEAD_MIN) for size in (0, optimal, present, wanted)}
    return {"read_ahead_kb": tuple(str(size) for size in sorted(defaults))}


# -- help texts of schedulers -----------------------------------------------------------------------------------------

SENTENCES = {
    "none": (
        "Requests go to the device in order of arrival. Best for fast NVMe and for RAID controllers that sort requests."
    ),
    "noop": "First come, first served with merging (old kernels).",
    "mq-deadline": "Limits the wait of each request and prefers reads. The usual choice for SATA, SAS and hard disks.",
    "deadline": "The single-queue form of mq-deadline, on old kernels.",
    "kyber": "Throttles queue depth to meet latency targets for reads and writes: for fast flash with mixed load.",
    "bfq": "Shares bandwidth fairly between programs: for slow disks and desktops, costs CPU time per request.",
    "cfq": "Fair time slices per program, on old kernels.",
    "adios": "Sorts by predicted latency: an addition of some distributions' kernels.",
}
"""Help text of each scheduler (Documentation/block, block/*-iosched.c)."""


# -- declarations of the settings -------------------------------------------------------------------------------------

SCHEDULER = Setting(
    key="scheduler",
    other_words=tuple(SENTENCES),
    label="I/O scheduler",
    help="The order in which the kernel sends requests. It matters most on hard disks and on slow or shared flash. A "
    "change waits until the queue is empty and resets nr_requests and the tunables of the scheduler to defaults "
    "(block/elevator.c, elevator_switch).",
)
READ_AHEAD = Setting(
    key="read_ahead_kb",
    label="Read-ahead",
    unit="KiB",
    help="How much the page cache reads ahead of a sequential reader. Raises buffered sequential reads on arrays and "
    "hard disks; no effect on direct=1. Rounded down to whole pages; `blockdev --setra` sets the same value in "
    "sectors (block/blk-sysfs.c, queue_ra_store).",
)
NR_REQUESTS = Setting(
    key="nr_requests",
    label="Queue size",
    unit="requests",
    help="Requests that may be queued or in flight per hardware queue. More requests let a scheduler merge and sort "
    "more, but increase latency. With `none` the limit is the device's own tags, with a scheduler 2048. The "
    "kernel raises values below 4 to 4 (block/blk-mq.c, blk_mq_update_nr_requests).",
)
RQ_AFFINITY = Setting(
    key="rq_affinity",
    label="Completion CPU",
    help="The CPU on which a finished request is completed. 2 spreads interrupt work and helps if one core is "
    "saturated. 1 is cheaper for caches (block/blk-sysfs.c, queue_rq_affinity_store).",
    choices=(
        offer("0", "Completed on the CPU that took the interrupt.", label="any CPU"),
        offer("1", "Completed in the cache group of the CPU that submitted it.", label="same group"),
        offer("2", "Each request completes on the CPU that submitted it.", label="same CPU"),
    ),
)
NOMERGES = Setting(
    key="nomerges",
    label="Merging",
    help="Whether adjacent requests are merged. The search costs CPU time, which matters at millions of random IOPS. "
    "Sequential load needs merging (block/blk-sysfs.c, queue_nomerges_store).",
    choices=(
        offer("0", "Requests are merged whenever possible.", label="all merges"),
        offer("1", "A request is only merged with the last one.", label="simple merges"),
        offer("2", "Requests are never merged: lowest CPU time per request.", label="no merges"),
    ),
)
WBT = Setting(
    key="wbt_lat_usec",
    label="Writeback throttling",
    unit="us",
    help="Target latency in microseconds for throttling buffered writeback. 0 disables throttling. -1 restores the "
    "kernel's default: 75000 on rotational devices, 2000 on others. It matters if reads share the device with "
    "heavy buffered writes, and has no effect on direct=1. bfq disables the default (block/blk-wbt.c).",
)
MAX_SECTORS = Setting(
    key="max_sectors_kb",
    label="Largest request",
    unit="KiB",
    help="Largest request the kernel sends. Large ones suit sequential load on arrays, small ones keep latency "
    "of other requests low. From one page to what the device takes (max_hw_sectors_kb); the kernel may cut to a "
    "multiple of the sector (block/blk-settings.c).",
)
WRITE_CACHE = Setting(
    key="write_cache",
    label="Write cache (kernel)",
    help="Whether the kernel assumes a volatile write cache in the drive. It never changes the drive. To do that, "
    "use the setting of the drive or controller. write-back sends flushes, write-through sends none "
    "(Documentation/ABI/stable/sysfs-block, write_cache).",
    risk=Risk.POWER_LOSS,
    risk_text="With write-through the kernel sends no flushes. If the drive does cache writes, a power failure loses "
    "acknowledged writes.",
    choices=(
        offer(
            "write-back",
            "The kernel assumes a write cache and sends flushes. Ignored if the drive reports no cache.",
        ),
        offer("write-through", "The kernel assumes no write cache and sends no flushes.", risk=Risk.POWER_LOSS),
    ),
)
ADD_RANDOM = Setting(
    key="add_random",
    label="Feed entropy",
    help="Whether completion times feed the random number generator. It costs a little CPU time per request and is "
    "useless on a host with a hardware generator (block/blk-sysfs.c).",
    choices=(
        offer("0", "Completion times are not used.", label="off"),
        offer("1", "Completions feed the random number generator.", label="on"),
    ),
)
IOSTATS = Setting(
    key="iostats",
    label="Count I/O",
    help="Whether the kernel counts this device's I/O for /proc/diskstats and iostat. Off saves a little CPU time "
    "per request, but monitoring tools and raidbench get no values (block/blk-sysfs.c).",
    choices=(
        offer("0", "I/O is not counted, so this disk has no live values.", label="off"),
        offer("1", "I/O is counted.", label="on"),
    ),
)
IO_TIMEOUT = Setting(
    key="io_timeout",
    label="I/O timeout",
    unit="ms",
    help="Time that the kernel waits for a request before it aborts the request and, if that fails, resets the "
    "controller. The kernel's default is 30000. Providers of network-attached NVMe disks recommend the largest "
    "value, so that a temporary outage causes no errors. The module parameter nvme_core.io_timeout sets it for "
    "all NVMe disks at boot (Documentation/ABI/stable/sysfs-block, io_timeout; drivers/nvme/host/pci.c).",
    risk=Risk.OUTAGE,
    risk_text="With a short timeout the kernel resets a drive that is only slow, and all its requests wait. With a "
    "long "
    "timeout, programs wait that long for a drive that no longer responds.",
)

SETTINGS = (
    SCHEDULER,
    READ_AHEAD,
    NR_REQUESTS,
    RQ_AFFINITY,
    NOMERGES,
    WBT,
    MAX_SECTORS,
    WRITE_CACHE,
    ADD_RANDOM,
    IOSTATS,
)
"""Settings of every disk in display order."""

OF_NVME = (IO_TIMEOUT,)
"""Additional settings of NVMe namespaces."""

_NVME = re.compile(r"nvme[0-9]{1,6}n[0-9]{1,6}")


def settings_of(name: str) -> tuple[Setting, ...]:
    """Return the settings of the disk with this kernel name. Only NVMe namespaces have the I/O timeout."""
    return (*SETTINGS, *OF_NVME) if _NVME.fullmatch(name) else SETTINGS


BY_KEY = {setting.key: setting for setting in (*SETTINGS, *OF_NVME)}
"""All settings that a disk may have, by key."""


# -- udev rule for persistent settings: one line per disk -------------------------------------------------------------

RULES = queue_rules("queue", "disk")
"""Part of the udev rules file for the `queue` attributes of a disk."""


def actions(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the assignments of the udev rule that sets these values, in the order in which udev must write them.

    Raises BlockedError for a value that a rule cannot contain.
    """
    declared = [key for key in BY_KEY if key in values]
    return tuple(attribute_assignment(f"queue/{key}", values[key]) for key in in_order(declared))
