"""Properties of controllers, arrays and drives that the tools of all RAID controllers report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from backends.model import Level, Media, State
from backends.values import dataclass

UNKNOWN = "unknown"
"""Value if raidbench does not understand the string that the tool reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedValue:
    """A value and the string from which it was parsed."""

    value: str
    """Value as raidbench names it, or `unknown`."""
    raw: str
    """The tool's string, without control characters."""


class EffectiveValue(NamedTuple):
    """The effective value and why it differs from the configured value; (None, None) if it does not differ."""

    value: str | None = None
    """Value as raidbench names it, or `unknown`."""
    why: str | None = None
    """Reason for the difference."""


AS_SET = EffectiveValue()


def value_of(reported: ReportedValue | None) -> str | None:
    """Return the value; None if nothing is reported."""
    return None if reported is None else reported.value


def reported_word(text: str | None, meanings: Mapping[str, str]) -> ReportedValue | None:
    """Return the meaning of a reported string from `meanings` (keys in lower case); None if nothing is reported."""
    return None if text is None else ReportedValue(value=meanings.get(text.lower(), UNKNOWN), raw=text)


def reported_number(text: str | None, number: int | None) -> ReportedValue | None:
    """Return the `number` that was parsed from `text`, `unknown` if it is None; None if nothing is reported."""
    return None if text is None else ReportedValue(value=UNKNOWN if number is None else str(number), raw=text)


def reported_only(values: Mapping[str, ReportedValue | None]) -> dict[str, ReportedValue]:
    """Return the values that are reported, by key."""
    return {key: value for key, value in values.items() if value is not None}


def value_text(configured: str | None, effective: EffectiveValue) -> str | None:
    """Return the configured value and, if it differs, the effective value with the reason."""
    if effective.value is None or configured is None:
        return configured
    return f"{configured}, in force: {effective.value} ({effective.why})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundOperation:
    """A background operation of a controller, array or drive."""

    kind: str
    """`patrol-read`, `consistency-check`, `initialisation`, `background-initialisation`, `rebuild`, `migration`,
    `learn`, `copyback`."""
    progress: float | None = None
    """Completed part, from 0 to 1; None if not reported."""
    state: str = ""
    """The tool's text: `Active`, `Paused`; "" if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCard:
    """Properties of a controller that every tool reports."""

    model: str | None = None
    """Product name."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware version."""
    driver: str | None = None
    """Name and version of the kernel driver."""
    pci: str | None = None
    """PCI address in the tool's spelling."""
    cache_bytes: int | None = None
    """Cache size in bytes."""
    temperature_c: int | None = None
    """Chip temperature in degrees Celsius."""
    problems: tuple[str, ...] = ()
    """Warnings of the tool, and values that could not be read, as sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedArray:
    """Properties of an array (virtual drive, logical drive) that every tool reports."""

    number: int
    """Number on the controller."""
    name: str | None = None
    """Name that an administrator gave the array, or None."""
    level: Level = Level.UNKNOWN
    """RAID level, which takes spans into account: a RAID 5 with two spans is RAID 50."""
    level_raw: str = ""
    """The tool's text for the level."""
    size_bytes: int | None = None
    """Usable size in bytes, as rounded by the tool."""
    strip_bytes: int | None = None
    """Strip size in bytes."""
    state: State = State.UNKNOWN
    """State."""
    state_raw: str = ""
    """The tool's text for the state: `Optl`, `Partially Degraded`, ..."""
    wwn: str | None = None
    """SCSI NAA ID, lower-case hex without prefix."""
    drives: tuple[str, ...] = ()
    """Slots of its members in the reported order, span by span; empty if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedDrive:
    """Properties of a physical drive that every tool reports."""

    model: str | None = None
    """Model, with the vendor if the tool reports it."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware revision."""
    wwn: str | None = None
    """World Wide Name, lower-case hex without prefix."""
    media: Media = Media.UNKNOWN
    """Kind of medium."""
    interface: str | None = None
    """`sata`, `sas`, `nvme`, `scsi`."""
    size_bytes: int | None = None
    """Capacity in bytes (coerced or raw, whichever the tool reports first)."""
    sector_bytes: int | None = None
    """Logical sector size in bytes."""
    state: State = State.UNKNOWN
    """State."""
    state_raw: str = ""
    """The tool's text for the state: `Onln`, `UGood`, `Unconfigured(good), Spun Up`, ..."""
    link: str | None = None
    """Negotiated link speed in the tool's spelling: `6.0Gb/s`, `6.0Gbps`."""
    link_limit: str | None = None
    """Highest link speed of the drive in the tool's spelling; None if not reported."""
