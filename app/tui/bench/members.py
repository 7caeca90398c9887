"""The members of the array under test as rows of a table: each of them, or what they have in common. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.text import Text

from app.core.benchmark.device_stats.sampler import ENOUGH_IOPS, UNEVEN
from app.core.presentation.members import bytes_per_second_moved, queue_text, role_text
from app.core.session.results import MemberStats
from widgets.bars import share_bar
from widgets.static_table import TableCell, TableColumn, TableRow, plain
from widgets.text_utils import units
from widgets.text_utils.symbols import ATTENTION, FAILED

COLUMNS = (
    TableColumn(key="member", label="Member"),
    TableColumn(key="share", label="Of IOPS"),
    TableColumn(key="iops", label="IOPS", align="right"),
    TableColumn(key="reads", label="read", align="right", priority=7),
    TableColumn(key="writes", label="write", align="right", priority=7),
    TableColumn(key="rate", label="MiB/s", align="right", priority=5),
    TableColumn(key="util", label="Util", align="right"),
    TableColumn(key="queue", label="Queue", align="right", priority=4),
    TableColumn(key="role", label="Role", priority=3),
    TableColumn(key="model", label="Model", priority=9),
)
"""What is shown of a member: its name, a bar of its share, figures; a narrow terminal leaves the model out first."""

WIDE_BAR, NARROW_BAR = 20, 10
"""Cells of the bar of a share, in a wide and a narrow terminal; the largest share fills it."""

SUMMARY = 4
"""Rows of a summary: smallest, median, largest, and the one that stands out."""

_WORDS = ("model", "role")

_BAD = ("faulty", "gone", "removed")

_ODD = 1.0 - 1.0 / UNEVEN
"""How unlike the median a figure of a member is that deviates."""

Figure = Callable[[MemberStats], float | None]

_LOAD: tuple[Figure, ...] = (
    lambda disk: disk.utilisation,
    lambda disk: disk.share_of_reads,
    lambda disk: disk.share_of_writes,
)


def member_table(
    members: Sequence[MemberStats], *, most: int, bar: int, ascii: bool = False
) -> tuple[tuple[TableColumn, ...], tuple[TableRow, ...]]:
    """At most `most` rows (4 at the least): all members, or a summary of the deepest, which are the disks.

    `bar`: cells of a share's bar. Columns of words in which nothing stands are left out.
    """
    rows = _rows(members, most, _Face(members, bar, ascii))
    kept = [
        at for at, column in enumerate(COLUMNS) if column.key not in _WORDS or any(plain(row.cells[at]) for row in rows)
    ]
    shown = tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in rows)
    return tuple(COLUMNS[at] for at in kept), shown


class _Face:
    """How members of one array are drawn: bars by the largest share, the one that deviates with a sign."""

    def __init__(self, members: Sequence[MemberStats], bar: int, ascii: bool) -> None:
        self._bar, self._ascii = bar, ascii
        self._sums = {
            depth: _sum([iops(member) for member in members if member.depth == depth])
            for depth in {member.depth for member in members}
        }
        self._most = max((share for member in members if (share := self._share_of(member)) is not None), default=0.0)
        self._odd = {odd.device for depth in self._sums if (odd := deviating(members, depth)) is not None}

    def row(self, member: MemberStats, name: str = "") -> TableRow:
        """The row of a member; of what several have in common, with what to call that."""
        text, failed = role_text(member), member.role in _BAD
        name = name or "  " * member.depth + member.device
        if member.device in self._odd:
            name = f"{name} {(FAILED if failed else ATTENTION).shown(ascii=self._ascii)}"
        return TableRow(
            key=member.device,
            cells=(
                TableCell(text=name, tone="bad" if failed else "warning") if member.device in self._odd else name,
                self._share(self._share_of(member)),
                units.iops(iops(member)),
                units.iops(member.read_iops),
                units.iops(member.write_iops),
                units.mib_per_s(bytes_per_second_moved(member)),
                units.fraction(member.utilisation),
                queue_text(member.queue),
                TableCell(text=text, tone="bad") if failed else text,
                member.label,
            ),
        )

    def _share_of(self, member: MemberStats) -> float | None:
        own, whole = iops(member), self._sums.get(member.depth)
        return own / whole if own is not None and whole else None

    def _share(self, share: float | None) -> Text:
        if share is None:
            return Text(units.NOTHING)
        filled = share / self._most if self._most else 0.0
        return share_bar(filled, self._bar, ascii=self._ascii) + Text(f" {units.fraction(share):>6}")


def iops(member: MemberStats) -> float | None:
    """Reads and writes per second; None when it is not counted."""
    return None if member.read_iops is None else member.read_iops + (member.write_iops or 0.0)


def _sum(values: Sequence[float | None]) -> float | None:
    counted = [value for value in values if value is not None]
    return sum(counted) if len(counted) == len(values) else None


def _rows(members: Sequence[MemberStats], most: int, face: _Face) -> tuple[TableRow, ...]:
    if len(members) <= most:
        return tuple(face.row(member) for member in members)
    deepest = max(member.depth for member in members)
    disks = [member for member in members if member.depth == deepest]
    above = [member for member in members if member.depth < deepest]
    shown = above if len(above) + SUMMARY <= most else []
    return (*(face.row(member) for member in shown), *_summary(disks, face))


def _summary(disks: Sequence[MemberStats], face: _Face) -> tuple[TableRow, ...]:
    steps: tuple[tuple[str, Callable[[list[float]], float]], ...] = (
        (f"least of {len(disks)}", min),
        ("median", statistics.median),
        ("most", max),
    )
    rows = []
    for name, of in steps:
        together = MemberStats(
            device=name,
            depth=disks[0].depth,
            read_iops=_statistic(disks, lambda disk: disk.read_iops, of),
            write_iops=_statistic(disks, lambda disk: disk.write_iops, of),
            read_bytes_per_second=_statistic(disks, bytes_per_second_moved, of),
            write_bytes_per_second=0.0,
            utilisation=_statistic(disks, lambda disk: disk.utilisation, of),
            queue=_statistic(disks, lambda disk: disk.queue, of),
        )
        rows.append(face.row(together, name))
    return (*rows, face.row(outlier(disks)))


def _statistic(disks: Sequence[MemberStats], figure: Figure, of: Callable[[list[float]], float]) -> float | None:
    values = [value for disk in disks if (value := figure(disk)) is not None]
    return of(values) if values else None


def deviating(members: Sequence[MemberStats], depth: int) -> MemberStats | None:
    """The member of a depth that failed, or that bears a load unlike the others'; None where all are alike.

    A member whose role says why it is unlike the others is passed over.
    """
    row = [member for member in members if member.depth == depth]
    lost = next((member for member in row if member.role in _BAD), None)
    plain = [member for member in row if not member.role]
    if lost is not None or len(plain) < 2 or (_sum([iops(member) for member in plain]) or 0.0) < ENOUGH_IOPS:
        return lost
    odd = outlier(plain)
    return odd if _oddness(odd, plain) >= _ODD else None


def outlier(disks: Sequence[MemberStats]) -> MemberStats:
    """The member that one has to know of: one that failed, else the one whose load is least like the median's."""
    failed = next((disk for disk in disks if disk.role in _BAD), None)
    return failed or max(disks, key=lambda disk: _oddness(disk, disks))


def _oddness(disk: MemberStats, disks: Sequence[MemberStats]) -> float:
    """How unlike the median of all its load is, in the figure that differs most."""
    return max(_distance(figure(disk), _statistic(disks, figure, statistics.median)) for figure in _LOAD)


def _distance(value: float | None, middle: float | None) -> float:
    """How unlike two figures are: 0 alike, 1 one of them nothing."""
    if value is None or middle is None:
        return 0.0
    larger = max(value, middle)
    return abs(value - middle) / larger if larger > 0 else 0.0
