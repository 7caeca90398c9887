"""One row: a promise, how it is tried, and the mark it has to reach."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tests.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A promise. It is tried by a check, by tests of the suite, or by both."""

    number: str
    """`T5`, `A1`."""
    what: str
    """What is tried, in a sentence."""
    mark: str
    """What must hold, in words."""
    least: int
    """How many tries the mark asks for; none of them may fail."""
    check: str = ""
    """`module:function` that takes a folder, a number of tries and a seed, and returns a Tally."""
    count: int = 1
    """Tries that the check is asked for."""
    quick: int = 1
    """Tries in the short cut; 0 where the check has no short form and is not tried there."""
    tests: tuple[str, ...] = ()
    """Tests of the suite, as pytest names them; all of them must run and pass."""
    lab: tuple[str, ...] = ()
    """Files of the laboratory that try the same on real drivers: not part of this run."""
    minutes: float = 0.1
    """How long it takes: the longest are begun first."""

    @property
    def there(self) -> bool:
        """Whether anything tries it yet."""
        return bool(self.check or self.tests)


class Standing(StrEnum):
    """Where a row stands. Only the first is a mark that was reached."""

    HELD = "yes"
    """Tried as often as the mark asks, and nothing failed."""
    PARTLY = "in part"
    """What was tried held; something of the row was not tried, or it was the short cut."""
    UNTRIED = "not tried"
    """Nothing was tried: nothing is known."""
    BELOW = "**no**"
    """Something failed, or it was tried less often than the mark asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a row."""

    row: Row
    tally: Tally
    seconds: float
    """By the clock, with whatever else ran meanwhile."""
    quick: bool = False

    @property
    def standing(self) -> Standing:
        """A short cut never reaches a mark."""
        if self.tally.failed:
            return Standing.BELOW
        if not self.tally.tried:
            return Standing.UNTRIED
        if self.quick or self.tally.untried:
            return Standing.PARTLY
        return Standing.HELD if self.tally.tried >= self.row.least else Standing.BELOW

    @property
    def why(self) -> str:
        """What the row lacks, in words."""
        if self.tally.untried:
            return "; ".join(self.tally.untried)
        return "the rest, in the short cut" if self.tally.tried else "nothing was tried, and nothing said why"
