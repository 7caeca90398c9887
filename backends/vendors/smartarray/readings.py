"""Readings of all settings from the state of a controller. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from backends.errors import InvalidValueError
from backends.model import GONE, State
from backends.reported_words import reported_text, state_text
from backends.settings import Choice, Reading, Span, available_unless, offer
from backends.sizes import percent_text, size_words
from backends.vendors._cards import AS_SET, UNKNOWN, EffectiveValue, ReportedValue, value_of
from backends.vendors.smartarray import choices, effective
from backends.vendors.smartarray.dialect import PartView
from backends.vendors.smartarray.effective import cache_text, cache_works, caches_without_battery, power_text
from backends.vendors.smartarray.facts import Family
from backends.vendors.smartarray.settings import CARD_SETTINGS, DRIVE_SETTINGS, VOLUME_SETTINGS
from backends.vendors.smartarray.vocabulary import PENDING

FOLLOWS = "it depends on the acceleration, the cache ratio and the no-battery write cache. Set one of these"
HBA_MODE = "the controller is in HBA mode"


def readings(view: PartView, family: Family) -> dict[str, Reading]:
    """Return the readings of all settings of a controller, a logical drive or a drive."""
    if view.drive is not None:
        return {setting.key: _drive_cache(view) for setting in DRIVE_SETTINGS[family]}
    if view.volume is None:
        return {setting.key: _card_value(view, setting.key) for setting in CARD_SETTINGS[family]}
    readers = {
        "acceleration": acceleration,
        "write_cache": _write_cache,
        "read_cache": _read_cache,
        "strip_size": strip,
    }
    return {setting.key: readers[setting.key](view) for setting in VOLUME_SETTINGS[family]}


def _reading(
    view: PartView,
    phrase: ReportedValue | None,
    legal: tuple[Choice, ...],
    against: str | None,
    *,
    span: Span | None = None,
    force: EffectiveValue = AS_SET,
) -> Reading:
    return Reading(
        now=value_of(phrase),
        raw=None if phrase is None else phrase.raw,
        effective=force.value,
        why_effective=force.why,
        choices=legal,
        span=span,
        availability=available_unless(
            view.text.cut or against, _unrestorable_reason(phrase, legal, span), view.why_not
        ),
    )


def _unrestorable_reason(phrase: ReportedValue | None, legal: tuple[Choice, ...], span: Span | None) -> str | None:
    """Return why the current value could not be restored, or None if it could."""
    if phrase is None:
        return "the controller does not report it"
    if phrase.value == UNKNOWN:
        return f"its present value {phrase.raw!r} is not understood, so it could not be restored"
    if span is not None:
        inside = phrase.value.isdigit() and span.minimum <= int(phrase.value) <= span.maximum
        return None if inside else f"it is {reported_text(phrase.value, phrase.raw)}, which cannot be restored"
    if all(choice.value != phrase.value for choice in legal):
        return f"it is {reported_text(phrase.value, phrase.raw)}, which cannot be restored"
    return None


def _unsettable_reason(legal: tuple[Choice, ...], plan_command: Callable[[str], object]) -> str | None:
    """Return why the tool cannot set one of the values in `legal`, or None if `plan_command` accepts them all."""
    for choice in legal or (offer("1"),):
        try:
            plan_command(choice.value)
        except InvalidValueError as error:
            return error.message.rstrip(".")
    return None


def _blocked_reason(view: PartView) -> str | None:
    """Return why nothing on the controller can be changed, or None."""
    card = view.card
    if card.locked is not None:
        return f"the controller accepts no changes: {card.locked.rstrip('.')}"
    return HBA_MODE if card.passes_through else None


def _card_value(view: PartView, key: str) -> Reading:
    card = view.card
    phrase = card.values.get(key)
    legal, span = choices.card_choices(view, key), choices.span(card, key)
    pending = card.values.get(PENDING) if key == "power_mode" else None
    force: EffectiveValue = AS_SET
    if pending is not None and phrase is not None and pending.value != phrase.value:
        force, phrase = EffectiveValue(phrase.value, "the new mode needs a reboot"), pending
    against = _blocked_reason(view)
    if against is None and phrase is not None:
        against = (
            _unsettable_reason(legal, lambda value: view.tool.set_card(view.text, key, value))
            or (None if view.text.volumes else "the firmware refuses it while the controller has no logical drive")
            or (_ratio_reason(view) if key == "cache_ratio" else None)
            or (_bypass_reason(view) if key == "no_battery_write_cache" else None)
        )
    return _reading(view, phrase, legal, against, span=span, force=force)


def _ratio_reason(view: PartView) -> str | None:
    """Return why the firmware refuses a different cache ratio, or None. Source: Microchip's storage library."""
    card = view.card
    if card.power is not None and card.power.healthy is False and not caches_without_battery(card):
        return f"the firmware refuses another ratio while the cache is unprotected: {power_text(card)}"
    return f"the firmware refuses another ratio while {cache_text(card)}" if cache_works(card) is False else None


