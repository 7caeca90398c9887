"""Conversion of LVM's volumes to `Array`s. No I/O."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from backends.model import IO_SUSPENDED, Array, Fact, Level, Scope, State, Target, Task
from backends.raid import data_drives
from backends.sizes import percent_text, size_words
from backends.text import clean
from backends.topology import Topology
from backends.topology.device_identity import identity
from backends.topology.stacking import MARK
from backends.topology.tree import node_path
from backends.vendors.lvm.facts import (
    CACHE,
    MISSING,
    POOLS,
    THIN_POOL,
    VDO,
    VDO_POOL,
    WRITECACHE,
    LvFacts,
    is_in_use,
    lower_volumes,
)
from backends.vendors.lvm.readings import MODES

NAME = "lvm"
"""Prefix of this backend's targets."""

FULL = 0.9
"""Used share of a thin pool's data or metadata space, or of a snapshot's store, at which the volume is degraded."""

_LEVELS = {"linear": Level.CONCAT, "striped": Level.RAID0, "mirror": Level.RAID1}
_KINDS = {"thin": Level.THIN, THIN_POOL: Level.THIN_POOL}
"""Level by kind of volume, for a volume whose data is not on a RAID."""

_DEDUPLICATED = {VDO: Level.VDO, VDO_POOL: Level.VDO_POOL}
"""Level by kind of volume, whatever the data is on: VDO determines the speed of the volume and how it can fail."""

_LAYERS = (CACHE, WRITECACHE, "thin", VDO, *POOLS)
"""Kinds of volumes that store their data in another volume."""

_UNDER = {"thin": "Thin pool", VDO: "VDO pool"}
"""Label of the hidden volume `LvFacts.pool`, by kind of volume. For other kinds it is the cache."""

_TASKS = {"recover": "rebuild", "check": "consistency-check"}
"""Kind of task by sync action of dm-raid. Other sync actions keep their name."""

_HEALTH_LETTERS = {"F": "failed", "D": "out of data space", "M": "metadata read-only", "E": "error"}
"""Fault of a volume, its cache or its pool, by ninth letter of `lv_attr` (lvs(8))."""

REDUNDANT = ("raid1", "raid4", "raid5", "raid6", "raid10")
"""Levels that survive the loss of a drive."""


def target_of(address: str) -> Target:
    """Return the `Target` of the volume with this address, such as `vg0/mail`."""
    return Target(backend=NAME, address=address, scope=Scope.ARRAY)


def is_shown(volume: LvFacts) -> bool:
    """Return whether the volume is listed in the inventory. Thin pools are listed, unattached cache volumes are not."""
    return not volume.hidden and "cachevol" not in volume.layout and volume.kind != "cache-pool"


def group_volumes(volumes: Iterable[LvFacts]) -> dict[str, dict[str, LvFacts]]:
    """Return all volumes by group and name."""
    groups: dict[str, dict[str, LvFacts]] = {}
    for volume in volumes:
        groups.setdefault(volume.group, {})[volume.name] = volume
    return groups


def array_of(volume: LvFacts, group: Mapping[str, LvFacts], picture: Topology) -> Array:
    """Return the volume as an array of the inventory."""
    node = picture.tree.nodes.get(volume.kernel or "") if volume.kind not in POOLS else None
    slow = origin_of(volume, group)
    state, why = health(volume, group)
    count = (slow.number("stripes") if slow.level == "striped" else None) or len(slow.places)
    return Array(
        target=target_of(volume.address),
        name=volume.address,
        level=_level(volume, slow),
        state=state,
        size_bytes=volume.number("origin_size" if volume.origin is not None else "lv_size"),
        strip_bytes=slow.number("stripe_size") or None,
        data_drives=data_drives(_own_level(slow), count),
        why=why,
        device=node.device if node is not None else None,
        link=f"/dev/{volume.address}" if node is not None else None,
        members=tuple(dict.fromkeys(_disks(volume, group, picture))),
        identity=identity(node) if node is not None else None,
        uses=picture.uses(node.name) if node is not None else (),
        tasks=tasks_of(volume, group),
        facts=tuple(Fact(label=label, value=clean(value, 256)) for label, value in _lines(volume, group) if value),
    )


def origin_of(volume: LvFacts, group: Mapping[str, LvFacts]) -> LvFacts:
    """Return the volume that stores the data: the slow volume of a cached one, or the data volume of a thin or VDO
    pool.
    """
    if volume.kind not in _LAYERS:
        return volume
    lower = [lv_facts for lv_facts in lower_volumes(volume, group) if lv_facts.kind not in _LAYERS]
    return lower[0] if lower else volume


