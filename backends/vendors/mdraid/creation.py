"""Commands that create and delete md arrays, and the search for a created array by its UUIDs."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from backends.array_planning import (
    SYNC_RATE,
    ArrayMatch,
    ArrayMatchState,
    ArrayPlan,
    ArrayRequest,
    CreatedArray,
    ForeignArrayError,
    MemberDrive,
    capacity,
    require_alike,
    require_layout,
    require_shape,
    spans_of,
)
from backends.change import ChangeStep
from backends.change_steps import evidence_of, locks_of
from backends.errors import InvalidValueError, ToolFailedError
from backends.exclusive_open import pieces_on
from backends.host import Command, Host
from backends.model import Level, Target
from backends.raid import copies_of
from backends.system.local.uninterruptible import run_in_thread
from backends.text import clean
from backends.topology.device_identity import identity
from backends.topology.tree import Node, Tree, node_path, read_tree
from backends.values import dataclass
from backends.vendors.mdraid.details import parse_export
from backends.vendors.mdraid.facts import ArrayFacts, parse_uuid
from backends.vendors.mdraid.inventory import NAME
from backends.vendors.mdraid.settings import STRIPED
from backends.vendors.mdraid.sysfs import read_arrays

_CHUNK = 512 << 10
"""Default chunk size in bytes of a new array (mdadm(8), --chunk)."""

_LOST = 128 << 20
"""Maximum bytes that md reserves on a large member: superblock, bitmap, reshape space (super1.c, data offset)."""

_CREATE_SECONDS = 0.7
"""Seconds to create an array: the longest of ten runs on Linux 6.1 with mdadm 4.2."""

NESTED = {Level.RAID50: Level.RAID5, Level.RAID60: Level.RAID6}
"""Level of the inner arrays, by level of the nested array, which is a RAID 0 over them."""

FIRST = 100
"""Lowest number N for the node /dev/mdN of a new array.

Names of arrays that are assembled at boot count down from 127, and those that other tools choose count up from 0.
"""


def plan_array(
    request: ArrayRequest, *, mdadm: str, taken: Collection[str], uuids: tuple[str, ...], assume_clean: bool
) -> ArrayPlan:
    """Return the plan of an array. In RAID 50 and 60, the chunk of the outer array is the full stripe of an inner one.

    `taken`: kernel names that are in use. `uuids`: one for the array, and for a nested array one for each inner array.
    `assume_clean`: do not compute parity. Parity is then valid only after every stripe has been written. Raises
    InvalidValueError.
    """
    warnings = require_alike(request.drives)
    data = require_shape(request) if request.layout is None else require_layout(request)
    strip = None if request.level is Level.RAID1 else request.strip_bytes or _CHUNK
    if request.policies:
        raise InvalidValueError("An md array takes no policies at creation.", hint="Set them after the array exists.")
    if strip is not None and (strip < 4096 or strip & (strip - 1)):
        raise InvalidValueError(
            f"md does not support a chunk of {strip} bytes.", hint="Use a power of two, at least 4k."
        )
    spans = 1 if request.layout is not None else spans_of(request.level, len(request.drives), request.spans)
    if (
        request.layout is None
        and request.level is Level.RAID10
        and spans != spans_of(request.level, len(request.drives), None)
    ):
        raise InvalidValueError("md always creates a RAID10 without spans.", hint="Omit --spans.")
    wanted = ArrayRequest(
        level=request.level,
        drives=request.drives,
        strip_bytes=strip,
        spans=spans if request.level in NESTED else None,
        layout=request.layout,
        name=request.name,
    )
    nodes = [drive.place for drive in request.drives]
    numbers = (number for number in range(FIRST, FIRST + 1000) if f"md{number}" not in taken)
    if request.level not in NESTED:
        node = f"/dev/md{next(numbers)}"
        steps = [
            _create(
                mdadm, node, request.level.value, nodes, request.name, uuids[0], strip, assume_clean, request.layout
            )
        ]
    else:
        members_each = len(nodes) // spans
        node, *inner = [f"/dev/md{next(numbers)}" for _ in range(spans + 1)]
        assert strip is not None
        assert data is not None
        full = strip * (data // spans)
        steps = [
            _create(
                mdadm,
                name,
                NESTED[request.level].value,
                nodes[at * members_each : (at + 1) * members_each],
                f"{request.name[:12]}-{at}",
                uuids[1 + at],
                strip,
                assume_clean,
            )
            for at, name in enumerate(inner)
        ]
        steps.append(_create(mdadm, node, "raid0", inner, request.name, uuids[0], full, assume_clean=False))
    return ArrayPlan(
        request=wanted,
        maker="mdadm",
        steps=tuple(steps),
        size_bytes=capacity(wanted, data or len(nodes) / copies_of(request.layout), lost_bytes=_LOST),
        data_drives=data,
        seconds=_CREATE_SECONDS * len(steps),
        initialising=_initialising(wanted, assume_clean),
        warnings=warnings,
        uuids=uuids[: 1 + (spans if request.level in NESTED else 0)],
    )


def uuid_text(digits: str) -> str:
    """Return 32 hexadecimal digits as a UUID in mdadm's spelling."""
    return ":".join(digits[at : at + 8] for at in range(0, 32, 8))


