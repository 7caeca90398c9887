"""Changes of md arrays: the exact steps, the steps that undo them, and the risk. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from re import Pattern

from backends.change import Change, ChangeStep, disk_lock
from backends.change_steps import RequestedValue, is_restorable_value
from backends.errors import BlockedError, InvalidValueError
from backends.identity import Identity, Signature
from backends.settings import Effect, Reading, Risk, Setting, check_value
from backends.sizes import size_words
from backends.text import clean
from backends.topology.tree import number
from backends.values import dataclass
from backends.vendors.mdraid import full_speed
from backends.vendors.mdraid.layouts import ROTATING, SIX
from backends.vendors.mdraid.readings import LOCKLESS, SPEED_LIMIT, ArrayView, bitmap_word, resync_parts
from backends.vendors.mdraid.recreate import GEOMETRY, nodes_of, option_value, recreation, shape_of
from backends.vendors.mdraid.reshape import ReshapeMethod, hours_text, method_of
from backends.vendors.mdraid.settings import ON_OFF, SPEEDS, member_of

_SIZE = re.compile(r"[1-9][0-9]{3,17}")
_OFFSET = re.compile(r"0|[1-9][0-9]{2,17}")
_LAYOUT = re.compile(r"[nfo][1-9][0-9]?")
_BITMAP = re.compile(r"none|internal")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@+-]{0,63}")
_NOTHING = re.compile(r"(?!)")
_BEFORE = {
    "chunk_size": re.compile(r"[1-9][0-9]{3,8}"),
    "layout": re.compile("|".join((*ROTATING.values(), *SIX.values(), _LAYOUT.pattern))),
}
"""Patterns of the legal old values of chunk and layout, including values that raidbench does not offer."""

_RESET = ("stripe_cache_size", "preread_bypass_threshold", "read_ahead_kb")
"""Settings that the kernel resets to their defaults when the geometry changes."""

_MOVES = {
    full_speed.KEY: (*full_speed.PARTS, "preread_bypass_threshold"),
    "stripe_cache_size": ("preread_bypass_threshold", full_speed.KEY),
    "sync_speed_min": (full_speed.KEY,),
    "sync_speed_max": (full_speed.KEY,),
    "bitmap": ("consistency_policy",),
    "consistency_policy": ("bitmap",),
    "chunk_size": _RESET,
    "layout": _RESET,
}
"""Settings whose value or range may be affected by a change, by key of the changed setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReshapeContext:
    """Additional facts for a change of chunk size or layout."""

    backup: str | None = None
    """Path of the backup file; None if none is needed."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Properties of the array from mdadm and udev, such as `MD_NAME`."""
    contents: tuple[Signature, ...] = ()
    """Signatures of the array's content, such as a filesystem."""


