"""The same fixtures as for the screens."""

from __future__ import annotations

from tests.tui.conftest import still, styles_parsed_once, table

__all__ = ["still", "styles_parsed_once", "table"]
