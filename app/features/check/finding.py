"""Results of a check: findings, unknown results, and the rules that report them. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from backends.model import Target
from backends.values import dataclass

if TYPE_CHECKING:
    from app.features.check.snapshot import SystemSnapshot


class Severity(StrEnum):
    """Severity of a finding, the least important first."""

    NOTE = "note"
    """A condition that is often intended."""
    WARN = "warn"
    """Costs performance now, or puts data or service at risk later."""
    FAULT = "fault"
    """Data or service is at risk now."""

    @property
    def rank(self) -> int:
        """Rank of the severity; 0 is the least important."""
        return tuple(Severity).index(self)


NOTE, WARN, FAULT = Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """A change that raidbench proposes to fix a finding."""

    target: Target
    """Device whose setting is changed."""
    key: str
    """Key of the setting."""
    value: str
    """Proposed value."""

    @property
    def text(self) -> str:
        """The setting and its proposed value."""
        return f"{self.key}={self.value}"

    @property
    def command(self) -> str:
        """The command that makes the change."""
        return f"raidbench set {self.target} {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that a rule found on a device or another part of the system."""

    where: str
    """Address of the affected target, or else the name of a device or filesystem."""
    message: str
    """The problem and its cost, in one or two sentences."""
    evidence: str
    """The tool output, setting or file that shows the problem."""
    do: str = ""
    """The fix, in words or as a command; "" if the fix is the staged change."""
    staged: ProposedChange | None = None
    """The change of a setting that fixes the problem; None if raidbench cannot make it."""
    setting: str = ""
    """Key of the setting of the target that the finding is about, without a proposed change; "" for none."""

    @property
    def fix(self) -> str:
        """The fix in one line: the command of the staged change, or else the text of `do`."""
        return self.staged.command if self.staged is not None else self.do


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownResult:
    """Result of a rule that cannot decide whether there is a problem, because a fact is not reported."""

    where: str
    """Address of a target, or else the name of a device or filesystem."""
    why: str
    """The fact that is not reported, as a clause."""


RuleOutput = Iterable[Finding | UnknownResult]
"""All results of a rule; empty if there is no problem or if the rule does not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of the check or of the advisor."""

    id: str
    """Name of the rule, as in `--ignore`, in JSON and as the key of advice."""
    severity: Severity
    """Severity of all findings of the rule."""
    what: str
    """What the rule reports, in one line."""
    source: str
    """Document or tool on which the rule is based."""
    look: Callable[[SystemSnapshot], RuleOutput] | None = None
    """Function that evaluates a snapshot; None for a rule of the advisor, which needs the results of a run."""


def rule(
    severity: Severity, id: str, summary: str, source: str
) -> Callable[[Callable[[SystemSnapshot], RuleOutput]], Rule]:
    """Return a decorator that turns a function into a rule. The module `rule_table` collects all rules."""
    return lambda look: Rule(id=id, severity=severity, what=summary, source=source, look=look)


_Outcome = TypeVar("_Outcome", Finding, UnknownResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult(Generic[_Outcome]):
    """A result together with the rule that reported it."""

    rule: Rule
    """The rule that reported the result."""
    outcome: _Outcome
    """A finding or an unknown result."""
