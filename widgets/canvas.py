"""A canvas of braille dots, two by four to a cell, that draws lines with plain integers and knows no terminal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

LEFT: Final = (0x01, 0x02, 0x04, 0x40)
"""Bits of a braille cell's left column, from the top."""

RIGHT: Final = (0x08, 0x10, 0x20, 0x80)
"""Bits of a braille cell's right column, from the top."""

SOLID: Final = b"\1"
"""A dash pattern that draws every column of dots."""

ASCII_SIGNS: Final = "*+xo#@%&"
"""What the second and later layers are drawn with where there is no UTF-8."""


def _runs(bits: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The mask of the dots from row `a` to row `b` of one column, as `runs[a][b]`."""
    return tuple(tuple(sum(bits[a : b + 1]) for b in range(4)) for a in range(4))


_RUNS: Final = (_runs(LEFT), _runs(RIGHT))
_TOP: Final = LEFT[0] | LEFT[1] | RIGHT[0] | RIGHT[1]
_BRAILLE: Final = (" ", *(chr(0x2800 + dots) for dots in range(1, 256)))


def _shape(dots: int) -> str:
    """The ASCII character nearest to a cell's dots."""
    if dots & _TOP:
        return ":" if dots & ~_TOP else "'"
    return "." if dots else " "


def _ascii_cells(layer: int) -> tuple[str, ...]:
    """The ASCII characters of one layer, by the cell's dots: the first is dashes, the second shapes, others a sign."""
    if layer <= 1:
        return (" ", *("-" for _ in range(255)))
    if layer == 2:
        return tuple(_shape(dots) for dots in range(256))
    return (" ", *(ascii_sign(layer) for _ in range(255)))


def ascii_sign(layer: int) -> str:
    """The character a layer of 3 or more is drawn with in ASCII."""
    return ASCII_SIGNS[(layer - 3) % len(ASCII_SIGNS)]


_ASCII: Final = tuple(_ascii_cells(layer) for layer in range(3 + len(ASCII_SIGNS)))


class Canvas:
    """Dots in a grid of cells; each cell shows all its dots, in the colour of the highest layer among them.

    Layers are small numbers from 1: later layers add dots, they never erase. Because the highest wins whatever the
    order of drawing, a line that grows dot by dot looks the same as one drawn afresh.
    """

    __slots__ = ("dots", "height", "layers", "width")

    def __init__(self, width: int, height: int) -> None:
        self.width = max(0, width)
        """Cells across; twice as many dots."""
        self.height = max(0, height)
        """Cells down; four times as many dots."""
        self.dots = bytearray(self.width * self.height)
        """The braille bits of each cell, row after row."""
        self.layers = bytearray(self.width * self.height)
        """The highest layer in each cell, 0 where it is empty."""

    def dot(self, x: int, y: int, layer: int = 1) -> None:
        """Sets one dot, counted from the upper left; one beyond the edge is passed over."""
        self.run(x, y, y, layer)

    def run(self, x: int, top: int, bottom: int, layer: int = 1) -> None:
        """Sets the dots of column `x` from `top` to `bottom`, both included, as far as they are on the canvas."""
        width = self.width
        top = max(top, 0)
        bottom = min(bottom, self.height * 4 - 1)
        if not 0 <= x < width * 2 or top > bottom:
            return
        runs = _RUNS[x & 1]
        first, last = top >> 2, bottom >> 2
        dots, layers = self.dots, self.layers
        cell = first * width + (x >> 1)
        for row in range(first, last + 1):
            dots[cell] |= runs[top & 3 if row == first else 0][bottom & 3 if row == last else 3]
            if layers[cell] < layer:
                layers[cell] = layer
            cell += width

    def line(self, x0: int, y0: int, x1: int, y1: int, layer: int = 1, dashes: bytes = SOLID) -> None:
        """Draws a line between two dots, without gaps however steep.

        Args:
            x0: Column of the first dot.
            y0: Row of the first dot.
            x1: Column of the other dot.
            y1: Row of the other dot.
            layer: The layer it belongs to.
            dashes: Which columns of a level stretch are drawn: column `x` when `dashes[x % len(dashes)]` is not zero.
                Where it rises or falls no column is left out: it may be the only one that tells of a stall.
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

    def path(self, points: Sequence[tuple[int, int]], layer: int = 1, dashes: bytes = SOLID) -> None:
        """Draws lines from point to point, or a single dot when there is only one."""
        if len(points) == 1:
            self.dot(*points[0], layer)
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            self.line(x0, y0, x1, y1, layer, dashes)

    def text(self, row: int, *, ascii_only: bool = False) -> str:
        """The characters of one row of cells, with a space where a cell is empty."""
        start = row * self.width
        dots = self.dots[start : start + self.width]
        if not ascii_only:
            return "".join(map(_BRAILLE.__getitem__, dots))
        layers = self.layers[start : start + self.width]
        return "".join(
            _ASCII[layer if layer < 3 else 3 + (layer - 3) % len(ASCII_SIGNS)][bits]
            for bits, layer in zip(dots, layers, strict=True)
        )
