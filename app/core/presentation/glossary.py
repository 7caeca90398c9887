"""The terms of raidbench, each with one meaning. The help of screens, `glossary` and docs/glossary.md show them."""

from __future__ import annotations

from backends.values import dataclass

DEVICES, BENCH, RUNS, SWEEP, LOG = "devices", "bench", "runs", "sweep", "log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term with its meaning."""

    word: str
    """The term, spelled as within a sentence."""
    meaning: str
    """Meaning of the term, in one or two sentences."""
    screens: tuple[str, ...] = ()
    """Screens whose help explains the term: `devices`, `bench`, `runs`, `sweep`, `log`."""


_HARDWARE = (
    (
        "array",
        "Several drives that act as one device: a controller's virtual drive, or an md array of the kernel.",
        "",
    ),
    (
        "virtual drive",
        "An array as a RAID controller presents it to the operating system. Also: VD, logical drive.",
        DEVICES,
    ),
    ("member", "A drive or partition that belongs to an array.", f"{DEVICES} {BENCH}"),
    ("origin", "The slow device behind a dm-cache or dm-writecache. bcache calls it the backing device.", BENCH),
    (
        "hit share",
        "The share of reads that a cache served, or of writes that it absorbed, by its own counters.",
        BENCH,
    ),
    ("hot spare", "A drive that automatically replaces a failed member.", DEVICES),
    (
        "degraded",
        "An array with fewer members than it should have: another failure may lose data.",
        DEVICES,
    ),
    (
        "rebuild",
        "Writing a failed member's data to its replacement. Runs during a rebuild get no verdict.",
        BENCH,
    ),
    ("volume group", "Physical volumes whose space LVM divides among logical volumes.", ""),
    ("logical volume", "A device that LVM creates in a volume group: linear, striped, RAID, cached or thin.", ""),
    ("pool", "Disks on which ZFS stores its filesystems and volumes, in groups (vdevs) such as mirror or raidz.", ""),
    ("dataset", "A filesystem or a volume (zvol) of a ZFS pool. A zvol is a block device, /dev/zd0.", ""),
    ("ARC", "The cache that ZFS keeps in memory for all pools. L2ARC extends it on cache devices.", ""),
    ("resync", "Linux md making all copies or the parity of an array consistent.", ""),
    (
        "initialisation",
        "A controller writing parity or zeros to a new array, often in the background.",
        "",
    ),
    ("patrol read", "A controller reading all drives in the background to find bad sectors.", ""),
    ("consistency check", "Reading a complete array and comparing its data with its copies or parity.", ""),
    (
        "strip",
        "The contiguous data on one member before the next member follows, in KiB. md calls it a chunk.",
        DEVICES,
    ),
    ("full stripe", "One strip of every data drive. An aligned write of this size needs no read first.", DEVICES),
    ("data drives", "Number of members minus parity and copies: 4 for a RAID 6 of 6 drives.", ""),
    ("foreign", "A drive with the configuration of another controller.", ""),
    (
        "container",
        "Disks that share one vendor's metadata (Intel VROC, DDF). Their volumes are md arrays.",
        "",
    ),
    ("flush", "Writing the dirty data of a write-back cache to the device behind it.", ""),
    ("backing device", "The slow disk of a bcache device. It has all data except dirty data.", ""),
    ("cache set", "A cache device as bcache uses it. It serves one or several backing devices.", ""),
    (
        "dirty",
        "Data in a write-back cache that is not yet on the device behind it, and is lost without the cache.",
        "",
    ),
    ("JBOD", "A drive that a RAID controller passes through unchanged.", ""),
    (
        "battery",
        "The protection of a controller's cache during a power failure: a battery, or a capacitor with flash.",
        DEVICES,
    ),
    ("learn cycle", "A self-test of the battery. Meanwhile write-back often falls back to write-through.", ""),
    ("power-loss protection", "Capacitors of a drive that protect its cache during a power failure.", ""),
    ("over-provisioning", "Spare flash of an SSD, from which it gets free blocks under load.", ""),
    ("wear", "The share of the rated writes of an SSD that is already used.", ""),
    ("LBA format", "Size of an NVMe block and of its metadata. Changing it formats the namespace.", ""),
)

_SETTINGS = (
    ("setting", "A property of a device that can be changed, with its legal values.", ""),
    ("configured", "The value that a setting was set to.", DEVICES),
    (
        "effective",
        "The value that a device uses now: perhaps write-through although write-back is configured. Also: in force.",
        DEVICES,
    ),
    ("inherit", "To use the parent's value, or the default: as a ZFS dataset does without a value of its own.", ""),
    ("write-through", "A write is complete when the drives have the data.", DEVICES),
    (
        "write-back",
        "A write is complete when the cache has the data. Without a battery, a power loss loses it.",
        DEVICES,
    ),
    ("read-ahead", "Reading more data than requested, in case it is needed next.", DEVICES),
    ("direct I/O", "I/O that bypasses the cache. A job with direct=1 bypasses the kernel's page cache.", BENCH),
    ("scheduler", "The part of the kernel that orders requests to a device.", ""),
    ("queue depth", "Requests that a job keeps in flight at a time. fio: iodepth.", BENCH),
    ("staged", "Selected on the screen but not applied yet.", DEVICES),
    ("review", "The commands of a change, its risks and its undo, shown before the change is applied.", DEVICES),
    (
        "risk",
        "The worst possible consequence of a change: none, performance, data on power loss, outage, all data.",
        DEVICES,
    ),
    (
        "effect",
        "When a change is effective: at once, or after a reset, reboot, reshape or re-creation.",
        "",
    ),
    ("reshape", "Rearranging an array's data for a new layout while the array stays in use. This takes hours.", ""),
    ("re-creation", "Deleting an array and creating it again with the same members. All its data is lost.", DEVICES),
    ("trial", "A change that is reverted at its deadline unless you confirm it.", DEVICES),
    ("keep", "To confirm a trial, so that the new value stays.", ""),
    ("undo", "To restore the old value, unless another program has changed it meanwhile.", DEVICES),
    ("verified", "The value was read after the change and is the new one.", LOG),
    ("differs", "The tool accepted the change, but a different value was read afterwards.", LOG),
    ("conflict", "The value is neither the old nor the new one: another program set it. It is left unchanged.", LOG),
    ("persist", "To keep a setting across reboots.", ""),
)

