"""Battery and CacheVault: -AdpBbuCmd. Pure; never raises on any text."""

from __future__ import annotations

from collections.abc import Mapping

from backends.text import volts
from backends.vendors.megaraid.facts import UNKNOWN, Backup, Word
from backends.vendors.megaraid.megacli.text import degrees, given, lines, yes

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
"""`Battery State`. Firmware of 2011 said Operational and Non Operational."""

_WORST_FIRST = (
    ("Battery Pack Missing", "missing"),
    ("Learn Cycle Active", "learning"),
    ("Battery Replacement required", "failed"),
    ("Pack is about to fail & should be replaced", "degraded"),
    ("Remaining Capacity Low", "degraded"),
    ("No space to cache offload", "degraded"),
)
"""Flags that, when Yes, say more than the state, which stays Operational with a pack to be replaced. The first wins."""

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
"""Keys worth a line, and what they are called here."""


def parse_battery(text: str) -> Backup | None:
    """What protects the cache; None if nothing is fitted or the answer says nothing: see `battery_told`."""
    fields: dict[str, list[str]] = {}
    for line in lines(text):
        if line.key:
            fields.setdefault(line.key, []).append(line.value)
    if not {"batterytype", "battery state", "charging status", "learn cycle active"} & fields.keys():
        return None
    kind = _first(fields, "batterytype")
    state = _state(fields)
    learning = yes(_first(fields, "learn cycle active"))
    temperatures = (degrees(value) for value in fields.get("temperature", ()))
    return Backup(
        kind="cachevault" if kind.upper().startswith(("CV", "SUPERCAP")) else "bbu",
        state=state,
        healthy=False if state.value in _BAD else True if state.value == "optimal" else None,
        temperature_c=next((value for value in temperatures if value is not None), None),
        voltage=next((value for value in map(volts, fields.get("voltage", ())) if value is not None), None),
        learning=learning,
        next_learn=given(_first(fields, "next learn time")),
        details={label: value for key, label in _DETAILS.items() if (value := given(_first(fields, key)))},
    )


def battery_told(text: str) -> bool:
    """Whether the answer says if there is one: by its state, or by `required hardware component is not present`."""
    return parse_battery(text) is not None or "required hardware component is not present" in text


def _state(fields: Mapping[str, list[str]]) -> Word:
    told = _first(fields, "battery state")
    for key, meaning in _WORST_FIRST:
        if yes(_first(fields, key.lower())):
            return Word(value=meaning, raw=key)
    if _first(fields, "issohgood").lower() == "no":
        return Word(value="failed", raw="isSOHGood")
    if told:
        return Word(value=_STATES.get(told.lower(), UNKNOWN), raw=told)
    charging = given(_first(fields, "charging status"))  # `None` while it is not charged
    if charging is None:
        return Word(value=UNKNOWN, raw="")
    return Word(value="charging" if charging.lower() == "charging" else UNKNOWN, raw=charging)


def _first(fields: Mapping[str, list[str]], key: str) -> str:
    return next((value for value in fields.get(key, ()) if value), "")
