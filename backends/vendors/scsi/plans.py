"""The steps of a change and of its way back. Pure."""

from __future__ import annotations

from dataclasses import replace

from backends.change import Change, Write
from backends.changing import Wanted
from backends.settings import Persistence, Risk
from backends.topology.naming import identity
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.readings import View
from backends.vendors.scsi.sdparm import Field
from backends.vendors.scsi.settings import BITS, OPTIONS

_CACHE_TYPES = {
    ("write back", "off"): "write through",
    ("write through", "on"): "write back",
    ("write back, no read (daft)", "off"): "none",
    ("none", "on"): "write back, no read (daft)",
}
"""The word for sd's cache_type by the present one and the wanted value: it tells of the read cache as well."""


def change(view: View, wish: Wanted, lock: str) -> Change:
    """What the wanted value takes, and what brings the present value back if that is known."""
    disk, key, now = view.disk, wish.setting.key, wish.now.now
    undo = _way_back(view, key, now or "") if now not in (None, "unknown") else ()
    guarded = key == "drive_cache" and wish.value == "on" and view.protection is not None
    risk = Risk.PERFORMANCE if guarded else _risk(wish)
    change = wish.change(_steps(view, key, wish.value), undo, identity(disk.node), lock, risk)
    if guarded:
        change = replace(change, risk_text=f"The drive has power-loss protection: {view.protection}.")
    return replace(change, persistence=Persistence.STORED) if _saveable(view, key) else change


def _steps(view: View, key: str, value: str) -> tuple[Write, ...]:
    disk = view.disk
    if key == "queue_depth":
        return (Write(path=disk.below("queue_depth"), text=value),)
    if view.tool is None:
        return (_believe(disk, value),)
    if disk.kind is Kind.ATA:
        word = {"on": "1", "off": "0"}.get(value, value)
        step = Write(argv=(view.tool, f"{OPTIONS[key]}{word}", disk.node.device))
    else:
        step = _set_bit(view, key, value, save=_saveable(view, key))
    return (step, *_look_again(disk, key))


def _way_back(view: View, key: str, before: str) -> tuple[Write, ...]:
    """A drive whose saved value is another one than its present gets both back."""
    steps = _steps(view, key, before)
    bit = _bit(view, key)
    if bit is None or not _saveable(view, key) or bit.saved is bit.now:
        return steps
    inverted = BITS[key][1]
    saved = "on" if bit.saved is not inverted else "off"
    return (
        _set_bit(view, key, saved, save=True),
        _set_bit(view, key, before, save=False),
        *_look_again(view.disk, key),
    )


def _set_bit(view: View, key: str, value: str, *, save: bool) -> Write:
    name, inverted = BITS[key]
    bit = int((value == "on") is not inverted)
    kept = ("--save",) if save else ()
    return Write(argv=(view.tool or "sdparm", f"--set={name}={bit}", *kept, view.disk.node.device))


def _look_again(disk: Disk, key: str) -> tuple[Write, ...]:
    """The sd driver learns of a switched cache when it looks again; libata does so by itself."""
    if key != "drive_cache" or disk.libata:
        return ()
    return (Write(path=disk.below("rescan"), text="1"),)


def _believe(disk: Disk, value: str) -> Write:
    """Through sd: it sends the page to the drive and then believes it."""
    now = disk.cache_type or ""
    plain = {"on": "write back", "off": "write through"}
    same = now if disk.believed is (value == "on") else plain[value]
    return Write(path=disk.cache_path, text=_CACHE_TYPES.get((now, value), same))


def _bit(view: View, key: str) -> Field | None:
    if view.disk.kind is not Kind.SCSI or view.tool is None or key not in BITS:
        return None
    return view.fields.get(BITS[key][0])


def _saveable(view: View, key: str) -> bool:
    """A drive that tells a saved value keeps one."""
    bit = _bit(view, key)
    return bit is not None and bit.saved is not None and view.saves


def _risk(wish: Wanted) -> Risk:
    """The worst that this value may do: a level does harm only where it sinks."""
    level = wish.setting.key in ("queue_depth", "apm")
    return Risk.NONE if level and not _lower(wish.now.now, wish.value) else wish.risk


def _lower(before: str | None, value: str) -> bool:
    """Whether a level sinks; from an unknown one it may."""
    return before is None or not before.isdigit() or int(value) < int(before)
