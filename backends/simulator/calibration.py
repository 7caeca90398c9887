"""Performance constants of the simulated drives and controllers, fitted to published measurements.

docs/dev/simulation.md has the sources. Times are microseconds, sizes bytes, bandwidths MB/s (10^6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields
from typing import TypeVar

from backends.model import Media
from backends.values import dataclass

T = TypeVar("T")

GB = 1000**3
KIB = 1024
MIB = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveType:
    """Drive model and its performance."""

    model: str
    """Model name that the drive reports."""
    vendor: str
    """SCSI vendor; `ATA` for SATA."""
    firmware: str
    """Firmware revision."""
    media: Media
    """SSD, HDD or NVMe."""
    interface: str
    """`sata`, `sas`, `nvme`, `fc` or `pcie`."""
    size_bytes: int
    """Raw capacity in bytes."""
    link: str
    """Negotiated link speed as storcli and MegaCli print it: `6.0Gb/s`."""
    read_us: float
    """Time per 4 KiB random read at high queue depth, that is, 1/IOPS."""
    write_us: float
    """Time per sustained 4 KiB random write at high queue depth, with the default drive cache."""
    read_alone_us: float
    """Latency of a single 4 KiB random read, including the link."""
    write_alone_us: float
    """Latency of a single 4 KiB write."""
    read_mbps: float
    """Sequential read bandwidth."""
    write_mbps: float
    """Sequential write bandwidth."""
    no_cache: float = 1.0
    """Factor of the write time with the drive cache off, relative to the cache's default setting."""
    cache: float = 1.0
    """Factor of the write time with the drive cache on, relative to the cache's default setting."""
    seek: float = 0.0
    """Share of a random operation's time that the seek takes, if the complete disk is used."""
    burst: float = 1.0
    """Speed of random writes between the drive's pauses, relative to the mean speed; 1 for a drive without pauses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardType:
    """Controller model and its processor time per request."""

    product: str
    """Product name that the controller reports."""
    read_us: float
    """Processor time of a random read that bypasses the cache."""
    sequential_us: float
    """Processor time of a sequential request, which is merged with its neighbours."""
    read_ahead_us: float
    """Time that read-ahead adds to a random read, because the controller looks for sequential streams."""
    cached_us: float
    """Time that the cache adds to a random read."""
    write_us: float
    """Processor time of a write that bypasses the cache, per drive operation."""
    write_back_us: float
    """Processor time of a cached write, including the later write-out."""
    write_back_op_us: float
    """Time added to a cached write per drive operation."""
    parity_us: float
    """Time added to a cached write by computing parity."""
    parity_efficiency: float
    """Share of the drives' speed that is left for read-modify-write of parity, except with FastPath."""
    alone_us: float
    """Latency that the controller adds to the latency of the drive, for a single request."""
    write_back_alone_us: float
    """Latency of a cached write."""
    read_mbps: float
    """Maximum read bandwidth."""
    write_mbps: float
    """Maximum write bandwidth."""
    driver_iops: float
    """Maximum IOPS for one controller on this host, limited by driver and interrupts."""
    fastpath_us: float = 0.0
    """Processor time of a read that FastPath or Smart Path saves."""
    mirror_gain: float = 1.155
    """Factor by which a mirror reads faster, because reads go to the less busy drive."""
    strip_us: float = 0.0
    """Processor time per strip of a stream."""
    block_us: float = 0.0
    """Processor time per cache block of a request, after the first block."""
    copy_cost: float = 0.0
    """Extra time for copying a cached write to the other controller, as a share of the time of a cached write."""
    line_bytes: int = 0
    """Unit in bytes in which a random read with read-ahead reads from the drives, and in which a cached write updates
    parity; 0 if the cache moves only the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareType:
    """Performance of md on a host and of the adapters in that host, as far as measured."""

    read_us: float
    """Processor time of a read from an array, on the core of the job that submits it."""
    write_us: float
    """Processor time of a write to an array, on the core of the job that submits it."""
    layer_us: float
    """Processor time that a request to an array of arrays (such as RAID 50) takes in addition."""
    parity_us: Mapping[int, float]
    """Time that parity adds to a write, by the number of parity strips per stripe.

    One thread of the array computes parity for all jobs (raid5d of drivers/md/raid5.c).
    """
    read_parity: float
    """Factor of `parity_us` for reads, which use the stripe cache too."""
    stream: float
    """Share of the drives' sequential read speed that is left when all of them read at once."""
    layer_stream: float
    """Share of `stream` that is left in an array of arrays."""
    write_stream: float
    """Share of the drives' sequential write speed that is left when all of them write at once."""
    again: float
    """Factor by which partial stripe writes are faster than separate read-modify-writes, because neighbouring writes
    share reads."""
    second_mbps: float
    """Speed of computing the second parity strip of full stripes, in MB/s."""
    adapter_iops: float
    """Maximum IOPS of all adapters together."""


