"""Settings of Smart Array, SmartRAID and Adaptec's older controllers, each declared once."""

from __future__ import annotations

from functools import partial

from backends.settings import Effect, Persistence, Risk, Setting, unconfirmed
from backends.vendors.smartarray.facts import Family

_recorded = partial(Setting, persistence=Persistence.STORED)
"""Declare a setting that the controller stores."""

_WITHOUT_POWER = "Without a healthy battery or capacitor a power cut loses what was reported written."
_OWN_CACHES = (
    "A power cut loses what drives without power-loss protection hold in their own caches; the card's battery does not "
    "keep it."
)

ACCELERATION = unconfirmed(
    key="acceleration",
    other_words=("none", "controller-cache", "smart-path"),
    label="Acceleration",
    help="What serves the logical drive: the card's cache, Smart Path (the short way past the cache to flash, which "
    "arcconf calls SSD I/O bypass), or nothing. The firmware allows one of them at a time, and Smart Path only for a "
    "whole array of flash. (ssacli: caching, ssdsmartpath; arcconf: setcache)",
    risk=Risk.POWER_LOSS,
    risk_text="With the no-battery write cache on, the cache keeps writes without a battery. " + _WITHOUT_POWER,
)
FOLLOWING_WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="When a write is reported done. It follows from the acceleration, the cache ratio and the no-battery write "
    "cache, and is not set by itself; what is in force depends on the battery as well.",
)
WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="When a write is reported done: write-through on the drives, write-back in the card's memory while a battery "
    "or capacitor (ZMM) protects it, always-write-back whatever becomes of them. (arcconf: setcache wt, wbb, wb)",
    risk=Risk.POWER_LOSS,
    risk_text=_WITHOUT_POWER,
)
READ_CACHE = _recorded(
    key="read_cache",
    label="Read cache",
    help="Whether the card keeps what was read and reads ahead. (arcconf: setcache ron, roff)",
)
STRIP_SIZE = unconfirmed(
    key="strip_size",
    label="Strip size",
    help="Bytes on one drive before the next one follows. The card can move all data into strips of another size while "
    "the logical drive is in use. (ssacli: ss; arcconf moves only when all drives are named again, which is not "
    "offered)",
    risk=Risk.DESTROYS_DATA,
    risk_text="The card rewrites the whole logical drive: that takes hours, slows everything on it and cannot be "
    "stopped. A second failed drive or a failing cache meanwhile can cost all data on it; have a backup. Taking it "
    "back takes as long again.",
    effect=Effect.RESHAPE,
    unit="bytes",
)
DRIVE_CACHE = unconfirmed(
    key="drive_cache",
    label="Drive cache",
    help="The drive's own write cache. (arcconf: setcache device)",
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
        help=f"The own write caches of {which}, for the whole card. Old cards have one policy for all drives. (ssacli: "
        "drivewritecache; arcconf: setcache drivewritecachepolicy)",
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
        help="Share of the card's cache for reads and for writes, in percent: 10/90 is 10 % read, 90 % write. 100/0 "
        "caches no writes. Setting it flushes the cache of all logical drives: a pause. (ssacli: cacheratio; arcconf: "
        "setcache cacheratio)",
        risk=Risk.PERFORMANCE,
        risk_text="The whole cache is flushed and divided anew: all logical drives of the card pause.",
    ),
    unconfirmed(
        key="no_battery_write_cache",
        label="No-battery write cache",
        help="Whether the card caches writes while nothing keeps its cache over a power cut. (ssacli: "
        "nobatterywritecache)",
        risk=Risk.POWER_LOSS,
        risk_text=_WITHOUT_POWER,
    ),
    _policy("drive_write_cache", "Drive write cache", "drives in arrays"),
    _policy("drive_write_cache_unconfigured", "Drive write cache, unassigned", "drives in no array"),
    _policy("drive_write_cache_hba", "Drive write cache, HBA", "drives that are handed to the system"),
    unconfirmed(
        key="write_cache_bypass",
        label="Write cache bypass",
        help="Writes of this size and larger go past the cache; only of logical drives without parity. (ssacli: "
        "writecachebypassthreshold; Microchip online documentation 7.4.1)",
        unit="KiB",
    ),
    unconfirmed(
        key="wait_for_cache_room",
        label="Wait for cache room",
        help="Whether a write waits for room in a full cache instead of going to the drives. (ssacli: "
        "waitforcacheroom)",
    ),
    unconfirmed(
        key="elevator_sort",
        label="Elevator sort",
        help="Whether the card sorts writes from its cache by their place on the drives. (ssacli: elevatorsort)",
    ),
    unconfirmed(
        key="queue_depth",
        label="Queue depth",
        help="Requests that the card has under way on a drive. (ssacli: queuedepth)",
        unit="commands",
    ),
    _priority("rebuild_priority", "Rebuild priority", "a rebuild"),
    _priority("expand_priority", "Expand priority", "a change of an array"),
    unconfirmed(
        key="surface_scan_mode",
        label="Surface scan",
        help="Reads all drives for bad sectors: idle when nothing else is to do, high always, disable never. It takes "
        "from a benchmark what it reads. (ssacli: surfacescanmode)",
        risk=Risk.PERFORMANCE,
        risk_text="While it is off, bad sectors stay unnoticed until a rebuild needs them. Set it back afterwards.",
    ),
    unconfirmed(
        key="surface_scan_delay",
        label="Surface scan delay",
        help="How long the card has to be idle before the surface scan goes on. (ssacli: surfacescandelay)",
        unit="s",
    ),
    unconfirmed(
        key="parallel_surface_scan",
        label="Parallel surface scans",
        help="Logical drives that are scanned at the same time. (ssacli: parallelsurfacescancount)",
    ),
    unconfirmed(
        key="degraded_performance",
        label="Degraded performance",
        help="Whether a degraded RAID 5 or 6 reads what is whole at full speed. (ssacli: "
        "degradedperformanceoptimization)",
    ),
    unconfirmed(
        key="inconsistency_repair",
        label="Inconsistency repair",
        help="Whether parity that is found wrong by the surface scan is written anew. (ssacli: "
        "inconsistencyrepairpolicy)",
    ),
    unconfirmed(
        key="monitor_delay",
        label="Monitor delay",
        help="Minutes between the card's own samples of its load. (ssacli: mnpdelay)",
        unit="min",
    ),
    unconfirmed(
        key="power_mode",
        label="Power mode",
        help="How much power the controller may use. With maxperformance it always runs at full speed, with balanced "
        "it saves power by its configuration and load, with minpower as much as it can. A change may need a reboot "
        "before it is in force. (ssacli: powermode)",
        risk=Risk.PERFORMANCE,
        risk_text="Any mode but maxperformance makes the controller slower, and its speed depends on the load.",
        effect=Effect.REBOOT,
    ),
    unconfirmed(
        key="survival_mode",
        label="Survival mode",
        help="Whether the controller slows down when its temperature exceeds its limit, instead of shutting down. "
        "(ssacli: survivalmode)",
        risk=Risk.OUTAGE,
        risk_text="With survival mode off, a controller that is too hot shuts down, and all its drives disappear.",
    ),
    unconfirmed(
        key="spare_activation",
        label="Spare activation",
        help="When a spare takes the place of a drive: when the drive has failed, or as soon as it predicts its "
        "failure. (ssacli: spareactivationmode)",
    ),
    unconfirmed(
        key="latency_scheduler",
        other_words=("disable", "low", "medium", "high", "aggressive1", "aggressive2"),
        label="Latency scheduler",
        help="From which age of a request the controller serves it at once, instead of sorting requests by their "
        "place on the disk: 250 ms with low, 50 ms with high. Only for hard disks. The word that ssacli and arcconf "
        "have for it is not documented, so raidbench only shows it. (HP Smart Storage Administrator, Managing FLS)",
    ),
)
"""Settings of a Smart Array or SmartRAID controller."""

SERIES_CARD_SETTINGS = (
    unconfirmed(
        key="performance_mode",
        label="Performance mode",
        help="How the card's cache is run: dynamic by the load, for databases (OLTP), or past the cache with large "
        "blocks. (arcconf: setperform)",
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
