"""Whether a scratch file is one that other machines may have, too, and what tells it from those of others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from backends.errors import RaidbenchError
from backends.host import Host
from backends.text import clean
from backends.topology.mounts import SHARED, Mount, file_mount, parse_mountinfo

_UUID = re.compile(r"^E:ID_FS_UUID=(\S+)$", re.MULTILINE)
"""In what udev keeps of a block device (/run/udev/data/bMAJ:MIN)."""


async def shared_places(host: Host, files: Iterable[Path]) -> tuple[str, ...]:
    """What each of these files is on a filesystem that several machines have; those on others are left out.

    Two machines that tell the same have one file, by the names that the filesystem has on them. A filesystem of one
    machine is never told: a copy of a disk image has the UUID of the first.
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
    """What was mounted: of a block device, whose name means another on every machine, the filesystem's UUID."""
    if not mount.source.startswith("/dev/"):
        return mount.source.rstrip("/")
    match = _UUID.search(await host.read(f"/run/udev/data/b{mount.devno}") or "")
    return match[1] if match is not None else mount.source
