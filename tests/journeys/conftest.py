"""The same fixtures as for the screens."""

from __future__ import annotations

from tests.tui.conftest import drawn_at_rest, still, styles_parsed_once, table

__all__ = ["drawn_at_rest", "still", "styles_parsed_once", "table"]
