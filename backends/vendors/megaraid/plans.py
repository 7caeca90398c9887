"""Plans changes from a reading and a requested value: commands, undo commands and risk. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from re import Pattern

from backends.change import Change, ChangeStep
from backends.change_steps import RequestedValue, is_restorable_value, require_equal_steps
from backends.errors import BlockedError, InvalidValueError, RefusedError
from backends.host import Command
from backends.identity import Identity
from backends.settings import Reading, Risk, Setting, is_understood, worst
from backends.vendors._cards import UNKNOWN, ReportedValue
from backends.vendors.megaraid.choices import BIRTH, FASTPATH_PARTS, POLICIES, PRESET, policies_in
from backends.vendors.megaraid.dialect import NewVolume
from backends.vendors.megaraid.effective import CardView, VolumeView, protection_text
from backends.vendors.megaraid.facts import Policies, VirtualDrive
from backends.vendors.megaraid.geometry import SPANNED, companions_of, members_of, shape
from backends.vendors.megaraid.readings import is_final, program, volume_readings
from backends.vendors.megaraid.settings import VOLUME_SETTINGS
from backends.vendors.megaraid.storcli.commands import drives_text

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
"""Pattern of the names that every tool accepts for a virtual drive."""

_NAMED_DRIVES = re.compile(r"(?:drives=|-R[0-9]{1,2}\[|-Array[0-9]\[)([0-9:,-]{1,400})\]?")
_NAMED_STRIP = re.compile(r"(?:strip=|-strpsz)([0-9]{1,5})")
_NAMED_VOLUME = re.compile(r"(?:/c[0-9]+/v|-L(?!DSetProp))(.*)")
"""Patterns of the arguments of storcli and MegaCli that name the drives of a new virtual drive, its strip size in KiB,
and the virtual drive that is deleted or changed."""

_MOVES = {
    "write_cache": ("fastpath",),
    "read_ahead": ("fastpath",),
    "io_policy": ("fastpath",),
    "fastpath": tuple(FASTPATH_PARTS),
    "strip_size": ("auto_bgi", "cache_bypass_mode"),
}
"""Keys of the settings that change as a side effect, by the key of the setting that is changed."""

_MOVES_DISK = dict.fromkeys(("write_cache", "fastpath"), ("write_cache",))
"""Settings of the kernel disk that change as a side effect, because the kernel mirrors the write cache of the virtual
drive."""


def volume_change(
    view: VolumeView,
    request: RequestedValue,
    identity: Identity,
    lock: str,
    companions: Mapping[str, str] | None = None,
) -> Change:
    """Return the change of a virtual drive's setting.

    `companions`: values to restore together with a former value; None if the value is not a former one. Raises
    InvalidValueError if the tool cannot set the value. Raises BlockedError if setting or undoing a value of `fastpath`
    needs the change of a policy that cannot be changed.
    """
    key, now = request.setting.key, request.now.now
    is_set = companions is not None and request.value == now
    forward = _steps_to(view, request, companions) if not is_set or key != "strip_size" else ()
    undo = _steps_back(view, request, now) if forward and now is not None and is_understood(now) else ()
    change = request.change(forward, undo, identity, lock)
    if key == "fastpath" and companions is not None and request.value != PRESET:
        change = _with_worst_risk(view, change)
    if change.risk is Risk.POWER_LOSS and change.key in ("write_cache", "io_policy", "fastpath"):
        change = replace(change, risk_text=f"{change.risk_text} Now {protection_text(view.card)}.".strip())
    if forward and not undo and is_final(key, now or ""):
        text = f"{program(view)} has no command for {now}, so the change to {request.value} cannot be undone."
        change = replace(
            change,
            risk=worst((change.risk, Risk.PERFORMANCE)),
            risk_text=f"{change.risk_text} {text}".strip(),
        )
    members = members_of(view.contents, view.volume.drives) if key == "strip_size" else ()
    moves = _MOVES.get(change.key, ())
    disk = _MOVES_DISK.get(change.key, ())
    return replace(change, moves=moves, moves_disk=disk, members=members, companions=companions_now(view, key))


def companions_now(view: VolumeView, key: str) -> dict[str, str]:
    """Return the values that must be restored together with a setting's current value."""
    if key == "strip_size":
        remade = shape(view.contents, view.volume)
        return {} if remade.new is None else companions_of(remade.new)
    if key == "fastpath":
        parts = volume_readings(view)
        return {name: now for name in POLICIES if (now := parts[name].now) is not None and now != UNKNOWN}
    return {}


