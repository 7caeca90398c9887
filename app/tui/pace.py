"""How often a running job is drawn anew: on a slow link only when the terminal has got what it was sent before.

After each drawing the terminal is asked whether it knows synchronized output, which most answer (DECRQM, mode 2026).
The answer comes when all that was sent before has arrived. A terminal that never answers is drawn to at the full rate.
"""

from __future__ import annotations

from collections.abc import Callable

QUESTION = "\x1b[?2026$p"
"""What Textual asks as well when it starts."""

LOST_S = 10.0
"""Seconds after which an answer does not come any more: whoever attached another terminal answers from then on."""

SHARE = 2.0
"""The time between two drawings, as a multiple of what one takes to arrive: keys have room between them."""


class LinkPace:
    """Times of asking and answering; `clock` in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._answers = False
        self._asked: float | None = None
        self._next = 0.0

    @property
    def answers(self) -> bool:
        """Whether the terminal has ever answered."""
        return self._answers

    def asked(self) -> None:
        """The question was sent behind a drawing."""
        self._asked = self._clock()

    def answered(self) -> None:
        """The answer has come."""
        self._answers = True
        if self._asked is not None:
            self._next = self._asked + SHARE * (self._clock() - self._asked)
            self._asked = None

    def wait(self) -> float:
        """Seconds to wait before the next drawing, as far as is known now; 0 for none."""
        now = self._clock()
        if self._asked is not None:
            return max(0.05, SHARE * (now - self._asked)) if now - self._asked < LOST_S else 0.0
        return max(0.0, self._next - now)
