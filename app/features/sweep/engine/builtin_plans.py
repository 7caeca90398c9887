"""The plans that come with raidbench, by name."""

from __future__ import annotations

from pathlib import Path

_APP = Path(__file__).resolve().parents[3]
FOLDERS = (_APP / "plans", _APP.parent / "plans")
"""Where they lie when installed, and in the sources."""


EARLIER = {
    "9280-raid5": "articles-a",
    "write-mostly": "articles-c",
    "iodrive": "articles-d",
    "9361-levels": "articles-e",
    "ds4700-cache": "articles-f-ds4700",
    "5805-strips": "articles-f-5805",
}
"""What some of them were called before, to what they are called now."""


def plan_files() -> dict[str, Path]:
    """The plans that come with raidbench by name."""
    matches: dict[str, Path] = {}
    for folder in FOLDERS:
        for file in sorted(folder.glob("*.toml")):
            matches.setdefault(file.stem, file)
    return matches
