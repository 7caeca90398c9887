"""A row of a table of `make method`, and the mark of most."""

from __future__ import annotations

from dataclasses import dataclass

FALSE = 0.05
"""Share of false verdicts that is allowed, and three standard errors more."""


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