def wanted_value(setting: Setting, now: Reading, value: str) -> str:
    """Return the value in canonical form. A speed may be any number up to `SPEED_LIMIT`. Raises InvalidValueError."""
    if setting.key in SPEEDS and value.isascii() and value.isdigit() and len(value) < 11:
        number = int(value)
        if not 1 <= number <= SPEED_LIMIT:
            raise InvalidValueError(
                f"{setting.key} cannot be {number} here.",
                hint=f"Use `system`, or a value from 1 to {SPEED_LIMIT} KiB/s.",
            )
        return str(number)
    return check_value(setting, now, value)


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Validate `value` as an old value to restore, and return it.

    A chunk, layout or speed is legal even if not offered. Raises InvalidValueError.
    """
    legal = _BEFORE.get(setting.key)
    if legal is not None and legal.fullmatch(value):
        return value
    if setting.key == full_speed.KEY and any(full_speed.parts_in(value, parity) for parity in (True, False)):
        return value
    return (wanted_value if setting.key in SPEEDS else is_restorable_value)(setting, now, value)


_FINAL = "A lockless bitmap cannot be restored: only a new array can have one."
"""Warning about the loss of a lockless bitmap."""


def change_of(
    view: ArrayView,
    request: RequestedValue,
    identity: Identity,
    context: ReshapeContext,
    companions: Mapping[str, str] | None = None,
) -> Change:
    """Return the change of one setting. `companions`: values to restore along with an old value.

    Raises BlockedError if the array cannot be re-created exactly.
    """
    setting, value, before = request.setting, request.value, request.now.now or ""
    risk, text, effect = _risk(request), setting.risk_text, setting.effect
    kind = setting.key.partition(".")[0]
    recreates = kind in GEOMETRY and method_of(view.array, kind) is ReshapeMethod.RECREATE
    readable = request.now.now not in (None, "unknown")
    present = companions_now(view, setting.key, context) if readable else {}
    nothing_to_do = companions is not None and value == request.now.now and kind in GEOMETRY
    is_final = kind == "bitmap" and LOCKLESS in (before, value)
    if is_final and value == LOCKLESS and before != LOCKLESS:
        raise BlockedError(
            f"{request.target} cannot have a lockless bitmap again.",
            hint="Only a new array can have one (mdadm --create).",
        )
    forward = () if nothing_to_do else _steps(view, setting.key, value, context, companions)
    undo = () if nothing_to_do or not readable or is_final else _steps(view, setting.key, before, context, present)
    text = f"{text} {_FINAL}" if is_final else text
    if kind in GEOMETRY:
        risk, text = (Risk.DESTROYS_DATA, _loss(context)) if recreates else (Risk.OUTAGE, _slow(view, context))
        effect = Effect.RECREATED if recreates else effect
    change = request.change(forward, undo, identity_for(setting.key, identity), disk_lock(identity), risk)
    memory, warning = _memory(view, setting, value), text if risk is not Risk.NONE else ""
    risk_text = f"{warning} {memory}".strip() if setting.key == full_speed.KEY else memory or warning
    return replace(
        change,
        risk_text=risk_text,
        effect=effect,
        moves=_MOVES.get(kind, ()),
        companions=present,
        members=nodes_of(view.array) if recreates else (),
    )


def _steps(
    view: ArrayView, key: str, value: str, context: ReshapeContext, companions: Mapping[str, str] | None
) -> tuple[ChangeStep, ...]:
    """Return the steps that set `key` to `value` and restore its companions. All other values are kept."""
    kind = key.partition(".")[0]
    if kind in GEOMETRY and method_of(view.array, kind) is ReshapeMethod.RECREATE:
        return _recreation_steps(view, kind, value, context, companions or {})
    if kind in GEOMETRY:
        return (_grow(view, kind, value, context),)
    if kind in ("bitmap", "consistency_policy"):
        return (_policy(view, kind, value, companions or {}),)
    parts = resync_parts(view, value) if key == full_speed.KEY else {key: value}
    if not parts:
        raise InvalidValueError(f"{key} of {view.device} cannot be {clean(value, 80)!r}.", hint=f"`{full_speed.FULL}`.")
    return tuple(
        ChangeStep(path=sysfs_path(view.array.name, name), text=kernel_word(name, text)) for name, text in parts.items()
    )


def companions_now(view: ArrayView, key: str, context: ReshapeContext) -> dict[str, str]:
    """Return the values that must be restored along with the current value of a setting."""
    attributes = view.array.attributes
    if key == "bitmap" and bitmap_word(attributes) == "internal":
        size = number(attributes.get("bitmap/chunksize")) or 0
        return {"chunk": str(size)} if size >= 1024 else {}
    if key in GEOMETRY and method_of(view.array, key) is ReshapeMethod.RECREATE:
        shape = shape_of(view.array, context.properties.get("MD_NAME"))
        return {} if isinstance(shape, str) else {name: text for name, text in shape.items() if name != GEOMETRY[key]}
    return {}


def legal_companions(view: ArrayView, key: str, value: str, context: ReshapeContext) -> dict[str, Pattern[str]]:
    """Return patterns of the values that may be restored along with `value` of the setting `key`, by key of the
    companion.
    """
    if key == "bitmap":
        return {"chunk": _SIZE} if value == "internal" else {}
    if key not in GEOMETRY or method_of(view.array, key) is not ReshapeMethod.RECREATE:
        return {}
    name = context.properties.get("MD_NAME")
    layout = view.array.layout_word
    legal = {
        "chunk": _SIZE,
        "size": _SIZE,
        "data_offset": _OFFSET,
        "layout": _LAYOUT if layout is not None else _NOTHING,
        "bitmap": _BITMAP if view.array.level_word != "raid0" else _NOTHING,
        "name": re.compile(re.escape(name)) if name else _NAME,
    }
    return {name: pattern for name, pattern in legal.items() if name != GEOMETRY[key]}


def order_rank(key: str) -> int:
    """Return the rank of a setting in the order of changes.

    The bitmap comes before a re-creation, which keeps the new bitmap. Values in sysfs come last.
    """
    return 0 if key in ("bitmap", "consistency_policy") else 1 if key in GEOMETRY else 2


def with_bitmap(view: ArrayView, value: str) -> ArrayView:
    """Return the view as it will be after the bitmap was set to `value`: `none` or `internal`."""
    location = {"none": "none"}.get(value, "+8")
    attributes = {key: text for key, text in view.array.attributes.items() if key != "bitmap_type"}
    return replace(view, array=replace(view.array, attributes={**attributes, "bitmap/location": location}))


def identity_for(key: str, identity: Identity) -> Identity:
    """Return the part of `identity` that a change of the setting `key` leaves unchanged.

    A reshape may round the size, and a re-creation gives the disk a new sequence number.
    """
    return _lasting(identity) if key in GEOMETRY else identity


def present_identity(change: Change, identity: Identity) -> Identity:
    """Return the part of the present `identity` that must equal the identity in the change.

    The undo of a change has the identity that lasts if a later change re-created the array.
    """
    lasting = _lasting(identity)
    return lasting if change.identity == lasting else identity_for(change.key, identity)


def _lasting(identity: Identity) -> Identity:
    return replace(identity, size_bytes=None, diskseq=None)


def sysfs_path(name: str, key: str) -> str:
    """Return the path of a setting's file in sysfs."""
    pair = member_of(key)
    return f"/sys/block/{name}/md/{key if pair is None else f'dev-{pair[1]}/state'}"


