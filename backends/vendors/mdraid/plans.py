"""From a reading and a wanted value to the change: the very steps, what takes them back, the risk. Pure."""

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
from backends.vendors.mdraid.recreate import nodes_of, option_value, recreation, shape_of
from backends.vendors.mdraid.reshape import ReshapeMethod, hours_text, method_of
from backends.vendors.mdraid.settings import ON_OFF, SPEEDS, member_of

GEOMETRY = {"chunk_size": "chunk", "layout": "layout"}
"""Settings that move every byte, and what a re-creation calls each."""

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
"""Values that the geometry may have had, though they are not offered."""

_ANEW = ("stripe_cache_size", "preread_bypass_threshold", "read_ahead_kb")
"""What starts from its default with another geometry."""

_MOVES = {
    full_speed.KEY: (*full_speed.PARTS, "preread_bypass_threshold"),
    "stripe_cache_size": ("preread_bypass_threshold", full_speed.KEY),
    "sync_speed_min": (full_speed.KEY,),
    "sync_speed_max": (full_speed.KEY,),
    "bitmap": ("consistency_policy",),
    "consistency_policy": ("bitmap",),
    "chunk_size": _ANEW,
    "layout": _ANEW,
}
"""Settings that move along, or whose range does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReshapeContext:
    """What a change of the geometry has to know besides the array."""

    backup: str | None = None
    """Path of the backup file, None where none is needed."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """What mdadm and udev know of it: `MD_NAME`."""
    contents: tuple[Signature, ...] = ()
    """What lies on it, as far as udev or lsblk knows."""


def wanted_value(setting: Setting, now: Reading, value: str) -> str:
    """The value in canonical form; a speed may be any number. Raises InvalidValueError."""
    if setting.key in SPEEDS and value.isascii() and value.isdigit() and len(value) < 11:
        number = int(value)
        if not 1 <= number <= SPEED_LIMIT:
            raise InvalidValueError(
                f"{setting.key} cannot be {number} here.", hint=f"`system`, or from 1 to {SPEED_LIMIT} KiB/s."
            )
        return str(number)
    return check_value(setting, now, value)


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """A value that it had before: a chunk, layout or speed that is not offered may be one. Raises InvalidValueError."""
    legal = _BEFORE.get(setting.key)
    if legal is not None and legal.fullmatch(value):
        return value
    if setting.key == full_speed.KEY and any(full_speed.parts_in(value, parity) for parity in (True, False)):
        return value
    return (wanted_value if setting.key in SPEEDS else is_restorable_value)(setting, now, value)


_FINAL = "A lockless bitmap cannot be added again: only a new array can have one."
"""What is lost with it."""


def change_of(
    view: ArrayView,
    request: RequestedValue,
    identity: Identity,
    beside: ReshapeContext,
    companions: Mapping[str, str] | None = None,
) -> Change:
    """The change of one setting. `companions`: with which its value comes back, where it had it before.

    Raises BlockedError where the array cannot be created again exactly.
    """
    setting, value, before = request.setting, request.value, request.now.now or ""
    risk, text, effect = _risk(request), setting.risk_text, setting.effect
    kind = setting.key.partition(".")[0]
    anew = kind in GEOMETRY and method_of(view.array, kind) is ReshapeMethod.RECREATE
    readable = request.now.now not in (None, "unknown")
    present = companions_now(view, setting.key, beside) if readable else {}
    nothing_to_do = companions is not None and value == request.now.now and kind in GEOMETRY
    final = kind == "bitmap" and LOCKLESS in (before, value)
    if final and value == LOCKLESS and before != LOCKLESS:
        raise BlockedError(
            f"{request.target} cannot have a lockless bitmap again.", hint="Only a new array can: mdadm --create."
        )
    forward = () if nothing_to_do else _steps(view, setting.key, value, beside, companions)
    undo = () if nothing_to_do or not readable or final else _steps(view, setting.key, before, beside, present)
    text = f"{text} {_FINAL}" if final else text
    if kind in GEOMETRY:
        risk, text = (Risk.DESTROYS_DATA, _loss(beside)) if anew else (Risk.OUTAGE, _slow(view, beside))
        effect = Effect.RECREATED if anew else effect
    change = request.change(forward, undo, identity_for(setting.key, identity), disk_lock(identity), risk)
    memory, warning = _memory(view, setting, value), text if risk is not Risk.NONE else ""
    risk_text = f"{warning} {memory}".strip() if setting.key == full_speed.KEY else memory or warning
    return replace(
        change,
        risk_text=risk_text,
        effect=effect,
        moves=_MOVES.get(kind, ()),
        companions=present,
        members=nodes_of(view.array) if anew else (),
    )


def _steps(
    view: ArrayView, key: str, value: str, beside: ReshapeContext, companions: Mapping[str, str] | None
) -> tuple[ChangeStep, ...]:
    """The steps that bring a value, with what came along with it; all else is as it is now."""
    kind = key.partition(".")[0]
    if kind in GEOMETRY and method_of(view.array, kind) is ReshapeMethod.RECREATE:
        return _recreation_steps(view, kind, value, beside, companions or {})
    if kind in GEOMETRY:
        return (_grow(view, kind, value, beside),)
    if kind in ("bitmap", "consistency_policy"):
        return (_policy(view, kind, value, companions or {}),)
    parts = resync_parts(view, value) if key == full_speed.KEY else {key: value}
    if not parts:
        raise InvalidValueError(f"{key} of {view.device} cannot be {clean(value, 80)!r}.", hint=f"`{full_speed.FULL}`.")
    return tuple(
        ChangeStep(path=sysfs_path(view.array.name, name), text=kernel_word(name, text)) for name, text in parts.items()
    )


def companions_now(view: ArrayView, key: str, beside: ReshapeContext) -> dict[str, str]:
    """What the present value of a setting comes back with."""
    attributes = view.array.attributes
    if key == "bitmap" and bitmap_word(attributes) == "internal":
        size = number(attributes.get("bitmap/chunksize")) or 0
        return {"chunk": str(size)} if size >= 1024 else {}
    if key in GEOMETRY and method_of(view.array, key) is ReshapeMethod.RECREATE:
        shape = shape_of(view.array, beside.properties.get("MD_NAME"))
        return {} if isinstance(shape, str) else {name: text for name, text in shape.items() if name != GEOMETRY[key]}
    return {}


def legal_companions(view: ArrayView, key: str, value: str, beside: ReshapeContext) -> dict[str, Pattern[str]]:
    """What may come back with a value of a setting: by key, what it may be."""
    if key == "bitmap":
        return {"chunk": _SIZE} if value == "internal" else {}
    if key not in GEOMETRY or method_of(view.array, key) is not ReshapeMethod.RECREATE:
        return {}
    name = beside.properties.get("MD_NAME")
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
    """When a setting is set among others: the bitmap before the array is re-created with it, the kernel's own after."""
    return 0 if key in ("bitmap", "consistency_policy") else 1 if key in GEOMETRY else 2


