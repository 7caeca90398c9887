"""What a look at a machine may say: a finding, that something is not known, and the rule that says so. Values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from app.core.presentation.attention_list import ProposedChange
from backends.values import dataclass

if TYPE_CHECKING:
    from app.features.check.snapshot import SystemSnapshot


class Severity(StrEnum):
    """How much a finding matters, the least first."""

    NOTE = "note"
    """Worth knowing; often meant so."""
    WARN = "warn"
    """Costs speed, or will cost safety."""
    FAULT = "fault"
    """Data or service is at risk."""

    @property
    def rank(self) -> int:
        """Its place among them, 0 the least."""
        return tuple(Severity).index(self)


NOTE, WARN, FAULT = Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, at one place."""

    where: str
    """The address of a target, else a device's or a filesystem's name."""
    message: str
    """One sentence: what is so, and what it costs."""
    evidence: str
    """The very answer, setting or file that says so."""
    do: str = ""
    """The fix in words or as a command; "" if it is the staged change."""
    staged: ProposedChange | None = None
    """The change that fixes it, if raidbench can make it."""

    @property
    def fix(self) -> str:
        """Return the fix as one line."""
        return self.staged.command if self.staged is not None else self.do


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownResult:
    """What a rule cannot judge, because nothing tells it: neither a fault nor fine."""

    where: str
    """As of a finding."""
    why: str
    """What is not told, a clause."""


RuleOutput = Iterable[Finding | UnknownResult]
"""All that a rule reports; nothing if all is well or if the rule does not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the table of rules."""

    id: str
    """Its name: in `--ignore`, in JSON and as the key of advice."""
    severity: Severity
    """That of each of its findings."""
    what: str
    """What it is about, in one line."""
    source: str
    """Who says that it matters."""
    look: Callable[[SystemSnapshot], RuleOutput] | None = None
    """Judges a machine at rest; None where a run has to be looked at (the advisor's)."""


def rule(
    severity: Severity, id: str, summary: str, source: str
) -> Callable[[Callable[[SystemSnapshot], RuleOutput]], Rule]:
    """Return a decorator that makes a rule of the function below it; `rule_table` collects the rules."""
    return lambda look: Rule(id=id, severity=severity, what=summary, source=source, look=look)


_Outcome = TypeVar("_Outcome", Finding, UnknownResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult(Generic[_Outcome]):
    """What a rule reports, with the rule."""

    rule: Rule
    """The rule."""
    outcome: _Outcome
    """A finding, or what the rule cannot judge."""
