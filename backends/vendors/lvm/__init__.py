"""LVM: logical volumes with caches, mirrors and stripes, through lvs, lvchange and lvconvert."""

from backends.host import Host
from backends.protocol import Vendor, lazy_backend
from backends.topology.stacking import MARK

BACKUPS = "/etc/lvm/backup/*"
"""Pattern of LVM's metadata backups: one file per volume group that this host has changed, even if the group has no
volumes (lvm.conf, backup_dir).
"""


async def has_group(host: Host) -> bool:
    """Return whether a logical volume is active, or a volume group exists or existed. Only a few files are read."""
    texts = await host.read_many(await host.list("/sys/block/dm-*/dm/uuid"))
    if any(text.startswith(MARK) for text in texts.values()):
        return True
    return host.which(("lvs",)) is not None and bool(await host.list(BACKUPS))


VENDOR = Vendor(
    name="lvm",
    backend=lazy_backend("backends.vendors.lvm.backend:Lvm"),
    present=has_group,
    declares=("backends.vendors.lvm.settings:GENERAL", "backends.vendors.lvm.settings:OF_MEMBERS"),
    root_reads="backends.vendors.lvm.lvs:ROOT_READS",
)
"""Registry entry."""
