"""What a run did between two of its documents."""

from __future__ import annotations

import math

from app.engine.fio.document import Counters
from app.engine.fio.histogram import LAST_VALUE


def counters_since(now: Counters, before: Counters | None) -> Counters:
    """What was counted between two documents of one run.

    Counts and the histogram are differences, exact to its buckets. The mean follows exactly from the sums; minimum and
    maximum are exact where the run's own fell or rose meanwhile, else those of the buckets in use, at most 0.78 % off.
    """
    if before is None or now.total_ios < before.total_ios or now.completed < before.completed:
        return now  # counted anew meanwhile: all of it came after
    histogram = now.histogram.since(before.histogram)
    completed = now.completed - before.completed
    mean, stddev = _moments_since(now, before, completed)
    lowest = min(histogram.counts, default=None)
    highest = histogram.top
    # The run's minimum and maximum are kept, not the interval's: known exactly only where they moved in it.
    fell = now.min_ns is not None and before.min_ns is not None and now.min_ns < before.min_ns
    rose = now.max_ns is not None and (before.max_ns is None or now.max_ns > before.max_ns)
    return Counters(
        io_bytes=max(0, now.io_bytes - before.io_bytes),
        total_ios=now.total_ios - before.total_ios,
        completed=completed,
        runtime_ms=max(0, now.runtime_ms - before.runtime_ms),
        min_ns=now.min_ns if fell or before.min_ns is None else lowest,
        max_ns=now.max_ns if rose or (highest is not None and highest >= LAST_VALUE) else highest,
        mean_ns=mean,
        stddev_ns=stddev,
        histogram=histogram,
        short_ios=max(0, now.short_ios - before.short_ios),
        drop_ios=max(0, now.drop_ios - before.drop_ios),
        completion=None if now.completion is None else counters_since(now.completion, before.completion),
        submission=None if now.submission is None else counters_since(now.submission, before.submission),
    )


def _moments_since(now: Counters, before: Counters, count: int) -> tuple[float | None, float | None]:
    """Mean and standard deviation of the I/Os that came between, from the sums that both documents imply."""
    if count <= 0 or now.mean_ns is None:
        return None, None
    mean = (now.mean_ns * now.completed - (before.mean_ns or 0.0) * before.completed) / count

    def squares(part: Counters) -> float:
        return ((part.stddev_ns or 0.0) ** 2 + (part.mean_ns or 0.0) ** 2) * part.completed

    variance = (squares(now) - squares(before)) / count - mean * mean
    return max(0.0, mean), math.sqrt(max(0.0, variance))
