"""Legal values of each setting, each with an explanation and its risk on a given controller. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from backends.settings import Choice, Risk, offer
from backends.sizes import exact_text
from backends.vendors._cards import UNKNOWN
from backends.vendors.megaraid.effective import is_protected, protection_text
from backends.vendors.megaraid.facts import Card

PRESET = "preset"
"""Value of `fastpath` that sets write-through, no read-ahead and direct I/O."""

POLICIES: Mapping[str, tuple[str, ...]] = {
    "write_cache": ("write-through", "write-back", "always-write-back"),
    "read_ahead": ("none", "read-ahead", "adaptive"),
    "io_policy": ("direct", "cached"),
}
"""Legal values of each policy that FastPath depends on, by setting key. A value of `fastpath` lists the policies in the
order of these keys."""

FASTPATH_PARTS = {"write_cache": "write-through", "read_ahead": "none", "io_policy": "direct"}
"""Policies that the preset of `fastpath` sets, by setting key."""


def policies_in(value: str) -> dict[str, str]:
    """Return the three policies that a value of `fastpath` sets, by key, or an empty dict if the value is not legal."""
    choices = list(FASTPATH_PARTS.values()) if value == PRESET else value.split(" + ")
    by_key = dict(zip(POLICIES, choices, strict=False))
    legal = len(choices) == len(POLICIES) and all(by_key[key] in POLICIES[key] for key in by_key)
    return by_key if legal else {}


def write_cache(card: Card) -> tuple[Choice, ...]:
    """Return the choices for the write policy.

    Write-back risks data only while the battery or CacheVault is not healthy.
    """
    unsafe = is_protected(card) is not True
    text = f" Now {protection_text(card)}." if unsafe else ""
    return (
        offer("write-through", "A write is acknowledged when the drives have it."),
        offer(
            "write-back",
            ("A write is acknowledged when the controller's memory has it, while the battery or CacheVault is healthy.")
            + text,
            risk=Risk.POWER_LOSS if unsafe else Risk.NONE,
        ),
        offer(
            "always-write-back",
            "Write-back even without a healthy battery. A power failure then loses acknowledged writes." + text,
            label="always write-back",
            risk=Risk.POWER_LOSS,
        ),
    )


def io_policy(card: Card) -> tuple[Choice, ...]:
    """Return the choices for the I/O policy. Cached I/O also caches writes, so it carries the risk of write-back."""
    unsafe = is_protected(card) is not True
    return (
        offer("direct", "Reads are not cached in the controller's memory."),
        offer(
            "cached",
            "Reads are cached in the controller's memory, and writes as well, regardless of the write policy.",
            risk=Risk.POWER_LOSS if unsafe else Risk.NONE,
        ),
    )


READ_AHEAD = (
    offer("none", "Only the requested data is read. Suits flash and random load, and FastPath requires it."),
    offer("read-ahead", "The controller always reads ahead. Suits sequential load on hard disks."),
    offer("adaptive", "The controller reads ahead after two sequential reads. Only old controllers support this."),
)
DRIVE_CACHE = (
    offer(
        "on",
        "The drives cache writes. A power failure loses them unless the drives have power-loss protection.",
        risk=Risk.POWER_LOSS,
    ),
    offer("off", "The drives acknowledge a write when it is on the medium."),
    offer(
        "default", "The default of the drives: most SATA drives cache, most SAS drives do not.", risk=Risk.POWER_LOSS
    ),
)
BIRTH: Mapping[str, tuple[str, ...]] = {**POLICIES, "drive_cache": tuple(choice.value for choice in DRIVE_CACHE)}
"""Legal values of a virtual drive's policies when it is created, by setting key."""

ACCESS = (
    offer("read-write", "Reads and writes are allowed."),
    offer("read-only", "The controller refuses writes.", risk=Risk.OUTAGE),
    offer("blocked", "The controller refuses reads and writes.", risk=Risk.OUTAGE),
)
AUTO_BGI = (
    offer("on", "Parity of a new virtual drive is written in the background."),
    offer("off", "Parity is not written: less background I/O, but unverified parity.", risk=Risk.PERFORMANCE),
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
        offer(
            f"{mode}-{size}k",
            f"Writes of at least {size} KiB may bypass the cache, in the firmware's mode {label}.",
            label=f"{label}, {size} KiB",
            risk=Risk.PERFORMANCE,
        )
        for mode, label in _BYPASS.items()
        for size in (64, 128, 256)
    ),
    offer("off", "All writes follow the write policy.", risk=Risk.PERFORMANCE),
)
PATROL_READ = (
    offer("auto", "On the controller's schedule."),
    offer("manual", "Only when it is started manually.", risk=Risk.PERFORMANCE),
    offer("off", "Never.", risk=Risk.PERFORMANCE),
)
CONSISTENCY_CHECK = (
    offer("concurrent", "All virtual drives at once, on a schedule."),
    offer("sequential", "One virtual drive after the other, on a schedule."),
    offer("off", "No scheduled check.", risk=Risk.PERFORMANCE),
)
PERF_MODE = (
    offer("0", "The controller collects requests to increase throughput.", label="most IOPS"),
    offer("1", "The controller processes requests in order of arrival.", label="least latency"),
)


def strips(card: Card) -> tuple[Choice, ...]:
    """Return the choices for the strip size, smallest first, or () if the controller reports no limits."""
    low, high = card.strip_minimum, card.strip_maximum
    if low is None or high is None:
        return ()
    sizes = [1 << power for power in range(13, 21) if low <= 1 << power <= high]
    return tuple(
        offer(
            str(size),
            "The virtual drive is deleted and re-created. All data on it is lost.",
            label=exact_text(size),
            risk=Risk.DESTROYS_DATA,
        )
        for size in sizes
    )


def fastpath(now: str) -> tuple[Choice, ...]:
    """Return the choices for `fastpath`: the preset and, if it differs, the current value `now`."""
    preset = offer(PRESET, "Write-through, no read-ahead and direct I/O, as FastPath requires.", label="preset")
    if now in (PRESET, UNKNOWN):
        return (preset,)
    return (preset, offer(now, "The present values."))
