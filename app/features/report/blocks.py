"""Building blocks of a report, independent of its format: sections of sentences, tables, commands and graphs.

No text in them is escaped: each writer escapes it for its format.
"""

from __future__ import annotations

from app.core.presentation import table as view
from app.features.report.graph import Graph
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionList:
    """A list of labels with values."""

    pairs: tuple[tuple[str, str], ...]
    """Label and text of each entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """A bullet list; an item has one or two sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table. Every row has as many cells as there are columns; writers leave out empty columns."""

    columns: tuple[str, ...]
    """Headings."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, with text that may come from tools and devices."""

    @property
    def used_columns(self) -> list[int]:
        """Return the indexes of the columns that are not empty."""
        return [at for at in range(len(self.columns)) if any(row[at] for row in self.rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Lines that were typed or written exactly so."""

    lines: tuple[str, ...]
    label: str = ""
    """Text before the lines, or ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphs:
    """Graphs that belong together."""

    graphs: tuple[Graph, ...]


Block = DefinitionList | Sentences | Paragraph | ReportTable | Code | Graphs


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and the blocks below it."""

    heading: str
    """One line."""
    blocks: tuple[Block, ...]
    """Blocks in their order. An empty section is written as "None."."""
    level: int = 2
    """Heading level: 2 for a main section, 3 for a subsection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A session, ready to be written in any format."""

    title: str
    """One line."""
    simulated: bool
    """Whether any part was not measured on hardware."""
    sections: tuple[Section, ...]
    """Sections in their order."""

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """Return all graphs in their order."""
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(graph for block in blocks if isinstance(block, Graphs) for graph in block.graphs)


def section(heading: str, *blocks: Block | None, level: int = 2, always: bool = False) -> tuple[Section, ...]:
    """Return the section without its empty blocks in a tuple; an empty tuple if no block is left, unless `always`."""
    kept = tuple(block for block in blocks if block is not None and not _is_empty(block))
    return (Section(heading=heading, blocks=kept, level=level),) if kept or always else ()


def _is_empty(block: Block) -> bool:
    match block:
        case (
            DefinitionList(pairs=content)
            | Sentences(items=content)
            | ReportTable(rows=content)
            | Code(lines=content)
            | Graphs(graphs=content)
        ):
            return not content
        case Paragraph(text=text):
            return not text


def report_table(shown: view.Table) -> ReportTable:
    """Return a presentation table as a report table."""
    return ReportTable(
        columns=tuple(column.title for column in shown.columns),
        rows=tuple(tuple(map(view.text_of, row.cells)) for row in shown.rows),
    )
