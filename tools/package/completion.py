"""Completion for bash, zsh and fish as files: what the program prints for an eval."""

from __future__ import annotations

from pathlib import Path

from app.cli.completion import SHELLS
from app.cli.completion_scripts import script


def write(folder: Path) -> None:
    """Put them into `folder` as raidbench.bash, raidbench.zsh, raidbench.fish."""
    folder.mkdir(parents=True, exist_ok=True)
    for shell in SHELLS:
        (folder / f"raidbench.{shell}").write_text(script(shell), "ascii")