def _create(
    mdadm: str,
    node: str,
    level: str,
    members: list[str],
    name: str,
    uuid: str,
    chunk: int | None,
    assume_clean: bool,
    layout: str | None = None,
) -> ChangeStep:
    """Return the command that creates one array.

    `--run` suppresses mdadm's prompt about existing content, which has already been checked.
    """
    options = [
        mdadm,
        "--create",
        node,
        "--run",
        "--homehost=any",
        f"--name={name}",
        f"--uuid={uuid}",
        "--metadata=1.2",
        f"--level={level}",
        *((f"--layout={layout}",) if layout is not None else ()),
        f"--raid-devices={len(members)}",
        *((f"--chunk={chunk // 1024}K",) if chunk is not None and level in STRIPED else ()),
        *(("--bitmap=none",) if level != "raid0" else ()),
        *(("--assume-clean",) if assume_clean and level != "raid0" else ()),
    ]
    return ChangeStep(argv=(*options, *members))


def _initialising(request: ArrayRequest, assume_clean: bool) -> str:
    if request.level is Level.RAID0:
        return "No initialisation is needed."
    if assume_clean:
        return (
            "The array is not initialised. Copies and parity are valid only in stripes that were completely written "
            "since. Write the whole array once in order, then run `check`, before you store data on it."
        )
    size = min((drive.size_bytes or 0 for drive in request.drives), default=0)
    hours = size / SYNC_RATE / 3600
    degraded = request.level in (Level.RAID5, Level.RAID50)
    how = (
        "The last drive is rebuilt, and the array is degraded until then" if degraded else "The array is resynchronised"
    )
    return f"{how}, which takes {hours:.1f} h at 200 MB/s a drive. Until then reads and writes cause additional I/O."


_NO_SUPERBLOCK = "No md superblock"
"""Message of `mdadm --examine`, with status 1, for a disk without md metadata (Examine.c)."""

_SUPERBLOCK = (0, 8192)
"""First byte and length of the area with a superblock of version 1.2, which new arrays get (super1.c)."""

_READ_SECONDS = 10.0
"""Timeout in seconds for reading the superblock from a disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Drives of a created array, and the md arrays that currently exist on them."""

    nodes: tuple[str, ...]
    """Current kernel names of its drives, in order."""
    marked: tuple[str, ...]
    """Drives whose superblock has one of its UUIDs."""
    inner: tuple[ArrayFacts, ...]
    """Arrays on its drives; for a nested array, the inner arrays."""
    outer: tuple[ArrayFacts, ...]
    """Arrays on the inner arrays: the outer array of a nested array."""
    marked_inner: tuple[str, ...]
    """Inner arrays with the superblock of the outer array."""


async def find_made(host: Host, tool: str, array: CreatedArray) -> ArrayMatch:
    """Return what currently exists of a created array (`ArrayCreator.find_made`). `tool`: path of mdadm.

    Raises ToolFailedError.
    """
    try:
        parts = await _parts(host, tool, array)
    except ForeignArrayError as reason:
        return ArrayMatch(state=ArrayMatchState.UNKNOWN, sentence=str(reason))
    locks = await locks_of(host, parts.nodes)
    if not (parts.marked or parts.inner):
        text = f"None of its {len(array.members)} drives has the superblock of the array."
        return ArrayMatch(state=ArrayMatchState.ABSENT, sentence=text, locks=locks)
    tops = parts.outer or parts.inner
    is_complete = _is_complete(array, parts)
    if not is_complete and (changed := _foreign_array(array, parts)) is not None:
        text = f"{node_path(changed)} is running, but its level or members differ from those at creation."
        return ArrayMatch(state=ArrayMatchState.UNKNOWN, sentence=text)
    # Inner arrays with the superblock of the outer array are skipped, because the guard would report them as in use.
    running = [top.name for top in tops if _is_running(top) and top.name not in parts.marked_inner]
    top = tops[0].name if is_complete else None
    return ArrayMatch(
        state=ArrayMatchState.COMPLETE if is_complete else ArrayMatchState.PARTIAL,
        sentence=(
            (
                f"{node_path(top)} is the created array: UUID {array.uuids[0]}, {array.level.name} of these "
                f"{len(array.members)} drives."
            )
            if top is not None
            else _partial_text(parts)
        ),
        target=None if top is None else Target(backend=NAME, address=top),
        device=None if top is None else node_path(top),
        looked_at=tuple(map(node_path, running)),
        remove=_removal_steps(tool, parts),
        locks=locks,
    )


