"""Parsers for the controller and its battery. No I/O.

Commands: -AdpAllInfo, -AdpGetPciInfo, -ELF, -AdpPR, -AdpCcSched, -AdpBbuCmd.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from backends.sizes import read_size
from backends.text import clean, parse_volts
from backends.values import dataclass
from backends.vendors._cards import UNKNOWN, BackgroundOperation, ReportedValue, reported_number, reported_only
from backends.vendors.megaraid.facts import IMPORT, PRESERVED, PRESERVED_BOOT, CacheProtection, Card, Option
from backends.vendors.megaraid.megacli.settings import section_settings
from backends.vendors.megaraid.megacli.text import Line, degrees, lines, pairs, parse_yes, value_or_none, whole, word
from backends.vendors.megaraid.sizes import strip

_ADAPTER = re.compile(r"Adapter #([0-9]{1,6})$", re.ASCII | re.IGNORECASE)
_VERSION = re.compile(r"\bVer ([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})(?![0-9])", re.ASCII)
_COUNT = re.compile(r"Controller Count: ?([0-9]{1,3})\.?$", re.ASCII | re.IGNORECASE | re.MULTILINE)
_HEX = re.compile(r"(?:0x)?([0-9a-f]{1,4})", re.ASCII | re.IGNORECASE)
_TIME_LEFT = re.compile(r"^(?P<name>.{3,60}?) {2,}(?P<left>Unlimited|[0-9]{1,6} ?days?\b.*)$", re.ASCII | re.IGNORECASE)
_RATES = {
    "rebuild rate": "rebuild_rate",
    "pr rate": "patrol_read_rate",
    "patrol read rate": "patrol_read_rate",
    "bgi rate": "bgi_rate",
    "resynch rate": "bgi_rate",
    "check consistency rate": "cc_rate",
    "cc rate": "cc_rate",
    "reconstruction rate": "migrate_rate",
}
"""Setting keys by label in the section Settings. Old firmware reports the background initialisation rate as Resynch
Rate."""

_OPERATIONS = {
    "write policy": "write_cache",
    "read policy": "read_ahead",
    "io policy": "io_policy",
    "disk cache policy": "drive_cache",
    "access policy": "access_policy",
}
"""Setting keys by label of the section Supported VD Operations."""

_PATROL = {"auto": "auto", "automatic": "auto", "manual": "manual", "disabled": "off", "disable": "off"}
_CHECK = {"disabled": "off", "sequential": "sequential", "concurrent": "concurrent"}
_RUNNING = ("active", "running", "paused", "suspended", "in progress")


@dataclass(slots=True)
class _Sections:
    """Values of one controller by section.

    A label may occur in several sections: `Rebuild Rate: 30%`, later `Rebuild Rate: Yes`.
    """

    rows: dict[str, dict[str, str]] = field(default_factory=dict)

    def value(self, section: str, *keys: str) -> str:
        """Return the value of the first of `keys` that has one in a section whose name starts with `section`, or ""."""
        rows = [row for name, row in self.rows.items() if name.startswith(section)]
        return next((row[key] for row in rows for key in keys if row.get(key)), "")


def card_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of the controllers that the output lists, each once, in order."""
    matches = (_ADAPTER.match(line.value) for line in lines(text) if not line.key)
    return tuple(dict.fromkeys(int(match[1]) for match in matches if match))


def parse_count(text: str) -> int | None:
    """Return the number in `Controller Count: 2.`, or None. The exit status, which is the same number, is not used."""
    match = _COUNT.search(text.replace("\r", ""))
    return int(match[1]) if match else None


def parse_version(text: str) -> str | None:
    """Return the version in `MegaCLI SAS RAID Management Tool  Ver 8.07.14 Dec 16, 2013`, or None."""
    match = _VERSION.search(text)
    return match[1] if match and "megacli" in text.lower() else None


