"""Detects and identifies scratch files on shared filesystems, which several hosts may use at the same time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from backends.errors import RaidbenchError
from backends.host import Host
from backends.text import clean
from backends.topology.mounts import SHARED, Mount, file_mount, parse_mountinfo

_UUID = re.compile(r"^E:ID_FS_UUID=(\S+)$", re.MULTILINE)
"""Line in udev's data about a block device (/run/udev/data/bMAJ:MIN)."""


async def shared_places(host: Host, files: Iterable[Path]) -> tuple[str, ...]:
    """Return an id for each of these files that is on a shared filesystem, such as NFS.

    If two hosts report the same id, they use the same file. Files on local filesystems are left out, because a copy of
    a disk image has the same UUID as the original.
    """
    try:
        mounts = parse_mountinfo(await host.read("/proc/self/mountinfo") or "")
    except RaidbenchError:
        return ()
    files_there = []
    for file in files:
        mount = file_mount(str(file), mounts)
        if mount is not None and mount.fstype in SHARED:
            inner = str(file).removeprefix(mount.point.rstrip("/")).lstrip("/")
            files_there.append(clean(f"{mount.fstype} {await _source(host, mount)}/{inner}", 500))
    return tuple(files_there)


async def _source(host: Host, mount: Mount) -> str:
    """Return the source of a mount, such as `server:/export`, in a form that is the same on all hosts.

    For a block device, return the UUID of its filesystem, because the device name differs between machines.
    """
    if not mount.source.startswith("/dev/"):
        return mount.source.rstrip("/")
    match = _UUID.search(await host.read(f"/run/udev/data/b{mount.devno}") or "")
    return match[1] if match is not None else mount.source
