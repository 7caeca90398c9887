"""Results of a check: findings, unknown results, and the rules that report them. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from app.core.presentation.attention_list import ProposedChange
from backends.values import dataclass

if TYPE_CHECKING:
    from app.features.check.snapshot import SystemSnapshot


class Severity(StrEnum):
    """How much a finding matters, least important first."""

    NOTE = "note"
    """Worth knowing, and often intended."""
    WARN = "warn"
    """Costs performance, or will cost safety."""
    FAULT = "fault"
    """Data or service is at risk."""

    @property
    def rank(self) -> int:
        """Its rank; 0 is the least important."""
        return tuple(Severity).index(self)


NOTE, WARN, FAULT = Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem on one device or part of the system."""

    where: str
    """Address of a target, or else the name of a device or filesystem."""
    message: str
    """One sentence: the problem and its cost."""
    evidence: str
    """The tool output, setting or file that shows the problem."""
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
    """A question that a rule cannot answer, because the fact is not reported: neither a fault nor fine."""

    where: str
    """Address of a target, or else the name of a device or filesystem."""
    why: str
    """Which fact is not reported, as a clause."""


RuleOutput = Iterable[Finding | UnknownResult]
"""Everything that a rule reports; nothing if all is well or if the rule does not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the table of rules."""

    id: str
    """Its name: in `--ignore`, in JSON and as the key of advice."""
    severity: Severity
    """Severity of all its findings."""
    what: str
    """A summary in one line."""
    source: str
    """Source that says that it matters."""
    look: Callable[[SystemSnapshot], RuleOutput] | None = None
    """Judges a machine at rest; None for a rule of the advisor that needs a run."""


def rule(
    severity: Severity, id: str, summary: str, source: str
) -> Callable[[Callable[[SystemSnapshot], RuleOutput]], Rule]:
    """Return a decorator that makes a rule of a function; `rule_table` collects the rules."""
    return lambda look: Rule(id=id, severity=severity, what=summary, source=source, look=look)


_Outcome = TypeVar("_Outcome", Finding, UnknownResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult(Generic[_Outcome]):
    """A result with its rule."""

    rule: Rule
    """The rule."""
    outcome: _Outcome
    """A finding or an unknown result."""
