"""Terms of raidbench with one meaning each: source of the screens' help, `glossary` and docs/glossary.md."""

from __future__ import annotations

from backends.values import dataclass

DEVICES, BENCH, RUNS, SWEEP, LOG = "devices", "bench", "runs", "sweep", "log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term with its meaning."""

    word: str
    """The term as it is written in a sentence."""
    meaning: str
    """One or two sentences."""
    screens: tuple[str, ...] = ()
    """Screens whose help explains it: `devices`, `bench`, `runs`, `sweep`, `log`."""


_HARDWARE = (
    (
        "array",
        "Several drives that act as one device. A controller's array is a virtual drive, the kernel's is md.",
        "",
    ),
    (
        "virtual drive",
        "An array as a RAID controller presents it to the operating system. Also: VD, logical drive.",
        DEVICES,
    ),
    ("member", "A drive or partition that an array is made of.", f"{DEVICES} {BENCH}"),
    ("origin", "The slow volume behind a dm-cache or writecache. bcache calls it the backing device.", BENCH),
    ("hit share", "The share of reads that a cache served, or of writes that it took, by its own counts.", BENCH),
    ("hot spare", "A drive that takes the place of a failed member by itself.", DEVICES),
    (
        "degraded",
        "An array that works with fewer members than it should have: one more failure may lose data.",
        DEVICES,
    ),
    (
        "rebuild",
        "Writing a failed member's data to its replacement. Measurements made meanwhile have no verdict.",
        BENCH,
    ),
    ("volume group", "Physical volumes that LVM shares out among logical volumes.", ""),
    ("logical volume", "A device that LVM makes of parts of a volume group: plain, striped, RAID, cached or thin.", ""),
    ("pool", "Disks that ZFS keeps its filesystems and volumes on, in groups (vdevs) such as mirror or raidz.", ""),
    ("dataset", "A filesystem or a volume (zvol) of a ZFS pool. A zvol is a block device, /dev/zd0.", ""),
    ("ARC", "The cache that ZFS keeps in memory for all pools; L2ARC is its extension on cache devices.", ""),
    ("resync", "Linux md making all copies or the parity of an array agree.", ""),
    (
        "initialisation",
        "A controller writing a new array's parity or zeros for the first time, often in the background.",
        "",
    ),
    ("patrol read", "A controller reading all drives in the background to find bad sectors.", ""),
    ("consistency check", "Reading an array in full and comparing its data with its copies or parity.", ""),
    ("strip", "What one member holds before the next member's turn comes, in KiB. md calls it a chunk.", DEVICES),
    ("full stripe", "A strip of every data drive. A write of this size and alignment needs no reading first.", DEVICES),
    ("data drives", "Members that hold data, parity and copies left out: 4 of a RAID 6 of 6.", ""),
    ("foreign", "A drive that carries the configuration of another controller.", ""),
    (
        "container",
        "Disks that share one vendor's metadata (Intel VROC, DDF); their volumes are md arrays made in it.",
        "",
    ),
    ("flush", "Writing back what a write-back cache alone has, so that the slow part has it too.", ""),
    ("backing device", "The slow disk of a bcache device, which has all data but what is dirty.", ""),
    ("cache set", "What bcache makes of a cache device. It serves one or several backing devices.", ""),
    ("dirty", "Of data: in a write-back cache and not yet on the disk beneath. Without that cache they are lost.", ""),
    ("JBOD", "A drive that a RAID controller passes on as it is.", ""),
    (
        "battery",
        "What keeps a controller's cache alive when the power fails: a battery, or a capacitor with flash.",
        DEVICES,
    ),
    ("learn cycle", "The battery testing itself. Meanwhile write-back often falls back to write-through.", ""),
    ("power-loss protection", "A drive's own capacitors, which save its cache when the power fails.", ""),
    ("over-provisioning", "Flash that an SSD keeps for itself, so that it finds free blocks under load.", ""),
    ("wear", "The share of its rated writes that an SSD has used.", ""),
    ("LBA format", "Size of an NVMe block and of its metadata. Another one means that the namespace is formatted.", ""),
)

_SETTINGS = (
    ("setting", "One thing that can be changed on a device, with its legal values.", ""),
    ("configured", "What a setting was set to.", DEVICES),
    ("in force", "What the device really does now: write-back may be configured, write-through in force.", DEVICES),
    ("inherit", "To have no value of one's own: a ZFS dataset then follows the one above it, or the default.", ""),
    ("write-through", "A write is done when the drives have it.", DEVICES),
    (
        "write-back",
        "A write is done when the controller's cache has it. A power loss without a battery loses it.",
        DEVICES,
    ),
    ("read-ahead", "Reading more than was asked for, in case it is wanted next.", DEVICES),
    ("direct I/O", "Past a cache. A job with direct=1 passes by the kernel's page cache.", BENCH),
    ("scheduler", "The part of the kernel that orders requests before a device gets them.", ""),
    ("queue depth", "Requests that a job keeps in flight at one time. fio: iodepth.", BENCH),
    ("staged", "Chosen on the screen and not yet applied.", DEVICES),
    ("review", "What would be run, what it risks, how it is taken back: shown before anything is changed.", DEVICES),
    (
        "risk",
        "The worst that a change may do: nothing, performance, data on a power loss, an outage, all data.",
        DEVICES,
    ),
    ("effect", "When a change takes effect: at once, after a reset or a reboot, or by a reshape or a new array.", ""),
    ("reshape", "An array rearranging its data for a new layout while it stays in use. It takes hours.", ""),
    ("re-creation", "Deleting an array and making it anew with the same members. All its data are lost.", DEVICES),
    ("trial", "A change that takes itself back at its deadline unless somebody keeps it.", DEVICES),
    ("keep", "To end a trial and leave the new value.", ""),
    ("undo", "To set the old value again, if nobody else has changed it meanwhile.", DEVICES),
    ("verified", "The value was read back after the change and is the new one.", LOG),
    ("differs", "The tool accepted the change, and another value was read back.", LOG),
    ("conflict", "The value is neither the old nor the new one: somebody else set it. It is left alone.", LOG),
    ("persist", "To keep a setting over a reboot.", ""),
)

