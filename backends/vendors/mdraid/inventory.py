"""Conversion of an md array to an `Array`. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from backends.model import IO_SUSPENDED, Array, Fact, Level, Scope, Target, Task
from backends.sizes import percent_text, size_words
from backends.text import clean
from backends.topology import Node, Topology, node_path
from backends.topology.device_identity import identity
from backends.vendors.mdraid.details import ImsmPlatform, platform_of
from backends.vendors.mdraid.facts import ArrayDevice, ArrayFacts
from backends.vendors.mdraid.layouts import layout_label
from backends.vendors.mdraid.readings import bitmap_word
from backends.vendors.mdraid.sysfs import MEMBER_ATTRIBUTES, time_text

NAME = "md"
"""Prefix of this backend's targets."""

TASKS = {
    "recover": "rebuild",
    "resync": "resync",
    "check": "consistency-check",
    "repair": "repair",
    "reshape": "reshape",
}
"""The model's terms for background work, by the kernel's terms."""

_STATES = {
    "clear": "no array",
    "inactive": "not running",
    "suspended": IO_SUSPENDED,
    "readonly": "read-only",
    "read-auto": "read-only until the first write",
    "clean": "clean",
    "active": "active, being written",
    "write-pending": "a first write is waiting",
    "active-idle": "active, idle",
    "broken": "broken: too many members have failed",
}
"""Description of each array_state (Documentation/admin-guide/md.rst)."""


def target_of(name: str) -> Target:
    """Return the `Target` of the array with this kernel name."""
    return Target(backend=NAME, address=name, scope=Scope.ARRAY)


def array_of(
    array: ArrayFacts,
    picture: Topology,
    arrays: Mapping[str, ArrayFacts],
    properties: Mapping[str, str],
    platforms: Collection[ImsmPlatform] | None = None,
) -> Array:
    """Return an array of the inventory.

    `arrays`: all arrays by kernel name. `properties`: those of the array from udev or mdadm. `platforms`: Intel's RAID
    platforms; None if unknown.
    """
    node = picture.tree.nodes.get(array.name)
    size = node.size_bytes if node is not None else None
    return Array(
        target=target_of(array.name),
        name=clean(properties.get("MD_NAME", "")) or None,
        level=array.level,
        state=array.state,
        size_bytes=size or None,
        strip_bytes=_strip(array),
        data_drives=array.data_drives,
        why=_missing(array),
        device=node_path(array.name),
        members=tuple(dict.fromkeys(_member_target(member, picture, arrays) for member in array.members)),
        identity=identity(node) if node is not None else None,
        uses=picture.uses(array.name),
        tasks=tasks_of(array),
        facts=(*_facts(array, arrays), *(_platform_facts(array, platforms) if array.is_imsm else ())),
    )


def _strip(array: ArrayFacts) -> int | None:
    """Return the chunk size in bytes, or None."""
    striped = array.level is not Level.CONCAT and "level" not in array.untold
    return array.chunk.now if array.chunk is not None and striped else None


def _member_target(member: ArrayDevice, picture: Topology, arrays: Mapping[str, ArrayFacts]) -> Target:
    """Return the target of a member: a disk, or an array if the member is one."""
    disk = picture.tree.disk_of(member.name)
    return target_of(disk) if disk in arrays else Target(backend="block", address=disk)


def tasks_of(array: ArrayFacts) -> tuple[Task, ...]:
    """Return the background work of an array, as tasks of the model."""
    if array.sync is None:
        return ()
    return (Task(kind=TASKS.get(array.sync.action, array.sync.action), progress=array.sync.progress),)


def _missing(array: ArrayFacts) -> str:
    missing = f"{array.degraded} of {array.disks} members missing" if array.degraded and array.disks else ""
    journal = "its journal device has failed, so it accepts no writes" if array.lacks_journal else ""
    return ", ".join(filter(None, (missing, journal)))


def _platform_facts(array: ArrayFacts, platforms: Collection[ImsmPlatform] | None) -> Iterable[Fact]:
    """Yield facts about the capabilities of the RAID firmware that an Intel container uses."""
    if platforms is None:
        return ()
    platform = platform_of(platforms, {node_path(member.name) for member in array.members})
    if platform is not None:
        return platform.facts()
    if platforms:
        return ()
    return (Fact(label="Platform", value="none: mdadm finds no Intel RAID firmware"),)


def _facts(array: ArrayFacts, arrays: Mapping[str, ArrayFacts]) -> Iterable[Fact]:
    partial = any(array_facts.untold for array_facts in arrays.values())
    for label, value in _lines(array, arrays):
        if value and not (partial and label in _OF_OTHERS) and not (array.cut and label in _OF_MANY):
            yield Fact(label=label, value=value)
    if partial and (array.is_container or "metadata_version" in array.untold):
        return  # the use of the disks is unknown without the data of the other arrays
    volumes = [array_facts for array_facts in arrays.values() if array_facts.container == array.name]
    for member in array.members:
        if array.is_container:
            names = [volume.name for volume in volumes if member.name in {its.name for its in volume.members}]
            text = f"{node_path(member.name)}, {'in ' + ', '.join(names) if names else 'spare'}"
            yield Fact(label=f"Disk {member.name}", value=clean(text, 200))
        elif not any(f"dev-{member.name}/{name}" in array.untold for name in MEMBER_ATTRIBUTES):
            label = f"{member.role.capitalize()} {member.name}" if member.slot is None else f"Member {member.slot}"
            yield Fact(label=label, value=_member_line(member))


