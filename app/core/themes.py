"""Colour themes of the workbench."""

from __future__ import annotations

from collections.abc import Mapping

THEMES: Mapping[str, str] = {
    "auto": "As the terminal says: light or dark; its own colours where it has only sixteen.",
    "dark": "Light text on a dark ground.",
    "light": "Dark text on a light ground.",
    "terminal": "The terminal's own sixteen colours on its own ground.",
}
"""Theme names, each with a sentence that describes it."""
