"""Style of a static plot: size, colours, and signs that distinguish series without colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from widgets.text_utils.text import clean, pad, shorten, width_of

Hue = int | tuple[int, int, int]
"""One of a terminal's 256 colours, or red, green and blue."""

PALETTE: tuple[Hue, ...] = (33, 166, 138, 60, 93, 104)
"""Series colours.

Their contrast is at least 3.1:1 on black and on white. For normal, protan, deutan and tritan vision, the first four
differ by 30 (CIE Lab), all six by 19.
"""

FAINT = 242
"""Colour of parts behind all series: ramp, baseline, changes."""

LEAST = (60, 15)
"""Minimum columns and rows of a readable plot."""

LEAST_BESIDE = (44, 9)
"""Minimum columns and rows next to other widgets with the numbers: a small plot is better than a sentence."""

_SIGNS, _ASCII_SIGNS = "●▲■◆▼✚", "ox+*#%"
_ASCII = str.maketrans("│┃─├┤┬┴┼┌┐└┘·░▒█▁▂▃▄▅▆▇µ", "|#-||+++++++.:=#_______u")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
BEHIND = -1
"""Series index of parts behind all series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotStyle:
    """Size in cells, and capabilities of the terminal."""

    width: int = 80
    height: int = 20
    palette: Sequence[Hue] = PALETTE
    """Colours of the series in order; empty for no colours."""
    ascii: bool = False
    least: tuple[int, int] = LEAST
    """Columns and rows below which it is not drawn."""

    def sign(self, series: int) -> str:
        """Return the sign of a series."""
        signs = _ASCII_SIGNS if self.ascii else _SIGNS
        return signs[series % len(signs)]

    def hue(self, series: int) -> Hue:
        """Return the colour of a series; a negative index is for parts behind all series."""
        return FAINT if series < 0 or not self.palette else self.palette[series % len(self.palette)]

    def colored(self, text: str, series: int) -> str:
        """Return text in the colour of a series."""
        if not self.palette:
            return text
        hue = self.hue(series)
        code = f"5;{hue}" if isinstance(hue, int) else "2;{};{};{}".format(*hue)
        return f"\x1b[38;{code}m{text}\x1b[0m"

    def terminal_rows(self, rows: Iterable[str]) -> list[str]:
        """Return rows as the terminal can show them, without trailing blanks."""
        colored = (row if self.palette else _ESCAPES.sub("", row) for row in rows)
        return [(_to_ascii(row) if self.ascii else row).rstrip() for row in colored]


def _to_ascii(row: str) -> str:
    return row.replace("…", "~").translate(_ASCII).encode("ascii", "replace").decode("ascii")


def fit_line(text: str, width: int) -> str:
    """Return one safe line of at most `width` cells."""
    return shorten(clean(text), width)


def too_small(style: PlotStyle) -> str:
    """Return a sentence if the size is too small, or ""."""
    if style.width >= style.least[0] and style.height >= style.least[1]:
        return ""
    needed = f"{style.least[0]}x{style.least[1]}"
    return f"A chart needs {needed} characters or more. Available: {style.width}x{style.height}."


def legend(style: PlotStyle, names: Sequence[tuple[str, str]], *, joined: bool) -> list[str]:
    """Return the legend: one row per series with its numbers if there is enough height, otherwise all in a line.

    `names`: name and numbers of each series. `joined`: they are drawn as lines.
    """
    stroke = "──" if joined else ""
    samples = [style.colored(f"{stroke}{style.sign(index)}{stroke}", index) for index in range(len(names))]
    lead = 2 * len(stroke) + 3
    if style.height >= 18 and len(names) <= 4 and any(figures for _, figures in names):
        widest = min(max(width_of(clean(name)) for name, _ in names), style.width // 2)
        return [
            f" {sample} {fit_line(f'{pad(clean(name), widest)}  {figures}', style.width - lead)}"
            for sample, (name, figures) in zip(samples, names, strict=True)
        ]
    rows, used = [""], 0
    for sample, (name, _) in zip(samples, names, strict=True):
        label = fit_line(name, style.width - lead)
        size = lead + width_of(label) + 2
        if used and used + size > style.width:
            rows.append("")
            used = 0
        rows[-1] += f" {sample} {label}  "
        used += size
    return rows if len(names) > 1 else []
