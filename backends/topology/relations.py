"""One thing under several names: other paths to a disk, loop devices on one file, what a device is set up on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from backends.identity import Identity, Use
from backends.text import clean
from backends.topology.naming import identity
from backends.topology.tree import Node, Tree, natural, node_path
from backends.values import dataclass

IS = ("mount", "swap", "btrfs", "zfs", "export", "lvm", "bcache", "md")
"""Kinds of use whose detail completes "X is ..."."""

_ACROSS = ("mount", "swap", "btrfs", "export", "open")
"""Uses of a member that concern what is built of it. That the system or something else is built on the member too, as
volumes of one group are, does not."""

_KEEPERS = ("multipathd", "mdmon")
"""Programs that keep the paths or members of what they look after open all the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """What a loop or zram device keeps its data in."""

    path: str
    """A file or a block device."""
    devno: str | None = None
    """MAJ:MIN, when it is a block device."""
    place: str | None = None
    """Device and inode number, when it is a file."""

    @property
    def known(self) -> bool:
        """Whether it could be looked at: one that was deleted, or lies in another mount namespace, could not."""
        return self.devno is not None or self.place is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Another device that holds the same data, or part of them."""

    words: str
    """What completes "/dev/sdl is ...": `the same disk as /dev/sdk`."""
    nodes: tuple[Node, ...] = ()
    """The disk and its partitions; of what something is built on, the member alone."""
    member: bool = False
    """Whether the device is built on it, and so has claimed it already."""

    def told(self, use: Use, program: str = "") -> Use | None:
        """A use of the other device, by a program, as one of this; None for one that does not concern it."""
        if self.member and (use.kind not in _ACROSS or program in _KEEPERS):
            return None
        if use.part is not None and use.kind in IS:
            detail = f"{self.words}: {node_path(use.part)} is {use.detail}"
        elif use.kind in IS:
            detail = f"{self.words}, {use.detail}"
        else:
            detail = f"{self.words}: {use.detail}"
        return replace(use, detail=detail, part=None, elsewhere=True)


def twins_of(tree: Tree) -> dict[str, tuple[str, ...]]:
    """For every disk that the kernel has more than once: its other names."""
    known: dict[str, Identity] = {}
    groups: dict[tuple[object, ...], list[str]] = {}
    for node in tree.nodes.values():
        if node.parent is not None or node.attributes.get("hidden") == "1":
            continue
        own = known[node.name] = identity(node)
        described = (own.serial, own.model, own.size_bytes)
        keys: list[tuple[object, ...]] = [(own.wwn,)] if own.wwn else []
        keys += [described] if all(described) else []
        for key in keys:
            groups.setdefault(key, []).append(node.name)
    found: dict[str, set[str]] = {}
    for names in groups.values():
        for name in names:
            found.setdefault(name, set()).update(
                other for other in names if other != name and known[name].same_disk(known[other])
            )
    return {name: tuple(sorted(others)) for name, others in found.items() if others}


def paths_of(twins: Mapping[str, tuple[str, ...]], disk: str) -> tuple[str, ...]:
    """All names of a disk, its own included, in natural order: the first is what everybody calls it by."""
    found = {disk: None}
    waiting = [disk]
    while waiting:
        new = [other for other in twins.get(waiting.pop(), ()) if other not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return tuple(sorted(found, key=natural))


def relations(
    tree: Tree, twins: Mapping[str, tuple[str, ...]], backings: Mapping[str, Backing], name: str
) -> tuple[Relation, ...]:
    """All that is the same thing as the disk of `name`, or lies beneath it, through any number of steps."""
    start = tree.disk_of(name)
    found: dict[str, Relation] = {}
    below = tree.below(name)
    for node in below:
        if node.name != start:
            found[node.name] = Relation(words=f"built on {node.device}", nodes=(node,), member=True)
    seen = {start, *(tree.disk_of(node.name) for node in below)}
    waiting = [(start, "")] + [(each, f"built on {node_path(each)}, ") for each in seen if each != start]
    while waiting:
        disk, way = waiting.pop(0)
        for other, words in _next(tree, twins, backings, disk):
            if other in seen:
                continue
            seen.add(other)
            found[other] = Relation(words=way + words, nodes=tree.family(other))
            waiting.append((other, f"{way}{words}, "))
    return tuple(found.values())


def _next(
    tree: Tree, twins: Mapping[str, tuple[str, ...]], backings: Mapping[str, Backing], disk: str
) -> Iterator[tuple[str, str]]:
    """Disks that are one step away, with the words for it."""
    for other in twins.get(disk, ()):
        yield other, f"the same disk as {node_path(other)}"
    own = backings.get(disk)
    if own is None or not own.known:
        return
    for other, backing in backings.items():
        if other != disk and (backing.devno, backing.place) == (own.devno, own.place):
            yield other, f"set up on the same data as {node_path(other)}"
    lower = tree.by_devno(own.devno) if own.devno is not None else None
    if lower is not None:
        yield tree.disk_of(lower.name), f"set up on {lower.device}"


def files_of(disks: Iterable[str], backings: Mapping[str, Backing]) -> dict[str, Relation]:
    """By place, the files that these devices keep their data in."""
    known = [backings[disk] for disk in disks if disk in backings]
    return {one.place: Relation(words=f"set up on {clean(one.path, 512)}") for one in known if one.place is not None}