def parse_adapter(text: str, number: int) -> Card:
    """Return the controller with this number from -AdpAllInfo; output that names no controller is taken as about it."""
    sections = _sections(text, number)
    versions, hardware, limits = "version", "hw configuration", "limitations"
    return Card(
        number=number,
        model=value_or_none(sections.value(versions, "product name") or sections.value("", "product name")),
        serial=value_or_none(sections.value(versions, "serial no") or sections.value("", "serial no")),
        firmware=value_or_none(sections.value("image versions", "fw version") or sections.value("", "fw version")),
        package=value_or_none(sections.value("", "fw package build")),
        cache_bytes=read_size(sections.value(hardware, "memory size")),
        temperature_c=degrees(sections.value(hardware, "roc temperature")),
        memory_errors=_first_whole(sections, "memory uncorrectable errors"),
        backup_known=sections.value(hardware, "bbu").lower() == "absent",
        supports=_supports(sections),
        strip_minimum=strip(sections.value(limits, "min strip size", "min stripe size")),
        strip_maximum=strip(sections.value(limits, "max strip size", "max stripe size")),
        values=_values(sections),
        shown=_shown(sections),
        problems=_notices(sections),
    )


def _notices(sections: _Sections) -> tuple[str, ...]:
    """Return the warnings that the controller reports about itself, from any section."""
    preserved = (rows.get("any offline vd cache preserved", "") for rows in sections.rows.values())
    return (PRESERVED,) if any(parse_yes(text) for text in preserved) else ()


def _first_whole(sections: _Sections, label: str) -> int | None:
    """Return the integer under a label, in any section, or None."""
    return next((whole(rows[label]) for rows in sections.rows.values() if label in rows), None)


def parse_announced_counts(text: str, number: int) -> tuple[int | None, int | None]:
    """Return how many virtual drives and how many drives -AdpAllInfo counts; None for a count that is missing."""
    sections = _sections(text, number)
    volumes = whole(sections.value("device present", "virtual drives", "virtual disks"))
    return volumes, whole(sections.value("device present", "disks"))


def _sections(text: str, number: int) -> _Sections:
    """Return the values by section. The title of a section is a line without a value, followed by a row of `=`."""
    sections, section, title = _Sections(), "", ""
    is_of_card = not card_numbers(text)
    for line in lines(text):
        if not line.key and (match := _ADAPTER.match(line.value)):
            is_of_card, section = int(match[1]) == number, ""
        elif is_of_card and set(line.value) == {"="} and not line.key:
            section = title or section
        elif is_of_card and line.key and line.value:
            sections.rows.setdefault(section, {}).setdefault(line.key, line.value)
        title = _title(line)
    return sections


def _title(line: Line) -> str:
    if line.key:
        return line.key if not line.value else ""
    return "" if set(line.value) == {"="} else line.value.lower()


def _supports(sections: _Sections) -> Mapping[str, bool]:
    fields = {ours: parse_yes(sections.value("supported vd operations", label)) for label, ours in _OPERATIONS.items()}
    blocked = parse_yes(sections.value("", "block ssd write disk cache change"))
    fields["drive_cache_on_ssd"] = None if blocked is None else not blocked
    return {key: value for key, value in fields.items() if value is not None}


def _values(sections: _Sections) -> Mapping[str, ReportedValue]:
    values: dict[str, ReportedValue | None] = {}
    for label, key in _RATES.items():
        values[key] = values.get(key) or _reported(sections.value("settings", label), "%")
    values["cache_flush_interval"] = _reported(
        sections.value("settings", "cache flush interval"), "s", "sec", "seconds"
    )
    values["jbod"] = word(sections.value("supported pd operations", "enable jbod"), {"yes": "on", "no": "off"})
    return reported_only(values) | section_settings(sections.rows.get("settings", {}))


def _reported(text: str, *units: str) -> ReportedValue | None:
    return reported_number(text or None, whole(text, *units))


