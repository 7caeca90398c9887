"""One JSON document of fio, any version from 2.1 on, read without trusting it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any

from app.core.fio.histogram import Histogram
from backends.text import clean
from backends.values import dataclass

_US = 1000
_OLD_PER_GROUP = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """One direction, all jobs together, since the job (or its measured phase) began."""

    io_bytes: int = 0
    """Bytes moved."""
    total_ios: int = 0
    """I/Os issued: with those that failed, and mid-run those in flight."""
    completed: int = 0
    """I/Os whose latency was taken (its N); 0 during the ramp and with latency switched off."""
    runtime_ms: int = 0
    """Milliseconds; the longest of the jobs."""
    iops: float = 0.0
    """fio's own average."""
    bytes_per_second: float = 0.0
    """fio's own average."""
    min_ns: int | None = None
    """Smallest latency."""
    max_ns: int | None = None
    """Largest latency."""
    mean_ns: float | None = None
    """Mean latency."""
    stddev_ns: float | None = None
    """Standard deviation of the latency."""
    histogram: Histogram = field(default_factory=Histogram)
    """Latencies; empty without json+ and during the ramp."""
    percentiles: Mapping[float, int] = field(default_factory=dict)
    """fio's own percentiles in ns, of one job only (they cannot be merged)."""
    short_ios: int = 0
    """I/Os that moved less than asked."""
    drop_ios: int = 0
    """I/Os the engine dropped."""
    completion: Counters | None = None
    """The same I/Os by the time from submission to completion alone; None where the latency is that already, or where
    it was not asked for.
    """
    submission: Counters | None = None
    """The same I/Os by the time that submitting them took; None where it is not known, or was not asked for."""

    @property
    def has_distribution(self) -> bool:
        """Whether the latencies are known by more than their mean."""
        return bool(self.histogram.total or self.percentiles)


