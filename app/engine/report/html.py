"""A report as one HTML file: no script, nothing from elsewhere, light and dark, on a phone and on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.engine.report.blocks import Block, Code, DefinitionList, Graphs, Grid, Paragraph, Report, Section, Sentences
from app.engine.report.graph import Graph, HeatMap
from app.engine.report.page_style import PAGE_CSS
from app.engine.report.svg import to_svg
from app.engine.report.svg.elements import escape
from app.engine.report.svg.style import graph_css, variables

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_FIGURE = re.compile(r"[+-]?\d[\d.,]*( ?[kMG]| ?(µs|ms|s|%|B|[KMGT]iB))?( ±.*)?|-|too few I/Os")
_LONG = 24
"""Characters from which on a cell is given room."""

_FOLDED = 25
"""Rows of a table from which on it is folded."""


def to_html(report: Report) -> str:
    """The whole document, ending in a newline."""
    return "\n".join(_document(report)) + "\n"


def _document(report: Report) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield '<meta name="generator" content="raidbench">'
    yield f"<title>{escape(report.title)}</title>"
    yield f"<style>\n{variables(':root')}\n{PAGE_CSS}\n{graph_css()}\n</style>"
    yield "</head>"
    yield "<body>"
    yield f"<header><h1>{escape(report.title)}</h1>"
    if report.simulated:
        yield '<p class="simulated"><strong>SIMULATED</strong> not measured on this hardware.</p>'
    yield from _contents(report)
    yield "</header>"
    yield "<main>"
    for number, section in enumerate(report.sections):
        yield from _section(section, number)
    yield "</main>"
    yield "</body>"
    yield "</html>"


def _contents(report: Report) -> Iterator[str]:
    yield '<nav aria-label="Contents"><details><summary>Contents</summary><ul>'
    for number, section in enumerate(report.sections):
        if section.level == 2:
            yield f'<li><a href="#p{number}">{escape(section.heading)}</a></li>'
    yield "</ul></details></nav>"


def _section(section: Section, number: int) -> Iterator[str]:
    level = min(max(section.level, 2), 6)
    yield f'<section id="p{number}"><h{level}>{escape(section.heading)}</h{level}>'
    if not section.blocks:
        yield "<p>None.</p>"
    for block in section.blocks:
        yield from _block(block)
    yield "</section>"


def _block(block: Block) -> Iterator[str]:
    match block:
        case DefinitionList(pairs=pairs):
            yield "<dl>"
            yield from (f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in pairs)
            yield "</dl>"
        case Sentences(items=items):
            yield "<ul>"
            yield from (f"<li>{escape(sentence)}</li>" for sentence in items)
            yield "</ul>"
        case Paragraph(text=words):
            yield f"<p>{escape(words)}</p>"
        case Grid():
            yield from _grid(block)
        case Code():
            yield f"<p>{escape(block.label)}</p>" if block.label else ""
            lines = "\n".join(escape(line) for line in block.lines)
            yield f'<pre tabindex="0">{lines}</pre>'
        case Graphs(graphs=graphs):
            yield '<div class="graphs">'
            yield from map(_figure, graphs)
            yield "</div>"


def _figure(graph: Graph) -> str:
    wide = ' class="wide"' if isinstance(graph, HeatMap) and len(graph.columns) > 4 else ""
    return (
        f'<figure{wide}><div class="scroll">{to_svg(graph)}</div>'
        f"<figcaption>{escape(graph.about)}</figcaption></figure>"
    )


def _grid(grid: Grid) -> Iterator[str]:
    used = [at for at in range(len(grid.columns)) if any(row[at] for row in grid.rows)]
    if not used:
        return
    figures = {at for at in used if all(not row[at] or _FIGURE.fullmatch(row[at]) for row in grid.rows)}
    fold = len(grid.rows) > _FOLDED
    if fold:
        yield f"<details><summary>{len(grid.rows)} rows</summary>"
    yield '<div class="scroll" tabindex="0"><table>'
    yield f"<thead>{_row('th', grid.columns, used, figures)}</thead>"
    yield "<tbody>"
    yield from (_row("td", row, used, figures) for row in grid.rows)
    yield "</tbody></table></div>"
    if fold:
        yield "</details>"


def _row(cell: str, row: tuple[str, ...], used: list[int], figures: set[int]) -> str:
    scope = ' scope="col"' if cell == "th" else ""

    def opening(words: str, figure: bool) -> str:
        kind = ' class="n"' if figure else ' class="t"' if len(words) > _LONG else ""
        return f"<{cell}{scope}{kind}>"

    told = "".join(f"{opening(row[at], at in figures)}{escape(row[at])}</{cell}>" for at in used)
    return f"<tr>{told}</tr>"
