"""What a device is to the layer that has it: physical volume, cache, backing device, disk of a container."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from backends.host import Host
from backends.identity import Use
from backends.text import clean
from backends.topology.lvm import lvm_holders, lvm_name, lvm_words
from backends.topology.pools import Pools
from backends.topology.tree import Node, Tree
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberMark:
    """A signature of what is a part of something bigger."""

    words: str
    """What completes "X holds ...", or "X is ..."."""
    verb: str = "holds"
    """Which of the two."""
    named: str = ""
    """The same with the name of what it is a part of, where the signature's label has it."""
    remove: str
    """Programs that take the mark away."""
    layer: str = ""
    """The kind of use that tells of it while it is in use."""

    def told(self, label: str | None) -> str:
        """With a name if there is one."""
        return self.named.format(label) if label and self.named else self.words


HELD = ("holder", "lvm", "bcache", "md")
"""Kinds of use that say what is built on a device."""

SET = MemberMark(verb="is", words="a member of a RAID or multipath set", remove="mdadm --zero-superblock, wipefs")
"""Of an array, a container or a path: such a signature says which."""

_PV = MemberMark(layer="lvm", words="a physical volume", named="a physical volume of {}", remove="pvremove")

MARKS = {
    "LVM2_member": _PV,
    "LVM1_member": _PV,
    "bcache": MemberMark(layer="bcache", words="a backing or cache device of bcache", remove="wipefs"),
    "zfs_member": MemberMark(
        layer="zfs", words="a part of a ZFS pool", named="a part of the ZFS pool {}", remove="zpool labelclear"
    ),
    "isw_raid_member": replace(SET, layer="md"),
    "ddf_raid_member": replace(SET, layer="md"),
    "mpath_member": SET,
    "ceph_bluestore": MemberMark(words="a part of a Ceph cluster", remove="ceph-volume lvm zap"),
    "drbd": SET,
    "stratis": MemberMark(words="a part of a Stratis pool", remove="wipefs"),
    "VMFS_volume_member": MemberMark(words="a part of a VMFS volume", remove="wipefs"),
}
"""What libblkid's TYPE says of a part of something bigger."""


def mark_of(kind: str) -> MemberMark | None:
    """What a signature marks, in use or not, which claims it again at the next chance; None for what stands alone."""
    return MARKS.get(kind) or (SET if kind.endswith("_raid_member") else None)


def layer_uses(
    tree: Tree, bcache: Mapping[str, str], pools: Pools, node: Node, part: str | None, ours: Collection[str]
) -> Iterator[Use]:
    """What has a device, each layer by its own name; what is built on it by one of `ours` is left out."""
    built = replace(node, holders=tuple(holder for holder in node.holders if holder not in ours))
    for words in lvm_words(tree, built).values():
        yield Use(kind="lvm", detail=words, part=part)
    by_lvm = lvm_holders(tree, built)
    for holder in built.holders:
        if holder not in by_lvm:
            yield _built(tree, bcache.get(node.name), holder, part)
    if not node.holders and node.name in bcache:
        detail = {
            "cache": "a cache device of bcache, of a set without a backing device",
            "backing": "the backing device of a bcache device that does not run",
        }[bcache[node.name]]
        yield Use(kind="bcache", detail=detail, part=part)
    for vdev in pools.vdevs.get(node.name, ()):
        yield Use(kind="zfs", detail=vdev.words, part=part)


def _built(tree: Tree, in_bcache: str | None, holder: str, part: str | None) -> Use:
    above = tree.nodes.get(holder)
    if in_bcache is not None and holder.startswith("bcache"):
        return Use(kind="bcache", detail=f"the {in_bcache} device of {clean(holder)}", part=part)
    if above is not None and (kind := container_kind(above)) is not None:
        return Use(kind="md", detail=f"a disk of the container {above.device} ({kind})", part=part)
    shown = above.shown if above is not None else f"/dev/{clean(holder)}"
    return Use(kind="holder", detail=f"{shown} is built on it", part=part)


def container_kind(node: Node) -> str | None:
    """`imsm`, `ddf`: of an md device that is a container of such disks; None of anything else.

    A container reads `external:imsm`, a volume in it `external:/md127/0` (drivers/md/md.c: metadata_show).
    """
    front, colon, kind = node.attributes.get("md/metadata_version", "").partition(":")
    return clean(kind, 16) if front == "external" and colon and kind[:1] not in ("/", "-") else None


async def read_bcache(host: Host) -> dict[str, str]:
    """By kernel name, the devices that bcache has: `cache` or `backing`, attached, running or not.

    Below a cache device is a link to its set, below a backing one `running` (drivers/md/bcache: super.c, sysfs.c).
    """
    if not await host.list("/sys/fs/bcache/register"):
        return {}
    patterns = [f"/sys/block/{depth}/bcache/{name}" for name in ("running", "set") for depth in ("*", "*/*")]
    found: dict[str, str] = {}
    for paths in await asyncio.gather(*map(host.list, patterns)):
        for path in paths:
            name = path.split("/")[-3]
            if not name.startswith("bcache"):  # which links to its backing device's folder
                found[name] = "cache" if path.endswith("/set") else "backing"
    return found


def volume_shown(node: Node) -> str | None:
    """What people call something built on disks: `vg0/mail`, `md3`, `bcache0`; None for a part of a volume."""
    name = lvm_name(node)
    if name is not None:
        return None if name.endings else name.shown
    if container_kind(node) is not None:
        return f"the container {node.name}"
    return clean(node.attributes.get("dm/name", "")) or node.name.replace("!", "/")
