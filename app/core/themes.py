"""Colour themes of the workbench."""

from __future__ import annotations

from collections.abc import Mapping

THEMES: Mapping[str, str] = {
    "auto": "Light or dark, as the terminal reports. A terminal with only 16 colours keeps its own colours.",
    "dark": "Light text on a dark background.",
    "light": "Dark text on a light background.",
    "terminal": "The terminal's own 16 colours on its own background.",
}
"""The colour themes: each name with a sentence that describes the theme."""
