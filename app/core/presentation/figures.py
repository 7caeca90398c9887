"""Names of metrics, and formats of their values. No I/O."""

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
"""Labels of metrics, by the key of the metric."""


def figure_label(figure: MetricKind) -> str:
    """Return the label of a metric: `IOPS`, `p99`."""
    return _LABELS[figure.key]


def figure_name(figure: MetricKind, direction: str) -> str:
    """Return the label of a metric with its direction, `read IOPS`; only `IOPS` for both directions together."""
    return figure_label(figure) if direction == BOTH else f"{direction} {figure_label(figure)}"


def formatter_for(figure: MetricKind) -> Callable[[float | None], str]:
    """Return the function that formats values of a metric: `85.4k`, `332`, `1.15 ms`."""
    if figure.is_latency:
        return units.latency
    return units.iops if figure.key == "iops" else units.mib_per_s


def figure_value_text(figure: MetricKind, value: float | None) -> str:
    """Return the formatted value of a metric, `1.15 ms`; a dash for None."""
    return formatter_for(figure)(value)


def mean_text(mean: MeanInterval, show: Callable[[float | None], str]) -> str:
    """Return a mean with half its 95 % interval in percent: `83.6k ±0.5 %`."""
    if mean.half is None or not mean.mean:
        return show(mean.mean)
    return f"{show(mean.mean)} ±{units.percent(mean.half / mean.mean * 100)}"