_OF_OTHERS = ("Kind", "Built on", "Volumes")
"""Labels of facts that depend on other arrays."""

_OF_MANY = ("Array state", "Task", "Bitmap")
"""Labels of facts that are derived from several files and would be wrong if one of these could not be read."""


def _lines(array: ArrayFacts, arrays: Mapping[str, ArrayFacts]) -> Iterable[tuple[str, str | None]]:
    attributes = array.attributes
    yield "Kind", _kind(array, arrays)
    if array.is_container:  # a container has only disks
        yield (
            "Volumes",
            ", ".join(name for name, array_facts in arrays.items() if array_facts.container == array.name) or "none",
        )
        yield "Metadata", array.metadata
        yield "UUID", array.uuid
        return
    yield "Built on", _nested_text(array, arrays)
    yield "Layout", layout_label(array.layout_word) if array.layout_word is not None else None
    if array.chunk is not None and array.chunk.old is not None:
        yield "Reshape", f"chunk {size_words(array.chunk.old)} becomes {size_words(array.chunk.now)}"
    state = _STATES.get(array.array_state, array.array_state or "unknown")
    yield "Array state", ", ".join(filter(None, (state, _missing(array))))
    yield "Task", _task_line(array)
    yield "Metadata", array.metadata
    yield "UUID", array.uuid
    yield "Consistency policy", clean(attributes.get("consistency_policy", ""))
    yield "Bitmap", _bitmap_line(array)
    yield "Stripe cache", _cache_line(array)
    if attributes.get("mismatch_cnt", "0") != "0":
        yield "Mismatches", f"{clean(attributes['mismatch_cnt'], 20)} sectors at the last check or resync"


def _kind(array: ArrayFacts, arrays: Mapping[str, ArrayFacts]) -> str | None:
    """Return a description of a container, a volume in one, a converted RAID 0 or an unknown level; None for others."""
    if array.is_container:
        return f"container with {array.metadata.removeprefix('external:')} metadata"
    if array.container is not None:
        above = arrays.get(array.container)
        kind = f" ({above.metadata.removeprefix('external:')})" if above is not None else ""
        return f"volume of the container {array.container}{kind}"
    if array.is_converted and array.sync is not None:
        return "RAID 0, running as a RAID 4 without parity disk until its reshape ends"
    if array.level is Level.UNKNOWN:
        return array.level_word or "no level (never started)"
    return None


def _nested_text(array: ArrayFacts, arrays: Mapping[str, ArrayFacts]) -> str | None:
    """Return a string such as `2 x raid5` for an array of arrays; None for others."""
    levels = [arrays[member.name].level_word for member in array.members if member.name in arrays]
    if not levels:
        return None
    counts = {level: levels.count(level) for level in levels}
    text = " and ".join(f"{count} x {level}" for level, count in counts.items())
    names = {("raid0", "raid5"): "RAID 50", ("raid0", "raid6"): "RAID 60", ("raid0", "raid1"): "RAID 1+0"}
    both = names.get((array.level_word, levels[0])) if len(counts) == 1 and len(levels) == len(array.members) else None
    return f"{text} ({both})" if both else text


def _task_line(array: ArrayFacts) -> str | None:
    sync = array.sync
    if sync is None:
        frozen = array.attributes.get("sync_action") == "frozen"
        return "frozen: no rebuild, resync or check starts until sync_action is idle" if frozen else None
    parts = [sync.action]
    parts += [percent_text(sync.progress, 1)] if sync.progress is not None else []
    parts += ["waiting"] if sync.waiting else []
    parts += [f"{sync.speed_kib} KiB/s on each member"] if sync.speed_kib is not None else []
    parts += [f"{time_text(sync.left_seconds)} left"] if sync.left_seconds is not None else []
    return ", ".join(parts)


def _bitmap_line(array: ArrayFacts) -> str | None:
    word = bitmap_word(array.attributes)
    if word in (None, "none"):
        return word
    return f"{word}, {array.stat.bitmap}" if array.stat is not None and array.stat.bitmap else word


def _cache_line(array: ArrayFacts) -> str | None:
    pages = array.attributes.get("stripe_cache_size", "")
    if not pages.isascii() or not pages.isdigit() or len(pages) > 9 or not array.disks:
        return None
    return f"{pages} pages on each of {array.disks} members"


def _member_line(member: ArrayDevice) -> str:
    parts = [f"{node_path(member.name)}", member.role, *member.marks]
    parts += [f"{member.errors} corrected read errors"] if member.errors else []
    return ", ".join(clean(word, 64) for word in parts)


def known_by_udev(node: Node | None) -> Mapping[str, str]:
    """Return the properties of an array in udev's database: `MD_NAME`, `MD_UUID`."""
    udev = {} if node is None else node.udev
    return {key: clean(value) for key, value in udev.items() if key.startswith("MD_")}