class FioDocument:
    """Tolerant accessors: what is missing or of the wrong kind is 0, None or empty; nothing raises."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """`data`: the JSON object."""
        self._data = data
        jobs = data.get("jobs")
        if not isinstance(jobs, list):
            # A client's result; its own "All clients" entry counts the same I/Os twice, or only the first second.
            jobs = _list(data.get("client_stats"))
            jobs = [job for job in jobs if isinstance(job, dict) and job.get("jobname") != "All clients"]
        self._jobs: list[Mapping[str, Any]] = [job for job in jobs if isinstance(job, dict)]
        self._parsed: dict[tuple[int, bool], Counters] = {}

    def section(self, name: str) -> FioDocument:
        """The same document of one section of the job file alone; what was read of it is known to both."""
        document = FioDocument({**self._data, "jobs": [job for job in self._jobs if job.get("jobname") == name]})
        document._parsed = self._parsed
        return document

    @property
    def version(self) -> str:
        """`fio-3.33`."""
        return clean(str(self._data.get("fio version", "")), 40)

    @property
    def timestamp_ms(self) -> int | None:
        """When the document was made, milliseconds since 1970; None before fio 2.12."""
        if (stamp := _int(self._data.get("timestamp_ms"))) > 0:
            return stamp
        return _int(self._data.get("timestamp")) * 1000 or None

    @property
    def errors(self) -> tuple[int, ...]:
        """errno of each job that failed."""
        return tuple(code for job in self._jobs if (code := _int(job.get("error"))))

    @property
    def errors_passed_over(self) -> int:
        """I/Os that failed and were passed over (continue_on_error)."""
        return sum(_int(job.get("total_err")) for job in self._jobs)

    @property
    def jobs(self) -> int:
        """Number of entries; one under group_reporting."""
        return len(self._jobs)

    @property
    def total_ios(self) -> int:
        """I/Os issued in all directions."""
        parts = (self.counters(name) for name in ("read", "write", "trim", "mixed"))
        return sum(part.total_ios for part in parts if part)

    @property
    def options(self) -> Mapping[str, str]:
        """Options of the first job over the global ones, as fio repeats them; "1" for a bare word."""
        first = self._jobs[0] if self._jobs else {}
        merged = {**_dict(self._data.get("global options")), **_dict(first.get("job options"))}
        return {clean(str(key), 80): clean(str(value), 400) or "1" for key, value in merged.items()}

    @property
    def cpu_percent_of_core(self) -> float | None:
        """User and system time of all workers, 100 is one core; None before anything ran.

        fio's `usr_cpu` is relative to the summed time of the workers, so it is scaled by them again.
        """
        shares: list[float] = []
        for job in self._jobs:
            spans = [_int(_dict(job.get(name)).get("runtime")) for name in ("read", "write", "trim", "mixed")]
            span = max(spans)
            if span <= 0 or not any(key in job for key in ("usr_cpu", "sys_cpu")):
                continue
            # Under group_reporting job_runtime is the sum over the workers, the run time that of the longest.
            threads = max(1.0, _int(job.get("job_runtime")) / span)
            shares.append((_float(job.get("usr_cpu")) + _float(job.get("sys_cpu"))) * threads)
        return sum(shares) if shares else None

    def counters(self, direction: str, *, split: bool = False) -> Counters | None:
        """`read`, `write`, `trim` or `mixed`, all jobs together; None if no I/O of that kind was issued.

        `sync` are the flushes, which move nothing and last as long as the writes. `split`: with completion and
        submission apart, whose histograms are two thirds of a document.
        """
        if direction == "sync":
            return self._flushes()
        entries = [entry for job in self._jobs if (entry := _dict(job.get(direction))) and _has_ios(entry)]
        parts = [self._cached_counters(entry, split) for entry in entries]
        return merge_counters(parts) if parts else None

    def _cached_counters(self, entry: Mapping[str, Any], split: bool) -> Counters:
        """Read once: of several targets each is looked at by itself, and all together."""
        key = (id(entry), split)
        if key not in self._parsed:
            self._parsed[key] = _counters(entry, split)
        return self._parsed[key]

    def _flushes(self) -> Counters | None:
        counters = [part for job in self._jobs if (part := _block(_dict(job.get("sync")), "lat")) is not None]
        writes = self.counters("write")
        if not counters or writes is None:
            return None
        merged = merge_counters(counters)
        return replace(merged, total_ios=merged.completed, runtime_ms=writes.runtime_ms)


def merge_counters(parts: Iterable[Counters]) -> Counters:
    """Several jobs as one: counts add up, times are the longest, deviations are pooled."""
    rows = list(parts)
    if len(rows) == 1:
        return rows[0]
    weight = sum(row.completed for row in rows)
    mean = stddev = None
    if weight:
        mean = sum((row.mean_ns or 0.0) * row.completed for row in rows) / weight
        # Variances cannot be averaged, sums of squares can.
        spread = sum(((row.stddev_ns or 0.0) ** 2 + (row.mean_ns or 0.0) ** 2) * row.completed for row in rows)
        stddev = math.sqrt(max(0.0, spread / weight - mean * mean))
    return Counters(
        io_bytes=sum(row.io_bytes for row in rows),
        total_ios=sum(row.total_ios for row in rows),
        completed=weight,
        runtime_ms=max((row.runtime_ms for row in rows), default=0),
        iops=sum(row.iops for row in rows),
        bytes_per_second=sum(row.bytes_per_second for row in rows),
        min_ns=min((row.min_ns for row in rows if row.min_ns is not None), default=None),
        max_ns=max((row.max_ns for row in rows if row.max_ns is not None), default=None),
        mean_ns=mean,
        stddev_ns=stddev,
        histogram=Histogram.merged(row.histogram for row in rows),
        short_ios=sum(row.short_ios for row in rows),
        drop_ios=sum(row.drop_ios for row in rows),
        completion=_merged(row.completion for row in rows),
        submission=_merged(row.submission for row in rows),
    )


def _merged(parts: Iterable[Counters | None]) -> Counters | None:
    rows = list(parts)
    counters = [part for part in rows if part is not None]
    return merge_counters(counters) if counters and len(counters) == len(rows) else None


def _has_ios(entry: Mapping[str, Any]) -> bool:
    return any(_float(entry.get(key)) > 0 for key in ("total_ios", "io_bytes", "iops"))


def _counters(entry: Mapping[str, Any], split: bool) -> Counters:
    whole = _block(entry, "lat")
    apart = split or whole is None or not whole.has_distribution
    completion, submission = (_block(entry, kind) if apart else None for kind in ("clat", "slat"))
    # The total has a histogram only where fio was asked for it; before, or elsewhere, completion alone has.
    total = whole is not None and (completion is None or whole.has_distribution or not completion.has_distribution)
    latency = (whole if total else completion) or Counters()
    runtime = _int(entry.get("runtime"))
    iops = _float(entry.get("iops"))
    # io_bytes were KiB until 2.21 brought io_kbytes beside it; total_ios came with 2.1.14.
    moved = _int(entry.get("io_bytes")) * (1 if "io_kbytes" in entry else 1024)
    issued = _int(entry.get("total_ios")) if "total_ios" in entry else round(iops * runtime / 1000)
    # N came with 3.18; before, the bins tell how many were timed, and without bins all were.
    untimed = not latency.completed and latency.max_ns
    return replace(
        latency,
        io_bytes=moved,
        total_ios=issued,
        completed=issued if untimed else latency.completed,
        runtime_ms=runtime,
        iops=iops,
        bytes_per_second=_float(entry.get("bw_bytes")) or _float(entry.get("bw")) * 1024,
        short_ios=_int(entry.get("short_ios")),
        drop_ios=_int(entry.get("drop_ios")),
        completion=completion if total else None,
        submission=submission if total else None,
    )


def _block(entry: Mapping[str, Any], kind: str) -> Counters | None:
    """One of fio's three latencies; None where it was not taken."""
    for name, scale in ((f"{kind}_ns", 1), (kind, _US)):
        block = _dict(entry.get(name))
        if block and (_float(block.get("max")) > 0 or _int(block.get("N")) > 0):
            return _latency_counters(block, scale)
    return None


