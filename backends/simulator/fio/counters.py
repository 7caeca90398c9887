"""Counters of one direction of a simulated fio job, and their JSON form."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import field
from typing import Any

from backends.fio_buckets import bucket_of, value_of
from backends.simulator.fio.latency import moments
from backends.values import dataclass

Json = dict[str, Any]

_PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


@dataclass(slots=True)
class RunCounters:
    """Cumulative counters of one direction, such as reads. The latency counters start after the ramp."""

    ios: int = 0
    """Completed requests."""
    io_bytes: int = 0
    """Bytes read, written or trimmed."""
    timed: int = 0
    """Requests with a measured latency."""
    total_ns: float = 0.0
    """Sum of the latencies in nanoseconds."""
    squares: float = 0.0
    """Sum of the squares of the latencies in nanoseconds."""
    bins: Counter[int] = field(default_factory=Counter)
    """Number of requests in each latency bucket."""
    rates: list[float] = field(default_factory=list)
    """IOPS of each interval."""

    def add(self, ios: int, moved: int, counts: Counter[int] | None, seconds: float) -> None:
        """Add the requests of one interval. `counts`: their latency buckets, or None during the ramp."""
        self.ios += ios
        self.io_bytes += moved
        if counts is not None:
            self.timed += ios
            more, squares = moments(counts)
            self.total_ns += more
            self.squares += squares
            self.bins.update(counts)
            if seconds > 0:
                self.rates.append(ios / seconds)

    def clear(self) -> None:
        """Reset all counters, as fio does at the end of the ramp."""
        self.ios = self.io_bytes = self.timed = 0
        self.total_ns = self.squares = 0.0
        self.bins.clear()
        self.rates.clear()

    def json_entry(self, runtime_ms: int, submit_ns: float, in_flight: int) -> Json:
        """Return the JSON object under `read` or `write`. `in_flight`: requests that are issued but not completed."""
        used = self.ios > 0 or in_flight > 0
        runtime = runtime_ms if used else 0
        issued = self.ios + in_flight
        per_second = 1000 / runtime if runtime else 0.0
        submitted = _plain(self.timed, submit_ns, submit_ns * 0.4)
        rates = self.rates or [0.0]
        mean = sum(rates) / len(rates)
        deviation = math.sqrt(sum((rate - mean) ** 2 for rate in rates) / len(rates))
        block = self.io_bytes / self.ios / 1024 if self.ios else 0.0
        return {
            "io_bytes": self.io_bytes,
            "io_kbytes": self.io_bytes // 1024,
            "bw_bytes": int(self.io_bytes * per_second),
            "bw": int(self.io_bytes * per_second / 1024),
            "iops": round(issued * per_second, 6),
            "runtime": runtime,
            "total_ios": issued,
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": submitted,
            "clat_ns": self.latency(),
            "lat_ns": self.latency(submit_ns),
            "bw_min": int(min(rates) * block),
            "bw_max": int(max(rates) * block),
            "bw_agg": 100.0 if used else 0.0,
            "bw_mean": round(mean * block, 6),
            "bw_dev": round(deviation * block, 6),
            "bw_samples": len(self.rates),
            "iops_min": int(min(rates)),
            "iops_max": int(max(rates)),
            "iops_mean": round(mean, 6),
            "iops_stddev": round(deviation, 6),
            "iops_samples": len(self.rates),
        }

    @property
    def _mean(self) -> float:
        return self.total_ns / self.timed if self.timed else 0.0

    @property
    def _deviation(self) -> float:
        return math.sqrt(max(0.0, self.squares / self.timed - self._mean**2)) if self.timed else 0.0

    def latency(self, more_ns: float = 0.0) -> Json:
        """Return the JSON latency object. `more_ns`: nanoseconds to add to each latency."""
        entry = _plain(self.timed, self._mean + more_ns if self.timed else 0.0, self._deviation)
        if not self.timed:
            return entry
        moved: Counter[int] = Counter()
        for bucket, count in self.bins.items():
            moved[bucket_of(round(value_of(bucket) + more_ns)) if more_ns else bucket] += count
        rows = sorted(moved.items())
        entry["min"], entry["max"] = value_of(rows[0][0]), value_of(rows[-1][0])
        entry["percentile"] = self._percentiles(rows)
        entry["bins"] = {str(value_of(bucket)): count for bucket, count in rows}
        return entry

    def _percentiles(self, rows: list[tuple[int, int]]) -> Json:
        percentiles: Json = {}
        passed, index = 0, -1
        for percent in _PERCENTILES:
            while index < len(rows) - 1 and (index < 0 or passed < percent * self.timed / 100):
                index += 1
                passed += rows[index][1]
            percentiles[f"{percent:.6f}"] = value_of(rows[index][0])
        return percentiles


def _plain(count: int, mean: float, deviation: float) -> Json:
    """Return a JSON latency object with mean and deviation, but without percentiles."""
    low, high = (int(max(1.0, mean - 2 * deviation)), int(mean + 5 * deviation)) if count else (0, 0)
    return {
        "min": low,
        "max": high,
        "mean": round(mean, 6) if count else 0.0,
        "stddev": round(deviation, 6) if count else 0.0,
        "N": count,
    }
