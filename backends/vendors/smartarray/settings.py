"""Settings of Smart Array, SmartRAID and Adaptec's older controllers, each declared once."""

from __future__ import annotations

from functools import partial

from backends.settings import Effect, Persistence, Risk, Setting, unconfirmed
from backends.vendors.smartarray.facts import Family

_recorded = partial(Setting, persistence=Persistence.STORED)
"""Declare a setting that the controller stores."""

_WITHOUT_POWER = "Without a healthy battery or capacitor a power failure loses acknowledged writes."
_OWN_CACHES = (
    "A power failure loses the cached data of drives without power-loss protection. The controller's battery does "
    "not protect it."
)

ACCELERATION = unconfirmed(
    key="acceleration",
    other_words=("none", "controller-cache", "smart-path"),
    label="Acceleration",
    help="Acceleration of the logical drive: the controller's cache, Smart Path (bypasses the cache to flash, called "
    "SSD I/O bypass by arcconf), or none. The firmware allows one at a time, and Smart Path only for a whole "
    "array of flash. (ssacli: caching, ssdsmartpath; arcconf: setcache)",
    risk=Risk.POWER_LOSS,
    risk_text="With the no-battery write cache on, the controller caches writes without a battery. " + _WITHOUT_POWER,
)
FOLLOWING_WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="When a write is acknowledged. It depends on the acceleration, the cache ratio and the no-battery write "
    "cache, and cannot be set separately. The effective value also depends on the battery.",
)
WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="When a write is acknowledged: with write-through on the drives, with write-back in the controller's memory "
    "while a battery or capacitor (ZMM) protects it, with always-write-back even without protection. (arcconf: "
    "setcache wt, wbb, wb)",
    risk=Risk.POWER_LOSS,
    risk_text=_WITHOUT_POWER,
)
READ_CACHE = _recorded(
    key="read_cache",
    label="Read cache",
    help="Whether the controller caches reads and reads ahead. (arcconf: setcache ron, roff)",
)
STRIP_SIZE = unconfirmed(
    key="strip_size",
    label="Strip size",
    help="Amount of contiguous data on each drive of a stripe. The controller can change it while the logical drive "
    "is in use. (ssacli: ss; not offered with arcconf, which requires a list of all drives)",
    risk=Risk.DESTROYS_DATA,
    risk_text="The controller rewrites the whole logical drive. This takes hours, slows all I/O on it and cannot be "
    "stopped. A second drive failure or a cache failure during this time can destroy all data on it. Make a "
    "backup first. Undo takes as long.",
    effect=Effect.RESHAPE,
    unit="bytes",
)
DRIVE_CACHE = unconfirmed(
    key="drive_cache",
    label="Drive cache",
    help="The drive's write cache. (arcconf: setcache device)",
    risk=Risk.POWER_LOSS,
    risk_text=_OWN_CACHES,
)

VOLUME_SETTINGS = {
    Family.SMART: (ACCELERATION, FOLLOWING_WRITE_CACHE, STRIP_SIZE),
    Family.SERIES: (WRITE_CACHE, READ_CACHE, STRIP_SIZE),
}
"""Settings of a logical drive, in display order."""

DRIVE_SETTINGS: dict[Family, tuple[Setting, ...]] = {Family.SMART: (), Family.SERIES: (DRIVE_CACHE,)}
"""Settings of a drive."""


def _policy(key: str, label: str, which: str) -> Setting:
    return unconfirmed(
        key=key,
        label=label,
        help=f"Write caches of {which} for the whole controller. Old controllers have one policy for all drives. "
        "(ssacli: drivewritecache; arcconf: setcache drivewritecachepolicy)",
        risk=Risk.POWER_LOSS,
        risk_text=_OWN_CACHES,
    )


def _priority(key: str, label: str, work: str) -> Setting:
    return unconfirmed(
        key=key, label=label, help=f"How much {work} may slow the host. (ssacli: {key.replace('_', '')})"
    )


