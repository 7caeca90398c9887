"""The settings of a MegaRAID card and its virtual drives, each declared once."""

from __future__ import annotations

from functools import partial

from backends.settings import Effect, Persistence, Risk, Setting, unconfirmed
from backends.vendors.megaraid.card_settings import MORE_CARD_SETTINGS
from backends.vendors.megaraid.choices import CACHE_BYPASS_MODES

_stored = partial(Setting, persistence=Persistence.STORED)
"""A setting that the card keeps."""

_WITHOUT_POWER = (
    "Without a healthy battery or CacheVault a power cut loses data that was reported written, and with it perhaps "
    "the filesystem."
)

WRITE_CACHE = _stored(
    key="write_cache",
    other_words=("write-through", "write-back", "always-write-back"),
    label="Write cache",
    help="When a write is reported done: write-through on the drives, write-back in the card's memory. Write-back is "
    "suspended by the card while its battery or CacheVault is not healthy; always-write-back is not. (storcli: "
    "wrcache; MegaCli: -LDSetProp WT|WB|ForcedWB)",
    risk=Risk.POWER_LOSS,
    risk_text=_WITHOUT_POWER,
)
READ_AHEAD = _stored(
    key="read_ahead",
    other_words=("none", "read-ahead", "adaptive"),
    label="Read-ahead",
    help="Whether the card reads on beyond what was asked. Helps sequential reads of hard disks, costs IOPS of random "
    "reads from flash, and keeps FastPath off. (storcli: rdcache; MegaCli: NORA|RA|ADRA)",
)
IO_POLICY = _stored(
    key="io_policy",
    other_words=("direct", "cached"),
    label="I/O policy",
    help="direct: reads pass the cache by. cached: reads are kept in it, and writes too, whatever the write policy "
    "says (libstoragemgmt). Cards of the 94xx series and later have direct only. (storcli: iopolicy)",
    risk=Risk.POWER_LOSS,
    risk_text="Cached I/O caches writes, too. " + _WITHOUT_POWER,
)
DRIVE_CACHE = _stored(
    key="drive_cache",
    other_words=("on", "off", "default"),
    label="Drive cache",
    help="The drives' own write caches, of all members. No battery of the card keeps them. (storcli: pdcache; MegaCli: "
    "-EnDskCache|-DisDskCache)",
    risk=Risk.POWER_LOSS,
    risk_text="A power cut loses what drives without power-loss protection hold in their own caches; the card's "
    "battery does not keep it.",
)
ACCESS_POLICY = _stored(
    key="access_policy",
    other_words=("read-write", "read-only", "blocked"),
    label="Access",
    help="Whether the host may write to the virtual drive, or use it at all. (storcli: accesspolicy)",
    risk=Risk.OUTAGE,
    risk_text="Filesystems on it fail or turn read-only at once.",
)
AUTO_BGI = _stored(
    key="auto_bgi",
    label="Background init",
    help="Whether the card checks and writes the parity of a new virtual drive by itself (from 5 drives in RAID 5 and "
    "7 in RAID 6). Off leaves parity unchecked. (storcli: autobgi)",
    risk=Risk.PERFORMANCE,
    risk_text="Parity that was never written cannot rebuild a drive correctly.",
)
CACHE_BYPASS_MODE = unconfirmed(
    key="cache_bypass_mode",
    other_words=tuple(choice.value for choice in CACHE_BYPASS_MODES),
    label="Cache bypass mode",
    help="Which writes of this virtual drive go past the controller's cache: those of at least 64, 128 or 256 KiB, by "
    "a mode of the firmware. With the mode intelligent, the firmware decides. It concerns this virtual drive only. "
    "(storcli: cbsize, cbmode)",
    risk=Risk.PERFORMANCE,
    risk_text="Throughput and latency of large writes change.",
)
STRIP_SIZE = _stored(
    key="strip_size",
    label="Strip size",
    help="Bytes on one drive before the next one follows. It is fixed when a virtual drive is made: another one means "
    "to delete it and to make it again with the same drives, level, policies and name.",
    risk=Risk.DESTROYS_DATA,
    risk_text="The virtual drive is deleted and made again: everything on it is lost, and again when this is undone.",
    effect=Effect.RECREATED,
    unit="bytes",
)
FASTPATH = _stored(
    key="fastpath",
    stands_for=("write_cache", "read_ahead", "io_policy"),
    label="FastPath",
    help="A short way through the card for small reads, and small writes of RAID 0, to flash. Nothing switches it on: "
    "it is in force where its option is activated and the drive is optimal with write-through, no read-ahead and "
    "direct I/O. The preset sets these three. (HPE MR guide, p. 79)",
)

VOLUME_SETTINGS = (
    WRITE_CACHE,
    READ_AHEAD,
    IO_POLICY,
    DRIVE_CACHE,
    ACCESS_POLICY,
    AUTO_BGI,
    CACHE_BYPASS_MODE,
    STRIP_SIZE,
    FASTPATH,
)
"""Settings of a virtual drive, in the order they are shown."""


def _rate(key: str, label: str, work: str) -> Setting:
    return _stored(
        key=key,
        label=label,
        help=f"Share of the card's time that {work} may take when the host wants the drives too.",
        unit="%",
    )


CARD_SETTINGS = (
    _rate("rebuild_rate", "Rebuild rate", "a rebuild"),
    _rate("bgi_rate", "Initialisation rate", "background initialisation"),
    _rate("cc_rate", "Consistency check rate", "a consistency check"),
    _rate("migrate_rate", "Migration rate", "a change of level or number of drives"),
    _rate("patrol_read_rate", "Patrol read rate", "patrol read"),
    _stored(
        key="patrol_read",
        other_words=("auto", "manual", "off"),
        label="Patrol read",
        help="Reads all drives for bad sectors: auto by the card's schedule (a week), manual when told. It takes from "
        "a benchmark what it reads; left off, bad sectors are found by the next rebuild.",
        risk=Risk.PERFORMANCE,
        risk_text="While it is off, bad sectors stay unnoticed until a rebuild needs them. Set it back afterwards.",
    ),
    _stored(
        key="consistency_check",
        other_words=("concurrent", "sequential", "off"),
        label="Consistency check",
        help="Compares data and parity of redundant virtual drives by schedule, one after the other or all at once.",
        risk=Risk.PERFORMANCE,
        risk_text="While it is off, wrong parity stays unnoticed until a rebuild needs it. Set it back afterwards.",
    ),
    _stored(
        key="cache_flush_interval",
        label="Cache flush interval",
        help="How long written data may wait in the card's memory before it is sent to the drives (4 s by default).",
        unit="s",
    ),
    _stored(
        key="perf_mode",
        label="Performance mode",
        help="0: as many IOPS as possible. 1: least latency. Only where the card supports performance tuning.",
    ),
    *MORE_CARD_SETTINGS,
    _stored(
        key="activation_key",
        secret=True,
        label="Activation key",
        help="Activates an advanced software option such as FastPath. The key is bound to the card's safe id; it is "
        "shown and logged nowhere. It cannot be taken back here.",
        risk=Risk.PERFORMANCE,
        risk_text="An activated option stays activated.",
        effect=Effect.REBOOT,
    ),
)
"""Settings of a card, in the order they are shown."""