def _is_complete(array: CreatedArray, parts: _Parts) -> bool:
    """Return whether the array is running as it was created: with the same levels, number of inner arrays, and
    drives.
    """
    if len(parts.marked) != len(parts.nodes):
        return False
    if array.level not in NESTED:
        return len(parts.inner) == 1 and _is_array_over(parts.inner[0], array.level, parts.nodes)
    inner = {facts.name: facts for facts in parts.inner}
    if len(parts.outer) != 1 or not _is_array_over(parts.outer[0], Level.RAID0, tuple(inner)):
        return False
    level = NESTED[array.level]
    return all(any(_is_array_over(facts, level, group) for facts in inner.values()) for group in _groups(array, parts))


def _foreign_array(array: CreatedArray, parts: _Parts) -> str | None:
    """Return the name of a running array that differs from the created one and may belong to another program.

    None if there is none.
    """
    inner = [] if array.level not in NESTED else list(_groups(array, parts))
    level = NESTED.get(array.level, array.level)
    fit = {facts.name for facts in parts.inner if any(_is_array_over(facts, level, group) for group in inner)}
    return next(
        (facts.name for facts in (*parts.outer, *parts.inner) if _is_running(facts) and facts.name not in fit), None
    )


def _groups(array: CreatedArray, parts: _Parts) -> Iterator[tuple[str, ...]]:
    """Return the drives of each inner array."""
    members_each = len(parts.nodes) // (array.spans or 1)
    return (parts.nodes[at : at + members_each] for at in range(0, len(parts.nodes), members_each))


def _is_running(facts: ArrayFacts) -> bool:
    return facts.array_state not in ("", "clear", "inactive")


def _is_array_over(facts: ArrayFacts, level: Level, members: Sequence[str]) -> bool:
    names = {member.name for member in facts.members}
    return _is_running(facts) and facts.level is level and facts.disks == len(members) and names == set(members)


def _partial_text(parts: _Parts) -> str:
    stopped = [facts.name for facts in (*parts.outer, *parts.inner) if not _is_running(facts)]
    prefix = f"{len(parts.marked)} of its {len(parts.nodes)} drives have the UUID of the array"
    if stopped:
        return f"{prefix}, but {', '.join(map(node_path, stopped))} is not running."
    if parts.inner:
        return f"{prefix}. Only a part of it is running: {', '.join(node_path(facts.name) for facts in parts.inner)}."
    return f"{prefix}, but no array with them is running."


def _removal_steps(tool: str, parts: _Parts) -> tuple[ChangeStep, ...]:
    """Return the steps that delete the array. The outer array comes first, because it uses the inner arrays."""
    stops: list[tuple[str, ...]] = [(tool, "--stop", node_path(facts.name)) for facts in parts.outer]
    stops += [(tool, "--zero-superblock", *map(node_path, parts.marked_inner))] if parts.marked_inner else []
    stops += [(tool, "--stop", node_path(facts.name)) for facts in parts.inner]
    stops += [(tool, "--zero-superblock", *map(node_path, parts.marked))] if parts.marked else []
    return tuple(ChangeStep(argv=tuple(stop)) for stop in stops)


# -- search for the drives of a created array, and check that no other array uses them --------------------------------


