"""Parameters of the kernel module zfs: declaration, reading and restoring. Source: zfs(4) of 2.1. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from re import Pattern

from backends.change import ChangeStep
from backends.change_steps import is_restorable_value, order_by_bounds
from backends.errors import InvalidValueError
from backends.settings import Availability, Reading, Risk, Setting, Span, check_value, offer
from backends.sizes import size_words
from backends.text import clean
from backends.topology.tree import number
from backends.units import number_in_unit
from backends.values import dataclass

FOLDER = "/sys/module/zfs/parameters/"
AUTOMATIC = "0"
"""Value of an ARC limit with which ZFS itself chooses the limit."""

IN_FORCE = "in_force"
"""Key of the companion (value restored along with a setting) with the limit in bytes that ZFS had chosen."""

_BYTES = re.compile(r"[0-9]{1,19}")

LEAST_MAX, LEAST_MIN = 64 << 20, 32 << 20
"""Smallest maximum and smallest minimum of the ARC in bytes.

ZFS ignores smaller values (module/zfs/arc.c: arc_tuning_update, MIN_ARC_MAX).
"""

_SLOW = "The parameter affects every pool of the host."
_parameter = partial(Setting, risk=Risk.PERFORMANCE, risk_text=_SLOW)

ARC_MAX = _parameter(
    key="zfs_arc_max",
    label="ARC, at most",
    help="Maximum size of the cache of all pools. With 0 ZFS uses half of the memory. A smaller limit frees memory "
    "slowly. An invalid limit is stored but has no effect. (zfs(4), zfs_arc_max)",
    unit="bytes",
)
ARC_MIN = _parameter(
    key="zfs_arc_min",
    label="ARC, at least",
    help="Minimum size of the cache under memory pressure. With 0 ZFS uses 1/32 of the memory. (zfs(4), zfs_arc_min)",
    unit="bytes",
)
DIRTY_MAX = _parameter(
    key="zfs_dirty_data_max",
    label="Unwritten data",
    help="Maximum amount of unwritten data in memory. Writers are slowed from 60 % of it on and blocked at 100 %. "
    "(zfs(4), zfs_dirty_data_max)",
    unit="bytes",
)
PREFETCH = _parameter(
    key="zfs_prefetch_disable",
    label="Prefetch",
    help="Whether sequential streams are detected and read ahead. (zfs(4), zfs_prefetch_disable)",
    choices=(
        offer("0", "Sequential streams are read ahead.", label="on"),
        offer("1", "Only the requested data is read.", label="off"),
    ),
)
NOPREFETCH = _parameter(
    key="l2arc_noprefetch",
    label="Prefetched data on L2ARC",
    help="Whether unused prefetched data is stored on the cache devices. (zfs(4), l2arc_noprefetch)",
    choices=(
        offer("0", "Prefetched data is stored on the cache devices as well.", label="kept"),
        offer("1", "Prefetched data is not stored on the cache devices.", label="not kept"),
    ),
)


def _active(name: str, label: str) -> Setting:
    return _parameter(
        key=f"zfs_vdev_{name}_active",
        label=f"{label}, per device",
        help=f"Limit of requests in flight on each device of a pool: {label[0].lower()}{label[1:]}. More requests "
        "increase throughput, but also the latency of "
        f"other I/O on the device. (zfs(4), zfs_vdev_{name}_active)",
        unit="requests",
    )


TXG_TIMEOUT = _parameter(
    key="zfs_txg_timeout",
    label="Transaction group",
    help="Maximum number of seconds until written data goes to the disks. (zfs(4), zfs_txg_timeout)",
    unit="s",
)
_COUNTS = (
    TXG_TIMEOUT,
    _active("sync_read_max", "Synchronous reads"),
    _active("sync_write_max", "Synchronous writes"),
    _active("async_read_max", "Prefetch reads"),
    _active("async_write_min", "Minimum background writes"),
    _active("async_write_max", "Maximum background writes"),
    _active("scrub_max", "Reads of a scrub"),
)
"""Settings that are whole numbers of at least 1."""
_UNITS = {setting.key: setting.unit for setting in _COUNTS}

PARAMETERS = (ARC_MAX, ARC_MIN, DIRTY_MAX, PREFETCH, NOPREFETCH, *_COUNTS)
"""All parameters in display order."""

_LIMITS = {ARC_MAX.key: "c_max", ARC_MIN.key: "c_min"}
"""Name of the ARC's counter that has the effective limit, by key of the parameter."""

_MISSING = Availability(why_not="this version of the module does not have this parameter")
_POWERS = tuple(1 << power for power in range(25, 44))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleView:
    """Current state of the module."""

    texts: Mapping[str, str]
    """Parameter values, by name."""
    refusals: Mapping[str, str | None]
    """Why a parameter cannot be written, by name; None if a write may be tried."""
    arc: Mapping[str, int]
    """Counters of the ARC."""
    memory_bytes: int | None
    """Memory of the host in bytes; None if it is unknown."""
    version: str | None
    """Version of the module."""


def parameter_readings(view: ModuleView) -> dict[str, Reading]:
    """Return the reading of every parameter, in display order."""
    return {setting.key: _reading(setting, view) for setting in PARAMETERS}


