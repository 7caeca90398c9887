"""What device-mapper's targets lie on: the tables that the kernel has in force, by the lines of `dmsetup table`. Pure.

`NAME: START LENGTH TARGET ARGUMENTS...` in sectors of 512 bytes (dmsetup(8)); the arguments are those of
Documentation/admin-guide/device-mapper in the kernel's source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from backends.host import Host
from backends.topology.stacking import lvm_names_below
from backends.topology.tree import Node, Tree, run_tool
from backends.values import dataclass

TABLE = ("table",)
"""What dmsetup is asked."""

_LINE_mapped = re.compile(r"(\S{1,300}): (\d{1,18}) (\d{1,18}) ([a-z0-9-]{1,32})(?: (.{0,8000}))?")
_DEVICE = re.compile(r"\d{1,8}:\d{1,8}")
_MOST = 4
"""Devices that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRange:
    """A part of a device that a target lies on."""

    on: str
    """MAJ:MIN of the device."""
    start: int = 0
    """Its first sector."""
    sectors: int | None = None
    """How many; None up to the end, wherever that is."""
    thin: str | None = None
    """The number by which a thin pool knows the volume: of one pool two numbers never share a block."""
    read: bool = False
    """It is only read there: what is written to the target goes elsewhere."""
    at: int | None = None
    """The sector of the device that is at `start`, if the following ones keep their order; None if they do not."""


Grammar = Callable[[Sequence[str], int], Iterator[DeviceRange]]
"""What a target of so many sectors with these arguments lies on. Raises ValueError, IndexError where it is unclear."""


def _ranges(*positions: int) -> Grammar:
    """`DEVICE OFFSET` at these places, each as long as the target; those behind the first may be missing."""

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
    """`LOG COUNT ARGUMENT... MIRRORS DEVICE OFFSET ...`; a log on a disk is among its arguments."""
    log = int(args[1])
    yield from _whole(args[2 : 2 + log], sectors)
    rest = args[2 + log :]
    for at in range(int(rest[0])):
        yield _part(rest[1 + 2 * at], rest[2 + 2 * at], sectors, at=0)


def _snapshot(args: Sequence[str], sectors: int) -> Iterator[DeviceRange]:
    """`ORIGIN COW ...`: what is written to a snapshot goes to the second alone."""
    yield DeviceRange(on=_device(args[0]), sectors=sectors, read=True)
    yield DeviceRange(on=_device(args[1]))


def _thin(args: Sequence[str], _sectors: int) -> Iterator[DeviceRange]:
    """`POOL NUMBER [ORIGIN]`: an origin outside the pool is only read."""
    yield DeviceRange(on=_device(args[0]), thin=str(int(args[1])))
    for origin in args[2:3]:
        yield DeviceRange(on=_device(origin), read=True)


def _nothing(_words: Sequence[str], _sectors: int) -> Iterator[DeviceRange]:
    yield from ()


def _whole(args: Sequence[str], _sectors: int) -> Iterator[DeviceRange]:
    """Every device that is named, from its first sector to its last."""
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
"""By target; of any other every device that it names counts whole."""


def _part(device: str, offset: str, sectors: int, at: int | None = None) -> DeviceRange:
    return DeviceRange(on=_device(device), start=int(offset), sectors=sectors, at=at)


def _device(word: str) -> str:
    if not _DEVICE.fullmatch(word):
        raise ValueError(word)
    return word


def parse_mapped(text: str, tree: Tree) -> Mapping[str, tuple[DeviceRange, ...]]:
    """By kernel name, all that each device-mapper device lies on; one whose table is not told whole is left out.

    The segments of a table follow each other from 0 to the end of the device.
    """
    names: dict[str, list[Node]] = {}
    for node in tree.nodes.values():
        if given := node.attributes.get("dm/name"):
            names.setdefault(given, []).append(node)
    matches: dict[str, list[DeviceRange]] = {}
    ends: dict[str, int | None] = {}
    for line in text.split("\n"):
        parts = _LINE_mapped.fullmatch(line)
        given = parts[1] if parts is not None else line.partition(": ")[0]
        for node in names.get(given, ()):
            own = _stretches(parts, ends.get(node.name, 0)) if parts is not None else None
            ends[node.name] = None if own is None else own[0]
            matches.setdefault(node.name, []).extend(() if own is None else own[1])
    whole = {name for name, end in ends.items() if end is not None and end * 512 == tree.nodes[name].size_bytes}
    return {name: tuple(stretches) for name, stretches in matches.items() if name in whole}


def _stretches(parts: re.Match[str], so_far: int | None) -> tuple[int, list[DeviceRange]] | None:
    """Where a segment ends, and what it lies on; None where the table cannot be followed."""
    start, sectors, arguments = int(parts[2]), int(parts[3]), (parts[5] or "").split()
    if start != so_far:
        return None
    try:
        ranges = list(_GRAMMARS.get(parts[4], _whole)(arguments, sectors))
        return start + sectors, [
            stretch if stretch.at is None else replace(stretch, at=stretch.at + start) for stretch in ranges
        ]
    except (ValueError, IndexError):
        return None


def unreported_ranges(tree: Tree, mapped: Mapping[str, tuple[DeviceRange, ...]], name: str) -> list[str]:
    """Where it is not known whether it shares a part of something with another device, in words."""
    matches: dict[str, list[str]] = {}
    for member, user, beside in _pairs(tree, name):
        if not _ranges_on(mapped, user, member) or not _ranges_on(mapped, beside, member):
            matches.setdefault(member.device, []).append(tree.nodes[beside].shown)
    return [
        f"dmsetup does not tell which parts of {member} it and {', '.join(dict.fromkeys(others[:_MOST]))} have"
        for member, others in matches.items()
    ]


