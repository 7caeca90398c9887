"""Characters that the interface uses as signs. Each has one meaning, and a Unicode and an ASCII form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Symbol:
    """A character that the interface uses as a sign, with the text that explains it."""

    char: str
    """Unicode form."""
    ascii: str
    """ASCII form."""
    meaning: str
    """Text that explains the sign in the legend."""

    def shown(self, *, ascii: bool) -> str:
        """Return the form that the terminal can show."""
        return self.ascii if ascii else self.char


WELL: Final = Symbol("●", "o", "healthy: optimal, online, verified, finished")
BUSY: Final = Symbol("◐", "~", "busy: running, rebuilding, initialising")
ATTENTION: Final = Symbol("▲", "!", "needs attention")
FAILED: Final = Symbol("✖", "X", "failed, missing, offline")
UNUSED: Final = Symbol("○", "-", "not in use")
SPARE: Final = Symbol("◇", "s", "spare")
UNKNOWN: Final = Symbol("?", "?", "unknown or undecided")
CLOSED: Final = Symbol("▸", "+", "closed: Enter opens it")
OPENED: Final = Symbol("▾", "v", "open: Enter closes it")
CURSOR: Final = Symbol(">", ">", "the row under the cursor")
MARKED: Final = Symbol("*", "*", "marked")
CHANGED: Final = Symbol("◆", "#", "a setting was changed here")
STEADY: Final = Symbol("≈", "[", "the measurement starts here")
MORE: Final = Symbol("↑", "^", "significantly higher (better for IOPS and throughput, worse for latency)")
LESS: Final = Symbol("↓", "_", "significantly lower (worse for IOPS and throughput, better for latency)")
SAME: Final = Symbol("=", "=", "no difference that matters")
KNEE: Final = Symbol("△", "A", "result of a sweep: knee of a curve, lowest depth that is enough")
BASELINE: Final = Symbol("◎", "@", "the baseline, with which others are compared")

SIGNS: Final = (
    *(WELL, BUSY, ATTENTION, FAILED, UNUSED, SPARE, UNKNOWN, CLOSED, OPENED, CURSOR, MARKED),
    *(CHANGED, STEADY, MORE, LESS, SAME, KNEE, BASELINE),
)
"""All symbols, in the order of the legend."""
