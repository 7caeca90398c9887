"""A report as one HTML file, with its style sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.features.report.blocks import (
    Block,
    Code,
    DefinitionList,
    Graphs,
    Paragraph,
    Report,
    ReportTable,
    Section,
    Sentences,
)
from app.features.report.graph import Graph, HeatMap
from app.features.report.svg import to_svg
from app.features.report.svg.elements import escape, graph_css, variables

# -- style sheet of the report without the graphs; colours come from `svg.elements.variables` -------------------------

PAGE_CSS = """
*{box-sizing:border-box}
html{background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1.5rem clamp(.9rem,3vw,2.5rem) 4rem;max-width:1240px}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .4rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.4rem 0 .7rem;padding-top:.7rem;border-top:1px solid var(--line)}
h3{font-size:1.03rem;margin:1.6rem 0 .5rem}
h1,h2,h3,nav,dt,summary{overflow-wrap:anywhere}
p,li,dd{max-width:78ch;overflow-wrap:anywhere}
ul{padding-left:1.2rem}
li{margin:.15rem 0}
a{color:var(--s0)}
nav ul{list-style:none;padding:0;margin:.6rem 0 0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.92rem}
.simulated{margin:.6rem 0;padding:.45rem .8rem;border:1.5px solid var(--warn);border-radius:6px;display:inline-block}
.simulated strong{color:var(--warn);letter-spacing:.08em}
dl{display:grid;grid-template-columns:fit-content(40%) minmax(0,1fr);gap:.15rem 1.2rem;margin:.5rem 0}
dt{color:var(--soft)}
dd{margin:0}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.32rem .8rem .32rem 0;border-bottom:1px solid var(--line);
max-width:34rem;overflow-wrap:break-word}
th{color:var(--soft);font-weight:600;white-space:nowrap;vertical-align:bottom}
th.n,td.n{text-align:right;white-space:nowrap}
td:first-child{white-space:nowrap}
td.t{min-width:15rem;white-space:normal}
pre{background:var(--shade);border-radius:6px;padding:.7rem .9rem;overflow-x:auto;margin:.5rem 0;
font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.graphs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,460px),1fr));gap:1.4rem 2rem;margin:1rem 0}
figure{margin:0;min-width:0;break-inside:avoid}
figure.wide{grid-column:1/-1}
figure.wide svg.graph{min-width:640px}
figcaption{color:var(--soft);font-size:.83rem;line-height:1.4;margin-top:.3rem;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--s0);padding:.2rem 0}
:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
@media (max-width:480px){html{font-size:14px}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .4rem}}
@media print{html{font-size:10.5px}body{max-width:none;padding:0}nav{display:none}.scroll{overflow:visible}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85em}
details::details-content{content-visibility:visible;display:block}
table{font-size:.8em}th,td.n,td:first-child{white-space:normal}td.t{min-width:0}td,th{padding-right:.5rem}
h2,h3{break-after:avoid}
.graphs{grid-template-columns:1fr 1fr}}
""".strip()


# -- document ---------------------------------------------------------------------------------------------------------

# The page has no scripts and no external resources. It works in light and dark mode, on phones and on paper.

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_FIGURE = re.compile(r"[+-]?\d[\d.,]*( ?[kMG]| ?(µs|ms|s|%|B|[KMGT]iB))?( ±.*)?|-|too few I/Os")
_LONG = 24
"""Number of characters above which a cell gets a minimum width."""

_FOLDED = 25
"""Number of rows above which a table is collapsed until the reader opens it."""


def to_html(report: Report) -> str:
    """Return the report as a complete HTML document, ending with a newline."""
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
        case Paragraph(text=text):
            yield f"<p>{escape(text)}</p>"
        case ReportTable():
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


def _grid(grid: ReportTable) -> Iterator[str]:
    used = grid.used_columns
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

    def opening(content: str, figure: bool) -> str:
        kind = ' class="n"' if figure else ' class="t"' if len(content) > _LONG else ""
        return f"<{cell}{scope}{kind}>"

    text = "".join(f"{opening(row[at], at in figures)}{escape(row[at])}</{cell}>" for at in used)
    return f"<tr>{text}</tr>"
