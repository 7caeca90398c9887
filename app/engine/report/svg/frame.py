"""What every graph has: its size, its title, what it says to those who cannot see it."""

from __future__ import annotations

from app.engine.report.graph import Graph
from app.engine.report.svg.elements import Svg, escape, shortened, tag, text
from app.engine.report.svg.style import graph_css, variables

WIDTH = 520
"""Drawn at about this many pixels, so that letters have their size."""

TOP = 34
"""Where the graph begins, below its title."""

_EDGE = 10
"""Blank paper around a picture that stands alone."""

LETTER = 6.3
"""About the width of a letter of 12 pixels."""


def framed(graph: Graph, height: float, *parts: Svg, standalone: bool, width: float = WIDTH) -> Svg:
    """The whole picture; one that stands alone brings its colours along."""
    edge = _EDGE if standalone else 0
    told = [
        tag("title", escape(graph.title), id=f"{graph.key}-t"),
        tag("desc", escape(graph.about), id=f"{graph.key}-d"),
    ]
    room = int((width - (88 if graph.simulated else 8)) / 7.4)
    heading = [text(shortened(graph.title, room), 0, 16, "title")]
    if graph.simulated:
        heading.append(text("SIMULATED", width - 4, 15, "warn", anchor="end"))
    whole = (width + 2 * edge, height + 2 * edge)
    alone: dict[str, str | float] = {}
    if standalone:
        alone = {"xmlns": "http://www.w3.org/2000/svg", "width": whole[0], "height": whole[1]}
        told.append(tag("style", Svg(variables("svg.graph")), Svg(graph_css())))
        told.append(tag("rect", fill="var(--paper)", x=-edge, y=-edge, width=whole[0], height=whole[1]))
    return tag(
        "svg",
        *told,
        *heading,
        *parts,
        class_="graph",
        viewBox=f"{-edge} {-edge} {whole[0]:g} {whole[1]:g}",
        role="img",
        aria_labelledby=f"{graph.key}-t {graph.key}-d",
        **alone,
    )
