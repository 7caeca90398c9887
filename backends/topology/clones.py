"""Devices whose content has the UUID of another device: copies, or unknown paths to the same data. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum

from backends.identity import Identity, Signature, Use
from backends.text import clean
from backends.topology.device_identity import IS, SAME, identity, interface
from backends.topology.loop_backing import Backing
from backends.topology.stacking import mark_of
from backends.topology.thin_layers import mount_of, nodes_on
from backends.topology.tree import Node
from backends.topology.usage import Topology
from backends.values import dataclass

_LOCAL = ("sata", "sas", "usb", "mmc", "virtio", "xen", "hyper-v", "scsi")
"""Interfaces of disks attached to this machine only, in addition to NVMe on PCI Express."""
_NOT_LOCAL = ("/tcm_loop_", "/scst_l", "/port-", "/vduse/", "/dummy_hcd")
"""Parts of the sysfs path of disks that look local but are served by another machine, a target or a program.

The parts belong to loopback adapters of SCSI targets, SRP (drivers/scsi/scsi_transport_srp.c), VDUSE, USB gadgets.
"""
_IN_MEMORY = ("zram", "ram")
_MEMORY_MOUNTS = ("tmpfs", "ramfs", "devtmpfs")


class Proof(StrEnum):
    """Proof that two devices have no byte in common, as text that completes "its data is ..."."""

    SERIAL = "on a disk with another serial number or WWN"
    FILE = "in another file"
    RANGE = "on another part of the same disk"
    MEMORY = "not on the same disk (one of the two is in memory)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """Lowest layer of a device: a disk or memory."""

    disk: str
    """Kernel name of a disk; "" for memory."""
    files: tuple[str, ...] = ()
    """IDs of the files between the device and this layer, the uppermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clones:
    """Search for devices whose content has the same UUID."""

    picture: Topology
    """All devices and their content."""

    def suspects(self) -> dict[str, dict[str, str]]:
        """Return the reasons why two disks may hold the same data, by kernel name of one disk, then of the other disk.

        They have a UUID in common, and nothing proves that their data is different: a server can report any serial
        number for a remote disk.
        """
        suspects: dict[str, dict[str, str]] = {}
        for signature, node, other in self._pairs():
            disk, other_disk = (self.picture.tree.disk_of(member.name) for member in (node, other))
            if disk != other_disk and self._proof(node, other) is None:
                content = f"{clean(signature.kind)} {clean(signature.uuid or '')}"
                text = f"{SAME} {self._display_name(other)}, with the same UUID ({content})"
                suspects.setdefault(disk, {}).setdefault(other_disk, text)
        return suspects

    def copies(self, nodes: Collection[Node]) -> tuple[str, ...]:
        """Return a sentence for each signature on `nodes` that is proven to belong to a copy.

        Another device, which is in use, has the same UUID, and the two devices have no byte in common.
        """
        names = {node.name for node in nodes}
        sentences: list[str] = []
        for signature, node, other in self._pairs():
            if node.name not in names or not (uses := self.picture.uses_of_node(other)):
                continue
            if (proof := self._proof(node, other)) is not None:
                whose = f"the UUID of {self._display_name(other)}, {_use_text(uses[0])}"
                why = f"its data is {proof.value}, so it is a copy"
                sentences.append(f"{self._display_name(node)}: its {clean(signature.kind)} has {whose}; {why}")
        return tuple(dict.fromkeys(sentences))

    def _pairs(self) -> Iterator[tuple[Signature, Node, Node]]:
        """Yield pairs of devices with the same UUID and no known relation, with the signature of the first device."""
        tree = self.picture.tree
        groups: dict[str, list[tuple[Signature, Node]]] = {}
        for name, signatures in self.picture.signatures.items():
            for signature in signatures:
                # members of one array or group share a UUID by design and are checked elsewhere
                if name in tree.nodes and mark_of(signature.kind) is None and (uuid := _plain(signature.uuid)):
                    groups.setdefault(uuid, []).append((signature, tree.nodes[name]))
        for group in groups.values():
            for signature, node in group if len(group) > 1 else ():
                related = {relative.name for relative in (*tree.above(node.name), *tree.below(node.name), node)}
                related |= {
                    relative.name for relation in self.picture.related(node.name) for relative in relation.nodes
                }
                yield from ((signature, node, other) for _, other in group if other.name not in related)

    def _proof(self, node: Node, other: Node) -> Proof | None:
        """Return the proof that two devices share no byte, from comparing each pair of their lowest layers.

        Return None if any pair is not proven different. Devices on the same disk, or on two paths to it, count as
        different, because `_pairs` leaves out those whose ranges overlap.
        """
        ours, theirs = self._grounds(node), self._grounds(other)
        if not ours or not theirs:
            return None
        proofs = [self._ground_proof(ground, their_ground) for ground in ours for their_ground in theirs]
        return None if None in proofs else next(proof for proof in Proof if proof in proofs)

    def _ground_proof(self, ground: _Ground, other: _Ground) -> Proof | None:
        places = [(first, second) for first in ground.files for second in other.files]
        if any(_filesystem(first) == _filesystem(second) and first != second for first, second in places):
            return Proof.FILE
        if not ground.disk or not other.disk:
            return Proof.MEMORY if ground.disk != other.disk else None
        if other.disk in self.picture.paths(ground.disk):
            return Proof.RANGE
        nodes = [self.picture.tree.nodes[disk] for disk in (ground.disk, other.disk)]
        if any(node.name.startswith(_IN_MEMORY) for node in nodes):
            return Proof.MEMORY
        are_different = all(self._is_local(node) for node in nodes) and _differ(*map(identity, nodes))
        return Proof.SERIAL if are_different else None

    def _grounds(self, node: Node) -> tuple[_Ground, ...]:
        """Return the lowest layers of a device; empty if they are not completely known."""
        tree, backings = self.picture.tree, self.picture.backings
        grounds: dict[_Ground, None] = {}
        visited: set[_Ground] = set()
        waiting = [_Ground(disk=tree.disk_of(node.name))]
        while waiting:
            ground = waiting.pop()
            if ground in visited:
                continue
            visited.add(ground)
            backing = backings.get(ground.disk)
            if ground.disk not in tree.nodes or (backing is not None and backing.doubt):
                return ()
            if slaves := tree.nodes[ground.disk].slaves:
                lower = [_Ground(disk=tree.disk_of(slave), files=ground.files) for slave in slaves]
            elif backing is None:
                grounds[ground] = None
                continue
            else:
                lower = [
                    _Ground(disk=lower_ground.disk, files=(*ground.files, *lower_ground.files))
                    for lower_ground in self._lower_grounds(backing)
                ]
            if not lower:
                return ()
            grounds |= {ground: None for ground in lower if not ground.disk}
            waiting += [ground for ground in lower if ground.disk]
        return tuple(grounds)

    def _lower_grounds(self, backing: Backing) -> list[_Ground]:
        """Return the disks, or the memory, that hold the backing device or file of a loop or zram device."""
        tree, file = self.picture.tree, backing.place or ""
        if backing.devno is not None:
            lower = tree.by_devno(backing.devno)
            return [] if lower is None else [_Ground(disk=tree.disk_of(lower.name))]
        mount = mount_of(self.picture, _filesystem(file), backing.path)
        if mount is not None and mount.fstype in _MEMORY_MOUNTS:
            return [_Ground(disk="", files=(file,))]
        nodes = nodes_on(self.picture, _filesystem(file), backing.path)
        return [_Ground(disk=disk, files=(file,)) for disk in dict.fromkeys(tree.disk_of(node.name) for node in nodes)]

    def _is_local(self, node: Node) -> bool:
        """Return whether a disk is attached to this machine only, so that its serial number is reliable."""
        path = f"{node.path or ''}/"
        if (kind := interface(node)) == "nvme":
            routes = self.picture.tree.routes(node.name)
            transports = {route.attributes.get("device/transport") for route in routes} - {None}
            return transports == {"pcie"} or (not transports and "/pci" in path)
        return kind in _LOCAL and not any(part in path for part in _NOT_LOCAL if kind != "sas" or part != "/port-")

    def _display_name(self, node: Node) -> str:
        return self.picture.link(node.name) or node.device