def with_bitmap(view: ArrayView, value: str) -> ArrayView:
    """The view after its bitmap was set to `none` or `internal`; the kernel tells of the latter where it lies."""
    location = {"none": "none"}.get(value, "+8")
    attributes = {key: text for key, text in view.array.attributes.items() if key != "bitmap_type"}
    return replace(view, array=replace(view.array, attributes={**attributes, "bitmap/location": location}))


def identity_for(key: str, identity: Identity) -> Identity:
    """What stays the same over the change and back: a reshape may round the size, making anew gives another disk."""
    return replace(identity, size_bytes=None, diskseq=None) if key in GEOMETRY else identity


def sysfs_path(name: str, key: str) -> str:
    """The file of a setting."""
    pair = member_of(key)
    return f"/sys/block/{name}/md/{key if pair is None else f'dev-{pair[1]}/state'}"


def kernel_word(key: str, value: str) -> str:
    """The text the kernel wants."""
    kind = key.partition(".")[0]
    if kind in ON_OFF and value in ("off", "on"):
        return ON_OFF[kind][value == "on"]
    if kind == "safe_mode_delay" and value.isdigit():
        return f"{int(value) // 1000}.{int(value) % 1000:03d}"
    return value


def _policy(view: ArrayView, kind: str, value: str, companions: Mapping[str, str]) -> ChangeStep:
    """A bitmap that comes back has the chunks it had."""
    option = "bitmap" if kind == "bitmap" else "consistency-policy"
    parts = [f"--{option}={value}"]
    parts += [f"--bitmap-chunk={option_value('chunk', companions['chunk'])}"] if "chunk" in companions else []
    return ChangeStep(argv=(view.mdadm or "mdadm", "--grow", *parts, view.device))


