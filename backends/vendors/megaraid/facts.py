"""What a MegaRAID tool says of a card, whichever tool and version: parsers make these, the backend reads them.

A field is None where the tool did not say. A `ReportedValue` keeps the tool's word beside what it means; a word that
is not understood means `unknown`, never a default.
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
    """`MegaRAID FastPath`, `MegaRAID RAID5`, ..."""
    state: ReportedValue
    """`active` (without limit of time), `trial`, `not-activated`, `unknown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheProtection:
    """Battery or CacheVault (supercapacitor) of the cache."""

    kind: str
    """`bbu` or `cachevault`."""
    state: ReportedValue
    """`optimal`, `charging`, `learning`, `degraded`, `failed`, `missing`, `unknown`."""
    healthy: bool | None = None
    """Whether write-back is kept over a power cut now; None if it cannot be told."""
    temperature_c: int | None = None
    """Degrees Celsius."""
    voltage: float | None = None
    """Volts."""
    learning: bool | None = None
    """A learn cycle is under way (write-back is write-through meanwhile)."""
    next_learn: str | None = None
    """When, in the tool's words."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Anything else worth a line, label to value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """Cache policies of a virtual drive."""

    write_cache: ReportedValue | None = None
    """`write-through`, `write-back`, `always-write-back`."""
    read_ahead: ReportedValue | None = None
    """`none`, `read-ahead`, `adaptive`."""
    io_policy: ReportedValue | None = None
    """`direct`, `cached`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualDrive(ReportedArray):
    """A virtual drive."""

    card: int
    """Number of its card."""
    group: int | None = None
    """Drive group."""
    spans: int | None = None
    """Number of spans; 1 when not spanned."""
    drives_per_span: int | None = None
    """Drives in each span."""
    access: ReportedValue | None = None
    """`read-write`, `read-only`, `blocked`, `hidden`."""
    configured: Policies = field(default_factory=Policies)
    """The policies that are set (default)."""
    in_force: Policies | None = None
    """The policies in force, where the tool tells them apart (current); None where it does not."""
    drive_cache: ReportedValue | None = None
    """`on`, `off`, `default`: the drives' own caches."""
    bad_bbu_write_back: bool | None = None
    """Write cache kept on with a bad battery (MegaCli's CachedBadBBU); part of always-write-back."""
    auto_bgi: bool | None = None
    """Background initialisation starts by itself."""
    os_device: str | None = None
    """`/dev/sdb` as the tool says."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Background work on it."""
    secured: bool | None = None
    """Encrypted."""
    alone: bool | None = None
    """It has its drive group to itself, with no room left beside it; None if not told."""
    ssd_cache: bool = False
    """It is no volume but a CacheCade cache of one."""
    lost: bool | None = None
    """Whether it has blocks that no member can supply any more."""
    cache_bypass: ReportedValue | None = None
    """Which writes go past the cache, in the vocabulary of `cache_bypass_mode`."""
    cached: ReportedValue | None = None
    """Whether a CacheCade cache serves it: `off`, `reads`, `reads and writes`, `on` where the tool says no more."""
    refused: str = ""
    """Why nothing that the answer says of it is believed, as a clause; "" where it is."""


COPYBACK = "copyback"
"""Kind of the work that copies a drive to the one that replaces it."""

PRESERVED = "The card keeps unwritten data of a missing array (preserved cache)"
"""A notice of a card that makes no array meanwhile: whoever deletes one to make it anew has none."""

GOOD = re.compile(r"ugood|uconf(?:/(?:online|good))?|unconfigured ?\(?good\)?(?:, .{1,40})?", re.IGNORECASE)
"""How the tools call a drive that may be used; one that tests itself or is not supported has other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicalDrive(ReportedDrive):
    """A drive behind the card."""

    card: int
    """Number of its card."""
    enclosure: int | None
    """Enclosure device id; None when it is directly attached."""
    slot: int | None
    """Slot."""
    device_id: int | None = None
    """DID / PID."""
    group: int | None = None
    """Drive group; None if it is in none."""
    foreign: bool | None = None
    """Whether it carries a foreign configuration."""
    temperature_c: int | None = None
    """Degrees Celsius."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Counters: `media`, `other`, `predictive`."""
    locked: bool | None = None
    """Encrypts itself and is locked: what lies on it cannot be read, nor written."""
    alert: bool | None = None
    """It has itself flagged a S.M.A.R.T. alert: it predicts that it fails."""
    copyback: bool | None = None
    """Whether the controller copies data to it from a drive that it will replace, or the other way round."""
    inquiry: str | None = None
    """MegaCli's raw inquiry string, which mixes vendor, model and serial."""
    volumes: tuple[int, ...] = ()
    """Virtual drives it is a member of, if told."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Rebuild, copyback, erase."""
    refused: str = ""
    """Why nothing that the answer says of it is believed, as a clause; "" where it is."""

    @property
    def health(self) -> Health:
        """Its condition."""
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
        """`245:1`, or `:1` without an enclosure."""
        return f"{'' if self.enclosure is None else self.enclosure}:{'?' if self.slot is None else self.slot}"


Part = TypeVar("Part", VirtualDrive, PhysicalDrive)
"""What an answer about a card lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(ReportedCard):
    """A RAID controller."""

    number: int
    """Its number in the tool; need not begin at 0."""
    package: str | None = None
    """Firmware package."""
    host_number: int | None = None
    """SCSI host, where told."""
    memory_errors: int | None = None
    """Number of ECC errors of the controller's memory that could not be corrected; None if not reported."""
    backup: CacheProtection | None = None
    """Battery or CacheVault; None if none is fitted or nothing is said: see `backup_known`."""
    backup_known: bool = False
    """Whether the tool said if there is one."""
    options: tuple[Option, ...] = ()
    """Advanced software options."""
    safe_id: str | None = None
    """Safe id that activation keys are bound to."""
    supports: Mapping[str, bool] = field(default_factory=dict)
    """Supported operations by our keys: `write_cache`, `read_ahead`, `io_policy`, `drive_cache`, `access_policy`,
    `fastpath`, `perf_tuning`, `jbod`, `ssd_cache`, `drive_cache_on_ssd`; absent where the tool says nothing."""
    makes_arrays: bool | None = None
    """Whether it is a RAID card at all; False for a host bus adapter, whose drives the system has for itself."""
    strip_minimum: int | None = None
    """Smallest strip in bytes."""
    strip_maximum: int | None = None
    """Largest strip in bytes."""
    values: Mapping[str, ReportedValue] = field(default_factory=dict)
    """Card settings by our keys: `rebuild_rate`, `bgi_rate`, `cc_rate`, `migrate_rate`, `patrol_read_rate`,
    `cache_flush_interval` (digits), `patrol_read` (`off`, `auto`, `manual`), `consistency_check` (`off`,
    `sequential`, `concurrent`), `perf_mode` (digits), `jbod` (`on`, `off`), and those of `MORE_CARD_SETTINGS`."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """What it is set to and raidbench never sets, by the labels of `NEVER_SET`."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Background work of the whole card."""


PERSONALITY, JBOD, IMPORT, PRESERVED_BOOT, SSD_CACHE = (
    "Personality",
    "JBOD mode",
    "Foreign import (factory default)",
    "Boot with preserved cache",
    "CacheCade size",
)
"""Labels of what a controller is set to and raidbench never sets."""

NEVER_SET: Mapping[str, str] = {
    PERSONALITY: "another one takes a reboot, and arrays may not survive it",
    JBOD: "it decides which drives the system sees, and may take them out of its sight",
    IMPORT: "an imported configuration may replace arrays that are here",
    PRESERVED_BOOT: "it decides about unwritten data of arrays that are missing",
    SSD_CACHE: "the SSDs would be deleted and made again",
}
"""Why raidbench does not set it, as a clause, by label."""


def shown_facts(shown: Mapping[str, str]) -> Iterable[Fact]:
    """Yield a fact for each value that the tool reports, by label."""
    for label, why in NEVER_SET.items():
        if label in shown:
            yield Fact(label=label, value=f"{shown[label]} (raidbench does not set it: {why})")


_PLAIN = {0: Level.RAID0, 1: Level.RAID1, 4: Level.RAID4, 5: Level.RAID5, 6: Level.RAID6, 15: Level.JBOD}
_SPANNED = {0: Level.RAID0, 1: Level.RAID10, 5: Level.RAID50, 6: Level.RAID60}
"""SNIA DDF's primary levels. 17 (RAID 1E), 2, 3 and the rest have no name here and stay unknown; RAID 00 is RAID 0
over several spans."""

_SECONDARY_STRIPED = (0, 3)
"""DDF's secondary levels that stripe over the spans: 0 stripe, 3 spanned. 1 mirrors and 2 concatenates them."""


def ddf_level(primary: int, secondary: int, spans: int) -> Level:
    """Return the level for SNIA DDF's primary and secondary level and the number of spans."""
    if secondary not in _SECONDARY_STRIPED:
        return Level.UNKNOWN
    spanned = secondary == 3 or spans > 1
    return (_SPANNED if spanned else _PLAIN).get(primary, Level.UNKNOWN)
