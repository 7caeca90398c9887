"""Meanings of numbers in a MegaRAID controller's answers, from FreeBSD's mfireg.h and megaraid_sas.h. No I/O."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from backends.model import State
from backends.vendors._cards import UNKNOWN, BackgroundOperation, ReportedValue
from backends.vendors.megaraid.facts import CacheProtection, Policies

OPERATIONS: Mapping[str, int] = {
    "read_ahead": 0x01,
    "write_cache": 0x02,
    "io_policy": 0x04,
    "access_policy": 0x08,
    "drive_cache": 0x10,
}
"""Bits of `ld_ops` that state whether the controller can change a setting, by setting key."""

RATES: Mapping[str, int] = {
    "rebuild_rate": 8,
    "patrol_read_rate": 9,
    "bgi_rate": 10,
    "cc_rate": 11,
    "migrate_rate": 12,
    "cache_flush_interval": 13,
}
"""Offsets in bytes of one-byte values in `mfi_ctrl_props`, by setting key."""

WRITE_BACK_WITH_BAD_BATTERY = 0x10
"""Cache policy bit `MR_LD_CACHE_WRITE_CACHE_BAD_BBU`: write-back even with a bad battery."""

FOREIGN = 1 << 4
"""Drive type bit `MFI_PD_DDF_TYPE_IS_FOREIGN`: the drive has a foreign configuration."""

INTERFACES: Mapping[int, str] = {1: "scsi", 2: "sas", 3: "sata", 4: "fc"}
"""Interfaces by the upper four bits of a drive's type."""

LINKS: Mapping[int, str] = {1: "1.5Gb/s", 2: "3.0Gb/s", 3: "6.0Gb/s", 4: "12.0Gb/s"}
"""Negotiated link speeds by code."""

_VOLUME_STATES: Mapping[int, tuple[State, str]] = {
    0: (State.OFFLINE, "Offline"),
    1: (State.DEGRADED, "Partially Degraded"),
    2: (State.DEGRADED, "Degraded"),
    3: (State.OPTIMAL, "Optimal"),
}
_DRIVE_STATES: Mapping[int, tuple[State, str]] = {
    0x00: (State.UNASSIGNED, "Unconfigured Good"),
    0x01: (State.FAILED, "Unconfigured Bad"),
    0x02: (State.SPARE, "Hot Spare"),
    0x10: (State.OFFLINE, "Offline"),
    0x11: (State.FAILED, "Failed"),
    0x14: (State.REBUILDING, "Rebuild"),
    0x18: (State.ONLINE, "Online"),
    0x20: (State.REBUILDING, "Copyback"),
    0x40: (State.ONLINE, "JBOD"),
}
_ACCESS = {0: "read-write", 2: "read-only", 3: "blocked"}
_DRIVE_CACHE = {0: "default", 1: "on", 2: "off"}

_VOLUME_JOBS = ("consistency-check", "background-initialisation", "initialisation", "migration")
_DRIVE_JOBS = ("rebuild", "patrol-read", "clear")
_FULL = 0xFFFF

_BATTERY_TROUBLE: Mapping[int, tuple[str, str]] = {
    1 << 0: ("missing", "pack missing"),
    1 << 10: ("failed", "replace the pack"),
    1 << 1: ("failed", "voltage low"),
    1 << 11: ("degraded", "capacity low"),
    1 << 6: ("learning", "learn cycle active"),
    1 << 5: ("learning", "learn cycle requested"),
    1 << 4: ("learning", "discharging"),
    1 << 3: ("charging", "charging"),
}
"""State of the battery and description, by bit of the battery status, in order of severity.

The bits for temperature and for a failed learn cycle are not listed, because they alone do not change the state.
"""

_HARMLESS_FOR_BBU = (1 << 1, 1 << 4, 1 << 5, 1 << 6)
"""Status bits with which a BBU still protects the cache but an iBBU does not.

They are in MFI_BBU_STATE_BAD_IBBU but not in MFI_BBU_STATE_BAD_BBU.
"""

