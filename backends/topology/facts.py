"""Facts about one device that the guard checks before a write, always read from the hardware."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import field
from functools import partial

from backends.host import Host
from backends.identity import Identity, Signature, Use
from backends.model import Drive
from backends.system.local.uninterruptible import run_in_thread
from backends.text import clean
from backends.topology.clones import Clones, with_signatures
from backends.topology.device_identity import SameDataDevice, identity, identity_in, indistinct_reasons, interface
from backends.topology.footing import Footing, footing_of
from backends.topology.leftovers import Reader, leftovers, places
from backends.topology.open_files import lasting_openers
from backends.topology.scan import probe_signatures, scan_topology
from backends.topology.signatures import Marks, are_two
from backends.topology.thin_capacity import ThinCapacity
from backends.topology.thin_capacity_scan import capacities_of
from backends.topology.tree import Node, grouped, node_path
from backends.topology.usage import Topology
from backends.values import dataclass

Claim = Callable[[str, str], str | None]
"""Function that opens a device (path, MAJ:MIN) exclusively. It returns None on success, or the reason for the failure.

"""

CLOSED = "it is offline or removed: the kernel refuses to open it"
"""Reason for a device that cannot be opened at all."""

_READ_SECONDS = 10.0
"""Timeout in seconds for reading the UUIDs of two disks, or the leftovers on one."""

SILENT = "the device does not respond: opening it hangs"
"""Reason for a device whose opening timed out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """Facts about a device, on which alone `judge` (backends.guard) bases its decision."""

    device: str
    """Path of the device node with the kernel name, even if a link was given."""
    is_block: bool
    """Whether the node is a block device; all other facts are unset if it is not."""
    called: str | None = None
    """Name that administrators use, if the kernel name can change with each boot: `vg0/db`."""
    link: str | None = None
    """Path with the name `called`: `/dev/vg0/db`."""
    disk: str | None = None
    """Path of the disk's device node if the device is a partition; None for a disk."""
    identity: Identity | None = None
    """Identity. That of a partition is its disk's identity with the name, number and size of the partition."""
    interface: str | None = None
    """Interface of its disk: `sata`, `loop`, ..."""
    size_bytes: int | None = None
    """Size in bytes."""
    read_only: bool = False
    """Whether the kernel refuses writes."""
    uses: tuple[Use, ...] = ()
    """Uses of the device, of its disk, and of any partition of its disk."""
    signatures: tuple[Signature, ...] = ()
    """Signatures of its content; for a disk, of the disk and all its partitions."""
    unknown: tuple[str, ...] = ()
    """Checks that could not be made, each a sentence without its full stop."""
    along: tuple[Identity, ...] = ()
    """Other devices that are the same disk or a lower layer. They are locked together with this device."""
    rooms: tuple[ThinCapacity, ...] = ()
    """Thin-provisioned storage whose free space is consumed by writes to the device. It does not matter for reads."""
    copies: tuple[str, ...] = ()
    """Sentences about content whose UUID a device in use also has, although its data is proven to be elsewhere."""
    others: tuple[Identity, ...] = ()
    """Identities of all other disks of the machine. A name by which this device is addressed must match none of
    them.
    """
    footing: Footing = field(default_factory=dict)
    """Facts from the kernel about the device and all layers below it, to detect changes of them during a run."""
    apart: bool = False
    """Whether `others` are proven to be other disks. If not, one of them may be this disk under another name."""

    @property
    def shown(self) -> str:
        """Return the path of the device for display."""
        return self.link or self.device


