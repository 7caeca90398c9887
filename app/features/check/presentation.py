"""What a check found, as words for people, as JSON and as a monitoring plugin tells it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from app.core.presentation import json_schema
from app.core.presentation.attention_list import AttentionItem, ProposedChange, attention_items
from app.core.presentation.table import FactLine, Facts, Tone
from app.features.check.finding import Finding, RuleResult, Severity, UnknownResult
from app.features.check.runner import CheckResult
from backends.model import Inventory
from backends.text import clean
from widgets.text_utils.units import plural

GRAVEST = tuple(reversed(Severity))


_WORDS = {Severity.FAULT: "fault", Severity.WARN: "warning", Severity.NOTE: "note"}


def severity_text(count: Callable[[Severity], int]) -> str:
    """`1 fault, 3 warnings, 5 notes`; "" where there is none. `count`: how many of a severity."""
    return ", ".join(plural(number, _WORDS[each]) for each in GRAVEST if (number := count(each)))


def counts(checked: CheckResult) -> str:
    """`1 fault, 3 warnings, 5 notes`; `nothing` where there is none."""
    return severity_text(checked.count) or "nothing"


def summary(checked: CheckResult) -> str:
    """The last line of a check."""
    parts = [f"{plural(checked.rules, 'rule')} found {counts(checked)}"]
    parts += [f"{plural(len(checked.unknown), 'question')} open"] if checked.unknown else []
    parts += [f"{len(checked.ignored)} ignored"] if checked.ignored else []
    return "; ".join(parts) + "."


def message(rule_result: RuleResult) -> str:
    """The sentence of a finding."""
    return rule_result.said.message if isinstance(rule_result.said, Finding) else ""


def why(rule_result: RuleResult) -> str:
    """Why something is not known."""
    return rule_result.said.why if isinstance(rule_result.said, UnknownResult) else ""


def finding_lines(rule_result: RuleResult) -> Iterator[tuple[str, str]]:
    """What is below a finding's first line: what says so, what mends it."""
    said = rule_result.said
    assert isinstance(said, Finding)
    yield "says", said.evidence
    if said.mends:
        yield "mends", said.mends
    if said.staged is not None and said.do:
        yield "", said.do


TONES = {Severity.FAULT: Tone.BAD, Severity.WARN: Tone.ATTENTION, Severity.NOTE: Tone.PLAIN}
"""What each severity means for a colour."""


def finding_facts(rule_results: Iterable[RuleResult]) -> tuple[Facts, ...]:
    """What was found at one device, to stand above what is known of it; nothing where nothing was."""
    lines: list[FactLine] = []
    for rule_result in rule_results:
        lines.append(FactLine(rule_result.rule.severity.value, message(rule_result), TONES[rule_result.rule.severity]))
        lines += [FactLine(label, text) for label, text in finding_lines(rule_result)]
    return (Facts(heading="Findings", facts=tuple(lines)),) if lines else ()


def findings_json(checked: CheckResult) -> json_schema.Json:
    """The body of `check --json`."""
    return {
        "findings": [_finding(finding) for finding in checked.findings],
        "unknown": [_unknown(rule_result) for rule_result in checked.unknown],
        "ignored": [_finding(rule_result) for rule_result in checked.ignored],
        "rules": checked.rules,
        "problems": [json_schema.problem(problem) for problem in checked.problems],
    }


def _finding(rule_result: RuleResult) -> json_schema.Json:
    said = rule_result.said
    assert isinstance(said, Finding)
    return {
        "id": rule_result.rule.id,
        "severity": rule_result.rule.severity.value,
        "where": said.where,
        "message": said.message,
        "evidence": said.evidence,
        "do": said.do or None,
        "change": _staged(said.staged),
    }


def _staged(staged: ProposedChange | None) -> json_schema.Json | None:
    return None if staged is None else json_schema.pick(staged, "target", "key", "value")


def _unknown(rule_result: RuleResult) -> json_schema.Json:
    assert isinstance(rule_result.said, UnknownResult)
    return {
        "id": rule_result.rule.id,
        "severity": rule_result.rule.severity.value,
        "where": rule_result.said.where,
        "why": rule_result.said.why,
    }


def plugin(checked: CheckResult, severity: Severity) -> tuple[str, list[str]]:
    """Status word and lines as a monitoring plugin tells them; findings below `severity` are counted only.

    A vertical bar begins figures there, so none stands in the text. Unknown is what gave no answer, where nothing that
    did is worse.
    """
    rule_results = checked.from_on(severity)
    if any(rule_result.rule.severity is Severity.FAULT for rule_result in rule_results):
        word = "CRITICAL"
    elif rule_results:
        word = "WARNING"
    else:
        word = "UNKNOWN" if checked.problems else "OK"
    lines = [f"{rule_result.rule.id} at {rule_result.said.where}" for rule_result in rule_results]
    lines += [f"{problem.where}: {problem.message}" for problem in checked.problems] if word == "UNKNOWN" else []
    figures = " ".join(f"{each.value}={checked.count(each)}" for each in GRAVEST)
    first = _unbarred("; ".join(lines[:4]) or f"{plural(checked.rules, 'rule')}, {counts(checked)}")
    more = [
        _unbarred(f"{result.rule.severity}: {result.rule.id} at {result.said.where}: {result.said.message}")
        for result in rule_results
        if isinstance(result.said, Finding)
    ]
    return word, [f"RAIDBENCH {word} - {first} | {figures}", *more]


def _unbarred(text: str) -> str:
    return clean(text, 800).replace("|", "/")


# -- what of the machine wants a look ---------------------------------------------------------------------------------


def checked_troubles(inventory: Inventory, checked: CheckResult) -> tuple[AttentionItem, ...]:
    """Return what of the inventory is not well, and what costs speed or safety.

    Faults of the check first, then what it has no word for, then its warnings; its notes are told at their device.
    """
    faults, warnings = (tuple(_troubles_of(checked, severity)) for severity in (Severity.FAULT, Severity.WARN))
    names = {finding.key for finding in (*faults, *warnings)}
    return (*faults, *(trouble for trouble in attention_items(inventory) if trouble.key not in names), *warnings)


def _troubles_of(checked: CheckResult, severity: Severity) -> Iterator[AttentionItem]:
    """Yield the findings of a severity at what has a row."""
    for ruling in checked.findings:
        at = checked.devices.get(ruling.said.where)
        if at is not None and ruling.rule.severity is severity and isinstance(ruling.said, Finding):
            yield AttentionItem(at, ruling.said.message.rstrip("."), ruling.said.staged)
