"""One row: a promise, how it is tried, and the mark it has to reach."""

from __future__ import annotations

from dataclasses import dataclass

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
    """Tries in the short cut; 0 where the check has no short form."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a row."""

    row: Row
    tally: Tally
    seconds: float
    """By the clock, with whatever else ran meanwhile."""
    quick: bool = False

    @property
    def held(self) -> bool:
        """Whether the row is at its mark. A short cut has to hold in what it tried."""
        return self.tally.failed == 0 and self.tally.tried >= (0 if self.quick else self.row.least)