def _table(kind: Callable[..., T], names: Iterable[Field[object]], *rows: tuple[object, ...]) -> dict[str, T]:
    """Return one record of type `kind` per row, by the first value of the row.

    The values of a row are in the order of the fields `names`. Fields without a value have their defaults.
    """
    keys = [column.name for column in names]
    return {str(row[0]): kind(**dict(zip(keys, row, strict=False))) for row in rows}


SSD, HDD, NVME = Media.SSD, Media.HDD, Media.NVME
G3, G4, G6, G12 = "3.0Gb/s", "4.0Gb/s", "6.0Gb/s", "12.0Gb/s"

DRIVES: Mapping[str, DriveType] = _table(
    DriveType,
    fields(DriveType),
    ("CTFDDAC256MAG-1G1", "ATA", "0007", SSD, "sata", 256_060_514_304, G6, 20, 76.5, 150, 75, 355, 215, 1.9),
    ("ST800FM0053", "SEAGATE", "0004", SSD, "sas", 800_166_076_416, G6, 14.7, 63, 205, 70, 540, 500, 1.04),
    ("SSDSA2SH064G1GC INTEL", "ATA", "045C8790", SSD, "sata", 64_023_257_088, G3, 28.6, 150, 85, 90, 218, 190, 1.6),
    ("ST3500630NS", "ATA", "3.AEK", HDD, "sata", 500_107_862_016, G3, 8380, 3400, 12_800, 6100, 78, 76, 2.4, 1.0, 0.6),
    ("MZQLB960HAJR", "NVMe", "EDA5602Q", NVME, "nvme", 960_197_124_096, "", 1.9, 11, 88, 22, 2900, 1350),
    ("MZ1LB960HAJQ", "NVMe", "EDA7602Q", NVME, "nvme", 960_197_124_096, "", 1.9, 10.5, 80, 22, 3500, 1170),
    ("MZ7KH960HAJR", "ATA", "HXM7404Q", SSD, "sata", 960_197_124_096, G6, 7, 10, 92, 30, 655, 460),
    ("EG000600JWEBH", "HP", "HPD4", HDD, "sas", 600_127_266_816, G12, 4200, 4400, 6200, 6400, 220, 215, 1.05, 0.9, 0.5),
    ("MK000480GWXFH", "ATA", "HPG1", SSD, "sata", 480_103_981_056, G6, 12, 22, 110, 45, 530, 440, 1.6),
    ("ST373454FC", "IBM-ESXS", "F3R1", HDD, "fc", 73_407_865_856, G4, 2900, 3100, 5400, 5800, 110, 105, 1.05, 0.9, 0.5),
    ("SATA SSD 64GB", "ATA", "0001", SSD, "sata", 64_023_257_088, G3, 17.7, 29.6, 110, 60, 245, 134),
    ("ioDrive 320GB", "FUSIONIO", "v7.1.17", SSD, "pcie", 320 * GB, "", 23.2, 169, 60, 40, 700, 500, 1, 1, 0, 3.92),
)
"""Drives by model. The drives of articles A to E (see docs/dev/simulation.md) are fitted to these articles; the others
follow data sheets and article F."""

