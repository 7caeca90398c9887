"""From a reading and a wanted value to the change: the very commands, what takes them back, the risk. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.change import Change, Write
from backends.changing import Wanted
from backends.errors import InvalidValueError
from backends.host import Command
from backends.identity import Identity
from backends.settings import Risk
from backends.vendors.megaraid.choices import PRESET
from backends.vendors.megaraid.effective import protection_words
from backends.vendors.megaraid.geometry import shape
from backends.vendors.megaraid.readings import volume_readings
from backends.vendors.megaraid.view import CardView, VolumeView

FASTPATH_PARTS = {"write_cache": "write-through", "read_ahead": "none", "io_policy": "direct"}
"""What the preset sets."""

_MOVES = {
    "write_cache": ("fastpath",),
    "read_ahead": ("fastpath",),
    "io_policy": ("fastpath",),
    "fastpath": tuple(FASTPATH_PARTS),
    "strip_size": ("auto_bgi",),
}
"""Settings that move along."""


def volume_change(view: VolumeView, wish: Wanted, identity: Identity, lock: str) -> Change:
    """The change of a virtual drive's setting. Raises InvalidValueError where the tool has no word."""
    number, card, dialect, now = view.volume.number, view.card.number, view.dialect, wish.now.now
    members: tuple[str, ...] = ()
    match wish.setting.key:
        case "fastpath":
            forward, back = _preset(view, wish.value)
        case "strip_size":
            made = shape(view.contents, view.volume)
            if made.new is None or now is None:
                raise InvalidValueError(f"{wish.target} cannot be made again: {made.why_not}.")
            forward = _steps(view, dialect.recreate(card, number, replace(made.new, strip_bytes=int(wish.value))))
            back = _steps(view, dialect.recreate(card, number, replace(made.new, strip_bytes=int(now))))
            members = view.volume.drives
        case key:
            forward = _steps(view, dialect.set_volume(card, number, key, wish.value))
            back = _steps(view, dialect.set_volume(card, number, key, now or ""))
    change = wish.change(forward, back, identity, lock)
    if change.risk is Risk.POWER_LOSS and change.key in ("write_cache", "io_policy"):
        change = replace(change, risk_text=f"{change.risk_text} Now {protection_words(view.card)}.")
    return replace(change, moves=_MOVES.get(change.key, ()), members=members)


def card_change(view: CardView, wish: Wanted, identity: Identity, lock: str) -> Change:
    """The change of a card's setting. Raises InvalidValueError where the tool has no word."""
    forward = _steps(view, view.dialect.set_card(view.card.number, wish.setting.key, wish.value))
    back = _steps(view, view.dialect.set_card(view.card.number, wish.setting.key, wish.now.now or ""))
    return wish.change(forward, back, identity, lock)


def key_change(view: CardView, wish: Wanted, key: str, preview: str, identity: Identity, lock: str) -> Change:
    """Applying an activation key; the wanted value is the token that stands for it wherever the change is shown."""
    change = wish.change(_steps(view, view.dialect.apply_key(view.card.number, key, preview=False)), (), identity, lock)
    return replace(change, risk_text=f"{wish.setting.risk_text} {preview}".strip(), moves=("fastpath",))


def _preset(view: VolumeView, value: str) -> tuple[tuple[Write, ...], tuple[Write, ...]]:
    """The steps of the preset, and in reverse those that bring back what is there now.

    A policy that the card has no choice of is left out; one that is right already, too, unless all are.
    """
    parts = volume_readings(view)
    movable = {key: parts[key].now for key in FASTPATH_PARTS if parts[key].availability.available}
    wanted = FASTPATH_PARTS if value == PRESET else {key: now or "" for key, now in movable.items()}
    moving = [key for key, now in movable.items() if now != wanted[key]] or list(movable)
    number, card = view.volume.number, view.card.number
    forward = [step for key in moving for step in _steps(view, view.dialect.set_volume(card, number, key, wanted[key]))]
    back = [
        step
        for key in reversed(moving)
        for step in _steps(view, view.dialect.set_volume(card, number, key, movable[key] or ""))
    ]
    return tuple(forward), tuple(back)


def _steps(view: CardView, commands: Iterable[Command]) -> tuple[Write, ...]:
    return tuple(Write(argv=argv) for argv in view.dialect.flatten(tuple(commands)))
