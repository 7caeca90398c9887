"""How a picture is to look: its size, its colours, and the signs that tell series apart without any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from widgets.text_utils.text import clean, shorten, width_of

Hue = int | tuple[int, int, int]
"""One of the 256 colours of a terminal, or red, green and blue."""

PALETTE: tuple[Hue, ...] = (33, 166, 138, 60, 93, 104)
"""At least 3.1:1 on black and on white; for normal, protan, deutan and tritan eyes the first four lie 30 apart (CIE
Lab), all six 19."""

FAINT = 242
"""What lies behind all series: a ramp, a baseline, a change."""

LEAST = (60, 15)
"""Columns and rows below which nothing can be read off."""

LEAST_BESIDE = (44, 9)
"""The same beside other things that tell the figures: a small picture says more than a sentence in its place."""

_SIGNS, _ASCII_SIGNS = "●▲■◆▼✚", "ox+*#%"
_ASCII = str.maketrans("│┃─├┤┬┴┼┌┐└┘·░▒█▁▂▃▄▅▆▇µ", "|#-||+++++++.:=#_______u")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
BEHIND = -1
"""The place of what belongs to no series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotStyle:
    """Size in cells, and what the terminal can show."""

    width: int = 80
    height: int = 20
    palette: Sequence[Hue] = PALETTE
    """Of the series, in their order; none draws without colours."""
    ascii: bool = False
    least: tuple[int, int] = LEAST
    """Columns and rows below which it is not drawn."""

    def sign(self, series: int) -> str:
        """The sign of a series."""
        signs = _ASCII_SIGNS if self.ascii else _SIGNS
        return signs[series % len(signs)]

    def hue(self, series: int) -> Hue:
        """The colour of a series; with a place below 0 of what lies behind all."""
        return FAINT if series < 0 or not self.palette else self.palette[series % len(self.palette)]

    def colored(self, text: str, series: int) -> str:
        """Return text in the colour of a series."""
        if not self.palette:
            return text
        hue = self.hue(series)
        code = f"5;{hue}" if isinstance(hue, int) else "2;{};{};{}".format(*hue)
        return f"\x1b[38;{code}m{text}\x1b[0m"

    def terminal_rows(self, rows: Iterable[str]) -> list[str]:
        """Return rows as the terminal can show them, without blanks at their ends."""
        colored = (row if self.palette else _ESCAPES.sub("", row) for row in rows)
        return [(_to_ascii(row) if self.ascii else row).rstrip() for row in colored]


def _to_ascii(row: str) -> str:
    return row.replace("…", "~").translate(_ASCII).encode("ascii", "replace").decode("ascii")


def fit_line(text: str, width: int) -> str:
    """Return one harmless line of at most so many cells."""
    return shorten(clean(text), width)


def too_small(look: PlotStyle) -> str:
    """A sentence where the size shows nothing; "" where it does."""
    if look.width >= look.least[0] and look.height >= look.least[1]:
        return ""
    return f"A picture wants {look.least[0]}x{look.least[1]} characters or more; here are {look.width}x{look.height}."


def legend(look: PlotStyle, names: Sequence[tuple[str, str]], *, joined: bool) -> list[str]:
    """What stands for what: a row each with its figures where there is height, else side by side.

    `names`: name and figures of each series. `joined`: they are drawn as lines.
    """
    stroke = "──" if joined else ""
    samples = [look.colored(f"{stroke}{look.sign(at)}{stroke}", at) for at in range(len(names))]
    lead = 2 * len(stroke) + 3
    if look.height >= 18 and len(names) <= 4 and any(figures for _, figures in names):
        widest = min(max(width_of(clean(name)) for name, _ in names), look.width // 2)
        return [
            f" {sample} {fit_line(f'{_padded(name, widest)}  {figures}', look.width - lead)}"
            for sample, (name, figures) in zip(samples, names, strict=True)
        ]
    rows, used = [""], 0
    for sample, (name, _) in zip(samples, names, strict=True):
        label = fit_line(name, look.width - lead)
        size = lead + width_of(label) + 2
        if used and used + size > look.width:
            rows.append("")
            used = 0
        rows[-1] += f" {sample} {label}  "
        used += size
    return rows if len(names) > 1 else []


def _padded(name: str, width: int) -> str:
    name = fit_line(name, width)
    return name + " " * (width - width_of(name))
