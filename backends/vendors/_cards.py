"""What the tools of RAID cards report alike of a card, of an array and of a drive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from backends.model import Level, Media, State
from backends.values import dataclass

UNKNOWN = "unknown"
"""The common word for a tool's words that are not understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedValue:
    """A value and the tool's words for it."""

    value: str
    """In the common vocabulary, or `unknown`."""
    raw: str
    """As the tool wrote it, cleaned."""


class EffectiveValue(NamedTuple):
    """What is in force where it is not what is set; (None, None) where it is."""

    value: str | None = None
    """In the common vocabulary, `unknown` if it cannot be told."""
    why: str | None = None
    """The reason, in words."""


AS_SET = EffectiveValue()


def value_of(reported: ReportedValue | None) -> str | None:
    """Return the common word; None where nothing is reported."""
    return None if reported is None else reported.value


def reported_word(text: str | None, meanings: Mapping[str, str]) -> ReportedValue | None:
    """Return what a word means by the table (keys in lower case); None where the tool says nothing."""
    return None if text is None else ReportedValue(value=meanings.get(text.lower(), UNKNOWN), raw=text)


def reported_number(text: str | None, number: int | None) -> ReportedValue | None:
    """Return the number that was read of a text, `unknown` if none was; None where the tool says nothing."""
    return None if text is None else ReportedValue(value=UNKNOWN if number is None else str(number), raw=text)


def reported_only(values: Mapping[str, ReportedValue | None]) -> dict[str, ReportedValue]:
    """Return those of the values that are reported, by their keys."""
    return {key: value for key, value in values.items() if value is not None}


def value_text(configured: str | None, effective: EffectiveValue) -> str | None:
    """Return the configured value and, where another one is in force, that one and why."""
    if effective.value is None or configured is None:
        return configured
    return f"{configured}, in force: {effective.value} ({effective.why})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundOperation:
    """Background work of a card, an array or a drive."""

    kind: str
    """`patrol-read`, `consistency-check`, `initialisation`, `background-initialisation`, `rebuild`, `migration`,
    `learn`, `copyback`."""
    progress: float | None = None
    """0..1, None if not reported."""
    state: str = ""
    """The tool's word: `Active`, `Paused`; "" if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCard:
    """What each tool reports of a card."""

    model: str | None = None
    """Product name."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware version."""
    driver: str | None = None
    """Name and version of the kernel's driver."""
    pci: str | None = None
    """PCI address as the tool writes it."""
    cache_bytes: int | None = None
    """Size of its cache."""
    temperature_c: int | None = None
    """Temperature of its chip in degrees Celsius."""
    problems: tuple[str, ...] = ()
    """What the tool warns of, or could not be read and why: sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedArray:
    """What each tool reports of an array: a virtual drive, a logical drive."""

    number: int
    """Its number on the card."""
    name: str | None = None
    """Given name; None if it has none."""
    level: Level = Level.UNKNOWN
    """Level, spans taken into account."""
    level_raw: str = ""
    """The tool's words for the level."""
    size_bytes: int | None = None
    """Usable size, as rounded by the tool."""
    strip_bytes: int | None = None
    """Bytes on one drive before the next one follows."""
    state: State = State.UNKNOWN
    """State."""
    state_raw: str = ""
    """The tool's words for the state: `Optl`, `Partially Degraded`, ..."""
    wwn: str | None = None
    """SCSI NAA id, lower case hex without prefix."""
    drives: tuple[str, ...] = ()
    """Places of its members in the order reported (span order); empty if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedDrive:
    """What each tool reports of a physical drive."""

    model: str | None = None
    """Model, with the vendor where the tool names it."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware revision."""
    wwn: str | None = None
    """World wide name, lower case hex without prefix."""
    media: Media = Media.UNKNOWN
    """What stores the bits."""
    interface: str | None = None
    """`sata`, `sas`, `nvme`, `scsi`."""
    size_bytes: int | None = None
    """Capacity (coerced or raw, the first that the tool reports)."""
    sector_bytes: int | None = None
    """Logical sector."""
    state: State = State.UNKNOWN
    """State."""
    state_raw: str = ""
    """The tool's words for the state: `Onln`, `UGood`, `Unconfigured(good), Spun Up`, ..."""
    link: str | None = None
    """Negotiated link speed as written: `6.0Gb/s`, `6.0Gbps`."""
    link_limit: str | None = None
    """Highest link speed of the drive as written; None if not reported."""
