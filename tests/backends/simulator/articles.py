"""What the administrators measured: tables A to F, and the peaks of F, as the model has to give them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.core.fio.profiles import profile
from backends.model import Level
from backends.simulator.calibration import CARDS, DRIVES, MIB, SOFTWARE
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.profiles.ssds import ssds_rack
from backends.simulator.queueing_model import IoPattern, WorkloadTarget
from backends.simulator.rack import Rack

_A = WorkloadTarget(
    card=CARDS["LSI MegaRAID SAS 9280-24i4e"],
    drive=DRIVES["CTFDDAC256MAG-1G1"],
    level=Level.RAID5,
    drives=3,
    strip_bytes=64 * 1024,
    cache_bytes=512 * MIB,
    size_bytes=2 * DRIVES["CTFDDAC256MAG-1G1"].size_bytes,
)
_FAST = replace(_A, fastpath=True)
_READ, _WRITE = IoPattern(depth=64), IoPattern(depth=64, read_share=0.0)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement."""

    name: str
    layout: WorkloadTarget
    work: IoPattern
    iops: float
    mean_us: float
    """0 where the article has none."""


def _e(level: Level, on: bool) -> WorkloadTarget:
    drive = DRIVES["ST800FM0053"]
    return WorkloadTarget(
        card=CARDS["AVAGO MegaRAID SAS 9361-8i"],
        drive=drive,
        level=level,
        drives=2 if level is Level.RAID1 else 6,
        spans=3 if level is Level.RAID10 else 1,
        strip_bytes=256 * 1024,
        write_back=on,
        read_ahead=on,
        cache_bytes=1024 * MIB,
        size_bytes=3 * drive.size_bytes,
    )


TABLE_A = tuple(
    Cell(name=name, layout=layout, work=work, iops=iops, mean_us=mean)
    for name, layout, work, iops, mean in (
        ("WT NORA 64K read", _A, _READ, 83_364, 761),
        ("WT NORA 64K write", _A, _WRITE, 13_706, 4660),
        ("WT RA 64K read", replace(_A, read_ahead=True), _READ, 67_792, 938),
        ("WT ADRA 64K read", replace(_A, read_ahead=True), _READ, 67_999, 935),
        ("WB NORA 64K write", replace(_A, write_back=True), _WRITE, 11_612, 5500),
        ("FastPath 64K read", _FAST, _READ, 84_005, 756),
        ("FastPath 64K write", _FAST, _WRITE, 15_602, 4090),
        ("FastPath 8K read", replace(_FAST, strip_bytes=8192), _READ, 83_318, 762),
        ("FastPath 8K write", replace(_FAST, strip_bytes=8192), _WRITE, 15_630, 4090),
        ("FastPath 512K read", replace(_FAST, strip_bytes=524_288), _READ, 83_720, 758),
        ("FastPath 512K write", replace(_FAST, strip_bytes=524_288), _WRITE, 15_486, 4120),
        ("FastPath Cached read", replace(_FAST, cached=True), _READ, 58_131, 1095),
        ("FastPath Cached write", replace(_FAST, cached=True), _WRITE, 15_573, 4100),
    )
)
"""9280-24i4e, three SATA SSDs in RAID5, 4 KiB, queue depth 64."""

_SSD = DRIVES["SATA SSD 64GB"]


def _b(level: Level, drives: int) -> WorkloadTarget:
    nested = level is Level.RAID50
    return WorkloadTarget(
        card=None,
        drive=_SSD,
        level=level,
        drives=drives,
        spans=2 if nested else 1,
        layered=nested,
        software=SOFTWARE["ssds"],
        size_bytes=20 * _SSD.size_bytes,
    )


