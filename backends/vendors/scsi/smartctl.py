"""What `smartctl --json` says of a drive's health. Pure, never raises.

Its exit status is a bit mask that is seldom 0 on a worn drive (smartctl(8)); what counts is what the document holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backends.json_text import document, flag, rows, table, whole_number, word
from backends.subject import REFUSED, misnamed_reason
from backends.text import clean
from backends.values import dataclass

ASK = ("--json", "--nocheck=standby", "--info", "--health", "--attributes", "--log=ssd", "--log=error")
"""Identity, health, attributes, endurance and error counters; a drive that sleeps is left asleep."""

_POWER_LOSS_NAMES = ("power_loss_cap", "power_loss_prot", "powerloss_cap", "plp_", "_plp", "supercap")
"""In names that smartctl's drive database gives to attributes of drives with capacitors (175 on Intel and others)."""

_LIFE_LEFT = {
    177: ("wear_leveling_count",),
    202: ("percent_lifetime_remain", "perc_rated_life_remain"),
    231: ("ssd_life_left",),
    233: ("media_wearout_indicator",),
}
"""Attributes whose normalised value counts down from 100, believed only under these names: numbers vary by maker."""

_MEDIA = {
    187: ("reported_uncorrect", "uncorrectable_error_cnt"),
    197: ("current_pending_sector",),
    198: ("offline_uncorrectable",),
}
_LINK = {199: ("udma_crc_error_count", "crc_error_count")}
_MOST_ERRORS = 0xFFFFFFFF
"""Attributes that count errors, believed only under these names. A larger raw value has something else in it too."""

_ENDURANCE = "Percentage Used Endurance Indicator"
"""Device statistics, page 7 (ACS-3, A.5.7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLoss:
    """An attribute that only a drive with power-loss protection has."""

    id: int
    """Number of the attribute."""
    name: str
    """Its name in smartctl's database."""
    value: int
    """Normalised value."""
    threshold: int
    """At or below this the protection has failed."""

    @property
    def good(self) -> bool:
        """Whether the drive's own test of it passes."""
        return self.value > self.threshold

    def sentence(self) -> str:
        """Without a full stop."""
        verdict = "passes" if self.good else "fails"
        return f"attribute {self.id} {self.name} {verdict} (value {self.value}, threshold {self.threshold})"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeLeft:
    """An attribute that counts down the rated endurance."""

    percent: int
    """What is left of it."""
    id: int
    """Number of the attribute."""
    name: str
    """Its name in smartctl's database."""

    def sentence(self) -> str:
        """Without a full stop."""
        return f"{self.percent} % (attribute {self.id} {self.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartAnswer:
    """What the drive says of itself; None for what it does not say."""

    model: str | None = None
    """Model as smartctl prints it."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware revision."""
    rpm: int | None = None
    """Revolutions per minute; 0 for a drive without moving parts."""
    form: str | None = None
    """Form factor, `2.5 inches`."""
    speed: str | None = None
    """Negotiated speed of the link, `6.0 Gb/s`."""
    speed_limit: str | None = None
    """Highest speed of the drive's link, `6.0 Gb/s`."""
    passed: bool | None = None
    """The drive's own verdict."""
    celsius: int | None = None
    """Temperature."""
    limit: int | None = None
    """Temperature from which the drive warns."""
    media_errors: int | None = None
    """Errors of the medium."""
    link_errors: int | None = None
    """Errors of the transfer between drive and host."""
    hours: int | None = None
    """Hours powered on."""
    used_percent: int | None = None
    """Share of the rated endurance that is used, in percent; may pass 100."""
    life_left: LifeLeft | None = None
    """The same as an attribute counts it down."""
    power_loss: PowerLoss | None = None
    """Power-loss protection, where an attribute names it."""
    block: int | None = None
    """Bytes of its sectors, as it is formatted."""
    capacity: int | None = None
    """Bytes that it holds, as it is formatted."""
    asleep: bool = False
    """In standby, so it was not asked."""
    message: str | None = None
    """Why there is nothing else, in smartctl's words."""
    unread: str = ""
    """What is wrong with smartctl's answer, as a clause that follows it; "" where it was understood."""

    @property
    def is_silent(self) -> bool:
        """Return whether the drive says nothing of its health."""
        return (self.passed, self.celsius, self.hours, self.used_percent) == (None, None, None, None)


