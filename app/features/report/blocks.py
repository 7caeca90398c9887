"""What a report is made of, whatever its format: sections of sentences, tables, commands and graphs. Nothing in
them is escaped: each writer does that for its format.
"""

from __future__ import annotations

from app.core.presentation import table as view
from app.features.report.graph import Graph
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionList:
    """Labels with values."""

    pairs: tuple[tuple[str, str], ...]
    """Label and text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """A list, one sentence or two an item."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table: every row has as many cells as there are columns. Columns in which nothing stands are not shown."""

    columns: tuple[str, ...]
    """Headings."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, as text from tools and devices or made of it."""

    @property
    def shown(self) -> list[int]:
        """The columns in which something stands."""
        return [at for at in range(len(self.columns)) if any(row[at] for row in self.rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Lines as they were typed or written."""

    lines: tuple[str, ...]
    label: str = ""
    """What stands before them, "" for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphs:
    """Pictures that belong together."""

    graphs: tuple[Graph, ...]


Block = DefinitionList | Sentences | Paragraph | ReportTable | Code | Graphs


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands under it."""

    heading: str
    """One line."""
    blocks: tuple[Block, ...]
    """In their order; none is said to be "None."."""
    level: int = 2
    """2 for a part of the report, 3 for a part of such a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A session, ready to be written down."""

    title: str
    """One line."""
    simulated: bool
    """Whether any of it was not measured on hardware."""
    sections: tuple[Section, ...]
    """In their order."""

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """All pictures, in their order."""
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(graph for block in blocks if isinstance(block, Graphs) for graph in block.graphs)


def section(heading: str, *blocks: Block | None, level: int = 2, always: bool = False) -> tuple[Section, ...]:
    """The section without its empty blocks; nothing at all when it is empty and need not be there."""
    kept = tuple(block for block in blocks if block is not None and not _empty(block))
    return (Section(heading=heading, blocks=kept, level=level),) if kept or always else ()


def _empty(block: Block) -> bool:
    match block:
        case (
            DefinitionList(pairs=there)
            | Sentences(items=there)
            | ReportTable(rows=there)
            | Code(lines=there)
            | Graphs(graphs=there)
        ):
            return not there
        case Paragraph(text=text):
            return not text


def report_table(shown: view.Table) -> ReportTable:
    """A table of the views."""
    return ReportTable(
        columns=tuple(column.title for column in shown.columns),
        rows=tuple(tuple(map(view.text_of, row.cells)) for row in shown.rows),
    )


def definition_list(shown: view.Facts) -> DefinitionList:
    """Facts of the views, without their heading."""
    return DefinitionList(pairs=tuple((fact.label, fact.value) for fact in shown.facts))
