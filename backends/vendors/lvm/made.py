"""Finding a volume again that was made in a group: by the UUIDs of both, its tag, name and segments. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backends.change import with_disk
from backends.making import ArrayFound, ArrayStanding, MadeArray, NotItsOwnError
from backends.model import Target
from backends.sizes import size_words
from backends.text import clean
from backends.topology import Topology
from backends.topology.naming import identity
from backends.vendors.lvm.facts import LvFacts
from backends.vendors.lvm.groups import PvFacts
from backends.vendors.lvm.inventory import nodes_of, target_of
from backends.vendors.lvm.making import TYPES, lock_of, removing

_PLAIN = ("-", "r", "R")
"""First letter of lv_attr of a volume that is no origin, snapshot, cache, pool or image (lvs(8)); `R` never synced."""


def find_volume(
    array: MadeArray,
    volumes: Sequence[LvFacts],
    disks: Sequence[PvFacts],
    picture: Topology,
    lvremove: str,
) -> ArrayFound:
    """What is there now of a volume; see `BuildsArrays.find_made`. `volumes`, `disks`: all that LVM tells, whole."""
    try:
        found = _volume(array, volumes, disks)
        if found is None:
            words = f"The group {_group(array)} has no volume with its tag or its name."
            return ArrayFound(standing=ArrayStanding.ABSENT, words=words, locks=(lock_of(array.uuids[0]),))
        group = {one.name: one for one in volumes if one.group_uuid == array.uuids[0]}
        _require_as_made(array, found, group, {pv.uuid: pv.name for pv in disks})
    except NotItsOwnError as reason:
        return ArrayFound(standing=ArrayStanding.UNKNOWN, words=str(reason))
    words = (
        f"{found.address} is it: UUID {found.uuid}, {array.level.name} over these {len(array.members)} physical volumes"
    )
    known = (*array.uuids[:2], found.uuid)
    node = picture.tree.nodes.get(found.kernel or "")
    if node is None:  # what lies on it cannot be looked at: it is not removed
        return ArrayFound(
            standing=ArrayStanding.WHOLE,
            words=f"{words}. It is not active (`lvchange --activate y {found.address}`).",
            target=target_of(found.address),
            locks=(lock_of(array.uuids[0]),),
            uuids=known,
        )
    return ArrayFound(
        standing=ArrayStanding.WHOLE,
        words=f"{words}.",
        target=target_of(found.address),
        device=node.device,
        looked_at=(node.device,),
        locks=tuple(sorted(with_disk(lock_of(array.uuids[0]), identity(node)).splitlines())),
        uuids=known,
        remove=(removing(lvremove, found.address, found.uuid, array.uuids[1]),),
    )


def _group(array: MadeArray) -> str:
    return "" if array.controller is None else array.controller.address


def _volume(array: MadeArray, volumes: Sequence[LvFacts], disks: Sequence[PvFacts]) -> LvFacts | None:
    """The volume that may be it; None where there surely is none. Raises NotItsOwnError."""
    group_uuid, tag = array.uuids[:2]
    own = [pv for pv in disks if pv.group_uuid == group_uuid]
    if not own:
        raise NotItsOwnError(f"Its volume group {_group(array)} is not there.")
    if own[0].group != _group(array):
        raise NotItsOwnError(f"Its volume group is called {own[0].group} now, not {_group(array)}.")
    if len({pv.group_uuid for pv in disks if pv.group == own[0].group}) > 1:
        raise NotItsOwnError(f"Several volume groups are called {own[0].group}.")
    there = [one for one in volumes if one.group_uuid == group_uuid and not one.hidden]  # parts bear its tag too
    uuid = array.uuids[2] if len(array.uuids) > 2 else None
    tagged = [one for one in there if tag in _tags(one)]
    if len(tagged) > 1:
        raise NotItsOwnError(f"Several volumes bear its tag: {', '.join(one.address for one in tagged[:4])}.")
    found = tagged[0] if tagged else next((one for one in there if one.uuid == uuid or one.name == array.name), None)
    if found is None:
        return None
    if not tagged:
        raise NotItsOwnError(f"{found.address} does not bear its tag {tag}.")
    if uuid not in (None, found.uuid):
        raise NotItsOwnError(f"{found.address} bears its tag and another UUID: {found.uuid}, not {uuid}.")
    if found.uuid in array.before:
        raise NotItsOwnError(f"{found.address} was there before it was made.")
    if found.name != array.name:
        raise NotItsOwnError(f"It is called {found.address} now, not {array.name}.")
    return found


def _tags(volume: LvFacts) -> tuple[str, ...]:
    return tuple(volume.told.get("lv_tags", "").split(","))


def _require_as_made(array: MadeArray, found: LvFacts, group: Mapping[str, LvFacts], nodes: Mapping[str, str]) -> None:
    """Raises NotItsOwnError where its segments are not those that it was made with, or something hangs on it."""
    where = found.address
    if TYPES.get(array.level) not in (found.kind, found.level):
        raise NotItsOwnError(f"{where} is {clean(found.kind, 40)} now, not {array.level.name} as it was made.")
    if (found.told.get("lv_attr") or "?")[0] not in _PLAIN or found.told.get("lv_role") != "public":
        role = clean(found.told.get("lv_role", "unknown"), 80)
        raise NotItsOwnError(f"{where} is a part of something by now, or something is made of it ({role}).")
    size = found.number("lv_size")
    if size is None or size != array.size_bytes:
        raise NotItsOwnError(f"{where} has {size_words(size)} now, not {size_words(array.size_bytes)} as it was made.")
    if found.number("stripes") != len(array.members):
        raise NotItsOwnError(f"{where} has {found.number('stripes')} stripes or images, not {len(array.members)}.")
    if (found.number("stripe_size") or None) != array.strip_bytes:
        raise NotItsOwnError(f"{where} has stripes of {size_words(found.number('stripe_size'))}.")
    places = sorted(nodes_of(found, group))
    if places != sorted(nodes.get(member.serial or "", "?") for member in array.members):
        raise NotItsOwnError(f"{where} lies on {', '.join(places) or 'nothing that is told'}, not where it was made.")


def made_target(array: MadeArray) -> Target:
    """The group that an array was made in. Raises NotItsOwnError where it is none."""
    if array.controller is None or len(array.uuids) < 2:
        raise NotItsOwnError("The journal does not say in which volume group it was made.")
    return array.controller
