"""Backing files and devices of loop and zram devices: what the kernel has open, not what is now at the path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from backends.host import FileStat, Host
from backends.text import clean
from backends.topology.mounts import Mount, file_mount
from backends.topology.tree import Node, Tree, run_tool
from backends.values import dataclass

LOSETUP = ("--list", "--noheadings", "--output", "NAME,BACK-MAJ:MIN,BACK-INO")
"""Arguments of losetup that list the device and inode number of each loop device's backing file.

The kernel takes both numbers from the file that it has open (LOOP_GET_STATUS64).
"""

DIRECT = frozenset(
    (
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "jfs", "nilfs2", "reiserfs", "zfs"),
        *("tmpfs", "ramfs", "devtmpfs", "vfat", "msdos", "exfat", "ntfs3", "hfsplus", "udf"),
        *("iso9660", "squashfs", "erofs"),
    )
)
"""Filesystems on which files with different inodes have different data.

On others (overlay, FUSE, 9p, network), two inodes may have the same data.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backing:
    """File or device in which a loop or zram device stores its data."""

    path: str
    """Path of the file or block device."""
    devno: str | None = None
    """MAJ:MIN of the backing block device; None for a file."""
    place: str | None = None
    """Device and inode number of the backing file; None for a block device."""
    claims: bool = False
    """Whether the kernel has opened the device exclusively, as for zram (drivers/block/zram: backing_dev_store)."""
    doubt: str = ""
    """Reason why the file or device is not identified, as a clause that follows its path; "" if it is identified."""


async def read_backings(host: Host, tree: Tree, mounts: Sequence[Mount], *, sure: bool) -> dict[str, Backing]:
    """Return the backing of every loop and zram device by kernel name.

    `sure`: also query the kernel with losetup, which needs root.
    """
    paths = {node.name: path for node in tree.nodes.values() if (path := _path(node))}
    loops = {name for name in paths if name.startswith("loop")} if sure else set()
    done = await run_tool(host, ("losetup", *LOSETUP), seconds=20) if loops else None
    kernel_ids = {} if done is None else parse_losetup(done.stdout)
    result: dict[str, Backing] = {}
    for name, path in paths.items():
        stat = await host.stat(path)
        backing = _read_at_path(path.removesuffix(" (deleted)"), stat)
        if name in loops:
            backing = _compare_with_kernel(backing, stat, kernel_ids.get(name))
        if sure and backing.place is not None and not backing.doubt:
            backing = replace(backing, doubt=await _doubt(host, backing.path, backing.place, mounts))
        result[name] = replace(backing, claims=name.startswith("zram"))
    return result


def _path(node: Node) -> str | None:
    path = node.attributes.get("loop/backing_file") or node.attributes.get("backing_dev")
    return None if path == "none" else path


def _read_at_path(path: str, stat: FileStat | None) -> Backing:
    """Return the backing to which the path currently leads. `stat`: state of that file; None if there is none."""
    if stat is None or not (stat.devno or stat.place):
        return Backing(path=path, doubt="cannot be read")
    return Backing(path=path, devno=stat.devno if stat.kind == "block" else None, place=stat.place)


def _compare_with_kernel(backing: Backing, stat: FileStat | None, kernel_id: str | None) -> Backing:
    """Return `backing`, corrected if the file that the kernel has open is another one.

    `kernel_id`: ID of the file that the kernel has open; None if losetup does not report it.
    """
    if kernel_id is None:
        return replace(backing, doubt=backing.doubt or "may be a different file now: losetup does not report it")
    if stat is not None and kernel_id in (stat.place, stat.node):
        return backing
    return Backing(
        path=backing.path, place=kernel_id, doubt=backing.doubt or "is no longer the file that the kernel has open"
    )


async def _doubt(host: Host, path: str, file_id: str, mounts: Sequence[Mount]) -> str:
    """Return the reason why another file may have the same data as this file, as a clause; "" if none can."""
    kinds = {mount.fstype for mount in mounts if not mount.seen_in and mount.devno == file_id.rpartition(":")[0]}
    named = file_mount(path, mounts)
    if not kinds and named is not None and named.fstype in ("btrfs", "overlay"):
        kinds = {named.fstype}  # their files may have a device number that no mount has
    if not kinds:
        return "is on an unknown filesystem"
    if others := sorted(kinds - DIRECT):
        return f"is on {others[0]}, where another file may share its data"
    for mount in mounts:
        for layer in mount.layers:
            if path.startswith((await host.link(layer) or layer).rstrip("/") + "/"):
                return f"is also available below {mount.where()}, which shows the files of {clean(layer)}"
    return ""


def parse_losetup(text: str) -> Mapping[str, str]:
    """Return the file ID by loop device: a line `/dev/loop0 254:0 1234` gives {`loop0`: `254:0:1234`}.

    Other lines are ignored.
    """
    kernel_ids: dict[str, str] = {}
    for line in text.split("\n"):
        tokens = line.split()
        if (
            len(tokens) != 3
            or not tokens[0].startswith("/dev/loop")
            or not tokens[2].isascii()
            or not tokens[2].isdigit()
        ):
            continue
        major, colon, minor = tokens[1].partition(":")
        if colon and all(part.isascii() and part.isdigit() for part in (major, minor)):
            kernel_ids[tokens[0].removeprefix("/dev/")] = f"{int(major)}:{int(minor)}:{int(tokens[2])}"
    return kernel_ids
