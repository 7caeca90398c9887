"""The signs, each for one thing: as they are drawn, and where only ASCII can be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Sign:
    """A character with a meaning."""

    char: str
    """As it is drawn."""
    ascii: str
    """Its twin."""
    meaning: str
    """A few words for the legend."""

    def shown(self, *, ascii: bool) -> str:
        """As a terminal can show it."""
        return self.ascii if ascii else self.char


WELL: Final = Sign("●", "o", "well: optimal, online, verified, finished")
BUSY: Final = Sign("◐", "~", "busy: running, rebuilding, initialising")
ATTENTION: Final = Sign("▲", "!", "wants a look")
FAILED: Final = Sign("✖", "X", "failed, missing, offline")
UNUSED: Final = Sign("○", "-", "not in use")
SPARE: Final = Sign("◇", "s", "spare")
UNKNOWN: Final = Sign("?", "?", "not known, not decided")
CLOSED: Final = Sign("▸", "+", "closed: Enter opens it")
OPENED: Final = Sign("▾", "v", "open: Enter closes it")
CURSOR: Final = Sign(">", ">", "the row under the cursor")
MARKED: Final = Sign("*", "*", "marked")
CHANGED: Final = Sign("◆", "#", "a setting was changed at that moment")
STEADY: Final = Sign("≈", "[", "measured from that moment on")
MORE: Final = Sign("↑", "^", "shown to be more: faster, or a higher latency")
LESS: Final = Sign("↓", "_", "shown to be less: slower, or a lower latency")
SAME: Final = Sign("=", "=", "shown to make no difference")
KNEE: Final = Sign("△", "A", "what was looked for: the knee of a curve, the least depth that is enough")
BASELINE: Final = Sign("◎", "@", "the baseline, to which others are held")

SIGNS: Final = (
    *(WELL, BUSY, ATTENTION, FAILED, UNUSED, SPARE, UNKNOWN, CLOSED, OPENED, CURSOR, MARKED),
    *(CHANGED, STEADY, MORE, LESS, SAME, KNEE, BASELINE),
)
"""All of them, in the order of the legend."""