async def gather_facts(
    host: Host,
    device: str,
    *,
    claim: Claim | None,
    marks: Marks | None = None,
    reader: Reader | None = None,
    probe: bool = True,
    ignore: Collection[int] = (),
) -> DeviceFacts:
    """Return all facts about the device at `device`, which may be a link such as /dev/disk/by-id/...

    `claim`: None if devices cannot be opened (another machine, a recording); `unknown` then lists this check.
    `marks`: reads UUIDs that prove that disks with one serial number are different; None if they cannot be read.
    `reader`: reads places with possible leftovers of former filesystems; None to skip that check. `probe`: whether to
    read the content. `ignore`: process IDs of our own, whose open files do not count.
    """
    stat = await host.stat(device)
    if stat is None or stat.kind != "block" or stat.devno is None:
        return DeviceFacts(device=clean(device, 512), is_block=False)
    picture = await scan_topology(host, everywhere=True)
    if marks is not None:
        picture = await _without_proven_pairs(picture, marks)
    node = picture.tree.by_devno(stat.devno)
    if node is None:
        gone = f"the kernel lists no device with the number {stat.devno}"
        return DeviceFacts(device=clean(device, 512), is_block=True, unknown=(gone,))
    family = picture.tree.family(node.name)
    signatures = await _signatures(host, picture, node, reader) if probe else ()
    if probe:
        by_name = grouped((signature.part or node.name, signature) for signature in signatures)
        picture = with_signatures(picture, {**await _probe_unlisted(host, picture, signatures), **by_name})
    unknown = list(picture.blind)
    unknown += [text for member in family if (text := await _mismatch(host, member))]
    related = picture.related(node.name)
    for relation in related:
        unknown += [text for member in relation.nodes if (text := await _mismatch(host, member))]
    unknown += [*_hidden_backing_reasons(picture, node, related), *picture.unreported_reasons(node.name)]
    lower = dict.fromkeys(picture.tree.disk_of(member.name) for relation in related for member in relation.nodes)
    unknown += indistinct_reasons(picture.tree.nodes[name] for name in lower if name in picture.tree.nodes)
    claimable = [relation for relation in related if relation.nodes and not relation.member and not relation.claimed]
    uses = [*picture.uses(node.name), *await _openers(host, picture, node, ignore)]
    if claim is None:
        unknown.append("an exclusive open was not tested")
    elif not unknown:
        uses += await _claims(claim, family)
        for relation in claimable if all(use.detail != SILENT for use in uses) else ():
            translated = [relation.translate_use(use) for use in await _claims(claim, relation.nodes)]
            uses += [use for use in translated if use is not None]
    disk = picture.tree.nodes.get(picture.tree.disk_of(node.name), node)
    return DeviceFacts(
        device=node.device,
        is_block=True,
        called=picture.stable_name(node.name),
        link=picture.link(node.name),
        disk=disk.device if disk is not node else None,
        identity=identity_in(picture.tree, node),
        interface=interface(disk),
        size_bytes=node.size_bytes,
        read_only=node.read_only or disk.read_only,
        uses=tuple(uses),
        signatures=signatures,
        unknown=tuple(unknown),
        along=tuple(identity_in(picture.tree, relation.nodes[0]) for relation in claimable),
        rooms=await capacities_of(host, picture, (node,)) if probe else (),
        copies=Clones(picture=picture).copies((node,) if node.parent is not None else family)
        if probe and not uses
        else (),
        others=_others(picture, disk),
        footing=footing_of(picture.tree, picture.tables, picture.backings, node.name),
        apart=True,
    )


async def _without_proven_pairs(picture: Topology, marks: Marks) -> Topology:
    """Return the topology after removing the relations between disks whose UUIDs prove that they are different
    disks.
    """
    pairs = picture.doubtful_pairs()
    nodes = {name: (node_path(name), picture.tree.nodes[name].devno or "") for pair in pairs for name in pair}
    two: list[tuple[str, str]] = []
    for pair in pairs:
        with suppress(TimeoutError):  # a disk that does not respond proves nothing
            async with asyncio.timeout(_READ_SECONDS):
                if await run_in_thread("marks", partial(are_two, marks, *(nodes[name] for name in pair))):
                    two.append(pair)
    return picture.with_separate(two) if two else picture


def _others(picture: Topology, disk: Node) -> tuple[Identity, ...]:
    own_names = {disk.name, *picture.twins.get(disk.name, ()), *picture.likely.get(disk.name, ())}
    return tuple(
        identity(node) for node in picture.tree.nodes.values() if node.parent is None and node.name not in own_names
    )


def _hidden_backing_reasons(picture: Topology, node: Node, related: Collection[SameDataDevice]) -> list[str]:
    """Return a clause for each unidentified backing device or file of `node` and of the devices in `related`."""
    disks = {picture.tree.disk_of(node.name)}
    disks |= {picture.tree.disk_of(other.name) for relation in related for other in relation.nodes}
    backings = [picture.backings[disk] for disk in sorted(disks) if disk in picture.backings]
    return [
        f"its backing device or file {clean(backing.path, 512)} {backing.doubt}"
        for backing in backings
        if backing.doubt
    ]


async def _openers(host: Host, picture: Topology, node: Node, ignore: Collection[int]) -> list[Use]:
    """Return the uses by programs that have the disk of `node`, another path to it, or a lower layer open."""
    wanted: dict[str, tuple[Node | None, SameDataDevice | None]] = {}
    for file_id, relation in picture.files(node.name).items():
        wanted[file_id] = None, relation
    for relation in picture.related(node.name):
        wanted |= {key: (node, relation) for node in relation.nodes for key in node.openings}
    wanted |= {key: (member, None) for member in picture.tree.family(node.name) for key in member.openings}
    opened, unseen = await lasting_openers(host, wanted, ignore=ignore)
    uses: list[Use] = []
    for opening, programs in opened.items():
        member, through = wanted[opening]
        part = member.part if member is not None else None
        for program in programs:
            use = program.use(part)
            reported = use if through is None else through.translate_use(use, program.name)
            uses += [reported] if reported is not None else []
    return uses if unseen is None else [*uses, unseen]


