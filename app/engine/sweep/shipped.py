"""The plans that come with raidbench, by name."""

from __future__ import annotations

from pathlib import Path

_APP = Path(__file__).resolve().parents[2]
FOLDERS = (_APP / "plans", _APP.parent / "plans")
"""Where they lie when installed, and in the sources."""


def shipped() -> dict[str, Path]:
    """The plans that come with raidbench by name."""
    found: dict[str, Path] = {}
    for folder in FOLDERS:
        for file in sorted(folder.glob("*.toml")):
            found.setdefault(file.stem, file)
    return found
