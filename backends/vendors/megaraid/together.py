"""Several settings of a virtual drive planned as one: their order, and the drive as it will be after each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

from backends.vendors.megaraid.choices import PRESET
from backends.vendors.megaraid.facts import Policies, VirtualDrive, Word
from backends.vendors.megaraid.plans import FASTPATH_PARTS
from backends.vendors.megaraid.view import CardView, VolumeView

_AFTER_MAKING = ("strip_size", "auto_bgi", "access_policy")
"""In this order, after all policies: the drive is re-created with those, as read-write, and with the card's own word on
background initialisation."""

_POLICIES = {field.name for field in fields(Policies)}


def in_order(values: Mapping[str, str]) -> tuple[str, ...]:
    """The keys in the order they have to be set; those that do not depend on each other stay as they are given."""
    return tuple(sorted(values, key=lambda key: _turn(key, values[key])))


def _turn(key: str, value: str) -> int:
    if key not in _AFTER_MAKING or (key, value) == ("access_policy", "read-write"):
        return 0  # a drive that is not read-write is not created again
    return 1 + _AFTER_MAKING.index(key)


def with_value(view: CardView, key: str, value: str) -> CardView:
    """The view after a setting was set; that of a card stays as it is: no setting of a card depends on another."""
    if not isinstance(view, VolumeView):
        return view
    values = FASTPATH_PARTS if (key, value) == ("fastpath", PRESET) else {key: value}
    volume = view.volume
    for one, wanted in values.items():
        volume = _set(volume, one, Word(value=wanted, raw=wanted))
    return replace(view, volume=volume)


def _set(volume: VirtualDrive, key: str, word: Word) -> VirtualDrive:
    match key:
        case "strip_size":
            return replace(volume, strip_bytes=int(word.value))
        case "auto_bgi":
            return replace(volume, auto_bgi=word.value == "on")
        case "drive_cache":
            return replace(volume, drive_cache=word)
        case "access_policy":
            return replace(volume, access=word)
        case _ if key in _POLICIES and getattr(volume.configured, key) is not None:
            return replace(volume, configured=replace(volume.configured, **{key: word}))
        case _:
            return volume