_BATTERY_KINDS = {1: "iBBU", 2: "BBU"}


def volume_state(code: int) -> tuple[State, str]:
    """Return the state of a virtual drive for an `MFI_LD_STATE_*` code, and the word of the vendor's tools for it."""
    return _VOLUME_STATES.get(code, (State.UNKNOWN, f"state {code}"))


def drive_state(code: int) -> tuple[State, str]:
    """Return the state of a drive for an `MFI_PD_STATE_*` code, and the word of the vendor's tools for it."""
    return _DRIVE_STATES.get(code, (State.UNKNOWN, f"state {code:#04x}"))


def access(code: int) -> ReportedValue:
    """Return the access policy."""
    return ReportedValue(value=_ACCESS.get(code & 3, UNKNOWN), raw=f"access {code}")


def drive_cache(code: int) -> ReportedValue:
    """Return the policy for the drive caches (`MR_PD_CACHE_*`)."""
    return ReportedValue(value=_DRIVE_CACHE.get(code, UNKNOWN), raw=f"disk cache {code}")


def policies(bits: int) -> Policies:
    """Return the cache policies (`MR_LD_CACHE_*`)."""
    raw = f"cache policy {bits:#04x}"
    write = "write-through"
    if bits & 0x01:
        write = "always-write-back" if bits & WRITE_BACK_WITH_BAD_BATTERY else "write-back"
    read = "none"
    if bits & 0x04:
        read = "adaptive" if bits & 0x08 else "read-ahead"
    return Policies(
        write_cache=ReportedValue(value=write, raw=raw),
        read_ahead=ReportedValue(value=read, raw=raw),
        io_policy=ReportedValue(value="cached" if bits & 0x60 else "direct", raw=raw),
    )


def volume_jobs(data: bytes) -> tuple[BackgroundOperation, ...]:
    """Return the running operations from `mfi_ld_progress`: a bit for each kind, then the progress of each kind."""
    return _jobs(data, _VOLUME_JOBS)


def drive_jobs(data: bytes) -> tuple[BackgroundOperation, ...]:
    """Return the operations in `mfi_pd_progress`."""
    return _jobs(data, _DRIVE_JOBS)


def _jobs(data: bytes, kinds: tuple[str, ...]) -> tuple[BackgroundOperation, ...]:
    if len(data) < 4 + 4 * len(kinds):
        return ()
    active = struct.unpack_from("<I", data)[0]
    done = (struct.unpack_from("<H", data, 4 + 4 * at)[0] for at in range(len(kinds)))
    return tuple(
        BackgroundOperation(kind=kind, progress=part / _FULL)
        for at, (kind, part) in enumerate(zip(kinds, done, strict=True))
        if active & 1 << at
    )


def backup(kind: int, status: int, temperature_c: int, milliamperes: int, millivolts: int) -> CacheProtection:
    """Return the battery from its type and status bits. The state of a battery of an unknown type is unknown."""
    named = _BATTERY_KINDS.get(kind)
    trouble = [(bit, state, word) for bit, (state, word) in _BATTERY_TROUBLE.items() if status & bit]
    raw = ", ".join(word for _, _, word in trouble) or "no complaint"
    serious = [bit for bit, _, _ in trouble if bit != 1 << 3 and not (kind == 2 and bit in _HARMLESS_FOR_BBU)]
    details = {"voltage": f"{millivolts / 1000:.2f} V", "current": f"{milliamperes} mA"}
    details["type"] = named or f"type {kind}"
    return CacheProtection(
        kind="bbu",
        state=ReportedValue(value=(trouble[0][1] if trouble else "optimal") if named else UNKNOWN, raw=raw),
        healthy=None if named is None else not serious,
        temperature_c=temperature_c or None,
        learning=bool(status & 1 << 6),
        details=details,
    )
