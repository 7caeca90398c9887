"""SVG elements as text: every word and attribute escaped in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NewType

from backends.text import clean

Svg = NewType("Svg", str)
"""Markup, as opposed to text that is still to be escaped: the type checker tells them apart."""

LONGEST = 2000
"""Characters of one text."""

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;"})


def escape(raw: str, limit: int = LONGEST) -> Svg:
    """Text that stays text in HTML, SVG and their attributes."""
    return Svg(clean(raw, limit).translate(_ENTITIES))


def tag(name: str, /, *inner: Svg, **attributes: str | float | None) -> Svg:
    """An element around parts that are elements already; `class_` is `class`, `text_anchor` is `text-anchor`."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(inner)
    return Svg(f"<{name}{told}>{content}</{name}>" if content else f"<{name}{told}/>")


def text(words: str, x: float, y: float, kind: str = "", *, anchor: str | None = None, style: str | None = None) -> Svg:
    """A line of text; `style` where the rules of its class do not do."""
    return tag("text", escape(words), class_=kind or None, x=x, y=y, text_anchor=anchor, style=style)


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Svg:
    """A straight line."""
    return tag("line", class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def rect(x: float, y: float, width: float, height: float, kind: str, *, fill: str | None = None) -> Svg:
    """A box."""
    return tag("rect", class_=kind, x=x, y=y, width=max(0.0, width), height=max(0.0, height), fill=fill)


def path(points: Iterable[tuple[float, float] | None], kind: str) -> Svg:
    """Straight pieces from point to point; None interrupts. "" without points."""
    told: list[str] = []
    pen = "M"
    for point in points:
        if point is None:
            pen = "M"
            continue
        told.append(f"{pen}{_number(point[0])} {_number(point[1])}")
        pen = "L"
    return tag("path", class_=kind, d="".join(told)) if told else Svg("")


def shortened(words: str, characters: int) -> str:
    """The words, or as much as fits and an ellipsis."""
    return words if len(words) <= characters else words[: max(1, characters - 1)].rstrip() + "…"


def wrapped(words: str, characters: int, lines: int) -> tuple[str, ...]:
    """The words on at most so many lines, broken at blanks where possible."""
    found: list[str] = []
    rest = clean(words, 400)
    while rest and len(found) < lines - 1 and len(rest) > characters:
        cut = rest.rfind(" ", 0, characters + 1)
        cut = cut if cut > 0 else characters
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return (*found, shortened(rest, characters)) if rest else tuple(found)


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """At most one decimal: a tenth of a pixel is never seen."""
    return f"{value:.1f}".removesuffix(".0")
