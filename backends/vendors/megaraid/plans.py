"""From a reading and a wanted value to the change: the very commands, what takes them back, the risk. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.change import Change, Write
from backends.errors import InvalidValueError
from backends.host import Command
from backends.identity import Identity
from backends.model import Target
from backends.settings import Choice, Reading, Risk, Setting
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
    "activation_key": ("fastpath",),
}
"""Settings that move along."""


def volume_change(
    view: VolumeView, target: Target, setting: Setting, now: Reading, value: str, identity: Identity, lock: str
) -> Change:
    """The change of a virtual drive's setting. Raises InvalidValueError where the tool has no word."""
    number, card, dialect = view.volume.number, view.card.number, view.dialect
    members: tuple[str, ...] = ()
    match setting.key:
        case "fastpath":
            forward, back = _preset(view, value)
        case "strip_size":
            made = shape(view.contents, view.volume)
            if made.new is None or now.now is None:
                raise InvalidValueError(f"{target} cannot be made again: {made.why_not}.")
            forward = _steps(view, dialect.recreate(card, number, replace(made.new, strip_bytes=int(value))))
            back = _steps(view, dialect.recreate(card, number, replace(made.new, strip_bytes=int(now.now))))
            members = view.volume.drives
        case key:
            forward = _steps(view, dialect.set_volume(card, number, key, value))
            back = _steps(view, dialect.set_volume(card, number, key, now.now or ""))
    return _change(view, target, setting, now, value, forward, back, identity, lock, members)


def card_change(
    view: CardView, target: Target, setting: Setting, now: Reading, value: str, identity: Identity, lock: str
) -> Change:
    """The change of a card's setting. Raises InvalidValueError where the tool has no word."""
    forward = _steps(view, view.dialect.set_card(view.card.number, setting.key, value))
    back = _steps(view, view.dialect.set_card(view.card.number, setting.key, now.now or ""))
    return _change(view, target, setting, now, value, forward, back, identity, lock)


def key_change(
    view: CardView,
    target: Target,
    setting: Setting,
    now: Reading,
    token: str,
    key: str,
    preview: str,
    identity: Identity,
    lock: str,
) -> Change:
    """Applying an activation key; `token` stands for it wherever the change is shown, logged or kept."""
    forward = _steps(view, view.dialect.apply_key(view.card.number, key, preview=False))
    change = _change(view, target, setting, now, token, forward, (), identity, lock)
    return replace(change, risk_text=f"{setting.risk_text} {preview}".strip())


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


def _change(
    view: CardView,
    target: Target,
    setting: Setting,
    now: Reading,
    value: str,
    forward: tuple[Write, ...],
    back: tuple[Write, ...],
    identity: Identity,
    lock: str,
    members: tuple[str, ...] = (),
) -> Change:
    risk = _risk(setting, now.choices, value)
    text = setting.risk_text if risk is not Risk.NONE else ""
    if risk is Risk.POWER_LOSS and setting.key in ("write_cache", "io_policy"):
        text = f"{text} Now {protection_words(view.card)}."
    return Change(
        target=target,
        key=setting.key,
        label=setting.label,
        before=now.now,
        after=value,
        writes=forward,
        undo=back,
        risk=risk,
        risk_text=text,
        effect=setting.effect,
        persistence=setting.persistence,
        identity=identity,
        lock=lock,
        moves=_MOVES.get(setting.key, ()),
        members=members,
    )


def _risk(setting: Setting, choices: tuple[Choice, ...], value: str) -> Risk:
    """The risk of this value on this card: its choice's own where there are choices."""
    return next((choice.risk for choice in choices if choice.value == value), setting.risk)
