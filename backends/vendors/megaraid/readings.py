"""Readings of all settings from the state of a controller. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from backends.errors import InvalidValueError
from backends.model import GONE, Media, State
from backends.reported_words import reported_text, state_text
from backends.settings import IN_FORCE, NOT_IN_FORCE, Availability, Choice, Reading, Span, available_unless, offer
from backends.sizes import exact_text
from backends.vendors._cards import AS_SET, UNKNOWN, EffectiveValue, ReportedValue, value_of
from backends.vendors.megaraid import choices, effective
from backends.vendors.megaraid.effective import CardView, VolumeView
from backends.vendors.megaraid.geometry import shape
from backends.vendors.megaraid.settings import CARD_CHOICES, CARD_SETTINGS, CARD_SPANS, VOLUME_SETTINGS

NOT_SUPPORTED = "the controller does not support changing it"
NO_RAID = "the controller is a host bus adapter without arrays"
_RATES = ("rebuild_rate", "bgi_rate", "cc_rate", "migrate_rate", "patrol_read_rate")
_SECONDS_MAX = 255
"""Maximum flush interval in seconds, which is one byte in the firmware's properties."""


def volume_readings(view: VolumeView) -> dict[str, Reading]:
    """Return the readings of all settings of a virtual drive."""
    card, volume = view.card, view.volume
    policies = volume.configured
    reported: dict[str, tuple[ReportedValue | None, tuple[Choice, ...], EffectiveValue]] = {
        "write_cache": (policies.write_cache, choices.write_cache(card), effective.write_cache(card, volume)),
        "read_ahead": (
            policies.read_ahead,
            choices.READ_AHEAD,
            effective.reported_difference(policies.read_ahead, volume, "read_ahead"),
        ),
        "io_policy": (
            policies.io_policy,
            choices.io_policy(card),
            effective.reported_difference(policies.io_policy, volume, "io_policy"),
        ),
        "drive_cache": (volume.drive_cache, choices.DRIVE_CACHE, AS_SET),
        "access_policy": (volume.access, choices.ACCESS, AS_SET),
        "auto_bgi": (_on_off(volume.auto_bgi), choices.AUTO_BGI, AS_SET),
        "cache_bypass_mode": (volume.cache_bypass, choices.CACHE_BYPASS_MODES, AS_SET),
    }
    read = {key: _policy(view, key, *parts) for key, parts in reported.items()}
    read |= {"strip_size": strip(view), "fastpath": fastpath(view, read)}
    return {setting.key: read[setting.key] for setting in VOLUME_SETTINGS}


def _on_off(value: bool | None) -> ReportedValue | None:
    return None if value is None else ReportedValue(value="on" if value else "off", raw="On" if value else "Off")


def _policy(
    view: VolumeView, key: str, word: ReportedValue | None, legal: tuple[Choice, ...], force: EffectiveValue
) -> Reading:
    spoken = _offered_choices(
        legal, lambda value: view.dialect.set_volume(view.card.number, view.volume.number, key, value)
    )
    against = _blocked_reason(view, key) or _no_word_reason(spoken, view)
    return Reading(
        now=value_of(word),
        raw=None if word is None else word.raw,
        effective=force.value,
        why_effective=force.why,
        choices=spoken,
        availability=available_unless(against, _unrestorable_reason(key, word, spoken)),
    )


def _offered_choices(legal: tuple[Choice, ...], command: Callable[[str], object]) -> tuple[Choice, ...]:
    """Return those choices in `legal` whose values the tool can set.

    `command` raises InvalidValueError for the others.
    """
    offered = []
    for choice in legal:
        try:
            command(choice.value)
        except InvalidValueError:
            continue
        offered.append(choice)
    return tuple(offered)


def _no_word_reason(legal: tuple[Choice, ...] | None, view: CardView) -> str | None:
    """Return the reason if the tool can set none of the values (`legal` is empty), or None if it can set some."""
    if legal is None or legal:
        return None
    return f"no {program(view)} command that sets it is known"


