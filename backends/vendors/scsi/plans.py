"""Steps of a change and of its undo. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from re import Pattern

from backends.change import Change, ChangeStep
from backends.change_steps import RequestedValue, is_restorable_value
from backends.settings import Persistence, Reading, Risk, Setting
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.readings import View
from backends.vendors.scsi.sdparm import Field
from backends.vendors.scsi.settings import BITS, OPTIONS

SAVED = "saved"
"""Key of the companion (value restored along with a setting) for the value that a SCSI drive keeps without power."""

_MOVES_DISK = ("write_cache", "read_ahead_kb", "max_sectors_kb")
"""Settings of the kernel's disk that the sd driver may reset when the drive's write cache is switched
(drivers/scsi/sd.c).
"""

_ON_OFF = re.compile("on|off")

_CACHE_TYPES = {
    ("write back", "off"): "write through",
    ("write through", "on"): "write back",
    ("write back, no read (daft)", "off"): "none",
    ("none", "on"): "write back, no read (daft)",
}
"""New cache_type of the sd driver, by its current value and the wanted write cache. cache_type also includes the read
cache.
"""


def finished(view: View, request: RequestedValue, change: Change) -> Change:
    """Return the change with its risk on this drive, and with the drive's saved value as a companion."""
    key = request.setting.key
    guarded = key == "drive_cache" and request.value == "on" and view.protection is not None
    risk = Risk.PERFORMANCE if guarded else _risk(request)
    text = request.setting.risk_text if risk is not Risk.NONE else ""
    if guarded:
        text = f"The drive has power-loss protection: {view.protection}."
    moves = _MOVES_DISK if key == "drive_cache" else ()
    change = replace(change, risk=risk, risk_text=text, companions=companions_now(view, key), moves_disk=moves)
    return replace(change, persistence=Persistence.STORED) if _saveable(view, key) else change


def companions_now(view: View, key: str) -> dict[str, str]:
    """Return the value that the drive keeps without power, if any, as a companion. The current value may differ."""
    bit = _bit(view, key)
    if bit is None or bit.saved is None or not _saveable(view, key):
        return {}
    return {SAVED: "on" if bit.saved is not BITS[key][1] else "off"}


def legal_companions(view: View, key: str) -> dict[str, Pattern[str]]:
    """Return patterns of the values that may be restored along with the setting `key`."""
    return {SAVED: _ON_OFF} if view.disk.kind is Kind.SCSI and key in BITS else {}


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Validate `value` as an old value to restore, and return it. Any acoustic level is legal.

    Raises InvalidValueError.
    """
    level = setting.key == "acoustic" and value.isascii() and value.isdigit() and len(value) < 4 and int(value) < 256
    return value if level else is_restorable_value(setting, now, value)


def steps(view: View, key: str, value: str) -> tuple[ChangeStep, ...]:
    """Return the steps that set a value and make the kernel notice it."""
    disk = view.disk
    if key == "queue_depth":
        return (ChangeStep(path=disk.device_file("queue_depth"), text=value),)
    if view.tool is None:
        return (_set_kernel_cache_type(disk, value),)
    if disk.kind is Kind.ATA:
        word = {"on": "1", "off": "0"}.get(value, value)
        step = ChangeStep(argv=(view.tool, f"{OPTIONS[key]}{word}", disk.node.device))
    else:
        step = _set_bit(view, key, value, save=_saveable(view, key))
    return (step, *_look_again(disk, key))


def way_back(view: View, key: str, before: str, companions: Mapping[str, str]) -> tuple[ChangeStep, ...]:
    """Return the steps that restore the value `before`, and the drive's saved value in `companions`."""
    if view.disk.kind is not Kind.SCSI or key not in BITS or view.tool is None:
        return steps(view, key, before)
    saved = companions.get(SAVED) if view.saves else None
    first = (_set_bit(view, key, saved, save=True),) if saved is not None else ()
    then = (_set_bit(view, key, before, save=False),) if saved != before else ()
    return (*first, *then, *_look_again(view.disk, key))


def _set_bit(view: View, key: str, value: str, *, save: bool) -> ChangeStep:
    name, inverted = BITS[key]
    bit = int((value == "on") is not inverted)
    saving = ("--save",) if save else ()
    return ChangeStep(argv=(view.tool or "sdparm", f"--set={name}={bit}", *saving, view.disk.node.device))


def _look_again(disk: Disk, key: str) -> tuple[ChangeStep, ...]:
    """Return the rescan by which the sd driver notices that the cache was switched; empty with libata, which needs
    none.
    """
    if key != "drive_cache" or disk.libata:
        return ()
    return (ChangeStep(path=disk.device_file("rescan"), text="1"),)


def _set_kernel_cache_type(disk: Disk, value: str) -> ChangeStep:
    """Return the step that writes cache_type. The sd driver then sets the drive's cache and assumes this cache mode."""
    now = disk.cache_type or ""
    plain = {"on": "write back", "off": "write through"}
    same = now if disk.caches_by_kernel is (value == "on") else plain[value]
    return ChangeStep(path=disk.cache_path, text=_CACHE_TYPES.get((now, value), same))


def _bit(view: View, key: str) -> Field | None:
    if view.disk.kind is not Kind.SCSI or view.tool is None or key not in BITS:
        return None
    return view.fields.get(BITS[key][0])


def _saveable(view: View, key: str) -> bool:
    """Return whether the drive can save the value of `key`: it reports a saved value, and saving has not failed
    before.
    """
    bit = _bit(view, key)
    return bit is not None and bit.saved is not None and view.saves


def _risk(request: RequestedValue) -> Risk:
    """Return the risk of this value. Changing a level is a risk only if it is lowered."""
    level = request.setting.key in ("queue_depth", "apm")
    return Risk.NONE if level and not _lower(request.now.now, request.value) else request.risk


def _lower(before: str | None, value: str) -> bool:
    """Return whether a level is lowered. An unknown old level counts as higher."""
    return before is None or not before.isdigit() or int(value) < int(before)