TABLE_B = tuple(
    Cell(
        name=f"{level.value} x{drives} {'read' if share else 'write'} {size}",
        layout=_b(level, drives),
        work=IoPattern(read_share=share, sequential=True, sizes=((size, 1.0),), depth=512 if size == 4096 else 64),
        iops=figure if size == 4096 else figure * 1e6 / size,
        mean_us=0,
    )
    for level, drives, figures in (
        (Level.RAID0, 24, (179_923, 168_027, 4576.7, 3146.8)),
        (Level.RAID5, 23, (93_503, 108_408, 4406.7, 1337.2)),
        (Level.RAID6, 23, (116_866, 120_477, 4052.2, 1259.9)),
        (Level.RAID50, 22, (75_782, 90_954, 3566.6, 1856.4)),
    )
    for (size, share), figure in zip(((4096, 1.0), (4096, 0.0), (4 << 20, 1.0), (4 << 20, 0.0)), figures, strict=True)
)
"""md of 24 SATA SSDs, chunk 64 KiB, in order; 4 KiB at queue depth 512, 4 MiB at 64. The article has no latencies."""

SINGLE_B = tuple(
    Cell(
        name=f"one SSD {'read' if share else 'write'} {size}",
        layout=WorkloadTarget(card=None, drive=_SSD, size_bytes=_SSD.size_bytes),
        work=IoPattern(
            read_share=share, sequential=True, sizes=((size, 1.0),), depth=512 if size == 4096 else 64, tags=32
        ),
        iops=figure if size == 4096 else figure * 1e6 / size,
        mean_us=0,
    )
    for size, share, figure in ((4096, 1.0, 56_342), (4096, 0.0, 33_792), (4 << 20, 1.0, 231), (4 << 20, 0.0, 130))
)
"""One of them alone; AHCI takes 32 requests at once."""

TABLE_E = tuple(
    Cell(
        name=f"{level.value} {reads} % read, cache {'on' if on else 'off'}, queue {queue}",
        layout=_e(level, on),
        work=IoPattern(read_share=reads / 100, sequential=not random, depth=queue),
        iops=iops,
        mean_us=mean_ms * 1000,
    )
    for reads, random, level, on, queue, iops, mean_ms in (
        (100, True, Level.RAID0, False, 1024, 290_000, 0.77),
        (67, True, Level.RAID0, False, 1024, 195_000, 5.3),
        (67, True, Level.RAID0, False, 256, 195_000, 1.3),
        (67, True, Level.RAID0, False, 128, 190_000, 0.67),
        (0, True, Level.RAID0, False, 128, 96_000, 1.4),
        (67, True, Level.RAID0, True, 1024, 69_000, 14.6),
        (100, True, Level.RAID10, False, 1024, 290_000, 0.63),
        (67, True, Level.RAID10, False, 1024, 122_000, 8.3),
        (67, True, Level.RAID10, False, 256, 125_000, 2.05),
        (67, True, Level.RAID10, False, 128, 120_000, 1.07),
        (67, True, Level.RAID10, True, 256, 56_500, 4.5),
        (0, True, Level.RAID10, False, 128, 48_000, 2.66),
        (67, True, Level.RAID5, False, 128, 82_000, 1.56),
        (67, True, Level.RAID5, True, 128, 35_000, 3.7),
        (0, True, Level.RAID5, True, 128, 12_500, 9.8),
        (0, True, Level.RAID5, False, 128, 33_000, 3.9),
        (0, False, Level.RAID1, False, 1, 11_657, 0.085),
        (0, False, Level.RAID1, True, 1, 17_220, 0.057),
        (0, False, Level.RAID10, True, 1, 17_200, 0.057),
        (0, False, Level.RAID10, False, 1, 11_700, 0.085),
    )
)
"""9361-8i, six SAS SSDs, 4 KiB."""


def of(rack: Rack, device: str) -> WorkloadTarget:
    """What the model knows of a device that is there."""
    found = rack.layout(device)
    assert found is not None
    return found


_LSI, _HPE, _SSDS = demo_rack(), hpe_rack(), ssds_rack()
_FILE = 20 << 30
_LARGE = IoPattern(sequential=True, depth=32, sizes=((1 << 20, 1.0),))
_LUN = IoPattern(depth=128, sizes=((512, 1.0),))

