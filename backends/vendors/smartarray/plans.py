"""From a reading and a wanted value to the change: the very commands, what takes them back, the risk. Pure."""

from __future__ import annotations

from dataclasses import replace

from backends.change import Change, Write
from backends.changing import Wanted
from backends.identity import Identity
from backends.settings import Risk, worst
from backends.vendors.smartarray.dialect import Lines
from backends.vendors.smartarray.effective import power_words
from backends.vendors.smartarray.facts import CardText, LogicalDrive, Phrase
from backends.vendors.smartarray.view import PartView

_MOVES = {
    "acceleration": ("write_cache",),
    "surface_scan_mode": ("surface_scan_delay",),
    "surface_scan_delay": ("surface_scan_mode",),
}
"""Settings of the same thing that move along: scan mode and delay are one number in the firmware."""


def planned(view: PartView, wish: Wanted, identity: Identity) -> Change:
    """The change of any setting. Raises InvalidValueError where the tool has no word."""
    forward, back = _lines(view, wish.setting.key, wish.value, wish.now.now or "")
    change = wish.change(_steps(forward), _steps(back), identity, view.tool.lock_name)
    text, risk = change.risk_text, change.risk
    if risk is Risk.POWER_LOSS and change.key in ("write_cache", "acceleration", "no_battery_write_cache"):
        text = f"{text} Now {power_words(view.card)}."
    if together := _together(view, change):
        text, risk = f"{text} {together}".strip(), worst((risk, Risk.PERFORMANCE))
    return replace(change, risk=risk, risk_text=text, moves=_MOVES.get(change.key, ()))


def _lines(view: PartView, key: str, value: str, now: str) -> tuple[Lines, Lines]:
    tool, text = view.tool, view.text
    if view.drive is not None:
        place = view.drive.place
        return tool.set_drive(text, place, key, value), tool.set_drive(text, place, key, now)
    if view.volume is None:
        return tool.set_card(text, key, value), tool.set_card(text, key, now)
    volume = view.volume
    forward = tool.set_volume(text, volume, key, value)
    if key != "acceleration":
        return forward, tool.set_volume(text, volume, key, now)
    after = _accelerated(text, volume, value)
    back = tool.set_volume(after, after.volume(volume.number) or volume, key, now)
    if value != "smart-path":
        return forward, back
    mates = [one for one in _mates(text, volume) if one is not volume and _served(one) == "controller-cache"]
    bare = _accelerated(text, volume, "none")
    return forward, (*back, *(line for one in mates for line in tool.set_volume(bare, one, key, "controller-cache")))


def _accelerated(text: CardText, volume: LogicalDrive, value: str) -> CardText:
    """The card as it will be: Smart Path is the whole array's, the cache each logical drive's own."""
    whole = "smart-path" in (value, _served(volume))
    others = "smart-path" if value == "smart-path" else "none"

    def after(one: LogicalDrive) -> LogicalDrive:
        if one.number == volume.number:
            return replace(one, acceleration=Phrase(value=value, raw=value))
        return (
            replace(one, acceleration=Phrase(value=others, raw=others)) if whole and one.array == volume.array else one
        )

    return replace(text, volumes=tuple(map(after, text.volumes)))


def _served(volume: LogicalDrive) -> str | None:
    return volume.acceleration.value if volume.acceleration is not None else None


def _mates(text: CardText, volume: LogicalDrive) -> list[LogicalDrive]:
    return [one for one in text.volumes if one.array == volume.array]


def _together(view: PartView, change: Change) -> str:
    """The other logical drives that change with this one, in a sentence; "" where none do."""
    mates = _mates(view.text, view.volume) if view.volume is not None else []
    if change.key != "acceleration" or "smart-path" not in (change.before, change.after) or len(mates) < 2:
        return ""
    numbers = ", ".join(str(one.number) for one in mates)
    return f"Smart Path is the whole array's: logical drives {numbers} change together."


def _steps(lines: Lines) -> tuple[Write, ...]:
    return tuple(Write(argv=line) for line in lines)
