"""Declarations of the settings of SATA and SAS disks."""

from __future__ import annotations

from functools import partial

from backends.settings import Choice, Persistence, Risk, Setting, offer

_volatile = partial(Setting, persistence=Persistence.LOST_AT_POWER_OFF)
"""Constructor of a setting that the drive loses without power."""

DRIVE_CACHE = _volatile(
    key="drive_cache",
    label="Write cache (drive)",
    help="Whether the drive acknowledges a write while it is only in its volatile buffer. write_cache of the queue "
    "decides whether the kernel sends flushes. Set by hdparm -W, the bit WCE of the caching page (SBC-3, "
    "6.5.6), or cache_type of sd (Documentation/scsi/sd-parameters).",
    risk=Risk.POWER_LOSS,
    risk_text="If the cache is on, a power failure loses acknowledged writes that were not flushed.",
)
LOOK_AHEAD = _volatile(
    key="read_look_ahead",
    label="Read look-ahead (drive)",
    help="Whether the drive reads ahead into its buffer. It helps sequential reads of small blocks and costs random "
    "reads little. The kernel's read-ahead is read_ahead_kb of the queue. Set by hdparm -A or the inverted bit "
    "DRA.",
)
READ_CACHE = _volatile(
    key="read_cache",
    label="Read cache (drive)",
    help="Whether a SCSI drive may serve reads from its buffer: the inverted bit RCD of the caching page (SBC-3, "
    "6.5.6). If it is off, every read comes from the medium.",
    risk=Risk.PERFORMANCE,
    risk_text="If the cache is off, repeated and sequential reads take far longer.",
)
QUEUE_DEPTH = Setting(
    key="queue_depth",
    label="Queue depth",
    help="Number of commands that the kernel sends to the disk at a time: native command queueing of SATA (1 "
    "disables it), tagged queueing of SAS. The kernel reduces values above the disk's limit "
    "(Documentation/scsi, queue_depth).",
    risk=Risk.PERFORMANCE,
    risk_text="With too few commands in flight a drive cannot sort them and a flash drive cannot work in parallel.",
    unit="commands",
)
APM = _volatile(
    key="apm",
    label="Power management (APM)",
    help="Advanced power management of an ATA drive (hdparm -B). 1 to 127 allow spin-down, 128 to 254 do not. 254 is "
    "maximum performance, 255 disables power management. Low levels park the heads often, which wears a hard "
    "disk (hdparm(8)).",
    risk=Risk.PERFORMANCE,
    risk_text="Low levels spin the drive down or park its heads. The next access waits, and the drive wears out "
    "faster.",
)
QUIET = (
    offer("128", "Slow, quiet seeks.", label="quiet", risk=Risk.PERFORMANCE),
    offer("254", "Fast seeks.", label="fast"),
)
"""Choices of the levels that every drive with acoustic management supports."""
ACOUSTIC = _volatile(
    key="acoustic",
    label="Acoustic management (AAM)",
    help="Noise of the seeks of an ATA hard disk (hdparm -M). Quiet seeks are slower (hdparm(8)).",
    risk=Risk.PERFORMANCE,
    risk_text="Quiet seeks take longer.",
    choices=QUIET,
)

SETTINGS = (DRIVE_CACHE, LOOK_AHEAD, READ_CACHE, QUEUE_DEPTH, APM, ACOUSTIC)
"""All settings in display order."""

OPTIONS = {"drive_cache": "-W", "read_look_ahead": "-A", "apm": "-B", "acoustic": "-M"}
"""Option of hdparm for each setting of an ATA drive."""

BITS = {"drive_cache": ("WCE", False), "read_look_ahead": ("DRA", True), "read_cache": ("RCD", True)}
"""Field of the caching mode page for each setting of a SCSI drive, and whether a set bit means off."""

APM_OFF = 255
"""Value with which hdparm turns advanced power management off."""

LOOK_AHEAD_CHOICES = (
    offer("on", "The drive reads ahead into its buffer."),
    offer("off", "The drive reads only the requested data."),
)
"""Choices of the drive's read-ahead."""

READ_CACHE_CHOICES = (
    offer("on", "Reads may be served from the drive's buffer."),
    offer("off", "Every read comes from the medium.", risk=Risk.PERFORMANCE),
)
"""Choices of the drive's read cache."""


def cache_choices(evidence: str | None) -> tuple[Choice, ...]:
    """Return the choices of the drive's write cache. `evidence`: clause about its power-loss protection, or None."""
    protection = (
        f"Power-loss protection: {evidence}." if evidence else "A power failure loses writes that were not flushed."
    )
    return (
        offer(
            "on",
            f"Writes are acknowledged when they are in the drive's buffer. {protection}",
            risk=Risk.PERFORMANCE if evidence else Risk.POWER_LOSS,
        ),
        offer("off", "Writes are acknowledged when they are on the medium."),
    )
