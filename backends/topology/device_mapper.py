"""Device-mapper tables and status from the output of `dmsetup`, and the devices that targets are built on.

A line of the output is `NAME: START LENGTH TARGET ARGUMENTS...` in sectors of 512 bytes (dmsetup(8)). The arguments
are described in Documentation/admin-guide/device-mapper in the kernel's source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from backends.host import Host
from backends.topology.stacking import lvm_names_below
from backends.topology.tree import Node, Tree, grouped, run_tool
from backends.values import dataclass

TABLE = ("table",)
"""Arguments of dmsetup for the active tables."""

_LINE_mapped = re.compile(r"(\S{1,300}): (\d{1,18}) (\d{1,18}) ([a-z0-9-]{1,32})(?: (.{0,8000}))?")
_DEVICE = re.compile(r"\d{1,8}:\d{1,8}")
_MOST = 4
"""Maximum number of devices that are named in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRange:
    """A range of a lower device that a device-mapper target uses."""

    on: str
    """MAJ:MIN of the lower device."""
    start: int = 0
    """First sector."""
    sectors: int | None = None
    """Number of sectors; None for all sectors up to the end of the device."""
    thin: str | None = None
    """ID of the thin volume if `on` is its thin pool; None otherwise.

    Volumes with different IDs never share a block of the pool.
    """
    read: bool = False
    """Whether the target only reads this range; writes to the target go elsewhere."""
    at: int | None = None
    """Sector of the mapped device that corresponds to `start`; None if the target does not keep the order of sectors.
    """


Grammar = Callable[[Sequence[str], int], Iterator[DeviceRange]]
"""Function that yields the ranges that a target uses, from its arguments and its length in sectors.

Raises ValueError or IndexError if parsing fails.
"""


def _ranges(*positions: int) -> Grammar:
    """Return a parser of pairs of arguments `DEVICE OFFSET`. `positions`: index of the first argument of each pair.

    Only the first pair is required. Each range is as long as the target.
    """

    def read(args: Sequence[str], sectors: int) -> Iterator[DeviceRange]:
        for position in positions:
            if position == positions[0] or position < len(args):
                yield _part(args[position], args[position + 1], sectors, at=0)

    return read


