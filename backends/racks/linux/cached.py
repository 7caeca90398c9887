"""bcache devices: their own folder, that of their cache set, and how they hang together with their disks."""

from __future__ import annotations

from backends.racks.bcache import BLOCK_BYTES, BcacheDevice
from backends.racks.linux.tree import Kernel, put_stacked
from backends.racks.rack import Rack

_MAJOR, _MINORS = 251, 128
"""As Linux 6.1 numbers them: 128 minors each."""

_ANY = "2147483647"
"""It cuts requests itself, and sets no limit."""


def put_bcache(found: Kernel, rack: Rack, device: BcacheDevice) -> None:
    """A device and its cache set; the disks have to be there already."""
    name, at = device.name, int(device.name.removeprefix("bcache"))
    layout = rack.layout(name)
    if layout is None:
        return
    number = f"{_MAJOR}:{at * _MINORS}"
    put_stacked(
        found,
        rack,
        name,
        number,
        size_bytes=layout.size_bytes,
        sequence=120 + at,
        queue={"read_ahead_kb": "128", "rotational": "0"}
        | dict.fromkeys(("max_sectors_kb", "max_hw_sectors_kb"), _ANY)
        | dict.fromkeys(("logical_block_size", "physical_block_size"), str(BLOCK_BYTES)),
        own={f"bcache/{key}": text for key, text in device.files(rack.cache_counts(name)).items()},
        below=rack.members(name),
    )
    base, kernel_set = f"/sys/block/{name}/bcache", f"/sys/fs/bcache/{device.set_uuid}"
    found.links[base] = f"{found.links[f'/sys/block/{device.backing}']}/bcache"
    found.files[f"/sys/block/{device.backing}/bcache/running"] = "1"
    if device.attached:
        cache = f"{found.links[f'/sys/block/{device.cache}']}/bcache"
        found.files |= {f"{kernel_set}/{key}": text for key, text in device.set_files().items()}
        found.links |= {
            f"{base}/cache": kernel_set,
            f"/sys/block/{device.cache}/bcache/set": kernel_set,
            f"{base}/cache/cache0": cache,
            f"{kernel_set}/cache0": cache,
            f"{kernel_set}/bdev0": found.links[base],
        }
    found.files["/sys/fs/bcache/register"] = ""
    found.files[f"/run/udev/data/b{number}"] = f"E:CACHED_UUID={device.uuid}"
