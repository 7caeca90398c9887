"""Simulated disks that hang or are slow, and the time that programs wait for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.errors import ToolTimeoutError
from backends.host import Command
from backends.simulator.calibration import DriveType

if TYPE_CHECKING:
    from backends.simulator.rack import Rack

SECONDS = 60.0
"""Seconds after which the hung disk responds again."""

STATE = "hung"
"""Name of the fault that makes a disk hang. `hung:sdn` selects a disk other than the default."""

SLOW_STATE = "slow-disk"
"""Name of the fault that makes a disk slow. `slow-disk:sdn` selects a disk other than the default."""

SLOWER = 1.3
"""Factor by which requests of the slow disk take longer."""

_USUAL = {(STATE, "linux"): "sde", (SLOW_STATE, "linux"): "sdf"}
"""Default disks by fault and host. They are members of an array that has no dependents."""

_REJECTED = re.compile(r'"r\|\^/dev/([A-Za-z0-9]+)\$\|"')
_EVERY, _LVM, _ZFS, _NAMED = (
    ("lsblk",),
    ("lvs", "pvs", "lvchange", "lvconvert", "lvcreate", "lvremove"),
    ("zpool", "zfs"),
    ("blkid", "wipefs", "mdadm"),
)


def hung_disk(rack: Rack) -> str:
    """Return the kernel name of the hung disk, or an empty string if there is none."""
    return _disk(rack, STATE)


def slow_down(rack: Rack, disk: str, drive: DriveType) -> DriveType:
    """Return the drive type `drive` of a disk, with longer times if the disk is the slow one."""
    if disk != _disk(rack, SLOW_STATE):
        return drive
    slow_times = {
        name: getattr(drive, name) * SLOWER for name in ("read_us", "write_us", "read_alone_us", "write_alone_us")
    }
    return replace(drive, read_mbps=drive.read_mbps / SLOWER, write_mbps=drive.write_mbps / SLOWER, **slow_times)


def answer_delay(rack: Rack, device: str) -> float:
    """Return the seconds until a device completes its first request: more than 0 for the hung disk and arrays on it."""
    disk = hung_disk(rack)
    return SECONDS if disk and device in disk_and_arrays(rack, disk) else 0.0


def _disk(rack: Rack, kind: str) -> str:
    """Return the kernel name of the disk that the host's fault `kind` affects, or an empty string."""
    state = next((state for state in rack.states if state.partition(":")[0] == kind), "")
    return state.partition(":")[2] or _USUAL.get((kind, rack.name), "") if state else ""


def rejected_devices(args: Sequence[str]) -> frozenset[str]:
    """Return the kernel names of the devices that the LVM filter in these arguments excludes."""
    return frozenset(_REJECTED.findall(" ".join(args)))


def disk_and_arrays(rack: Rack, disk: str) -> frozenset[str]:
    """Return the kernel names of a disk and of all arrays on it."""
    arrays = {name for name, array in rack.md.items() if any(member.name == disk for member in array.members)}
    return frozenset({disk, *arrays})


def wait_seconds(rack: Rack, command: Command) -> float:
    """Return how many seconds a program waits for the hung disk."""
    disk, tool = hung_disk(rack), command.argv[0].rsplit("/", 1)[-1]
    if not disk:
        return 0.0
    under = disk_and_arrays(rack, disk)
    pooled = any(disk in mirror for pool in rack.pools.values() for mirror in pool.mirrors)
    grouped = any(device in under for group in rack.lvm.values() for device in group.places)
    names_disk = any(re.fullmatch(rf"/dev/{name}(p?\d+)?", word) for name in under for word in command.argv[1:])
    waits = (
        tool in _EVERY
        or (tool in _LVM and disk not in rejected_devices(command.argv))
        or (tool in _ZFS and pooled)
        or (tool == "dmsetup" and grouped)
        or (tool in _NAMED and names_disk)
    )
    return SECONDS if waits else 0.0


def stall_error(rack: Rack, command: Command) -> ToolTimeoutError:
    """Return the error that the local host raises for a program that stalls."""
    disk, tool = hung_disk(rack), command.argv[0].rsplit("/", 1)[-1]
    return ToolTimeoutError(
        f"{tool} made no progress for {command.stall:g} s: /dev/{disk} has completed no pending request.",
        hint="Read the kernel log for the cause.",
        evidence=command.shown(),
        devices=(disk,),
    )
