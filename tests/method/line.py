"""A row of a table of `make method`, and the marks of most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

FALSE = 0.05
"""Share of false verdicts that is promised."""

SURE = 2.326
"""Standard errors that 99 of 100 draws stay within, to one side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a table."""

    cells: tuple[str, ...]
    """As printed."""
    held: bool = True
    """Whether it keeps to its mark."""


def percent(share: float) -> str:
    """`4.9 %`."""
    return f"{share * 100:.1f} %"


def slack(count: int, share: float = FALSE) -> float:
    """How far so many draws of such a share may lie off it: 99 of 100 do not lie further to that side."""
    return float(SURE * (share * (1 - share) / count) ** 0.5)


def at_most(draw: Callable[[int], float], count: int, most: float = FALSE) -> tuple[float, bool]:
    """A share that may be `most`, of so many draws of a seed, and whether it keeps to that.

    Of a hundred shares that are just as large as they may be one lies beyond the bound by chance: what does is drawn
    once more, and the second counts.
    """
    seen = draw(1)
    if seen > most + slack(count, most):
        seen = draw(2)
    return seen, seen <= most + slack(count, most)
