"""Parsers for battery, CacheVault and energy pack. No I/O; they never raise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backends.text import parse_volts
from backends.vendors._cards import UNKNOWN, ReportedValue
from backends.vendors.megaraid.facts import CacheProtection
from backends.vendors.megaraid.storcli import vocabulary
from backends.vendors.megaraid.storcli.fields import Fields, celsius, flag, tables

_LISTED = (
    ("cachevault_info", "cachevault"),
    ("bbu_info", "bbu"),
    ("energy pack info", "cachevault"),
    ("energy_pack_info", "cachevault"),
)
"""Tables of `show all`, each with the kind of protection that it describes. An energy pack is a supercapacitor."""

_DETAILS = {
    "Capacitance": ("capacitance",),
    "Pack energy": ("pack energy",),
    "Remaining capacity": ("relative state of charge", "remaining capacity"),
    "Voltage": ("voltage",),
    "Made": ("date of manufacture", "manufacture date", "mfgdate"),
    "Auto learn": ("auto-learn mode", "auto learn mode"),
    "Learn period": ("auto learn period",),
    "Replacement required": ("replacement required",),
}
"""Labels of displayed facts, each with the tool's names for that property."""

_BAD = ("replacement required", "battery pack missing", "pack is about to fail & should be replaced")
"""Properties that mean, if their value is `Yes`, that the cache is not protected."""


def parse_listed(data: Mapping[str, object]) -> tuple[CacheProtection | None, bool]:
    """Return the protection that `show all` reports, and whether `show all` reports if one is fitted.

    Without a table, `BBU = Absent` means that none is fitted. `BBU Status` is a number without a published meaning, so
    it is ignored.
    """
    fields = Fields(data)
    for name, kind in _LISTED:
        rows = fields.rows(name)
        if rows:
            return _backup(kind, rows[0], {}), True
    presence_text = fields.fields("hwcfg").text("bbu", "energy pack")
    return None, (presence_text or "").lower() in ("absent", "not present", "missing")


def parse_answer(data: Mapping[str, object], kind: str) -> CacheProtection | None:
    """Return the protection from the output of `/cN/cv show all` or `/cN/bbu show all`; None if not reported."""
    properties: dict[str, object] = {}
    for _, row in tables(data, "property"):
        key = row.text("property")
        if key is not None:
            properties.setdefault(key, row.raw("value"))
    fields = Fields(properties)
    if not fields:
        shown, _ = parse_listed(data)
        return shown
    return _backup(kind, fields, properties)


def _backup(kind: str, fields: Fields, properties: Mapping[str, object]) -> CacheProtection:
    state = fields.text("battery state", "state", "status") or ""
    value = vocabulary.BACKUP.get(state.lower(), UNKNOWN)
    active = flag(Fields(properties).text("learn cycle active"))
    bad = any(flag(fields.text(name)) for name in _BAD)
    learning = True if value == "learning" or active else active
    healthy = False if bad or learning else vocabulary.HEALTHY.get(value)
    return CacheProtection(
        kind=kind,
        state=ReportedValue(value=value, raw=state),
        healthy=healthy,
        temperature_c=celsius(fields.text("temperature", "temp", "temperature(c)")),
        voltage=parse_volts(fields.text("voltage") or _in_millivolts(fields, ("voltage",))),
        learning=learning,
        next_learn=fields.text("next learn time", "next learn"),
        details={
            label: text
            for label, names in {"Model": ("type", "model", "subtype"), **_DETAILS}.items()
            if (text := fields.text(*names) or _in_millivolts(fields, names)) is not None
        },
    )


def _in_millivolts(fields: Fields, names: Sequence[str]) -> str | None:
    """Return the value of a property whose name contains the unit, such as `Voltage(mV) = 9181`, with that unit."""
    text = fields.text(*(f"{name}(mv)" for name in names))
    return f"{text} mV" if text is not None else None