def _pairs(tree: Tree, name: str) -> Iterator[tuple[Node, str, str]]:
    """What a device is built on, by which of its layers, and what device-mapper has built there beside that."""
    below = tree.below(name)
    chain = {tree.disk_of(name), *(node.name for node in below)}
    for member in below:
        users = [name for name in sorted(chain) if member.name in tree.nodes[name].slaves]
        for beside in member.holders:
            if beside not in chain and beside in tree.nodes:
                # a pool or a cache divides what it has among its volumes by itself
                yield from ((member, user, beside) for user in users if is_mapped(user) or is_mapped(beside))


def _ranges_on(mapped: Mapping[str, tuple[DeviceRange, ...]], name: str, member: Node) -> list[DeviceRange]:
    """What a device has of a member by its table; nothing where that is not known."""
    return [stretch for stretch in mapped.get(name, ()) if stretch.on == member.devno]


def is_mapped(name: str) -> bool:
    """Whether a kernel name is that of a device-mapper device."""
    return name.startswith("dm-")


# -- device-mapper as the kernel has it: what it makes of each device, and how full that is ---------------------------

# `NAME: START LENGTH KIND WORDS` a segment, sizes in sectors of 512 bytes (dmsetup(8)).

STATUS = ("status", "--noflush")
"""What dmsetup is asked for how full they are; a flush makes a thin pool commit its metadata (dmsetup(8))."""

SECTOR = 512
"""Bytes of device-mapper's unit."""

_LINE = re.compile(r"(\S[^\n]{0,300}?): (\d{1,19}) (\d{1,19}) ([a-z0-9-]{1,32})((?: [^\n]{0,4000})?)")
_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a device."""

    start: int
    """Its first sector."""
    length: int
    """Sectors."""
    kind: str
    """Target: `linear`, `thin`, `snapshot-origin`, ..."""
    words: tuple[str, ...] = ()
    """What follows."""


Segments = Mapping[str, tuple[Segment, ...]]
"""By name, all parts of a device in their order."""


def parse_segments(text: str) -> Segments:
    """What `dmsetup table` or `dmsetup status` printed, by device-mapper's names."""
    matches: dict[str, tuple[Segment, ...]] = {}
    for line in text.split("\n")[:100_000]:
        if match := _LINE.fullmatch(line.rstrip()):
            segment = Segment(start=int(match[2]), length=int(match[3]), kind=match[4], words=tuple(match[5].split()))
            matches[match[1]] = (*matches.get(match[1], ()), segment)
    return matches


def range_texts(segment: Segment) -> tuple[str, ...]:
    """Return the ranges of other devices that a segment names, as words; none where its arguments are not known."""
    try:
        ranges = list(_GRAMMARS.get(segment.kind, _whole)(segment.words, segment.length))
    except (ValueError, IndexError):
        return ()
    return tuple(f"{stretch.on}+{stretch.start}{f'#{stretch.thin}' if stretch.thin else ''}" for stretch in ranges)


def segments_by_name(text: str) -> Segments:
    """Return what `parse_segments` does, by names without escapes."""
    return {_plain(name): parts for name, parts in parse_segments(text).items()}


def segments_by_kernel_name(text: str, tree: Tree) -> Segments:
    """The same by kernel name; of a device that it does not tell of there is nothing."""
    fields = segments_by_name(text)
    given = {name: node.attributes["dm/name"] for name, node in tree.nodes.items() if "dm/name" in node.attributes}
    return {name: fields[_plain(own)] for name, own in given.items() if _plain(own) in fields}


async def query_dmsetup(host: Host, tree: Tree, question: tuple[str, ...]) -> str:
    """What dmsetup answers; nothing where there is nothing to ask about."""
    return await dmsetup_output(host, question) if any(map(is_mapped, tree.nodes)) else ""


async def dmsetup_output(host: Host, question: tuple[str, ...]) -> str:
    """What dmsetup answers; nothing where it gives none: without root, without the program, too late."""
    done = await run_tool(host, ("dmsetup", *question))
    return "" if done is None else done.stdout


def _plain(name: str) -> str:
    r"""Without device-mapper's escapes: `\x20` is a blank."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)


# -- classic snapshots and what they were taken of: whoever overwrites that fills their stores ------------------------

ORIGIN, SNAPSHOT = "snapshot-origin", "snapshot"
"""Targets of device-mapper."""


def snapshots_of(tree: Tree, tables: Segments, node: Node) -> tuple[Node, ...]:
    """The active classic snapshots of a device, if it is what they were taken of.

    Both are built on the same hidden device, a snapshot on its store besides (lib/activate/dev_manager.c; the kernel's
    Documentation/admin-guide/device-mapper/snapshot.rst).
    """
    if node.name in tables and not any(part.kind == ORIGIN for part in tables[node.name]):
        return ()
    shared = [tree.nodes[name] for name in node.slaves if name in tree.nodes]
    others = {holder for lower in shared for holder in lower.holders if holder != node.name and holder in tree.nodes}
    return tuple(tree.nodes[name] for name in sorted(others) if _is_snapshot(tree, tables, node, tree.nodes[name]))


def _is_snapshot(tree: Tree, tables: Segments, origin: Node, node: Node) -> bool:
    if node.name in tables:
        return any(part.kind == SNAPSHOT for part in tables[node.name])
    own = lvm_names_below(tree, origin)
    return any("cow" in name.endings for name in lvm_names_below(tree, node) if name not in own)
