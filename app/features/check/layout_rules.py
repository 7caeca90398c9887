"""Rules about alignment and sizes: partitions, md members, filesystems and pools."""

from __future__ import annotations

import re

from app.features.check.finding import NOTE, WARN, Finding, RuleOutput, UnknownResult, rule
from app.features.check.snapshot import BlockDevice, SystemSnapshot, alignment_of, fact
from backends.model import Array, Drive, Level
from backends.raid import PARITY
from backends.sizes import exact_text
from backends.topology import kernel_name
from backends.topology.mounts import Mount

RAIDZ = {Level.RAIDZ1: 1, Level.RAIDZ2: 2, Level.RAIDZ3: 3}

_BITMAP_CHUNK = re.compile(r"(\d+)KB chunk")
BITMAP_CHUNK = 64 << 10
"""Smallest acceptable chunk of md's write-intent bitmap, in KiB. With smaller chunks, writes often wait for the bitmap.

The default of mdadm is 64 MiB (mdadm(8), --bitmap-chunk).
"""

STRIPE_CACHE = 256
"""Default number of pages in md's stripe cache (Documentation/admin-guide/md.rst)."""

_EXT4_BLOCKS = (1024, 2048, 4096, 65536)


def _offsets(snapshot: SystemSnapshot) -> list[tuple[str, int, Array | None, int | None]]:
    """Return name, first byte, underlying array and physical sector size in bytes of each partition and md member."""
    offsets = []
    for block in snapshot.blocks.values():
        offsets += [(name, start, *_layout_of(snapshot, block)) for name, start in block.parts.items()]
        for path, text in block.attributes.items():
            if path.startswith("md/dev-") and path.endswith("/offset") and text.isdigit():
                member = path.split("/")[1].removeprefix("dev-")
                disk, start = snapshot.disk_of_part(member)
                if disk is not None:
                    offsets.append((f"{block.name} on {member}", start + int(text) * 512, *_layout_of(snapshot, disk)))
    return offsets


def _layout_of(snapshot: SystemSnapshot, disk: BlockDevice) -> tuple[Array | None, int | None]:
    things = snapshot.inventory.at(f"/dev/{disk.name.replace('!', '/')}")
    sector = max((device.physical_block or 0 for device in things if isinstance(device, Drive)), default=0)
    return snapshot.array_at(disk), sector or None