def _unrestorable_reason(key: str, word: ReportedValue | None, legal: tuple[Choice, ...] | None) -> str | None:
    """Return why the current value could not be restored, or None if it could."""
    if word is None:
        return "the tool does not report it, so it could not be restored"
    if word.value == UNKNOWN:
        return f"its present value {word.raw!r} is not understood, so it could not be restored"
    if legal is not None and all(choice.value != word.value for choice in legal) and not is_final(key, word.value):
        return f"it is {reported_text(word.value, word.raw)}, which the tool cannot restore"
    return None


def program(view: CardView) -> str:
    """Return the name of the tool without its folder."""
    return view.dialect.tool.rsplit("/", 1)[-1]


def is_final(key: str, value: str) -> bool:
    """Return whether the tool cannot restore this value, although it may change the setting.

    MegaCli reports `Disk's Default` for nearly every virtual drive and can set `on` and `off` only.
    """
    return (key, value) == ("drive_cache", "default")


def _blocked_reason(view: VolumeView, key: str) -> str | None:
    """Return why this setting cannot be changed to any value, or None."""
    volume = view.volume
    if volume.refused:
        return volume.refused
    if view.card.supports.get(key) is False:
        return NOT_SUPPORTED
    if volume.ssd_cache:
        return "it is a CacheCade cache, not a virtual drive"
    if key == "drive_cache" and view.card.supports.get("drive_cache_on_ssd") is False:
        members = [drive for drive in view.contents.drives if drive.place in volume.drives]
        if any(drive.media in (Media.SSD, Media.NVME) for drive in members):
            return "the controller does not allow changing the caches of SSDs"
    if volume.state in (*GONE, State.FOREIGN):
        return f"the virtual drive is {state_text(volume.state, volume.state_raw)}"
    if any(job.kind == "migration" for job in volume.jobs):
        return "a migration is running"
    return view.why_not


def strip(view: VolumeView) -> Reading:
    """Return the reading of the strip size.

    If the virtual drive cannot be re-created with another strip size, the reading contains the reason.
    """
    size = view.volume.strip_bytes
    legal = choices.strips(view.card)
    remade = shape(view.contents, view.volume)
    why_not = (
        view.volume.refused
        or remade.why_not
        or (None if legal else "the controller does not report which strip sizes it can make")
    )
    if why_not is None and remade.new is not None:
        new = remade.new
        legal = _offered_choices(
            legal,
            lambda value: view.dialect.recreate(
                view.card.number, view.volume.number, replace(new, strip_bytes=int(value))
            ),
        )
        why_not = None if legal else _recreation_refusal(view)
        if why_not is None and all(choice.value != str(size) for choice in legal):
            why_not = f"the controller does not support {size} bytes, so it could not be restored"
    why_not = why_not or in_use_reason(view) or view.why_not
    return Reading(
        now=None if size is None else str(size),
        raw=None if size is None else exact_text(size),
        choices=legal,
        availability=Availability(why_not=why_not),
    )


def _recreation_refusal(view: VolumeView) -> str:
    """Return the reason why the tool cannot re-create this virtual drive."""
    definition = shape(view.contents, view.volume).new
    assert definition is not None
    try:
        view.dialect.recreate(view.card.number, view.volume.number, definition)
    except InvalidValueError as error:
        return error.message.rstrip(".")
    return "the tool supports none of the strip sizes of the controller"


def in_use_reason(view: VolumeView) -> str | None:
    """Return why the virtual drive must not be deleted: it is, or may be, in use. None if it is free."""
    if view.uses:
        use = view.uses[0]
        return f"it is in use: {view.device} {use.part or ''} {use.detail}".replace("  ", " ")
    if view.device is None:
        return "its block device is unknown, so raidbench cannot verify that it is unused"
    if view.blind:
        return f"it may be in use: {view.blind[0]}"
    return None


def fastpath(view: VolumeView, read: Mapping[str, Reading]) -> Reading:
    """Return the reading of `fastpath`: the values of its three policies, and whether FastPath is in force."""
    parts = [read["write_cache"], read["read_ahead"], read["io_policy"]]
    values = [reading.now for reading in parts]
    if values[2] is None and not parts[2].availability.available:
        values[2] = "direct"  # controllers without this choice always use direct
    now = _combined(values)
    against, certain = effective.fastpath_obstacles(view.card, view.volume)
    if against:
        force = EffectiveValue(NOT_IN_FORCE, "; ".join(against))
    elif not certain:
        force = EffectiveValue(UNKNOWN, "the tool does not report whether its option is activated")
    else:
        force = EffectiveValue(IN_FORCE, "the option is activated and all conditions are met")
    return Reading(
        now=now,
        raw=", ".join(word or "not reported" for word in values),
        effective=force.value,
        why_effective=force.why,
        choices=choices.fastpath(now),
        availability=_preset_availability(view, parts),
    )


