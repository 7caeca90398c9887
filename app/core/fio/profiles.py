"""The named workloads, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from app.core.fio.job import Job
from app.core.fio.job_values import Engine, Pattern, Split
from app.core.fio.profile_names import TITLES
from backends.did_you_mean import suggestion_hint
from backends.errors import NotFoundError
from backends.text import clean
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A named workload."""

    name: str
    """Name on the command line."""
    title: str
    """A short title for lists."""
    help: str
    """Purpose and source of the workload."""
    job: Job
    """The fio parameters of the workload."""


_FILE_SERVER: Split = (
    (512, 10),
    (1024, 5),
    (2048, 5),
    (4096, 60),
    (8192, 2),
    (16384, 4),
    (32768, 4),
    (65536, 10),
)
_WEB_SERVER: Split = (
    (512, 22),
    (1024, 15),
    (2048, 8),
    (4096, 23),
    (8192, 15),
    (16384, 2),
    (32768, 6),
    (65536, 7),
    (131072, 1),
    (524288, 1),
)

_K = 1024
_M = 1024 * 1024

_AS_IOMETER = (
    " Offsets are multiples of a sector, as in Iometer: few 4k requests are 4k-aligned, so flash and 4Kn "
    "drives must read, modify and write. Do not compare it with the aligned variant."
)
_ALIGNED = (
    " Offsets are multiples of 4k, as with a filesystem. This is not Iometer's own pattern: do not compare it "
    "with the sector-aligned variant."
)


def _plain(name: str, about: str, job: Job) -> Profile:
    return Profile(name=name, title=TITLES[name], help=about, job=job)


def _iometer(name: str, about: str, job: Job) -> tuple[Profile, Profile]:
    sector, aligned = replace(job, blockalign=512), replace(job, blockalign=4096)
    return (
        _plain(name, about + _AS_IOMETER, sector),
        _plain(f"{name}-4k", about + _ALIGNED, aligned),
    )


_ALL: tuple[Profile, ...] = (
    _plain(
        "randread-4k",
        (
            "Small random reads across the array, queue depth 64: the load of a busy database. The test of most "
            "published RAID controller comparisons."
        ),
        Job(rw=Pattern.RANDREAD, iodepth=64),
    ),
    _plain(
        "randwrite-4k",
        (
            "Small random writes across the array, queue depth 64: the worst case for parity RAID. Destroys the "
            "data of a raw device."
        ),
        Job(rw=Pattern.RANDWRITE, iodepth=64),
    ),
    _plain(
        "seqread-4k",
        (
            "Small sequential reads, queue depth 512: how well requests are merged. A single job is soon limited "
            "by one CPU core."
        ),
        Job(rw=Pattern.READ, iodepth=512),
    ),
    _plain(
        "seqwrite-4k",
        (
            "Small sequential writes, queue depth 512: how well writes are combined into full stripes. Destroys "
            "the data of a raw device."
        ),
        Job(rw=Pattern.WRITE, iodepth=512),
    ),
    _plain(
        "seqread-4m",
        (
            "Large sequential reads, queue depth 64: the bandwidth of all drives together, as for backups and "
            "media servers."
        ),
        Job(rw=Pattern.READ, bs=4 * _M, iodepth=64),
    ),
    _plain(
        "seqwrite-4m",
        (
            "Large sequential writes, queue depth 64: the bandwidth with full-stripe writes. Destroys the data of "
            "a raw device."
        ),
        Job(rw=Pattern.WRITE, bs=4 * _M, iodepth=64),
    ),
    _plain(
        "mixed-32k",
        (
            "Three quarters reads, queue depth 32: the load of virtual machines. Also used to compare mirrors of "
            "unequal drives."
        ),
        Job(rw=Pattern.RANDRW, bs=32 * _K, iodepth=32, rwmixread=75),
    ),
    _plain(
        "randread-32k",
        "The read part of the virtual machine test, queue depth 32.",
        Job(rw=Pattern.RANDREAD, bs=32 * _K, iodepth=32),
    ),
    _plain(
        "mixed-4k",
        (
            "Two thirds reads, queue depth 128: the usual Iometer test of SAS controllers. Destroys the data of a "
            "raw device."
        ),
        Job(rw=Pattern.RANDRW, iodepth=128, rwmixread=67),
    ),
    *_iometer(
        "iometer-file-server",
        "Iometer's file server: 80 % reads, all random, 512 bytes to 64k. From fio's own"
        " examples/iometer-file-access-server.fio.",
        Job(rw=Pattern.RANDRW, rwmixread=80, bssplit=_FILE_SERVER, iodepth=64),
    ),
    *_iometer(
        "iometer-web-server",
        "Iometer's web server: reads only, all random, 512 bytes to 512k. Shares as published in Tom's Hardware's"
        " storage tests.",
        Job(rw=Pattern.RANDREAD, bssplit=_WEB_SERVER, iodepth=64),
    ),
    *_iometer(
        "iometer-database",
        "Iometer's database: 8k, 67 % reads, all random. As published in Tom's Hardware's storage tests.",
        Job(rw=Pattern.RANDRW, rwmixread=67, bs=8 * _K, iodepth=64),
    ),
    _plain(
        "etcd",
        (
            "One writer, 2300 bytes in order, a data flush after each write, in a new preallocated file. From IBM's "
            "fio line for etcd (2019). Destroys the data of a raw device."
        ),
        Job(
            rw=Pattern.WRITE,
            bs=2300,
            fdatasync=1,
            ioengine=Engine.PSYNC,
            direct=False,
            size=2048 * _M,  # larger than a minute of flushes on flash, so that no block is written twice
            extra=(("fallocate", "native"),),
        ),
    ),
    _plain(
        "ceph-osd",
        (
            "One writer, 4k at random offsets, a flush after each write. From Ceph's hardware recommendations. "
            "Destroys the data of a raw device."
        ),
        Job(rw=Pattern.RANDWRITE, fsync=1, ioengine=Engine.PSYNC),
    ),
    _plain(
        "postgres",
        (
            "One writer, 8k in order, a data flush after each write, over an existing file, because PostgreSQL and "
            "MySQL reuse their logs. From pg_test_fsync. Destroys the data of a raw device."
        ),
        Job(rw=Pattern.WRITE, bs=8 * _K, fdatasync=1, ioengine=Engine.PSYNC, direct=False, size=256 * _M),
    ),
)

PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in _ALL})
"""Every profile by name, in display order."""


def profile(name: str) -> Profile:
    """Return the profile of that name. Raises NotFoundError, which suggests names, if there is none."""
    match = PROFILES.get(name)
    if match is None:
        raise NotFoundError(
            f"There is no workload named '{clean(name, 40)}'",
            hint=suggestion_hint(name, PROFILES, "Workloads: " + ", ".join(PROFILES) + "."),
        )
    return match
