"""The intervals of a finished run as points of a graph. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.engine.session.figures import Phase, Sample


def measured_points(samples: Sequence[Sample], *, latency: bool) -> Iterator[tuple[float, float | None]]:
    """Second and value of each interval of the measured phase: I/Os of both directions, or the higher p99."""
    return ((sample.at, _value(sample, latency)) for sample in samples if sample.phase is Phase.MEASURING)


def _value(sample: Sample, latency: bool) -> float | None:
    both = [direction for direction in (sample.read, sample.write) if direction is not None]
    if not latency:
        return sum(direction.iops for direction in both) if both else None
    values = [direction.p99_ns for direction in both if direction.p99_ns is not None]
    return float(max(values)) if values else None
