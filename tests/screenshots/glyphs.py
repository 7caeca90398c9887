"""Characters drawn as shapes, so that lines meet and dots are even in whatever font there is."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

WIDTH, HEIGHT = 10.0, 20.0
"""Of a cell, in pixels."""

_ARMS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
_BOTH = {"HORIZONTAL": ("LEFT", "RIGHT"), "VERTICAL": ("UP", "DOWN")}
_NUMBERS = {"ONE": 1, "THREE": 3, "FIVE": 5, "SEVEN": 7}
_PARTS = {"EIGHTH": 8, "EIGHTHS": 8, "QUARTER": 4, "QUARTERS": 4, "HALF": 2}
_PLACES = {"DOUBLE": 2, "TRIPLE": 3, "QUADRUPLE": 4}


@cache
def shape(char: str) -> str | None:
    """SVG of a character in a cell at the origin, in the current colour; None leaves it to the font."""
    if "\u2800" <= char <= "\u28ff":
        return _braille(ord(char) - 0x2800)
    if "\u2500" <= char <= "\u257f":
        return _box(unicodedata.name(char).removeprefix("BOX DRAWINGS "))
    if "\u2580" <= char <= "\u2595":
        return _block(unicodedata.name(char))
    return None


def _braille(bits: int) -> str:
    """Dots on an even grid over all cells."""
    order = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
    dots = "".join(f"M{x * 5 + 2.5:g} {y * 5 + 2.5:g}h.01" for bit, (x, y) in enumerate(order) if bits & (1 << bit))
    return f'<path d="{dots}" stroke="currentColor" stroke-width="3.4" stroke-linecap="round"/>'


def _box(name: str) -> str | None:
    """Light, heavy, dashed and rounded lines; double and mixed ones are left to the font."""
    words = name.split()
    if "DOUBLE" in words and "DASH" not in words:
        return None
    if {"LIGHT", "HEAVY"} <= set(words) or "DIAGONAL" in words:
        return None
    arms: list[str] = []
    for word in words:
        arms += _BOTH.get(word, (word,) if word in _ARMS else ())
    width = 3.0 if "HEAVY" in words else 1.4
    style = f'stroke="currentColor" stroke-width="{width:g}" fill="none"'
    x, y = WIDTH / 2, HEIGHT / 2
    if "ARC" in words:
        (ax, ay), (bx, by) = (_ARMS[arm] for arm in arms)
        start, end = (x + ax * x, y + ay * y), (x + bx * x, y + by * y)
        return f'<path d="M{start[0]:g} {start[1]:g}Q{x:g} {y:g} {end[0]:g} {end[1]:g}" {style}/>'
    if "DASH" in words:
        count = next(number for word, number in _PLACES.items() if word in words)
        length = (WIDTH if "HORIZONTAL" in words else HEIGHT) / count
        style += f' stroke-dasharray="{length * 0.6:g} {length * 0.4:g}"'
        line = f"M0 {y:g}h{WIDTH:g}" if "HORIZONTAL" in words else f"M{x:g} 0v{HEIGHT:g}"
        return f'<path d="{line}" {style}/>'
    lines = "".join(f"M{x:g} {y:g}L{x + dx * x:g} {y + dy * y:g}" for dx, dy in (_ARMS[arm] for arm in arms))
    return f'<path d="{lines}" {style} stroke-linecap="square"/>' if lines else None


def _block(name: str) -> str | None:
    """Blocks and their parts, and shades."""
    if name.endswith("SHADE"):
        opacity = {"LIGHT": 0.25, "MEDIUM": 0.5, "DARK": 0.75}[name.split()[0]]
        return f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="currentColor" opacity="{opacity:g}"/>'
    found = re.fullmatch(r"(?:(LEFT|RIGHT|UPPER|LOWER) (?:(\w+) )?(EIGHTHS?|QUARTERS?|HALF)|FULL) BLOCK", name)
    if found is None:
        return None
    side, number, part = found.groups()
    share = 1.0 if part is None else _NUMBERS.get(number or "ONE", 1) / _PARTS[part]
    across = side in ("LEFT", "RIGHT")
    width, height = (WIDTH * share, HEIGHT) if across else (WIDTH, HEIGHT * share)
    x = WIDTH - width if side == "RIGHT" else 0.0
    y = HEIGHT - height if side == "LOWER" else 0.0
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="currentColor"/>'
