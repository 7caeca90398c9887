"""SVG elements as text, the style sheet of graphs, and the frame that all graphs have. All escaping is done here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NewType

from app.features.report.graph import MOST_LINES, Graph
from backends.text import clean

# -- colours and strokes for light and dark mode ----------------------------------------------------------------------

# The hues are from Okabe and Ito (2008). People with any common kind of colour vision can distinguish them. Lines also
# differ in dashes and markers.

_LIGHT = ("#0072b2", "#c44e00", "#007a5a", "#a8478a", "#7a6000", "#3b3b3b")
_DARK = ("#56b4e9", "#ff9f4a", "#2fd3a4", "#e79ccb", "#f0e442", "#d0d0d0")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 2", "1 2")

_SHAPES = """
svg.graph{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
svg.graph text{fill:var(--ink);font-variant-numeric:tabular-nums}
svg.graph .title{font-size:14px;font-weight:600}
svg.graph .soft{fill:var(--soft);font-size:11px}
svg.graph .mono{font-size:11px}
svg.graph .halo{paint-order:stroke;stroke:var(--back,var(--paper));stroke-width:4px;stroke-linejoin:round}
svg.graph .best{font-weight:700}
svg.graph .warn{fill:var(--warn);font-size:11px;font-weight:700;letter-spacing:.08em}
svg.graph .grid{stroke:var(--line);stroke-width:1}
svg.graph .axis{stroke:var(--soft);stroke-width:1}
svg.graph .zero{stroke:var(--ink);stroke-width:1.2}
svg.graph .shade{fill:var(--shade)}
svg.graph .none{fill:var(--shade);stroke:var(--line)}
svg.graph .cell{stroke:var(--paper);stroke-width:2}
svg.graph .frame{fill:none;stroke:var(--ink);stroke-width:2}
svg.graph .curve{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
svg.graph .mark{stroke-width:1.4}
svg.graph .bar{stroke-width:1.4}
""".strip()


def graph_css() -> str:
    """Return the CSS rules for `svg.graph`. They use the colour variables that `variables` defines."""
    rows = [_SHAPES]
    for number in range(MOST_LINES):
        rows.append(f"svg.graph .c{number}{{stroke:var(--s{number});stroke-dasharray:{_DASHES[number]}}}")
        rows.append(f"svg.graph .b{number}{{stroke:var(--s{number})}}")
        rows.append(f"svg.graph .m{number}{{stroke:var(--s{number});fill:var(--s{number})}}")
    return "\n".join(rows)


def variables(selector: str) -> str:
    """Return CSS that defines the colour variables for elements that match `selector`.

    The reader's preference selects the light or the dark scheme. Printed output is light.
    """
    light = _block(selector, _LIGHT, "#1b1f24", "#59636e", "#dfe3e8", "#eef1f4", "#ffffff", "#b3261e")
    dark = _block(selector, _DARK, "#e8eaed", "#a3adb8", "#363c44", "#23282e", "#15181c", "#ff8a80")
    return f"{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}"


def _block(
    selector: str, series: tuple[str, ...], ink: str, soft: str, line: str, shade: str, paper: str, warn: str
) -> str:
    colours = "".join(f"--s{number}:{colour};" for number, colour in enumerate(series))
    return (
        f"{selector}{{color-scheme:light dark;--ink:{ink};--soft:{soft};--line:{line};--shade:{shade};"
        f"--paper:{paper};--warn:{warn};{colours}}}"
    )


# -- elements: all text and attributes are escaped here ---------------------------------------------------------------

Svg = NewType("Svg", str)
"""SVG or HTML markup. This is a separate type, so that the type checker finds text that was not escaped."""

_LONGEST = 2000
"""Maximum number of characters of a text; the rest is cut off."""

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;"})


def escape(raw: str) -> Svg:
    """Return text escaped for HTML, SVG and their attributes."""
    return Svg(clean(raw, _LONGEST).translate(_ENTITIES))


def tag(name: str, /, *inner: Svg, **attributes: str | float | None) -> Svg:
    """Return an SVG or HTML element with the inner elements and attributes.

    In names of attributes, `class_` becomes `class` and `text_anchor` becomes `text-anchor`.
    """
    output = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(inner)
    return Svg(f"<{name}{output}>{content}</{name}>" if content else f"<{name}{output}/>")


def text(
    content: str, x: float, y: float, kind: str = "", *, anchor: str | None = None, style: str | None = None
) -> Svg:
    """Return an SVG text in one line. `kind` is its CSS class, and `style` overrides the rules of that class."""
    return tag("text", escape(content), class_=kind or None, x=x, y=y, text_anchor=anchor, style=style)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Svg:
    """Return a straight SVG line. `kind` is its CSS class."""
    return tag("line", class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def rect(x: float, y: float, width: float, height: float, kind: str, *, fill: str | None = None) -> Svg:
    """Return an SVG rectangle. `kind` is its CSS class."""
    return tag("rect", class_=kind, x=x, y=y, width=max(0.0, width), height=max(0.0, height), fill=fill)


def path(points: Iterable[tuple[float, float] | None], kind: str) -> Svg:
    """Return an SVG path of straight segments through the points. A None among the points interrupts the path. Return
    "" without points.
    """
    lines: list[str] = []
    pen = "M"
    for point in points:
        if point is None:
            pen = "M"
            continue
        lines.append(f"{pen}{_number(point[0])} {_number(point[1])}")
        pen = "L"
    return tag("path", class_=kind, d="".join(lines)) if lines else Svg("")


def shorten(label: str, characters: int) -> str:
    """Return `label`, cut off with an ellipsis if it has more than `characters` characters."""
    return label if len(label) <= characters else label[: max(1, characters - 1)].rstrip() + "…"


def wrap(label: str, characters: int, lines: int) -> tuple[str, ...]:
    """Return `label` as at most `lines` lines of at most `characters` characters, broken at spaces if possible."""
    rows: list[str] = []
    rest = clean(label, 400)
    while rest and len(rows) < lines - 1 and len(rest) > characters:
        cut = rest.rfind(" ", 0, characters + 1)
        cut = cut if cut > 0 else characters
        rows.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return (*rows, shorten(rest, characters)) if rest else tuple(rows)


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """Return the number with at most one decimal, because less than a tenth of a pixel is invisible."""
    return f"{value:.1f}".removesuffix(".0")


# -- frame of every graph: size, title, description for screen readers ------------------------------------------------

WIDTH = 520
"""Width of a graph in pixels. Graphs are displayed at about this width, so that their text is not scaled."""

TOP = 34
"""Distance in pixels from the top of the graph to the plot area, below the title."""

_EDGE = 10
"""Margin around a standalone graph in pixels."""

LETTER = 6.3
"""Approximate width in pixels of a letter of the 12-pixel font."""


def frame_svg(graph: Graph, height: float, *parts: Svg, standalone: bool, width: float = WIDTH) -> Svg:
    """Return the complete SVG of a graph with title and description. With `standalone`, it includes its style sheet."""
    edge = _EDGE if standalone else 0
    svgs = [
        tag("title", escape(graph.title), id=f"{graph.key}-t"),
        tag("desc", escape(graph.about), id=f"{graph.key}-d"),
    ]
    room = int((width - (88 if graph.simulated else 8)) / 7.4)
    heading = [text(shorten(graph.title, room), 0, 16, "title")]
    if graph.simulated:
        heading.append(text("SIMULATED", width - 4, 15, "warn", anchor="end"))
    size = (width + 2 * edge, height + 2 * edge)
    alone: dict[str, str | float] = {}
    if standalone:
        alone = {"xmlns": "http://www.w3.org/2000/svg", "width": size[0], "height": size[1]}
        svgs.append(tag("style", Svg(variables("svg.graph")), Svg(graph_css())))
        svgs.append(tag("rect", fill="var(--paper)", x=-edge, y=-edge, width=size[0], height=size[1]))
    return tag(
        "svg",
        *svgs,
        *heading,
        *parts,
        class_="graph",
        viewBox=f"{-edge} {-edge} {size[0]:g} {size[1]:g}",
        role="img",
        aria_labelledby=f"{graph.key}-t {graph.key}-d",
        **alone,
    )
