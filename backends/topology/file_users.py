"""Users of a regular file: loop devices, swap, mounts, exports and programs."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection

from backends.host import Host
from backends.text import clean
from backends.topology.exports import read_exports
from backends.topology.loop_backing import read_backings
from backends.topology.mounts import Mount, file_mount, parse_mountinfo, parse_swaps
from backends.topology.open_files import openers
from backends.topology.tree import Node, node_path, tree_of
from backends.values import dataclass

_BACKING = "/loop/backing_file"
_MAPPED = re.compile(r"^\S+ \S+ \S+ ([0-9a-f]{2,8}):([0-9a-f]{2,8}) (\d{1,20})\s", re.MULTILINE)
"""Pattern that finds device and inode number in a line of /proc/PID/maps (proc(5))."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUser:
    """One user of a file."""

    text: str
    """Clause that completes "the file ...": `is active swap`."""
    hint: str
    """Instruction for ending the use, a sentence."""


async def find_file_users(
    host: Host, path: str, file_id: str, *, programs: bool, ignore: Collection[int] = ()
) -> tuple[tuple[FileUser, ...], bool]:
    """Return the users of the file at `path`, and whether all possible users could be checked.

    `file_id`: device and inode number of the file. `programs`: whether to search the open and mapped files of programs;
    without root only this user's programs can be searched. `ignore`: process IDs of our own, which do not count.
    """
    mounts = await _mounts(host)
    places = {file_id, *await _layers(host, path, mounts)}
    groups = await asyncio.gather(
        _loops(host, path, places, mounts),
        _swaps(host, path, places),
        _find_mounts(host, path, places, mounts),
        _find_exports(host, path, places),
    )
    users = [user for part in groups for user in part]
    complete = True
    if programs:
        running, complete = await _programs(host, places, ignore)
        users += running
    return tuple(dict.fromkeys(users)), complete


async def _mounts(host: Host) -> list[tuple[str, Mount]]:
    """Return the mounts of all readable namespaces, each after its root folder: /proc/PID/root, or "" for our own."""
    mounts: dict[Mount, tuple[str, Mount]] = {}
    spaces: set[str] = set()
    for folder in ("/proc/self", *await host.list("/proc/[0-9]*")):
        space = await host.link(f"{folder}/ns/mnt")
        if space is None or (space := space.rsplit("/", 1)[-1]) in spaces:
            continue
        spaces.add(space)
        for mount in parse_mountinfo(await host.read(f"{folder}/mountinfo") or ""):
            mounts.setdefault(mount, (f"{folder}/root" if folder != "/proc/self" else "", mount))
    return list(mounts.values())


async def _layers(host: Host, path: str, mounts: Collection[tuple[str, Mount]]) -> tuple[str, ...]:
    """Return the IDs of the files in the layers of an overlay that hold the data of the file at `path`.

    The ID of each of these files differs from that of the file at `path`.
    """
    mount = file_mount(path, [mount for root, mount in mounts if not root])
    if mount is None or not mount.layers:
        return ()
    below = path.removeprefix(mount.point.rstrip("/"))
    stats = [await host.stat(layer.rstrip("/") + below) for layer in mount.layers]
    return tuple(stat.place for stat in stats if stat is not None and stat.place is not None)


async def _loops(
    host: Host, path: str, places: Collection[str], mounts: Collection[tuple[str, Mount]]
) -> list[FileUser]:
    """Return the loop devices whose data is in the file. They are found by the file IDs `places` and by path."""
    listed = await host.list(f"/sys/block/loop*{_BACKING}")
    texts = await host.read_many([*listed, *(f"{name.removesuffix(_BACKING)}/dev" for name in listed)])
    nodes = [
        Node(
            name=(name := listed_path.split("/")[3]),
            devno=texts.get(f"/sys/block/{name}/dev"),
            size_bytes=None,
            attributes={"loop/backing_file": texts.get(listed_path, "")},
        )
        for listed_path in listed
    ]
    backings = await read_backings(host, tree_of(nodes), (), sure=host.is_root) if nodes else {}
    users: list[FileUser] = []
    for node in nodes:
        backing = backings.get(node.name)
        if backing is None or (backing.place not in places and backing.path != path):
            continue
        device = node_path(node.name)
        points = list(dict.fromkeys(clean(mount.point) for _, mount in mounts if mount.devno == node.devno))
        hint = f"Detach it first (losetup -d {device})."
        if points:
            hint = f"Unmount {points[0]} and detach {device} first (umount, losetup -d)."
        text = f"is in use by {device}" + (f", which is mounted on {', '.join(points)}" if points else "")
        users.append(FileUser(text=text, hint=hint))
    return users