def _level(volume: LvFacts, slow: LvFacts) -> Level:
    """Return the RAID level of a volume.

    A cached volume has the level of its slow volume `slow`, which decides how many drives may fail.
    """
    level = _own_level(slow)
    if volume.kind in _DEDUPLICATED:
        return _DEDUPLICATED[volume.kind]
    if level is Level.CONCAT and (kind_level := _KINDS.get(volume.kind)) is not None:
        return kind_level
    if volume.origin is not None:
        return Level.SNAPSHOT
    return Level.CACHED if level is Level.CONCAT and volume.kind in (CACHE, WRITECACHE) else level


def _own_level(volume: LvFacts) -> Level:
    texts = {level.value: level for level in Level}
    return texts.get(volume.level) or _LEVELS.get(volume.level, Level.UNKNOWN)


def nodes_of(volume: LvFacts, group: Mapping[str, LvFacts]) -> tuple[str, ...]:
    """Return the nodes of the physical volumes that hold the volume and its cache."""
    parts = [*lower_volumes(volume, group)]
    if (cache := group.get(volume.pool or "")) is not None and volume.kind in (CACHE, WRITECACHE):
        parts += lower_volumes(cache, group)
    return tuple(
        dict.fromkeys(node_name for part in parts for node_name in part.places if node_name.startswith("/dev/"))
    )


def kernel_name_of(device: str, picture: Topology) -> str | None:
    """Return the kernel name of a physical volume's node, which may be below /dev/mapper."""
    name = device.removeprefix("/dev/").replace("/", "!")
    if name in picture.tree.nodes:
        return name
    dm_name = device.removeprefix("/dev/mapper/")
    return next((node.name for node in picture.tree.nodes.values() if node.attributes.get("dm/name") == dm_name), None)


def _disks(volume: LvFacts, group: Mapping[str, LvFacts], picture: Topology) -> Iterable[Target]:
    """Yield the disks and arrays below the volume. Encryption and multipath layers are skipped."""
    for device in nodes_of(volume, group):
        name = kernel_name_of(device, picture)
        if name is None:
            continue
        disk = picture.tree.disk_of(name)
        lower = [node for node in picture.tree.below(disk) if not node.slaves and node.parent is None]
        for value in [node.name for node in lower] if disk.startswith("dm-") and lower else [disk]:
            yield Target(backend="block", address=value)


def health(volume: LvFacts, group: Mapping[str, LvFacts]) -> tuple[State, str]:
    """Return the state of a volume, and the reason why it is not healthy, or ""."""
    if (away := _unusable_state(volume, group)) is not None:
        return away
    fields, word = volume.columns, _health_word(volume)
    missing = _lacks_disk(volume, group)
    if volume.origin is not None:
        if fields.get("lv_snapshot_invalid", "") not in ("", "0"):
            return State.FAILED, f"it ran full and is no longer a valid snapshot of {volume.group}/{volume.origin}"
        filled = volume.share("snap_percent")
        if filled is not None and filled >= FULL:
            return State.DEGRADED, f"its store is {percent_text(filled)} full. At 100 % the snapshot is lost"
    if word == "partial" or missing:
        redundant = origin_of(volume, group).level in REDUNDANT and volume.kind not in (CACHE, WRITECACHE)
        return (State.DEGRADED if redundant else State.FAILED), "a physical volume is missing"
    if word == "refresh needed":
        return State.DEGRADED, f"a member was temporarily missing (fix: lvchange --refresh {volume.address})"
    if word not in ("", "mismatches exist", "writemostly"):
        return State.FAILED, clean(word, 64)
    if fields.get("lv_check_needed") == "check needed":
        return State.DEGRADED, "the metadata of its cache or pool needs a check"
    if volume.number("writecache_error"):
        return State.DEGRADED, "its writecache has met errors"
    pool = volume if volume.kind == THIN_POOL else group.get(volume.pool or "") if volume.kind == "thin" else None
    for part in ("data", "metadata") if pool is not None else ():
        share = pool.share(f"{part}_percent") if pool is not None else None
        if share is not None and share >= FULL:
            whose = "" if pool is volume else " of its pool"
            return State.DEGRADED, f"the {part}{whose} are {percent_text(share)} full"
    if fields.get("raid_sync_action") == "recover":
        return State.REBUILDING, ""
    return State.OPTIMAL, ""


def _health_word(volume: LvFacts) -> str:
    """Return LVM's name of the volume's fault; "" if it has none. Older versions report it only as a letter of
    lv_attr.
    """
    letters = volume.columns.get("lv_attr", "")
    letter = letters[8] if len(letters) > 8 else ""
    return volume.columns.get("lv_health_status") or _HEALTH_LETTERS.get(letter, "")