SOFTWARE: Mapping[str, SoftwareType] = {
    "ssds": SoftwareType(
        read_us=5.5,
        write_us=5.95,
        layer_us=2.2,
        parity_us={1: 3.25, 2: 2.15},
        read_parity=1.52,
        stream=0.802,
        layer_stream=0.94,
        write_stream=0.98,
        again=1.05,
        second_mbps=1000,
        adapter_iops=3 * 350_000,
    )
}
"""Processor time that md takes, by name of the simulated host. On hosts without an entry, md takes no time.

The times are fitted to article B (see docs/dev/simulation.md). The article does not explain why small requests are
slower with one parity strip than with two. The host in it has three SAS2008, each of which does "some 350,000 IOPS"
(servethehome.com/lsi-9202-16, measured).
"""

CARDS: Mapping[str, CardType] = _table(
    CardType,
    fields(CardType),
    ("LSI MegaRAID SAS 9280-24i4e", 9, 6.2, 2.76, 5.25, 6, 30, 10.3, 12, 0.875, 32, 62, 1450, 1400, 240_000, 0.06),
    ("AVAGO MegaRAID SAS 9361-8i", 1.9, 2.9, 2.1, 2.4, 1.6, 26.1, 9.7, 13, 0.835, 15, 57, 5800, 4600, 290_000, 0.3),
    (
        *("Intel(R) RAID Controller RS2BL080", 9, 6.2, 2.76, 5.25, 6, 30, 10.3, 12, 0.7, 32, 62, 1200, 1400, 240_000),
        *(0.06, 1.3, 0, 0, 0, 64 * KIB),
    ),
    ("MegaRAID SAS 84016E", 21, 14, 3.5, 6.5, 9, 44, 14, 24, 0.8, 60, 85, 845, 700, 110_000),
    ("HPE Smart Array P408i-a SR Gen10", 3.6, 3, 0, 2, 1.6, 20, 8, 10, 0.85, 15, 55, 6000, 4500, 400_000, 2.2),
    ("Adaptec SmartRAID 3204-8i", 3, 2.6, 0, 1.8, 1.4, 16, 7, 9, 0.85, 14, 50, 6400, 4800, 500_000, 1.8),
    ("Adaptec 5805", 20, 18.8, 3.5, 5.5, 9, 30, 12, 20, 0.8, 45, 80, 1200, 1000, 110_000, 0, 1.155, 36),
    ("9690SA-8I", 19, 12, 3.5, 6, 9, 38, 13, 22, 0.8, 55, 82, 760, 640, 110_000),
    ("IBM DS3400", 7, 9, 0.2, 0.25, 9, 12, 6, 12, 0.85, 120, 160, 402, 330, 120_000, 0, 1.155, 0, 5.5, 0.026),
    ("IBM DS4700-70", 7, 9, 0.2, 0.25, 9, 12, 6, 12, 0.85, 120, 160, 760, 620, 240_000, 0, 1.155, 0, 5.5, 0.026),
)
"""Controllers by product name. The controllers of articles A, E and F (see docs/dev/simulation.md) are fitted to these
articles; the others follow data sheets."""

ONE_CORE_IOPS = 330_000.0
"""Maximum IOPS of one fio job, which submits and reaps its I/O on one core of this host."""

SCHEDULER_COST: Mapping[str, float] = {"none": 1.0, "kyber": 0.92, "mq-deadline": 0.86, "bfq": 0.4}
"""Share of `ONE_CORE_IOPS` that is left with each I/O scheduler."""

CORES = 24
"""Logical processors of the simulated host."""

DRIVER_IOPS = 400_000.0
"""Maximum IOPS of the driver for disks that are neither NVMe nor behind a simulated controller."""

SUBMIT_US = 2.0
"""Microseconds from fio's start of a single I/O to its submission (`slat`)."""