SMART_CARD_SETTINGS = (
    unconfirmed(
        key="cache_ratio",
        other_words=tuple(f"{share}/{100 - share}" for share in range(101)),
        label="Cache ratio",
        help="Shares of the controller's cache for reads and for writes in percent: 10/90 is 10 % read, 90 % write. "
        "100/0 caches no writes. A change flushes the cache of all logical drives, which causes a pause. "
        "(ssacli: cacheratio; arcconf: setcache cacheratio)",
        risk=Risk.PERFORMANCE,
        risk_text="The whole cache is flushed and divided again. All logical drives of the controller pause.",
    ),
    unconfirmed(
        key="no_battery_write_cache",
        label="No-battery write cache",
        help="Whether the controller caches writes while its cache is unprotected. (ssacli: nobatterywritecache)",
        risk=Risk.POWER_LOSS,
        risk_text=_WITHOUT_POWER,
    ),
    _policy("drive_write_cache", "Drive write cache", "drives in arrays"),
    _policy("drive_write_cache_unconfigured", "Unassigned drive write cache", "drives in no array"),
    _policy("drive_write_cache_hba", "HBA drive write cache", "drives in HBA mode"),
    unconfirmed(
        key="write_cache_bypass",
        label="Write cache bypass",
        help="Writes of this size and larger bypass the cache, only on logical drives without parity. (ssacli: "
        "writecachebypassthreshold; Microchip online documentation 7.4.1)",
        unit="KiB",
    ),
    unconfirmed(
        key="wait_for_cache_room",
        label="Wait for cache room",
        help="Whether a write waits for space in a full cache instead of going to the drives. (ssacli: "
        "waitforcacheroom)",
    ),
    unconfirmed(
        key="elevator_sort",
        label="Elevator sort",
        help="Whether the controller sorts writes from its cache by position on the drives. (ssacli: elevatorsort)",
    ),
    unconfirmed(
        key="queue_depth",
        label="Queue depth",
        help="Maximum number of requests that the controller has in flight on a drive. (ssacli: queuedepth)",
        unit="commands",
    ),
    _priority("rebuild_priority", "Rebuild priority", "a rebuild"),
    _priority("expand_priority", "Expand priority", "a change of an array"),
    unconfirmed(
        key="surface_scan_mode",
        label="Surface scan",
        help="Reads all drives to find bad sectors: idle only when the controller is idle, high always, disable "
        "never. It slows a benchmark. (ssacli: surfacescanmode)",
        risk=Risk.PERFORMANCE,
        risk_text="While it is off, bad sectors remain unnoticed until a rebuild needs them. Turn it on again "
        "afterwards.",
    ),
    unconfirmed(
        key="surface_scan_delay",
        label="Surface scan delay",
        help="Idle time of the controller before the surface scan continues. (ssacli: surfacescandelay)",
        unit="s",
    ),
    unconfirmed(
        key="parallel_surface_scan",
        label="Parallel surface scans",
        help="Number of logical drives that are scanned at the same time. (ssacli: parallelsurfacescancount)",
    ),
    unconfirmed(
        key="degraded_performance",
        label="Degraded performance",
        help="Whether a degraded RAID 5 or 6 reads intact data at full speed. (ssacli: "
        "degradedperformanceoptimization)",
    ),
    unconfirmed(
        key="inconsistency_repair",
        label="Inconsistency repair",
        help="Whether the surface scan corrects wrong parity. (ssacli: inconsistencyrepairpolicy)",
    ),
    unconfirmed(
        key="monitor_delay",
        label="Monitor delay",
        help="Minutes between two load samples of the controller. (ssacli: mnpdelay)",
        unit="min",
    ),
    unconfirmed(
        key="power_mode",
        label="Power mode",
        help="Power use of the controller. maxperformance always runs at full speed, balanced saves power depending "
        "on configuration and load, minpower saves as much as possible. A change may need a reboot to take "
        "effect. (ssacli: powermode)",
        risk=Risk.PERFORMANCE,
        risk_text="All modes except maxperformance make the controller slower and its speed load-dependent.",
        effect=Effect.REBOOT,
    ),
    unconfirmed(
        key="survival_mode",
        label="Survival mode",
        help="Whether the controller slows down when its temperature exceeds its limit, instead of shutting down. "
        "(ssacli: survivalmode)",
        risk=Risk.OUTAGE,
        risk_text="If it is off, an overheated controller shuts down, and all its drives disappear.",
    ),
    unconfirmed(
        key="spare_activation",
        label="Spare activation",
        help="When a spare replaces a drive: when the drive has failed, or as soon as it predicts failure. (ssacli: "
        "spareactivationmode)",
    ),
    unconfirmed(
        key="latency_scheduler",
        other_words=("disable", "low", "medium", "high", "aggressive1", "aggressive2"),
        label="Latency scheduler",
        help="Age at which the controller serves a request immediately instead of sorting it by position: 250 ms "
        "with low, 50 ms with high. Only for hard disks. The command of ssacli and arcconf is not documented, "
        "so raidbench only shows the setting. (HP Smart Storage Administrator, Managing FLS)",
    ),
)
"""Settings of a Smart Array or SmartRAID controller."""

SERIES_CARD_SETTINGS = (
    unconfirmed(
        key="performance_mode",
        label="Performance mode",
        help="Mode of the controller's cache: dynamic (depends on the load), for databases (OLTP), or with large "
        "blocks bypassing the cache. (arcconf: setperform)",
    ),
    unconfirmed(
        key="task_priority",
        label="Task priority",
        help="How much rebuilds, builds and checks may slow the host. (arcconf: setpriority)",
    ),
)
"""Settings of a controller of Adaptec's series 2 to 8."""

CARD_SETTINGS = {Family.SMART: SMART_CARD_SETTINGS, Family.SERIES: SERIES_CARD_SETTINGS}
"""Settings of a controller, in display order."""

OF_DRIVES = (*VOLUME_SETTINGS[Family.SMART], *VOLUME_SETTINGS[Family.SERIES], *DRIVE_SETTINGS[Family.SERIES])
OF_CARDS = (*SMART_CARD_SETTINGS, *SERIES_CARD_SETTINGS)
