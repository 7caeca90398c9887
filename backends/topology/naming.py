"""What a block device is called and what it hangs from: model, serial, WWN, interface, identity. Pure."""

from __future__ import annotations

from dataclasses import replace

from backends.identity import Identity
from backends.text import clean
from backends.topology.tree import Node, Tree

_TRANSPORTS = (
    ("/nvme", "nvme"),
    ("/usb", "usb"),
    ("/ata", "sata"),
    ("/end_device-", "sas"),
    ("/rport-", "fibre channel"),
    ("/session", "iscsi"),
    ("/mmc_host/", "mmc"),
    ("/virtio", "virtio"),
    ("/vmbus", "hyper-v"),
    ("/VMBUS:", "hyper-v"),
    ("/host", "scsi"),
    ("/virtual/block/loop", "loop"),
    ("/virtual/block/zram", "zram"),
)
"""Part of the resolved sysfs path and the interface it means; the first that fits wins."""

_NAMES = {
    "nvme": "nvme",
    "loop": "loop",
    "zram": "zram",
    "vd": "virtio",
    "xvd": "xen",
    "mmcblk": "mmc",
    "md": "md",
    "dm-": "dm",
    "bcache": "bcache",
    "zd": "zvol",
}
"""Beginning of the kernel name and the interface it means, when the path tells nothing."""


def interface(node: Node) -> str | None:
    """`sata`, `sas`, `nvme`, `virtio`, ...: from where it hangs, else from its name; None if neither tells."""
    path = node.path or ""
    by_path = next((word for part, word in _TRANSPORTS if part in path), None)
    return by_path or next((word for front, word in _NAMES.items() if node.name.startswith(front)), None)


def model(node: Node) -> str | None:
    """Vendor and model; the vendor `ATA` is only the translation layer's own word."""
    maker = clean(node.attributes.get("device/vendor", ""))
    product = clean(node.attributes.get("device/model", ""))
    if maker in ("ATA", "NVMe") or maker.startswith("0x") or product.startswith(maker):
        maker = ""
    return clean(f"{maker} {product}") or None


def serial(node: Node) -> str | None:
    """Serial number: sysfs where it has one, VPD page 0x80 of SCSI disks, else udev's word."""
    plain = clean(node.attributes.get("serial", "") or node.attributes.get("device/serial", ""))
    page = node.attributes.get("device/vpd_pg80", "")
    vital = clean(page[4:]) if len(page) > 4 else ""  # four bytes of header come first (SPC-4, 7.8.20)
    known = clean(node.udev.get("ID_SCSI_SERIAL", "")) or clean(node.udev.get("ID_SERIAL_SHORT", ""))
    return plain or vital or known or None


def wwn(node: Node) -> str | None:
    """World wide name with its prefix (`naa.`, `eui.`, `uuid.`, `nvme.`), of what is built its UUID (`md.`, `dm.`,
    `bcache.`).

    An identifier that the kernel made of vendor, model and serial number (`t10.`) is none.
    """
    own = clean(node.attributes.get("wwid", "") or node.attributes.get("device/wwid", ""))
    if own.startswith(("naa.", "eui.", "uuid.", "nvme.")):
        return own
    for source, front in (("dm/uuid", "dm."), ("md/uuid", "md.")):
        array = clean(node.attributes.get(source, ""))
        if array.strip("0-"):  # all volumes and containers of foreign metadata read zeros (drivers/md/md.c, uuid_show)
            return front + array
    if node.name.startswith("bcache") and (cached := clean(node.attributes.get("bcache/backing_dev_uuid", ""))):
        return f"bcache.{cached}"  # below the backing device's own name lies the same folder
    if array := clean(node.udev.get("MD_UUID", "")):
        return f"md.{array}"
    known = clean(node.udev.get("ID_WWN_WITH_EXTENSION", "") or node.udev.get("ID_WWN", ""))
    return f"naa.{known[2:]}" if known.startswith("0x") else known or None


def identity(node: Node) -> Identity:
    """What is compared before every write to a disk."""
    backing = node.attributes.get("loop/backing_file")
    return Identity(
        name=node.name,
        wwn=wwn(node),
        serial=serial(node),
        model=model(node),
        size_bytes=node.size_bytes,
        devno=node.devno,
        diskseq=node.attributes.get("diskseq"),
        backing=clean(backing, 512) if backing else None,
    )


def identity_in(tree: Tree, node: Node) -> Identity:
    """The same for a disk or a partition: a partition is its disk's, with its own name, numbers and size."""
    disk = tree.nodes.get(tree.disk_of(node.name), node)
    return replace(identity(disk), name=node.name, devno=node.devno, size_bytes=node.size_bytes)
