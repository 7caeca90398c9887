"""Creation of volumes in a group: commands to create and remove a volume, and the search for a created one.

lvcreate uses only free extents. With the options used here it has one prompt (LVM 2.03.16): whether to wipe an old
signature at the start of the new volume. `--yes` confirms it. Without `--yes` and with closed input, lvcreate creates
nothing and exits with status 5.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from backends.array_planning import (
    SYNC_RATE,
    ArrayMatch,
    ArrayMatchState,
    ArrayPlan,
    ArrayRequest,
    Candidate,
    CreatedArray,
    ForeignArrayError,
    require_alike,
    require_shape,
)
from backends.change import ChangeStep, with_disk
from backends.change_steps import evidence_of, require_still_free
from backends.errors import BlockedError, InvalidValueError, RefusedError, ToolFailedError
from backends.host import STALL, Command, Host
from backends.model import Level, Target
from backends.sizes import size_words
from backends.text import clean
from backends.tool_output import truncation_problem
from backends.topology import Topology, scan_topology
from backends.topology.device_identity import identity
from backends.values import dataclass
from backends.vendors.lvm.facts import PVS, LvFacts
from backends.vendors.lvm.groups import (
    WHOLE_PVS,
    PvFacts,
    candidates_in,
    no_volume_reason,
    nodes_sharing_disk,
    parse_pvs,
)
from backends.vendors.lvm.inventory import NAME, nodes_of, target_of
from backends.vendors.lvm.lvs import SECONDS, LvsAnswer, ask_lvs, error_sentence

STRIP = 64 << 10
"""Default stripe size in bytes (lvmraid(7), --stripesize)."""

_CREATE_SECONDS = 1.5
"""Expected duration of lvcreate in seconds. It includes zeroing the metadata of a few images."""

TYPES = {
    Level.RAID0: "striped",
    Level.RAID1: "raid1",
    Level.RAID5: "raid5",
    Level.RAID6: "raid6",
    Level.RAID10: "raid10",
}
"""lvcreate's names for the levels that it can create (lvmraid(7))."""

_LEAST = {Level.RAID0: 2, Level.RAID6: 5}
"""Minimum number of physical volumes by level. RAID 0 on one would be linear, and RAID 6 needs three data stripes."""

AT_ONCE = ("--config", "global/wait_for_locks=0")
"""Options with which a command fails instead of waiting for the group's lock.

A flush may hold the lock for hours (lvm.conf).
"""

_SURE = ("--wipesignatures", "y", "--zero", "y")

_STEPS = (
    re.compile(
        r"(?P<tool>\S*lvcreate) --yes --config global/wait_for_locks=0 --alloc normal --type (?:striped|raid1|raid5"
        r"|raid6|raid10)(?: --mirrors \d{1,2})?(?: --nosync)?(?: --stripes \d{1,3})?(?: --stripesize \d{1,7}k)?"
        r" --wipesignatures y --zero y --extents \d{1,12} --addtag raidbench-[0-9a-f]{32} --name [A-Za-z0-9_-]{1,15}"
        r" (?P<group>\S+)(?: /dev/[A-Za-z0-9+_./-]{1,250})+",
        re.ASCII,
    ),
    re.compile(
        r"(?P<tool>\S*lvremove) --yes --config global/wait_for_locks=0 --select lv_uuid=[A-Za-z0-9-]{38} &&"
        r" lv_tags=raidbench-[0-9a-f]{32} && lv_role!=origin (?P<group>[^/ ]+)/[A-Za-z0-9_-]{1,15}"
    ),
)
"""Patterns of all command lines that may be run to create or remove a volume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRoom:
    """A volume group in which a volume is to be created."""

    name: str
    """Name of the group."""
    uuid: str
    """LVM's UUID of the group."""
    extent_bytes: int
    """Bytes of an extent."""
    volumes: Collection[str]
    """Names of its volumes, including hidden ones."""
    before: tuple[str, ...]
    """UUIDs of the volumes that exist before the creation."""
    one_disk: tuple[str, ...] = ()
    """Nodes of selected physical volumes that are on the same disk as another selected one."""


