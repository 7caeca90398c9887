"""What the simulated drives and cards can do: constants of the load model, fitted to published measurements.

Where they come from is told in docs/dev/simulation.md. Times are microseconds, sizes bytes, bandwidths MB/s (10^6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields
from typing import TypeVar

from backends.model import Media
from backends.values import dataclass

T = TypeVar("T")

GB = 1000**3
MB = 1000**2
KIB = 1024
MIB = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveType:
    """A model of drive and how fast it is."""

    model: str
    """As it reports itself."""
    vendor: str
    """SCSI vendor: `ATA` for SATA."""
    firmware: str
    """Revision."""
    media: Media
    """SSD or HDD."""
    interface: str
    """`sata` or `sas`."""
    size_bytes: int
    """Raw capacity."""
    link: str
    """Negotiated speed as the tools write it."""
    read_us: float
    """Time of one 4 KiB random read with many in flight: 1/IOPS."""
    write_us: float
    """The same of a write, sustained, drive cache at its default."""
    read_alone_us: float
    """Latency of a 4 KiB random read alone, drive and link."""
    write_alone_us: float
    """Latency of a 4 KiB write alone."""
    read_mbps: float
    """Sequential read."""
    write_mbps: float
    """Sequential write."""
    no_cache: float = 1.0
    """Times by which writes take longer with the drive's cache off."""
    cache: float = 1.0
    """Times by which writes take longer with the drive's cache on, against its default."""
    seek: float = 0.0
    """Share of a random operation that the way of the heads takes, on the whole disk."""
    burst: float = 1.0
    """How many times as fast as on average it writes at random between its pauses; 1 for one that writes evenly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardType:
    """A model of controller and what its processor takes for each request."""

    product: str
    """Name it reports."""
    read_us: float
    """Processor time of a random read past the cache."""
    sequential_us: float
    """Processor time of a sequential request, whose neighbours come along."""
    read_ahead_us: float
    """Added to a random read by looking for streams."""
    cached_us: float
    """Added to a random read by going through the cache."""
    write_us: float
    """Processor time of a write past the cache, for each drive operation it causes."""
    write_back_us: float
    """Processor time of taking a write into the cache and out again."""
    write_back_op_us: float
    """Added for each drive operation of a cached write."""
    parity_us: float
    """Added to a cached write for computing parity."""
    parity_efficiency: float
    """Share of the drives' speed that read-modify-write past the cache leaves."""
    alone_us: float
    """Latency the card adds to the drive's."""
    write_back_alone_us: float
    """Latency of a write that the cache takes."""
    read_mbps: float
    """Ceiling of reads."""
    write_mbps: float
    """Ceiling of writes."""
    driver_iops: float
    """What driver and interrupts of this host take of one card."""
    fastpath_us: float = 0.0
    """Processor time that FastPath or Smart Path saves a read."""
    mirror_gain: float = 1.155
    """Reads of a mirror go to the less busy half."""
    strip_us: float = 0.0
    """Processor time of each strip that a stream begins."""
    block_us: float = 0.0
    """Processor time of each block of the cache that a request takes beyond its first."""
    copy_cost: float = 0.0
    """Share of a cached write's time that the copy in the other controller adds."""
    line_bytes: int = 0
    """What the cache takes from the drives at once for a random read with read-ahead, and in what a cached write renews
    parity; 0 where no more moves than is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareType:
    """What the kernel of a host and its adapters take of md, where that was measured."""

    read_us: float
    """Processor time of a read of an array, on the core of the job that submits it."""
    write_us: float
    """The same of a write."""
    layer_us: float
    """Added by an array of arrays."""
    parity_us: Mapping[int, float]
    """Added to a write by parity, by how many strips of it a stripe has. One thread of the array does that for all jobs
    (raid5d of drivers/md/raid5.c)."""
    read_parity: float
    """The same of a read, times that: it goes through the stripe cache, too."""
    stream: float
    """Share of the drives' reading in order that is left when all of them read at once."""
    layer_stream: float
    """What an array of arrays leaves of that."""
    write_stream: float
    """Share of their writing in order."""
    again: float
    """How many times as fast a stripe is written in part as by reading all that it needs: neighbours share."""
    second_mbps: float
    """MB/s at which the second strip of parity of whole stripes is computed."""
    adapter_iops: float
    """Requests a second that all adapters together take."""


def _table(kind: Callable[..., T], names: Iterable[Field[object]], *rows: tuple[object, ...]) -> dict[str, T]:
    """What the rows describe, by their first figure: fields in their order, and the last ones at their defaults."""
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
"""Drives by model. What articles A to E measured is fitted, the others follow data sheets and F."""

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
"""By the rack's name; others have an md that takes no time of its own.

Fitted to article B, in which nobody looked for why one strip of parity costs small requests more than two. Its adapters
are three SAS2008, each of which does "some 350,000 IOPS" (servethehome.com/lsi-9202-16, measured)."""

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
"""Cards by product name. Those of articles A, E and F are fitted to them, the others follow data sheets."""

ONE_CORE_IOPS = 330_000.0
"""Requests a second that one fio job can submit and reap on one core of this host."""

SCHEDULER_COST: Mapping[str, float] = {"none": 1.0, "kyber": 0.92, "mq-deadline": 0.86, "bfq": 0.4}
"""Share of that which each I/O scheduler leaves."""

CORES = 24
"""Logical processors of the simulated host."""

DRIVER_IOPS = 400_000.0
"""Requests a second that the one driver instance of disks takes which are neither NVMe nor behind a card of ours."""

SUBMIT_US = 2.0
"""Time between fio's start of an I/O and its submission, alone (`slat`)."""
