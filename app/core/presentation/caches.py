"""What caches in the way of a run did, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.presentation.table import FactLine, Facts
from app.core.session.results import CacheStats
from widgets.text_utils import units

COLUMNS = ("Cache of", "Reads from it", "Writes into it", "Dirty", "Why not known")
"""Headings of what `cache_cells` gives."""

NOTHING_CAME = "no I/O came to it"
"""Why there is no share where nothing stands in the way of one."""


def cache_cells(cache: CacheStats) -> tuple[str, ...]:
    """A cell for each of `COLUMNS`."""
    return (
        cache.device,
        units.fraction(cache.share_of_reads),
        units.fraction(cache.share_of_writes),
        units.fraction(cache.dirty),
        _unknown_reason(cache),
    )


def cache_text(cache: CacheStats, *, brief: bool = False) -> str:
    """`97 % of reads, 80 % of writes, 3 % of it dirty`; why that is not known, where it is not, unless `brief`."""
    reads, writes, dirty = cache.share_of_reads, cache.share_of_writes, cache.dirty
    lines = [f"{units.fraction(reads)} of reads"] if reads is not None else []
    lines += [f"{units.fraction(writes)} of writes"] if writes is not None else []
    lines = lines or ["unknown" if brief else f"unknown ({_unknown_reason(cache)})"]
    lines += [f"{units.fraction(dirty)} of it dirty"] if dirty is not None and not brief else []
    return ", ".join(lines)


def cache_line(caches: Sequence[CacheStats], *, brief: bool = False) -> str:
    """All of them in one line: `Cache: vg0/mail 97 % of reads, 80 % of writes`; "" where there is none."""
    text = "; ".join(f"{cache.device} {cache_text(cache, brief=brief)}" for cache in caches)
    return f"Cache: {text}" if text else ""


def cache_facts(caches: Sequence[CacheStats]) -> tuple[Facts, ...]:
    """The same as a group of facts; none where there is no cache."""
    lines = tuple(FactLine(cache.device, cache_text(cache)) for cache in caches)
    return (Facts(heading="Cache", facts=lines),) if lines else ()


def _unknown_reason(cache: CacheStats) -> str:
    is_known = cache.share_of_reads is not None or cache.share_of_writes is not None
    return "" if is_known else cache.why_not or NOTHING_CAME
