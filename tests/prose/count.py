"""The rate of unclear phrases in each kind of prose, and its ceiling."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.prose.phrases import hits, words
from tests.prose.pieces import KINDS, ROOT, Piece, pieces_of, tracked_files

CEILINGS = Path(__file__).with_name("ceilings.toml")


@dataclass(slots=True)
class Count:
    """The words of one kind of prose, and its unclear phrases: each with its place and the better wording."""

    words: int = 0
    hits: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Return the number of unclear phrases per 1,000 words."""
        return 1000 * len(self.hits) / self.words if self.words else 0.0


def count(pieces: Iterable[Piece]) -> dict[str, Count]:
    """Return the count of each kind of prose, for all kinds."""
    counts = {kind: Count() for kind in KINDS}
    for piece in pieces:
        counts[piece.kind].words += words(piece.text)
        counts[piece.kind].hits += [
            f'{piece.path}:{piece.line}: "{phrase}" (write: {entry.instead})' for phrase, entry in hits(piece.text)
        ]
    return counts


def count_project() -> dict[str, Count]:
    """Return the count of each kind of prose over the files of the project."""
    return count(
        piece for path in tracked_files() for piece in pieces_of(path, (ROOT / path).read_text(encoding="utf-8"))
    )


def ceilings() -> dict[str, float]:
    """Return the recorded ceiling of each kind, in unclear phrases per 1,000 words."""
    return {kind: float(rate) for kind, rate in tomllib.loads(CEILINGS.read_text(encoding="utf-8")).items()}


def excesses(counts: Mapping[str, Count], limits: Mapping[str, float]) -> list[str]:
    """Return a sentence for each kind whose rate, rounded to a tenth, is above its ceiling."""
    return [
        f"{kind}: {counts[kind].rate:.1f} unclear phrases per 1,000 words; the ceiling is {limits[kind]:.1f}"
        for kind in KINDS
        if round(counts[kind].rate, 1) > limits[kind]
    ]
