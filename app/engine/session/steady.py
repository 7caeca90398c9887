"""What is asked for about the steady state: a value that events carry."""

from __future__ import annotations

from backends.errors import InvalidValueError
from backends.values import dataclass
from widgets.plain import units

WINDOW = 5
"""Rounds of the measurement window."""

ROUND_S = 10
"""Seconds of a round."""

CAP_S = 1800
"""Seconds to wait at most."""

_LONGEST_S = 7 * 86400
_SPARE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyPlan:
    """What to do about the steady state of a run."""

    until: bool = False
    """Measuring starts when the rule holds, or at the cap."""
    cap_s: int = CAP_S
    """Seconds to wait for that, at most; by fio's clock."""
    end_early: bool = False
    """The run ends as soon as the rule holds over what is measured."""
    round_s: int = ROUND_S
    """Seconds of a round; SNIA's are of a minute, shorter than ten a garbage collection may fill one of."""
    window: int = WINDOW
    """Rounds that are judged together."""

    def checked(self) -> SteadyPlan:
        """Itself. Raises InvalidValueError for what makes no sense, such as a cap within which no window fits."""
        if not 1 <= self.round_s <= 3600:
            raise InvalidValueError(f"A round of {self.round_s} s: between 1 second and an hour")
        if not 3 <= self.window <= 25:
            raise InvalidValueError(f"A window of {self.window} rounds: 3 to 25")
        if not 1 <= self.cap_s <= _LONGEST_S:
            raise InvalidValueError("The wait for the steady state is between 1 second and 7 days")
        if self.until and self.cap_s < self.round_s * self.window:
            raise InvalidValueError(
                f"{self.cap_s} s are too short to see a steady state: {self.window} rounds of {self.round_s} s take"
                f" {self.round_s * self.window} s",
                hint="Allow more time, or make the rounds shorter.",
            )
        return self

    def fio_seconds(self, runtime: int) -> int:
        """The run time fio is given: it is interrupted when all of `runtime` was measured, wherever that began."""
        return runtime + self.cap_s + _SPARE_S if self.until else runtime

    def describe(self) -> str:
        """A clause for a job's line, "" if nothing is asked for."""
        parts = []
        if self.until:
            parts.append(f"once steady, or after {units.duration(self.cap_s)}")
        if self.end_early:
            parts.append("ends when steady")
        return ", ".join(parts)
