"""A terminal's screen as SVG and PNG: plain shapes and text in a font that is only named, no links to anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import pyte
from rich.cells import cell_len

from tests.screenshots.glyphs import HEIGHT, WIDTH, shape

FONT = "DejaVu Sans Mono"
"""Covers what is not drawn as shapes; 16.61 pixels make its characters a cell wide."""

BASE = "#101418"
"""The ground where the program paints none."""

_SIZE = 16.61
_BASE_LINE = 15.2
_MARGIN = 14.0
_FRONT = "#d8dee6"
_NAMED = {"black": "#000000", "red": "#cc0000", "green": "#4e9a06", "brown": "#c4a000", "blue": "#3465a4"}
"""Names that pyte has for colours of 16; the program asks for none of them where 16 million are to be had."""


@dataclass(frozen=True)
class Run:
    """Cells beside each other that look alike."""

    at: int
    text: str
    color: str
    ground: str
    bold: bool = False
    italic: bool = False
    underlined: bool = False


Line = tuple[Run, ...]


def lines(screen: pyte.Screen) -> tuple[Line, ...]:
    """What a terminal shows."""
    return tuple(tuple(_runs(screen, y)) for y in range(screen.lines))


def _runs(screen: pyte.Screen, y: int) -> Iterator[Run]:
    open_run: Run | None = None
    for x in range(screen.columns):
        char = screen.buffer[y][x]
        front, back = _color(char.fg, _FRONT), _color(char.bg, BASE)
        if char.reverse:
            front, back = back, front
        cell = Run(x, char.data, front, back, char.bold, char.italics, char.underscore)
        if open_run is not None and replace(cell, at=open_run.at, text=open_run.text) == open_run:
            open_run = replace(open_run, text=open_run.text + char.data)
            continue
        if open_run is not None:
            yield open_run
        open_run = cell
    if open_run is not None:
        yield open_run


def _color(name: str, otherwise: str) -> str:
    if len(name) == 6 and all(letter in "0123456789abcdefABCDEF" for letter in name):
        return f"#{name.lower()}"
    return _NAMED.get(name, otherwise)


def drawn(line: Line, signs: dict[str, str] | None = None) -> str:
    """A line at the top, as SVG; `signs` gets a name for each shape, which then stands for it."""
    grounds = [
        f'<rect x="{run.at * WIDTH:g}" width="{cell_len(run.text) * WIDTH + 0.3:g}" height="{HEIGHT + 0.3:g}" '
        f'fill="{run.ground}"/>'
        for run in line
        if run.ground != BASE and run.text
    ]
    return "".join([*grounds, *(mark for run in line for mark in _marks(run, signs))])


def _marks(run: Run, signs: dict[str, str] | None) -> Iterator[str]:
    """Its characters: shapes, and words as far as there is no shape and no gap in them."""
    words, start, at = "", run.at, run.at
    shapes: list[str] = []
    for char in run.text:
        form = shape(char)
        if form is not None or (char == " " and not words) or words.endswith("  "):
            yield from _words(words, start, run)
            words = ""
        if form is not None:
            place = f"{at * WIDTH:g}"
            if signs is None:
                shapes.append(f'<g transform="translate({place} 0)">{form}</g>')
            else:
                shapes.append(f'<use href="#{signs.setdefault(form, f"s{len(signs)}")}" x="{place}"/>')
        elif words or char != " ":
            start = start if words else at
            words += char
        at += cell_len(char)
    yield from _words(words, start, run)
    if shapes:
        yield f'<g color="{run.color}">{"".join(shapes)}</g>'


def _words(words: str, at: int, run: Run) -> Iterator[str]:
    words = words.rstrip()
    if words:
        on = (("b", run.bold), ("i", run.italic), ("u", run.underlined))
        names = " ".join(name for name, is_on in on if is_on)
        yield (
            f'<text x="{at * WIDTH:g}" y="{_BASE_LINE:g}" textLength="{cell_len(words) * WIDTH:g}" fill="{run.color}"'
            f"{f' class={chr(34)}{names}{chr(34)}' if names else ''}>{escape(words)}</text>"
        )


def framed(columns: int, rows: int, title: str, inside: Sequence[str], style: str = "") -> str:
    """A whole SVG of so many cells; `style` besides that of the text."""
    width, height = columns * WIDTH + 2 * _MARGIN, rows * HEIGHT + 2 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            f'<style>text{{font-family:"{FONT}","Menlo","Consolas",monospace;font-size:{_SIZE}px;white-space:pre}}'
            f".b{{font-weight:bold}}.i{{font-style:italic}}.u{{text-decoration:underline}}{style}</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="10" fill="{BASE}"/>',
            f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">',
            *inside,
            "</g>",
            "</svg>",
            "",
        ]
    )


def picture(screen: pyte.Screen, title: str) -> str:
    """SVG of what a terminal shows."""
    rows = [
        f'<g transform="translate(0 {y * HEIGHT:g})">{drawn(line)}</g>' for y, line in enumerate(lines(screen)) if line
    ]
    return framed(screen.columns, screen.lines, title, rows)


def save(screen: pyte.Screen, folder: Path, name: str, title: str) -> None:
    """`NAME.png` in the folder."""
    import resvg_py

    png = resvg_py.svg_to_bytes(svg_string=picture(screen, title), font_family=FONT, monospace_family=FONT)
    (folder / f"{name}.png").write_bytes(bytes(png))