def _unusable_state(volume: LvFacts, group: Mapping[str, LvFacts]) -> tuple[State, str] | None:
    """Return the state of a volume that cannot be used, and the reason; None if it can be used."""
    if not is_in_use(volume, group):
        where = "active on another host" if volume.columns.get("lv_active", "").startswith("remote") else "not active"
        return State.OFFLINE, f"{where}, and a physical volume is missing" if _lacks_disk(volume, group) else where
    if volume.kind == "error":
        return State.FAILED, "every request to it fails"
    if volume.columns.get("lv_suspended") == "suspended":
        return State.DEGRADED, f"its device is {IO_SUSPENDED}"
    if why := _vdo_reason(volume, group):
        return State.FAILED, why
    return None


def _lacks_disk(volume: LvFacts, group: Mapping[str, LvFacts]) -> bool:
    return any(MISSING in lv_facts.places for lv_facts in lower_volumes(volume, group))


def _vdo_reason(volume: LvFacts, group: Mapping[str, LvFacts]) -> str:
    """Return why a VDO volume or pool rejects writes; "" if it does not."""
    pool = volume if volume.kind == VDO_POOL else group.get(volume.pool or "") if volume.kind == VDO else None
    if pool is None or pool.columns.get("vdo_operating_mode") != "read-only":
        return ""
    return "VDO is read-only: it ran full, or its metadata is damaged"


def tasks_of(volume: LvFacts, group: Mapping[str, LvFacts]) -> tuple[Task, ...]:
    """Return the background tasks of a volume and of hidden volumes below it, such as the mirror of pvmove.

    The progress of a flush is the part of the cached blocks that is clean.
    """
    tasks = [task for task in (_sync_of(volume), _flush_of(volume)) if task is not None]
    for lv_facts in lower_volumes(volume, group):
        if "pvmove" in lv_facts.columns.get("lv_role", "").split(",") or lv_facts.name.startswith("pvmove"):
            tasks.append(Task(kind="migration", progress=lv_facts.share("copy_percent")))
    if volume.columns.get("lv_merging") == "merging":
        tasks.append(Task(kind="merge"))
    if volume.columns.get("vdo_operating_mode") == "recovering":
        tasks.append(Task(kind="recovery"))
    return tuple(tasks)


def _sync_of(volume: LvFacts) -> Task | None:
    """Return the sync task of a RAID volume, or of an old `mirror`, which reports only its progress; None if idle."""
    action = volume.columns.get("raid_sync_action")
    if action not in (None, "idle", "frozen"):
        return Task(kind=_TASKS.get(action, clean(action, 40)), progress=volume.share("sync_percent"))
    copied = volume.share("copy_percent") if volume.kind == "mirror" and volume.is_active else None
    return Task(kind="resync", progress=copied) if copied is not None and copied < 1 else None


def _flush_of(volume: LvFacts) -> Task | None:
    if volume.blocks_to_flush is None:
        return None
    used = volume.number("cache_used_blocks")
    return Task(kind="flush", progress=max(0.0, 1 - volume.blocks_to_flush / used) if used else None)


def _lines(volume: LvFacts, group: Mapping[str, LvFacts]) -> Iterable[tuple[str, str | None]]:
    fields = volume.columns
    free = volume.number("vg_free")
    yield "Volume group", f"{volume.group}, {size_words(free)} free" if free is not None else volume.group
    if missing := volume.number("vg_missing_pv_count"):
        yield "Missing physical volumes", f"{missing} of the group {volume.group}"
    yield "Layout", ", ".join(filter(None, volume.layout))
    cache = group.get(volume.pool or "")
    slow = origin_of(volume, group)
    if volume.kind in (CACHE, WRITECACHE):
        yield "Slow part", f"{slow.level} on {_places_text(slow, group)}"
    if cache is not None:
        size = cache.number("lv_size")
        share = cache.share("data_percent") if volume.kind == VDO else None
        full = f"{percent_text(share, 1)} full" if share is not None else ""
        parts_of_cache = (cache.name, size_words(size) if size else "", full, f"on {_places_text(cache, group)}")
        yield _UNDER.get(volume.kind, "Cache"), ", ".join(filter(None, parts_of_cache))
    if volume.kind == CACHE:
        mode = fields.get("cache_mode", "")
        yield "Cache mode", MODES.get(mode, mode)
        yield "Cache policy", f"{fields.get('cache_policy')}, in the kernel {fields.get('kernel_cache_policy')}"
        yield "Chunks", _size(volume, "chunk_size")
        yield "Cache blocks", _blocks(volume)
        yield "Cache hits", _hits(volume)
    if volume.kind == WRITECACHE:
        yield "Writecache block", _size(volume, "writecache_block_size")
        total, free_blocks = volume.number("writecache_total_blocks"), volume.number("writecache_free_blocks")
        if total and free_blocks is not None:
            yield "Writecache", f"{total - free_blocks} of {total} blocks used"
    if volume.kind not in _LAYERS or volume.kind == VDO_POOL:
        yield "On", _places_text(volume, group)
    if volume.kind == VDO_POOL:
        yield from _vdo_lines(volume)
    if volume.origin is not None:
        yield "Snapshot of", f"{volume.group}/{volume.origin}"
        filled, room = volume.share("snap_percent"), _size(volume, "lv_size")
        yield "Store for changed data", room if filled is None else f"{room}, {percent_text(filled, 1)} used"
    for part in ("data", "metadata"):
        share = volume.share(f"{part}_percent") if volume.kind in ("thin", *POOLS) else None
        yield f"Used, {part}", percent_text(share, 1) if share is not None else None
    action = fields.get("raid_sync_action")
    if action not in (None, "idle"):
        share = volume.share("sync_percent")
        yield "Task", action if share is None else f"{action}, {percent_text(share, 1)}"
    if volume.number("raid_mismatch_count"):
        yield "Mismatches", f"{fields['raid_mismatch_count']} sectors at the last check or repair"
    if "raidintegritymode" in fields:
        yield "Integrity", f"checksums of its images, {clean(fields['raidintegritymode'], 40)}"
    if volume.number("integritymismatches"):
        yield "Mismatches", f"{fields['integritymismatches']} checksum errors in its images"
    yield "UUID", f"{MARK}{volume.uuid}"