async def _parts(host: Host, tool: str, array: CreatedArray) -> _Parts:
    """Return the drives of the created array and the arrays on them.

    Raises ForeignArrayError if a drive or an array on the drives belongs to another array.
    """
    tree, arrays = await read_tree(host), await read_arrays(host)
    nodes = tuple(_node(tree, member).name for member in array.members)
    inner_uuids = array.uuids[1:] if array.level in NESTED else array.uuids[:1]
    uuids = {name: await _uuid(host, tool, tree.nodes[name]) for name in nodes}
    marked = tuple(name for name in nodes if uuids[name] is not None)
    for name in marked:
        if uuids[name] not in inner_uuids:
            raise ForeignArrayError(f"{node_path(name)} belongs to a different md array, {uuids[name]}.")
    inner = _arrays_over(arrays, nodes, marked)
    outer = _arrays_over(arrays, [facts.name for facts in inner], [facts.name for facts in inner])
    if outer and array.level not in NESTED:
        raise ForeignArrayError(f"{node_path(outer[0].name)} was later created on this array.")
    running = [tree.nodes[facts.name] for facts in inner if array.level in NESTED and _is_running(facts)]
    marks = {node.name: await _uuid(host, tool, node) for node in running}
    for name, uuid in marks.items():
        if uuid not in (None, array.uuids[0]):
            raise ForeignArrayError(f"{node_path(name)} belongs to a different md array, {uuid}.")
    marked_inner = tuple(name for name, uuid in marks.items() if uuid is not None)
    if any(member.name not in marked_inner for facts in outer for member in facts.members):
        raise ForeignArrayError(f"{node_path(outer[0].name)} has members without its UUID.")
    return _Parts(nodes=nodes, marked=marked, inner=inner, outer=outer, marked_inner=marked_inner)


def _arrays_over(arrays: Iterable[ArrayFacts], names: Sequence[str], marked: Sequence[str]) -> tuple[ArrayFacts, ...]:
    """Return the arrays that use any of the drives `names`.

    `marked`: drives with the superblock of the created array. Raises ForeignArrayError if an array has members that are
    not in `marked`.
    """
    over = [facts for facts in arrays if any(member.name in names for member in facts.members)]
    for facts in over:
        if facts.cut or facts.untold:
            raise ForeignArrayError(f"Incomplete information about {node_path(facts.name)}. Scan the devices again.")
        if strange := next((member.name for member in facts.members if member.name not in marked), None):
            raise ForeignArrayError(
                f"{node_path(facts.name)} has the member {node_path(strange)}, which it was not created with."
            )
    return tuple(over)


def _node(tree: Tree, member: MemberDrive) -> Node:
    """Return the current disk of a member. Raises ForeignArrayError if it is missing or ambiguous."""
    candidates = [node for node in tree.nodes.values() if node.parent is None and _is_same_drive(node, member)]
    named = [node for node in candidates if node.device == member.place] or candidates
    drive_name = clean(member.serial or member.wwn or member.place, 80)
    if not named:
        raise ForeignArrayError(f"Its drive {drive_name} does not exist.")
    if len(named) > 1:
        raise ForeignArrayError(
            f"Several disks are named {drive_name}: {', '.join(node.device for node in named[:4])}."
        )
    return named[0]


def _is_same_drive(node: Node, member: MemberDrive) -> bool:
    node_identity = identity(node)
    if member.size_bytes is not None and node_identity.size_bytes != member.size_bytes:
        return False
    if member.wwn is not None and node_identity.wwn != member.wwn:
        return False
    if member.serial is not None and node_identity.serial != member.serial:
        return False
    return member.wwn is not None or member.serial is not None


async def _uuid(host: Host, tool: str, node: Node) -> str | None:
    """Return the UUID in the md superblock of a disk; None without a superblock.

    Raises ToolFailedError if mdadm reports neither a UUID nor that there is no superblock.
    """
    command = Command(argv=(tool, "--examine", "--export", node.device))
    done = await host.run(command)
    fields: Mapping[str, str] = parse_export(done.stdout)
    if done.returncode == 0 and (uuid := parse_uuid(fields.get("MD_UUID"))) is not None:
        return uuid
    if done.returncode != 0 and _NO_SUPERBLOCK in done.stderr + done.stdout:
        await _require_readable(host, node)
        return None
    if done.returncode == 0 and not fields:  # mdadm also succeeds for a partition table, without MD_ lines
        return None
    raise ToolFailedError(
        f"mdadm does not report the array of {node.device}: {clean(done.stderr or done.stdout, 200) or 'nothing'}",
        evidence=evidence_of(command, done),
    )


async def _require_readable(host: Host, node: Node) -> None:
    """Raise ToolFailedError if the superblock of a disk cannot be read, because mdadm reports that like a missing
    superblock.
    """
    if (reader := pieces_on(host)) is None:
        return
    read = None
    with suppress(TimeoutError):
        async with asyncio.timeout(_READ_SECONDS):
            read = await run_in_thread("superblock", partial(reader, node.device, node.devno or "", (_SUPERBLOCK,)))
    if read is None or len(read[0]) < _SUPERBLOCK[1]:
        raise ToolFailedError(f"{node.device} cannot be read, so it may still have its superblock.")
