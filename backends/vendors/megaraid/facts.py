"""Data that any MegaRAID tool reports about a controller; the parsers create it, the backend reads it.

A field is None if the tool does not report it. A `ReportedValue` keeps the tool's text and its meaning. Text that is
not understood means `unknown`, never a default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TypeVar

from backends.model import Fact, Health, Level
from backends.values import dataclass
from backends.vendors._cards import BackgroundOperation, ReportedArray, ReportedCard, ReportedDrive, ReportedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An advanced software option."""

    name: str
    """Name in the tool, such as `MegaRAID FastPath` or `MegaRAID RAID5`."""
    state: ReportedValue
    """State of the option: `active` (no time limit), `trial`, `not-activated`, `unknown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheProtection:
    """Battery or CacheVault (supercapacitor) that protects the cache."""

    kind: str
    """`bbu` or `cachevault`."""
    state: ReportedValue
    """State: `optimal`, `charging`, `learning`, `degraded`, `failed`, `missing`, `unknown`."""
    healthy: bool | None = None
    """Whether cached writes now survive a power cut; None if unknown."""
    temperature_c: int | None = None
    """Temperature in degrees Celsius."""
    voltage: float | None = None
    """Voltage in volts."""
    learning: bool | None = None
    """Whether a learn cycle is running; write-back is suspended meanwhile."""
    next_learn: str | None = None
    """Time of the next learn cycle, as the tool prints it."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Other values to display, by label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """Cache policies of a virtual drive."""

    write_cache: ReportedValue | None = None
    """Write policy: `write-through`, `write-back`, `always-write-back`."""
    read_ahead: ReportedValue | None = None
    """Read policy: `none`, `read-ahead`, `adaptive`."""
    io_policy: ReportedValue | None = None
    """I/O policy: `direct`, `cached`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualDrive(ReportedArray):
    """A virtual drive."""

    card: int
    """Number of its controller."""
    group: int | None = None
    """Number of its drive group."""
    spans: int | None = None
    """Number of spans; 1 if not spanned."""
    drives_per_span: int | None = None
    """Drives in each span."""
    access: ReportedValue | None = None
    """Access policy: `read-write`, `read-only`, `blocked`, `hidden`."""
    configured: Policies = field(default_factory=Policies)
    """Configured policies, which the tools call default."""
    in_force: Policies | None = None
    """Effective policies, which the tools call current; None if the tool does not report them separately."""
    drive_cache: ReportedValue | None = None
    """State of the member drives' caches: `on`, `off`, `default`."""
    bad_bbu_write_back: bool | None = None
    """Whether the write cache stays on with a bad battery (MegaCli's CachedBadBBU); part of always-write-back."""
    auto_bgi: bool | None = None
    """Whether background initialisation starts automatically."""
    os_device: str | None = None
    """Device node that the tool reports: `/dev/sdb`."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Background operations on it."""
    secured: bool | None = None
    """Whether it is encrypted."""
    alone: bool | None = None
    """Whether it is the only virtual drive of its drive group and the group has no free space; None if not reported."""
    ssd_cache: bool = False
    """Whether this is a CacheCade cache rather than a virtual drive."""
    lost: bool | None = None
    """Whether some of its blocks are lost because no member can supply their data."""
    cache_bypass: ReportedValue | None = None
    """Cache bypass mode, in the values of the setting `cache_bypass_mode`."""
    cached: ReportedValue | None = None
    """Whether a CacheCade cache serves it: `off`, `reads`, `reads and writes`, or `on` if the tool gives no details."""
    refused: str = ""
    """Clause that says why all output about it is refused; "" if it is accepted."""


COPYBACK = "copyback"
"""Kind of the operation that copies a drive to its replacement."""

PRESERVED = "The controller has unwritten data of a missing array (preserved cache)"
"""Message about a controller with preserved cache. It refuses to create arrays until that cache is gone, so a virtual
drive that is deleted before then cannot be re-created."""

GOOD = re.compile(r"ugood|uconf(?:/(?:online|good))?|unconfigured ?\(?good\)?(?:, .{1,40})?", re.IGNORECASE)
"""Pattern of the states that the tools print for a free and usable drive. Unsupported drives and drives in a self-test
have other states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicalDrive(ReportedDrive):
    """A drive behind the controller."""

    card: int
    """Number of its controller."""
    enclosure: int | None
    """Device id of the enclosure; None if directly attached."""
    slot: int | None
    """Slot number."""
    device_id: int | None = None
    """Device id (DID, PID)."""
    group: int | None = None
    """Number of its drive group; None if it is in none."""
    foreign: bool | None = None
    """Whether it carries a foreign configuration."""
    temperature_c: int | None = None
    """Temperature in degrees Celsius."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Error counters: `media`, `other`, `predictive`."""
    locked: bool | None = None
    """Whether it is self-encrypting and locked, so that its data can be neither read nor written."""
    alert: bool | None = None
    """Whether it has flagged a S.M.A.R.T. alert, which predicts its failure."""
    copyback: bool | None = None
    """Whether a copyback that involves this drive is running, as source or as replacement."""
    inquiry: str | None = None
    """Raw inquiry string from MegaCli, in which vendor, model and serial number are not separated."""
    volumes: tuple[int, ...] = ()
    """Numbers of its virtual drives, if reported."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Background operations on it: rebuild, copyback, erase."""
    refused: str = ""
    """Clause that says why all output about it is refused; "" if it is accepted."""

    @property
    def health(self) -> Health:
        """Return the health of the drive, from its error counters and states."""
        predictive = self.errors.get("predictive")
        alert = predictive > 0 if self.alert is None and predictive is not None else self.alert
        return Health(
            predicts_failure=alert,
            media_errors=self.errors.get("media"),
            other_errors=self.errors.get("other"),
            predictive_errors=predictive,
            temperature=None if self.temperature_c is None else float(self.temperature_c),
            locked=self.locked,
            foreign=self.foreign,
            copyback=self.copyback or any(job.kind == COPYBACK for job in self.jobs) or None,
        )

    @property
    def place(self) -> str:
        """Return its enclosure and slot: `245:1`, or `:1` without an enclosure."""
        return f"{'' if self.enclosure is None else self.enclosure}:{'?' if self.slot is None else self.slot}"


