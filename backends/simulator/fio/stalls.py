"""When a simulated device answers nothing, and what becomes of the requests in flight meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

Window = tuple[float, float]
"""Seconds of fio: from when to when nothing is answered."""

_PERIOD = 1.0
"""Seconds from one pause of an uneven device to the next, on average."""


class Stalls:
    """The pauses of one run, in their order."""

    def __init__(self, windows: Iterable[Window] = (), *, pace: float = 1.0) -> None:
        """`pace`: how many times as fast as on average the device is between them."""
        self.pace = pace
        """The same."""
        self._coming = iter(windows)
        self._next = next(self._coming, None)

    def answered_share(self, begin: float, end: float) -> tuple[float, list[float]]:
        """Return the share of the seconds from `begin` to `end` that is answered, and the lengths of pauses that end.

        Asked for one interval after the other.
        """
        still, over = 0.0, []
        while self._next is not None and self._next[0] < end:
            first, last = self._next
            still += max(0.0, min(last, end) - max(first, begin))
            if last > end:
                break
            over.append(last - first)
            self._next = next(self._coming, None)
        return (1.0 - still / (end - begin) if end > begin else 1.0), over


def uneven_stalls(pace: float, chance: random.Random) -> Stalls:
    """Return the pauses of a device that works `pace` times as fast as on average, and then not at all."""
    return Stalls(_pauses(pace, chance), pace=pace)


def _pauses(pace: float, chance: random.Random) -> Iterator[Window]:
    # Each round is even by itself, however long it is: what is done in all is what the mean says.
    at = 0.0
    while True:
        whole = _PERIOD * chance.uniform(0.7, 1.3)
        yield at + whole / pace, at + whole
        at += whole
