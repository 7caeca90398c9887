"""A disk of the rack that gives no answer, and the programs that wait for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.errors import ToolTimeoutError
from backends.host import Command
from backends.racks.rack import Rack

SECONDS = 60.0
"""After which the disk has answered all the same."""

STATE = "hung"
"""The state of a rack; `hung:sdn` for another disk than its usual one."""

_USUAL = {"linux": "sde"}
"""A member of an array of which nothing else is made."""

_REJECTED = re.compile(r'"r\|\^/dev/([A-Za-z0-9]+)\$\|"')
_EVERY, _LVM, _ZFS, _NAMED = (
    ("lsblk",),
    ("lvs", "pvs", "lvchange", "lvconvert", "lvcreate", "lvremove"),
    ("zpool", "zfs"),
    ("blkid", "wipefs", "mdadm"),
)


def hung_disk(rack: Rack) -> str:
    """Kernel name of the disk that does not answer; "" where all do."""
    state = next((one for one in rack.states if one.partition(":")[0] == STATE), "")
    return state.partition(":")[2] or _USUAL.get(rack.name, "") if state else ""


def rejected(words: Sequence[str]) -> frozenset[str]:
    """Kernel names of devices that LVM was told to leave alone."""
    return frozenset(_REJECTED.findall(" ".join(words)))


def on_disk(rack: Rack, disk: str) -> frozenset[str]:
    """Kernel names of the disk and of all arrays that lie on it."""
    arrays = {name for name, array in rack.md.items() if any(member.name == disk for member in array.members)}
    return frozenset({disk, *arrays})


def seconds_of(rack: Rack, command: Command) -> float:
    """How long a program waits for the disk."""
    disk, tool = hung_disk(rack), command.argv[0].rsplit("/", 1)[-1]
    if not disk:
        return 0.0
    under = on_disk(rack, disk)
    pooled = any(disk in mirror for pool in rack.pools.values() for mirror in pool.mirrors)
    grouped = any(place in under for group in rack.lvm.values() for place in group.places)
    named = any(re.fullmatch(rf"/dev/{name}(p?\d+)?", word) for name in under for word in command.argv[1:])
    waits = (
        tool in _EVERY
        or (tool in _LVM and disk not in rejected(command.argv))
        or (tool in _ZFS and pooled)
        or (tool == "dmsetup" and grouped)
        or (tool in _NAMED and named)
    )
    return SECONDS if waits else 0.0


def given_up(rack: Rack, command: Command) -> ToolTimeoutError:
    """What is said of a program that was not waited for any longer, as the local host says it."""
    disk, tool = hung_disk(rack), command.argv[0].rsplit("/", 1)[-1]
    return ToolTimeoutError(
        f"{tool}: no answer in {command.stall:g} s, /dev/{disk} has ended none of the requests that wait for it.",
        hint="The kernel log says what is wrong with it.",
        evidence=command.shown(),
        devices=(disk,),
    )
