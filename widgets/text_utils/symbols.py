"""Symbols with one meaning each, in Unicode and ASCII."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Symbol:
    """Character with a meaning."""

    char: str
    """Unicode character."""
    ascii: str
    """ASCII character."""
    meaning: str
    """Description in the legend."""

    def shown(self, *, ascii: bool) -> str:
        """Return the character that the terminal can show."""
        return self.ascii if ascii else self.char


WELL: Final = Symbol("●", "o", "well: optimal, online, verified, finished")
BUSY: Final = Symbol("◐", "~", "busy: running, rebuilding, initialising")
ATTENTION: Final = Symbol("▲", "!", "wants a look")
FAILED: Final = Symbol("✖", "X", "failed, missing, offline")
UNUSED: Final = Symbol("○", "-", "not in use")
SPARE: Final = Symbol("◇", "s", "spare")
UNKNOWN: Final = Symbol("?", "?", "not known, not decided")
CLOSED: Final = Symbol("▸", "+", "closed: Enter opens it")
OPENED: Final = Symbol("▾", "v", "open: Enter closes it")
CURSOR: Final = Symbol(">", ">", "the row under the cursor")
MARKED: Final = Symbol("*", "*", "marked")
CHANGED: Final = Symbol("◆", "#", "a setting was changed at that moment")
STEADY: Final = Symbol("≈", "[", "measured from that moment on")
MORE: Final = Symbol("↑", "^", "shown to be more: faster, or a higher latency")
LESS: Final = Symbol("↓", "_", "shown to be less: slower, or a lower latency")
SAME: Final = Symbol("=", "=", "shown to make no difference")
KNEE: Final = Symbol("△", "A", "what was looked for: the knee of a curve, the least depth that is enough")
BASELINE: Final = Symbol("◎", "@", "the baseline, to which others are held")

SIGNS: Final = (
    *(WELL, BUSY, ATTENTION, FAILED, UNUSED, SPARE, UNKNOWN, CLOSED, OPENED, CURSOR, MARKED),
    *(CHANGED, STEADY, MORE, LESS, SAME, KNEE, BASELINE),
)
"""All symbols in the order of the legend."""
