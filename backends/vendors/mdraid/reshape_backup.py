"""Whether a reshape needs a backup file, and where it may lie."""

from __future__ import annotations

from backends.errors import BlockedError, RaidbenchError
from backends.host import STALL, Command, Host
from backends.subject import refused_words
from backends.tool_output import truncation_error, truncation_message
from backends.topology import Topology
from backends.vendors.mdraid.details import WHOLE_EXAMINE, UnusedSpace, misnamed_examine, parse_unused
from backends.vendors.mdraid.facts import ArrayDevice
from backends.vendors.mdraid.readings import ArrayView

FOLDERS = ("/var/lib/raidbench", "/var/lib")
"""Where the file is put: in raidbench's own folder if it is there."""


async def backup_for(host: Host, view: ArrayView, picture: Topology, chunk: int | None) -> str | None:
    """Path of the backup file, None where the members have room enough to move the data into.

    With md's metadata 1.x mdadm moves where the data begin, by at least the larger chunk, and needs no file
    (Grow.c, set_new_data_offset). What cannot be examined is left to mdadm, which refuses by itself.
    Raises BlockedError when the only places for a file lie on the array itself, and for half an answer about a member.
    """
    array = view.array
    if not array.metadata.startswith("1."):
        return await _path(host, view, picture)
    if view.mdadm is None or not host.is_root or array.chunk is None:
        return None
    least = max(array.chunk.now, chunk or 0)
    rooms = [await _unused(host, view.mdadm, member) for member in array.active]
    if all(room is None or room.most_bytes >= least for room in rooms):
        return None
    return await _path(host, view, picture)


async def _unused(host: Host, mdadm: str, member: ArrayDevice) -> UnusedSpace | None:
    device = f"/dev/{member.name.replace('!', '/')}"
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
        f"A reshape of {view.device} needs a backup file, and {FOLDERS[-1]} lies on the array itself.",
        hint=f"Reshape it by hand: mdadm --grow --backup-file=... on another disk, {view.device}",
    )


def lies_on(picture: Topology, path: str) -> set[str]:
    """Kernel names of all block devices, through all layers, that a path lies on; none for a filesystem in memory."""
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
