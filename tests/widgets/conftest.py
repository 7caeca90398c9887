"""What holds for every test of a widget."""

from __future__ import annotations

from tests.headless import drawn_at_rest, styles_parsed_once

__all__ = ["drawn_at_rest", "styles_parsed_once"]
