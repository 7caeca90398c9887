"""Results of a check as text, as JSON and as the output of a monitoring plugin. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from app.core.presentation import json_schema
from app.core.presentation.attention_list import AttentionItem, attention_items
from app.core.presentation.table import FactLine, Facts, Tone
from app.features.check.finding import Finding, RuleResult, Severity
from app.features.check.runner import CheckResult
from backends.model import Inventory
from backends.text import clean
from widgets.text_utils.units import plural

GRAVEST = tuple(reversed(Severity))


_WORDS = {Severity.FAULT: "fault", Severity.WARN: "warning", Severity.NOTE: "note"}


def severity_text(count: Callable[[Severity], int]) -> str:
    """Return a string such as `1 fault, 3 warnings, 5 notes`, or "". `count` returns the number for a severity."""
    return ", ".join(plural(number, _WORDS[severity]) for severity in GRAVEST if (number := count(severity)))


def counts(checked: CheckResult) -> str:
    """Return the number of findings by severity, such as `1 fault, 3 warnings, 5 notes`, or `nothing`."""
    return severity_text(checked.count) or "nothing"


def summary(checked: CheckResult) -> str:
    """Return the summary of a check: how many rules ran, and what they found."""
    parts = [f"{plural(checked.rules, 'rule')} found {counts(checked)}"]
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
        lines.append(FactLine(severity.value, result.outcome.message, TONES[severity]))
        lines += [FactLine(label, text) for label, text in finding_lines(result.outcome)]
    return (Facts(heading="Findings", facts=tuple(lines)),) if lines else ()


def findings_json(checked: CheckResult) -> json_schema.Json:
    """Return the JSON body of `check --json`."""
    return {
        "findings": [_finding(finding) for finding in checked.findings],
        "unknown": [
            {"id": result.rule.id, "where": result.outcome.where, "why": result.outcome.why}
            for result in checked.unknown
        ],
        "ignored": [_finding(finding) for finding in checked.ignored],
        "rules": checked.rules,
        "problems": [json_schema.problem(problem) for problem in checked.problems],
    }


def _finding(result: RuleResult[Finding]) -> json_schema.Json:
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
    first = _without_bars("; ".join(lines[:4]) or f"{plural(checked.rules, 'rule')}, {counts(checked)}")
    more = [
        _without_bars(f"{result.rule.severity}: {result.rule.id} at {result.outcome.where}: {result.outcome.message}")
        for result in results
    ]
    return word, [f"RAIDBENCH {word} - {first} | {figures}", *more]


def _without_bars(text: str) -> str:
    return clean(text, 800).replace("|", "/")


# -- rows of the device list that need attention ----------------------------------------------------------------------


def checked_troubles(inventory: Inventory, checked: CheckResult) -> tuple[AttentionItem, ...]:
    """Return the attention items of the inventory and of the check.

    The order is: faults of the check, problems of the inventory that no finding covers, warnings of the check. Notes
    are shown only at their device.
    """
    faults, warnings = (tuple(_troubles_of(checked, severity)) for severity in (Severity.FAULT, Severity.WARN))
    names = {finding.key for finding in (*faults, *warnings)}
    return (*faults, *(trouble for trouble in attention_items(inventory) if trouble.key not in names), *warnings)


def _troubles_of(checked: CheckResult, severity: Severity) -> Iterator[AttentionItem]:
    """Yield an attention item for each finding of a severity on a device of the inventory."""
    for result in checked.findings:
        address = checked.devices.get(result.outcome.where)
        if address is not None and result.rule.severity is severity:
            yield AttentionItem(address, result.outcome.message.rstrip("."), result.outcome.staged)
