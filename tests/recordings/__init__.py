"""Recordings of real tools beside the project, where they are at hand; none of them is part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
"""Folder of recordings; may be missing."""

Check = Callable[[Path], None]
"""Asserts of one recording that what is read is what it says."""

CHECKS: list[tuple[Check, tuple[str, ...], tuple[str, ...]]] = []
"""Each check with the globs of its recordings, and words of which a name must hold one."""


def checks(*globs: str, named: Iterable[str] = ("",)) -> Callable[[Check], Check]:
    """Register a check of all recordings that one of the globs finds, `named` so."""

    def register(check: Check) -> Check:
        CHECKS.append((check, globs, tuple(named)))
        return check

    return register


def text_of(path: Path) -> str:
    """As a host would have read it."""
    return path.read_bytes().decode("utf-8", "replace")


def found_by(globs: tuple[str, ...], named: tuple[str, ...]) -> list[Path]:
    """The recordings of a check."""
    found = {path for glob in globs for path in SAMPLES.glob(glob) if path.is_file()}
    return sorted(path for path in found if any(word in path.name for word in named))
