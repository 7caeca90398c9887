"""Results of a check as text, as JSON and as the output of a monitoring plugin. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.core.presentation import json_schema
from app.core.presentation.finding_counts import SEVERITIES, findings_text
from app.core.presentation.table import FactLine, Facts, Tone
from app.features.check.finding import Finding, RuleResult, Severity
from app.features.check.runner import CheckResult
from backends.text import clean
from widgets.text_utils.units import plural

GRAVEST = tuple(reversed(Severity))


def summary(checked: CheckResult) -> str:
    """Return the summary of a check: how many rules ran, and how many findings they have."""
    parts = [f"{plural(checked.rules, 'rule')}: {findings_text(checked.severities)}"]
    parts += [f"{plural(len(checked.unknown), 'question')} unanswered"] if checked.unknown else []
    parts += [f"{len(checked.ignored)} ignored"] if checked.ignored else []
    return "; ".join(parts) + "."


def finding_lines(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the lines that follow the message of a finding, each with its label: the evidence and the fix."""
    yield "evidence", finding.evidence
    if finding.fix:
        yield "fix", finding.fix
    if finding.staged is not None and finding.do:
        yield "", finding.do


TONES = {Severity.FAULT: Tone.BAD, Severity.WARN: Tone.ATTENTION, Severity.NOTE: Tone.PLAIN}
"""Tone in which findings of each severity are shown."""


def finding_facts(results: Iterable[RuleResult[Finding]]) -> tuple[Facts, ...]:
    """Return the findings of a device as facts, which are shown above its other facts; empty if there are none."""
    lines: list[FactLine] = []
    for result in results:
        severity = result.rule.severity
        lines.append(FactLine(SEVERITIES[severity.value], result.outcome.message, TONES[severity]))
        lines += [FactLine(label, text) for label, text in finding_lines(result.outcome)]
    return (Facts(heading="Findings", facts=tuple(lines)),) if lines else ()


def findings_json(checked: CheckResult) -> json_schema.Json:
    """Return the JSON body of `check --json`."""
    return {
        "findings": [finding_json(finding) for finding in checked.findings],
        "unknown": [
            {"id": result.rule.id, "where": result.outcome.where, "why": result.outcome.why}
            for result in checked.unknown
        ],
        "ignored": [finding_json(finding) for finding in checked.ignored],
        "rules": checked.rules,
        "problems": [json_schema.problem(problem) for problem in checked.problems],
    }


def finding_json(result: RuleResult[Finding]) -> json_schema.Json:
    """Return a finding in the JSON of `check` and `hosts facts`."""
    finding, staged = result.outcome, result.outcome.staged
    return {
        "id": result.rule.id,
        "severity": result.rule.severity.value,
        "where": finding.where,
        "message": finding.message,
        "evidence": finding.evidence,
        "do": finding.do or None,
        "change": None if staged is None else json_schema.pick(staged, "target", "key", "value"),
    }


def plugin(checked: CheckResult, severity: Severity) -> tuple[str, list[str]]:
    """Return the status word and the output lines of a Nagios plugin. Findings below `severity` are only counted.

    A vertical bar starts the metrics, so texts contain none. The status is UNKNOWN if a device could not be read and
    there is no finding of this severity or above.
    """
    results = checked.from_on(severity)
    if any(result.rule.severity is Severity.FAULT for result in results):
        word = "CRITICAL"
    elif results:
        word = "WARNING"
    else:
        word = "UNKNOWN" if checked.problems else "OK"
    lines = [f"{result.rule.id} at {result.outcome.where}" for result in results]
    lines += [f"{problem.where}: {problem.message}" for problem in checked.problems] if word == "UNKNOWN" else []
    figures = " ".join(f"{level.value}={checked.count(level)}" for level in GRAVEST)
    first = _without_bars(
        "; ".join(lines[:4]) or f"{plural(checked.rules, 'rule')}, {findings_text(checked.severities)}"
    )
    more = [
        _without_bars(f"{result.rule.severity}: {result.rule.id} at {result.outcome.where}: {result.outcome.message}")
        for result in results
    ]
    return word, [f"RAIDBENCH {word} - {first} | {figures}", *more]


def _without_bars(text: str) -> str:
    return clean(text, 800).replace("|", "/")
