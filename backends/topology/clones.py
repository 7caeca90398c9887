"""Devices whose content has the UUID of another one: copies of it, or unknown paths to the same data. No I/O."""

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
"""Interfaces of disks that hang from this machine alone, beside NVMe on PCI Express."""
_NOT_LOCAL = ("/tcm_loop_", "/scst_l", "/port-", "/vduse/", "/dummy_hcd")
"""Parts of the sysfs folder of a disk whose interface looks local, but that another machine, or a target or a program
of this one, serves: the loopback adapters of SCSI targets, SRP (drivers/scsi/scsi_transport_srp.c), VDUSE, a gadget."""
_IN_MEMORY = ("zram", "ram")
_MEMORY_MOUNTS = ("tmpfs", "ramfs", "devtmpfs")


class Proof(StrEnum):
    """Why two devices have no byte in common; completes "its data are ..."."""

    SERIAL = "on a disk with another serial number or WWN"
    FILE = "in another file"
    RANGE = "on another part of the same disk"
    MEMORY = "not on the same disk: one of them is in memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """Something at the bottom of a device."""

    disk: str
    """Kernel name of a disk; "" for memory."""
    files: tuple[str, ...] = ()
    """Places of the files through which it lies there, the uppermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clones:
    """Which devices hold content with one UUID."""

    picture: Topology
    """All devices, with what lies on them."""

    def suspects(self) -> dict[str, dict[str, str]]:
        """Return, by kernel name of a disk, those that may hold the same data, each with words that say so.

        Nothing proves that they are two: the serial number of a remote disk is whatever its server says.
        """
        matches: dict[str, dict[str, str]] = {}
        for signature, node, other in self._pairs():
            disk, other_disk = (self.picture.tree.disk_of(member.name) for member in (node, other))
            if disk != other_disk and self._proof(node, other) is None:
                text = f"{SAME} {self._shown(other)}, with one UUID ({_content(signature)})"
                matches.setdefault(disk, {}).setdefault(other_disk, text)
        return matches

    def copies(self, nodes: Collection[Node]) -> tuple[str, ...]:
        """Return sentences for content of `nodes` that another device in use has, too, where both are proven apart."""
        names = {node.name for node in nodes}
        sentences: list[str] = []
        for signature, node, other in self._pairs():
            if node.name not in names or not (uses := self.picture.uses_of_node(other)):
                continue
            if (proof := self._proof(node, other)) is not None:
                whose = f"the UUID of {self._shown(other)}, {_use_text(uses[0])}"
                why = f"its data are {proof.value}, so it is a copy"
                sentences.append(f"{self._shown(node)}: its {clean(signature.kind)} has {whose}; {why}")
        return tuple(dict.fromkeys(sentences))

    def _pairs(self) -> Iterator[tuple[Signature, Node, Node]]:
        """Every two devices with one UUID of which nothing else is known that they share, and the mark of the first."""
        tree = self.picture.tree
        groups: dict[str, list[tuple[Signature, Node]]] = {}
        for name, signatures in self.picture.signatures.items():
            for signature in signatures:
                # members of one array or group have one UUID by design, and rules of their own
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
        """Why two devices are apart, down to the bottom; None where that is not proven.

        On one disk, or on paths to one, the kernel's tables decide, which are followed elsewhere.
        """
        ours, theirs = self._grounds(node), self._grounds(other)
        if not ours or not theirs:
            return None
        proofs = [self._apart(ground, their_ground) for ground in ours for their_ground in theirs]
        return None if None in proofs else next(proof for proof in Proof if proof in proofs)

    def _apart(self, own: _Ground, other: _Ground) -> Proof | None:
        places = [(first, second) for first in own.files for second in other.files]
        if any(_filesystem(first) == _filesystem(second) and first != second for first, second in places):
            return Proof.FILE
        if not own.disk or not other.disk:
            return Proof.MEMORY if own.disk != other.disk else None
        if other.disk in self.picture.paths(own.disk):
            return Proof.RANGE
        nodes = [self.picture.tree.nodes[ground.disk] for ground in (own, other)]
        if any(node.name.startswith(_IN_MEMORY) for node in nodes):
            return Proof.MEMORY
        are_different = all(self._is_local(node) for node in nodes) and _differ(*map(identity, nodes))
        return Proof.SERIAL if are_different else None

    def _grounds(self, node: Node) -> tuple[_Ground, ...]:
        """What a device lies on at the bottom; nothing where that is not known as a whole."""
        tree, backings = self.picture.tree, self.picture.backings
        matches: dict[_Ground, None] = {}
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
                matches[ground] = None
                continue
            else:
                lower = [
                    _Ground(disk=lower_ground.disk, files=(*ground.files, *lower_ground.files))
                    for lower_ground in self._beneath(backing)
                ]
            if not lower:
                return ()
            matches |= {ground: None for ground in lower if not ground.disk}
            waiting += [ground for ground in lower if ground.disk]
        return tuple(matches)

    def _beneath(self, backing: Backing) -> list[_Ground]:
        """What a loop or zram device is set up on: a device, or a file on a file system."""
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
        """Whether a disk hangs from this machine alone, so that its serial number is its own."""
        path = f"{node.path or ''}/"
        if (kind := interface(node)) == "nvme":
            routes = self.picture.tree.routes(node.name)
            transports = {route.attributes.get("device/transport") for route in routes} - {None}
            return transports == {"pcie"} or (not transports and "/pci" in path)
        return kind in _LOCAL and not any(part in path for part in _NOT_LOCAL if kind != "sas" or part != "/port-")

    def _shown(self, node: Node) -> str:
        return self.picture.link(node.name) or node.device


def _differ(first: Identity, second: Identity) -> bool:
    """Whether two disks report different WWNs, or different serial numbers where one has no WWN."""
    if first.wwn is not None and second.wwn is not None:
        return first.wwn != second.wwn
    return first.serial is not None and second.serial is not None and first.serial != second.serial


def _filesystem(file_id: str) -> str:
    """MAJ:MIN of the file system that a file lies on."""
    return file_id.rpartition(":")[0]


def _plain(uuid: str | None) -> str:
    """A UUID for comparing; "" where there is none, or zeros."""
    plain = (uuid or "").strip().lower()
    return plain if plain.strip("0-x") else ""


def _content(signature: Signature) -> str:
    return f"{clean(signature.kind)} {clean(signature.uuid or '')}"


def _use_text(use: Use) -> str:
    """`which is mounted on /srv`."""
    return f"which is {use.detail}" if use.kind in IS else f"which is in use ({use.detail})"


def with_signatures(picture: Topology, probed: Mapping[str, tuple[Signature, ...]]) -> Topology:
    """Return the picture with what was found on some devices just now, and with whom they may have it in common."""
    updated = replace(picture, signatures={**picture.signatures, **probed})
    suspects = Clones(picture=updated).suspects()
    likely = {name: {**suspects.get(name, {}), **picture.likely.get(name, {})} for name in {*suspects, *picture.likely}}
    return replace(updated, likely=likely)
