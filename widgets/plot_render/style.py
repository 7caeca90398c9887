"""Style of a static plot: its size and colours, and signs that distinguish series without colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from widgets.text_utils.text import clean, pad, shorten, width_of

Hue = int | tuple[int, int, int]
"""A colour: the number of one of a terminal's 256 colours, or its red, green and blue."""

PALETTE: tuple[Hue, ...] = (33, 166, 138, 60, 93, 104)
"""Colours of series.

Their contrast is at least 3.1:1 on black and on white. For normal, protan, deutan and tritan vision, the first four
differ by at least 30 from each other (CIE Lab), and all six by at least 19.
"""

FAINT = 242
"""Colour of parts behind all series, such as the ramp, the baseline and changes."""

LEAST = (60, 15)
"""Minimum number of columns and rows of a readable plot."""

LEAST_BESIDE = (44, 9)
"""Minimum number of columns and rows if other widgets show the numbers, so that a small plot is enough."""

_SIGNS, _ASCII_SIGNS = "●▲■◆▼✚", "ox+*#%"
_ASCII = str.maketrans("│┃─├┤┬┴┼┌┐└┘·░▒█▁▂▃▄▅▆▇µ", "|#-||+++++++.:=#_______u")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
BEHIND = -1
"""Index that stands for parts behind all series, instead of a series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotStyle:
    """Size of a plot in cells, and capabilities of the terminal."""

    width: int = 80
    height: int = 20
    palette: Sequence[Hue] = PALETTE
    """Colours of the series, in order; empty for no colours."""
    ascii: bool = False
    least: tuple[int, int] = LEAST
    """Minimum number of columns and rows. A smaller plot is not drawn."""

    def sign(self, series: int) -> str:
        """Return the sign that marks the points of a series."""
        signs = _ASCII_SIGNS if self.ascii else _SIGNS
        return signs[series % len(signs)]

    def hue(self, series: int) -> Hue:
        """Return the colour of a series. A negative index means parts behind all series."""
        return FAINT if series < 0 or not self.palette else self.palette[series % len(self.palette)]

    def colored(self, text: str, series: int) -> str:
        """Return text in the colour of a series."""
        if not self.palette:
            return text
        hue = self.hue(series)
        code = f"5;{hue}" if isinstance(hue, int) else "2;{};{};{}".format(*hue)
        return f"\x1b[38;{code}m{text}\x1b[0m"

    def terminal_rows(self, rows: Iterable[str]) -> list[str]:
        """Return rows in a form that the terminal can show (without colours, in ASCII), and without trailing blanks."""
        colored = (row if self.palette else _ESCAPES.sub("", row) for row in rows)
        return [(_to_ascii(row) if self.ascii else row).rstrip() for row in colored]


def _to_ascii(row: str) -> str:
    return row.replace("…", "~").translate(_ASCII).encode("ascii", "replace").decode("ascii")


def fit_line(text: str, width: int) -> str:
    """Return the text as one line that is safe to draw and at most `width` cells wide."""
    return shorten(clean(text), width)


def too_small(style: PlotStyle) -> str:
    """Return a message if the size is too small for a plot; "" otherwise."""
    if style.width >= style.least[0] and style.height >= style.least[1]:
        return ""
    needed = f"{style.least[0]}x{style.least[1]}"
    return f"A chart needs {needed} characters or more. Available: {style.width}x{style.height}."


def legend(style: PlotStyle, names: Sequence[tuple[str, str]], *, joined: bool) -> list[str]:
    """Return the rows of the legend. If the plot is high enough, each series has a row with its numbers.

    `names`: name and numbers of each series. `joined`: whether the series are drawn as lines.
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