async def _mismatch(host: Host, node: Node) -> str | None:
    """Return the reason why the path `node.device` may lead to another device than `node`; None if it does not."""
    stat = await host.stat(node.device)
    if stat is None or stat.kind != "block":
        return f"{node.device} is not a block device, although the kernel has one of this name"
    if stat.devno != node.devno:
        return f"{node.device} has the number {stat.devno}, the kernel says {node.devno}"
    return None


async def _claims(claim: Claim, family: Collection[Node]) -> list[Use]:
    """Try to open every partition, then the disk, exclusively; return the refusals as uses.

    Opening the disk would suffice, but a refusal for a partition also names the partition that is in use.
    """
    uses: list[Use] = []
    for node in sorted(family, key=lambda node: node.parent is None):
        reason = await run_in_thread("claim", partial(claim, node.device, node.devno or ""))
        if reason is not None:
            kind = "closed" if reason in (CLOSED, SILENT) else "exclusive"
            uses.append(Use(kind=kind, detail=reason, part=node.part))
        if reason == SILENT:
            break
    return uses


async def _signatures(host: Host, picture: Topology, node: Node, reader: Reader | None) -> tuple[Signature, ...]:
    """Return the content of a disk and all its partitions, or of one partition."""
    nodes = (node,) if node.parent is not None else picture.tree.family(node.name)
    probed = [member for member in nodes if member.size_bytes]
    contents = await asyncio.gather(*(probe_signatures(host, member) for member in probed))
    if reader is not None:
        contents = [
            signatures or await _leftovers(reader, member) for member, signatures in zip(probed, contents, strict=True)
        ]
    return tuple(
        signature
        for member, signatures in zip(probed, contents, strict=True)
        for signature in (*signatures, *_recorded_signatures(picture, member, signatures))
    )


async def _leftovers(reader: Reader, node: Node) -> tuple[Signature, ...]:
    """Return the leftovers of filesystems on a device that seems blank; one of kind `unknown` if it cannot be read."""
    size, read = node.size_bytes or 0, None
    wanted = places(size)
    with suppress(TimeoutError):
        async with asyncio.timeout(_READ_SECONDS):
            read = await run_in_thread("leftovers", partial(reader, node.device, node.devno or "", wanted))
    if read is None:
        return (Signature(kind="unknown", part=node.part, size_bytes=node.size_bytes),)
    return leftovers({start: piece for (start, _), piece in zip(wanted, read, strict=True)}, size, node.part)


async def _probe_unlisted(
    host: Host, picture: Topology, shown: Collection[Signature]
) -> dict[str, tuple[Signature, ...]]:
    """Return, by kernel name, the content of mounted devices and swap areas that udev and lsblk omit; empty if none of
    `shown` has a UUID.
    """
    if all(signature.uuid is None for signature in shown):
        return {}
    nodes = [
        node
        for node in picture.tree.nodes.values()
        if node.name not in picture.signatures and (node.name in picture.mounted or node.devno in picture.swaps)
    ]
    probed = await asyncio.gather(*(probe_signatures(host, node) for node in nodes))
    return {node.name: signatures for node, signatures in zip(nodes, probed, strict=True)}


def _recorded_signatures(picture: Topology, node: Node, probed: Collection[Signature]) -> tuple[Signature, ...]:
    """Return the signatures that udev recorded for a device, if probing it now failed; otherwise an empty tuple."""
    kinds = {signature.kind for signature in probed}
    recorded = picture.signatures.get(node.name, ()) if "unknown" in kinds else ()
    return tuple(signature for signature in recorded if signature.kind not in kinds)


def facts_of(drive: Drive, drives: Collection[Drive] = ()) -> DeviceFacts:
    """Return the facts of a simulated drive from the inventory; `drives`: all drives of the host."""
    return DeviceFacts(
        device=drive.device or str(drive.target),
        is_block=drive.device is not None,
        identity=drive.identity,
        interface=drive.interface,
        size_bytes=drive.size_bytes,
        read_only=drive.read_only,
        uses=drive.uses,
        signatures=drive.signatures,
        others=tuple(other.identity for other in drives if other.identity is not None and other.device != drive.device),
    )
