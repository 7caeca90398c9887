"""The members of the array under test as rows of a table: each of them, or what they have in common. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from rich.text import Text

from app.engine.session.figures import MemberFigures
from app.engine.view.members import moved, queue, role
from widgets.bars import share_bar
from widgets.plain import units
from widgets.still_table import TableCell, TableColumn, TableRow, plain

COLUMNS = (
    TableColumn(key="member", label="Member"),
    TableColumn(key="model", label="Model", priority=9),
    TableColumn(key="role", label="Role", priority=3),
    TableColumn(key="reads", label="r IOPS", align="decimal"),
    TableColumn(key="writes", label="w IOPS", align="decimal"),
    TableColumn(key="rate", label="MiB/s", align="decimal", priority=5),
    TableColumn(key="util", label="Util", align="right"),
    TableColumn(key="queue", label="Queue", align="decimal", priority=4),
    TableColumn(key="share-reads", label="Of reads"),
    TableColumn(key="share-writes", label="Of writes"),
)
"""What is shown of a member; a narrow terminal leaves the model out first."""

WIDE_BAR, NARROW_BAR = 10, 5
"""Cells of the bar of a share, in a wide and a narrow terminal."""

SUMMARY = 4
"""Rows of a summary: smallest, median, largest, and the one that stands out."""

_WORDS = ("model", "role")

_BAD = ("faulty", "gone", "removed")

Figure = Callable[[MemberFigures], float | None]


def member_table(
    members: Sequence[MemberFigures], *, most: int, bar: int, ascii: bool = False
) -> tuple[tuple[TableColumn, ...], tuple[TableRow, ...]]:
    """At most `most` rows (4 at the least): all members, or a summary of the deepest, which are the disks.

    `bar`: cells of a share's bar. Columns of words in which nothing stands are left out.
    """
    rows = _rows(members, most, bar, ascii)
    kept = [
        at for at, column in enumerate(COLUMNS) if column.key not in _WORDS or any(plain(row.cells[at]) for row in rows)
    ]
    shown = tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in rows)
    return tuple(COLUMNS[at] for at in kept), shown


def _rows(members: Sequence[MemberFigures], most: int, bar: int, ascii: bool) -> tuple[TableRow, ...]:
    if len(members) <= most:
        return tuple(_row(member, bar, ascii) for member in members)
    deepest = max(member.depth for member in members)
    disks = [member for member in members if member.depth == deepest]
    above = [member for member in members if member.depth < deepest]
    shown = above if len(above) + SUMMARY <= most else []
    return (*(_row(member, bar, ascii) for member in shown), *_summary(disks, bar, ascii))


def _row(member: MemberFigures, bar: int, ascii: bool) -> TableRow:
    words = role(member)
    return TableRow(
        key=member.device,
        cells=(
            "  " * member.depth + member.device,
            member.label,
            TableCell(text=words, tone="bad") if member.role in _BAD else words,
            units.iops(member.read_iops),
            units.iops(member.write_iops),
            units.mib_per_s(moved(member)),
            units.fraction(member.utilisation),
            queue(member.queue),
            _share(member.share_of_reads, bar, ascii),
            _share(member.share_of_writes, bar, ascii),
        ),
    )


def _share(share: float | None, bar: int, ascii: bool) -> Text:
    if share is None:
        return Text(units.NOTHING)
    return share_bar(share, bar, ascii=ascii) + Text(f" {units.fraction(share):>6}")


def _summary(disks: Sequence[MemberFigures], bar: int, ascii: bool) -> tuple[TableRow, ...]:
    steps: tuple[tuple[str, Callable[[list[float]], float]], ...] = (
        (f"least of {len(disks)}", min),
        ("median", statistics.median),
        ("most", max),
    )
    rows = []
    for name, of in steps:
        together = MemberFigures(
            device=name,
            read_iops=_of(disks, lambda disk: disk.read_iops, of),
            write_iops=_of(disks, lambda disk: disk.write_iops, of),
            read_bytes_per_second=_of(disks, moved, of),
            write_bytes_per_second=0.0,
            utilisation=_of(disks, lambda disk: disk.utilisation, of),
            queue=_of(disks, lambda disk: disk.queue, of),
            share_of_reads=_of(disks, lambda disk: disk.share_of_reads, of),
            share_of_writes=_of(disks, lambda disk: disk.share_of_writes, of),
        )
        rows.append(_row(together, bar, ascii))
    return (*rows, _row(outlier(disks), bar, ascii))


def _of(disks: Sequence[MemberFigures], figure: Figure, of: Callable[[list[float]], float]) -> float | None:
    values = [value for disk in disks if (value := figure(disk)) is not None]
    return of(values) if values else None


def outlier(disks: Sequence[MemberFigures]) -> MemberFigures:
    """The member that one has to know of: one that failed, else the one whose load is least like the median's."""
    failed = next((disk for disk in disks if disk.role in _BAD), None)
    if failed is not None:
        return failed
    figures: tuple[Figure, ...] = (
        lambda disk: disk.utilisation,
        lambda disk: disk.share_of_reads,
        lambda disk: disk.share_of_writes,
    )
    middles = [_of(disks, figure, statistics.median) for figure in figures]

    def oddness(disk: MemberFigures) -> float:
        return max(_distance(figure(disk), middle) for figure, middle in zip(figures, middles, strict=True))

    return max(disks, key=oddness)


def _distance(value: float | None, middle: float | None) -> float:
    """How unlike two figures are: 0 alike, 1 one of them nothing."""
    if value is None or middle is None:
        return 0.0
    larger = max(value, middle)
    return abs(value - middle) / larger if larger > 0 else 0.0
