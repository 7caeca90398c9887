"""Readings of a volume's settings, with ranges and validation of numbers. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from backends.errors import InvalidValueError
from backends.settings import Availability, Reading, Risk, Setting, check_value, offer
from backends.sizes import size_words
from backends.topology.tree import number
from backends.units import number_in_unit
from backends.values import dataclass
from backends.vendors.lvm.facts import MISSING, WRITECACHE, lower_volumes
from backends.vendors.lvm.settings import CACHE_POLICY, DEFAULT, READ_AHEAD, RESHAPED, LvView, settings_of

_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Range of numbers that a setting may have instead of `default`."""

    low: int
    """Smallest number."""
    high: int
    """Largest number."""
    steps: tuple[int, ...]
    """Offered numbers. Any other number in the range is valid too."""
    default: int | None = None
    """Number that applies if none is set; None if it is unknown or no number."""


_BEFORE = re.compile(r"\d{1,10}", re.ASCII)
_POLICIES = ("smq", "mq", "cleaner")

_WRITECACHE = {
    "writeback_jobs": Numbers(low=1, high=1 << 20, steps=(16, 64, 256, 1024, 4096)),
    "autocommit_blocks": Numbers(low=1, high=_MOST, steps=(64, 1024, 16_384, 65_536, 262_144), default=65_536),
    "autocommit_time": Numbers(low=1, high=3_600_000, steps=(100, 500, 1000, 5000, 10_000), default=1000),
}
"""Legal numbers of dm-writecache's tunables (drivers/md/dm-writecache.c, writecache_ctr)."""

_HIGH, LOW_WATERMARK = 50, 45
"""Default watermarks of the kernel in percent (drivers/md/dm-writecache.c)."""

RATES = {"min_recovery_rate": "raid_min_recovery_rate", "max_recovery_rate": "raid_max_recovery_rate"}
"""Column of lvs for each rate, in KiB/s. It is 0 or empty if no rate is set."""

_RISKS = {"write_behind": Risk.POWER_LOSS, "min_recovery_rate": Risk.PERFORMANCE}
"""Risk of setting a number, by key of the setting. Numbers of other settings have no risk."""

