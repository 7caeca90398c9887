"""Devices and files exported by kernel targets of this machine, and disks that it imports from itself.

A disk that this machine serves to itself is another name of the exported data, which sysfs does not show. Examples are
NVMe over TCP to its own address, the SCSI target's loopback adapter, and iSCSI to itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from ipaddress import IPv4Address, IPv6Address, ip_address

from backends.host import Host
from backends.text import clean
from backends.topology.device_identity import identity, serial, wwn
from backends.topology.loop_backing import Backing
from backends.topology.tree import Node, Tree
from backends.values import dataclass

_NVMET = "/sys/kernel/config/nvmet/subsystems/*"
_CORE = "/sys/kernel/config/target/core/*_[0-9]*/*"
_LOOPBACK = "/sys/kernel/config/target/loopback/*/tpgt_*"
_SCST = "/sys/kernel/scst_tgt/devices/*"
_GADGET = "/sys/kernel/config/usb_gadget/*"

_NAMESPACE = ("device_path", "device_uuid", "device_nguid", "enable")
"""Attributes of an exported NVMe namespace (drivers/nvme/target/configfs.c). A passthru controller lacks some."""
_BACKSTORE = ("info", "udev_path", "enable", "wwn/vpd_unit_serial", "wwn/company_id")
"""Attributes of a backstore, the storage behind an exported SCSI disk (drivers/target/target_core_configfs.c)."""

_FILE = re.compile(r"TCM FILEIO ID: \d+\s+File: (.+?)  Size: ")
_NUMBERS = re.compile(r"Major: (\d{1,8}) Minor: (\d{1,8})\s")
_BUS = re.compile(r"Channel ID: (\d{1,8}) Target ID: (\d{1,8}) LUN: (\d{1,20}) Host ID: (\d{1,8})")
_CONFIG = re.compile(r"Config: (.+?) Size: ")
"""These four patterns match `info` of a backstore: of a file, a block device, SCSI passthrough, and user space.

Sources: target_core_file.c, target_core_iblock.c, target_core_pscsi.c, target_core_user.c.
"""
_SERIAL = re.compile(r"T10 VPD Unit Serial Number: *(\S.*)")
_COMPANY = 0x001405
"""LIO's company ID, used if a backstore reports no other."""

_ADDRESS = re.compile(r"/(\d+:\d+:\d+:\d+)(?=/|\Z)")
_SESSION = re.compile(r"/session(\d+)/")
_OWN_ADAPTERS = {
    "/tcm_loop_": "the SCSI target's loopback adapter",
    "/scst_l": "SCST's local adapter",
    "/vduse/": "a program of this host (VDUSE)",
    "/dummy_hcd": "a USB gadget of this host",
}
"""Server of a disk that this machine serves to itself, by the part of the sysfs path that all such disks contain.

Sources: drivers/target/loopback/tcm_loop.c, SCST's scst_local.c, drivers/vdpa/vdpa_user,
drivers/usb/gadget/udc/dummy_hcd.c.
"""

_MEMORY = "memory of this host"
_SOMETHING = "a device that this host exports to itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A device, file or memory that a target of this machine exports, or will export once it is enabled."""

    target: str
    """Name of the target for display: `the NVMe target nqn.example`."""
    path: str
    """Path of the exported device or file in the target's configuration, or a description of it; "" for memory."""
    devno: str | None = None
    """MAJ:MIN of the exported block device; None for a file or memory."""
    place: str | None = None
    """Device and inode number of the exported file; None for a block device or memory."""
    enabled: bool = True
    """Whether the target has the exported device, file or memory open."""
    by_kernel: bool = True
    """Whether the kernel opens the device or file, so that no program is listed as having it open."""
    names: frozenset[str] = field(default_factory=frozenset)
    """Identifiers, in the format of `_names`, of the disk as which this machine imports the export, if it does."""

    @property
    def target_text(self) -> str:
        """Return the target's name for "exported by ...", with "(not enabled)" if it is not enabled."""
        return self.target if self.enabled else f"{self.target} (not enabled)"

    @property
    def unidentified_reason(self) -> str:
        """Return the reason why the exported device is unknown, as a sentence without its full stop.

        "" if it is known, or if it is not enabled or not opened by the kernel.
        """
        is_identified = self.devno is not None or self.place is not None or not self.path
        if is_identified or not self.enabled or not self.by_kernel:
            return ""
        return (
            f"{self.target} exports {clean(self.path, 512)}, which does not exist now, so the exported device is "
            "unknown"
        )


