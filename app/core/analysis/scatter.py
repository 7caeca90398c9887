"""Scatter of the runs of each configuration of a sweep, compared with that of the others. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from app.core.analysis.stats import incomplete_beta
from backends.values import dataclass

WIDER = 0.02
"""Level of the test for a larger scatter. A configuration gets no verdict if the test finds its scatter larger."""

FREEDOM = 4
"""Degrees of freedom below which the test at the level `WIDER` detects too little.

The p value of a configuration then also allows for its own scatter.
"""

FAR_WIDER = 0.0001
"""Level of the test by which a configuration is left out when the scatter of the others is computed.

It is lower than `WIDER`. Otherwise, among many configurations with equal scatter, the one with the widest sample would
be removed, and the others would seem to scatter less than they do.
"""

Columns = Sequence[tuple[Sequence[str], Sequence[Sequence[float]]]]
"""For each workload: the names of the configurations, and the residuals of each of them in the same order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScatter:
    """The scatter of one configuration over all workloads, compared with the others in the same rounds."""

    ratio: float
    """Variance of the configuration divided by the mean variance of all; 1 if nothing scatters."""
    freedom: float
    """Degrees of freedom of the variance (Satterthwaite).

    They are fewer if most of the variance is from one workload.
    """
    p: float
    """Chance of this `ratio` or a larger one, if the configuration scatters like the others."""


def scatter_by_row(columns: Columns) -> Mapping[str, RowScatter]:
    """Return the scatter of each configuration, by name. Each workload is scaled by its own scatter."""
    parts_by_name: dict[str, list[tuple[float, float, int, int]]] = {}
    for names, residuals in columns:
        ratios = variance_ratios(residuals)
        count, freedom = len(names), len(residuals[0]) - 1
        for name, ratio in zip(names, ratios, strict=True):
            parts_by_name.setdefault(name, []).append(
                (ratio, (count - ratio) / (count - 1), freedom, freedom * (count - 1)),
            )
    return {name: _row_scatter(parts) for name, parts in parts_by_name.items()}


def variance_ratios(residuals: Sequence[Sequence[float]]) -> list[float]:
    """Return the variance of each configuration divided by the mean variance of all; 1 if nothing scatters."""
    squares = [fsum(value * value for value in values) for values in residuals]
    total = fsum(squares)
    return [part * len(squares) / total if total > 0 else 1.0 for part in squares]


def _row_scatter(parts: Sequence[tuple[float, float, int, int]]) -> RowScatter:
    ratios, others, freedom, freedom_of_others = zip(*parts, strict=True)
    ratio, other = fsum(ratios) / len(parts), fsum(others) / len(parts)
    p = f_tail(ratio / other, sum(freedom), sum(freedom_of_others)) if other > 0 else 0.0
    squares = fsum(ratio * ratio / dof for ratio, dof in zip(ratios, freedom, strict=True))
    return RowScatter(ratio=ratio, freedom=fsum(ratios) ** 2 / squares if squares else float(sum(freedom)), p=p)


def f_tail(f: float, freedom: float, freedom_of_others: float) -> float:
    """Return the chance that the ratio of two sample variances is at least `f` if the true ones are equal (F test)."""
    return incomplete_beta(freedom_of_others / 2, freedom / 2, freedom_of_others / (freedom_of_others + freedom * f))
