"""Reader for one JSON document of fio 2.1 or newer. The content is not trusted."""

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
    """Counters of one direction, for all jobs together, since the start of the job or of its measured phase."""

    io_bytes: int = 0
    """Bytes moved."""
    total_ios: int = 0
    """I/Os issued. They include failed I/Os and, during the run, those in flight."""
    completed: int = 0
    """I/Os whose latency was timed (fio's N); 0 during the ramp and with latency switched off."""
    runtime_ms: int = 0
    """Run time of the longest job, in milliseconds."""
    iops: float = 0.0
    """I/Os per second, as averaged by fio."""
    bytes_per_second: float = 0.0
    """Bytes per second, as averaged by fio."""
    min_ns: int | None = None
    """Smallest latency in ns; None if no latency was timed."""
    max_ns: int | None = None
    """Largest latency in ns; None if no latency was timed."""
    mean_ns: float | None = None
    """Mean latency in ns; None if no latency was timed."""
    stddev_ns: float | None = None
    """Standard deviation of the latency in ns; None if no latency was timed."""
    histogram: Histogram = field(default_factory=Histogram)
    """Histogram of the latencies; empty during the ramp, and without fio's output format json+."""
    percentiles: Mapping[float, int] = field(default_factory=dict)
    """Latency percentiles that fio computed, in ns. Empty for several jobs, because percentiles cannot be merged."""
    short_ios: int = 0
    """I/Os that moved fewer bytes than requested."""
    drop_ios: int = 0
    """I/Os that the engine dropped."""
    completion: Counters | None = None
    """The same I/Os with their completion latency; None if the other fields already hold it, or if not requested."""
    submission: Counters | None = None
    """The same I/Os with their submission latency; None if it is unknown or was not requested."""

    @property
    def has_distribution(self) -> bool:
        """Return whether a histogram or percentiles of the latencies are known, not just their mean."""
        return bool(self.histogram.total or self.percentiles)


class FioDocument:
    """Accessors for a document of fio. They never raise: a missing or wrong value is returned as 0, None or empty."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """`data`: the JSON object."""
        self._data = data
        jobs = data.get("jobs")
        if not isinstance(jobs, list):
            # Output of fio --client: its "All clients" entry counts I/Os twice, or only those of the first second.
            jobs = _list(data.get("client_stats"))
            jobs = [job for job in jobs if isinstance(job, dict) and job.get("jobname") != "All clients"]
        self._jobs: list[Mapping[str, Any]] = [job for job in jobs if isinstance(job, dict)]
        self._parsed: dict[tuple[int, bool], Counters] = {}

    def section(self, name: str) -> FioDocument:
        """Return a view of this document that contains one section of the job file. It shares the parsed counters."""
        document = FioDocument({**self._data, "jobs": [job for job in self._jobs if job.get("jobname") == name]})
        document._parsed = self._parsed
        return document

    @property
    def version(self) -> str:
        """Return fio's version: `fio-3.33`."""
        return clean(str(self._data.get("fio version", "")), 40)

    @property
    def timestamp_ms(self) -> int | None:
        """Return the time of the document in milliseconds since 1970; None before fio 2.12."""
        if (stamp := _int(self._data.get("timestamp_ms"))) > 0:
            return stamp
        return _int(self._data.get("timestamp")) * 1000 or None

    @property
    def errors(self) -> tuple[int, ...]:
        """Return the errno of each failed job."""
        return tuple(code for job in self._jobs if (code := _int(job.get("error"))))

    @property
    def errors_passed_over(self) -> int:
        """Return the number of failed I/Os that fio ignored (continue_on_error)."""
        return sum(_int(job.get("total_err")) for job in self._jobs)

    @property
    def jobs(self) -> int:
        """Return the number of job entries in the document; 1 with group_reporting."""
        return len(self._jobs)

    @property
    def total_ios(self) -> int:
        """Return the I/Os issued in all directions."""
        parts = (self.counters(name) for name in ("read", "write", "trim", "mixed"))
        return sum(part.total_ios for part in parts if part)

    @property
    def cpu_percent_of_core(self) -> float | None:
        """Return user and system CPU time of all workers in percent of one core; None before any I/O.

        fio's `usr_cpu` is relative to the summed time of the workers, so it is multiplied by their number.
        """
        shares: list[float] = []
        for job in self._jobs:
            spans = [_int(_dict(job.get(name)).get("runtime")) for name in ("read", "write", "trim", "mixed")]
            span = max(spans)
            if span <= 0 or not any(key in job for key in ("usr_cpu", "sys_cpu")):
                continue
            # With group_reporting job_runtime is the sum over the workers, and runtime that of the longest worker.
            threads = max(1.0, _int(job.get("job_runtime")) / span)
            shares.append((_float(job.get("usr_cpu")) + _float(job.get("sys_cpu"))) * threads)
        return sum(shares) if shares else None

    def counters(self, direction: str, *, split: bool = False) -> Counters | None:
        """Return the counters of `read`, `write`, `trim` or `mixed` for all jobs together; None without such I/Os.

        For `sync` they are the counters of the flushes, which move no bytes and have the run time of the writes.
        `split`: also return completion and submission latency, whose histograms make up two thirds of a document.
        """
        if direction == "sync":
            return self._flushes()
        entries = [entry for job in self._jobs if (entry := _dict(job.get(direction))) and _has_ios(entry)]
        parts = [self._cached_counters(entry, split) for entry in entries]
        return merge_counters(parts) if parts else None

    def _cached_counters(self, entry: Mapping[str, Any], split: bool) -> Counters:
        """Return the counters of a job entry.

        They are cached, because each entry is read for its target and for the total.
        """
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
    """Return the counters of several jobs merged into one: summed counts, the longest run time, pooled deviations."""
    rows = list(parts)
    if len(rows) == 1:
        return rows[0]
    weight = sum(row.completed for row in rows)
    mean = stddev = None
    if weight:
        mean = sum((row.mean_ns or 0.0) * row.completed for row in rows) / weight
        # Variances cannot be averaged, but sums of squares can be added.
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
        completion=_merge_optional(row.completion for row in rows),
        submission=_merge_optional(row.submission for row in rows),
    )


