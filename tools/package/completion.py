"""Completion files for bash, zsh and fish, the same scripts that the program prints."""

from __future__ import annotations

from pathlib import Path

from app.cli.completion import SHELLS
from app.cli.completion_scripts import script


def write(folder: Path) -> None:
    """Write raidbench.bash, raidbench.zsh and raidbench.fish to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for shell in SHELLS:
        (folder / f"raidbench.{shell}").write_text(script(shell), "ascii")
