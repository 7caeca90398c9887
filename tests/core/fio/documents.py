"""Documents in fio's own format, made up by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from app.core.fio.document import FioDocument
from app.core.fio.histogram import Histogram
from backends.fio_buckets import bucket_of, value_of

START_MS = 1_700_000_000_000


def direction(
    latencies: Mapping[int, int], *, runtime_ms: int, issued: int | None = None, bs: int = 4096, maximum: int = 0
) -> dict[str, Any]:
    """The `read` or `write` of a job: `latencies` are bucket values in ns with their counts."""
    histogram = Histogram(dict(latencies))
    n = histogram.total
    total = n if issued is None else issued
    wanted = (50.0, 95.0, 99.0, 99.9)
    timed: dict[str, Any] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": n}
    if n:
        timed |= {
            "min": min(latencies),
            "max": maximum or max(latencies),
            "mean": histogram.mean,
            "percentile": {f"{percent:.6f}": histogram.percentile(percent) for percent in wanted},
            "bins": {str(value): count for value, count in histogram.bins},
        }
    return {
        "io_bytes": total * bs,
        "io_kbytes": total * bs // 1024,
        "bw_bytes": total * bs * 1000 // max(runtime_ms, 1),
        "iops": total * 1000 / max(runtime_ms, 1),
        "runtime": runtime_ms,
        "total_ios": total,
        "short_ios": 0,
        "drop_ios": 0,
        "clat_ns": timed,
    }


def document(
    at_ms: int,
    *,
    read: Mapping[str, Any] | None = None,
    write: Mapping[str, Any] | None = None,
    error: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """A whole document of one job, `at_ms` after the start."""
    idle = direction({}, runtime_ms=0)
    job = {
        "jobname": "raidbench",
        "error": error,
        "job options": {"rw": "randread"},
        "read": read or idle,
        "write": write or idle,
        "trim": idle,
        "job_runtime": at_ms,
        "usr_cpu": 10.0,
        "sys_cpu": 20.0,
        **more,
    }
    return {
        "fio version": "fio-3.33",
        "timestamp": (START_MS + at_ms) // 1000,
        "timestamp_ms": START_MS + at_ms,
        "time": "Tue Nov 14 22:13:20 2023",
        "jobs": [job],
        "disk_util": [{"name": "sdb", "read_ios": 1, "write_ios": 0, "util": 50.0}],
    }


def reads(at_ms: int, latencies: Mapping[int, int], **more: Any) -> FioDocument:
    """A document of a reading job that reads since the start."""
    return FioDocument(document(at_ms, read=direction(latencies, runtime_ms=more.pop("runtime_ms", at_ms), **more)))


def printed(data: Mapping[str, Any]) -> bytes:
    """The bytes fio would print."""
    return json.dumps(data, indent=2).encode() + b"\n"


def histogram_of(latencies: Iterable[int]) -> Histogram:
    """Return the histogram that fio would have kept of single latencies in ns."""
    counts = Counter(value_of(bucket_of(latency)) for latency in latencies)
    return Histogram(dict(counts))
