"""Disks of the rack that give no answer or are slow, and the programs that wait for them."""

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
"""After which the disk has answered all the same."""

STATE = "hung"
"""The state of a rack; `hung:sdn` for another disk than its usual one."""

SLOW_STATE = "slow-disk"
"""The same of a disk that takes longer."""

SLOWER = 1.3
"""Times as long as its siblings it takes."""

_USUAL = {(STATE, "linux"): "sde", (SLOW_STATE, "linux"): "sdf"}
"""Members of an array of which nothing else is made, by state and rack."""

_REJECTED = re.compile(r'"r\|\^/dev/([A-Za-z0-9]+)\$\|"')
_EVERY, _LVM, _ZFS, _NAMED = (
    ("lsblk",),
    ("lvs", "pvs", "lvchange", "lvconvert", "lvcreate", "lvremove"),
    ("zpool", "zfs"),
    ("blkid", "wipefs", "mdadm"),
)


def hung_disk(rack: Rack) -> str:
    """Kernel name of the disk that does not answer; "" where all do."""
    return _disk(rack, STATE)


def slow_down(rack: Rack, disk: str, drive: DriveType) -> DriveType:
    """Return how fast a disk is in the states of the rack."""
    if disk != _disk(rack, SLOW_STATE):
        return drive
    longer = {
        name: getattr(drive, name) * SLOWER for name in ("read_us", "write_us", "read_alone_us", "write_alone_us")
    }
    return replace(drive, read_mbps=drive.read_mbps / SLOWER, write_mbps=drive.write_mbps / SLOWER, **longer)


def answer_delay(rack: Rack, device: str) -> float:
    """Return the seconds until a disk, or what is built on it, answers the first request."""
    disk = hung_disk(rack)
    return SECONDS if disk and device in disk_and_arrays(rack, disk) else 0.0


def _disk(rack: Rack, wanted: str) -> str:
    state = next((state for state in rack.states if state.partition(":")[0] == wanted), "")
    return state.partition(":")[2] or _USUAL.get((wanted, rack.name), "") if state else ""


def rejected_devices(args: Sequence[str]) -> frozenset[str]:
    """Return the kernel names of devices that LVM was told to leave alone."""
    return frozenset(_REJECTED.findall(" ".join(args)))


def disk_and_arrays(rack: Rack, disk: str) -> frozenset[str]:
    """Return the kernel names of the disk and of all arrays on it."""
    arrays = {name for name, array in rack.md.items() if any(member.name == disk for member in array.members)}
    return frozenset({disk, *arrays})


def wait_seconds(rack: Rack, command: Command) -> float:
    """Return how long a program waits for the disk."""
    disk, tool = hung_disk(rack), command.argv[0].rsplit("/", 1)[-1]
    if not disk:
        return 0.0
    under = disk_and_arrays(rack, disk)
    pooled = any(disk in mirror for pool in rack.pools.values() for mirror in pool.mirrors)
    grouped = any(device in under for group in rack.lvm.values() for device in group.places)
    named = any(re.fullmatch(rf"/dev/{name}(p?\d+)?", word) for name in under for word in command.argv[1:])
    waits = (
        tool in _EVERY
        or (tool in _LVM and disk not in rejected_devices(command.argv))
        or (tool in _ZFS and pooled)
        or (tool == "dmsetup" and grouped)
        or (tool in _NAMED and named)
    )
    return SECONDS if waits else 0.0


def stall_error(rack: Rack, command: Command) -> ToolTimeoutError:
    """Return the error for a program that was not waited for any longer, as the local host raises it."""
    disk, tool = hung_disk(rack), command.argv[0].rsplit("/", 1)[-1]
    return ToolTimeoutError(
        f"{tool}: no answer in {command.stall:g} s, /dev/{disk} has ended none of the requests that wait for it.",
        hint="The kernel log says what is wrong with it.",
        evidence=command.shown(),
        devices=(disk,),
    )
