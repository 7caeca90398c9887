"""Reports read back as a browser reads them."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

PAGE_TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "h1", "h2", "h3", "p", "ul",
    "li", "a", "strong", "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td", "pre", "figure",
    "figcaption", "details", "summary",
}  # fmt: skip
GRAPH_TAGS = {"svg", "title", "desc", "text", "line", "rect", "path", "circle", "style"}
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "aria-label", "aria-labelledby", "role",
    "scope", "tabindex", "viewbox", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "cx", "cy", "r", "d", "fill",
    "text-anchor", "style", "xmlns",
}  # fmt: skip
_VOID = {"meta"}

_PIECES = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</style>", "</title>", "</svg>", "]]>", "<!--",
    "-->", "<![CDATA[", "&lt;", "&#60;", "&", '"', "'", "`", "\" onload=\"alert(1)", "' x='", "javascript:alert(1)",
    "<a href=//x>", "<svg/onload=alert(1)>", "\x00", "\x1b[31m", "\u202e", "\ud800", "\ufffe", "\n", "\r\n", "\t",
    "=1+1", "+1", "-1", "@SUM(A1)", "|", "||", "**", "__", "~~", "```", "~~~", "# ", "- ", "1. ", "> ", "    code",
    "[x](javascript:alert(1))", "![x](http://x)", "<http://x>", "http://x", "www.x.org", "a@b.c", "\\", "{{x}}",
    "${x}", "%0d%0a", "ünï", "漢字", "x" * 50, "",
)  # fmt: skip


def hostile(number: int, seed: int = 1) -> tuple[str, ...]:
    """So many strings that would like to be more than text."""
    drawn = random.Random(seed)
    return tuple("".join(drawn.choices(_PIECES, k=drawn.randint(1, 4))) for _ in range(number))


class Reader(HTMLParser):
    """What a page is made of; `wrong` has every element and attribute that has no business in it."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        inside_graph = "svg" in self.open or tag == "svg"
        if tag not in (GRAPH_TAGS if inside_graph else PAGE_TAGS):
            self.wrong.append(tag)
        self.wrong += [f"{tag} {name}" for name, _ in attrs if name not in ATTRIBUTES]
        self.wrong += [
            f"{name}={value}" for name, value in attrs if name == "href" and not (value or "").startswith("#p")
        ]
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.cells[-1] += data


def picture(svg: str) -> ElementTree.Element:
    """An SVG as XML; a mistake in it raises ParseError."""
    return ElementTree.fromstring(svg)


def words(svg: str) -> list[str]:
    """All text that is drawn."""
    return ["".join(element.itertext()) for element in picture(svg).iter() if element.tag.endswith("text")]