async def read_exports(host: Host, tree: Tree) -> tuple[Export, ...]:
    """Return the exports of all kernel targets. Nothing is read for target types that are not loaded."""
    groups = await asyncio.gather(_nvme(host, tree), _lio(host, tree), _scst(host, tree), _gadgets(host))
    return tuple(export for exports in groups for export in exports)


def export_texts(exports: Iterable[Export]) -> dict[str, str]:
    """Return, by device number or file ID, the names of the targets that export it, joined into one string."""
    targets_by_id: dict[str, list[str]] = {}
    for export in exports:
        if (identifier := export.devno or export.place) is not None:
            targets_by_id.setdefault(identifier, []).append(export.target_text)
    return {key: " and ".join(dict.fromkeys(targets)) for key, targets in targets_by_id.items()}


# -- exports by type of target ----------------------------------------------------------------------------------------


async def _nvme(host: Host, tree: Tree) -> list[Export]:
    """Return the namespaces and passthru controllers that the NVMe target exports."""
    paths = await host.list(f"{_NVMET}/namespaces/*/device_path"), await host.list(f"{_NVMET}/passthru/device_path")
    folders = [path.rpartition("/")[0] for group in paths for path in group]
    texts = await host.read_many([f"{folder}/{name}" for folder in folders for name in _NAMESPACE])
    exports: list[Export] = []
    for folder in folders:
        fields = {name: _line(texts.get(f"{folder}/{name}")) for name in _NAMESPACE}
        parts, path = folder.split("/"), fields["device_path"]
        if not path.startswith("/"):
            continue
        target, enabled = f"the NVMe target {clean(parts[6])}", fields["enable"] != "0"
        if parts[7] == "passthru":
            nodes = await _of_controller(host, tree, path)
            if nodes is None:
                exports.append(Export(target=target, path=path, enabled=enabled))
            for node in nodes or ():
                names = frozenset({f"nvme {parts[6]} {_line(node.attributes.get('nsid'))}"})
                exports.append(Export(target=target, path=path, devno=node.devno, enabled=enabled, names=names))
            continue
        names = frozenset(
            {
                f"nvme {parts[6]} {parts[8]}",
                *(f"id {digits}" for key in ("device_uuid", "device_nguid") if (digits := _digits(fields[key]))),
            }
        )
        exports.append(await _export(host, target, path, enabled=enabled, names=names))
    return exports


async def _of_controller(host: Host, tree: Tree, path: str) -> list[Node] | None:
    """Return the namespaces of the NVMe controller at `path` (/dev/nvmeN); None if there is no such controller."""
    stat = await host.stat(path)
    if stat is None or stat.kind != "char" or stat.devno is None:
        return None
    return [node for node in tree.nodes.values() if node.parent is None and stat.devno in node.characters]