def _bypass_reason(view: PartView) -> str | None:
    """Return why the firmware refuses to change the no-battery write cache, or None.

    Source: Microchip's storage library.
    """
    bypassed = {value_of(volume.acceleration) for volume in view.text.volumes} == {"smart-path"}
    return "the firmware refuses it while every logical drive bypasses the cache" if bypassed else None


def _busy_reason(view: PartView) -> str | None:
    """Return why a logical drive cannot be changed now, or None."""
    volume = view.volume
    assert volume is not None
    if volume.jobs:
        return f"a {volume.jobs[0].kind} is running"
    if volume.state is not State.OPTIMAL:
        return f"the logical drive is {state_text(volume.state, volume.state_raw)}"
    return None


def acceleration(view: PartView) -> Reading:
    """Return the reading of the logical drive's acceleration."""
    volume = view.volume
    assert volume is not None
    offered = choices.acceleration(view)

    def plan_command(value: str) -> object:
        return view.tool.set_volume(view.text, volume, "acceleration", value)

    legal = tuple(choice for choice in offered if _unsettable_reason((choice,), plan_command) is None)
    against = _blocked_reason(view)
    if against is None and volume.acceleration is not None:
        against = (None if legal else _unsettable_reason(offered, plan_command)) or _busy_reason(view)
    return _reading(view, volume.acceleration, legal, against)


def _write_cache(view: PartView) -> Reading:
    volume, card = view.volume, view.card
    assert volume is not None
    phrase, force = effective.write_policy(card, volume), effective.write_cache(card, volume)
    if card.family is Family.SMART:
        return _reading(view, phrase, (), FOLLOWS, force=force)
    against = _blocked_reason(view) or (_offline_reason(view) if phrase is not None else None)
    return _reading(view, phrase, choices.write_cache(card), against, force=force)


def _read_cache(view: PartView) -> Reading:
    volume = view.volume
    assert volume is not None
    against = _blocked_reason(view) or (_offline_reason(view) if volume.read_cache is not None else None)
    return _reading(view, volume.read_cache, choices.READ_CACHE, against, force=effective.read_cache(volume))


def _offline_reason(view: PartView) -> str | None:
    volume = view.volume
    assert volume is not None
    out = volume.state in GONE
    return f"the logical drive is {state_text(volume.state, volume.state_raw)}" if out else None


def strip(view: PartView) -> Reading:
    """Return the reading of the strip size, with the reason if the controller cannot change it."""
    volume = view.volume
    assert volume is not None
    size = volume.strip_bytes
    phrase = None if size is None else ReportedValue(value=str(size), raw=size_words(size))
    legal = choices.strips(view)
    against = _blocked_reason(view)
    if against is None and phrase is not None:
        against = _unsettable_reason(legal, lambda value: view.tool.set_volume(view.text, volume, "strip_size", value))
        if against is not None:
            against = "arcconf removes every drive that its command does not list, so raidbench does not offer this"
        against = against or _busy_reason(view) or _migration_reason(view)
    reading = _reading(view, phrase, legal, against)
    moving = next((job for job in volume.jobs if job.kind == "migration"), None)
    if moving is None:
        return reading
    done = "" if moving.progress is None else f", {percent_text(moving.progress)} done"
    return replace(reading, effective=reading.now, why_effective=f"the controller is moving the data{done}")


def _migration_reason(view: PartView) -> str | None:
    card = view.card
    if cache_works(card) is False:
        return f"the firmware moves no data while {cache_text(card)}"
    if card.power is not None and card.power.healthy is False and not caches_without_battery(card):
        return f"the firmware moves no data while the cache is unprotected: {power_text(card)}"
    return None


def _drive_cache(view: PartView) -> Reading:
    drive = view.drive
    assert drive is not None
    out = drive.state in GONE
    against = _blocked_reason(view) or (f"the drive is {state_text(drive.state, drive.state_raw)}" if out else None)
    return _reading(view, drive.write_cache, choices.DRIVE_CACHE, against)
