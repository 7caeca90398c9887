"""Parser of the output of `smartctl --json` about a drive's health. No I/O. It never raises an error.

The exit status is a bit mask that is seldom 0 for a worn drive (smartctl(8)), so only the document is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backends.json_text import document, flag, rows, table, whole_number, word
from backends.subject import REFUSED, misnamed_reason
from backends.text import clean
from backends.values import dataclass

ASK = ("--json", "--nocheck=standby", "--info", "--health", "--attributes", "--log=ssd", "--log=error")
"""Options of smartctl for identity, health, attributes, endurance and error counters. A sleeping drive is not woken."""

_POWER_LOSS_NAMES = ("power_loss_cap", "power_loss_prot", "powerloss_cap", "plp_", "_plp", "supercap")
"""Parts of names of attributes that only drives with power-loss capacitors have (smartctl's database; 175 on Intel)."""

_LIFE_LEFT = {
    177: ("wear_leveling_count",),
    202: ("percent_lifetime_remain", "perc_rated_life_remain"),
    231: ("ssd_life_left",),
    233: ("media_wearout_indicator",),
}
"""Names of the attributes whose normalised value counts down from 100 with wear, by attribute number.
Makers use the numbers differently, so the name must match as well.
"""

_MEDIA = {
    187: ("reported_uncorrect", "uncorrectable_error_cnt"),
    197: ("current_pending_sector",),
    198: ("offline_uncorrectable",),
}
_LINK = {199: ("udma_crc_error_count", "crc_error_count")}
_MOST_ERRORS = 0xFFFFFFFF
"""Largest plausible error count. A larger raw value also contains other data."""

_ENDURANCE = "Percentage Used Endurance Indicator"
"""Name of the used endurance in page 7 of the device statistics (ACS-3, A.5.7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLoss:
    """An attribute that only drives with power-loss protection have."""

    id: int
    """Attribute number."""
    name: str
    """Name in smartctl's database."""
    value: int
    """Normalised value."""
    threshold: int
    """Threshold: at this value or below it, the protection has failed."""

    @property
    def is_good(self) -> bool:
        """Return whether the drive's self-test of the protection passes."""
        return self.value > self.threshold

    def sentence(self) -> str:
        """Return a clause about the result of the drive's self-test of the protection."""
        verdict = "passes" if self.is_good else "fails"
        return f"attribute {self.id} {self.name} {verdict} (value {self.value}, threshold {self.threshold})"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeLeft:
    """An attribute that counts down the rated endurance."""

    percent: int
    """Remaining endurance in percent."""
    id: int
    """Attribute number."""
    name: str
    """Name in smartctl's database."""

    def sentence(self) -> str:
        """Return the remaining endurance and its source: `97 % (attribute 231 SSD_Life_Left)`."""
        return f"{self.percent} % (attribute {self.id} {self.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartAnswer:
    """Values that smartctl reports. A value is None if it is not reported."""

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
    """Negotiated link speed, `6.0 Gb/s`."""
    speed_limit: str | None = None
    """Highest link speed of the drive, `6.0 Gb/s`."""
    passed: bool | None = None
    """Whether the drive passes its overall health assessment; False predicts a failure."""
    celsius: int | None = None
    """Temperature in degrees Celsius."""
    limit: int | None = None
    """Warning temperature in degrees Celsius."""
    media_errors: int | None = None
    """Number of medium errors."""
    link_errors: int | None = None
    """Number of transfer errors between drive and host."""
    hours: int | None = None
    """Power-on hours."""
    used_percent: int | None = None
    """Used share of the rated endurance in percent; may exceed 100."""
    life_left: LifeLeft | None = None
    """Remaining endurance, from an attribute."""
    power_loss: PowerLoss | None = None
    """Power-loss protection, from an attribute."""
    block: int | None = None
    """Formatted sector size in bytes."""
    capacity: int | None = None
    """Formatted capacity in bytes."""
    asleep: bool = False
    """Whether the drive is in standby and was not queried."""
    message: str | None = None
    """First message of smartctl. If there are no other values, it is the reason."""
    unread: str = ""
    """Fault in smartctl's output, as a clause with the output as subject; "" if it could be parsed."""

    @property
    def is_silent(self) -> bool:
        """Return whether the drive reports no health."""
        return (self.passed, self.celsius, self.hours, self.used_percent) == (None, None, None, None)


def parse_smartctl(text: str, device: str = "") -> SmartAnswer | None:
    """Return the health in a JSON document; None for other text.

    A document about another device than `device` ("": any) has only a message.
    """
    top = table(document(text))
    if "smartctl" not in top:
        return None
    named = word(table(top.get("device")).get("name"))
    if device and named is not None and misnamed_reason(device, (named,)):
        return SmartAnswer(message=f"{REFUSED}: {misnamed_reason(device, (named,))}")
    messages = [word(row.get("string")) for row in rows(table(top["smartctl"]).get("messages"))]
    message = next(filter(None, messages), None)
    all_attributes = list(rows(table(top.get("ata_smart_attributes")).get("table")))
    # For a drive that is not in smartctl's database, attribute names are guesses by number and are not used. Only the
    # numbers of error counters have the same meaning on every rotating drive.
    attributes = all_attributes if top.get("in_smartctl_database") is True else []
    counters = attributes or (all_attributes if whole_number(top.get("rotation_rate"), 100_000) else [])
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
        media_errors=_uncorrected_errors(top) if "scsi_error_counter_log" in top else _count(counters, _MEDIA),
        link_errors=_count(counters, _LINK),
        hours=whole_number(table(top.get("power_on_time")).get("hours"), 10_000_000),
        used_percent=_used_percent(top),
        life_left=_life_left(attributes),
        power_loss=next(_power_losses(attributes), None),
        block=whole_number(top.get("logical_block_size"), 1 << 20),
        capacity=whole_number(table(top.get("user_capacity")).get("bytes")),
        asleep=any("STANDBY" in text or "SLEEP" in text for text in messages if text),
        message=message,
    )


