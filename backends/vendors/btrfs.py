"""btrfs filesystems on several devices, shown as arrays without a block device of their own and without settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from backends.model import Array, Fact, Inventory, Level, Scope, State, Target, Task
from backends.protocol import Vendor, present_if_found
from backends.raid import data_drives
from backends.text import clean
from backends.topology import Node, Topology, scan_topology
from backends.vendors._read_only import ListingBackend

NAME = "btrfs"
"""Prefix of this backend's targets."""

_ROOT = "/sys/fs/btrfs"
"""Mounted filesystems by UUID (btrfs-progs documentation, ch-sysfs)."""

_LEVELS = {
    "single": Level.CONCAT,
    "dup": Level.CONCAT,
    "raid0": Level.RAID0,
    "raid1": Level.RAID1,
    "raid1c3": Level.RAID1,
    "raid1c4": Level.RAID1,
    "raid10": Level.RAID10,
    "raid5": Level.RAID5,
    "raid6": Level.RAID6,
}
"""RAID level by the kernel's name of the data profile (fs/btrfs/volumes.c, btrfs_raid_array)."""

_COPIES = {"raid1": 2, "raid1c3": 3, "raid1c4": 4, "raid10": 2}
_STRIPED = (Level.RAID0, Level.RAID10, Level.RAID5, Level.RAID6)

STRIP = 64 << 10
"""Strip size in bytes (fs/btrfs/volumes.h, BTRFS_STRIPE_LEN)."""

_TASKS = {"device replace": "rebuild", "device remove": "reshape", "device add": "reshape"}
"""Kind of task by the operation in `exclusive_operation` (since Linux 5.10). Other operations keep their name."""


class Btrfs(ListingBackend):
    """Mounted btrfs filesystems that have several devices, or of which a device is missing."""

    async def inventory(self) -> Inventory:
        """Return the filesystems as arrays, named by label. A filesystem without a unique label is named by UUID."""
        picture = await scan_topology(self._host)
        texts: dict[str, Mapping[str, str]] = {}
        profiles: dict[str, Mapping[str, list[str]]] = {}
        for uuid in picture.btrfs:
            texts[uuid] = await self._texts(uuid)
            profiles[uuid] = {kind: await self._profiles(uuid, kind) for kind in ("data", "metadata")}
        wide = [uuid for uuid, members in picture.btrfs.items() if len(members) > 1 or _missing(texts[uuid])]
        labels = [clean(texts[uuid].get("label", "")) for uuid in wide]
        named = {uuid: label if labels.count(label) == 1 else "" for uuid, label in zip(wide, labels, strict=True)}
        return Inventory(arrays=tuple(_array(uuid, named[uuid], texts[uuid], profiles[uuid], picture) for uuid in wide))

    async def _texts(self, uuid: str) -> Mapping[str, str]:
        """Return the contents of small sysfs files by their path below the filesystem's folder."""
        folder = f"{_ROOT}/{uuid}"
        devices = await self._host.list(f"{folder}/devinfo/*/missing")
        errors = [path.replace("/missing", "/error_stats") for path in devices]
        paths = [f"{folder}/label", f"{folder}/exclusive_operation", *devices, *errors]
        texts = await self._host.read_many(paths)
        return {path.removeprefix(f"{folder}/"): text.strip() for path, text in texts.items()}

    async def _profiles(self, uuid: str, kind: str) -> list[str]:
        """Return the RAID profiles that the filesystem uses for `kind` (data or metadata); two during a conversion."""
        paths = await self._host.list(f"{_ROOT}/{uuid}/allocation/{kind}/*/total_bytes")
        sizes = await self._host.read_many(paths)
        return [path.split("/")[-2] for path in paths if sizes.get(path, "0").strip() != "0"]


def _array(
    uuid: str, label: str, texts: Mapping[str, str], profiles: Mapping[str, Sequence[str]], picture: Topology
) -> Array:
    members = picture.btrfs[uuid]
    nodes = [picture.tree.nodes[name] for name in members if name in picture.tree.nodes]
    disks = dict.fromkeys(picture.tree.disk_of(node.name) for node in nodes)
    missing = _missing(texts)
    count = len(members) + len(missing)
    profile = profiles["data"][0] if len(profiles["data"]) == 1 else ""
    level = _LEVELS.get(profile, Level.UNKNOWN)
    points = sorted({mount.point for name in members for mount in picture.mounted.get(name, ()) if not mount.seen_in})
    return Array(
        target=Target(backend=NAME, address=label or clean(uuid), scope=Scope.ARRAY),
        name=label or None,
        level=level,
        state=State.DEGRADED if missing else State.OPTIMAL,
        why=f"{len(missing)} of {count} devices missing" if missing else "",
        size_bytes=None if missing or len(nodes) < count else _usable(profile, level, nodes),
        strip_bytes=STRIP if level in _STRIPED else None,
        data_drives=data_drives(level, count, copies=_COPIES.get(profile)) if level in _STRIPED else None,
        folder=min(points, key=len, default=None),
        members=tuple(Target(backend="block", address=name) for name in disks),
        uses=tuple(dict.fromkeys(use for name in members for use in picture.uses(name) if use.kind == "mount")),
        tasks=tuple(_tasks(texts.get("exclusive_operation", ""))),
        facts=tuple(Fact(label=name, value=value) for name, value in _lines(uuid, texts, profiles) if value),
    )


def _missing(texts: Mapping[str, str]) -> list[str]:
    """Return the sysfs paths of missing devices."""
    return [path for path, text in texts.items() if path.endswith("/missing") and text == "1"]


def _usable(profile: str, level: Level, nodes: Sequence[Node]) -> int | None:
    """Return the bytes that can be used for data; None if unequal sizes of devices make that uncertain.

    RAID 1 puts two copies on different devices, so the other devices limit a device that is larger than their sum.
    """
    sizes = [node.size_bytes for node in nodes if node.size_bytes]
    if len(sizes) < len(nodes):
        return None
    if profile == "single":
        return sum(sizes)
    if profile == "raid1":
        return min(sum(sizes) // 2, sum(sizes) - max(sizes))
    drives = data_drives(level, len(sizes), copies=_COPIES.get(profile))
    return sizes[0] * drives if drives and len(set(sizes)) == 1 else None


def _tasks(operation: str) -> Iterator[Task]:
    if operation not in ("", "none", "swap activate", "resize") and not operation.endswith("paused"):
        yield Task(kind=_TASKS.get(operation, clean(operation, 40)))


def _lines(uuid: str, texts: Mapping[str, str], profiles: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    yield "UUID", clean(uuid)
    yield "Data", ", ".join(clean(name, 20) for name in profiles["data"])
    yield "Metadata", ", ".join(clean(name, 20) for name in profiles["metadata"])
    for path, text in sorted(texts.items()):
        if path.endswith("/error_stats"):
            counts = (line.split() for line in text.splitlines())
            errors = [
                f"{count[1]} {count[0].removesuffix('_errs')}"
                for count in counts
                if len(count) == 2 and count[1].isdigit() and count[1] != "0"
            ]
            yield f"Errors, {path.split('/')[1]}", clean(", ".join(errors), 120)
    if texts.get("exclusive_operation", "").endswith("paused"):
        yield "Paused", clean(texts["exclusive_operation"].removesuffix(" paused"), 40)


VENDOR = Vendor(name=NAME, backend=Btrfs, present=present_if_found(f"{_ROOT}/*/devices/*"))
"""Registry entry."""
