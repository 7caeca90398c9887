"""The statements that change a disk system, and the changes made of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from re import Pattern

from backends.change import Write
from backends.changing import Wanted, in_order, was_value
from backends.errors import BlockedError, InvalidValueError
from backends.identity import Identity
from backends.settings import Reading, Setting
from backends.text import clean
from backends.vendors._disk_systems import INFINITE
from backends.vendors.smcli.facts import VOLUME_ID
from backends.vendors.smcli.readings import SystemView, value_of
from backends.vendors.smcli.settings import CACHE_BLOCK, FLUSH_MODIFIER, FLUSH_START, FLUSH_STOP, KNOBS, SEGMENT


def asked(program: str, name: str, statement: str) -> tuple[str, ...]:
    """The words of one statement to the disk system of a name."""
    return (program, "-n", name, "-c", statement)


def step(view: SystemView, key: str, value: str) -> Write:
    """The one statement that sets a value: never more than one logical drive at a time."""
    nouns, knob = view.profile.nouns, KNOBS[key]
    what = nouns.system if view.volume is None else f'{nouns.volume} ["{view.volume.name}"]'
    word = knob.said.get(value) or (_delay(value, nouns.fractions) if knob is FLUSH_MODIFIER else value)
    return Write(argv=asked(view.program, view.profile.name, f"set {what} {knob.word}={word};"))


def _delay(value: str, fractions: bool) -> str:
    """Seconds as the dialect writes them: of a part of a second IBM's takes milliseconds, NetApp's `.25`."""
    if value in ("immediate", INFINITE):
        return value.capitalize()
    if "." not in value:
        return value
    if fractions:
        return value.removeprefix("0")
    return str(round(float(value) * 1000))


def identity(view: SystemView) -> Identity:
    """The disk system, or the logical drive, by world wide name."""
    if view.volume is None:
        return Identity(name=view.profile.name, wwn=view.profile.wwn)
    return Identity(name=f"{view.profile.name}/{view.volume.name}", wwn=view.volume.wwn(*VOLUME_ID))


def companions_now(view: SystemView, key: str) -> dict[str, str]:
    """With a threshold, what the other one is."""
    partner = _PARTNERS.get(key)
    beside = None if partner is None else value_of(view.record, KNOBS[partner])
    return {} if partner is None or beside is None else {partner: beside}


_PARTNERS = {FLUSH_START.setting.key: FLUSH_STOP.setting.key, FLUSH_STOP.setting.key: FLUSH_START.setting.key}
"""Each threshold's other one: writing out stops not above where it starts."""

_PERCENT = re.compile(r"[0-9]{1,2}|100")
_KIB = re.compile(r"[1-9][0-9]{0,3}")
_BEFORE = {CACHE_BLOCK.setting.key: _KIB, SEGMENT.setting.key: _KIB, **dict.fromkeys(_PARTNERS, _PERCENT)}


def legal_companions(key: str) -> dict[str, Pattern[str]]:
    """What may come back with a setting: with a threshold, what the other one was."""
    return {_PARTNERS[key]: _PERCENT} if key in _PARTNERS else {}


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """A value that it had before, whether it is offered now or not. Raises InvalidValueError."""
    legal = _BEFORE.get(setting.key)
    if legal is None:
        return was_value(setting, now, value)
    if not legal.fullmatch(value):
        raise InvalidValueError(f"{setting.label} cannot have been {clean(value, 40)}.")
    return value


def in_order_of_thresholds(view: SystemView, values: Mapping[str, str]) -> list[str]:
    """Keys of a set, the thresholds so that writing out never stops above where it starts, if it need not."""
    now = {key: value_of(view.record, KNOBS[key]) for key in _PARTNERS}
    return in_order(values, now, (FLUSH_STOP.setting.key, FLUSH_START.setting.key))


def with_value(view: SystemView, key: str, value: str) -> SystemView:
    """The view with a threshold as it will be."""
    if key not in _PARTNERS:
        return view
    label = KNOBS[key].labels[0]
    rows = {name: text for name, text in view.record.rows.items() if not name.startswith(label)} | {label: value}
    return replace(view, profile=replace(view.profile, summary=replace(view.record, rows=rows)))


def crossed(view: SystemView, key: str, value: str) -> str:
    """What to say of a threshold with which writing out would stop above where it starts; "" of any other value."""
    partner = _PARTNERS.get(key)
    other = None if partner is None else value_of(view.record, KNOBS[partner])
    if other is None or not other.isdecimal():
        return ""
    start, stop = (value, other) if key == FLUSH_START.setting.key else (other, value)
    if int(stop) <= int(start):
        return ""
    return f"Writing out would stop at {stop} %, above the {start} % where it starts: the disk system may refuse that."


def require_room(view: SystemView, wish: Wanted, companions: Mapping[str, str]) -> None:
    """Raises BlockedError where the other threshold, set since, is in the way of one that comes back."""
    key, partner = wish.setting.key, _PARTNERS.get(wish.setting.key)
    if partner is None or wish.value == wish.now.now or not crossed(view, key, wish.value):
        return
    now = value_of(view.record, KNOBS[partner])
    if companions.get(partner) == now:
        return
    raise BlockedError(
        f"{wish.setting.label} of {wish.target} cannot go back to {wish.value} % while "
        f"{KNOBS[partner].setting.label.lower()} {now} %.",
        hint=f"It was {companions[partner]} % then: take that back first." if partner in companions else "",
    )
