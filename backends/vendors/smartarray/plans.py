"""Plans changes from a reading and a requested value: commands, undo commands and risk. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from re import Pattern

from backends.change import Change, ChangeStep, with_disk
from backends.change_steps import RequestedValue, is_restorable_value, require_equal_steps
from backends.errors import InvalidValueError, RefusedError
from backends.identity import Identity
from backends.settings import Reading, Risk, Setting, is_understood, worst
from backends.vendors._cards import ReportedValue, value_of
from backends.vendors.smartarray.addresses import SLOT
from backends.vendors.smartarray.dialect import Lines, PartView
from backends.vendors.smartarray.effective import power_text
from backends.vendors.smartarray.facts import CardText, LogicalDrive

CACHED = "cached"
"""Key of a companion value: the numbers of the other logical drives of the array that used the cache, such as `2,3`."""

_STEP = re.compile(
    rf"ctrl slot=(?P<card>{SLOT}) (?:ld (?P<volume>[0-9]{{1,5}})|array (?P<array>[A-Za-z]{{1,3}})) modify "
    r"(?P<word>caching|arrayaccelerator|ssdsmartpath)=(?P<switch>enable|disable) forced"
)

_BEFORE = {
    "acceleration": re.compile("none|controller-cache|smart-path"),
    "cache_ratio": re.compile(r"[0-9]{1,3}/[0-9]{1,3}"),
    "strip_size": re.compile("|".join(str(1 << power) for power in range(13, 21))),
}
"""Patterns, by setting key, of former values that an undo can restore although raidbench does not offer them."""

_MOVES = {
    "acceleration": ("write_cache",),
    "surface_scan_mode": ("surface_scan_delay",),
    "surface_scan_delay": ("surface_scan_mode",),
}
"""Keys of the settings that change as a side effect, by the key of the setting that is changed. Scan mode and delay,
for example, are a single number in the firmware."""


def plan_change(
    view: PartView, request: RequestedValue, identity: Identity, companions: Mapping[str, str] | None = None
) -> Change:
    """Return the change of any setting. `companions`: values to restore together with a former value.

    Raises InvalidValueError if the tool cannot set the value.
    """
    key = request.setting.key
    current = companions_now(view, key, request.value)
    after = view
    if view.volume is not None and key == "acceleration":
        accelerated = _with_acceleration(view.text, view.volume, request.value)
        after = replace(view, text=accelerated, volume=accelerated.volume(view.volume.number))
    is_set = companions is not None and request.value == request.now.now
    forward = () if is_set else _lines(view, key, request.value, companions or {})
    before = request.now.now
    undo = () if is_set or before is None or not is_understood(before) else _lines(after, key, before, current)
    lock = view.tool.lock_name if view.volume is None else with_disk(view.tool.lock_name, identity)
    change = request.change(_steps(forward), _steps(undo), identity, lock)
    text, risk = change.risk_text, change.risk
    if risk is Risk.POWER_LOSS and change.key in ("write_cache", "acceleration", "no_battery_write_cache"):
        text = f"{text} Now {power_text(view.card)}."
    if together := _together_text(view, change):
        text, risk = f"{text} {together}".strip(), worst((risk, Risk.PERFORMANCE))
    return replace(change, risk=risk, risk_text=text, moves=_MOVES.get(change.key, ()), companions=current)


def companions_now(view: PartView, key: str, value: str) -> dict[str, str]:
    """Return the numbers of the array's other logical drives that lose the cache when Smart Path is turned on."""
    if view.volume is None or (key, value) != ("acceleration", "smart-path"):
        return {}
    cached = [mate for mate in _array_mates(view.text, view.volume) if mate.number != view.volume.number]
    numbers = [str(drive.number) for drive in cached if value_of(drive.acceleration) == "controller-cache"]
    return {CACHED: ",".join(numbers)} if numbers else {}


