"""From a reading and a wanted value to the change: the very steps, what takes them back, the risk. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from backends.change import Change, Write, disk_lock
from backends.changing import Wanted
from backends.errors import BlockedError, InvalidValueError
from backends.identity import Identity, Signature
from backends.settings import Effect, Reading, Risk, Setting, check_value
from backends.text import size_words
from backends.values import dataclass
from backends.vendors.mdraid.readings import SPEED_LIMIT
from backends.vendors.mdraid.recreate import recreation
from backends.vendors.mdraid.reshape import Way, chunk_offers, hours_text, layout_offers
from backends.vendors.mdraid.settings import ON_OFF, SPEEDS, member_of
from backends.vendors.mdraid.view import ArrayView

GEOMETRY = ("chunk_size", "layout")
"""Settings that move every byte."""

_ANEW = ("stripe_cache_size", "preread_bypass_threshold", "read_ahead_kb")
"""What starts from its default with another geometry."""

_MOVES = {
    "stripe_cache_size": ("preread_bypass_threshold",),
    "bitmap": ("consistency_policy",),
    "consistency_policy": ("bitmap",),
    "chunk_size": _ANEW,
    "layout": _ANEW,
}
"""Settings that move along, or whose range does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
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


def change_of(view: ArrayView, wish: Wanted, identity: Identity, beside: Beside) -> Change:
    """The change of one setting. Raises BlockedError where the array cannot be created again exactly."""
    setting, value, before = wish.setting, wish.value, wish.now.now or ""
    risk, text, effect = _risk(wish), setting.risk_text, setting.effect
    kind = setting.key.partition(".")[0]
    if kind in GEOMETRY:
        way = way_of(view, kind, value)
        if way is Way.RECREATE:
            forward = _anew(view, kind, value, beside)
            back = _anew(view, kind, before, beside)
            risk, effect, text = Risk.DESTROYS_DATA, Effect.RECREATED, _loss(beside)
        else:
            forward = (_grow(view, kind, value, beside),)
            back = (_grow(view, kind, before, beside),)
            risk, text = Risk.OUTAGE, _slow(view, beside)
    elif kind in ("bitmap", "consistency_policy"):
        forward = (_policy(view, kind, value),)
        back = (_policy(view, kind, before),)
    else:
        path = sysfs_path(view.array.name, setting.key)
        forward = (Write(path=path, text=kernel_word(setting.key, value)),)
        back = (Write(path=path, text=kernel_word(setting.key, before)),)
    back = back if wish.now.now not in (None, "unknown") else ()
    change = wish.change(forward, back, identity_for(setting.key, identity), disk_lock(identity), risk)
    words = _memory(view, setting, value) or (text if risk is not Risk.NONE else "")
    return replace(change, risk_text=words, effect=effect, moves=_MOVES.get(kind, ()))


def turn(key: str) -> int:
    """When a setting is set among others: the bitmap before the array is re-created with it, the kernel's own after."""
    return 0 if key in ("bitmap", "consistency_policy") else 1 if key in GEOMETRY else 2


def with_bitmap(view: ArrayView, value: str) -> ArrayView:
    """The view after its bitmap was set to `none` or `internal`; the kernel tells of the latter where it lies."""
    location = {"none": "none"}.get(value, "+8")
    return replace(view, array=replace(view.array, attributes={**view.array.attributes, "bitmap/location": location}))


def identity_for(key: str, identity: Identity) -> Identity:
    """What stays the same over the change and back: a reshape may round the size, making anew gives another disk."""
    return replace(identity, size_bytes=None, diskseq=None) if key in GEOMETRY else identity


def way_of(view: ArrayView, key: str, value: str) -> Way:
    """How this value comes about."""
    offers = chunk_offers(view.array) if key == "chunk_size" else layout_offers(view.array)
    return next((offer.way for offer in offers if offer.value == value), Way.RESHAPE)


def sysfs_path(name: str, key: str) -> str:
    """The file of a setting."""
    found = member_of(key)
    return f"/sys/block/{name}/md/{key if found is None else f'dev-{found[1]}/state'}"


def kernel_word(key: str, value: str) -> str:
    """The text the kernel wants."""
    kind = key.partition(".")[0]
    if kind in ON_OFF and value in ("off", "on"):
        return ON_OFF[kind][value == "on"]
    if kind == "safe_mode_delay" and value.isdigit():
        return f"{int(value) // 1000}.{int(value) % 1000:03d}"
    return value


def _policy(view: ArrayView, kind: str, value: str) -> Write:
    """A bitmap that comes back has the chunks it had."""
    option = "bitmap" if kind == "bitmap" else "consistency-policy"
    words = [f"--{option}={value}"]
    own = view.array.attributes
    size = own.get("bitmap/chunksize", "")
    if kind == "bitmap" and value == "internal" and own.get("bitmap/location") != "none" and size.isdigit():
        words += [f"--bitmap-chunk={int(size) // 1024}K"] if int(size) >= 1024 else []
    return Write(argv=(view.mdadm or "mdadm", "--grow", *words, view.device))


def _grow(view: ArrayView, kind: str, value: str, beside: Beside) -> Write:
    words = [f"--chunk={int(value) // 1024}K" if kind == "chunk_size" else f"--layout={value}"]
    words += [f"--backup-file={beside.backup}"] if beside.backup is not None else []
    return Write(argv=(view.mdadm or "mdadm", "--grow", *words, view.device))


def _anew(view: ArrayView, kind: str, value: str, beside: Beside) -> tuple[Write, ...]:
    steps = recreation(
        view.array,
        mdadm=view.mdadm or "mdadm",
        device=view.device,
        name=beside.properties.get("MD_NAME"),
        chunk=int(value) if kind == "chunk_size" else None,
        layout=value if kind == "layout" else None,
    )
    if isinstance(steps, str):
        raise BlockedError(f"{view.device} cannot be created again exactly: {steps}.")
    return tuple(Write(argv=argv) for argv in steps)


def _risk(wish: Wanted) -> Risk:
    """The risk of this value on an array."""
    if wish.setting.key == "safe_mode_delay":
        return wish.setting.risk if wish.value == "0" else Risk.NONE
    if wish.setting.key == "sync_speed_min":
        return Risk.NONE if wish.value == "system" else wish.setting.risk
    return wish.risk


def _loss(beside: Beside) -> str:
    """What is lost, by name."""
    found = [f"{one.kind} {one.label or one.uuid or ''}".strip() for one in beside.contents]
    there = f" ({', '.join(found[:4])})" if found else ""
    return (
        f"The array is taken apart and re-created of the same members: everything on it{there} is lost, and again when "
        "this is undone. A resync follows."
    )


def _slow(view: ArrayView, beside: Beside) -> str:
    """What a reshape means for those who use the array."""
    words = ["The array stays usable but slow until the reshape has ended, and the change cannot be taken back before."]
    words.append(hours_text(view.array, view.speed_kib))
    if view.array.level_word == "raid0":
        words.append("Meanwhile the kernel runs it as a degraded RAID 4; mdadm makes it a RAID 0 again at the end.")
    if beside.backup is not None:
        words.append(f"After a crash, {beside.backup} is needed to go on: keep it until the reshape has ended.")
    return " ".join(words)


def _memory(view: ArrayView, setting: Setting, value: str) -> str:
    """What the stripe cache takes."""
    if setting.key != "stripe_cache_size" or not view.outline.disks:
        return ""
    return f"The stripe cache takes {size_words(int(value) * view.outline.disks * view.outline.page_bytes)} of memory."
