"""Decide whether a run of all steps passes: which failures are repeated, and which of them may be flaky."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from tests.ci.known import Entry
from tests.ci.safety import safety_subject
from tests.ci.sessions import Failure, Outcomes
from tests.ci.steps import SKIPPED, Step

MOST_REPEATED = 10
"""With more failures than this in all steps nothing is repeated: that is no accident of timing."""
MOST_UNLISTED = 2
"""The number of flaky tests that may be missing from the list."""

Repeat = Callable[[Step, Failure], str]
"""Run one test again, alone. Return "" if it passed, else the reason why it did not."""
Confirm = Callable[[Step], str]
"""Check a step whose failed tests have all passed. Return "" or the reason why the step fails."""


@dataclass(frozen=True)
class Flaky:
    """A test that failed and then passed alone."""

    step: Step
    failure: Failure
    entry: Entry | None
    """Its entry in the list, unless that is missing or expired."""


@dataclass(frozen=True)
class Failed:
    """A failure that counts."""

    step: Step
    reason: str
    failure: Failure | None = None
    """None for a failure that is no test."""


@dataclass
class Verdict:
    """The result of a run."""

    flaky: list[Flaky] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)

    @property
    def unlisted(self) -> list[str]:
        """Return the flaky tests that are not listed, each once however many steps it failed in."""
        return list(dict.fromkeys(each.failure.test for each in self.flaky if each.entry is None))

    @property
    def has_too_many_unlisted(self) -> bool:
        """Return whether more tests are flaky than a run may have."""
        return len(self.unlisted) > MOST_UNLISTED

    @property
    def passes(self) -> bool:
        """Return whether the run passes."""
        return not self.failed and not self.has_too_many_unlisted


def decide(
    ran: Iterable[tuple[Step, Outcomes]], entries: Sequence[Entry], today: date, repeat: Repeat, confirm: Confirm
) -> Verdict:
    """Return the verdict on all steps. Calls `repeat` at most once for each failed test of a step."""
    verdict = Verdict()
    failing = [(step, outcomes) for step, outcomes in ran if step.status not in (0, SKIPPED)]
    too_many = sum(len(outcomes.failures) for _, outcomes in failing) > MOST_REPEATED
    for step, outcomes in failing:
        verdict.failed += [Failed(step, reason) for reason in outcomes.broken]
        if not outcomes.broken and not outcomes.failures:
            verdict.failed.append(Failed(step, f"exit status {step.status}, and no test failed"))
        for failure in outcomes.failures:
            reason = "not repeated: too many tests failed" if too_many else _reason(step, failure, repeat)
            if reason:
                verdict.failed.append(Failed(step, reason, failure))
            else:
                verdict.flaky.append(Flaky(step, failure, _entry_of(failure.test, entries, today)))
        if not any(each.step == step for each in verdict.failed) and (reason := confirm(step)):
            verdict.failed.append(Failed(step, reason))
    return verdict


def _reason(step: Step, failure: Failure, repeat: Repeat) -> str:
    """Return why this failure counts, or "" if it passed alone."""
    if failure.safety:
        return "not repeated: it has the marker safety"
    if subject := safety_subject(failure.test):
        return f"not repeated: a test of {subject}"
    return repeat(step, failure)


def _entry_of(test: str, entries: Iterable[Entry], today: date) -> Entry | None:
    return next((entry for entry in entries if entry.covers(test) and not entry.is_expired(today)), None)