_MEASURING = (
    ("job", "Parameters of a fio run: pattern, block size, queue depth, time.", BENCH),
    ("profile", "A named job that comes with raidbench.", BENCH),
    ("target", "The object of a command: a controller, an array, a drive or a scratch file.", BENCH),
    ("scratch file", "A file that raidbench creates to measure in, and removes afterwards.", BENCH),
    ("ramp", "The first seconds of a run, which are not measured.", BENCH),
    ("steady state", "Five rounds that range over at most 20 % and drift by at most 10 % (SNIA).", BENCH),
    (
        "preconditioning",
        "Writing a whole device before a measurement, so that it no longer behaves like a new one.",
        BENCH,
    ),
    ("run", "One execution of fio, with its results and the settings in force.", RUNS),
    ("IOPS", "Requests completed per second.", BENCH),
    (
        "latency",
        "Time from the submission of a request to its completion, including the submission. fio: lat.",
        BENCH,
    ),
    ("sync latency", "Time of a flush (fsync, fdatasync) after writes.", BENCH),
    ("p99", "The latency that 99 % of the requests do not exceed.", f"{BENCH} {RUNS}"),
    (
        "Little's law",
        "Requests in flight equal IOPS times mean latency. The product shows whether a queue depth was reached.",
        "",
    ),
    ("open loop", "Requests at a fixed rate, whether earlier ones are complete or not. fio: rate_iops.", SWEEP),
    ("Poisson arrivals", "Requests at random, independent times, as from many users.", ""),
    ("stall", "A time in which no I/O completes.", BENCH),
    ("advice", "Text about a condition that makes a measurement unreliable, with the next step.", BENCH),
    ("baseline", "The run or configuration with which others are compared.", f"{RUNS} {SWEEP}"),
    ("repeat", "Another run of the same job on the same target with the same settings.", RUNS),
    ("pair", "Two consecutive runs, one with the old value and one with the new value.", RUNS),
    (
        "experiment",
        "Two values of a setting, measured in pairs. The old value is restored at the end. Command: ab.",
        RUNS,
    ),
    (
        "provenance",
        "The environment of a run apart from job and settings: machine, slot, firmware, drives, queues.",
        "",
    ),
    (
        "interval",
        "The range of the true difference, with 95 % confidence unless another level is named.",
        f"{RUNS} {SWEEP}",
    ),
    (
        "verdict",
        "The result of a comparison, with its interval: faster, slower, no difference or not decided.",
        f"{RUNS} {SWEEP}",
    ),
    (
        "in turn",
        "Runs of both sides alternate in random order, so that a drift affects both equally.",
        RUNS,
    ),
    (
        "sweep",
        "Many configurations measured with many workloads. All settings are restored.",
        SWEEP,
    ),
    ("cell", "One configuration with one workload in a sweep.", SWEEP),
    ("saturation", "The queue depth above which more depth only adds latency.", SWEEP),
    (
        "knee",
        "The load with the best ratio of IOPS to latency. Above it, 1 % more load costs more than 1 % latency.",
        SWEEP,
    ),
    ("session", "All changes and results, recorded on disk.", LOG),
    ("archive", "A session as one file with checksums, which another machine can report and compare.", ""),
    ("journal", "A record on disk of each change and its undo, written before the change.", LOG),
    ("recover", "To undo a change that a crash interrupted.", LOG),
    ("simulated", "Measured on a simulated host (--demo), without real hardware.", ""),
)


def _terms(rows: tuple[tuple[str, str, str], ...]) -> tuple[Term, ...]:
    return tuple(Term(word=word, meaning=meaning, screens=tuple(screens.split())) for word, meaning, screens in rows)


CHAPTERS: dict[str, tuple[Term, ...]] = {
    "Hardware": _terms(_HARDWARE),
    "Settings": _terms(_SETTINGS),
    "Measurements": _terms(_MEASURING),
}
"""Headings of the glossary with their terms, in the order in which they are shown."""


def terms() -> tuple[Term, ...]:
    """Return all terms."""
    return tuple(term for chapter in CHAPTERS.values() for term in chapter)


def terms_of(screen: str) -> tuple[Term, ...]:
    """Return the terms that a screen's help explains, in alphabetical order."""
    return tuple(sorted((term for term in terms() if screen in term.screens), key=lambda term: term.word.casefold()))


def page() -> str:
    """Return the text of docs/glossary.md."""
    lines = [
        "# Glossary",
        "",
        "To show a term in a terminal, run `raidbench glossary WORD`. On a screen, `?` shows its terms.",
    ]
    for heading, chapter in CHAPTERS.items():
        lines += ["", f"## {heading}", "", "| word | meaning |", "| --- | --- |"]
        lines += [f"| {term.word} | {term.meaning} |" for term in chapter]
    return "\n".join(lines) + "\n"