def _combined(values: list[str | None]) -> str:
    if values == ["write-through", "none", "direct"]:
        return choices.PRESET
    readable = [word for word in values if word is not None and word != UNKNOWN]
    return " + ".join(readable) if len(readable) == len(values) else UNKNOWN


def _preset_availability(view: VolumeView, parts: list[Reading]) -> Availability:
    """Return whether the preset may be set and undone: this depends on its three policies, `parts`."""
    why_not = _preset_reason(view, parts, [part.availability.why_not for part in parts])
    why_not_back = _preset_reason(view, parts, [part.availability.why_not_back for part in parts])
    return Availability(why_not=why_not, only_back=why_not is not None and why_not_back is None)


def _preset_reason(view: VolumeView, parts: list[Reading], reasons: list[str | None]) -> str | None:
    """Return the first reason why a policy that the preset would change cannot be changed, or None."""
    for name, wanted, part, why_not in zip(
        ("write cache", "read-ahead", "I/O policy"), ("write-through", "none", "direct"), parts, reasons, strict=True
    ):
        missing = part.now is None and wanted == "direct"  # controllers without this choice always use direct
        if why_not is not None and part.now != wanted and not missing:
            return f"the {name} cannot be changed: {why_not}"
    return view.why_not


def card_readings(view: CardView) -> dict[str, Reading]:
    """Return the readings of all settings of a controller. The activation key has no value to read."""
    keys = (setting.key for setting in CARD_SETTINGS)
    return {key: _key_reading(view) if key == "activation_key" else _card_value(view, key) for key in keys}


_CARD_CHOICES = {
    **CARD_CHOICES,
    "patrol_read": choices.PATROL_READ,
    "consistency_check": choices.CONSISTENCY_CHECK,
    "perf_mode": choices.PERF_MODE,
}


def _card_value(view: CardView, key: str) -> Reading:
    word = view.card.values.get(key)
    number = view.card.number
    legal: tuple[Choice, ...] | None = None
    span: Span | None = None
    if key in _CARD_CHOICES:
        legal = _offered_choices(_CARD_CHOICES[key], lambda value: view.dialect.set_card(number, key, value))
    elif _offered_choices((offer("1"),), lambda value: view.dialect.set_card(number, key, value)):
        present = int(word.value) if word is not None and word.value.isdigit() else None
        span = _span(key, present)
    else:
        legal = ()
    supported = view.card.supports.get({"perf_mode": "perf_tuning"}.get(key, key))
    against = NO_RAID if view.card.makes_arrays is False else NOT_SUPPORTED if supported is False else None
    return Reading(
        now=value_of(word),
        raw=None if word is None else word.raw,
        choices=legal or (),
        span=span,
        availability=available_unless(
            against or _no_word_reason(legal, view), _unrestorable_reason(key, word, legal), view.why_not
        ),
    )


def _span(key: str, present: int | None) -> Span:
    """Return the range of a controller's numeric setting. The current value `present` is always part of the range."""
    if key in CARD_SPANS:
        span = CARD_SPANS[key]
    elif key in _RATES:
        span = Span(minimum=0, maximum=100, unit="%")
    else:
        span = Span(minimum=1, maximum=_SECONDS_MAX, unit="s")
    if present is None:
        return span
    return replace(span, minimum=min(span.minimum, present), maximum=max(span.maximum, present))


def _key_reading(view: CardView) -> Reading:
    active = [option.name for option in view.card.options if option.state.value == "active"]
    has_options = view.card.options or view.card.safe_id
    return Reading(
        now=None,
        raw=", ".join(active) or None,
        availability=Availability(
            why_not=view.why_not if has_options else "the controller reports no options that can be activated"
        ),
    )