async def _lio(host: Host, tree: Tree) -> list[Export]:
    folders = [path.rpartition("/")[0] for path in await host.list(f"{_CORE}/info")]
    if not folders:
        return []
    texts = await host.read_many([f"{folder}/{name}" for folder in folders for name in _BACKSTORE])
    units = await _loopback_units(host)
    exports: list[Export] = []
    for folder in folders:
        fields = {name: texts.get(f"{folder}/{name}", "") for name in _BACKSTORE}
        kind, name = folder.split("/")[-2].rpartition("_")[0], folder.split("/")[-1]
        target, enabled = f"the SCSI target {clean(name)}", _line(fields["enable"]) != "0"
        names = frozenset({*units.get(folder, ()), *_reported_names(fields)})
        devno = _block_number(tree, fields["info"])
        path = _named_path(fields)
        if devno is not None:
            exports.append(Export(target=target, path=path or devno, devno=devno, enabled=enabled, names=names))
        elif path.startswith("/"):
            by_kernel = kind != "user"
            exports.append(await _export(host, target, path, enabled=enabled, names=names, by_kernel=by_kernel))
        else:
            path = "" if kind.startswith("rd_") else path or _SOMETHING
            exports.append(Export(target=target, path=path, enabled=enabled, by_kernel=False, names=names))
    return exports


def _named_path(fields: Mapping[str, str]) -> str:
    """Return the path of the device or file of a backstore, or its user-space configuration, such as
    `rbd/pool/image`.
    """
    if (file := _FILE.search(fields["info"])) is not None:
        return file[1]
    if (config := _CONFIG.search(fields["info"])) is not None:
        rest = config[1].partition("/")[2]
        return rest if rest.startswith("/") else config[1]
    return _line(fields["udev_path"])


def _block_number(tree: Tree, info: str) -> str | None:
    """Return the MAJ:MIN of a backstore's block device, from the numbers or the SCSI address in `info`.

    None if `info` has neither, or if no disk has that address.
    """
    if (numbers := _NUMBERS.search(info)) is not None:
        return f"{int(numbers[1])}:{int(numbers[2])}"
    if (bus := _BUS.search(info)) is None:
        return None
    address = f"{bus[4]}:{bus[1]}:{bus[2]}:{bus[3]}"
    return next((node.devno for node in tree.nodes.values() if _address(node) == address), None)


def _reported_names(fields: Mapping[str, str]) -> Iterator[str]:
    """Yield the serial number that a backstore's exported disk reports, and the WWN that the target derives from it.

    The WWN is `6`, the company ID, and 25 hexadecimal digits of the serial number, padded with zeros
    (spc_gen_naa_6h_vendor_specific in drivers/target/target_core_spc.c). Without a serial number a disk reports
    neither.
    """
    number = _SERIAL.search(fields["wwn/vpd_unit_serial"])
    if number is None:
        return
    company = re.fullmatch(r"0x([0-9a-f]{1,6})", _line(fields["wwn/company_id"]))
    digits = re.sub(r"[^0-9a-f]", "", number[1].lower())[:25]
    yield f"serial {number[1].strip()}"
    yield f"wwn naa.6{int(company[1], 16) if company else _COMPANY:06x}{digits:0<25}"


async def _loopback_units(host: Host) -> dict[str, list[str]]:
    """Return, by folder of a backstore, the SCSI addresses of the disks by which the loopback adapter imports it."""
    texts = await host.read_many(await host.list(f"{_LOOPBACK}/address"))
    addresses: dict[str, list[str]] = {}
    for path, text in texts.items():
        group = path.rpartition("/")[0]
        for link in await host.list(f"{group}/lun/lun_*/*"):
            backstore = await host.link(link) or ""
            if "/target/core/" in backstore:
                unit = link.split("/")[-2].removeprefix("lun_")
                addresses.setdefault(backstore, []).append(f"address {_line(text)}:{unit}")
    return addresses


