"""Rows of the list of findings, of this machine or of another host. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from app.core.presentation.finding_counts import SEVERITIES
from app.core.presentation.table import Cell, Column, FactLine, Facts, StatusSymbol, Tone
from app.features.check.finding import Finding, ProposedChange, RuleResult, Severity
from app.features.check.presentation import TONES, finding_lines
from app.features.check.runner import CheckResult
from backends.model import Problem
from backends.values import dataclass

MARKS: Mapping[Severity, StatusSymbol | None] = MappingProxyType(
    {Severity.FAULT: StatusSymbol.FAILED, Severity.WARN: StatusSymbol.ATTENTION, Severity.NOTE: None}
)
"""Sign of each severity."""

COLUMNS = (
    Column(key="severity", title="Severity "),  # as wide as `▲ warning`
    Column(key="object", title="Object", shrinks=True, most=24),
    Column(key="finding", title="Finding", shrinks=True),
    Column(key="fix", title="Fix", priority=1),
)
"""Columns of the list."""

REPORT = "report"
"""Word in place of the severity for a message of a tool or a backend, which is not a finding."""

_SENTENCE = re.compile(r"^.+?[.!?](?=\s+[A-Z]|\s*$)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingEntry:
    """A finding as the list shows it, or a message of a tool or a backend."""

    severity: Severity | None
    """Severity of the finding; None for a message of a tool or a backend."""
    where: str
    """Address of the affected target, or else the name of a device, a filesystem or a tool."""
    message: str
    """The finding and its cost, in one or two sentences."""
    lines: tuple[tuple[str, str], ...] = ()
    """The lines that follow the message, each with its label: the evidence and the fix."""
    rule: str = ""
    """Name of the rule; "" for a message of a tool or a backend."""
    device: str = ""
    """Address of the device or key of the row at which the finding is shown; "" for none."""
    staged: ProposedChange | None = None
    """The change that fixes the finding; None if raidbench cannot make it on this machine."""
    fix: str = ""
    """The setting and the value that fix the finding, such as `scheduler=none`; "" if a setting cannot fix it."""
    setting: tuple[str, str] | None = None
    """Target and key of the setting that the finding is about; None if it is about none."""

    @property
    def summary(self) -> str:
        """The first sentence of the message."""
        match = _SENTENCE.match(self.message)
        return self.message if match is None else match[0]

    @property
    def cells(self) -> tuple[str | Cell, ...]:
        """The cells of the row, in the order of `COLUMNS`."""
        severity = (
            Cell(REPORT, Tone.DIM)
            if self.severity is None
            else Cell(SEVERITIES[self.severity.value], TONES[self.severity], MARKS[self.severity])
        )
        return severity, self.where, self.summary, self.fix

    @property
    def facts(self) -> tuple[Facts, ...]:
        """The message in full, the evidence, the fix and the rule."""
        rule = (FactLine("rule", self.rule),) if self.rule else ()
        return (Facts(facts=(*self.fact_lines, *rule)),)

    @property
    def fact_lines(self) -> tuple[FactLine, ...]:
        """The message in full, the evidence and the fix."""
        word, tone = (REPORT, Tone.PLAIN) if self.severity is None else _heading(self.severity)
        return (FactLine(word, self.message, tone), *(FactLine(label, text) for label, text in self.lines))

    @property
    def search_text(self) -> str:
        """All words of the entry in lower case."""
        texts = (*(cell if isinstance(cell, str) else cell.text for cell in self.cells), self.message, self.rule)
        return " ".join((*texts, *(text for _, text in self.lines))).lower()


def _heading(severity: Severity) -> tuple[str, Tone]:
    return SEVERITIES[severity.value], TONES[severity]


def finding_entries(checked: CheckResult) -> tuple[FindingEntry, ...]:
    """Return the findings of a check, faults first, then the messages of tools and backends about other objects."""
    findings = tuple(_finding_entry(result, checked) for result in checked.findings)
    covered = {entry.where for entry in findings} | {entry.device for entry in findings}
    return (*findings, *(_report_entry(problem) for problem in _problems(checked) if problem.where not in covered))


def _problems(checked: CheckResult) -> Iterator[Problem]:
    yield from {(problem.where, problem.message): problem for problem in checked.problems}.values()


def _finding_entry(result: RuleResult[Finding], checked: CheckResult) -> FindingEntry:
    finding, staged = result.outcome, result.outcome.staged
    setting = (finding.where, finding.setting) if finding.setting else None
    return FindingEntry(
        severity=result.rule.severity,
        where=finding.where,
        message=finding.message,
        lines=tuple(finding_lines(finding)),
        rule=result.rule.id,
        device=checked.devices.get(finding.where, ""),
        staged=staged,
        fix="" if staged is None else staged.text,
        setting=setting if staged is None else (str(staged.target), staged.key),
    )


def _report_entry(problem: Problem) -> FindingEntry:
    lines = (("fix", problem.hint),) if problem.hint else ()
    return FindingEntry(severity=None, where=problem.where, message=problem.message, lines=lines, device=problem.where)