def legal_companions(view: PartView, key: str) -> dict[str, Pattern[str]]:
    """Return, by key, the pattern of values that an undo of `key` may restore too.

    For the acceleration, these are the numbers of the array's other logical drives.
    """
    if view.volume is None or key != "acceleration":
        return {}
    mates = "|".join(
        str(mate.number) for mate in _array_mates(view.text, view.volume) if mate.number != view.volume.number
    )
    return {CACHED: re.compile(f"(?:{mates})(?:,(?:{mates}))*")} if mates else {}


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Return a former value if it can be restored, even if it is not offered. Raises InvalidValueError if it cannot."""
    legal = _BEFORE.get(setting.key)
    return value if legal is not None and legal.fullmatch(value) else is_restorable_value(setting, now, value)


def _lines(view: PartView, key: str, value: str, companions: Mapping[str, str]) -> Lines:
    """Return the command lines that set a value and restore its companions."""
    tool, text, volume = view.tool, view.text, view.volume
    if view.drive is not None:
        return tool.set_drive(text, view.drive.place, key, value)
    if volume is None:
        return tool.set_card(text, key, value)
    lines = tool.set_volume(text, volume, key, value)
    cached = companions[CACHED].split(",") if CACHED in companions else []
    bare = _with_acceleration(text, volume, "none")
    mates = [mate for mate in _array_mates(bare, volume) if str(mate.number) in cached]
    return (*lines, *(line for mate in mates for line in tool.set_volume(bare, mate, key, "controller-cache")))


def require_own_step(change: Change, view: PartView) -> None:
    """Raise RefusedError if a step does anything other than this change of this target."""
    if change.key == "acceleration" and all(_is_own_acceleration(view, step) for step in change.writes):
        return
    try:
        require_equal_steps(change, _steps(_lines(view, change.key, change.after, {})))
    except InvalidValueError as error:
        raise RefusedError(error.message) from error


def _is_own_acceleration(view: PartView, step: ChangeStep) -> bool:
    """Return whether a step only switches the cache of a logical drive of this array, or the array's Smart Path."""
    match, volume = _STEP.fullmatch(" ".join(step.argv[1:])), view.volume
    if match is None or volume is None or (step.argv[0], match["card"]) != (view.tool.tool, view.card.number):
        return False
    switches_path = match["word"] == "ssdsmartpath"
    if match["array"] is not None:
        return switches_path and match["array"] == volume.array
    return not switches_path and match["volume"] in [str(mate.number) for mate in _array_mates(view.text, volume)]


def _with_acceleration(text: CardText, volume: LogicalDrive, value: str) -> CardText:
    """Return the controller as it is after a logical drive's acceleration is set to `value`.

    Smart Path applies to the whole array, the cache to one logical drive.
    """
    affects_array = "smart-path" in (value, value_of(volume.acceleration))
    mates_value = "smart-path" if value == "smart-path" else "none"

    def after(drive: LogicalDrive) -> LogicalDrive:
        if drive.number == volume.number:
            return replace(drive, acceleration=ReportedValue(value=value, raw=value))
        if affects_array and drive.array == volume.array:
            return replace(drive, acceleration=ReportedValue(value=mates_value, raw=mates_value))
        return drive

    return replace(text, volumes=tuple(map(after, text.volumes)))


def _array_mates(text: CardText, volume: LogicalDrive) -> list[LogicalDrive]:
    return [drive for drive in text.volumes if drive.array == volume.array]


def _together_text(view: PartView, change: Change) -> str:
    """Return a sentence about other logical drives that change too, or ""."""
    mates = _array_mates(view.text, view.volume) if view.volume is not None else []
    if change.key != "acceleration" or "smart-path" not in (change.before, change.after) or len(mates) < 2:
        return ""
    numbers = ", ".join(str(mate.number) for mate in mates)
    return f"Smart Path applies to the whole array. Logical drives {numbers} change together."


def _steps(lines: Lines) -> tuple[ChangeStep, ...]:
    return tuple(ChangeStep(argv=line) for line in lines)
