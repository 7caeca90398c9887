"""`python -m tests.screenshots [--only NAME] [FOLDER]`: draws the pictures anew."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.screenshots.drawing import save
from tests.screenshots.stage import fill, rack
from tests.screenshots.story import NAMES, SIZE, UNMEASURED, tell


class EnoughError(Exception):
    """All pictures that are wanted are there."""


def shoot(album: Path, wanted: set[str]) -> None:
    """Play the story until the last of the wanted pictures."""
    left = set(wanted)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if not left <= UNMEASURED:
            fill(Path(folder))
        _play(Path(folder), album, left)


def _play(folder: Path, album: Path, left: set[str]) -> None:
    with rack(folder, SIZE) as shown:

        def taken(name: str, title: str) -> None:
            if name in left:
                save(shown.screen, album, name, title)
                left.remove(name)
            if not left:
                raise EnoughError

        try:
            tell(shown, taken)
        except EnoughError:
            return
    raise AssertionError(f"these were never shown: {', '.join(sorted(left))}")


def main() -> int:
    """Draw what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description="Draws the pictures anew.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[2] / "screenshots")
    parser.add_argument("--only", action="append", choices=NAMES, help="this picture; may be repeated")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = set(options.only or NAMES)
    shoot(options.folder, wanted)
    for name in sorted(wanted):
        print(options.folder / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