_SPEEDS = (1000, 5000, 10_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
_AHEAD_MOST = 1 << 20
_BEHIND_MOST = 32_766
"""Maximum number of write-behind requests: dm-raid rejects a number whose half exceeds COUNTER_MAX of md-bitmap.h
(drivers/md/dm-raid.c).
"""


def numbers(key: str, view: LvView) -> Numbers | None:
    """Return the range of numbers that a setting may have on this volume; None if its values are no numbers."""
    volume = view.volume
    if key == "migration_threshold":
        least = 8 * (volume.number("chunk_size") or 65_536) // 512
        return Numbers(low=least, high=1 << 24, steps=(2048, 4096, 8192, 16_384, 65_536), default=max(2048, least))
    if key == "high_watermark":
        low = number(volume.settings.get("low_watermark")) or LOW_WATERMARK
        return Numbers(low=max(1, min(low, 100)), high=100, steps=(50, 60, 70, 80, 90, 95), default=_HIGH)
    if key == "low_watermark":
        high = number(volume.settings.get("high_watermark")) or _HIGH
        return Numbers(low=0, high=min(high, 100), steps=(10, 20, 30, 40, 45, 60, 80), default=LOW_WATERMARK)
    if key in ("min_recovery_rate", "max_recovery_rate"):
        other = "max" if key.startswith("min") else "min"
        bound = volume.number(RATES[f"{other}_recovery_rate"])
        low, high = (1, bound or _MOST) if other == "max" else (bound or 1, _MOST)
        return Numbers(low=low, high=high, steps=_SPEEDS)
    if key == "write_behind":
        return Numbers(low=1, high=_BEHIND_MOST, steps=(256, 1024, 4096, 16_384))
    return _WRITECACHE.get(key)


def wanted_value(view: LvView, setting: Setting, now: Reading, value: str) -> str:
    """Return a value in canonical form. A number need not be one of those offered. Raises InvalidValueError."""
    wanted_number = number_in_unit(value, setting.unit)
    if setting.key == READ_AHEAD.key and wanted_number is not None:
        step = view.page_bytes // 1024
        if not 0 < wanted_number <= _AHEAD_MOST or wanted_number % step:
            hint = f"Valid values: `auto`, `none`, or from {step} to {_AHEAD_MOST} KiB in steps of {step}."
            raise InvalidValueError(f"{setting.key} cannot be {wanted_number} here.", hint=hint)
        return str(wanted_number)
    legal = numbers(setting.key, view)
    if legal is None or wanted_number is None:
        return check_value(setting, now, value)
    if not legal.low <= wanted_number <= legal.high:
        hint = f"Valid values: `default`, or from {legal.low} to {legal.high} {setting.unit}".rstrip() + "."
        raise InvalidValueError(f"{setting.key} cannot be {wanted_number} here.", hint=hint)
    return str(wanted_number)


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Validate `value` as an old value to restore, and return it. Any number, `mq` and `cleaner` are legal.

    Raises InvalidValueError.
    """
    numeric = any(number(choice.value) is not None for choice in now.choices)
    was_settable = _BEFORE.fullmatch(value) if numeric else value in _POLICIES and setting.key == CACHE_POLICY.key
    return value if was_settable else check_value(setting, now, value)


MODES = {"writethrough": "write-through", "writeback": "write-back", "passthrough": "passthrough"}
"""Values of raidbench for LVM's cache modes."""

ALIASES = {"mq": "smq"}
"""Cache policies with two names: alias, and the policy that it selects (dm-cache-policy-smq.c registers both)."""

RELOAD = "Run `lvchange --refresh {address}` to load it"
"""Hint for the case that the kernel uses a different value from the one that LVM has stored."""

_AHEAD_KIB = (128, 256, 512, 1024, 2048, 4096, 8192)
"""Values of the read-ahead that are offered, in KiB. Other values are valid too."""

STRIPES = tuple(1 << power for power in range(14, 21))
"""Stripe sizes that are offered, in bytes: 16 KiB to 1 MiB."""


def readings(view: LvView) -> dict[str, Reading]:
    """Return the reading of every setting of the volume, in display order."""
    against = _blocked_reason(view)
    by_key = {setting.key: _reading(setting.key, view) for setting in settings_of(view.traits)}
    return {
        key: replace(reading, availability=Availability(why_not=against)) if against is not None else reading
        for key, reading in by_key.items()
    }


def reading_for_undo(view: LvView, key: str) -> Reading:
    """Return the reading of a setting for an undo. It allows restoring a cache policy that is not offered now."""
    reading = readings(view)[key]
    if key != "cache_policy":
        return reading
    return replace(reading, availability=Availability(why_not=_blocked_reason(view)))


def _blocked_reason(view: LvView) -> str | None:
    """Return why no setting of the volume can be changed, or None."""
    if view.why_not is not None:
        return view.why_not
    if view.silent:
        return view.silent
    volume = view.volume
    if view.lvchange is None:
        return "lvchange is not installed"
    if not volume.is_active:
        return f"it is not active: lvchange --activate y {volume.address}"
    lacks_disk = any(MISSING in lv_facts.places for lv_facts in lower_volumes(volume, view.group))
    if lacks_disk or volume.columns.get("lv_health_status"):
        return f"it is incomplete ({volume.columns.get('lv_health_status', 'a physical volume is missing')})"
    if volume.blocks_to_flush is not None:
        return f"{flush_text(view)}. Wait until it ends"
    return None


def flush_text(view: LvView) -> str:
    """Return a clause about the flush in progress, with the remaining size."""
    volume = view.volume
    left = (volume.blocks_to_flush or 0) * (volume.number("chunk_size") or 0)
    return f"its cache is being flushed, {size_words(left)} are left" if left else "its cache is being flushed"


def _reading(key: str, view: LvView) -> Reading:
    kind = key.partition(".")[0]
    if (legal := numbers(key, view)) is not None:
        return _numeric(key, view, legal)
    return _OWN[kind](view, key.partition(".")[2])


def _numeric(key: str, view: LvView, legal: Numbers) -> Reading:
    volume = view.volume
    columns = {"write_behind": "raid_write_behind", **RATES}
    raw = volume.columns.get(columns[key]) if key in columns else volume.settings.get(key)
    present = number(raw)
    now = "unknown" if present is None else str(present)
    now = DEFAULT if raw is None or (key in columns and present == 0) else now
    force, why = _in_force(key, view, None if now == DEFAULT else present)
    steps = {step for step in legal.steps if legal.low <= step <= legal.high} | ({present} if present else set())
    label = DEFAULT if legal.default is None else f"default, {legal.default}"
    return Reading(
        now=now,
        raw=raw,
        effective=force,
        why_effective=why,
        choices=(
            offer(DEFAULT, "The default value.", label=label),
            *(offer(str(step), risk=_RISKS.get(key, Risk.NONE)) for step in sorted(steps)),
        ),
    )


def _in_force(key: str, view: LvView, present: int | None) -> tuple[str | None, str | None]:
    """Return the number that the kernel uses, and why it differs from the number that LVM stores (`present`).

    (None, None) if it does not differ.
    """
    volume, loaded = view.volume, view.loaded
    if key == "migration_threshold":
        tokens = volume.columns.get("kernel_cache_settings", "").split(",")
        has = next((number(name.partition("=")[2]) for name in tokens if name.startswith(f"{key}=")), None)
        if has is None or present is None or has == present:
            return None, None
        least = numbers(key, view)
        floor = least is not None and present < least.low
        why = "the minimum of LVM is 8 chunks" if floor else _reload(view)
        return str(has), why
    if loaded is None:
        return None, None
    if key == "write_behind":
        if present is None or loaded.write_behind is None or loaded.write_behind == present:
            return None, None
        return str(loaded.write_behind), "the kernel takes the number from the bitmap on the members"
    if loaded.kind != WRITECACHE:
        return None, None
    has = number(loaded.tunables.get(key))
    return (None, None) if has == present else (DEFAULT if has is None else str(has), _reload(view))


def _reload(view: LvView) -> str:
    return f"the kernel has not loaded the value that LVM stores. {RELOAD.format(address=view.volume.address)}"


def _mode(view: LvView, _member: str) -> Reading:
    raw = view.volume.columns.get("cache_mode")
    kernel = view.loaded.cache_mode if view.loaded is not None else None
    differs = kernel is not None and raw in MODES and kernel != raw
    loss = (
        f"If the cache device fails ({view.cache_on}), all data is lost."
        if view.cache_on
        else "If the cache device fails, all data is lost."
    )
    loss, risk = ("The cache is redundant.", Risk.NONE) if view.redundant else (loss, Risk.POWER_LOSS)
    choices = (
        offer("write-through", "A write is acknowledged when cache and slow device have it."),
        offer("write-back", f"A write is acknowledged when the cache has it. {loss}", risk=risk),
        offer("passthrough", "The cache is not used.", risk=Risk.PERFORMANCE),
    )
    why = None
    if differs:
        why = flush_text(view) if view.volume.blocks_to_flush is not None else _reload(view)
    return Reading(
        now=None if raw is None else MODES.get(raw, "unknown"),
        raw=raw,
        effective=MODES.get(kernel or "") if differs else None,
        why_effective=why,
        choices=choices,
    )


def _policy(view: LvView, _member: str) -> Reading:
    raw = view.volume.columns.get("cache_policy")
    kernel = view.volume.columns.get("kernel_cache_policy")
    differs = None not in (raw, kernel) and ALIASES.get(kernel or "", kernel) != ALIASES.get(raw or "", raw)
    names = dict.fromkeys(("smq", *((raw,) if raw in ("mq", "cleaner") else ())))
    why_not = None if len(names) > 1 or raw is None else "the kernel has no other policy"
    help_of = {
        "smq": "Keeps frequently and recently used data. It has no tunables.",
        "mq": "An alias of smq.",
        "cleaner": "Stored by LVM, but not loaded into the kernel.",
    }
    return Reading(
        now=raw if raw is None or raw in help_of else "unknown",
        raw=raw,
        effective=ALIASES.get(kernel or "", kernel) if differs else None,
        why_effective=(flush_text(view) if view.volume.blocks_to_flush is not None else _reload(view))
        if differs
        else None,
        choices=tuple(offer(name, help_of[name]) for name in names),
        availability=Availability(why_not=why_not),
    )


def _cleaner(view: LvView, _member: str) -> Reading:
    raw = view.volume.settings.get("cleaner")
    now = {None: "off", "0": "off", "1": "on"}.get(raw, "unknown")
    loaded = None if view.loaded is None or view.loaded.kind != WRITECACHE else "cleaner" in view.loaded.tunables
    differs = loaded is not None and now != "unknown" and loaded != (now == "on")
    return Reading(
        now=now,
        raw=raw,
        effective=("off", "on")[bool(loaded)] if differs else None,
        why_effective=_reload(view) if differs else None,
        choices=(
            offer("off", "Writes go to the cache."),
            offer("on", "The cache is drained.", risk=Risk.PERFORMANCE),
        ),
    )


def _ahead(view: LvView, _member: str) -> Reading:
    raw = view.volume.columns.get("lv_read_ahead")
    kernel = view.volume.number("lv_kernel_read_ahead")
    present = number(raw)
    now = raw if raw in (None, "auto") else "none" if raw == "none" or present == 0 else None
    if now is None and raw is not None:
        now = "unknown" if present is None else str(present // 1024)
    shown = None if kernel is None else kernel // 1024
    differs = shown is not None and now in ("none", str((present or 0) // 1024)) and (present or 0) // 1024 != shown
    auto = "auto" if shown is None or now != "auto" else f"auto, now {shown} KiB"
    steps = sorted({*_AHEAD_KIB, *((present // 1024,) if present else ())})
    return Reading(
        now=now,
        raw=raw,
        effective=str(shown) if differs else None,
        why_effective="the queue's read-ahead was set directly (blockdev --setra)" if differs else None,
        choices=(
            offer("auto", "LVM derives it from stripes and disks.", label=auto),
            offer("none", "Nothing is read ahead."),
            *(offer(str(step), label=f"{step} KiB") for step in steps),
        ),
    )


def _stripe(view: LvView, _member: str) -> Reading:
    volume = view.volume
    now = volume.number("stripe_size") or None
    return Reading(
        now=None if now is None else str(now),
        raw=volume.columns.get("stripe_size"),
        choices=tuple(
            offer(str(size), "All data is moved.", label=size_words(size), risk=Risk.OUTAGE)
            for size in sorted({*STRIPES, *((now,) if now else ())})
        ),
        availability=Availability(why_not=_fixed_reason(view)),
    )


def _fixed_reason(view: LvView) -> str | None:
    """Return why the stripe size cannot be changed now, or None."""
    volume = view.volume
    if volume.level not in RESHAPED:
        return f"LVM cannot move the data of a {volume.level} volume, so it must be re-created"
    if view.lvconvert is None:
        return "lvconvert is not installed"
    action = volume.columns.get("raid_sync_action")
    if action not in (None, "idle"):
        return f"a {action} is running. Wait until it ends"
    if not volume.number("vg_free"):
        return f"the group {volume.group} has no free extents, and a reshape needs some on each member"
    return None


def _mostly(view: LvView, member: str) -> Reading:
    images = [view.group[name] for name in view.volume.places if name in view.group]
    marked = {image.places[0]: image.columns.get("lv_attr", "")[8:9] == "w" for image in images if image.places}
    now = marked.get(f"/dev/{member}")
    last = now is False and sum(marked.values()) >= len(marked) - 1
    return Reading(
        now=None if now is None else "on" if now else "off",
        choices=(
            offer("off", "Read like any other member."),
            offer("on", "Read only if no other member is available."),
        ),
        availability=Availability(why_not="all other members are write-mostly" if last else None),
    )


_OWN: Mapping[str, Callable[[LvView, str], Reading]] = {
    "cache_mode": _mode,
    "cache_policy": _policy,
    "cleaner": _cleaner,
    "lv_read_ahead": _ahead,
    "stripe_size": _stripe,
    "write_mostly": _mostly,
}