TABLE_C = tuple(
    Cell(
        name=f"{name} {'reads' if reads == 1 else 'mix'}",
        layout=of(_LSI, device),
        work=IoPattern(read_share=reads, sizes=((32768, 1.0),), depth=32),
        iops=iops,
        mean_us=0,
    )
    for name, device, mix, only in (
        ("SM883", "sdf", 12_000 + 4_020, 16_500),
        ("PM983", "nvme1n1", 44_600 + 14_900, 73_500),
        ("RAID10", "md0", 19_800 + 6_610, 34_400),
    )
    for reads, iops in ((0.75, mix), (1.0, only))
)
"""A PM983, an SM883 and the md RAID10 of both, 32 KiB, queue depth 32."""

TABLE_D = tuple(
    Cell(
        name=f"{device} random {'read' if reads else 'write'}",
        layout=of(_HPE, device),
        work=IoPattern(read_share=reads, depth=32, region_bytes=_FILE),
        iops=iops,
        mean_us=mean_ms * 1000,
    )
    for device, reads, iops, mean_ms in (
        ("fioa", 1.0, 39_403, 0.79),
        ("fioa", 0.0, 5_851, 5.30),
        ("md0", 1.0, 868, 36.8),
        ("md0", 0.0, 2_518, 12.31),
    )
)
"""ioDrive and md RAID 0 of four SATA disks, 4 KiB, queue depth 32, a file of 20 GiB."""

_RS2BL080 = CARDS["Intel(R) RAID Controller RS2BL080"]
_X25E = DRIVES["SSDSA2SH064G1GC INTEL"]


def _f(level: Level) -> WorkloadTarget:
    mirrored = level is Level.RAID10
    return WorkloadTarget(
        card=_RS2BL080,
        drive=_X25E,
        level=level,
        drives=8,
        spans=4 if mirrored else 1,
        strip_bytes=256 * 1024,
        write_back=True,
        read_ahead=True,
        drive_cache="off",
        cache_bytes=512 * MIB,
        size_bytes=(4 if mirrored else 7) * _X25E.size_bytes,
    )


def _iometer(name: str) -> IoPattern:
    job = profile(name).job
    share = job.rwmixread / 100 if job.rw.value == "randrw" else 1.0
    sizes = tuple((size, part / 100) for size, part in job.bssplit or ())
    return IoPattern(read_share=share, sizes=sizes, align=job.blockalign, depth=32)


TABLE_F = tuple(
    Cell(name=f"{level.value} {name}", layout=_f(level), work=_iometer(f"iometer-{name}"), iops=iops, mean_us=mean)
    for level, name, iops, mean in (
        (Level.RAID5, "file-server", 7_938.72, 4_030),
        (Level.RAID10, "file-server", 17_184.08, 1_860),
        (Level.RAID5, "web-server", 15_791, 0),
        (Level.RAID10, "web-server", 20_511, 0),
    )
)
"""RS2BL080 and eight X25-E, queue depth 32, which is what the article's latencies are of."""

PEAKS_F = (
    ("RS2BL080, small sequential reads", _f(Level.RAID5), IoPattern(sequential=True, depth=512), 160_000),
    ("RS2BL080, reads of 1 MiB in order", _f(Level.RAID5), _LARGE, 1200e6 / (1 << 20)),
    ("Adaptec 5805, small sequential reads", of(_HPE, "sdd"), IoPattern(sequential=True, depth=64), 50_000),
    ("DS4700, reads of a logical drive that fits the cache", of(_HPE, "dm-0"), _LUN, 116_000),
    ("DS3400, reads of 1 MiB in order", of(_SSDS, "dm-1"), _LARGE, 400e6 / (1 << 20)),
)
"""The most IOPS that were seen; the article gives no latencies."""
