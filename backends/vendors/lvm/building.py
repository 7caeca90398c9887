"""Making volumes in volume groups, finding them again and removing them: what LVM is asked for that."""

from __future__ import annotations

import asyncio

from backends.answers import cut_problem
from backends.changing import evidence_of, require_still_free
from backends.errors import BlockedError, ToolFailedError
from backends.host import STALL, Command, Host
from backends.making import (
    ArrayFound,
    ArrayPlan,
    ArrayStanding,
    ArrayWish,
    Candidate,
    MadeArray,
    NotItsOwnError,
)
from backends.model import Target
from backends.topology import look
from backends.vendors.lvm.asking import SECONDS, LvsAnswer, ask_lvs, words_of
from backends.vendors.lvm.facts import PVS
from backends.vendors.lvm.groups import (
    WHOLE_PVS,
    PvFacts,
    candidates_in,
    disks_twice,
    parse_pvs,
    why_no_volume,
)
from backends.vendors.lvm.inventory import NAME
from backends.vendors.lvm.making import GroupRoom, find_volume, made_target, plan_volume

TOOLS = ("lvcreate", "lvremove")
"""What makes a volume and removes it."""


async def ask_pvs(host: Host) -> tuple[PvFacts, ...]:
    """Every physical volume that is in a group, never a half of them. Raises ToolFailedError, ToolTimeoutError."""
    tool = host.which(("pvs",))
    if tool is None:
        raise ToolFailedError("pvs is not installed, so nothing is known of volume groups.", hint="Install lvm2.")
    command = Command(argv=(tool, *PVS), timeout=SECONDS, stall=STALL)
    done = await host.run(command)
    found, strange = parse_pvs(done.stdout)
    if not found and done.returncode != 0:
        if not host.is_root:
            raise ToolFailedError("LVM tells root alone of its groups.", hint="Start raidbench with sudo.")
        raise ToolFailedError(words_of(done, "pvs"), evidence=evidence_of(command, done))
    if why := WHOLE_PVS.lost(done):
        half = cut_problem(NAME, command, why)
        raise ToolFailedError(half.message, hint=half.hint, evidence=evidence_of(command, done))
    if strange:
        raise ToolFailedError(
            f"{strange} lines of pvs tell of nothing that could be understood.", evidence=evidence_of(command, done)
        )
    return found


async def group_candidates(host: Host) -> tuple[Candidate, ...]:
    """Every physical volume with its free extents. Raises ToolFailedError."""
    volumes, picture = await asyncio.gather(ask_pvs(host), look(host))
    return candidates_in(volumes, picture)


async def plan_in_group(host: Host, wish: ArrayWish, group: Target | None, *, assume_clean: bool) -> ArrayPlan:
    """lvcreate's line, as the group is now. Raises BlockedError, DeviceGoneError, RefusedError, InvalidValueError."""
    lvcreate = host.which((TOOLS[0],))
    if lvcreate is None or group is None:
        raise BlockedError("lvcreate is not installed.", hint="Install lvm2.")
    volumes, told, picture = await asyncio.gather(ask_pvs(host), _whole_lvs(host), look(host))
    require_still_free(wish, candidates_in(volumes, picture))
    own = next(pv for pv in volumes if pv.uuid == wish.drives[0].serial)
    named = [pv for pv in volumes if pv.group == own.group]
    if len({pv.group_uuid for pv in named}) > 1:
        raise BlockedError(f"Several volume groups are called {own.group}.", hint="Rename one (vgrename).")
    if why := why_no_volume(own):
        raise BlockedError(f"{why[0][:1].upper()}{why[0][1:]}.")
    inside = [one for one in told.volumes if one.group_uuid == own.group_uuid]
    room = GroupRoom(
        name=own.group,
        uuid=own.group_uuid,
        extent_bytes=own.extent_bytes,
        volumes=frozenset(one.name for one in inside),
        before=tuple(sorted(one.uuid for one in inside if not one.hidden)),
        one_disk=disks_twice([drive.place for drive in wish.drives], picture),
    )
    return plan_volume(wish, room, lvcreate=lvcreate, assume_clean=assume_clean)


async def find_in_group(host: Host, array: MadeArray) -> ArrayFound:
    """What is there now of a volume. Raises ToolFailedError, BlockedError."""
    lvremove = host.which((TOOLS[1],))
    if lvremove is None:
        raise BlockedError("lvremove is not installed.", hint="Install lvm2.")
    try:
        made_target(array)
    except NotItsOwnError as reason:
        return ArrayFound(standing=ArrayStanding.UNKNOWN, words=str(reason))
    volumes, told, picture = await asyncio.gather(ask_pvs(host), _whole_lvs(host), look(host))
    return find_volume(array, told.volumes, volumes, picture, lvremove)


async def _whole_lvs(host: Host) -> LvsAnswer:
    """All volumes. Raises ToolFailedError where these may not be all."""
    told = await ask_lvs(host)
    if told.silent is not None:
        raise told.silent
    if told.strange:
        raise ToolFailedError(f"{told.strange} lines of lvs tell of no volume that could be understood.")
    return told
