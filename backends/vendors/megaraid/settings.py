"""Settings of MegaRAID controllers and their virtual drives, each declared once.

Settings of the whole controller use words from the tools' own usage (storcli 7: `storcli help`; MegaCli: `MegaCli -h`).
No usage of storcli2 and perccli2 that lists them is known, so these tools at most show them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from backends.settings import Choice, Effect, Persistence, Risk, Setting, Span, offer, unconfirmed
from backends.vendors.megaraid.choices import CACHE_BYPASS_MODES

_ALL = "It is set once for the controller and concerns all of its arrays."
_YEAR = 8760
"""Most hours between two runs."""

_performance = partial(unconfirmed, risk=Risk.PERFORMANCE)
_switch_setting = partial(_performance, other_words=("on", "off"))

NCQ = _switch_setting(
    key="ncq",
    label="Command queueing",
    help="Whether SATA drives get several commands at once and order them themselves (NCQ). Off costs IOPS at queue "
    f"depths above 1. {_ALL} (storcli: ncq; MegaCli: -AdpSetProp NCQEnbl|NCQDsbl)",
    risk_text="All arrays of the controller lose IOPS while it is off.",
)
CACHE_BYPASS = _switch_setting(
    key="cache_bypass",
    label="Cache bypass",
    help="Whether large writes may go past the controller's cache to the drives. Each virtual drive has a mode of its "
    f"own besides. {_ALL} (storcli: cachebypass)",
    risk_text="Throughput and latency of writes change on all arrays of the controller.",
)
AUTO_REBUILD = _switch_setting(
    key="auto_rebuild",
    label="Automatic rebuild",
    help=f"Whether a replaced drive is rebuilt without a command. {_ALL} (storcli: autorebuild; MegaCli: -AdpAutoRbld "
    "-Enbl|-Dsbl)",
    risk_text="While it is off, a degraded array stays degraded until a rebuild is started by hand; the next failed "
    "drive may then cost the data.",
)


def _copyback(key: str, label: str, description: str, text: str) -> Setting:
    return _switch_setting(
        key=key,
        label=label,
        help=f"{description} {_ALL} ({text})",
        risk_text="A copy takes bandwidth of the array for hours; without one the array stays on the spare drive, or "
        "on a drive that predicts its failure.",
    )


COPYBACK = _copyback(
    "copyback",
    "Copyback",
    "Whether data is copied from the spare drive back to the slot of the failed drive once that is replaced.",
    "storcli: copyback type=ctrl; MegaCli: -AdpSetProp -CopyBackDsbl",
)
COPYBACK_SMART_HDD = _copyback(
    "copyback_smart_hdd",
    "Copyback on S.M.A.R.T. errors (HDD)",
    "Whether a hard disk that predicts its failure is copied to a spare drive before it fails.",
    "storcli: copyback type=smarthdd; MegaCli: -AdpSetProp SMARTCpyBkEnbl",
)
COPYBACK_SMART_SSD = _copyback(
    "copyback_smart_ssd",
    "Copyback on S.M.A.R.T. errors (SSD)",
    "Whether an SSD that predicts its failure is copied to a spare drive before it fails.",
    "storcli: copyback type=smartssd; MegaCli: -AdpSetProp SSDSMARTCpyBkEnbl",
)

_TAKES = "It takes bandwidth from every array while it runs"

PATROL_READ_DELAY = _performance(
    key="patrol_read_delay",
    label="Patrol read delay",
    help=f"Hours between two runs of patrol read (168 by default). {_ALL} (storcli: patrolread delay; MegaCli: -AdpPR "
    "-SetDelay)",
    risk_text=f"{_TAKES}: the shorter the delay, the more often. With a long delay, bad sectors stay unnoticed longer.",
    unit="h",
)
PATROL_READ_SSDS = _performance(
    key="patrol_read_ssds",
    other_words=("on", "only-mixed", "off"),
    label="Patrol read on SSDs",
    help=f"Whether patrol read reads SSDs too. {_ALL} (storcli: patrolread includessds; MegaCli: -AdpPR "
    "-SSDPatrolReadEnbl|-SSDPatrolReadDsbl)",
    risk_text=f"{_TAKES}, on SSDs as well where they are included. Where they are not, their bad blocks are found by "
    "the next rebuild.",
)
PATROL_READ_DRIVES = _performance(
    key="patrol_read_drives",
    label="Patrol read drives at once",
    help=f"Number of drives that patrol read reads at the same time, at most. {_ALL} (storcli: patrolread "
    "maxconcurrentpd)",
    risk_text=f"{_TAKES}: the more drives at once, the more.",
    unit="drives",
)
CONSISTENCY_CHECK_DELAY = _performance(
    key="consistency_check_delay",
    label="Consistency check delay",
    help=f"Hours between two runs of the consistency check (168 by default). {_ALL} (storcli: cc delay; MegaCli: "
    "-AdpCcSched -SetDelay)",
    risk_text=f"{_TAKES}: the shorter the delay, the more often. With a long delay, wrong parity stays unnoticed "
    "longer.",
    unit="h",
)
SMART_POLL_INTERVAL = _performance(
    key="smart_poll_interval",
    label="S.M.A.R.T. poll interval",
    help="Seconds between two questions to each drive whether it predicts its failure (300 by default). Each question "
    f"may show as a latency peak. {_ALL} (storcli: smartpollinterval; MegaCli: -AdpSetProp PredFailPollInterval)",
    risk_text="With a long interval a drive that predicts its failure is noticed later.",
    unit="s",
)
LOAD_BALANCE = _switch_setting(
    key="load_balance",
    label="Load balance",
    help="Whether the controller balances commands between the ports and lanes that lead to an enclosure by itself "
    f"(reported as Auto). {_ALL} (storcli: loadbalancemode)",
    risk_text="Throughput of all arrays in enclosures with several ports may fall while it is off.",
)
MORE_CARD_SETTINGS = (
    NCQ,
    CACHE_BYPASS,
    AUTO_REBUILD,
    COPYBACK,
    COPYBACK_SMART_HDD,
    COPYBACK_SMART_SSD,
    PATROL_READ_DELAY,
    PATROL_READ_SSDS,
    PATROL_READ_DRIVES,
    CONSISTENCY_CHECK_DELAY,
    SMART_POLL_INTERVAL,
    LOAD_BALANCE,
)
"""Settings of a controller that concern all of its arrays, in display order."""

CARD_SPANS: Mapping[str, Span] = {
    "patrol_read_delay": Span(minimum=1, maximum=_YEAR, unit="h"),
    "patrol_read_drives": Span(minimum=1, maximum=255, unit="drives"),
    "consistency_check_delay": Span(minimum=1, maximum=_YEAR, unit="h"),
    "smart_poll_interval": Span(minimum=1, maximum=65535, unit="s"),
}
"""Ranges of the numeric ones."""


def _switch(on: str, off: str, *, on_risk: Risk = Risk.NONE, off_risk: Risk = Risk.NONE) -> tuple[Choice, ...]:
    return (offer("on", on, risk=on_risk), offer("off", off, risk=off_risk))


_COPYBACK = _switch(
    "The copy starts by itself.", "Nothing is copied.", on_risk=Risk.PERFORMANCE, off_risk=Risk.PERFORMANCE
)

CARD_CHOICES: Mapping[str, tuple[Choice, ...]] = {
    "ncq": _switch("Drives get several commands at once.", "Drives get one at a time.", off_risk=Risk.PERFORMANCE),
    "cache_bypass": _switch(
        "Large writes may pass the cache by.",
        "All writes go by the policies of their virtual drive.",
        on_risk=Risk.PERFORMANCE,
        off_risk=Risk.PERFORMANCE,
    ),
    "auto_rebuild": _switch("A rebuild starts by itself.", "A rebuild waits for a command.", off_risk=Risk.PERFORMANCE),
    "copyback": _COPYBACK,
    "copyback_smart_hdd": _COPYBACK,
    "copyback_smart_ssd": _COPYBACK,
    "patrol_read_ssds": (
        offer("on", "SSDs are read too.", risk=Risk.PERFORMANCE),
        offer(
            "only-mixed",
            "SSDs are read in arrays that have hard disks as well.",
            label="only mixed",
            risk=Risk.PERFORMANCE,
        ),
        offer("off", "Only hard disks are read.", risk=Risk.PERFORMANCE),
    ),
    "load_balance": _switch("Balanced by the controller.", "Not balanced.", off_risk=Risk.PERFORMANCE),
}
"""Legal values of the others. Values that a tool has no word for are not offered with that tool."""


_stored = partial(Setting, persistence=Persistence.STORED)
"""Declare a setting that the controller stores."""

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
"""Settings of a virtual drive, in display order."""


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
"""Settings of a controller, in display order."""
