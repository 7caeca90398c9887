"""LVM: logical volumes with their caches, mirrors and stripes, through lvs, lvchange and lvconvert."""

from backends.host import Host
from backends.protocol import Vendor, lazy_backend
from backends.topology.stacking import MARK

BACKUPS = "/etc/lvm/backup/*"
"""A file for each group that this machine has changed (lvm.conf, backup/backup_dir): also of one without a volume."""


async def any_group(host: Host) -> bool:
    """Return whether a volume is active, or there was a group, at the price of reading a few files."""
    texts = await host.read_many(await host.list("/sys/block/dm-*/dm/uuid"))
    if any(text.startswith(MARK) for text in texts.values()):
        return True
    return host.which(("lvs",)) is not None and bool(await host.list(BACKUPS))


VENDOR = Vendor(
    name="lvm",
    backend=lazy_backend("backends.vendors.lvm.backend:Lvm"),
    present=any_group,
    declares=("backends.vendors.lvm.settings:GENERAL", "backends.vendors.lvm.settings:OF_MEMBERS"),
    root_reads="backends.vendors.lvm.lvs:ROOT_READS",
)
"""Found by the registry."""