def _striped(args: Sequence[str], sectors: int) -> Iterator[DeviceRange]:
    count = int(args[0])
    for at in range(count):
        yield _part(args[2 + 2 * at], args[3 + 2 * at], -(-sectors // count))


def _mirror(args: Sequence[str], sectors: int) -> Iterator[DeviceRange]:
    """Yield the ranges of `LOG COUNT ARGUMENT... MIRRORS DEVICE OFFSET ...`. An ARGUMENT may be the log's device."""
    log = int(args[1])
    yield from _all_of_each_device(args[2 : 2 + log], sectors)
    rest = args[2 + log :]
    for at in range(int(rest[0])):
        yield _part(rest[1 + 2 * at], rest[2 + 2 * at], sectors, at=0)


def _snapshot(args: Sequence[str], sectors: int) -> Iterator[DeviceRange]:
    """Yield the ranges of `ORIGIN COW ...`: writes to a snapshot go to the second device only."""
    yield DeviceRange(on=_device(args[0]), sectors=sectors, read=True)
    yield DeviceRange(on=_device(args[1]))


def _thin(args: Sequence[str], _sectors: int) -> Iterator[DeviceRange]:
    """Yield the ranges of `POOL NUMBER [ORIGIN]`: an external origin is only read."""
    yield DeviceRange(on=_device(args[0]), thin=str(int(args[1])))
    for origin in args[2:3]:
        yield DeviceRange(on=_device(origin), read=True)


def _nothing(_args: Sequence[str], _sectors: int) -> Iterator[DeviceRange]:
    yield from ()


def _all_of_each_device(args: Sequence[str], _sectors: int) -> Iterator[DeviceRange]:
    """Yield every device in the arguments, from its first sector to its last."""
    for word in args:
        if _DEVICE.fullmatch(word):
            yield DeviceRange(on=word)


_GRAMMARS: Mapping[str, Grammar] = {
    "linear": _ranges(0),
    "delay": _ranges(0, 3, 6),
    "flakey": _ranges(0),
    "dust": _ranges(0),
    "ebs": _ranges(0),
    "crypt": _ranges(3),
    "striped": _striped,
    "mirror": _mirror,
    "snapshot": _snapshot,
    "thin": _thin,
    "error": _nothing,
    "zero": _nothing,
}
"""Parser by type of target. Any other target counts as using every device in its arguments completely."""


def _part(device: str, offset: str, sectors: int, at: int | None = None) -> DeviceRange:
    return DeviceRange(on=_device(device), start=int(offset), sectors=sectors, at=at)


def _device(word: str) -> str:
    if not _DEVICE.fullmatch(word):
        raise ValueError(word)
    return word


def parse_mapped(text: str, tree: Tree) -> Mapping[str, tuple[DeviceRange, ...]]:
    """Return, by kernel name, the ranges that each device-mapper device uses, if its table is complete.

    The segments of a complete table are contiguous from 0 to the end of the device.
    """
    names: dict[str, list[Node]] = {}
    for node in tree.nodes.values():
        if name := node.attributes.get("dm/name"):
            names.setdefault(name, []).append(node)
    ranges: dict[str, list[DeviceRange]] = {}
    ends: dict[str, int | None] = {}
    for line in text.split("\n"):
        parts = _LINE_mapped.fullmatch(line)
        name = parts[1] if parts is not None else line.partition(": ")[0]
        for node in names.get(name, ()):
            segment = _stretches(parts, ends.get(node.name, 0)) if parts is not None else None
            ends[node.name] = None if segment is None else segment[0]
            ranges.setdefault(node.name, []).extend(() if segment is None else segment[1])
    complete = {name for name, end in ends.items() if end is not None and end * 512 == tree.nodes[name].size_bytes}
    return {name: tuple(stretches) for name, stretches in ranges.items() if name in complete}


def _stretches(parts: re.Match[str], so_far: int | None) -> tuple[int, list[DeviceRange]] | None:
    """Return the end sector of a table line and the ranges that the line uses.

    None if it does not start at `so_far` or cannot be parsed.
    """
    start, sectors, arguments = int(parts[2]), int(parts[3]), (parts[5] or "").split()
    if start != so_far:
        return None
    try:
        ranges = list(_GRAMMARS.get(parts[4], _all_of_each_device)(arguments, sectors))
        return start + sectors, [
            stretch if stretch.at is None else replace(stretch, at=stretch.at + start) for stretch in ranges
        ]
    except (ValueError, IndexError):
        return None


def unreported_ranges(tree: Tree, mapped: Mapping[str, tuple[DeviceRange, ...]], name: str) -> list[str]:
    """Return a clause for each device below `name` that another device also uses, if their ranges are unknown."""
    others_by_member: dict[str, list[str]] = {}
    for member, user, other in _pairs(tree, name):
        if not _ranges_on(mapped, user, member) or not _ranges_on(mapped, other, member):
            others_by_member.setdefault(member.device, []).append(tree.nodes[other].shown)
    return [
        (
            f"dmsetup does not report which parts of {member} belong to it and which to "
            f"{', '.join(dict.fromkeys(others[:_MOST]))}"
        )
        for member, others in others_by_member.items()
    ]


def _pairs(tree: Tree, name: str) -> Iterator[tuple[Node, str, str]]:
    """Yield triples: a device below `name`, the layer of `name` built on it, and another device built on it."""
    below = tree.below(name)
    chain = {tree.disk_of(name), *(node.name for node in below)}
    for member in below:
        users = [name for name in sorted(chain) if member.name in tree.nodes[name].slaves]
        for holder in member.holders:
            if holder not in chain and holder in tree.nodes:
                # Without a device-mapper device, a pool, cache or container gives both disjoint blocks: skip the pair.
                yield from ((member, user, holder) for user in users if is_mapped(user) or is_mapped(holder))


def _ranges_on(mapped: Mapping[str, tuple[DeviceRange, ...]], name: str, member: Node) -> list[DeviceRange]:
    """Return the ranges of `member` that the device `name` uses according to its table; empty if they are unknown."""
    return [stretch for stretch in mapped.get(name, ()) if stretch.on == member.devno]


def is_mapped(name: str) -> bool:
    """Return whether a kernel name is that of a device-mapper device."""
    return name.startswith("dm-")


# -- tables and status of device-mapper devices -----------------------------------------------------------------------

# One line `NAME: START LENGTH KIND ARGUMENTS` per segment, sizes in sectors of 512 bytes (dmsetup(8)).

STATUS = ("status", "--noflush")
"""Arguments of dmsetup that report the used space.

Without `--noflush`, a thin pool would commit its metadata (dmsetup(8)).
"""

SECTOR = 512
"""Bytes per device-mapper sector."""

_LINE = re.compile(r"(\S[^\n]{0,300}?): (\d{1,19}) (\d{1,19}) ([a-z0-9-]{1,32})((?: [^\n]{0,4000})?)")
_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One segment of a device-mapper table."""

    start: int
    """First sector."""
    length: int
    """Number of sectors."""
    kind: str
    """Target: `linear`, `thin`, `snapshot-origin`, ..."""
    args: tuple[str, ...] = ()
    """Arguments of the target, or fields of its status."""


Segments = Mapping[str, tuple[Segment, ...]]
"""All segments of each device in order, by name of the device."""


def parse_segments(text: str) -> Segments:
    """Return the segments in the output of `dmsetup table` or `dmsetup status`, by device-mapper name."""
    matches = (_LINE.fullmatch(line.rstrip()) for line in text.split("\n")[:100_000])
    return grouped(
        (match[1], Segment(start=int(match[2]), length=int(match[3]), kind=match[4], args=tuple(match[5].split())))
        for match in matches
        if match
    )


def range_texts(segment: Segment) -> tuple[str, ...]:
    """Return each range that a segment uses, as `MAJ:MIN+START#THIN`; empty if its arguments cannot be parsed."""
    try:
        ranges = list(_GRAMMARS.get(segment.kind, _all_of_each_device)(segment.args, segment.length))
    except (ValueError, IndexError):
        return ()
    return tuple(f"{stretch.on}+{stretch.start}{f'#{stretch.thin}' if stretch.thin else ''}" for stretch in ranges)


def segments_by_name(text: str) -> Segments:
    """Return the segments in the output of dmsetup by device-mapper name, with the escapes in names decoded."""
    return {_plain(name): parts for name, parts in parse_segments(text).items()}


def segments_by_kernel_name(text: str, tree: Tree) -> Segments:
    """Return the segments in the output of dmsetup by kernel name.

    Devices that the output does not contain are left out.
    """
    segments = segments_by_name(text)
    names = {node.name: _plain(node.attributes.get("dm/name", "")) for node in tree.nodes.values()}
    return {kernel_name: segments[name] for kernel_name, name in names.items() if name in segments}


async def query_dmsetup(host: Host, tree: Tree, question: tuple[str, ...]) -> str:
    """Return the output of dmsetup with the arguments `question`; "" if there is no device-mapper device."""
    return await dmsetup_output(host, question) if any(map(is_mapped, tree.nodes)) else ""


async def dmsetup_output(host: Host, question: tuple[str, ...]) -> str:
    """Return the output of dmsetup with the arguments `question`; "" on failure, without root, or after a timeout."""
    done = await run_tool(host, ("dmsetup", *question))
    return "" if done is None else done.stdout


def _plain(name: str) -> str:
    r"""Return a name without device-mapper's escapes: `\x20` is a blank."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)


# -- classic snapshots: overwriting their origin fills their COW stores -----------------------------------------------

ORIGIN, SNAPSHOT = "snapshot-origin", "snapshot"
"""Types of device-mapper targets for classic snapshots."""


def snapshots_of(tree: Tree, tables: Segments, node: Node) -> tuple[Node, ...]:
    """Return the active classic snapshots of which `node` is the origin.

    An origin and its snapshots are built on the same hidden device. A snapshot is also built on its COW store
    (lib/activate/dev_manager.c of LVM; Documentation/admin-guide/device-mapper/snapshot.rst of the kernel).
    """
    if node.name in tables and not any(part.kind == ORIGIN for part in tables[node.name]):
        return ()
    shared = [tree.nodes[name] for name in node.slaves if name in tree.nodes]
    others = {holder for lower in shared for holder in lower.holders if holder != node.name and holder in tree.nodes}
    return tuple(tree.nodes[name] for name in sorted(others) if _is_snapshot(tree, tables, node, tree.nodes[name]))


def _is_snapshot(tree: Tree, tables: Segments, origin: Node, node: Node) -> bool:
    if node.name in tables:
        return any(part.kind == SNAPSHOT for part in tables[node.name])
    origin_names = lvm_names_below(tree, origin)
    return any("cow" in name.endings for name in lvm_names_below(tree, node) if name not in origin_names)
