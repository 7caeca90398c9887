"""A screen as SVG and PNG: plain shapes and text in a font that is only named, no links to anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import MONOKAI
from textual.app import App
from textual.strip import Strip

from tests.screenshots.glyphs import HEIGHT, WIDTH, shape

FONT = "DejaVu Sans Mono"
"""Covers what is not drawn as shapes; 16.61 pixels make its characters a cell wide."""

_SIZE = 16.61
_BASE = 15.2
_MARGIN = 14.0


def picture(app: App[Any], title: str) -> str:
    """SVG of what the app shows now."""
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    strips: Iterable[Iterable[Strip]] = update.strips  # type: ignore[union-attr]
    lines = [Strip.join(line) for line in strips]
    columns, rows = app.size
    width, height = columns * WIDTH + 2 * _MARGIN, rows * HEIGHT + 2 * _MARGIN
    grounds: list[str] = []
    marks: list[str] = []
    for y, line in enumerate(lines):
        x = 0
        for segment in line:
            if not segment.control:
                x = _segment(segment, x, y, grounds, marks)
    base = _color(lines[1]._segments[0].style, ground=True)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            f'<style>text{{font-family:"{FONT}","Menlo","Consolas",monospace;font-size:{_SIZE}px;white-space:pre}}'
            ".b{font-weight:bold}.i{font-style:italic}.u{text-decoration:underline}</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="10" fill="{base}"/>',
            f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">',
            *grounds,
            *marks,
            "</g>",
            "</svg>",
            "",
        ]
    )


def _segment(segment: Segment, x: int, y: int, grounds: list[str], marks: list[str]) -> int:
    """Its ground and its characters; the column after it."""
    text, style, _ = segment
    cells = cell_len(text)
    ground, color = _color(style, ground=True), _color(style, ground=False)
    grounds.append(
        f'<rect x="{x * WIDTH:g}" y="{y * HEIGHT:g}" width="{cells * WIDTH + 0.3:g}" height="{HEIGHT + 0.3:g}" '
        f'fill="{ground}"/>'
    )
    run = ""
    at = start = x
    shapes: list[str] = []
    for char in text:
        drawn = shape(char)
        if drawn is None and char != " ":
            if not run:
                start = at
            run += char
        elif run and drawn is None:
            run += char
        else:
            _write(run, start, y, color, style, marks)
            run = ""
            if drawn is not None:
                shapes.append(f'<g transform="translate({at * WIDTH:g} {y * HEIGHT:g})">{drawn}</g>')
        at += cell_len(char)
    _write(run, start, y, color, style, marks)
    if shapes:
        marks.append(f'<g color="{color}">{"".join(shapes)}</g>')
    return x + cells


def _write(run: str, x: int, y: int, color: str, style: Style | None, marks: list[str]) -> None:
    run = run.rstrip()
    if not run:
        return
    names = [name for name, on in (("b", "bold"), ("i", "italic"), ("u", "underline")) if style and getattr(style, on)]
    classes = f' class="{" ".join(names)}"' if names else ""
    marks.append(
        f'<text x="{x * WIDTH:g}" y="{y * HEIGHT + _BASE:g}" textLength="{cell_len(run) * WIDTH:g}" '
        f'fill="{color}"{classes} xml:space="preserve">{escape(run)}</text>'
    )


def _color(style: Style | None, *, ground: bool) -> str:
    """`#rrggbb`, reversed and dimmed where the style says so."""
    style = style or Style()
    front = style.color.get_truecolor(MONOKAI) if style.color else MONOKAI.foreground_color
    back = style.bgcolor.get_truecolor(MONOKAI, foreground=False) if style.bgcolor else MONOKAI.background_color
    if style.reverse:
        front, back = back, front
    wanted = back if ground else front
    if style.dim and not ground:
        return "#" + "".join(f"{(a + b) // 2:02x}" for a, b in zip(front, back, strict=True))
    return wanted.hex


def save(app: App[Any], folder: Path, name: str, title: str) -> None:
    """`NAME.svg` and `NAME.png` in the folder."""
    import resvg_py

    svg = picture(app, title)
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    png = resvg_py.svg_to_bytes(svg_string=svg, font_family=FONT, monospace_family=FONT)
    (folder / f"{name}.png").write_bytes(bytes(png))