def _latency_counters(latency: Mapping[str, Any], scale: int) -> Counters:
    """What a block of latencies tells; `scale`: its unit in ns."""
    histogram = _histogram(latency, scale)
    completed = _int(latency.get("N")) if "N" in latency else histogram.total
    timed = completed > 0 or _float(latency.get("max")) > 0
    return Counters(
        completed=completed,
        min_ns=_int(latency.get("min")) * scale if timed else None,
        max_ns=_int(latency.get("max")) * scale if timed else None,
        mean_ns=_float(latency.get("mean")) * scale if timed else None,
        stddev_ns=_float(latency.get("stddev")) * scale if timed else None,
        histogram=histogram,
        percentiles=_percentiles(latency, scale),
    )


def _histogram(latency: Mapping[str, Any], scale: int) -> Histogram:
    bins = _dict(latency.get("bins"))
    numbered = "FIO_IO_U_PLAT_BITS" in bins  # 2.2.12 to 2.19: keyed by bucket number, all of them, microseconds
    counts: dict[int, int] = {}
    for key, value in bins.items():
        if isinstance(value, int) and value > 0 and (number := _bin(key)) is not None:
            at = (_old_value(number) if numbered else number) * scale
            counts[at] = counts.get(at, 0) + value
    return Histogram(counts)


@lru_cache(maxsize=4096)  # fio knows fewer than 2,000, and says most of them four times a second
def _bin(key: str) -> int | None:
    return int(key) if key.isascii() and key.isdigit() and len(key) < 19 else None


def _old_value(bucket: int) -> int:
    """Midpoint of a bucket number of fio 2.x, microseconds."""
    bucket = min(bucket, 19 * _OLD_PER_GROUP - 1)
    if bucket < 2 * _OLD_PER_GROUP:
        return bucket
    shift = bucket // _OLD_PER_GROUP - 1
    return (_OLD_PER_GROUP << shift) + int((bucket % _OLD_PER_GROUP + 0.5) * (1 << shift))


def _percentiles(latency: Mapping[str, Any], scale: int) -> Mapping[float, int]:
    """fio's own; the "0.00" fillers of 3.0 to 3.16 are left out."""
    percentiles: dict[float, int] = {}
    for key, value in _dict(latency.get("percentile")).items():
        if re.fullmatch(r"\d{1,3}\.\d+", key, re.ASCII) and (percent := float(key)) > 0:
            percentiles[percent] = _int(value) * scale
    return percentiles


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) and number >= 0 else 0.0


def _int(value: object) -> int:
    """A count; fio prints counters below zero when its own race bites."""
    if isinstance(value, int) and not isinstance(value, bool):
        # Beyond a signed 64-bit number no counter of fio can be.
        return max(0, min(value, 1 << 63))
    return int(_float(value))
