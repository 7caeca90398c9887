"""The block device that a target of `observe` means, and the devices below it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from backends.errors import InvalidValueError, NotFoundError
from backends.host import Host
from backends.model import Device
from backends.text import clean
from backends.topology import Tree, kernel_name, parse_mountinfo, read_tree
from backends.topology.mounts import file_mount

if TYPE_CHECKING:
    from app.core.workbench import Workbench

_NO_DISK = re.compile(r"(loop|ram|zram|md|dm-|bcache|zd|drbd|sr|fd)[0-9_]")
"""Kernel names of devices that are no disks: disks below them count their I/O as well, or they need no disk."""

_HINT = "Name one of its arrays or drives, or leave out the target to observe all disks."


def device_name(device: Device) -> str:
    """Return the kernel name of a device. Raises InvalidValueError if it has no block device."""
    node = getattr(device, "device", None)
    if node is None:
        raise InvalidValueError(f"{device.target} has no block device whose I/O the kernel counts.", hint=_HINT)
    return kernel_name(node)


async def find_device(bench: Workbench, target: str) -> str:
    """Return the kernel name of a device, partition, file or folder. Raises NotFoundError, InvalidValueError."""
    tree = await read_tree(bench.host)
    name = kernel_name(target.removeprefix("block:"))
    if name in tree.nodes:
        return name
    try:
        return device_name(await bench.hardware.find(target))
    except NotFoundError:
        path = _absolute(target)
        if await bench.host.stat(path) is None:
            raise
    name, fstype = await _device_at(bench.host, tree, path)
    if not name:
        raise InvalidValueError(f"{clean(path, 300)} is on {fstype}, which is not on one block device.", hint=_HINT)
    return name


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


async def _device_at(host: Host, tree: Tree, path: str) -> tuple[str, str]:
    """Return the kernel name of the block device that a path is or is on, "" if unknown, and the filesystem."""
    stat, path = await host.stat(path), await host.link(path) or path
    mount = file_mount(f"{path}/", parse_mountinfo(await host.read("/proc/self/mountinfo") or ""))
    devno = stat.devno if stat is not None and stat.kind == "block" else mount.devno if mount is not None else None
    node = tree.by_devno(devno or "")
    return node.name if node is not None else "", mount.fstype if mount is not None else "an unknown filesystem"


async def names_below(host: Host, tree: Tree, name: str) -> frozenset[str]:
    """Return the devices below a device, with those of the files of loop devices.

    The hidden paths of NVMe namespaces, which do the I/O, are among them.
    """
    names, waiting = {name}, [name]
    while waiting:
        node = tree.nodes.get(waiting.pop())
        if node is not None:
            lower = {below.name for below in (*tree.below(node.name), *tree.routes(node.name)[1:])}
            if file := node.attributes.get("loop/backing_file"):
                lower.add((await _device_at(host, tree, file.removesuffix(" (deleted)")))[0])
            waiting += lower - names
            names |= lower
    return frozenset(names) - {name, ""}


def is_disk(tree: Tree, name: str) -> bool:
    """Return whether a device is a disk whose I/O no other device counts as well."""
    node = tree.nodes[name]
    return not (node.parent or node.slaves or _NO_DISK.match(name) or len(tree.routes(name)) > 1)