def parse_smartctl(text: str, device: str = "") -> SmartAnswer | None:
    """Return the health in one JSON document; None for what is none, and for one about another device.

    `device`: the device that was asked for; "" for any.
    """
    top = table(document(text))
    if "smartctl" not in top:
        return None
    named = word(table(top.get("device")).get("name"))
    if device and named is not None and misnamed_reason(device, (named,)):
        return SmartAnswer(message=f"{REFUSED}: {misnamed_reason(device, (named,))}")
    messages = [word(row.get("string")) for row in rows(table(top["smartctl"]).get("messages"))]
    message = next(filter(None, messages), None)
    attributes = _attributes(top)
    counters = attributes or (_rows(top) if whole_number(top.get("rotation_rate"), 100_000) else [])
    speed = table(table(top.get("interface_speed")).get("current"))
    return SmartAnswer(
        model=word(top.get("model_name")) or word(top.get("scsi_model_name")),
        serial=word(top.get("serial_number")),
        firmware=word(top.get("firmware_version")) or word(top.get("scsi_revision")),
        rpm=whole_number(top.get("rotation_rate"), 100_000),
        form=word(table(top.get("form_factor")).get("name")),
        speed=word(speed.get("string")),
        speed_limit=word(table(table(top.get("interface_speed")).get("max")).get("string")),
        passed=flag(table(top.get("smart_status")).get("passed")),
        celsius=_celsius(top),
        limit=whole_number(table(top.get("temperature")).get("drive_trip"), _HOTTEST) or None,
        media_errors=_uncorrected(top) if "scsi_error_counter_log" in top else _count(counters, _MEDIA),
        link_errors=_count(counters, _LINK),
        hours=whole_number(table(top.get("power_on_time")).get("hours"), 10_000_000),
        used_percent=_used(top),
        life_left=_life_left(attributes),
        power_loss=next(_power_losses(attributes), None),
        block=whole_number(top.get("logical_block_size"), 1 << 20),
        capacity=whole_number(table(top.get("user_capacity")).get("bytes")),
        asleep=any("STANDBY" in text or "SLEEP" in text for text in messages if text),
        message=message,
    )


def _attributes(top: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Those whose names are the maker's: of a drive that is not in smartctl's database they are guesses by number."""
    if top.get("in_smartctl_database") is not True:
        return []
    return _rows(top)


def _rows(top: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return all attributes. The numbers that count errors mean the same on every drive that rotates."""
    return list(rows(table(top.get("ata_smart_attributes")).get("table")))


def unread_reason(text: str) -> str:
    """Return what is wrong with an answer, as a clause that follows it: smartctl prints some complaints amid its JSON.

    See smartctl's `-j` (smartctl(8)): lines that it does not know how to put into JSON come as they are.
    """
    value = next((line for line in text.splitlines() if line.strip() and not _JSON_LINE.fullmatch(line.strip())), "")
    if not text.strip():
        return "is empty"
    why = f"it has the line '{clean(value, 100)}'" if value else "it is no whole JSON document"
    return f"is not understood: {why}"


_JSON_LINE = re.compile(r'["{}\[\],:\d-].*|true,?|false,?|null,?', re.ASCII)
"""How a line of JSON begins."""


def _celsius(top: Mapping[str, object]) -> int | None:
    """Return the temperature. Zero is how a drive without a sensor reports it, and how smartctl prints it."""
    now = whole_number(table(top.get("temperature")).get("current"), _HOTTEST)
    reports = table(top.get("scsi_environmental_reports"))
    return now or whole_number(table(reports.get("temperature_1")).get("current"), _HOTTEST) or None


_HOTTEST = 150
"""Degrees; 255 stands for a sensor that does not work (SPC-4, 7.3.21)."""


def _count(attributes: list[Mapping[str, object]], names: Mapping[int, tuple[str, ...]]) -> int | None:
    """Return the largest raw value of these attributes, which may count one event; None where there are none."""
    numbers = [
        count
        for row in attributes
        if (word(row.get("name")) or "").lower() in names.get(whole_number(row.get("id"), 255) or 0, ())
        if (count := whole_number(table(row.get("raw")).get("value"), _MOST_ERRORS)) is not None
    ]
    return max(numbers, default=None)


def _uncorrected(top: Mapping[str, object]) -> int | None:
    """Return the errors of reads, writes and verifications that a SAS drive could not correct."""
    log = table(top.get("scsi_error_counter_log"))
    counts = [
        whole_number(table(log.get(kind)).get("total_uncorrected_errors")) for kind in ("read", "write", "verify")
    ]
    known_counts = [count for count in counts if count is not None]
    return sum(known_counts) if known_counts else None


def _used(top: Mapping[str, object]) -> int | None:
    for key in ("scsi_percentage_used_endurance_indicator",):
        if (used := whole_number(top.get(key), 255)) is not None:
            return used
    if (used := whole_number(table(top.get("endurance_used")).get("current_percent"), 255)) is not None:
        return used
    for page in rows(table(top.get("ata_device_statistics")).get("pages")):
        for row in rows(page.get("table")):
            valid = table(row.get("flags")).get("valid", True)
            if row.get("name") == _ENDURANCE and valid is True:
                return whole_number(row.get("value"), 255)
    return None


def _life_left(attributes: list[Mapping[str, object]]) -> LifeLeft | None:
    for row in attributes:
        number, name = whole_number(row.get("id"), 255), word(row.get("name")) or ""
        value = whole_number(row.get("value"), 100)
        if number is not None and value is not None and name.lower() in _LIFE_LEFT.get(number, ()):
            return LifeLeft(percent=value, id=number, name=name)
    return None


def _power_losses(attributes: list[Mapping[str, object]]) -> Iterator[PowerLoss]:
    for row in attributes:
        number, name = whole_number(row.get("id"), 255), word(row.get("name")) or ""
        value, threshold = whole_number(row.get("value"), 255), whole_number(row.get("thresh"), 255)
        is_power_loss = any(part in name.lower() for part in _POWER_LOSS_NAMES)
        if is_power_loss and number is not None and value is not None and threshold is not None:
            yield PowerLoss(id=number, name=name, value=value, threshold=threshold)
