"""What the simulated drives and cards can do: constants of the load model, fitted to published measurements.

Where they come from is told in docs/simulation.md. Times are microseconds, sizes bytes, bandwidths MB/s (10^6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backends.model import Media

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


DRIVES: Mapping[str, DriveType] = {
    drive.model: drive
    for drive in (
        DriveType(
            model="CTFDDAC256MAG-1G1",
            vendor="ATA",
            firmware="0007",
            media=Media.SSD,
            interface="sata",
            size_bytes=256_060_514_304,
            link="6.0Gb/s",
            read_us=20.0,
            write_us=76.5,
            read_alone_us=150.0,
            write_alone_us=75.0,
            read_mbps=355,
            write_mbps=215,
            no_cache=1.9,
        ),
        DriveType(
            model="ST800FM0053",
            vendor="SEAGATE",
            firmware="0004",
            media=Media.SSD,
            interface="sas",
            size_bytes=800_166_076_416,
            link="6.0Gb/s",
            read_us=14.7,
            write_us=63.0,
            read_alone_us=205.0,
            write_alone_us=70.0,
            read_mbps=540,
            write_mbps=500,
            no_cache=1.04,
        ),
        DriveType(
            model="SSDSA2SH064G1GC INTEL",
            vendor="ATA",
            firmware="045C8790",
            media=Media.SSD,
            interface="sata",
            size_bytes=64_023_257_088,
            link="3.0Gb/s",
            read_us=28.6,
            write_us=300.0,
            read_alone_us=85.0,
            write_alone_us=90.0,
            read_mbps=250,
            write_mbps=190,
            no_cache=1.6,
        ),
        DriveType(
            model="ST3600057SS",
            vendor="SEAGATE",
            firmware="ES66",
            media=Media.HDD,
            interface="sas",
            size_bytes=600_127_266_816,
            link="6.0Gb/s",
            read_us=2900.0,
            write_us=3100.0,
            read_alone_us=5400.0,
            write_alone_us=5800.0,
            read_mbps=190,
            write_mbps=188,
            cache=0.7,
            no_cache=1.05,
        ),
        DriveType(
            model="ST3500630NS",
            vendor="ATA",
            firmware="3.AEK",
            media=Media.HDD,
            interface="sata",
            size_bytes=500_107_862_016,
            link="3.0Gb/s",
            read_us=7400.0,
            write_us=6200.0,
            read_alone_us=12_800.0,
            write_alone_us=6100.0,
            read_mbps=78,
            write_mbps=76,
            no_cache=2.4,
        ),
        DriveType(
            model="MZQLB960HAJR",
            vendor="NVMe",
            firmware="EDA5602Q",
            media=Media.NVME,
            interface="nvme",
            size_bytes=960_197_124_096,
            link="",
            read_us=1.9,
            write_us=11.0,
            read_alone_us=88.0,
            write_alone_us=22.0,
            read_mbps=2_900,
            write_mbps=1_350,
        ),
    )
}
"""Drives by model. The first two are fitted, the others follow their data sheets and articles B to D and F."""

CARDS: Mapping[str, CardType] = {
    card.product: card
    for card in (
        CardType(
            product="LSI MegaRAID SAS 9280-24i4e",
            read_us=9.0,
            sequential_us=6.2,
            read_ahead_us=2.76,
            cached_us=5.25,
            write_us=6.0,
            write_back_us=30.0,
            write_back_op_us=10.3,
            parity_us=12.0,
            parity_efficiency=0.875,
            alone_us=32.0,
            write_back_alone_us=62.0,
            read_mbps=1_450,
            write_mbps=1_400,
            driver_iops=240_000,
            fastpath_us=0.06,
        ),
        CardType(
            product="AVAGO MegaRAID SAS 9361-8i",
            read_us=1.9,
            sequential_us=2.9,
            read_ahead_us=2.1,
            cached_us=2.4,
            write_us=1.6,
            write_back_us=26.1,
            write_back_op_us=9.7,
            parity_us=13.0,
            parity_efficiency=0.835,
            alone_us=15.0,
            write_back_alone_us=57.0,
            read_mbps=5_800,
            write_mbps=4_600,
            driver_iops=290_000,
            fastpath_us=0.3,
        ),
        CardType(
            product="Intel(R) RAID Controller RS2BL080",
            read_us=9.0,
            sequential_us=6.2,
            read_ahead_us=2.76,
            cached_us=5.25,
            write_us=6.0,
            write_back_us=30.0,
            write_back_op_us=10.3,
            parity_us=12.0,
            parity_efficiency=0.875,
            alone_us=32.0,
            write_back_alone_us=62.0,
            read_mbps=1_200,
            write_mbps=1_400,
            driver_iops=240_000,
            fastpath_us=0.06,
        ),
        CardType(
            product="MegaRAID SAS 84016E",
            read_us=21.0,
            sequential_us=14.0,
            read_ahead_us=3.5,
            cached_us=6.5,
            write_us=9.0,
            write_back_us=44.0,
            write_back_op_us=14.0,
            parity_us=24.0,
            parity_efficiency=0.8,
            alone_us=60.0,
            write_back_alone_us=85.0,
            read_mbps=845,
            write_mbps=700,
            driver_iops=110_000,
        ),
    )
}
"""Cards by product name."""

ONE_CORE_IOPS = 330_000.0
"""Requests a second that one fio job can submit and reap on one core of this host."""

SCHEDULER_COST: Mapping[str, float] = {"none": 1.0, "kyber": 0.92, "mq-deadline": 0.86, "bfq": 0.4}
"""Share of that which each I/O scheduler leaves."""

CORES = 24
"""Logical processors of the simulated host."""

SUBMIT_US = 2.0
"""Time between fio's start of an I/O and its submission, alone (`slat`)."""
