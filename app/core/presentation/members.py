"""The figures of members in words: one way of saying it for screens, tables and reports."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.presentation.table import Align, Column, Row, Table
from app.core.session.results import MemberStats
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
"""Headings of what `member_cells` gives; shares are of what all members of the same depth did."""

_SHORT = ("Member", "Model", "Role", "r IOPS", "w IOPS", "MiB/s", "Util", "Queue", "Reads", "Writes")
_WORDS = ("Member", "Model", "Role")


def member_table(members: Sequence[MemberStats], heading: str = "") -> Table:
    """What each member did, under short headings; where there is no room the kernel's name says the model, too."""
    columns = tuple(
        Column(title=title, align=Align.LEFT if title in _WORDS else Align.RIGHT, priority=int(title == "Model"))
        for title in _SHORT
    )
    return Table(
        columns=columns,
        rows=tuple(Row(cells=member_cells(each, each.device), depth=each.depth) for each in members),
        heading=heading,
    )


def member_cells(member: MemberStats, name: str = "") -> tuple[str, ...]:
    """A cell for each of `COLUMNS`; `name` stands for the kernel's name where that alone would not do."""
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
    """Its role, and why there are no figures if there are none."""
    uncounted = member.read_iops is None and member.role != "gone"
    return ", ".join(filter(None, (member.role, "not counted" if uncounted else "")))


def bytes_per_second_moved(member: MemberStats) -> float | None:
    """Bytes per second in both directions; None when it is not counted."""
    if member.read_bytes_per_second is None or member.write_bytes_per_second is None:
        return None
    return member.read_bytes_per_second + member.write_bytes_per_second


def queue_text(requests: float | None) -> str:
    """Mean requests in flight, never finer than a hundredth: `31.4`, `0.25`."""
    if requests is None:
        return units.NOTHING
    return f"{requests:.2f}" if requests < 9.995 else units.three(requests)


def member_paths(members: Sequence[MemberStats]) -> tuple[str, ...]:
    """Names that say where each lies: `md1`, `md1/sda`, as they come one after the other."""
    above: list[str] = []
    names = []
    for member in members:
        above = [*above[: member.depth], member.device]
        names.append("/".join(above))
    return tuple(names)
