"""Settings of MegaRAID controllers and their virtual drives, each declared once.

Settings of the whole controller use arguments from the tools' own usage texts (storcli 7: `storcli help`; MegaCli:
`MegaCli -h`). No usage text of storcli2 or perccli2 that contains these settings is known, so with these two tools
raidbench at most shows the settings and never changes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from backends.settings import Choice, Effect, Persistence, Risk, Setting, Span, offer, unconfirmed
from backends.vendors.megaraid.choices import CACHE_BYPASS_MODES, PERF_MODE

_ALL = "The setting applies to all arrays of the controller."
_YEAR = 8760
"""Maximum hours between two runs of patrol read or consistency check."""

_performance = partial(unconfirmed, risk=Risk.PERFORMANCE)
_switch_setting = partial(_performance, other_words=("on", "off"))

NCQ = _switch_setting(
    key="ncq",
    label="Command queueing",
    help="Whether SATA drives get several commands at once and reorder them (NCQ). Off costs IOPS at queue depths "
    f"above 1. {_ALL} (storcli: ncq; MegaCli: -AdpSetProp NCQEnbl|NCQDsbl)",
    risk_text="While it is off, all arrays of the controller lose IOPS.",
)
CACHE_BYPASS = _switch_setting(
    key="cache_bypass",
    label="Cache bypass",
    help=f"Whether large writes may bypass the controller's cache. Each virtual drive also has its own mode. {_ALL} "
    "(storcli: cachebypass)",
    risk_text="Throughput and latency of writes change on all arrays of the controller.",
)
AUTO_REBUILD = _switch_setting(
    key="auto_rebuild",
    label="Automatic rebuild",
    help=f"Whether a replaced drive is rebuilt without a command. {_ALL} (storcli: autorebuild; MegaCli: -AdpAutoRbld "
    "-Enbl|-Dsbl)",
    risk_text="While it is off, a degraded array remains degraded until you start a rebuild. The next drive failure "
    "may "
    "then destroy the data.",
)


def _copyback(key: str, label: str, description: str, text: str) -> Setting:
    return _switch_setting(
        key=key,
        label=label,
        help=f"{description} {_ALL} ({text})",
        risk_text="A copy uses bandwidth of the array for hours. Without a copy the array remains on the spare drive, "
        "or "
        "on a drive that predicts failure.",
    )


COPYBACK = _copyback(
    "copyback",
    "Copyback",
    "Whether data is copied from the spare drive to the replacement of the failed drive.",
    "storcli: copyback type=ctrl; MegaCli: -AdpSetProp -CopyBackDsbl",
)
COPYBACK_SMART_HDD = _copyback(
    "copyback_smart_hdd",
    "HDD copyback on S.M.A.R.T. errors",
    "Whether a hard disk that predicts failure is copied to a spare drive before it fails.",
    "storcli: copyback type=smarthdd; MegaCli: -AdpSetProp SMARTCpyBkEnbl",
)
COPYBACK_SMART_SSD = _copyback(
    "copyback_smart_ssd",
    "SSD copyback on S.M.A.R.T. errors",
    "Whether an SSD that predicts failure is copied to a spare drive before it fails.",
    "storcli: copyback type=smartssd; MegaCli: -AdpSetProp SSDSMARTCpyBkEnbl",
)

_TAKES = "Each run uses bandwidth of every array"

PATROL_READ_DELAY = _performance(
    key="patrol_read_delay",
    label="Patrol read delay",
    help=f"Hours between two patrol reads (168 by default). {_ALL} (storcli: patrolread delay; MegaCli: -AdpPR "
    "-SetDelay)",
    risk_text=f"{_TAKES}, more often with a short delay. With a long delay, bad sectors remain unnoticed longer.",
    unit="h",
)
PATROL_READ_SSDS = _performance(
    key="patrol_read_ssds",
    other_words=("on", "only-mixed", "off"),
    label="Patrol read on SSDs",
    help=f"Whether patrol read includes SSDs. {_ALL} (storcli: patrolread includessds; MegaCli: -AdpPR "
    "-SSDPatrolReadEnbl|-SSDPatrolReadDsbl)",
    risk_text=f"{_TAKES}, on SSDs as well if they are included. If not, their bad blocks are found only at the next "
    "rebuild.",
)
PATROL_READ_DRIVES = _performance(
    key="patrol_read_drives",
    label="Patrol read drives at once",
    help=f"Maximum number of drives that patrol read reads at the same time. {_ALL} (storcli: patrolread "
    "maxconcurrentpd)",
    risk_text=f"{_TAKES}: more drives at once use more.",
    unit="drives",
)
CONSISTENCY_CHECK_DELAY = _performance(
    key="consistency_check_delay",
    label="Consistency check delay",
    help=f"Hours between two consistency checks (168 by default). {_ALL} (storcli: cc delay; MegaCli: -AdpCcSched "
    "-SetDelay)",
    risk_text=f"{_TAKES}, more often with a short delay. With a long delay, wrong parity remains unnoticed longer.",
    unit="h",
)
SMART_POLL_INTERVAL = _performance(
    key="smart_poll_interval",
    label="S.M.A.R.T. poll interval",
    help="Seconds between two failure-prediction queries to each drive (300 by default). Each query may cause a "
    f"latency peak. {_ALL} (storcli: smartpollinterval; MegaCli: -AdpSetProp PredFailPollInterval)",
    risk_text="With a long interval, a predicted drive failure is noticed later.",
    unit="s",
)
LOAD_BALANCE = _switch_setting(
    key="load_balance",
    label="Load balance",
    help="Whether the controller automatically balances commands between the ports and lanes of an enclosure "
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
"""Settings of a controller that affect all of its arrays, in display order."""

CARD_SPANS: Mapping[str, Span] = {
    "patrol_read_delay": Span(minimum=1, maximum=_YEAR, unit="h"),
    "patrol_read_drives": Span(minimum=1, maximum=255, unit="drives"),
    "consistency_check_delay": Span(minimum=1, maximum=_YEAR, unit="h"),
    "smart_poll_interval": Span(minimum=1, maximum=65535, unit="s"),
}
"""Ranges of the numeric settings in `MORE_CARD_SETTINGS`."""


def _switch(on: str, off: str, *, on_risk: Risk = Risk.NONE, off_risk: Risk = Risk.NONE) -> tuple[Choice, ...]:
    return (offer("on", on, risk=on_risk), offer("off", off, risk=off_risk))


_COPYBACK = _switch(
    "The copy starts automatically.", "Nothing is copied.", on_risk=Risk.PERFORMANCE, off_risk=Risk.PERFORMANCE
)

CARD_CHOICES: Mapping[str, tuple[Choice, ...]] = {
    "ncq": _switch("Drives get several commands at once.", "Drives get one at a time.", off_risk=Risk.PERFORMANCE),
    "cache_bypass": _switch(
        "Large writes may bypass the cache.",
        "All writes follow the policies of their virtual drive.",
        on_risk=Risk.PERFORMANCE,
        off_risk=Risk.PERFORMANCE,
    ),
    "auto_rebuild": _switch(
        "A rebuild starts automatically.", "A rebuild waits for a command.", off_risk=Risk.PERFORMANCE
    ),
    "copyback": _COPYBACK,
    "copyback_smart_hdd": _COPYBACK,
    "copyback_smart_ssd": _COPYBACK,
    "patrol_read_ssds": (
        offer("on", "SSDs are read too.", risk=Risk.PERFORMANCE),
        offer(
            "only-mixed",
            "SSDs are read only in arrays that also contain hard disks.",
            label="only mixed",
            risk=Risk.PERFORMANCE,
        ),
        offer("off", "Only hard disks are read.", risk=Risk.PERFORMANCE),
    ),
    "load_balance": _switch("Balanced by the controller.", "Not balanced.", off_risk=Risk.PERFORMANCE),
}
"""Legal values of the settings in `MORE_CARD_SETTINGS` that are not numeric. Values that a tool cannot set are not
offered with that tool."""


_stored = partial(Setting, persistence=Persistence.STORED)
"""Declare a setting that the controller stores."""

_WITHOUT_POWER = (
    "Without a healthy battery or CacheVault, a power failure loses acknowledged writes and may damage the filesystem."
)

WRITE_CACHE = _stored(
    key="write_cache",
    other_words=("write-through", "write-back", "always-write-back"),
    label="Write cache",
    help="When a write is acknowledged: with write-through on the drives, with write-back in the controller's "
    "memory. The controller suspends write-back while its battery or CacheVault is not healthy, but not "
    "always-write-back. (storcli: wrcache; MegaCli: -LDSetProp WT|WB|ForcedWB)",
    risk=Risk.POWER_LOSS,
    risk_text=_WITHOUT_POWER,
)
READ_AHEAD = _stored(
    key="read_ahead",
    other_words=("none", "read-ahead", "adaptive"),
    label="Read-ahead",
    help="Whether the controller reads ahead. It helps sequential reads of hard disks, costs IOPS of random reads "
    "from flash, and disables FastPath. (storcli: rdcache; MegaCli: NORA|RA|ADRA)",
)
IO_POLICY = _stored(
    key="io_policy",
    other_words=("direct", "cached"),
    label="I/O policy",
    help="direct: reads bypass the cache. cached: reads are cached, and writes as well, regardless of the write "
    "policy (libstoragemgmt). Controllers of the 94xx series and later support only direct. (storcli: iopolicy)",
    risk=Risk.POWER_LOSS,
    risk_text="Cached I/O also caches writes. " + _WITHOUT_POWER,
)
DRIVE_CACHE = _stored(
    key="drive_cache",
    other_words=("on", "off", "default"),
    label="Drive cache",
    help="Write caches of all member drives. The controller's battery does not protect them. (storcli: pdcache; "
    "MegaCli: -EnDskCache|-DisDskCache)",
    risk=Risk.POWER_LOSS,
    risk_text="A power failure loses the cached data of drives without power-loss protection. The controller's battery "
    "does not protect it.",
)
ACCESS_POLICY = _stored(
    key="access_policy",
    other_words=("read-write", "read-only", "blocked"),
    label="Access",
    help="Whether the host may read and write the virtual drive. (storcli: accesspolicy)",
    risk=Risk.OUTAGE,
    risk_text="Filesystems on it fail or become read-only immediately.",
)
AUTO_BGI = _stored(
    key="auto_bgi",
    label="Background init",
    help="Whether the controller automatically verifies and writes the parity of a new virtual drive (from 5 drives "
    "in RAID 5 and 7 in RAID 6). Off leaves parity unverified. (storcli: autobgi)",
    risk=Risk.PERFORMANCE,
    risk_text="A drive cannot be rebuilt correctly from parity that was never written.",
)
CACHE_BYPASS_MODE = unconfirmed(
    key="cache_bypass_mode",
    other_words=tuple(choice.value for choice in CACHE_BYPASS_MODES),
    choices=CACHE_BYPASS_MODES,
    label="Cache bypass mode",
    help="Which writes of this virtual drive bypass the controller's cache: those of at least 64, 128 or 256 KiB, in "
    "a mode of the firmware. In the mode intelligent, the firmware decides. It applies only to this virtual "
    "drive. (storcli: cbsize, cbmode)",
    risk=Risk.PERFORMANCE,
    risk_text="Throughput and latency of large writes change.",
)
STRIP_SIZE = _stored(
    key="strip_size",
    label="Strip size",
    help="Amount of contiguous data on each drive of a stripe. It is fixed at creation. A change deletes the virtual "
    "drive and re-creates it with the same drives, level, policies and name.",
    risk=Risk.DESTROYS_DATA,
    risk_text="The virtual drive is deleted and re-created. All data on it is lost, and again on undo.",
    effect=Effect.RECREATED,
    unit="bytes",
)
FASTPATH = _stored(
    key="fastpath",
    stands_for=("write_cache", "read_ahead", "io_policy"),
    label="FastPath",
    help="Fast path through the controller to flash for small reads, and for small writes of RAID 0. It has no "
    "switch. It is active if its option is activated and the virtual drive is optimal with write-through, no "
    "read-ahead and direct I/O. The preset sets these three. (HPE MR guide, p. 79)",
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
        help=f"Share of the controller's time for {work} during host I/O.",
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
        help="Reads all drives to find bad sectors: auto on the controller's schedule (weekly), manual on request. "
        "It slows a benchmark. If it is off, bad sectors are found only at the next rebuild.",
        risk=Risk.PERFORMANCE,
        risk_text="While it is off, bad sectors remain unnoticed until a rebuild needs them. Turn it on again "
        "afterwards.",
    ),
    _stored(
        key="consistency_check",
        other_words=("concurrent", "sequential", "off"),
        label="Consistency check",
        help="Compares data and parity of redundant virtual drives on a schedule, one after the other or all at once.",
        risk=Risk.PERFORMANCE,
        risk_text="While it is off, wrong parity remains unnoticed until a rebuild needs it. Turn it on again "
        "afterwards.",
    ),
    _stored(
        key="cache_flush_interval",
        label="Cache flush interval",
        help="Longest time that written data remains in the controller's memory (4 s by default).",
        unit="s",
    ),
    _stored(
        key="perf_mode",
        label="Performance mode",
        help="0: most IOPS. 1: least latency. Only on controllers that support performance tuning.",
        choices=PERF_MODE,
    ),
    *MORE_CARD_SETTINGS,
    _stored(
        key="activation_key",
        secret=True,
        label="Activation key",
        help="Activates an advanced software option such as FastPath. The key is bound to the controller's safe id "
        "and is never shown or logged. raidbench cannot undo this.",
        risk=Risk.PERFORMANCE,
        risk_text="An activated option remains activated.",
        effect=Effect.REBOOT,
    ),
)
"""Settings of a controller, in display order."""