async def _swaps(host: Host, path: str, places: Collection[str]) -> list[FileUser]:
    areas = parse_swaps(await host.read("/proc/swaps") or "")
    stats = [await host.stat(area) for area in areas]
    return [
        FileUser(text="is active swap", hint=f"Disable it first (swapoff {clean(area)}).")
        for area, stat in zip(areas, stats, strict=True)
        if area == path or (stat is not None and stat.place in places)
    ]


async def _find_mounts(
    host: Host, path: str, places: Collection[str], mounts: Collection[tuple[str, Mount]]
) -> list[FileUser]:
    """Return mounts that show the file under another name (bind mounts), or whose source is the file.

    Only mounts of the file's own filesystem are opened, because other filesystems may not respond.
    """
    file_system_mount = file_mount(path, [mount for root, mount in mounts if not root and mount.point != path])
    users: list[FileUser] = []
    for root, mount in mounts:
        bound = (
            file_system_mount is not None
            and mount.devno == file_system_mount.devno
            and await _is_file_at(host, root + mount.point, places)
        )
        if bound or mount.source == path:
            point = clean(mount.point)
            location = f"{point} in another mount namespace" if root else point
            users.append(FileUser(text=f"is mounted on {location}", hint=f"Unmount {point} first (umount)."))
    return users


async def _is_file_at(host: Host, path: str, places: Collection[str]) -> bool:
    stat = await host.stat(path)
    return stat is not None and stat.kind == "file" and stat.place in places


async def _find_exports(host: Host, path: str, places: Collection[str]) -> list[FileUser]:
    exports = await read_exports(host, tree_of(()))
    return [
        FileUser(text=f"is exported by {export.target_text}", hint="Remove it from the target first.")
        for export in exports
        if export.path == path or (export.place is not None and export.place in places)
    ]


async def _programs(host: Host, places: Collection[str], ignore: Collection[int]) -> tuple[list[FileUser], bool]:
    """Return programs that have the file open or mapped, and whether all programs could be checked."""
    holders, unseen = await openers(host, places, ignore=ignore)
    uses = {program.pid: "has it open" for programs in holders.values() for program in programs}
    if not host.is_root:
        for path in await host.list("/proc/[0-9]*/fd/*"):
            pid = path.split("/")[2]
            if pid not in uses and int(pid) not in ignore and await _is_file_at(host, path, places):
                uses[pid] = "has it open"
    for path in await host.list("/proc/[0-9]*/maps"):
        pid = path.split("/")[2]
        if pid not in uses and int(pid) not in ignore and _mapped_files(await host.read(path) or "") & set(places):
            uses[pid] = "has it mapped"
    users = []
    for pid, does in uses.items():
        name = clean(await host.read(f"/proc/{pid}/comm") or "?", 32)
        users.append(FileUser(text=f"is in use: {name} (process {pid}) {does}", hint="End that program first."))
    return users, unseen is None


def _mapped_files(maps: str) -> set[str]:
    """Return the IDs of all files in a /proc/PID/maps."""
    return {f"{int(major, 16)}:{int(minor, 16)}:{inode}" for major, minor, inode in _MAPPED.findall(maps)}


def file_id_of(info: os.stat_result) -> str:
    """Return the device and inode number of a file."""
    return f"{os.major(info.st_dev)}:{os.minor(info.st_dev)}:{info.st_ino}"
