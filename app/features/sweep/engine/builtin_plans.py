"""The built-in sweep plans by name."""

from __future__ import annotations

from pathlib import Path

_APP = Path(__file__).resolve().parents[3]
FOLDERS = (_APP / "plans", _APP.parent / "plans")
"""Folders of the built-in plans: first that of the installed package, then that of the source tree."""


EARLIER = {
    "9280-raid5": "articles-a",
    "write-mostly": "articles-c",
    "iodrive": "articles-d",
    "9361-levels": "articles-e",
    "ds4700-cache": "articles-f-ds4700",
    "5805-strips": "articles-f-5805",
}
"""Present name of each renamed built-in plan, by its former name."""


def plan_files() -> dict[str, Path]:
    """Return the files of the built-in plans by name."""
    matches: dict[str, Path] = {}
    for folder in FOLDERS:
        for file in sorted(folder.glob("*.toml")):
            matches.setdefault(file.stem, file)
    return matches