@rule(WARN, "misaligned", "a partition or md member begins inside a strip or sector", "parted(8), align-check")
def misaligned_parts(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield partitions and md members that begin inside a physical sector, or inside a strip of an array."""
    for name, start, array, sector in _offsets(snapshot):
        unit, unit_name = sector or 0, "physical sector"
        if array is not None and array.strip_bytes:
            unit, unit_name = array.strip_bytes, "strip"
        if unit and start % unit:
            yield Finding(
                where=name,
                message=f"The start is at byte {start}, inside a {unit_name} of {exact_text(unit)}. An I/O"
                f" that would fit into one {unit_name} touches two.",
                evidence=f"start {start // 512} sectors",
                do="Re-create the partition at a multiple of 1 MiB and copy the data back. It cannot be moved in"
                " place.",
            )


@rule(
    NOTE,
    "stripe-misaligned",
    "a partition begins inside a full stripe of a parity array",
    "xfs(5); mke2fs(8), stripe_width",
)
def stripe_misaligned_parts(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield partitions and md members on parity arrays that begin at the start of a strip, but not of a full stripe."""
    for name, start, array, _ in _offsets(snapshot):
        if array is not None and array.level in PARITY and array.strip_bytes is None:
            yield UnknownResult(where=name, why=f"the strip size of {array.target} is not reported")
        if array is None or array.level not in PARITY or not array.strip_bytes or start % array.strip_bytes:
            continue
        stripe = alignment_of(array)
        if stripe is None:
            yield UnknownResult(where=name, why="the number of data drives is not reported")
        elif start % stripe:
            yield Finding(
                where=name,
                message=f"The start is not aligned to the full stripe ({exact_text(stripe)}). Large writes span two"
                " stripes.",
                evidence=f"start {start // 512} sectors",
                do=f"If large writes matter, re-create the partition at a multiple of {exact_text(stripe)}.",
            )


@rule(
    WARN,
    "stack-misaligned",
    "the kernel reports a misaligned stacked device",
    "Documentation/ABI/stable/sysfs-block, alignment_offset",
)
def misaligned_stacks(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield stacked devices that the kernel reports as misaligned."""
    for block in snapshot.blocks.values():
        offset = block.number("alignment_offset")
        if offset:
            subject = (
                "The kernel reports a misaligned device"
                if offset < 0
                else (f"The device is misaligned by {offset} bytes to the device below")
            )
            yield Finding(
                where=block.name,
                message=f"{subject}. I/Os touch more sectors or strips than necessary.",
                evidence=f"/sys/block/{block.name}/alignment_offset: {offset}",
                do="Re-create the device with an aligned data offset.",
            )


def _filesystem_stripe(snapshot: SystemSnapshot, mount: Mount) -> tuple[Array, int, int, str] | None:
    """Return the array below a mount, its alignment unit, the filesystem's stripe (0 if not set), and the mount option.

    The unit and the stripe are in bytes. Return None if there is no striped array, or for filesystems other than xfs
    and ext4.
    """
    if not mount.source.startswith("/dev/") or mount.fstype not in ("xfs", "ext4"):
        return None
    array = snapshot.striped_at(snapshot.find_block(kernel_name(mount.source)))
    if array is None or (unit := alignment_of(array)) is None:
        return None
    options = dict(option.partition("=")[::2] for option in mount.options)
    name = {"xfs": "swidth", "ext4": "stripe"}[mount.fstype]
    value = options.get(name, "")
    number = int(value) * (512 if mount.fstype == "xfs" else 1) if value.isdigit() else 0
    return array, unit, number, f"{name}={value}"


@rule(
    WARN,
    "fs-stripe-other",
    "the stripe geometry of a filesystem does not match the array",
    "xfs(5), sunit and swidth; ext4(5), stripe",
)
def other_filesystem_stripes(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield filesystems whose stripe geometry does not match the array."""
    for mount in snapshot.mounts:
        match = _filesystem_stripe(snapshot, mount)
        if match is None or not match[2]:
            continue
        array, unit, number, text = match
        stripe = (array.strip_bytes or 0) * (array.data_drives or 0) or unit
        fits = {number} if mount.fstype == "xfs" else {number * size for size in _EXT4_BLOCKS}
        if fits.isdisjoint((stripe, unit)):
            yield Finding(
                where=mount.where(),
                message=f"The stripe geometry of the filesystem does not match the {exact_text(stripe)} of"
                f" {array.target}. Large files are misaligned.",
                evidence=f"{mount.fstype} mounted with {text}",
                do="Mount it with " + _options(array, stripe, mount.fstype) + ".",
            )


@rule(
    NOTE,
    "fs-stripe-unset",
    "a filesystem on a parity array has no stripe geometry",
    "xfs(5), sunit and swidth; ext4(5), stripe",
)
def unset_filesystem_stripes(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield filesystems on a parity array that have no stripe geometry."""
    for mount in snapshot.mounts:
        match = _filesystem_stripe(snapshot, mount)
        if match is not None and not match[2] and match[0].level in PARITY:
            array, unit = match[:2]
            yield Finding(
                where=mount.where(),
                message="The filesystem has no stripe geometry. Large files are not aligned to the stripe of"
                f" {array.target} ({exact_text(unit)}).",
                evidence=f"{mount.fstype} mounted without {'sunit and swidth' if mount.fstype == 'xfs' else 'stripe'}",
                do="Mount it with " + _options(array, unit, mount.fstype) + ".",
            )


def _options(array: Array, stripe: int, fstype: str) -> str:
    if fstype == "xfs":
        return f"sunit={(array.strip_bytes or 0) // 512},swidth={stripe // 512}"
    return f"stripe={stripe // 4096} (blocks of 4 KiB)"


@rule(WARN, "ashift-small", "a ZFS pool uses smaller sectors than its disks", "zpoolprops(7), ashift")
def ashift(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield ZFS pools that use smaller sectors than the physical sectors of their disks."""
    for array in snapshot.inventory.arrays:
        text = snapshot.now(array.target, "ashift") or ""
        sectors = [drive.physical_block for drive in snapshot.members(array) if drive.physical_block]
        if not text.isdigit() or not int(text):
            continue
        if not sectors:
            yield UnknownResult(where=str(array.target), why="the sector size of its disks is not reported")
        elif 1 << int(text) < max(sectors):
            yield Finding(
                where=str(array.target),
                message=f"The pool uses sectors of {1 << int(text)} bytes, but its disks have sectors of"
                f" {max(sectors)} bytes. Each small write costs a read-modify-write.",
                evidence=f"ashift {text}, physical sector {max(sectors)}",
                do="Re-create the pool with `zpool create -o ashift=12`. The ashift of an existing pool cannot be"
                " changed.",
                setting="ashift",
            )


@rule(
    NOTE, "volblocksize-small", "the blocks of a ZFS volume are smaller than a RAID-Z row", "zfsprops(7), volblocksize"
)
def volblocksize(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield ZFS volumes on RAID-Z whose blocks are smaller than a row: one sector on each data disk."""
    pools = {array.target.address: array for array in snapshot.inventory.arrays if array.level in RAIDZ}
    for array in snapshot.inventory.arrays:
        text = snapshot.now(array.target, "volblocksize") or ""
        pool = pools.get(array.target.address.partition("/")[0])
        shift = snapshot.now(pool.target, "ashift") if pool is not None else None
        if pool is None or not text.isdigit():
            continue
        data = len(pool.members) - RAIDZ[pool.level]
        if not shift or not shift.isdigit() or not int(shift) or data < 1:
            yield UnknownResult(
                where=str(array.target), why="the sector size or the disks of its pool are not reported"
            )
        elif int(text) < data << int(shift):
            yield Finding(
                where=str(array.target),
                message=f"Blocks of {exact_text(int(text))} are smaller than a row of the {data} data disks. Parity"
                " and padding cost extra space and I/Os.",
                evidence=f"volblocksize {text}, ashift {shift}, {data} data disks",
                do="Create a volume with larger blocks and copy the data.",
                setting="volblocksize",
            )


@rule(NOTE, "md-bitmap-fine", "the bitmap chunks of an md array are below 64 MiB", "mdadm(8), --bitmap-chunk")
def bitmap(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield md arrays whose write-intent bitmap has chunks smaller than `BITMAP_CHUNK`."""
    for array in snapshot.inventory.arrays:
        match = _BITMAP_CHUNK.search(fact(array, "Bitmap") or "")
        if match and int(match[1]) < BITMAP_CHUNK:
            yield Finding(
                where=str(array.target),
                message=f"The write-intent bitmap has chunks of {exact_text(int(match[1]) << 10)}. Random writes"
                " often wait for bitmap updates.",
                evidence=f"Bitmap: {fact(array, 'Bitmap')}",
                do="Set bitmap to none, then run `mdadm --grow --bitmap=internal --bitmap-chunk=128M`.",
            )


@rule(
    NOTE,
    "md-stripe-cache",
    "the stripe cache of an md array is small",
    "Documentation/admin-guide/md.rst, stripe_cache_size",
)
def stripe_cache(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield md parity arrays with at least three data drives whose stripe cache is not above the default."""
    for array in snapshot.inventory.arrays:
        text = snapshot.now(array.target, "stripe_cache_size") or ""
        if text.isdigit() and int(text) <= STRIPE_CACHE and (array.data_drives or 0) >= 3:
            yield Finding(
                where=str(array.target),
                message=f"The stripe cache has {text} pages per member. More partial stripes are written than"
                " necessary.",
                evidence=f"md/stripe_cache_size: {text}",
                do="Set stripe_cache_size to 4096 or more.",
                staged=snapshot.staged(array.target, "stripe_cache_size", "4096"),
            )


@rule(
    NOTE,
    "md-journal-through",
    "the journal of an md array is write-through",
    "md(4), journal; drivers/md/raid5-cache.c",
)
def journal_through(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield md arrays whose journal is write-through, so that it closes the write hole but speeds up nothing."""
    for array in snapshot.inventory.arrays:
        if snapshot.now(array.target, "journal_mode") == "write-through":
            yield Finding(
                where=str(array.target),
                message="The journal is write-through and only closes the write hole. Each write waits for the"
                " journal and the members.",
                evidence="md/journal_mode: write-through",
                do="With journal_mode write-back, a write is complete once it is in the journal. If that device fails,"
                " such writes are lost.",
                setting="journal_mode",
            )


@rule(
    WARN,
    "sector-format-slow",
    "an NVMe drive has a faster LBA format",
    "NVMe, LBA Format, Relative Performance",
)
def sector_format(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield NVMe drives that rate another LBA format as faster than the current one."""
    ranks = ("best", "better", "good", "degraded")
    for drive in snapshot.inventory.drives:
        reading = snapshot.readings.get(drive.target, {}).get("lba_format")
        if reading is None or reading.now is None:
            continue
        texts = {choice.value: choice.label for choice in reading.choices}
        speeds = {
            value: ranks.index(word)
            for value, label in texts.items()
            for word in label.split(", ")[1:2]
            if word in ranks
        }
        plain = {value: rank for value, rank in speeds.items() if "+" not in texts[value]}
        if reading.now in speeds and plain and min(plain.values()) < speeds[reading.now]:
            best = min(plain, key=lambda value: plain[value])
            yield Finding(
                where=str(drive.target),
                message=f"The LBA format is {texts[reading.now]}. The drive rates {texts[best]} as faster.",
                evidence=f"LBA format {reading.now}, relative performance {ranks[speeds[reading.now]]}",
                do=f"Format the drive with `raidbench set {drive.target} lba_format={best}`. This destroys its data.",
                setting="lba_format",
            )
