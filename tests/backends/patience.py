"""How long a hostile text may take: processor time, so that a busy machine is no failure."""

from __future__ import annotations

from typing import Final

PATIENCE: Final = 20.0
"""Seconds of processor time for some 300,000 characters: in order they take one, by their square many minutes."""
