"""Recordings of vendor tools beside the project, where there are any; none of them is part of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.recordings import SAMPLES, text_of

__all__ = ["FOLDERS", "SAMPLES", "commands", "recordings", "text_of", "tool_of"]

FOLDERS = ("lsi/storcli", "lsi/storcli2", "dell/perccli")
"""What storcli and perccli have said."""


def recordings() -> list[Path]:
    """Every recording of storcli and perccli, sorted."""
    return sorted(path for folder in FOLDERS for path in (SAMPLES / folder).glob("*") if path.is_file())


def tool_of(path: Path, commands: Mapping[str, str]) -> str:
    """The tool that made it: by the folder, and by the command where it is known."""
    command = commands.get(str(path.relative_to(SAMPLES)), "")
    name = command.split()[0].rsplit("/", 1)[-1] if command else path.parent.name
    plain = name.removesuffix(".exe").removesuffix("64")
    return plain if plain in ("storcli", "storcli2", "perccli", "perccli2") else path.parent.name


def commands() -> dict[str, str]:
    """The command of each recording, from the index beside them."""
    index = SAMPLES / "INDEX.tsv"
    if not index.is_file():
        return {}
    rows = [line.split("\t") for line in index.read_text(errors="replace").splitlines()[1:]]
    return {row[0]: row[1] for row in rows if len(row) > 1}
