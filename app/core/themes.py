"""Colour themes of the workbench."""

from __future__ import annotations

from collections.abc import Mapping

THEMES: Mapping[str, str] = {
    "auto": "Light or dark, as the terminal reports. With 16 colours only: the terminal's own colours.",
    "dark": "Light text on a dark background.",
    "light": "Dark text on a light background.",
    "terminal": "The terminal's own 16 colours on its own background.",
}
"""Theme names, each with a sentence that describes it."""
