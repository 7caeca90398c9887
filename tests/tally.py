"""How often a promise was tried, and what did not hold: for checks that a test and `make trust` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MOST_NOTES = 12
"""What did not hold is told so many times; all of it is counted."""


@dataclass(slots=True)
class Tally:
    """Tries of one promise."""

    tried: int = 0
    failed: int = 0
    notes: list[str] = field(default_factory=list)
    """What did not hold, a line each."""
    untried: list[str] = field(default_factory=list)
    """Why something was not tried, a line each: that is no failure, and no try either."""

    def expect(self, held: bool, note: str) -> None:
        """One try."""
        self.tried += 1
        if not held:
            self.fail(note)

    def fail(self, note: str) -> None:
        """One of the tries did not hold."""
        self.failed += 1
        if len(self.notes) < MOST_NOTES:
            self.notes.append(" ".join(note.split())[:400])

    def leave(self, why: str) -> None:
        """Something was not tried."""
        line = " ".join(why.split())[:400]
        if line not in self.untried:
            self.untried.append(line)

    @contextmanager
    def attempt(self, note: str) -> Iterator[None]:
        """One try, which an exception in it makes a failure: an assertion as well as a surprise."""
        self.tried += 1
        try:
            yield
        except Exception as error:
            self.fail(f"{note}: {type(error).__name__}: {error}")

    def add(self, other: Tally) -> None:
        """What another check of the same promise found."""
        self.tried += other.tried
        self.failed += other.failed
        self.notes = [*self.notes, *other.notes][:MOST_NOTES]
        for why in other.untried:
            self.leave(why)
