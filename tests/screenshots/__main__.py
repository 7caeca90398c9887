"""`python -m tests.screenshots [--only NAME] [FOLDER]`: draws the pictures anew."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.screenshots.clock import Clock, set_clock
from tests.screenshots.story import LARGE, SMALL, large, opened, small


async def shoot(album: Path, wanted: frozenset[str]) -> None:
    """Play the stories that hold a wanted picture."""
    for names, story, size in ((LARGE, large, (120, 40)), (SMALL, small, (80, 24))):
        if not wanted & set(names):
            continue
        clock = Clock()
        with tempfile.TemporaryDirectory() as folder, set_clock(clock):
            async with opened(Path(folder), clock, album, wanted, size) as told:
                await story(told)


def main() -> int:
    """Draw what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description="Draws the pictures anew.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[2] / "screenshots")
    parser.add_argument("--only", action="append", choices=(*LARGE, *SMALL), help="this picture; may be repeated")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = frozenset(options.only or (*LARGE, *SMALL))
    asyncio.run(shoot(options.folder, wanted))
    for name in sorted(wanted):
        print(options.folder / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