def _grow(view: ArrayView, kind: str, value: str, beside: ReshapeContext) -> ChangeStep:
    parts = [f"--chunk={int(value) // 1024}K" if kind == "chunk_size" else f"--layout={value}"]
    parts += [f"--backup-file={beside.backup}"] if beside.backup is not None else []
    return ChangeStep(argv=(view.mdadm or "mdadm", "--grow", *parts, view.device))


def _recreation_steps(
    view: ArrayView, kind: str, value: str, beside: ReshapeContext, companions: Mapping[str, str]
) -> tuple[ChangeStep, ...]:
    now = shape_of(view.array, beside.properties.get("MD_NAME"))
    whole = "data_offset" in companions and ("bitmap" in companions or view.array.level_word == "raid0")
    shape = {**({} if isinstance(now, str) else now), **companions, GEOMETRY[kind]: value}
    steps: tuple[tuple[str, ...], ...] | str
    if isinstance(now, str) and not whole:
        steps = now
    else:
        steps = recreation(view.array, mdadm=view.mdadm or "mdadm", device=view.device, shape=shape)
    if isinstance(steps, str):
        raise BlockedError(f"{view.device} cannot be created again exactly: {steps}.")
    return tuple(ChangeStep(argv=argv) for argv in steps)


def _risk(request: RequestedValue) -> Risk:
    """The risk of this value on an array."""
    if request.setting.key == "safe_mode_delay":
        return request.setting.risk if request.value == "0" else Risk.NONE
    if request.setting.key == "sync_speed_min":
        return Risk.NONE if request.value == "system" else request.setting.risk
    return request.risk


def _loss(beside: ReshapeContext) -> str:
    """What is lost, by name."""
    losses = [f"{content.kind} {content.label or content.uuid or ''}".strip() for content in beside.contents]
    there = f" ({', '.join(losses[:4])})" if losses else ""
    return (
        f"The array is taken apart and re-created of the same members: everything on it{there} is lost, and again when "
        "this is undone. A resync follows."
    )


def _slow(view: ArrayView, beside: ReshapeContext) -> str:
    """What a reshape means for those who use the array."""
    parts = ["The array stays usable but slow until the reshape has ended, and the change cannot be taken back before."]
    parts.append(hours_text(view.array, view.speed_kib))
    if view.array.level_word == "raid0":
        parts.append("Meanwhile the kernel runs it as a degraded RAID 4; mdadm makes it a RAID 0 again at the end.")
    if beside.backup is not None:
        parts.append(f"After a crash, {beside.backup} is needed to go on: keep it until the reshape has ended.")
    return " ".join(parts)


def _memory(view: ArrayView, setting: Setting, value: str) -> str:
    """What the stripe cache takes."""
    pages = resync_parts(view, value).get("stripe_cache_size") if setting.key == full_speed.KEY else value
    if setting.key not in ("stripe_cache_size", full_speed.KEY) or pages is None or not view.outline.disks:
        return ""
    return f"The stripe cache takes {size_words(int(pages) * view.outline.disks * view.outline.page_bytes)} of memory."
