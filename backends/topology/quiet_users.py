"""Uses by the kernel that mounts, holders and open files do not show: journals, bitmaps and images of filesystems."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import field

from backends.host import Host
from backends.identity import Use
from backends.text import clean
from backends.topology.mounts import Mount, unescape
from backends.topology.tree import Node, Tree, node_path
from backends.values import dataclass

_JOURNALS = "/proc/fs/jbd2/*"
"""One entry per active journal: `sdb` on its own device, `sdb-8` inside the filesystem.

A `/` in a name is `!`, as in sysfs. Sources: jbd2_journal_init_dev and jbd2_journal_init_inode in fs/jbd2/journal.c.
"""
_TASKS = "/sys/fs/ext4/*/journal_task"
"""Process ID of the kernel thread (`jbd2/sdb`) that writes the journal of each mounted ext4."""
_OPTIONS = {"logdev": "the log", "rtdev": "the realtime device"}
"""Options of a mounted XFS that name its other devices (xfs_fs_show_options in fs/xfs/xfs_super.c)."""
_LOCATIONS = "/sys/block/md*/md/bitmap/location"
_FILE = ", file: "
"""Text before the path of a bitmap in /proc/mdstat (md_bitmap_status in drivers/md/md-bitmap.c)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietUsers:
    """Devices and files that the kernel uses, with phrases that complete "X is ..."."""

    devices: dict[str, str] = field(default_factory=dict)
    """Role of a device in a mounted filesystem, by MAJ:MIN."""
    files: dict[str, Use] = field(default_factory=dict)
    """Use of a file, by file ID (device and inode number)."""
    unidentified: tuple[str, ...] = ()
    """Sentences without full stop about files that cannot be identified. Any file may be one of these."""


async def read_quiet_users(host: Host, tree: Tree, mounts: Sequence[Mount]) -> QuietUsers:
    """Return the devices and files that the kernel itself uses.

    Little is read if no array has a bitmap file and no journal is on its own device.
    """
    journals, logs, bitmaps = await asyncio.gather(_journals(host, tree, mounts), _logs(host, mounts), _bitmaps(host))
    files: dict[str, Use] = {}
    unidentified: list[str] = []
    for path, use in (*bitmaps, *_images(mounts)):
        stat = await host.stat(path) if path.startswith("/") else None  # the folder of a relative path is unknown
        if stat is not None and stat.place is not None:
            files[stat.place] = use
        else:
            unidentified.append(f"{clean(path, 512)} is {use.detail}, and its file is unknown")
    return QuietUsers(devices=logs | journals, files=files, unidentified=tuple(unidentified))


async def _journals(host: Host, tree: Tree, mounts: Sequence[Mount]) -> dict[str, str]:
    """Return, by MAJ:MIN of each separate journal device, a phrase that names the filesystem of the journal."""
    names = [path.rpartition("/")[2] for path in await host.list(_JOURNALS)]
    nodes = [tree.nodes[name] for name in names if name in tree.nodes]
    owners = await _owners(host) if nodes else {}
    return {node.devno: _journal_of(tree, mounts, owners.get(node.name)) for node in nodes if node.devno is not None}


async def _owners(host: Host) -> dict[str, str]:
    """Return the kernel name of each mounted ext4 device, by the name of its journal in /proc/fs/jbd2."""
    owners: dict[str, str] = {}
    for path, task in (await host.read_many(await host.list(_TASKS))).items():
        thread = await host.read(f"/proc/{task.strip()}/comm") or ""
        owners[thread.strip().removeprefix("jbd2/")] = path.split("/")[4]
    return owners


def _journal_of(tree: Tree, mounts: Iterable[Mount], owner: str | None) -> str:
    node: Node | None = tree.nodes.get(owner) if owner is not None else None
    if node is None:
        return "the journal of a mounted filesystem"
    point = next((mount.where() for mount in mounts if mount.devno == node.devno), "")
    return f"the journal of {node_path(node.name)}" + (f", mounted on {point}" if point else "")


async def _logs(host: Host, mounts: Iterable[Mount]) -> dict[str, str]:
    """Return, by MAJ:MIN of each log and realtime device, a text that names the mounted XFS filesystem that uses it."""
    texts: dict[str, str] = {}
    for mount in mounts:
        for option in mount.options if mount.fstype == "xfs" else ():
            key, _, path = option.partition("=")
            stat = await host.stat(unescape(path)) if key in _OPTIONS else None
            if stat is not None and stat.kind == "block" and stat.devno is not None:
                texts[stat.devno] = f"{_OPTIONS[key]} of {clean(mount.source)}, mounted on {mount.where()}"
    return texts


async def _bitmaps(host: Host) -> list[tuple[str, Use]]:
    """Return the path and the use of each file in which an array keeps its write-intent bitmap."""
    locations = await host.read_many(await host.list(_LOCATIONS))
    if not any(text.strip() == "file" for text in locations.values()):
        return []
    pairs: list[tuple[str, Use]] = []
    array = ""
    for line in (await host.read("/proc/mdstat") or "").split("\n"):
        if line[:1].strip():
            array = line.partition(" ")[0]
        _, mark, path = line.partition(_FILE)
        if mark:
            detail = f"the bitmap of {node_path(clean(array))}"
            pairs.append((unescape(path), Use(kind="md", detail=detail, elsewhere=True)))
    return pairs


def _images(mounts: Iterable[Mount]) -> list[tuple[str, Use]]:
    """Return the path and the use of each image file that is mounted without a loop device (EROFS, since Linux
    6.12).
    """
    return [
        (mount.source, Use(kind="mount", detail=f"mounted on {mount.where()}", elsewhere=True))
        for mount in mounts
        if mount.fstype == "erofs" and mount.devno.startswith("0:") and mount.source != "none"
    ]