_MEASURING = (
    ("job", "What fio is to do: pattern, block size, queue depth, time.", BENCH),
    ("profile", "A job with a name that comes with raidbench.", BENCH),
    ("target", "What is set or measured: a controller, an array, a drive, or a scratch file.", BENCH),
    ("scratch file", "A file that raidbench makes to measure in, and removes.", BENCH),
    ("ramp", "The first seconds of a run, which are not counted.", BENCH),
    ("steady state", "Five rounds that neither range over more than 20 % nor drift by more than 10 % (SNIA).", BENCH),
    ("preconditioning", "Writing a device in full before it is measured, so that it is no longer fresh.", BENCH),
    ("run", "One start of fio, with its figures and the settings in force.", RUNS),
    ("IOPS", "Requests completed in a second.", BENCH),
    ("latency", "Time from handing a request over to its completion, its submission included. fio: lat.", BENCH),
    ("sync latency", "Time that a flush (fsync, fdatasync) takes after writes.", BENCH),
    ("p99", "The latency that 99 % of the requests stay within.", f"{BENCH} {RUNS}"),
    (
        "Little's law",
        "Requests in flight are IOPS by mean latency: what tells whether a queue depth was kept.",
        "",
    ),
    ("open loop", "A load that comes at a rate, whatever the device does with it. fio: rate_iops.", ""),
    ("Poisson arrivals", "Requests that come at random and independently, as from many users.", ""),
    ("stall", "A stretch of time in which nothing completes.", BENCH),
    ("advice", "What makes a measurement worthless, said while it can still be mended.", BENCH),
    ("baseline", "The run or set-up that others are compared with.", f"{RUNS} {SWEEP}"),
    ("repeat", "A run of the same job on the same target under the same settings.", RUNS),
    ("pair", "Two runs next to each other, one with the old value and one with the new.", RUNS),
    ("experiment", "A setting measured in pairs, and put back. On the command line: ab.", RUNS),
    (
        "provenance",
        "All that a run came from beside its job and settings: machine, slot, firmware, drives, queues.",
        "",
    ),
    (
        "interval",
        "Where the true difference lies, with 95 % confidence or the one named.",
        f"{RUNS} {SWEEP}",
    ),
    (
        "verdict",
        "What a comparison shows, with its interval: faster, slower, no difference, or not decided.",
        f"{RUNS} {SWEEP}",
    ),
    ("in turn", "Runs of both sides measured in pairs in drawn order, so that a drift meets both alike.", RUNS),
    ("sweep", "Many set-ups measured under many workloads in a balanced order. Everything is put back.", SWEEP),
    ("cell", "One set-up under one workload in a sweep.", SWEEP),
    ("saturation", "The queue depth from which on more depth only adds latency.", SWEEP),
    ("open load", "Requests that come at an asked rate and at random, whether those before are done or not.", SWEEP),
    ("knee", "The load with the most IOPS by latency: beyond it 1 % more load costs more than 1 %.", SWEEP),
    ("session", "Everything that was done and measured, on disk, and folded into what the screens show.", LOG),
    ("archive", "A session as one file with checksums, which another machine can report and compare.", ""),
    ("journal", "What is about to be changed and how it is taken back, written to disk before the change.", LOG),
    ("recover", "To put back what a crash left in the middle.", LOG),
    ("simulated", "Answered by the rack of --demo: no hardware is touched.", ""),
)


def _terms(rows: tuple[tuple[str, str, str], ...]) -> tuple[Term, ...]:
    return tuple(Term(word=word, meaning=meaning, screens=tuple(screens.split())) for word, meaning, screens in rows)


CHAPTERS: dict[str, tuple[Term, ...]] = {
    "What is there": _terms(_HARDWARE),
    "What is set": _terms(_SETTINGS),
    "What is measured": _terms(_MEASURING),
}
"""Headings with their terms, in reading order."""


def terms() -> tuple[Term, ...]:
    """Return all terms."""
    return tuple(term for chapter in CHAPTERS.values() for term in chapter)


def terms_of(screen: str) -> tuple[Term, ...]:
    """Return the terms that a screen's help explains, in alphabetical order."""
    return tuple(sorted((term for term in terms() if screen in term.screens), key=lambda term: term.word.casefold()))


def page() -> str:
    """Return the text of docs/glossary.md."""
    lines = ["# The words", "", "`raidbench glossary WORD` says them on a terminal, `?` those of a screen."]
    for heading, chapter in CHAPTERS.items():
        lines += ["", f"## {heading}", "", "| word | meaning |", "| --- | --- |"]
        lines += [f"| {term.word} | {term.meaning} |" for term in chapter]
    return "\n".join(lines) + "\n"