Part = TypeVar("Part", VirtualDrive, PhysicalDrive)
"""Kinds of objects that output about a controller lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(ReportedCard):
    """A RAID controller."""

    number: int
    """Number in the tool; it need not start at 0."""
    package: str | None = None
    """Firmware package."""
    host_number: int | None = None
    """Number of the SCSI host, if reported."""
    memory_errors: int | None = None
    """Number of uncorrectable ECC errors of the controller's memory; None if not reported."""
    backup: CacheProtection | None = None
    """Battery or CacheVault; None if none is fitted or the tool does not report it (see `backup_known`)."""
    backup_known: bool = False
    """Whether the tool reports if a battery or CacheVault is fitted."""
    options: tuple[Option, ...] = ()
    """Advanced software options."""
    safe_id: str | None = None
    """Safe id, to which activation keys are bound."""
    supports: Mapping[str, bool] = field(default_factory=dict)
    """Whether the controller supports an operation, by setting key or one of `fastpath`, `perf_tuning`, `jbod`,
    `ssd_cache`, `drive_cache_on_ssd` (changes of the drive caches of SSDs). Keys that the tool does not report are
    missing."""
    makes_arrays: bool | None = None
    """Whether it is a RAID controller; False for a host bus adapter, which passes its drives to the operating system;
    None if unknown."""
    strip_minimum: int | None = None
    """Smallest strip size in bytes."""
    strip_maximum: int | None = None
    """Largest strip size in bytes."""
    values: Mapping[str, ReportedValue] = field(default_factory=dict)
    """Settings of the controller by key: `rebuild_rate`, `bgi_rate`, `cc_rate`, `migrate_rate`, `patrol_read_rate`,
    `cache_flush_interval` (digits), `patrol_read` (`off`, `auto`, `manual`), `consistency_check` (`off`, `sequential`,
    `concurrent`), `perf_mode` (digits), `jbod` (`on`, `off`), and those of `MORE_CARD_SETTINGS`."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """Values that raidbench shows but never sets, by the labels of `NEVER_SET`."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Background operations of the controller."""


PERSONALITY, JBOD, IMPORT, PRESERVED_BOOT, SSD_CACHE = (
    "Personality",
    "JBOD mode",
    "Foreign import (factory default)",
    "Boot with preserved cache",
    "CacheCade size",
)
"""Labels of values that raidbench shows but never sets."""

NEVER_SET: Mapping[str, str] = {
    PERSONALITY: "a change needs a reboot and may destroy arrays",
    JBOD: "it changes which drives the system sees, and may hide drives",
    IMPORT: "an imported configuration may replace present arrays",
    PRESERVED_BOOT: "it affects unwritten data of missing arrays",
    SSD_CACHE: "the cache of SSDs would be deleted and re-created",
}
"""Reason, as a clause, why raidbench never sets a value, by the label of the value."""


def shown_facts(shown: Mapping[str, str]) -> Iterable[Fact]:
    """Yield a fact for each value in `shown`, which contains the reported values by label."""
    for label, why in NEVER_SET.items():
        if label in shown:
            yield Fact(label=label, value=f"{shown[label]} (raidbench does not set it: {why})")


_PLAIN = {0: Level.RAID0, 1: Level.RAID1, 4: Level.RAID4, 5: Level.RAID5, 6: Level.RAID6, 15: Level.JBOD}
_SPANNED = {0: Level.RAID0, 1: Level.RAID10, 5: Level.RAID50, 6: Level.RAID60}
"""Levels of arrays over several spans, by SNIA DDF's primary level. All other primary levels, such as 17 (RAID 1E), 2
and 3, are reported as unknown. RAID 00 is RAID 0 over several spans."""

_SECONDARY_STRIPED = (0, 3)
"""DDF's secondary levels that stripe over the spans: 0 (stripe) and 3 (spanned). Level 1 mirrors the spans, and 2
concatenates them."""


def ddf_level(primary: int, secondary: int, spans: int) -> Level:
    """Return the level for SNIA DDF's primary and secondary level and the number of spans."""
    if secondary not in _SECONDARY_STRIPED:
        return Level.UNKNOWN
    spanned = secondary == 3 or spans > 1
    return (_SPANNED if spanned else _PLAIN).get(primary, Level.UNKNOWN)