def plan_volume(request: ArrayRequest, room: GroupRoom, *, lvcreate: str, assume_clean: bool) -> ArrayPlan:
    """Return the plan for a volume with as many stripes or images as there are physical volumes.

    Raises InvalidValueError, and RefusedError if the name of the volume is taken.
    """
    warnings = require_alike(request.drives)
    data, strip = _shape(request), _strip(request, room)
    if request.policies:
        raise InvalidValueError(
            "A logical volume takes no policies at creation.", hint="Set them after the volume exists."
        )
    if assume_clean and request.level is Level.RAID6:
        raise InvalidValueError(
            "LVM cannot create a RAID6 without the initial synchronisation.", hint="Omit --assume-clean."
        )
    if request.name in room.volumes:
        raise RefusedError(
            f"The volume group {room.name} already has a volume named {request.name}.", hint="Choose another name."
        )
    extents_each = _extents(request, room, data)
    tag = f"raidbench-{request.token}"
    clean_now = assume_clean and request.level is not Level.RAID0
    step = (
        *(lvcreate, "--yes", *AT_ONCE, "--alloc", "normal", "--type", TYPES[request.level]),
        *_layout(request.level, len(request.drives), data, strip, nosync=clean_now),
        *(*_SURE, "--extents", str(extents_each * data), "--addtag", tag, "--name", request.name, room.name),
        *(drive.place for drive in request.drives),
    )
    lines = [
        *warnings,
        "Only free extents are used, and no other volume is changed. A volume that was removed from these extents "
        "cannot be restored (vgcfgrestore) after a write to the new volume.",
        "lvcreate zeroes the first 4 KiB and wipes signatures of former volumes. --yes confirms that.",
    ]
    if room.one_disk:
        lines.append(
            f"{', '.join(room.one_disk)} is on the same disk as another of these physical volumes, so stripes share "
            "the disk."
        )
    return ArrayPlan(
        request=replace(request, strip_bytes=strip, layout=None),
        maker="lvcreate",
        steps=(ChangeStep(argv=step),),
        size_bytes=extents_each * data * room.extent_bytes,
        data_drives=data,
        seconds=_CREATE_SECONDS,
        initialising=_initialising(request.level, extents_each * room.extent_bytes, assume_clean=clean_now),
        warnings=tuple(lines),
        uuids=(room.uuid, tag),
        before=room.before,
        locks=(lock_of(room.uuid),),
    )


def lock_of(group_uuid: str) -> str:
    """Return the name of raidbench's lock for a volume group."""
    return f"lvm-{group_uuid}"


def removal_step(lvremove: str, address: str, uuid: str, tag: str) -> ChangeStep:
    """Return the step that removes one volume.

    While lvremove holds the lock of the group, it checks the UUID and the tag, and that the volume has no snapshots. If
    a check fails, it removes nothing and exits with status 0. `--yes` confirms the removal of an active volume.
    """
    selection = f"lv_uuid={uuid} && lv_tags={tag} && lv_role!=origin"
    return ChangeStep(argv=(lvremove, "--yes", *AT_ONCE, "--select", selection, address))


def require_steps(steps: Sequence[ChangeStep], group: str, tools: Collection[str | None]) -> None:
    """Raise RefusedError for a step that neither creates nor removes a volume in this group."""
    for step in steps:
        step_match = next((match for pattern in _STEPS if (match := pattern.fullmatch(" ".join(step.argv)))), None)
        if step_match is None or step_match["group"] != group or step_match["tool"] not in tools:
            raise RefusedError(
                f"Refusing to run a step that neither creates nor removes a volume of {group}: "
                f"{clean(step.shown(), 200)}"
            )


def _shape(request: ArrayRequest) -> int:
    """Return the number of physical volumes for data, without those for parity and copies. Raises InvalidValueError."""
    count = len(request.drives)
    if request.level not in TYPES:
        raise InvalidValueError(
            f"LVM does not support {request.level.name}.", hint=f"Supported levels: {', '.join(TYPES.values())}."
        )
    least = _LEAST.get(request.level, 0)
    if count < least:
        raise InvalidValueError(
            f"{request.level.name} of LVM needs at least {least} physical volumes, but only {count} "
            f"{('has' if count == 1 else 'have')} free extents or {('is' if count == 1 else 'are')} given."
        )
    if request.spans is not None:
        raise InvalidValueError("A logical volume has no spans.", hint="Omit --spans.")
    return require_shape(request)


