"""Building blocks of a report, independent of its format: sections of sentences, tables, commands and graphs.

Texts are not escaped. Each writer escapes them for its format.
"""

from __future__ import annotations

from app.core.presentation import table as view
from app.features.report.graph import Graph
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionList:
    """A list of labels, each with a value."""

    pairs: tuple[tuple[str, str], ...]
    """Label and value of each entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """A bullet list. Each item is one or two sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph of text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table. Every row has one cell per column. Writers leave out columns without any content."""

    columns: tuple[str, ...]
    """Headings of the columns."""
    rows: tuple[tuple[str, ...], ...]
    """Rows of cells. Their text may come from tools and devices."""

    @property
    def used_columns(self) -> list[int]:
        """Return the indexes of the columns with content in at least one row."""
        return [at for at in range(len(self.columns)) if any(row[at] for row in self.rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Commands or file content, shown verbatim."""

    lines: tuple[str, ...]
    label: str = ""
    """Text before the lines; "" for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphs:
    """Graphs that are shown together."""

    graphs: tuple[Graph, ...]


Block = DefinitionList | Sentences | Paragraph | ReportTable | Code | Graphs


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and the blocks below it."""

    heading: str
    """Text of the heading, in one line."""
    blocks: tuple[Block, ...]
    """Blocks in their order. A section without blocks is written as "None."."""
    level: int = 2
    """Heading level: 2 for a main section, 3 for a subsection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report on a session, independent of its format."""

    title: str
    """Title, in one line."""
    simulated: bool
    """Whether any part of the session was simulated."""
    sections: tuple[Section, ...]
    """Sections in their order."""

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """Return the graphs of all sections in their order."""
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(graph for block in blocks if isinstance(block, Graphs) for graph in block.graphs)


def section(heading: str, *blocks: Block | None, level: int = 2, always: bool = False) -> tuple[Section, ...]:
    """Return a tuple with the section, without its empty blocks.

    If no block is left, return an empty tuple, unless `always` is set.
    """
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
    """Convert a table for the terminal (`view.Table`) to a report table."""
    return ReportTable(
        columns=tuple(column.title for column in shown.columns),
        rows=tuple(tuple(map(view.text_of, row.cells)) for row in shown.rows),
    )
