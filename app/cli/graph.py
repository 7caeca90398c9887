"""A graph on standard output, where that is a terminal that can show it."""

from __future__ import annotations

import sys

from app.cli.options import current, is_utf8
from app.engine.view.plot import PlotView

_WIDEST, _NARROWEST, _HEIGHT = 120, 50, 18


def graph_lines(view: PlotView, width: int | None, height: int = _HEIGHT) -> list[str]:
    """Its rows; none without a terminal (`width` is None), in one that is too narrow, and without UTF-8."""
    if width is None or width < _NARROWEST or not is_utf8(sys.stdout) or current().ascii:
        return []
    from app.plotting import drawn

    return drawn(view, min(width, _WIDEST), height)