def _strip(request: ArrayRequest, room: GroupRoom) -> int | None:
    """Return the stripe size in bytes, or None for RAID 1. Raises InvalidValueError."""
    if request.level is Level.RAID1:
        return None
    strip = request.strip_bytes or min(STRIP, room.extent_bytes)
    if strip < 4096 or strip & (strip - 1) or strip > room.extent_bytes:
        raise InvalidValueError(
            f"LVM does not support a stripe size of {strip} bytes.",
            hint=f"Use a power of two from 4k to the extent size, {size_words(room.extent_bytes)}.",
        )
    return strip


def _extents(request: ArrayRequest, room: GroupRoom, data: int) -> int:
    """Return the number of data extents to use on each physical volume. Raises InvalidValueError if too few are
    free.
    """
    extra = 0 if request.level is Level.RAID0 else 1  # each image of a RAID also has an extent of metadata
    least = min(request.drives, key=lambda drive: drive.free_extents or 0)
    most = (least.free_extents or 0) - extra
    wanted = most if request.size_bytes is None else -(-request.size_bytes // (room.extent_bytes * data))
    if wanted < 1 or wanted > most:
        asked = "" if request.size_bytes is None else f" for {size_words(request.size_bytes)}"
        raise InvalidValueError(
            f"Not enough free extents: {max(wanted, 1) + extra} are needed on each of {len(request.drives)} physical "
            f"volumes{asked}, and {least.place} has {least.free_extents or 0}.",
            hint="These physical volumes have space for at most "
            f"{size_words(max(0, most) * data * room.extent_bytes)}.",
        )
    return wanted


def _layout(level: Level, count: int, data: int, strip: int | None, *, nosync: bool) -> tuple[str, ...]:
    """Return lvcreate's options for images and stripes. The number of stripes does not include parity and copies."""
    parts: list[str] = []
    if level in (Level.RAID1, Level.RAID10):
        parts += ["--mirrors", str(count - 1 if level is Level.RAID1 else 1)]
    parts += ["--nosync"] if nosync else []
    if strip is not None:
        parts += ["--stripes", str(data), "--stripesize", f"{strip // 1024}k"]
    return tuple(parts)


def _initialising(level: Level, size: int, *, assume_clean: bool) -> str:
    if level is Level.RAID0:
        return "No initialisation is needed."
    if assume_clean:
        return (
            "The volume is not synchronised. Copies and parity are valid only in stripes that were completely "
            "written since. Do not read data that was not written."
        )
    return (
        f"LVM synchronises it, which takes {size / SYNC_RATE / 3600:.1f} h at 200 MB/s a drive. Until then reads and "
        "writes cause additional I/O."
    )


_PLAIN = ("-", "r", "R")
"""First letter of lv_attr for volumes that are no origin, snapshot, cache, pool or image (lvs(8)).

`R`: RAID that is not synced.
"""


def find_volume(
    array: CreatedArray, volumes: Sequence[LvFacts], disks: Sequence[PvFacts], picture: Topology, lvremove: str
) -> ArrayMatch:
    """Return what currently exists of a created volume (`ArrayCreator.find_made`), from the complete output of lvs and
    pvs.
    """
    try:
        lv_facts = _volume(array, volumes, disks)
        if lv_facts is None:
            text = f"The volume group {_group(array)} has no volume with its tag or name."
            return ArrayMatch(state=ArrayMatchState.ABSENT, sentence=text, locks=(lock_of(array.uuids[0]),))
        group = {volume.name: volume for volume in volumes if volume.group_uuid == array.uuids[0]}
        _require_as_made(array, lv_facts, group, {pv.uuid: pv.name for pv in disks})
    except ForeignArrayError as reason:
        return ArrayMatch(state=ArrayMatchState.UNKNOWN, sentence=str(reason))
    text = (
        f"{lv_facts.address} is the created volume: UUID {lv_facts.uuid}, {array.level.name} on these "
        f"{len(array.members)} physical volumes"
    )
    uuids = (*array.uuids[:2], lv_facts.uuid)
    node = picture.tree.nodes.get(lv_facts.kernel or "")
    if node is None:  # not removed, because its content cannot be checked
        return ArrayMatch(
            state=ArrayMatchState.COMPLETE,
            sentence=f"{text}. It is not active (`lvchange --activate y {lv_facts.address}`).",
            target=target_of(lv_facts.address),
            locks=(lock_of(array.uuids[0]),),
            uuids=uuids,
        )
    return ArrayMatch(
        state=ArrayMatchState.COMPLETE,
        sentence=f"{text}.",
        target=target_of(lv_facts.address),
        device=node.device,
        looked_at=(node.device,),
        locks=tuple(sorted(with_disk(lock_of(array.uuids[0]), identity(node)).splitlines())),
        uuids=uuids,
        remove=(removal_step(lvremove, lv_facts.address, lv_facts.uuid, array.uuids[1]),),
    )


def _group(array: CreatedArray) -> str:
    return "" if array.controller is None else array.controller.address


def _volume(array: CreatedArray, volumes: Sequence[LvFacts], disks: Sequence[PvFacts]) -> LvFacts | None:
    """Return the volume that may be the created one; None if it certainly does not exist. Raises ForeignArrayError."""
    group_uuid, tag = array.uuids[:2]
    group_volumes = [pv for pv in disks if pv.group_uuid == group_uuid]
    if not group_volumes:
        raise ForeignArrayError(f"The volume group {_group(array)} does not exist.")
    if group_volumes[0].group != _group(array):
        raise ForeignArrayError(f"The volume group {_group(array)} is now named {group_volumes[0].group}.")
    if len({pv.group_uuid for pv in disks if pv.group == group_volumes[0].group}) > 1:
        raise ForeignArrayError(f"Several volume groups are named {group_volumes[0].group}.")
    # Hidden parts of a volume have its tag too.
    visible = [lv_facts for lv_facts in volumes if lv_facts.group_uuid == group_uuid and not lv_facts.hidden]
    uuid = array.uuids[2] if len(array.uuids) > 2 else None
    tagged = [lv_facts for lv_facts in visible if tag in lv_facts.columns.get("lv_tags", "").split(",")]
    if len(tagged) > 1:
        raise ForeignArrayError(f"Several volumes have its tag: {', '.join(volume.address for volume in tagged[:4])}.")
    candidate = (
        tagged[0]
        if tagged
        else next((lv_facts for lv_facts in visible if lv_facts.uuid == uuid or lv_facts.name == array.name), None)
    )
    if candidate is None:
        return None
    if not tagged:
        raise ForeignArrayError(f"{candidate.address} does not have its tag {tag}.")
    if uuid not in (None, candidate.uuid):
        raise ForeignArrayError(
            f"{candidate.address} has the tag of the created volume, but the UUID {candidate.uuid} instead of {uuid}."
        )
    if candidate.uuid in array.before:
        raise ForeignArrayError(f"{candidate.address} existed before the creation began.")
    if candidate.name != array.name:
        raise ForeignArrayError(f"{_group(array)}/{array.name} is now named {candidate.address}.")
    return candidate


def _require_as_made(
    array: CreatedArray, lv_facts: LvFacts, group: Mapping[str, LvFacts], nodes: Mapping[str, str]
) -> None:
    """Raise ForeignArrayError if the volume differs from the created one, has dependents, or is part of another
    volume.
    """
    where = lv_facts.address
    if TYPES.get(array.level) not in (lv_facts.kind, lv_facts.level):
        raise ForeignArrayError(f"{where} is now {clean(lv_facts.kind, 40)}, not {array.level.name} as created.")
    if (lv_facts.columns.get("lv_attr") or "?")[0] not in _PLAIN or lv_facts.columns.get("lv_role") != "public":
        role = clean(lv_facts.columns.get("lv_role", "unknown"), 80)
        raise ForeignArrayError(f"{where} now has dependents, or is part of another volume ({role}).")
    size = lv_facts.number("lv_size")
    if size is None or size != array.size_bytes:
        raise ForeignArrayError(
            f"The size of {where} is now {size_words(size)}, not {size_words(array.size_bytes)} as created."
        )
    if lv_facts.number("stripes") != len(array.members):
        raise ForeignArrayError(
            f"{where} has {lv_facts.number('stripes')} stripes or images, not {len(array.members)}."
        )
    if (lv_facts.number("stripe_size") or None) != array.strip_bytes:
        raise ForeignArrayError(f"{where} has stripes of {size_words(lv_facts.number('stripe_size'))}.")
    places = sorted(nodes_of(lv_facts, group))
    if places != sorted(nodes.get(member.serial or "", "?") for member in array.members):
        raise ForeignArrayError(f"{where} is on {', '.join(places) or 'unknown devices'}, not where it was created.")


TOOLS = ("lvcreate", "lvremove")
"""Tools that create and remove a volume."""


async def ask_pvs(host: Host) -> tuple[PvFacts, ...]:
    """Return all physical volumes that are in a group. A truncated list is an error.

    Raises ToolFailedError, ToolTimeoutError.
    """
    tool = host.which(("pvs",))
    if tool is None:
        raise ToolFailedError("pvs is not installed, so volume groups are unknown.", hint="Install lvm2.")
    command = Command(argv=(tool, *PVS), timeout=SECONDS, stall=STALL)
    done = await host.run(command)
    pv_facts, strange = parse_pvs(done.stdout)
    if not pv_facts and done.returncode != 0:
        if not host.is_root:
            raise ToolFailedError("LVM reports volume groups only to root.", hint="Start raidbench with sudo.")
        raise ToolFailedError(error_sentence(done, "pvs"), evidence=evidence_of(command, done))
    if why := WHOLE_PVS.lost(done):
        problem = truncation_problem(NAME, command, why)
        raise ToolFailedError(problem.message, hint=problem.hint, evidence=evidence_of(command, done))
    if strange:
        raise ToolFailedError(
            f"{strange} lines of the output of pvs cannot be parsed.", evidence=evidence_of(command, done)
        )
    return pv_facts


async def group_candidates(host: Host) -> tuple[Candidate, ...]:
    """Return all physical volumes with their free extents. Raises ToolFailedError."""
    volumes, picture = await asyncio.gather(ask_pvs(host), scan_topology(host))
    return candidates_in(volumes, picture)


async def plan_in_group(host: Host, request: ArrayRequest, group: Target | None, *, assume_clean: bool) -> ArrayPlan:
    """Return the plan for a volume. Raises BlockedError, DeviceGoneError, RefusedError, InvalidValueError."""
    lvcreate = host.which((TOOLS[0],))
    if lvcreate is None or group is None:
        raise BlockedError("lvcreate is not installed.", hint="Install lvm2.")
    volumes, answer, picture = await asyncio.gather(ask_pvs(host), _complete_lvs(host), scan_topology(host))
    require_still_free(request, candidates_in(volumes, picture))
    first_volume = next(pv for pv in volumes if pv.uuid == request.drives[0].serial)
    named = [pv for pv in volumes if pv.group == first_volume.group]
    if len({pv.group_uuid for pv in named}) > 1:
        raise BlockedError(f"Several volume groups are named {first_volume.group}.", hint="Rename one (vgrename).")
    if why := no_volume_reason(first_volume):
        raise BlockedError(f"{why[0][:1].upper()}{why[0][1:]}.")
    inside = [lv_facts for lv_facts in answer.volumes if lv_facts.group_uuid == first_volume.group_uuid]
    room = GroupRoom(
        name=first_volume.group,
        uuid=first_volume.group_uuid,
        extent_bytes=first_volume.extent_bytes,
        volumes=frozenset(lv_facts.name for lv_facts in inside),
        before=tuple(sorted(lv_facts.uuid for lv_facts in inside if not lv_facts.hidden)),
        one_disk=nodes_sharing_disk([drive.place for drive in request.drives], picture),
    )
    return plan_volume(request, room, lvcreate=lvcreate, assume_clean=assume_clean)


async def find_in_group(host: Host, array: CreatedArray) -> ArrayMatch:
    """Query LVM, and return what currently exists of a created volume. Raises ToolFailedError, BlockedError."""
    lvremove = host.which((TOOLS[1],))
    if lvremove is None:
        raise BlockedError("lvremove is not installed.", hint="Install lvm2.")
    if array.controller is None or len(array.uuids) < 2:
        text = "The journal entry names no volume group, so the volume cannot be found."
        return ArrayMatch(state=ArrayMatchState.UNKNOWN, sentence=text)
    volumes, answer, picture = await asyncio.gather(ask_pvs(host), _complete_lvs(host), scan_topology(host))
    return find_volume(array, answer.volumes, volumes, picture, lvremove)


async def _complete_lvs(host: Host) -> LvsAnswer:
    """Return all volumes. Raises ToolFailedError if the list may be incomplete."""
    answer = await ask_lvs(host)
    if answer.silent is not None:
        raise answer.silent
    if answer.strange:
        raise ToolFailedError(f"{answer.strange} lines of the output of lvs cannot be parsed.")
    return answer
