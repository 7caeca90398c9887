"""Canvas of braille dots, two by four per cell, on which lines can be drawn. Needs no terminal."""

from __future__ import annotations

from typing import Final

LEFT: Final = (0x01, 0x02, 0x04, 0x40)
"""Bits of the left column of a braille cell, from the top."""

RIGHT: Final = (0x08, 0x10, 0x20, 0x80)
"""Bits of the right column of a braille cell, from the top."""

SOLID: Final = b"\1"
"""Dash pattern of a solid line: every column of dots is drawn."""

ASCII_SIGNS: Final = "*+xo#@%&"
"""Characters for the layers from 3 on, if only ASCII is used."""


def _run_masks(bits: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return a table of bit masks: `runs[a][b]` has the dots of a column from row `a` to row `b`."""
    return tuple(tuple(sum(bits[a : b + 1]) for b in range(4)) for a in range(4))


_RUNS: Final = (_run_masks(LEFT), _run_masks(RIGHT))
_TOP: Final = LEFT[0] | LEFT[1] | RIGHT[0] | RIGHT[1]
_BRAILLE: Final = (" ", *(chr(0x2800 + dots) for dots in range(1, 256)))


def _ascii_shape(dots: int) -> str:
    """Return the ASCII character that looks most like the dots of a cell."""
    if dots & _TOP:
        return ":" if dots & ~_TOP else "'"
    return "." if dots else " "


def _ascii_cells(layer: int) -> tuple[str, ...]:
    """Return the ASCII characters of a layer, indexed by the dots of a cell.

    Layer 1 has dashes, layer 2 has shapes of the dots, and each further layer has its own sign.
    """
    if layer <= 1:
        return (" ", *("-" for _ in range(255)))
    if layer == 2:
        return tuple(_ascii_shape(dots) for dots in range(256))
    return (" ", *(ascii_sign(layer) for _ in range(255)))


def ascii_sign(layer: int) -> str:
    """Return the ASCII character for a layer, which must be 3 or higher."""
    return ASCII_SIGNS[(layer - 3) % len(ASCII_SIGNS)]


_ASCII: Final = tuple(_ascii_cells(layer) for layer in range(3 + len(ASCII_SIGNS)))


class Canvas:
    """Dots in a grid of cells. Each cell has the colour of its highest layer.

    Layers are numbers from 1. Drawing only adds dots. The highest layer determines the colour in any drawing order, so
    a line that grows dot by dot looks the same as a line that is drawn at once.
    """

    __slots__ = ("dots", "height", "layers", "touched", "width")

    def __init__(self, width: int, height: int) -> None:
        self.width = max(0, width)
        """Number of cells per row. A row has twice as many dots."""
        self.height = max(0, height)
        """Number of rows of cells. A column has four times as many dots."""
        self.dots = bytearray(self.width * self.height)
        """Bits of the braille character of each cell, row by row."""
        self.layers = bytearray(self.width * self.height)
        """Highest layer of each cell; 0 for an empty cell."""
        self.touched: set[int] = set()
        """Rows of cells in which dots were set. The caller empties it after it has shown the rows."""

    def dot(self, x: int, y: int, layer: int = 1) -> None:
        """Set one dot, counted from the upper left. Dots outside the canvas are ignored."""
        self.run(x, y, y, layer)

    def run(self, x: int, top: int, bottom: int, layer: int = 1) -> None:
        """Set the dots of column `x` from `top` to `bottom`, both included. Dots outside the canvas are ignored."""
        width = self.width
        top = max(top, 0)
        bottom = min(bottom, self.height * 4 - 1)
        if not 0 <= x < width * 2 or top > bottom:
            return
        runs = _RUNS[x & 1]
        first, last = top >> 2, bottom >> 2
        dots, layers = self.dots, self.layers
        self.touched.update(range(first, last + 1))
        cell = first * width + (x >> 1)
        for row in range(first, last + 1):
            dots[cell] |= runs[top & 3 if row == first else 0][bottom & 3 if row == last else 3]
            if layers[cell] < layer:
                layers[cell] = layer
            cell += width

    def line(self, x0: int, y0: int, x1: int, y1: int, layer: int = 1, dashes: bytes = SOLID) -> None:
        """Draw a line between two dots. It has no gaps, even if it is steep.

        `dashes`: in level stretches, column `x` is drawn if `dashes[x % len(dashes)]` is not zero. Rising and falling
        stretches are solid, because a single column may be the only sign of a stall.
        """
        if x0 > x1:
            x0, y0, x1, y1 = x1, y1, x0, y0
        period = len(dashes)
        span = 2 * (x1 - x0)
        if not span:
            if y0 != y1 or dashes[x0 % period]:
                self.run(x0, min(y0, y1), max(y0, y1), layer)
            return
        rise = y1 - y0
        before = y0
        for x in range(max(x0, 0), min(x1, self.width * 2 - 1) + 1):
            if x > x0:
                before = y0 + (rise * (2 * (x - x0) - 1)) // span
            after = y0 + (rise * (2 * (x - x0) + 1)) // span if x < x1 else y1
            if before != after or dashes[x % period]:
                self.run(x, min(before, after), max(before, after), layer)

    def text(self, row: int, *, ascii_only: bool = False) -> str:
        """Return the characters of a row. Empty cells are spaces."""
        start = row * self.width
        dots = self.dots[start : start + self.width]
        if not ascii_only:
            return "".join(map(_BRAILLE.__getitem__, dots))
        layers = self.layers[start : start + self.width]
        return "".join(
            _ASCII[layer if layer < 3 else 3 + (layer - 3) % len(ASCII_SIGNS)][bits]
            for bits, layer in zip(dots, layers, strict=True)
        )