async def _scst(host: Host, tree: Tree) -> list[Export]:
    """Return the exports of SCST, a target that is not part of the kernel. The first line of an attribute is
    its value.
    """
    files = await host.list(f"{_SCST}/filename")
    passed = await host.list(f"{_SCST}/scsi_device")
    folders = [path.rpartition("/")[0] for path in files]
    texts = await host.read_many([f"{folder}/{name}" for folder in folders for name in ("filename", "usn")])
    exports: list[Export] = []
    for folder in folders:
        target, path = f"the SCST target {clean(folder.split('/')[-1])}", _line(texts.get(f"{folder}/filename"))
        serial_number = _line(texts.get(f"{folder}/usn"))
        names = frozenset({f"serial {serial_number}"} if serial_number else ())
        if path.startswith("/"):
            exports.append(await _export(host, target, path, names=names))
    for link in passed:
        target, device = f"the SCST target {clean(link.split('/')[-2])}", await host.link(link) or ""
        nodes = [node for node in tree.nodes.values() if node.path and device and node.path.startswith(f"{device}/")]
        exports += [Export(target=target, path=node.device, devno=node.devno) for node in nodes]
    return exports


async def _gadgets(host: Host) -> list[Export]:
    """Return the exports of USB gadgets. They are disks that a USB port offers to another machine (f_mass_storage)."""
    files = await host.list(f"{_GADGET}/functions/mass_storage.*/lun.*/file")
    texts = await host.read_many(files)
    ports = await host.read_many([f"/sys/kernel/config/usb_gadget/{path.split('/')[5]}/UDC" for path in files])
    exports: list[Export] = []
    for path, text in texts.items():
        name = path.split("/")[5]
        enabled = bool(_line(ports.get(f"/sys/kernel/config/usb_gadget/{name}/UDC")))
        if _line(text).startswith("/"):
            exports.append(await _export(host, f"the USB gadget {clean(name)}", _line(text), enabled=enabled))
    return exports


async def _export(
    host: Host,
    target: str,
    path: str,
    *,
    enabled: bool = True,
    by_kernel: bool = True,
    names: frozenset[str] = frozenset(),
) -> Export:
    """Return an `Export` with the device or file to which `path` currently leads."""
    stat = await host.stat(path)
    devno = stat.devno if stat is not None and stat.kind == "block" else None
    file_id = stat.place if stat is not None else None
    return Export(
        target=target, path=path, devno=devno, place=file_id, enabled=enabled, by_kernel=by_kernel, names=names
    )


def _line(text: str | None) -> str:
    """Return the first line of an attribute's text; "" for None."""
    return (text or "").strip().partition("\n")[0].strip()


def _digits(identifier: str) -> str:
    """Return the digits of a UUID or NGUID, without separators; "" if all digits are zero."""
    digits = identifier.replace("-", "").lower()
    return digits if digits.strip("0") and re.fullmatch(r"[0-9a-f]+", digits) else ""


# -- disks that this machine imports from itself ----------------------------------------------------------------------


async def read_imports(host: Host, tree: Tree, exports: Sequence[Export]) -> dict[str, Backing]:
    """Return the backing of each disk that this machine serves to itself, by the disk's kernel name."""
    disks = [node for node in tree.nodes.values() if node.parent is None and node.attributes.get("hidden") != "1"]
    imports = {node.name: backing for node in disks if (backing := _backing_of(tree, exports, node)) is not None}
    served = await _own_targets(host, tree, [node for node in disks if node.name not in imports])
    unknown = {name: Backing(path=_SOMETHING, doubt=f"is not reported by {by}") for name, by in served.items()}
    return imports | unknown


def _backing_of(tree: Tree, exports: Sequence[Export], node: Node) -> Backing | None:
    """Return the backing of the disk `node`, found by the identifiers that the disk reports; None if no export
    matches.
    """
    names = _names(node)
    exact = [export for export in exports if names & export.names and export.names & {_unit(node)}]
    alike = exact or [export for export in exports if names & export.names]
    lower = {export.devno or export.place or export.path: export for export in alike if not _is(tree, node, export)}
    if not lower:
        return None
    export = next(iter(lower.values()))
    if len(lower) > 1:
        several = " or ".join(dict.fromkeys(export.target for export in lower.values()))
        return Backing(path=export.path or _MEMORY, doubt=f"may be an export of {several}")
    if export.devno is None and export.place is None:
        return Backing(path=export.path or _MEMORY, doubt=f"is exported by {export.target_text}")
    return Backing(path=export.path, devno=export.devno, place=export.place)


