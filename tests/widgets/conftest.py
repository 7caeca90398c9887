"""What holds for every test of a widget."""

from __future__ import annotations

from tests.styles import styles_parsed_once

__all__ = ["styles_parsed_once"]