def _reading(setting: Setting, view: ModuleView) -> Reading:
    key = setting.key
    raw = view.texts.get(key)
    if raw is None:
        return Reading(now=None, availability=_MISSING)
    now = number(raw)
    word = str(now) if now is not None else "unknown"
    common = Reading(now=word, raw=clean(raw, 40), availability=Availability(why_not=view.refusals.get(key)))
    if setting.choices:
        return replace(common, choices=setting.choices)
    if key in _UNITS:
        low, high = _range(key, view)
        span = Span(minimum=min(low, now or low), maximum=max(high, now or 0), unit=_UNITS[key])
        return replace(common, span=span)
    heeded = view.arc.get(_LIMITS.get(key, ""))
    low, high = _between(key, view)
    sizes = {size for size in _POWERS if low <= size <= high} | {size for size in (now, heeded) if size is not None}
    choices = tuple(offer(str(size), "Size in bytes.", label=_label(key, size)) for size in sorted(sizes))
    if heeded is None or heeded == now:
        return replace(common, choices=choices)
    why = "0: chosen by ZFS" if now == 0 else "ZFS ignores a limit that conflicts with the other limit"
    return replace(common, choices=choices, effective=str(heeded), why_effective=why, follows=now == 0)


def _label(key: str, size: int) -> str:
    return "automatic" if size == 0 and key in _LIMITS else size_words(size)


def _range(key: str, view: ModuleView) -> tuple[int, int]:
    """Return the smallest and the largest valid value of a parameter.

    The minimum of background writes never exceeds their maximum.
    """
    low, high = 1, 300 if key == TXG_TIMEOUT.key else 1000
    if key == "zfs_vdev_async_write_min_active":
        high = number(view.texts.get("zfs_vdev_async_write_max_active")) or high
    if key == "zfs_vdev_async_write_max_active":
        low = number(view.texts.get("zfs_vdev_async_write_min_active")) or low
    return low, max(low, high)


def _between(key: str, view: ModuleView) -> tuple[int, int]:
    """Return the smallest and the largest size in bytes that ZFS accepts for a parameter instead of ignoring it."""
    memory = view.memory_bytes or 0
    if key == ARC_MAX.key:
        return max(LEAST_MAX, view.arc.get("c_min", 0) + 1), memory - 1
    if key == ARC_MIN.key:
        return LEAST_MIN, view.arc.get("c_max", memory // 2)
    return LEAST_MIN, memory // 4


def legal_parameter(view: ModuleView, setting: Setting, now: Reading, value: str) -> str:
    """Return the value in canonical form. Any size that ZFS does not ignore is valid. Raises InvalidValueError."""
    size = number_in_unit(value, setting.unit)
    if setting.unit != "bytes" or size is None or any(choice.value == str(size) for choice in now.choices):
        return check_value(setting, now, value)
    low, high = _between(setting.key, view)
    if not low <= size <= high:
        raise InvalidValueError(
            f"{setting.key} cannot be {size} here.",
            hint=f"Valid values: from {low} to {high} bytes. ZFS ignores other values.",
        )
    return str(size)


_BOUNDS = (
    ("zfs_vdev_async_write_min_active", "zfs_vdev_async_write_max_active"),
    (ARC_MIN.key, ARC_MAX.key),
)
"""Pairs of parameters: the value of the first must not exceed the value of the second."""


def order_parameters(view: ModuleView, values: Mapping[str, str]) -> list[str]:
    """Return the keys of `values` in an order in which each value is valid when it is written."""
    limits = {key: str(view.arc[name]) for key, name in _LIMITS.items() if name in view.arc}
    return order_by_bounds(values, {**view.texts, **limits}, *_BOUNDS)


def with_parameter(view: ModuleView, key: str, value: str) -> ModuleView:
    """Return the view as it will be after `key` was set to `value`.

    If `value` lets ZFS choose an ARC limit, the effective limit does not change.
    """
    limit = {_LIMITS[key]: int(value)} if key in _LIMITS and value != AUTOMATIC else {}
    return replace(view, texts={**view.texts, key: value}, arc={**view.arc, **limit})


def parameter_before(setting: Setting, now: Reading, value: str) -> str:
    """Validate `value` as an old value to restore, and return it. It may be 0, or a size that ZFS ignores.

    Raises InvalidValueError.
    """
    if setting.unit == "bytes" and number(value) is not None:
        return value
    return is_restorable_value(setting, now, value)


def parameter_steps(key: str, value: str, companions: Mapping[str, str]) -> tuple[ChangeStep, ...]:
    """Return the steps that set a parameter.

    If a limit becomes automatic again, it is first set to the limit that ZFS had chosen, because writing 0 does not
    change the effective limit (arc_tuning_update).
    """
    last = ChangeStep(path=FOLDER + key, text=value)
    limit = companions.get(IN_FORCE)
    return (ChangeStep(path=FOLDER + key, text=limit), last) if value == AUTOMATIC and limit is not None else (last,)


def limit_in_force(view: ModuleView, key: str) -> dict[str, str]:
    """Return the effective limit of an ARC parameter as a companion (`IN_FORCE`); empty for other parameters."""
    limit = view.arc.get(_LIMITS.get(key, ""))
    return {} if limit is None else {IN_FORCE: str(limit)}


def companions_now(view: ModuleView, key: str) -> dict[str, str]:
    """Return the effective ARC limit as a companion (`IN_FORCE`) if ZFS has chosen it; otherwise an empty mapping."""
    return limit_in_force(view, key) if view.texts.get(key) == AUTOMATIC else {}


def legal_companions(key: str, value: str) -> dict[str, Pattern[str]]:
    """Return patterns of the values that may be restored along with the old `value` of a parameter, by key."""
    return {IN_FORCE: _BYTES} if key in _LIMITS and value == AUTOMATIC else {}