def _shown(sections: _Sections) -> Mapping[str, str]:
    """Return the values that raidbench shows but never sets, by label."""
    fields = {
        IMPORT: sections.value("default settings", "auto enhanced import"),
        PRESERVED_BOOT: sections.value("", "allow boot with preserved cache"),
    }
    return {label: text for label, text in fields.items() if text}


def parse_pci(text: str, number: int) -> str | None:
    """Return the PCI address from -AdpGetPciInfo, whose numbers are hexadecimal, as `03:00.0`; None if incomplete."""
    by_label: dict[str, str] = {}
    is_of_card = True
    for line in lines(text):
        if not line.key and (match := re.match(r"PCI information for Controller ([0-9]{1,6})$", line.value, re.ASCII)):
            is_of_card = int(match[1]) == number
        elif is_of_card and (hexadecimal := _HEX.fullmatch(line.value)):
            by_label.setdefault(line.key, hexadecimal[1].lower())
    parts = [by_label.get(key) for key in ("bus number", "device number", "function number")]
    if any(part is None for part in parts):
        return None
    bus, device, function = (int(part or "", 16) for part in parts)
    return f"{bus:02x}:{device:02x}.{function:x}" if bus < 256 and device < 32 and function < 8 else None


def parse_features(text: str) -> tuple[tuple[Option, ...], str | None]:
    """Return advanced software options and safe id from -ELF -ControllerFeatures.

    No recorded output of this command is known. The parser understands a label `Advanced Software Option : MegaRAID
    FastPath` followed by `Time Remaining : Unlimited` and `Mode : ...`, a pair `MegaRAID FastPath : Unlimited`, and a
    row `MegaRAID FastPath Unlimited`.
    """
    options: list[Option] = []
    option_name: str | None = None
    safe_id: str | None = None
    for line in lines(text):
        if line.key in ("safe id", "safeid", "controller safe id"):
            safe_id = safe_id or value_or_none(line.value)
        elif line.key in ("advanced software option", "advanced software options", "feature", "adv s/w opt"):
            options += [_option(option_name, "")] if option_name else []
            option_name = value_or_none(line.value)
        elif line.key in ("time remaining", "time left") and option_name:
            options.append(_option(option_name, line.value))
            option_name = None
        elif line.key.startswith("megaraid ") and line.value:
            options.append(_option(line.label, line.value))
        elif not line.key and (row := _TIME_LEFT.match(line.raw.strip())) and "megaraid" in row["name"].lower():
            options.append(_option(clean(row["name"]), clean(row["left"])))
    options += [_option(option_name, "")] if option_name else []
    return tuple({option.name: option for option in reversed(options)}.values())[::-1], safe_id


def _option(name: str, left: str) -> Option:
    first = left.lower().split()[:1]
    meaning = {"unlimited": "active"}.get(first[0] if first else "", UNKNOWN)
    if first and first[0].isdecimal() and re.match(r"[0-9]{1,6} ?days?\b", left, re.ASCII | re.IGNORECASE):
        meaning = "trial"
    elif left.lower().startswith(("not activated", "not available", "disabled", "expired")):
        meaning = "not-activated"
    return Option(name=name, state=ReportedValue(value=meaning, raw=left))


def parse_patrol_read(text: str) -> tuple[ReportedValue | None, BackgroundOperation | None]:
    """Return mode and running operation from -AdpPR -Info."""
    return _schedule(text, "patrol read mode", _PATROL, "patrol-read")


def parse_consistency_check(text: str) -> tuple[ReportedValue | None, BackgroundOperation | None]:
    """Return mode and running operation from -AdpCcSched -Info."""
    return _schedule(text, "operation mode", _CHECK, "consistency-check")


def _schedule(
    text: str, label: str, meanings: Mapping[str, str], kind: str
) -> tuple[ReportedValue | None, BackgroundOperation | None]:
    fields = pairs(text)
    state = fields.get("current state", "")
    job = BackgroundOperation(kind=kind, state=state) if state.lower().startswith(_RUNNING) else None
    return word(fields.get(label, ""), meanings), job