def _differ(first: Identity, second: Identity) -> bool:
    """Return whether two disks report different WWNs, or different serial numbers if one has no WWN."""
    if first.wwn is not None and second.wwn is not None:
        return first.wwn != second.wwn
    return first.serial is not None and second.serial is not None and first.serial != second.serial


def _filesystem(file_id: str) -> str:
    """Return MAJ:MIN of the filesystem of a file, from its ID."""
    return file_id.rpartition(":")[0]


def _plain(uuid: str | None) -> str:
    """Return a UUID in lower case for comparison; "" if it is missing or zero."""
    plain = (uuid or "").strip().lower()
    return plain if plain.strip("0-x") else ""


def _use_text(use: Use) -> str:
    """Return a string such as `which is mounted on /srv`."""
    return f"which is {use.detail}" if use.kind in IS else f"which is in use ({use.detail})"


def with_signatures(picture: Topology, probed: Mapping[str, tuple[Signature, ...]]) -> Topology:
    """Return the topology with newly probed signatures and the relations that result from them."""
    updated = replace(picture, signatures={**picture.signatures, **probed})
    suspects = Clones(picture=updated).suspects()
    likely = {name: {**suspects.get(name, {}), **picture.likely.get(name, {})} for name in {*suspects, *picture.likely}}
    return replace(updated, likely=likely)