def kernel_word(key: str, value: str) -> str:
    """Return the string to write to sysfs for a value of a setting."""
    kind = key.partition(".")[0]
    if kind in ON_OFF and value in ("off", "on"):
        return ON_OFF[kind][value == "on"]
    if kind == "safe_mode_delay" and value.isdigit():
        return f"{int(value) // 1000}.{int(value) % 1000:03d}"
    return value


def _policy(view: ArrayView, kind: str, value: str, companions: Mapping[str, str]) -> ChangeStep:
    """Return the step that sets the bitmap or the consistency policy. A restored bitmap gets its old chunk size."""
    option = "bitmap" if kind == "bitmap" else "consistency-policy"
    parts = [f"--{option}={value}"]
    parts += [f"--bitmap-chunk={option_value('chunk', companions['chunk'])}"] if "chunk" in companions else []
    return ChangeStep(argv=(view.mdadm or "mdadm", "--grow", *parts, view.device))


def _grow(view: ArrayView, kind: str, value: str, context: ReshapeContext) -> ChangeStep:
    parts = [f"--chunk={int(value) // 1024}K" if kind == "chunk_size" else f"--layout={value}"]
    parts += [f"--backup-file={context.backup}"] if context.backup is not None else []
    return ChangeStep(argv=(view.mdadm or "mdadm", "--grow", *parts, view.device))


def _recreation_steps(
    view: ArrayView, kind: str, value: str, context: ReshapeContext, companions: Mapping[str, str]
) -> tuple[ChangeStep, ...]:
    now = shape_of(view.array, context.properties.get("MD_NAME"))
    is_complete = "data_offset" in companions and ("bitmap" in companions or view.array.level_word == "raid0")
    shape = {**({} if isinstance(now, str) else now), **companions, GEOMETRY[kind]: value}
    steps: tuple[tuple[str, ...], ...] | str
    if isinstance(now, str) and not is_complete:
        steps = now
    else:
        steps = recreation(view.array, mdadm=view.mdadm or "mdadm", device=view.device, shape=shape)
    if isinstance(steps, str):
        raise BlockedError(f"{view.device} cannot be re-created exactly: {steps}.")
    return tuple(ChangeStep(argv=argv) for argv in steps)


def _risk(request: RequestedValue) -> Risk:
    """Return the risk of setting the requested value on an array."""
    if request.setting.key == "safe_mode_delay":
        return request.setting.risk if request.value == "0" else Risk.NONE
    if request.setting.key == "sync_speed_min":
        return Risk.NONE if request.value == "system" else request.setting.risk
    return request.risk


def _loss(context: ReshapeContext) -> str:
    """Return the warning with the content that will be lost."""
    losses = [f"{content.kind} {content.label or content.uuid or ''}".strip() for content in context.contents]
    names = f" ({', '.join(losses[:4])})" if losses else ""
    return (
        f"The array is stopped and re-created from the same members. All data on it{names} is lost, and an "
        "undo destroys all data again. A resync follows."
    )


def _slow(view: ArrayView, context: ReshapeContext) -> str:
    """Return the warning about the effects of a reshape while it runs, and its duration."""
    parts = ["The array remains usable but slow until the reshape ends. The change cannot be undone before that."]
    parts.append(hours_text(view.array, view.speed_kib))
    if view.array.level_word == "raid0":
        parts.append(
            "During the reshape the kernel runs it as a degraded RAID 4. At the end mdadm changes it to RAID 0 again."
        )
    if context.backup is not None:
        parts.append(f"After a crash, {context.backup} is needed to continue. Keep it until the reshape ends.")
    return " ".join(parts)


def _memory(view: ArrayView, setting: Setting, value: str) -> str:
    """Return a sentence about the memory that the stripe cache will use; "" for settings that do not change it."""
    pages = resync_parts(view, value).get("stripe_cache_size") if setting.key == full_speed.KEY else value
    if setting.key not in ("stripe_cache_size", full_speed.KEY) or pages is None or not view.outline.disks:
        return ""
    return f"The stripe cache uses {size_words(int(pages) * view.outline.disks * view.outline.page_bytes)} of memory."
