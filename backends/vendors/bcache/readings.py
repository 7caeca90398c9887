"""Conversion of file contents to a `Reading`, and of values to file contents. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.change_steps import is_restorable_value
from backends.errors import InvalidValueError
from backends.settings import Availability, Choice, Reading, Risk, Setting, Span, check_value, offer
from backends.sizes import size_words
from backends.text import clean, parse_choices
from backends.topology.tree import number
from backends.vendors.bcache.inventory import BcacheFacts, displayed_size, parse_size
from backends.vendors.bcache.settings import (
    CACHE_MODE,
    CHOICES,
    CUTOFF_MAX,
    CUTOFFS,
    SEQUENTIAL_CUTOFF,
    SETTINGS,
    SPANS,
    WRITEBACK_PERCENT,
)

NO_CACHE = "no cache is attached"

_MODES = {word: choice.value for word, choice in CHOICES[CACHE_MODE.key].items()}


def readings(device: BcacheFacts, refusals: Mapping[str, str | None], *, redundant: bool = False) -> dict[str, Reading]:
    """Return the reading of every setting.

    `refusals`: why the file of a setting cannot be written, by key. `redundant`: whether the cache survives the loss of
    a drive.
    """
    return {setting.key: _reading(device, setting.key, refusals.get(setting.key), redundant) for setting in SETTINGS}


def _reading(device: BcacheFacts, key: str, why_not: str | None, redundant: bool) -> Reading:
    raw = device.texts.get(key)
    if not device.has_cache_set and key != CACHE_MODE.key:
        why_not = NO_CACHE
    now, choices, span = _legal(key, raw, redundant)
    idle = key == CACHE_MODE.key and not device.has_cache_set and now not in (None, "none")
    return Reading(
        now=now,
        raw=clean(raw) if raw is not None else None,
        effective="none" if idle else None,
        why_effective=NO_CACHE if idle else None,
        choices=choices,
        span=span,
        availability=Availability(why_not=why_not),
    )


def _legal(key: str, raw: str | None, redundant: bool) -> tuple[str | None, tuple[Choice, ...], Span | None]:
    """Return the current value, and the legal values as choices or as a range."""
    unread = None if raw is None else "unknown"
    if key == SEQUENTIAL_CUTOFF.key:
        size = parse_size(raw)
        offered = sorted({0, *CUTOFFS, size or 0})
        return (unread if size is None else str(size)), tuple(map(_cutoff, offered)), None
    if key in SPANS:
        count, span = number(raw), SPANS[key]
        within = replace(span, maximum=max(span.maximum, count or 0))
        return (unread if count is None else str(count)), (), within
    choices_by_word = CHOICES[key]
    current = parse_choices(raw or "")[0] if "[" in (raw or "") else raw
    safe = redundant and key == CACHE_MODE.key
    choices = tuple(replace(choice, risk=Risk.NONE) if safe else choice for choice in choices_by_word.values())
    return (choices_by_word[current].value if current in choices_by_word else unread), choices, None


def _cutoff(size: int) -> Choice:
    return offer(
        str(size),
        "Longer sequential streams bypass the cache." if size else "Sequential streams are cached as well.",
        label=size_words(size) if size else "no limit",
    )


def wanted_value(setting: Setting, now: Reading, value: str) -> str:
    """Return the value in canonical form.

    The kernel's names of cache modes are accepted, and any sequential cutoff in bytes up to the maximum. Raises
    InvalidValueError, also for a number that the kernel would silently reduce.
    """
    if setting.key == SEQUENTIAL_CUTOFF.key and (size := number(value)) is not None and size <= CUTOFF_MAX:
        return str(size)
    if setting.key == CACHE_MODE.key:
        value = _MODES.get(value, value)
    most = now.span.maximum if now.span is not None and setting.key == WRITEBACK_PERCENT.key else None
    if most is not None and (count := number(value)) is not None and count > most:
        raise InvalidValueError(
            f"The kernel silently reduces {setting.key}: it would be {most}, not {count}.",
            hint=f"Valid values: from 0 to {most} %.",
        )
    return check_value(setting, now, value)


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Validate `value` as an old value to restore, and return it in canonical form. Raises InvalidValueError.

    A writeback percentage above 40 % is accepted, because it may come from a kernel with another limit.
    """
    check = wanted_value if setting.key == SEQUENTIAL_CUTOFF.key else is_restorable_value
    return check(setting, now, value)


def kernel_word(key: str, value: str) -> str:
    """Return the string to write to sysfs. Sizes are in bytes, because the kernel does not accept its own `4.0M`."""
    return next((word for word, choice in CHOICES.get(key, {}).items() if choice.value == value), value)


def value_afterwards(key: str, value: str) -> str:
    """Return the value that the kernel reports after `value` was written."""
    return str(displayed_size(int(value))) if key == SEQUENTIAL_CUTOFF.key else value
