"""What the simulated drives and cards can do: constants of the load model, fitted to published measurements.

Where they come from is told in docs/simulation.md. Times are microseconds, sizes bytes, bandwidths MB/s (10^6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from backends.model import Media
from backends.values import dataclass

T = TypeVar("T")

GB = 1000**3
MB = 1000**2
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
    mirror_gain: float = 1.155
    """Reads of a mirror go to the less busy half."""
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
    """Processor time that FastPath saves a read."""


def _columns(kind: Callable[..., T], figures: Mapping[str, tuple[object, ...]]) -> dict[str, T]:
    """What the columns of a table describe, by the names in its first row."""
    rows = (dict(zip(figures, column, strict=True)) for column in zip(*figures.values(), strict=True))
    return {str(next(iter(row.values()))): kind(**row) for row in rows}


_DRIVES = {
    "model": (
        "CTFDDAC256MAG-1G1",
        "ST800FM0053",
        "SSDSA2SH064G1GC INTEL",
        "ST3600057SS",
        "ST3500630NS",
        "MZQLB960HAJR",
        "MZ1LB960HAJQ",
        "MZ7KH960HAJR",
        "EG000600JWEBH",
        "MK000480GWXFH",
        "ST373454FC",
        "ioDrive 320GB",
    ),
    "vendor": ("ATA", "SEAGATE", "ATA", "SEAGATE", "ATA", "NVMe", "NVMe", "ATA", "HP", "ATA", "IBM-ESXS", "FUSIONIO"),
    "firmware": (
        "0007",
        "0004",
        "045C8790",
        "ES66",
        "3.AEK",
        "EDA5602Q",
        "EDA7602Q",
        "HXM7404Q",
        "HPD4",
        "HPG1",
        "F3R1",
        "v7.1.17",
    ),
    "media": (
        Media.SSD,
        Media.SSD,
        Media.SSD,
        Media.HDD,
        Media.HDD,
        Media.NVME,
        Media.NVME,
        Media.SSD,
        Media.HDD,
        Media.SSD,
        Media.HDD,
        Media.SSD,
    ),
    "interface": ("sata", "sas", "sata", "sas", "sata", "nvme", "nvme", "sata", "sas", "sata", "fc", "pcie"),
    "size_bytes": (
        256_060_514_304,
        800_166_076_416,
        64_023_257_088,
        600_127_266_816,
        500_107_862_016,
        960_197_124_096,
        960_197_124_096,
        960_197_124_096,
        600_127_266_816,
        480_103_981_056,
        73_407_865_856,
        320_000_000_000,
    ),
    "link": (
        "6.0Gb/s",
        "6.0Gb/s",
        "3.0Gb/s",
        "6.0Gb/s",
        "3.0Gb/s",
        "",
        "",
        "6.0Gb/s",
        "12.0Gb/s",
        "6.0Gb/s",
        "4.0Gb/s",
        "",
    ),
    "read_us": (20.0, 14.7, 28.6, 2900.0, 7400.0, 1.9, 1.9, 7.0, 4200.0, 12.0, 2900.0, 25.4),
    "write_us": (76.5, 63.0, 300.0, 3100.0, 6200.0, 11.0, 10.5, 10.0, 4400.0, 22.0, 3100.0, 170.0),
    "read_alone_us": (150.0, 205.0, 85.0, 5400.0, 12_800.0, 88.0, 80.0, 92.0, 6200.0, 110.0, 5400.0, 60.0),
    "write_alone_us": (75.0, 70.0, 90.0, 5800.0, 6100.0, 22.0, 22.0, 30.0, 6400.0, 45.0, 5800.0, 40.0),
    "read_mbps": (355, 540, 250, 190, 78, 2900, 3500, 655, 220, 530, 110, 700),
    "write_mbps": (215, 500, 190, 188, 76, 1350, 1170, 460, 215, 440, 105, 500),
    "no_cache": (1.9, 1.04, 1.6, 1.05, 2.4, 1.0, 1.0, 1.0, 1.05, 1.6, 1.05, 1.0),
    "cache": (1.0, 1.0, 1.0, 0.7, 1.0, 1.0, 1.0, 1.0, 0.9, 1.0, 0.9, 1.0),
}
DRIVES: Mapping[str, DriveType] = _columns(DriveType, _DRIVES)
"""Drives by model. The first and the two of the md mirrors are fitted, the others follow data sheets and articles."""

_CARDS = {
    "product": (
        "LSI MegaRAID SAS 9280-24i4e",
        "AVAGO MegaRAID SAS 9361-8i",
        "Intel(R) RAID Controller RS2BL080",
        "MegaRAID SAS 84016E",
        "HPE Smart Array P408i-a SR Gen10",
        "Adaptec 5805",
        "Adaptec SmartRAID 3204-8i",
        "IBM DS4700-70",
    ),
    "read_us": (9.0, 1.9, 9.0, 21.0, 1.8, 20.0, 1.5, 14.0),
    "sequential_us": (6.2, 2.9, 6.2, 14.0, 2.8, 12.0, 2.4, 8.6),
    "read_ahead_us": (2.76, 2.1, 2.76, 3.5, 2.1, 3.5, 2.1, 3.5),
    "cached_us": (5.25, 2.4, 5.25, 6.5, 2.4, 5.5, 2.4, 0.0),
    "write_us": (6.0, 1.6, 6.0, 9.0, 1.6, 9.0, 1.4, 9.0),
    "write_back_us": (30.0, 26.1, 30.0, 44.0, 20.0, 30.0, 16.0, 8.6),
    "write_back_op_us": (10.3, 9.7, 10.3, 14.0, 8.0, 12.0, 7.0, 0.0),
    "parity_us": (12.0, 13.0, 12.0, 24.0, 10.0, 20.0, 9.0, 12.0),
    "parity_efficiency": (0.875, 0.835, 0.875, 0.8, 0.85, 0.8, 0.85, 0.85),
    "mirror_gain": (1.155, 1.155, 1.155, 1.155, 1.155, 1.155, 1.155, 1.155),
    "alone_us": (32.0, 15.0, 32.0, 60.0, 15.0, 45.0, 14.0, 120.0),
    "write_back_alone_us": (62.0, 57.0, 62.0, 85.0, 55.0, 80.0, 50.0, 160.0),
    "read_mbps": (1450, 5800, 1200, 845, 6000, 1200, 6400, 760),
    "write_mbps": (1400, 4600, 1400, 700, 4500, 1000, 4800, 620),
    "driver_iops": (240_000, 290_000, 240_000, 110_000, 400_000, 110_000, 500_000, 120_000),
    "fastpath_us": (0.06, 0.3, 0.06, 0.0, 0.4, 0.0, 0.4, 0.0),
}
CARDS: Mapping[str, CardType] = _columns(CardType, _CARDS)
"""Cards by product name."""

ONE_CORE_IOPS = 330_000.0
"""Requests a second that one fio job can submit and reap on one core of this host."""

SCHEDULER_COST: Mapping[str, float] = {"none": 1.0, "kyber": 0.92, "mq-deadline": 0.86, "bfq": 0.4}
"""Share of that which each I/O scheduler leaves."""

CORES = 24
"""Logical processors of the simulated host."""

SUBMIT_US = 2.0
"""Time between fio's start of an I/O and its submission, alone (`slat`)."""
