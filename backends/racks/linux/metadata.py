"""What udev says of the metadata on a device that something else is built on."""

from __future__ import annotations

from backends.racks.rack import Rack


def built_on(rack: Rack, name: str) -> list[str]:
    """Lines of its record: of a member of an array, whether that runs or not, and of the disks of a bcache device."""
    if (cached := next((one for one in rack.bcache.values() if name in (one.backing, one.cache)), None)) is not None:
        return ["E:ID_FS_TYPE=bcache", f"E:ID_FS_UUID={cached.uuid if name == cached.backing else cached.set_uuid}"]
    array = rack.superblock(name)
    if array is None:
        return []
    return ["E:ID_FS_TYPE=linux_raid_member", f"E:ID_FS_UUID={array.uuid}", f"E:ID_FS_LABEL_ENC={array.label}"]