def _names(node: Node) -> frozenset[str]:
    """Return the identifiers by which the export of a disk can be recognised.

    They are: the SCSI address (loopback adapter); subsystem and ID of an NVMe namespace, and its UUID or NGUID; serial
    number and WWN of a SCSI disk.
    """
    fields = node.attributes
    names = {_unit(node)}
    if node.name.startswith("nvme"):
        names |= {f"nvme {_line(fields.get('device/subsysnqn'))} {_line(fields.get('nsid'))}"}
        names |= {f"id {digits}" for key in ("uuid", "nguid") if (digits := _digits(_line(fields.get(key))))}
    else:
        names |= {f"serial {serial(node)}", f"wwn {wwn(node)}"}
    return frozenset(names)


def _unit(node: Node) -> str:
    return f"address {_address(node)}"


def _address(node: Node) -> str | None:
    """Return the SCSI address of a disk, such as `8:0:1:0`; None if it has none."""
    addresses = _ADDRESS.findall(node.path or "")
    return addresses[-1] if addresses else None


def _is(tree: Tree, node: Node, export: Export) -> bool:
    """Return whether the disk `node` is the exported device itself, or another path to the same disk."""
    other = tree.by_devno(export.devno) if export.devno is not None else None
    if other is None:
        return False
    return other.name == node.name or (other.parent is None and identity(other).same_disk(identity(node)))


async def _own_targets(host: Host, tree: Tree, nodes: Sequence[Node]) -> dict[str, str]:
    """Return a description of the server of each disk that this machine serves to itself, by the disk's kernel name.

    The transport of such a disk shows this.
    """
    texts: dict[str, str] = {}
    own_addresses: frozenset[_Address] | None = None
    for node in nodes:
        transports = {route.attributes.get("device/transport") for route in tree.routes(node.name)}
        if text := next((description for part, description in _OWN_ADAPTERS.items() if part in f"{node.path}/"), ""):
            texts[node.name] = text
        elif "loop" in transports:
            texts[node.name] = "the NVMe target of this host"
        elif addresses := await _addresses(host, tree, node):
            own_addresses = await _own_addresses(host) if own_addresses is None else own_addresses
            parsed = [address for text in addresses if (address := _parse_address(text)) is not None]
            if any(address.is_loopback or address in own_addresses for address in parsed):
                texts[node.name] = "the target at an address of this host"
    return texts


async def _addresses(host: Host, tree: Tree, node: Node) -> list[str]:
    """Return the network addresses of the targets that serve a disk, from its NVMe controllers or its iSCSI session."""
    addresses: list[str] = []
    for route in tree.routes(node.name):
        if route.attributes.get("device/transport") in ("tcp", "rdma"):
            tokens = _line(route.attributes.get("device/address")).split(",")
            addresses += [value for key, _, value in (word.partition("=") for word in tokens) if key == "traddr"]
    if (session := _SESSION.search(node.path or "")) is not None:
        texts = await host.read_many(await host.list(f"/sys/class/iscsi_connection/connection{session[1]}:*/*address"))
        addresses += map(_line, texts.values())
    return addresses


_Address = IPv4Address | IPv6Address


async def _own_addresses(host: Host) -> frozenset[_Address]:
    """Return all network addresses of this machine that exist in our own network namespace."""
    fourth, sixth = await host.read("/proc/net/fib_trie") or "", await host.read("/proc/net/if_inet6") or ""
    texts = re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", fourth)
    texts += [":".join(re.findall("....", line[:32])) for line in sixth.split("\n") if len(line) > 32]
    return frozenset(address for text in texts if (address := _parse_address(text)) is not None)


def _parse_address(text: str) -> _Address | None:
    try:
        address = ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
