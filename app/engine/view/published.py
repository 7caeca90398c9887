"""Published figures beside what a sweep found, with the difference in percent. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.session.sweep_steps import PublishedKind
from app.engine.sweep.published import BesidePublished
from app.engine.sweep.results import Results
from app.engine.view.percent import difference_text
from app.engine.view.schema import Json, picked
from app.engine.view.table import Align, Column, FactLine, Facts, Row, Table
from widgets.plain import units

HEADING = "Beside what was published"

_TITLES = {
    PublishedKind.IOPS: "IOPS",
    PublishedKind.READ_IOPS: "read IOPS",
    PublishedKind.WRITE_IOPS: "write IOPS",
    PublishedKind.MBPS: "MB/s",
    PublishedKind.LATENCY: "mean latency",
}
"""What the figures are."""


def published_tables(found: Results) -> Iterator[Table]:
    """A table for each source, in the order of the plan; nothing for a plan without published figures."""
    for source in dict.fromkeys(one.figure.source for one in found.published):
        columns = (
            Column(title="Set-up", shrinks=True),
            Column(title="Workload", shrinks=True),
            Column(title="Of"),
            Column(title="Published", align=Align.RIGHT),
            Column(title="Measured", align=Align.RIGHT),
            Column(title="Difference", align=Align.RIGHT),
        )
        own = [one for one in found.published if one.figure.source == source]
        rows = tuple(
            Row(cells=(one.figure.row, one.figure.column, _TITLES[one.figure.kind], *_figures(one))) for one in own
        )
        yield Table(columns=columns, rows=rows, heading=f"{HEADING}: {source}")


def published_facts(found: Results) -> tuple[Facts, ...]:
    """The same in lines, for where there is no room for a table."""
    return tuple(
        Facts(
            heading=table.heading,
            facts=tuple(FactLine("", _line(tuple(map(str, row.cells)))) for row in table.rows),
        )
        for table in published_tables(found)
    )


def _line(cells: tuple[str, ...]) -> str:
    setup, workload, what, published, measured, difference = cells
    return f"{setup}, {workload}: {measured} against {published} {what}, {difference}"


def _figures(one: BesidePublished) -> tuple[str, str, str]:
    """Published, measured, difference."""
    kind, theirs, ours = one.figure.kind, one.figure.value, one.measured
    told = "left out" if one.cell is None else units.NOTHING if ours is None else figure_words(kind, ours)
    return figure_words(kind, theirs), told, difference_text(theirs, ours)


def figure_words(kind: PublishedKind, value: float) -> str:
    """As published tables have them: whole digits are kept."""
    return units.latency(value) if kind is PublishedKind.LATENCY else f"{value:,.0f}"


def published_json(found: Results) -> list[Json]:
    """Every published figure with what was measured; latency in nanoseconds, `mbps` in 10^6 bytes a second."""
    return [
        {
            **picked(one.figure, "row", "column", "kind", "source"),
            "published": one.figure.value,
            **picked(one, "cell", "measured", "percent"),
        }
        for one in found.published
    ]