def _merge_optional(parts: Iterable[Counters | None]) -> Counters | None:
    rows = list(parts)
    counters = [part for part in rows if part is not None]
    return merge_counters(counters) if counters and len(counters) == len(rows) else None


def _has_ios(entry: Mapping[str, Any]) -> bool:
    return any(_float(entry.get(key)) > 0 for key in ("total_ios", "io_bytes", "iops"))


def _counters(entry: Mapping[str, Any], split: bool) -> Counters:
    total = _block(entry, "lat")
    apart = split or total is None or not total.has_distribution
    completion, submission = (_block(entry, kind) if apart else None for kind in ("clat", "slat"))
    # The total latency has a histogram only if fio was asked for one; otherwise only the completion latency has one.
    use_total = total is not None and (completion is None or total.has_distribution or not completion.has_distribution)
    latency = (total if use_total else completion) or Counters()
    runtime = _int(entry.get("runtime"))
    iops = _float(entry.get("iops"))
    # io_bytes was in KiB until fio 2.21 added io_kbytes; total_ios was added in 2.1.14.
    moved = _int(entry.get("io_bytes")) * (1 if "io_kbytes" in entry else 1024)
    issued = _int(entry.get("total_ios")) if "total_ios" in entry else round(iops * runtime / 1000)
    # fio 3.18 added N. In older documents, the histogram has the number of timed I/Os; without it, all count as timed.
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
        completion=completion if use_total else None,
        submission=submission if use_total else None,
    )


def _block(entry: Mapping[str, Any], kind: str) -> Counters | None:
    """Return the counters of one of fio's latencies; None if it was not timed. `kind`: `lat`, `clat` or `slat`."""
    for name, scale in ((f"{kind}_ns", 1), (kind, _US)):
        block = _dict(entry.get(name))
        if block and (_float(block.get("max")) > 0 or _int(block.get("N")) > 0):
            return _latency_counters(block, scale)
    return None


def _latency_counters(latency: Mapping[str, Any], scale: int) -> Counters:
    """Return the counters of a block of latencies. `scale`: the unit of the block, in ns."""
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
    numbered = "FIO_IO_U_PLAT_BITS" in bins  # fio 2.2.12 to 2.19: all buckets, keyed by number, in microseconds
    used = (
        (number, value)
        for key, value in bins.items()
        if isinstance(value, int) and value > 0 and (number := _bin(key)) is not None
    )
    if not numbered:  # several keys never mean one number: fio prints no leading zeros
        return Histogram({number * scale: value for number, value in used})
    counts: dict[int, int] = {}
    for number, value in used:
        at = _old_value(number) * scale
        counts[at] = counts.get(at, 0) + value
    return Histogram(counts)


@lru_cache(maxsize=4096)  # fio has fewer than 2,000 buckets, and prints most of them four times a second
def _bin(key: str) -> int | None:
    return int(key) if key.isascii() and key.isdigit() and len(key) < 19 else None


def _old_value(bucket: int) -> int:
    """Return the midpoint, in microseconds, of the histogram bucket that has this number in fio 2.x."""
    bucket = min(bucket, 19 * _OLD_PER_GROUP - 1)
    if bucket < 2 * _OLD_PER_GROUP:
        return bucket
    shift = bucket // _OLD_PER_GROUP - 1
    return (_OLD_PER_GROUP << shift) + int((bucket % _OLD_PER_GROUP + 0.5) * (1 << shift))


def _percentiles(latency: Mapping[str, Any], scale: int) -> Mapping[float, int]:
    """Return fio's own percentiles, without the "0.00" fillers of fio 3.0 to 3.16."""
    percentiles: dict[float, int] = {}
    for key, value in _dict(latency.get("percentile")).items():
        if percent := _percent(key):
            percentiles[percent] = _int(value) * scale
    return percentiles


@lru_cache(maxsize=256)  # the same keys are in every document
def _percent(key: str) -> float:
    return float(key) if re.fullmatch(r"\d{1,3}\.\d+", key, re.ASCII) else 0.0


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
    """Return a count from fio's JSON; 0 for a negative one, which a race in fio can cause."""
    if isinstance(value, int) and not isinstance(value, bool):
        # No counter of fio exceeds a signed 64-bit number.
        return max(0, min(value, 1 << 63))
    return int(_float(value))
