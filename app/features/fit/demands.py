"""Numbers that the user gave, by the names of the options. No imports of fio, so that the help stays fast."""

from __future__ import annotations

from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """Numbers that the user gave; None for each that was left out."""

    limit: float | None = None
    """Limit of the latency in seconds, instead of that of the documentation."""
    heavy: bool = False
    """Whether the limit for a heavily loaded program applies."""
    commits: int | None = None
    """Commits per second."""
    p99: float | None = None
    """99th percentile of a flush in seconds."""
    iops: int | None = None
    """I/Os per second."""
    mbps: int | None = None
    """Megabytes (10^6 bytes) per second."""

    @property
    def given(self) -> tuple[str, ...]:
        """Return the names of the options that were given."""
        return tuple(name for name in ("limit", "heavy", "commits", "p99", "iops", "mbps") if getattr(self, name))
