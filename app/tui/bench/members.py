"""The members of the measured array as table rows: each member, or a summary. No I/O."""

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
"""Columns of the member table: name, bar of its share, metrics. A narrow terminal leaves out the model first."""

WIDE_BAR, NARROW_BAR = 20, 10
"""Width in cells of the bar of a share, in a wide and a narrow terminal. The largest share fills the bar."""

SUMMARY = 4
"""Number of rows of a summary: the least, the median and the most of every metric, and the most unusual member."""

_TEXT_COLUMNS = ("model", "role")

_BAD = ("faulty", "gone", "removed")

_DEVIATION = 1.0 - 1.0 / UNEVEN
"""Relative distance from the median (`_distance`) from which a member counts as deviating."""

Figure = Callable[[MemberStats], float | None]

_LOAD: tuple[Figure, ...] = (
    lambda disk: disk.utilisation,
    lambda disk: disk.share_of_reads,
    lambda disk: disk.share_of_writes,
)


def member_table(
    members: Sequence[MemberStats], *, most: int, bar: int, ascii: bool = False
) -> tuple[tuple[TableColumn, ...], tuple[TableRow, ...]]:
    """Return columns and at most `most` rows (4 or more): all members, or a summary of the disks (the deepest level).

    `bar`: width in cells of the bar that shows a share. Empty text columns are left out.
    """
    rows = _rows(members, most, _MemberRows(members, bar, ascii))
    kept = [
        at
        for at, column in enumerate(COLUMNS)
        if column.key not in _TEXT_COLUMNS or any(plain(row.cells[at]) for row in rows)
    ]
    shown = tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in rows)
    return tuple(COLUMNS[at] for at in kept), shown


class _MemberRows:
    """Draws the members of one array: bars relative to the largest share, and a sign on each deviating member."""

    def __init__(self, members: Sequence[MemberStats], bar: int, ascii: bool) -> None:
        self._bar, self._ascii = bar, ascii
        self._sums = {
            depth: _sum([iops(member) for member in members if member.depth == depth])
            for depth in {member.depth for member in members}
        }
        self._most = max((share for member in members if (share := self._share_of(member)) is not None), default=0.0)
        self._odd = {odd.device for depth in self._sums if (odd := find_deviating(members, depth)) is not None}

    def row(self, member: MemberStats, name: str = "") -> TableRow:
        """Return the row of a member. `name`: title of the row in a summary; "" for the name of the member."""
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
        member_iops, total = iops(member), self._sums.get(member.depth)
        return member_iops / total if member_iops is not None and total else None

    def _share(self, share: float | None) -> Text:
        if share is None:
            return Text(units.NOTHING)
        filled = share / self._most if self._most else 0.0
        return share_bar(filled, self._bar, ascii=self._ascii) + Text(f" {units.fraction(share):>6}")


def iops(member: MemberStats) -> float | None:
    """Return reads and writes per second; None if they are not counted."""
    return None if member.read_iops is None else member.read_iops + (member.write_iops or 0.0)


def _sum(values: Sequence[float | None]) -> float | None:
    counted = [value for value in values if value is not None]
    return sum(counted) if len(counted) == len(values) else None


def _rows(members: Sequence[MemberStats], most: int, face: _MemberRows) -> tuple[TableRow, ...]:
    if len(members) <= most:
        return tuple(face.row(member) for member in members)
    deepest = max(member.depth for member in members)
    disks = [member for member in members if member.depth == deepest]
    above = [member for member in members if member.depth < deepest]
    shown = above if len(above) + SUMMARY <= most else []
    return (*(face.row(member) for member in shown), *_summary(disks, face))


def _summary(disks: Sequence[MemberStats], face: _MemberRows) -> tuple[TableRow, ...]:
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
    return (*rows, face.row(find_outlier(disks)))


def _statistic(disks: Sequence[MemberStats], figure: Figure, of: Callable[[list[float]], float]) -> float | None:
    values = [value for disk in disks if (value := figure(disk)) is not None]
    return of(values) if values else None


def find_deviating(members: Sequence[MemberStats], depth: int) -> MemberStats | None:
    """Return the member at a depth that has failed, or whose load deviates; None if there is none.

    Other members with a role, such as write-mostly, are ignored, because the role explains their load.
    """
    row = [member for member in members if member.depth == depth]
    lost = next((member for member in row if member.role in _BAD), None)
    plain = [member for member in row if not member.role]
    if lost is not None or len(plain) < 2 or (_sum([iops(member) for member in plain]) or 0.0) < ENOUGH_IOPS:
        return lost
    odd = find_outlier(plain)
    return odd if _oddness(odd, plain) >= _DEVIATION else None


def find_outlier(disks: Sequence[MemberStats]) -> MemberStats:
    """Return the most notable member: a failed one, or the one whose load differs most from the median."""
    failed = next((disk for disk in disks if disk.role in _BAD), None)
    return failed or max(disks, key=lambda disk: _oddness(disk, disks))


def _oddness(disk: MemberStats, disks: Sequence[MemberStats]) -> float:
    """Return how much the load of a disk differs from the median, for the metric that differs most."""
    return max(_distance(figure(disk), _statistic(disks, figure, statistics.median)) for figure in _LOAD)


def _distance(value: float | None, middle: float | None) -> float:
    """Return the relative difference of two values: 0 if they are equal, 1 if one of them is 0."""
    if value is None or middle is None:
        return 0.0
    larger = max(value, middle)
    return abs(value - middle) / larger if larger > 0 else 0.0
