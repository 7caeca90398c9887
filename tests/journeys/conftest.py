"""The same fixtures as for the screens."""

from __future__ import annotations

from tests.tui.conftest import still, table

__all__ = ["still", "table"]
