"""Figures of runs as people read them: what each kind is called, and how its values are written. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from app.core.analysis.metric_kinds import BOTH, MetricKind
from app.core.analysis.stats import MeanInterval
from widgets.text_utils import units

_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "iops": "IOPS",
        "bytes_per_second": "MiB/s",
        "latency_mean_ns": "mean latency",
        "latency_p50_ns": "p50",
        "latency_p95_ns": "p95",
        "latency_p99_ns": "p99",
        "latency_p99_9_ns": "p99.9",
        "latency_p99_99_ns": "p99.99",
        "latency_p99_999_ns": "p99.999",
        "latency_p99_9999_ns": "p99.9999",
        "latency_max_ns": "max",
    }
)
"""By the key of the figure."""


def figure_label(figure: MetricKind) -> str:
    """`IOPS`, `p99`."""
    return _LABELS[figure.key]


def figure_name(figure: MetricKind, direction: str) -> str:
    """`read IOPS`, of a mixed job `IOPS`."""
    return figure_label(figure) if direction == BOTH else f"{direction} {figure_label(figure)}"


def formatter_for(figure: MetricKind) -> Callable[[float | None], str]:
    """How its values are written: `85.4k`, `332`, `1.15 ms`."""
    if figure.is_latency:
        return units.latency
    return units.iops if figure.key == "iops" else units.mib_per_s


def figure_value_text(figure: MetricKind, value: float | None) -> str:
    """One of its values: `1.15 ms`; a dash for none."""
    return formatter_for(figure)(value)


def mean_text(mean: MeanInterval, show: Callable[[float | None], str]) -> str:
    """`83.6k ±0.5 %`: mean, half the 95 % interval as a share of it."""
    if mean.half is None or not mean.mean:
        return show(mean.mean)
    return f"{show(mean.mean)} ±{units.percent(mean.half / mean.mean * 100)}"
