"""Texts, cells and tables for the statistics of members and caches that a run used. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.presentation.table import Align, Column, FactLine, Facts, Row, Table, facts_group
from app.core.session.results import CacheStats, MemberStats
from widgets.text_utils import units

COLUMNS = (
    "Member",
    "Model",
    "Role",
    "Read IOPS",
    "Write IOPS",
    "MiB/s",
    "Util",
    "Queue",
    "Share of reads",
    "Share of writes",
)
"""Headings for `member_cells`. Shares refer to the total of all members at the same depth of the device stack."""

_SHORT = ("Member", "Model", "Role", "r IOPS", "w IOPS", "MiB/s", "Util", "Queue", "Reads", "Writes")
_WORDS = ("Member", "Model", "Role")


def member_table(members: Sequence[MemberStats], heading: str = "") -> Table:
    """Return a table of the members' statistics with short headings. A narrow table leaves out the column Model."""
    columns = tuple(
        Column(title=title, align=Align.LEFT if title in _WORDS else Align.RIGHT, priority=int(title == "Model"))
        for title in _SHORT
    )
    return Table(
        columns=columns,
        rows=tuple(Row(cells=member_cells(member, member.device), depth=member.depth) for member in members),
        heading=heading,
    )


def member_cells(member: MemberStats, name: str = "") -> tuple[str, ...]:
    """Return a cell for each of `COLUMNS`.

    `name`: text to show in place of the indented kernel name; "" to show the kernel name.
    """
    return (
        name or "  " * member.depth + member.device,
        member.label,
        role_text(member),
        units.iops(member.read_iops),
        units.iops(member.write_iops),
        units.mib_per_s(bytes_per_second_moved(member)),
        units.fraction(member.utilisation),
        queue_text(member.queue),
        units.fraction(member.share_of_reads),
        units.fraction(member.share_of_writes),
    )


def role_text(member: MemberStats) -> str:
    """Return the role of a member, with `not counted` if the kernel has no statistics of it."""
    uncounted = member.read_iops is None and member.role != "gone"
    return ", ".join(filter(None, (member.role, "not counted" if uncounted else "")))


def bytes_per_second_moved(member: MemberStats) -> float | None:
    """Return the bytes per second of reads and writes together; None if the kernel does not count them."""
    if member.read_bytes_per_second is None or member.write_bytes_per_second is None:
        return None
    return member.read_bytes_per_second + member.write_bytes_per_second


def queue_text(requests: float | None) -> str:
    """Return the mean number of requests in flight, formatted with at most two decimals: `31.4`, `0.25`."""
    if requests is None:
        return units.NOTHING
    return f"{requests:.2f}" if requests < 9.995 else units.three(requests)


def member_paths(members: Sequence[MemberStats]) -> tuple[str, ...]:
    """Return the path of each member in the device stack: `md1`, `md1/sda`; in the order of `members`."""
    above: list[str] = []
    names = []
    for member in members:
        above = [*above[: member.depth], member.device]
        names.append("/".join(above))
    return tuple(names)


# -- caches used by a run ---------------------------------------------------------------------------------------------

CACHE_COLUMNS = ("Cache of", "Reads served", "Writes absorbed", "Dirty", "Why unknown")
"""Headings for `cache_cells`."""

NOTHING_CAME = "it received no I/O"
"""Reason why the hit share of a cache is unknown, if no other reason is recorded."""


def cache_cells(cache: CacheStats) -> tuple[str, ...]:
    """Return a cell for each of `CACHE_COLUMNS`."""
    return (
        cache.device,
        units.fraction(cache.share_of_reads),
        units.fraction(cache.share_of_writes),
        units.fraction(cache.dirty),
        _unknown_reason(cache),
    )


def cache_text(cache: CacheStats, *, brief: bool = False) -> str:
    """Return the hit shares of a cache: `97 % of reads, 80 % of writes, 3 % of it dirty`.

    If they are unknown, return the reason. `brief`: leave out the reason and the dirty share.
    """
    reads, writes, dirty = cache.share_of_reads, cache.share_of_writes, cache.dirty
    lines = [f"{units.fraction(reads)} of reads"] if reads is not None else []
    lines += [f"{units.fraction(writes)} of writes"] if writes is not None else []
    lines = lines or ["unknown" if brief else f"unknown ({_unknown_reason(cache)})"]
    lines += [f"{units.fraction(dirty)} of it dirty"] if dirty is not None and not brief else []
    return ", ".join(lines)


def cache_line(caches: Sequence[CacheStats], *, brief: bool = False) -> str:
    """Return the hit shares of all caches in one line, `Cache: vg0/mail 97 % of reads, 80 % of writes`; "" if none."""
    text = "; ".join(f"{cache.device} {cache_text(cache, brief=brief)}" for cache in caches)
    return f"Cache: {text}" if text else ""


def cache_facts(caches: Sequence[CacheStats]) -> tuple[Facts, ...]:
    """Return the hit shares of the caches as a group of facts; () without a cache."""
    return facts_group("Cache", (FactLine(cache.device, cache_text(cache)) for cache in caches))


def _unknown_reason(cache: CacheStats) -> str:
    is_known = cache.share_of_reads is not None or cache.share_of_writes is not None
    return "" if is_known else cache.why_not or NOTHING_CAME
