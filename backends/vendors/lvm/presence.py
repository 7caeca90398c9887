"""Whether a machine has volume groups: device-mapper's UUIDs of volumes begin alike, and LVM keeps what a group was."""

from __future__ import annotations

from backends.host import Host
from backends.topology.stacking import MARK

__all__ = ["MARK", "any_group"]

BACKUPS = "/etc/lvm/backup/*"
"""A file for each group that this machine has changed (lvm.conf, backup/backup_dir): also of one without a volume."""


async def any_group(host: Host) -> bool:
    """Whether a volume is active, or there was a group, at the price of reading a few files."""
    texts = await host.read_many(await host.list("/sys/block/dm-*/dm/uuid"))
    if any(text.startswith(MARK) for text in texts.values()):
        return True
    return host.which(("lvs",)) is not None and bool(await host.list(BACKUPS))