def legal_companions(view: VolumeView, key: str, value: str) -> dict[str, Pattern[str]]:
    """Return, by key, a pattern for the values that may be restored together with `value` on this virtual drive."""
    if key == "fastpath":
        return {name: re.compile(re.escape(word)) for name, word in policies_in(value).items()}
    if key != "strip_size":
        return {}
    volume = view.volume
    present = {
        "level": volume.level.value,
        "drives_per_span": str(volume.drives_per_span) if volume.level in SPANNED else None,
        "name": volume.name,
    }
    legal = {name: _NAME if text is None and name == "name" else _only(text) for name, text in present.items()}
    return {**legal, **{name: re.compile("|".join(values)) for name, values in BIRTH.items()}}


def _only(text: str | None) -> Pattern[str]:
    return re.compile(r"(?!)" if text is None else re.escape(text))


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Return the former `value` if it can be restored. For `fastpath`, any three legal policies can be restored.

    Raises InvalidValueError for an illegal value, BlockedError if the tool has no command for it.
    """
    if is_final(setting.key, value) and all(choice.value != value for choice in now.choices):
        raise BlockedError(
            f"{setting.label} cannot be restored to {value}: the tool has no command for it.",
            hint=f"Set {' or '.join(choice.value for choice in now.choices)}.",
        )
    return value if setting.key == "fastpath" and policies_in(value) else is_restorable_value(setting, now, value)


def previous_definition(view: VolumeView, companions: Mapping[str, str]) -> VolumeView:
    """Return the view of the virtual drive with its policies and its name replaced by those in `companions`."""
    volume = view.volume
    texts = {key: ReportedValue(value=value, raw=value) for key, value in companions.items()}
    policies = {key: word for key, word in texts.items() if key in POLICIES}
    return replace(
        view,
        volume=replace(
            volume,
            configured=replace(volume.configured, **policies),
            drive_cache=texts.get("drive_cache", volume.drive_cache),
            name=companions.get("name", volume.name),
        ),
    )


def _steps_to(
    view: VolumeView, request: RequestedValue, companions: Mapping[str, str] | None
) -> tuple[ChangeStep, ...]:
    """Return the steps that set the requested value."""
    key = request.setting.key
    if key == "fastpath" and companions is not None:
        return _policies(view, policies_in(request.value))
    if key == "fastpath":
        return _preset(view, request.value)
    if key == "strip_size":
        return _recreation_steps(
            view if companions is None else previous_definition(view, companions), request, request.value
        )
    if request.value == request.now.now:  # already set, so no command is needed
        return _steps_or_none(view, view.volume.number, key, request.value)
    return _set(view, view.volume.number, key, request.value)


def _steps_back(view: VolumeView, request: RequestedValue, now: str) -> tuple[ChangeStep, ...]:
    """Return the steps that restore the current value after the requested one was set."""
    key = request.setting.key
    if key == "fastpath":
        return _policies(previous_definition(view, policies_in(request.value)), policies_in(now))
    if key == "strip_size":
        return _recreation_steps(view, request, now) if shape(view.contents, view.volume).new is not None else ()
    plan_steps = _steps_or_none if is_final(key, now) else _set
    return plan_steps(view, view.volume.number, key, now)


def _recreation_steps(view: VolumeView, request: RequestedValue, strip: str) -> tuple[ChangeStep, ...]:
    remade = shape(view.contents, view.volume)
    if remade.new is None or not strip.isdecimal():
        raise InvalidValueError(f"{request.target} cannot be re-created: {remade.why_not}.")
    new = replace(remade.new, strip_bytes=int(strip))
    return _steps(view, view.dialect.recreate(view.card.number, view.volume.number, new))


def creation(view: CardView, number: int, new: NewVolume) -> tuple[ChangeStep, ...]:
    """Return the steps that create a missing virtual drive. Raises InvalidValueError as `Dialect.recreate` does."""
    return _steps(view, view.dialect.recreate(view.card.number, number, new))[1:]


def _with_worst_risk(view: VolumeView, change: Change) -> Change:
    """Return the change of `fastpath` with the highest risk of the three policies that its value sets."""
    parts, named = volume_readings(view), policies_in(change.after)
    risks = {
        key: next((choice.risk for choice in parts[key].choices if choice.value == value), Risk.NONE)
        for key, value in named.items()
    }
    risk = worst(risks.values())
    texts = [
        setting.risk_text for setting in VOLUME_SETTINGS if risk is not Risk.NONE and risks.get(setting.key) is risk
    ]
    return replace(change, risk=risk, risk_text=" ".join(texts[:1]))


def card_change(view: CardView, request: RequestedValue, identity: Identity, lock: str) -> Change:
    """Return the change of a controller's setting. Raises InvalidValueError if the tool cannot set the value."""
    key, now = request.setting.key, request.now.now

    def steps(value: str) -> tuple[ChangeStep, ...]:
        return _steps(view, view.dialect.set_card(view.card.number, key, value))

    try:
        forward = steps(request.value)
    except InvalidValueError:
        if request.value != now:
            raise
        return request.change((), (), identity, lock)  # already set, so no command is needed
    readable = now is not None and is_understood(now)
    return request.change(forward, steps(now) if now and readable else (), identity, lock)


