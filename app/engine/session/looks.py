"""A moment at which an experiment may be decided, as the session keeps it."""

from __future__ import annotations

from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One moment at which an experiment may be decided."""

    pairs: int
    """After so many."""
    level: float
    """The share of false verdicts that this look may add; its interval covers 1 - level."""
