"""A report as GitHub-flavoured Markdown. All text is escaped, so that none of it is interpreted as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from app.features.report.blocks import Block, Code, DefinitionList, Graphs, Paragraph, Report, ReportTable, Sentences
from app.features.report.graph import Graph
from backends.text import clean

_SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
_LONGEST = 2000


def to_markdown(report: Report, *, pictures: str | None = None) -> str:
    """Return the report as Markdown, ending with a newline.

    Each graph is a link to a file in the folder named by `pictures`. If `pictures` is None, graphs are left out.
    """
    return "\n\n".join(part for part in _parts(report, pictures) if part) + "\n"


def picture_name(graph: Graph) -> str:
    """Return the file name of a graph, to which the document links."""
    return f"{graph.key}.svg"


def _parts(report: Report, pictures: str | None) -> Iterator[str]:
    """Yield the parts of the Markdown document, between which the caller puts blank lines."""
    yield f"# {text(report.title)}"
    if report.simulated:
        yield "**SIMULATED: not measured on this hardware.**"
    for section in report.sections:
        yield f"{'#' * section.level} {text(section.heading)}"
        if not section.blocks:
            yield "None."
        for block in section.blocks:
            yield "\n".join(_block(block, pictures))


def _block(block: Block, pictures: str | None) -> Iterator[str]:
    match block:
        case DefinitionList(pairs=pairs):
            yield from (f"- {text(label)}: {text(value)}" for label, value in pairs)
        case Sentences(items=items):
            yield from (f"- {text(sentence)}" for sentence in items)
        case Paragraph(text=content):
            yield text(content)
        case ReportTable():
            yield from _grid(block)
        case Code():
            yield from (text(block.label), "") if block.label else ()
            yield from _fence(block.lines)
        case Graphs(graphs=graphs):
            if pictures is not None:
                yield from _pictures(graphs, pictures)


def _pictures(graphs: Iterable[Graph], folder: str) -> Iterator[str]:
    for number, graph in enumerate(graphs):
        if number:
            yield ""
        yield f"![{text(graph.title)}. {text(graph.about)}]({quote(folder)}/{quote(picture_name(graph))})"


def _grid(grid: ReportTable) -> Iterator[str]:
    used = grid.used_columns
    if not used:
        return
    yield _row(text(grid.columns[at]) for at in used)
    yield _row("---" for _ in used)
    for row in grid.rows:
        yield _row(text(row[at]) for at in used)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_CONTROLS = str.maketrans("\0\t\r\n", "\ufffd   ")
"""Characters that `clean` removes from the ends of a string."""


def _code_row(row: str) -> str:
    parts = re.split("( +)", row[:_LONGEST].translate(_CONTROLS))
    return "".join(part if part.startswith(" ") else clean(part, _LONGEST) for part in parts).rstrip()


def _fence(rows: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a fenced code block. The fence is longer than any run of backticks within the block.

    Runs of blanks stay: pictures consist of them.
    """
    cleaned = [_code_row(row) for row in rows]
    longest = max((len(run) for row in cleaned for run in re.findall(r"`+", row)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence
    yield from cleaned
    yield fence


def text(raw: str) -> str:
    """Return the text, escaped so that Markdown shows it literally: nothing in it becomes emphasis, a table cell, a
    link, a mention or HTML.
    """
    line = clean(raw, _LONGEST).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", line))
    if line.startswith(("-", "+", "=")):
        line = "\\" + line
    return line.replace("://", "&#58;//").replace("www.", "www&#46;").replace("@", "&#64;")