def _vdo_lines(volume: LvFacts) -> Iterable[tuple[str, str | None]]:
    fields = volume.columns
    saved = volume.share("vdo_saving_percent")
    yield "Saved", f"{percent_text(saved)} by deduplication and compression" if saved is not None else None
    yield "Operating mode", clean(fields.get("vdo_operating_mode", ""), 40)
    yield "Compression", clean(fields.get("vdo_compression_state", ""), 40)
    yield "Index", clean(fields.get("vdo_index_state", ""), 40)


def _places_text(volume: LvFacts, group: Mapping[str, LvFacts]) -> str:
    parts = (
        location
        for lv_facts in lower_volumes(volume, group)
        for location in lv_facts.places
        if location.startswith(("/dev/", "["))
    )
    return ", ".join("a missing disk" if part == MISSING else part for part in dict.fromkeys(parts))


def _size(volume: LvFacts, key: str) -> str | None:
    count = volume.number(key)
    return size_words(count) if count else None


def _blocks(volume: LvFacts) -> str | None:
    total, used, dirty = (volume.number(f"cache_{literal}_blocks") for literal in ("total", "used", "dirty"))
    return None if total is None else f"{used} of {total} used, {dirty} not yet on the slow part"


def _hits(volume: LvFacts) -> str | None:
    """Return the cache's hit rates since activation, such as `93 % of reads`; None if the kernel has no counts."""
    parts = []
    for way in ("read", "write"):
        hits, misses = volume.number(f"cache_{way}_hits"), volume.number(f"cache_{way}_misses")
        if hits is not None and misses is not None and hits + misses:
            parts.append(f"{percent_text(hits / (hits + misses))} of {way}s")
    return ", ".join(parts) or None


def plain_arrays(picture: Topology, why: str, without: Container[str] = ()) -> tuple[Array, ...]:
    """Return the volumes that device-mapper lists, if lvs fails. Only names, sizes and disks are known.

    `why`: message about the failure of lvs. `without`: groups that lvs did report.
    """
    arrays = []
    for node in picture.tree.nodes.values():
        uuid, dm_name = node.attributes.get("dm/uuid", ""), node.attributes.get("dm/name", "")
        if not uuid.startswith(MARK) or "-" in uuid.removeprefix(MARK) or node_is_part(node.name, picture):
            continue  # a part of a volume: its UUID has a suffix, or another volume is built on it
        group, _, name = dm_name.replace("--", "\0").partition("-")
        address = f"{group}/{name}".replace("\0", "-")
        if address.partition("/")[0] in without:
            continue
        disks = [lower.name for lower in picture.tree.below(node.name) if not lower.slaves and lower.parent is None]
        arrays.append(
            Array(
                target=target_of(clean(address)),
                name=clean(address),
                size_bytes=node.size_bytes,
                why=why.rstrip("."),
                device=node_path(node.name),
                link=f"/dev/{clean(address)}",
                members=tuple(Target(backend="block", address=disk) for disk in disks),
                identity=identity(node),
                uses=picture.uses(node.name),
            )
        )
    return tuple(arrays)


def node_is_part(name: str, picture: Topology) -> bool:
    """Return whether another logical volume is built on the device."""
    nodes = picture.tree.nodes
    holders = (nodes[holder].attributes.get("dm/uuid", "") for holder in nodes[name].holders if holder in nodes)
    return any(uuid.startswith(MARK) for uuid in holders)
