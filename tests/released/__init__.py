"""Files that released versions wrote. Every later version reads them; `record` makes those of a new version."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
VERSIONS = tuple(sorted(path.name for path in FOLDER.iterdir() if path.name[:1].isdecimal()))
"""The released versions whose files are kept, oldest first."""

RACK = "lsi"
"""The simulated host of the recordings."""