def unread_reason(text: str) -> str:
    """Return the fault in smartctl's output, as a clause. smartctl prints some error messages within its JSON.

    Lines that have no JSON form are printed as text (smartctl(8), `-j`).
    """
    value = next((line for line in text.splitlines() if line.strip() and not _JSON_LINE.fullmatch(line.strip())), "")
    if not text.strip():
        return "is empty"
    why = f"it has the line '{clean(value, 100)}'" if value else "the JSON document is incomplete"
    return f"cannot be parsed: {why}"


_JSON_LINE = re.compile(r'["{}\[\],:\d-].*|true,?|false,?|null,?', re.ASCII)
"""Pattern of a line of JSON."""


def _celsius(top: Mapping[str, object]) -> int | None:
    """Return the temperature; None if it is 0, which a drive without a sensor reports."""
    now = whole_number(table(top.get("temperature")).get("current"), _HOTTEST)
    reports = table(top.get("scsi_environmental_reports"))
    return now or whole_number(table(reports.get("temperature_1")).get("current"), _HOTTEST) or None


_HOTTEST = 150
"""Highest plausible temperature in degrees Celsius. A faulty sensor reports 255 (SPC-4, 7.3.21)."""


def _count(attributes: list[Mapping[str, object]], names: Mapping[int, tuple[str, ...]]) -> int | None:
    """Return the largest raw value of these attributes, which may count the same events; None if there is none."""
    numbers = [
        count
        for row in attributes
        if (word(row.get("name")) or "").lower() in names.get(whole_number(row.get("id"), 255) or 0, ())
        if (count := whole_number(table(row.get("raw")).get("value"), _MOST_ERRORS)) is not None
    ]
    return max(numbers, default=None)


def _uncorrected_errors(top: Mapping[str, object]) -> int | None:
    """Return the number of uncorrected errors of reads, writes and verifications of a SAS drive."""
    log = table(top.get("scsi_error_counter_log"))
    counts = [
        whole_number(table(log.get(kind)).get("total_uncorrected_errors")) for kind in ("read", "write", "verify")
    ]
    known_counts = [count for count in counts if count is not None]
    return sum(known_counts) if known_counts else None


def _used_percent(top: Mapping[str, object]) -> int | None:
    if (used := whole_number(top.get("scsi_percentage_used_endurance_indicator"), 255)) is not None:
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