def key_change(
    view: CardView, request: RequestedValue, key: str, preview: str, identity: Identity, lock: str
) -> Change:
    """Return the change that applies an activation key; the change shows the token instead of the key."""
    change = request.change(
        _steps(view, view.dialect.apply_key(view.card.number, key, preview=False)), (), identity, lock
    )
    return replace(change, risk_text=f"{request.setting.risk_text} {preview}".strip(), moves=("fastpath",))


def _preset(view: VolumeView, value: str) -> tuple[ChangeStep, ...]:
    """Return the steps that set the preset; if `value` is not the preset, those that set the current policies again.

    Policies that cannot be changed are left out. Policies that already have the right value are left out too, unless
    all of them do.
    """
    parts = volume_readings(view)
    movable = {key: parts[key].now or "" for key in FASTPATH_PARTS if parts[key].availability.available}
    wanted = FASTPATH_PARTS if value == PRESET else movable
    moving = [key for key, now in movable.items() if now != wanted[key]] or list(movable)
    return _set_each(view, {key: wanted[key] for key in moving})


def _policies(view: VolumeView, named: Mapping[str, str]) -> tuple[ChangeStep, ...]:
    """Return the steps that restore the policies in `named`, in reverse order.

    Raises BlockedError if one of them cannot be changed.
    """
    parts = volume_readings(view)
    movable = {key: value for key, value in named.items() if parts[key].availability.why_not_back is None}
    wrong = [key for key in named if parts[key].now not in (None, named[key])]
    for key in wrong:
        if key not in movable:
            raise BlockedError(
                f"The {key.replace('_', ' ')} cannot be changed: {parts[key].availability.why_not_back}."
            )
    return _set_each(view, {key: named[key] for key in reversed(wrong or list(movable))})


def _set_each(view: VolumeView, values: Mapping[str, str]) -> tuple[ChangeStep, ...]:
    return tuple(step for key, value in values.items() for step in _set(view, view.volume.number, key, value))


def require_own_step(change: Change, view: CardView, volume: VirtualDrive | None) -> None:
    """Raise RefusedError if a step does anything other than this change of this virtual drive or controller.

    The step of an activation key is not checked here: `Runner` checks it when it inserts the key.
    """
    key, number = change.key, view.card.number
    if key == "activation_key":
        return
    try:
        if volume is None:
            require_equal_steps(change, _steps(view, view.dialect.set_card(number, key, change.after)))
        elif key == "strip_size":
            _require_made_of(change, view, volume)
        elif key != "fastpath":
            require_equal_steps(change, _set(view, volume.number, key, change.after))
        else:
            policies = policies_in(change.after)
            own_steps = [
                step for name, value in policies.items() for step in _steps_or_none(view, volume.number, name, value)
            ]
            require_equal_steps(change, tuple(step for step in change.writes if step in own_steps))
    except InvalidValueError as error:
        raise RefusedError(error.message) from error


