"""Waiting until what is measured has settled: what was asked for, and the rounds of a run as they come. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from app.engine.session.figures import Sample, SteadyFigures
from app.engine.session.steadiness import WINDOW, steadiness
from backends.errors import InvalidValueError
from widgets.plain import units

ROUND_S = 10
"""Seconds of a round."""

CAP_S = 1800
"""Seconds to wait at most."""

_LONGEST_S = 7 * 86400
_SPARE_S = 30
_HALF_A_SAMPLE = 0.13


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

    @property
    def wait_s(self) -> int:
        """Seconds by which the run may be longer than its job says."""
        return self.cap_s if self.until else 0

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


class SteadyWatch:
    """Feed it the samples of one phase in turn; it makes rounds of them and judges the last window.

    What is tracked are IOPS of both directions together. A round ends with the sample that fills it, so rounds
    differ in length by less than a sample; each is divided by its own.
    """

    def __init__(self, plan: SteadyPlan) -> None:
        self._plan = plan
        self._rounds: list[float] = []
        self._ios = 0
        self._held = 0.0

    def take(self, sample: Sample) -> bool:
        """Whether this sample ended a round."""
        self._ios += sum(direction.ios for direction in (sample.read, sample.write) if direction is not None)
        self._held += sample.seconds
        if self._held < self._plan.round_s - _HALF_A_SAMPLE:
            return False
        self._rounds.append(self._ios / self._held)
        self._ios, self._held = 0, 0.0
        return True

    @property
    def steady(self) -> bool:
        """Whether the rule holds over the last window."""
        return steadiness(self._rounds, window=self._plan.window).steady

    def seen(self) -> SteadyFigures:
        """How it looks after the last round."""
        judged = steadiness(self._rounds, window=self._plan.window)
        return SteadyFigures(
            attained=judged.steady,
            range_share=judged.range_share,
            slope_share=judged.slope_share,
            rounds=len(self._rounds),
            window=self._plan.window,
            round_s=self._plan.round_s,
        )


def steady_words(seen: SteadyFigures) -> str:
    """`steady: no, range 31 %, slope 12 % (round 7)`; `steady: round 3 of 5` before there is a window."""
    if seen.rounds < seen.window:
        return f"steady: round {seen.rounds} of {seen.window}"
    said = f"steady: {'yes' if seen.attained else 'no'}"
    if seen.range_share is None or seen.slope_share is None:
        return f"{said}, no I/O (round {seen.rounds})"
    limits = f"range {units.fraction(seen.range_share)}, slope {units.fraction(seen.slope_share)}"
    return f"{said}, {limits} (round {seen.rounds})"


def outcome_words(seen: SteadyFigures) -> str:
    """How a finished run stood to the rule: a clause."""
    limits = ""
    if seen.range_share is not None and seen.slope_share is not None:
        limits = f" (range {units.fraction(seen.range_share)}, slope {units.fraction(seen.slope_share)})"
    said = "steady" if seen.attained else "NOT STEADY"
    if seen.ended_early:
        return f"{said}, so ended early{limits}"
    if seen.capped:
        return f"{said} after {units.duration(seen.waited_s)} of waiting, measured anyway{limits}"
    if seen.waited_s:
        return f"{said} after {units.duration(seen.waited_s)}, then measured{limits}"
    return f"{said}{limits}"
