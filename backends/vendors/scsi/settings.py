"""Declarations of the settings of SATA and SAS disks."""

from __future__ import annotations

from functools import partial

from backends.settings import Choice, Persistence, Risk, Setting, offer

_volatile = partial(Setting, persistence=Persistence.LOST_AT_POWER_OFF)
"""Setting that the drive loses without power."""

DRIVE_CACHE = _volatile(
    key="drive_cache",
    label="Write cache (drive)",
    help="Whether the drive reports a write as done while it is only in its volatile buffer. What the kernel believes "
    "of it, and so whether it sends flushes, is the queue's write_cache. Set by hdparm -W, the bit WCE of the caching "
    "page (SBC-3, 6.5.6), or sd's cache_type (Documentation/scsi/sd-parameters).",
    risk=Risk.POWER_LOSS,
    risk_text="With the cache on, a power cut loses what the drive reported as written and was not flushed.",
)
LOOK_AHEAD = _volatile(
    key="read_look_ahead",
    label="Read look-ahead (drive)",
    help="Whether the drive reads on into its own buffer after a read: helps sequential reads of small blocks, costs "
    "random reads little. The kernel's own is the queue's read_ahead_kb. Set by hdparm -A or the bit DRA, inverted.",
)
READ_CACHE = _volatile(
    key="read_cache",
    label="Read cache (drive)",
    help="Whether a SCSI drive may answer reads from its buffer: the bit RCD of the caching page, inverted (SBC-3, "
    "6.5.6). Off makes every read come from the medium.",
    risk=Risk.PERFORMANCE,
    risk_text="With the cache off, repeated and sequential reads take far longer.",
)
QUEUE_DEPTH = Setting(
    key="queue_depth",
    label="Queue depth",
    help="Commands that the kernel gives the disk at a time: native command queueing of SATA (1 switches it off), "
    "tagged queueing of SAS. The kernel lowers what the disk cannot take (Documentation/scsi, queue_depth).",
    risk=Risk.PERFORMANCE,
    risk_text="With too few commands in flight a drive cannot sort them and a flash drive cannot work in parallel.",
    unit="commands",
)
APM = _volatile(
    key="apm",
    label="Power management (APM)",
    help="Advanced power management of an ATA drive, hdparm -B: 1 to 127 may spin it down, 128 to 254 not, 254 is the "
    "most performance, 255 switches it off. Low levels park the heads often, which wears a hard disk (hdparm(8)).",
    risk=Risk.PERFORMANCE,
    risk_text="Low levels spin the drive down or park its heads: the next access waits, and it wears the drive.",
)
ACOUSTIC = _volatile(
    key="acoustic",
    label="Acoustic management (AAM)",
    help="How quietly an ATA hard disk moves its heads, hdparm -M: quiet seeks are slow ones (hdparm(8)).",
    risk=Risk.PERFORMANCE,
    risk_text="Quiet seeks take longer.",
)

SETTINGS = (DRIVE_CACHE, LOOK_AHEAD, READ_CACHE, QUEUE_DEPTH, APM, ACOUSTIC)
"""All settings in display order."""

OPTIONS = {"drive_cache": "-W", "read_look_ahead": "-A", "apm": "-B", "acoustic": "-M"}
"""hdparm's option letter by setting of an ATA drive."""

BITS = {"drive_cache": ("WCE", False), "read_look_ahead": ("DRA", True), "read_cache": ("RCD", True)}
"""Field of the caching page by setting of a SCSI drive, and whether the bit means off."""

APM_OFF = 255
"""Level that turns power management off."""

QUIET = (
    offer("128", "Slow, quiet seeks.", label="quiet", risk=Risk.PERFORMANCE),
    offer("254", "Fast seeks.", label="fast"),
)
"""Levels that every drive with acoustic management supports."""

LOOK_AHEAD_CHOICES = (
    offer("on", "The drive reads on into its buffer."),
    offer("off", "The drive reads what it was asked for."),
)
"""Choices of the drive's read-ahead."""

READ_CACHE_CHOICES = (
    offer("on", "Reads may be answered from the drive's buffer."),
    offer("off", "Every read comes from the medium.", risk=Risk.PERFORMANCE),
)
"""Choices of the drive's read cache."""


def cache_choices(evidence: str | None) -> tuple[Choice, ...]:
    """Return the choices of the drive's write cache; `evidence`: text that it survives a power cut, or None."""
    protection = f"Power-loss protection: {evidence}." if evidence else "Not flushed writes are lost with the power."
    return (
        offer(
            "on",
            f"Writes are done when they are in the drive's buffer. {protection}",
            risk=Risk.PERFORMANCE if evidence else Risk.POWER_LOSS,
        ),
        offer("off", "Writes are done when they are on the medium."),
    )