def _require_made_of(change: Change, view: CardView, volume: VirtualDrive) -> None:
    """Raise RefusedError unless the steps delete this virtual drive and re-create it on the same drives."""
    lines = [write.argv for write in change.writes]
    if not all(line[2:] and line[0] == view.dialect.tool for line in lines):
        raise RefusedError(f"The recorded steps do not re-create {change.target}. Plan the change again.")
    view.dialect.begin_making(view.card.number, lines)
    # The steps were announced only so that the dialect checks them, so end the announcement again.
    view.dialect.begin_making(view.card.number, ())
    deletes = _steps(view, view.dialect.delete(view.card.number, volume.number))
    strips = [int(text) * 1024 for text in _matched_values(_NAMED_STRIP, lines)]
    other_numbers = set(_matched_values(_NAMED_VOLUME, lines)) - {str(volume.number)}
    if change.writes[:1] != deletes or other_numbers or [str(strip) for strip in strips] != [change.after]:
        raise RefusedError(f"The recorded steps do not re-create {change.target}. Plan the change again.")
    if ",".join(_matched_values(_NAMED_DRIVES, lines)) not in (",".join(volume.drives), drives_text(volume.drives)):
        raise RefusedError(f"The drives of {change.target} are now {', '.join(volume.drives)}. Plan the change again.")


def _matched_values(pattern: re.Pattern[str], lines: Iterable[tuple[str, ...]]) -> list[str]:
    return [match[1] for line in lines for word in line if (match := pattern.fullmatch(word)) is not None]


def _steps_or_none(view: CardView, number: int, key: str, value: str) -> tuple[ChangeStep, ...]:
    """Return the steps that set a policy, or () if the tool cannot set the value."""
    try:
        return _set(view, number, key, value)
    except InvalidValueError:
        return ()


def _set(view: CardView, number: int, key: str, value: str) -> tuple[ChangeStep, ...]:
    return _steps(view, view.dialect.set_volume(view.card.number, number, key, value))


def _steps(view: CardView, commands: Iterable[Command]) -> tuple[ChangeStep, ...]:
    return tuple(ChangeStep(argv=argv) for argv in view.dialect.flatten(tuple(commands)))


_AFTER_MAKING = ("strip_size", "auto_bgi", "cache_bypass_mode", "access_policy")
"""Settings to change last, in this order. A re-created virtual drive gets all its cache policies back, but has
read-write access and the controller's default for background initialisation, so these follow `strip_size`."""

_POLICIES = {field.name for field in fields(Policies)}


def order_rank(key: str, value: str) -> int:
    """Return the rank by which settings that are changed together are ordered; independent settings share a rank."""
    if key not in _AFTER_MAKING or (key, value) == ("access_policy", "read-write"):
        return 0  # read-write comes first: only a read-write virtual drive can be re-created
    return 1 + _AFTER_MAKING.index(key)


def with_value(view: CardView, key: str, value: str) -> CardView:
    """Return the view after a setting was set. A controller's view does not change: its settings are independent."""
    if not isinstance(view, VolumeView):
        return view
    values = FASTPATH_PARTS if (key, value) == ("fastpath", PRESET) else {key: value}
    volume = view.volume
    for name, wanted in values.items():
        volume = _set_value(volume, name, ReportedValue(value=wanted, raw=wanted))
    return replace(view, volume=volume)


def _set_value(volume: VirtualDrive, key: str, word: ReportedValue) -> VirtualDrive:
    match key:
        case "strip_size":
            return replace(volume, strip_bytes=int(word.value))
        case "auto_bgi":
            return replace(volume, auto_bgi=word.value == "on")
        case "drive_cache":
            return replace(volume, drive_cache=word)
        case "cache_bypass_mode":
            return replace(volume, cache_bypass=word)
        case "access_policy":
            return replace(volume, access=word)
        case _ if key in _POLICIES and getattr(volume.configured, key) is not None:
            return replace(volume, configured=replace(volume.configured, **{key: word}))
        case _:
            return volume