_STATES = {
    "optimal": "optimal",
    "operational": "optimal",
    "charging": "charging",
    "learning": "learning",
    "degraded": "degraded",
    "degraded(need attention)": "degraded",
    "non operational": "failed",
    "failed": "failed",
    "missing": "missing",
}
"""States by value of `Battery State`. Firmware of 2011 prints Operational and Non Operational."""

_WORST_FIRST = (
    ("Battery Pack Missing", "missing"),
    ("Learn Cycle Active", "learning"),
    ("Battery Replacement required", "failed"),
    ("Pack is about to fail & should be replaced", "degraded"),
    ("Remaining Capacity Low", "degraded"),
    ("No space to cache offload", "degraded"),
)
"""Flags of the battery, with the state that each means. The first flag that is Yes overrides `Battery State`, which
stays Operational even for a pack that needs replacement."""

_BAD = frozenset({"learning", "degraded", "failed", "missing"})
"""States in which write-back falls back to write-through."""

_DETAILS = {
    "batterytype": "Type",
    "relative state of charge": "Charge",
    "absolute state of charge": "Absolute charge",
    "remaining capacity": "Remaining capacity",
    "full charge capacity": "Full charge capacity",
    "pack energy": "Pack energy",
    "capacitance": "Capacitance",
    "cycle count": "Cycles",
    "charging status": "Charging",
    "battery replacement required": "Replacement required",
    "design mode": "Design mode",
    "auto learn period": "Learn period",
    "auto-learn mode": "Automatic learning",
    "date of manufacture": "Made on",
    "manufacture name": "Maker",
    "serial number": "Serial number",
}
"""Labels of displayed facts, by the tool's key."""


def parse_battery(text: str) -> CacheProtection | None:
    """Return the cache protection; None if none is fitted or reported (see `reports_battery`)."""
    fields: dict[str, list[str]] = {}
    for line in lines(text):
        if line.key:
            fields.setdefault(line.key, []).append(line.value)
    if not {"batterytype", "battery state", "charging status", "learn cycle active"} & fields.keys():
        return None
    kind = _first(fields, "batterytype")
    state = _state(fields)
    learning = parse_yes(_first(fields, "learn cycle active"))
    temperatures = (degrees(value) for value in fields.get("temperature", ()))
    return CacheProtection(
        kind="cachevault" if kind.upper().startswith(("CV", "SUPERCAP")) else "bbu",
        state=state,
        healthy=False if state.value in _BAD else True if state.value == "optimal" else None,
        temperature_c=next((value for value in temperatures if value is not None), None),
        voltage=next((value for value in map(parse_volts, fields.get("voltage", ())) if value is not None), None),
        learning=learning,
        next_learn=value_or_none(_first(fields, "next learn time")),
        details={label: value for key, label in _DETAILS.items() if (value := value_or_none(_first(fields, key)))},
    )


def reports_battery(text: str) -> bool:
    """Return whether the output says if a battery is fitted: it reports one or that the hardware is missing."""
    return parse_battery(text) is not None or "required hardware component is not present" in text


def _state(fields: Mapping[str, list[str]]) -> ReportedValue:
    state_text = _first(fields, "battery state")
    for key, meaning in _WORST_FIRST:
        if parse_yes(_first(fields, key.lower())):
            return ReportedValue(value=meaning, raw=key)
    if _first(fields, "issohgood").lower() == "no":
        return ReportedValue(value="failed", raw="isSOHGood")
    if state_text:
        return ReportedValue(value=_STATES.get(state_text.lower(), UNKNOWN), raw=state_text)
    charging = value_or_none(_first(fields, "charging status"))  # `None` only means that the battery is not charging
    if charging is None:
        return ReportedValue(value=UNKNOWN, raw="")
    return ReportedValue(value="charging" if charging.lower() == "charging" else UNKNOWN, raw=charging)


def _first(fields: Mapping[str, list[str]], key: str) -> str:
    return next((value for value in fields.get(key, ()) if value), "")
