"""The legal values of each setting, with a sentence and the risk of each on this card. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from backends.settings import Choice, Risk
from backends.sizes import exact_words
from backends.vendors.megaraid.effective import protected, protection_words
from backends.vendors.megaraid.facts import UNKNOWN, Card

PRESET = "preset"
"""Value of `fastpath` that stands for write-through, no read-ahead and direct I/O."""

POLICIES: Mapping[str, tuple[str, ...]] = {
    "write_cache": ("write-through", "write-back", "always-write-back"),
    "read_ahead": ("none", "read-ahead", "adaptive"),
    "io_policy": ("direct", "cached"),
}
"""The policies that FastPath depends on, in the order in which they are told as one, and what each may be."""

FASTPATH_PARTS = {"write_cache": "write-through", "read_ahead": "none", "io_policy": "direct"}
"""What the preset sets."""


def policies_in(value: str) -> dict[str, str]:
    """The three policies by key that a value of `fastpath` stands for; nothing where it is none."""
    words = list(FASTPATH_PARTS.values()) if value == PRESET else value.split(" + ")
    found = dict(zip(POLICIES, words, strict=False))
    known = len(words) == len(POLICIES) and all(found[key] in POLICIES[key] for key in found)
    return found if known else {}


def write_cache(card: Card) -> tuple[Choice, ...]:
    """Write-back risks data only while the card has nothing healthy to keep it."""
    unsafe = protected(card) is not True
    words = f" Now {protection_words(card)}." if unsafe else ""
    return (
        Choice(value="write-through", label="write-through", help="A write is done when the drives have it."),
        Choice(
            value="write-back",
            label="write-back",
            help="A write is done when the card's memory has it, as long as battery or CacheVault are healthy." + words,
            risk=Risk.POWER_LOSS if unsafe else Risk.NONE,
        ),
        Choice(
            value="always-write-back",
            label="always write-back",
            help="The same even without a healthy battery: a power cut then loses what was reported written." + words,
            risk=Risk.POWER_LOSS,
        ),
    )


def io_policy(card: Card) -> tuple[Choice, ...]:
    """Cached I/O caches writes, too."""
    unsafe = protected(card) is not True
    return (
        Choice(value="direct", label="direct", help="Reads are not kept in the card's memory."),
        Choice(
            value="cached",
            label="cached",
            help="Reads are kept in the card's memory, and writes too, whatever the write policy says.",
            risk=Risk.POWER_LOSS if unsafe else Risk.NONE,
        ),
    )


READ_AHEAD = (
    Choice(value="none", label="none", help="Only what was asked for is read: for flash, random load and FastPath."),
    Choice(value="read-ahead", label="read-ahead", help="The card always reads on: for sequential load on hard disks."),
    Choice(value="adaptive", label="adaptive", help="The card reads on after two sequential reads. Old cards only."),
)
DRIVE_CACHE = (
    Choice(
        value="on",
        label="on",
        help="The drives cache writes: lost at a power cut unless they are protected themselves.",
        risk=Risk.POWER_LOSS,
    ),
    Choice(value="off", label="off", help="The drives report a write when it is on the medium."),
    Choice(
        value="default",
        label="default",
        help="As the drives come: most SATA drives cache, most SAS drives do not.",
        risk=Risk.POWER_LOSS,
    ),
)
BIRTH: Mapping[str, tuple[str, ...]] = {**POLICIES, "drive_cache": tuple(choice.value for choice in DRIVE_CACHE)}
"""What a virtual drive is made with, and what each may be."""

ACCESS = (
    Choice(value="read-write", label="read-write", help="As usual."),
    Choice(value="read-only", label="read-only", help="The card refuses writes.", risk=Risk.OUTAGE),
    Choice(value="blocked", label="blocked", help="The card refuses everything.", risk=Risk.OUTAGE),
)
AUTO_BGI = (
    Choice(value="on", label="on", help="Parity of a new virtual drive is written in the background."),
    Choice(value="off", label="off", help="It is not: less disturbance, unchecked parity.", risk=Risk.PERFORMANCE),
)
_BYPASS = {
    "intelligent": "intelligent",
    "standard": "standard",
    "custom-1": "custom 1",
    "custom-2": "custom 2",
    "custom-3": "custom 3",
}
CACHE_BYPASS_MODES = (
    *(
        Choice(
            value=f"{mode}-{size}k",
            label=f"{label}, {size} KiB",
            help=f"Writes of at least {size} KiB may go past the cache, by the firmware's mode {label}.",
            risk=Risk.PERFORMANCE,
        )
        for mode, label in _BYPASS.items()
        for size in (64, 128, 256)
    ),
    Choice(value="off", label="off", help="All writes go by the write policy.", risk=Risk.PERFORMANCE),
)
PATROL_READ = (
    Choice(value="auto", label="auto", help="By the card's schedule."),
    Choice(value="manual", label="manual", help="Only when it is started by hand.", risk=Risk.PERFORMANCE),
    Choice(value="off", label="off", help="Never.", risk=Risk.PERFORMANCE),
)
CONSISTENCY_CHECK = (
    Choice(value="concurrent", label="concurrent", help="All virtual drives at once, by schedule."),
    Choice(value="sequential", label="sequential", help="One virtual drive after the other, by schedule."),
    Choice(value="off", label="off", help="Never by schedule.", risk=Risk.PERFORMANCE),
)
PERF_MODE = (
    Choice(value="0", label="most IOPS", help="The card gathers work to get through more of it."),
    Choice(value="1", label="least latency", help="The card works on requests as they come."),
)


def strips(card: Card) -> tuple[Choice, ...]:
    """Every power of two between the smallest and the largest strip of the card; none if it does not say."""
    low, high = card.strip_minimum, card.strip_maximum
    if low is None or high is None:
        return ()
    sizes = [1 << power for power in range(13, 21) if low <= 1 << power <= high]
    return tuple(
        Choice(
            value=str(size),
            label=exact_words(size),
            help="The virtual drive is deleted and made again: everything on it is lost.",
            risk=Risk.DESTROYS_DATA,
        )
        for size in sizes
    )


def fastpath(now: str) -> tuple[Choice, ...]:
    """The preset, and what is set now when that is something else."""
    preset = Choice(
        value=PRESET,
        label="preset",
        help="Write-through, no read-ahead and direct I/O: what FastPath wants.",
    )
    if now in (PRESET, UNKNOWN):
        return (preset,)
    return (preset, Choice(value=now, label=now, help="As it is now.", risk=Risk.NONE))
