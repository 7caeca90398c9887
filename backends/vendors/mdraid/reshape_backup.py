"""Backup file of a reshape: whether it is needed, and its path."""

from __future__ import annotations

from backends.errors import BlockedError, RaidbenchError
from backends.host import STALL, Command, Host
from backends.subject import refused_words
from backends.tool_output import truncation_error, truncation_message
from backends.topology import Topology, node_path
from backends.vendors.mdraid.details import WHOLE_EXAMINE, misnamed_examine, parse_unused
from backends.vendors.mdraid.facts import ArrayDevice
from backends.vendors.mdraid.readings import ArrayView

FOLDERS = ("/var/lib/raidbench", "/var/lib")
"""Folders for the backup file. The first that exists and is not on the array itself is used."""


async def backup_for(host: Host, view: ArrayView, picture: Topology, chunk: int | None) -> str | None:
    """Return the path of the backup file; None if the members have enough unused space instead.

    With metadata 1.x mdadm moves the data offset by at least the larger chunk and needs no file (Grow.c,
    set_new_data_offset). If a member cannot be examined, no file is used, and mdadm refuses a reshape that needs
    one. Raises BlockedError if all folders are on the array itself, or if output about a member is truncated.
    """
    array = view.array
    if not array.metadata.startswith("1."):
        return await _path(host, view, picture)
    if view.mdadm is None or not host.is_root or array.chunk is None:
        return None
    least = max(array.chunk.now, chunk or 0)
    spaces = [await _read_unused_space(host, view.mdadm, member) for member in array.active]
    if all(space is None or space >= least for space in spaces):
        return None
    return await _path(host, view, picture)


async def _read_unused_space(host: Host, mdadm: str, member: ArrayDevice) -> int | None:
    device = node_path(member.name)
    command = Command(argv=(mdadm, "--examine", device), timeout=20, stall=STALL)
    try:
        done = await host.run(command)
    except RaidbenchError:
        return None
    if done.stdout.strip() and (why := WHOLE_EXAMINE.lost(done)):
        raise truncation_error(device, truncation_message(command, why))
    if why := misnamed_examine(done.stdout, device):
        raise truncation_error(device, refused_words(command.shown(), why))
    return parse_unused(done.stdout)


async def _path(host: Host, view: ArrayView, picture: Topology) -> str:
    for folder in FOLDERS:
        stat = await host.stat(folder)
        if stat is None or stat.kind != "directory":
            continue
        if view.array.name in lies_on(picture, folder):
            continue
        return f"{folder}/raidbench-{view.array.name.replace('!', '-')}-reshape.backup"
    raise BlockedError(
        f"A reshape of {view.device} needs a backup file, but {FOLDERS[-1]} is on the array itself.",
        hint=f"Reshape it manually with a backup file on another disk: mdadm --grow --backup-file=FILE, {view.device}",
    )


def lies_on(picture: Topology, path: str) -> set[str]:
    """Return the kernel names of all block devices, at all layers, below the filesystem of `path`; empty for tmpfs."""
    best, point = set[str](), ""
    for name, mounts in picture.mounted.items():
        for mount in mounts:
            prefix = mount.point.rstrip("/") + "/"
            if mount.seen_in or not f"{path}/".startswith(prefix) or len(mount.point) < len(point):
                continue
            best = best | {name} if mount.point == point else {name}
            point = mount.point
    names = set(best)
    for name in best:
        names |= {node.name for node in picture.tree.below(name)} | {picture.tree.disk_of(name)}
        names |= {node.name for node in picture.tree.below(picture.tree.disk_of(name))}
    return names
