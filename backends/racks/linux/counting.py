"""Files of the kernel that count on while a job runs."""

from __future__ import annotations

from backends.racks.rack import Rack

COUNTING = ("/proc/spl/kstat/zfs/", "/sys/block/bcache")
"""How their paths begin."""


def counting(rack: Rack) -> dict[str, str]:
    """Their texts now."""
    found = {} if rack.zfs is None else rack.zfs.files(rack.arc_counts())
    for name, device in rack.bcache.items():
        texts = device.files(rack.cache_counts(name))
        found |= {f"/sys/block/{name}/bcache/{key}": text for key, text in texts.items()}
    return found
