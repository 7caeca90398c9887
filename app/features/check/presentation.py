"""What a check found, as words for people, as JSON and as a monitoring plugin tells it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from app.core.presentation import json_schema
from app.core.presentation.attention_list import AttentionItem, ProposedChange, troubles
from app.core.presentation.table import FactLine, Facts, Tone
from app.features.check.finding import Finding, RuleResult, Severity, UnknownResult
from app.features.check.runner import CheckResult
from backends.model import Inventory
from backends.text import clean
from widgets.text_utils.units import plural

GRAVEST = tuple(reversed(Severity))


_WORDS = {Severity.FAULT: "fault", Severity.WARN: "warning", Severity.NOTE: "note"}


def severity_words(count: Callable[[Severity], int]) -> str:
    """`1 fault, 3 warnings, 5 notes`; "" where there is none. `count`: how many of a severity."""
    return ", ".join(plural(number, _WORDS[each]) for each in GRAVEST if (number := count(each)))


def counts(checked: CheckResult) -> str:
    """`1 fault, 3 warnings, 5 notes`; `nothing` where there is none."""
    return severity_words(checked.count) or "nothing"


def summary(checked: CheckResult) -> str:
    """The last line of a check."""
    parts = [f"{plural(checked.rules, 'rule')} found {counts(checked)}"]
    parts += [f"{plural(len(checked.unknown), 'question')} open"] if checked.unknown else []
    parts += [f"{len(checked.ignored)} ignored"] if checked.ignored else []
    return "; ".join(parts) + "."


def message(told: RuleResult) -> str:
    """The sentence of a finding."""
    return told.said.message if isinstance(told.said, Finding) else ""


def why(told: RuleResult) -> str:
    """Why something is not known."""
    return told.said.why if isinstance(told.said, UnknownResult) else ""


def finding_lines(told: RuleResult) -> Iterator[tuple[str, str]]:
    """What is below a finding's first line: what says so, what mends it."""
    said = told.said
    assert isinstance(said, Finding)
    yield "says", said.evidence
    if said.mends:
        yield "mends", said.mends
    if said.staged is not None and said.do:
        yield "", said.do


TONES = {Severity.FAULT: Tone.BAD, Severity.WARN: Tone.ATTENTION, Severity.NOTE: Tone.PLAIN}
"""What each severity means for a colour."""


def finding_facts(found: Iterable[RuleResult]) -> tuple[Facts, ...]:
    """What was found at one device, to stand above what is known of it; nothing where nothing was."""
    lines: list[FactLine] = []
    for told in found:
        lines.append(FactLine(told.rule.severity.value, message(told), TONES[told.rule.severity]))
        lines += [FactLine(label, words) for label, words in finding_lines(told)]
    return (Facts(heading="Findings", facts=tuple(lines)),) if lines else ()


def findings_json(checked: CheckResult) -> json_schema.Json:
    """The body of `check --json`."""
    return {
        "findings": [_finding(finding) for finding in checked.findings],
        "unknown": [_unknown(one) for one in checked.unknown],
        "ignored": [_finding(one) for one in checked.ignored],
        "rules": checked.rules,
        "problems": [json_schema.problem(problem) for problem in checked.problems],
    }


def _finding(told: RuleResult) -> json_schema.Json:
    said = told.said
    assert isinstance(said, Finding)
    return {
        "id": told.rule.id,
        "severity": told.rule.severity.value,
        "where": said.where,
        "message": said.message,
        "evidence": said.evidence,
        "do": said.do or None,
        "change": _staged(said.staged),
    }


def _staged(staged: ProposedChange | None) -> json_schema.Json | None:
    return None if staged is None else json_schema.picked(staged, "target", "key", "value")


def _unknown(told: RuleResult) -> json_schema.Json:
    assert isinstance(told.said, UnknownResult)
    return {"id": told.rule.id, "severity": told.rule.severity.value, "where": told.said.where, "why": told.said.why}


def plugin(checked: CheckResult, severity: Severity) -> tuple[str, list[str]]:
    """Status word and lines as a monitoring plugin tells them; findings below `severity` are counted only.

    A vertical bar begins figures there, so none stands in the text. Unknown is what gave no answer, where nothing that
    did is worse.
    """
    found = checked.from_on(severity)
    if any(one.rule.severity is Severity.FAULT for one in found):
        word = "CRITICAL"
    elif found:
        word = "WARNING"
    else:
        word = "UNKNOWN" if checked.problems else "OK"
    told = [f"{one.rule.id} at {one.said.where}" for one in found]
    told += [f"{problem.where}: {problem.message}" for problem in checked.problems] if word == "UNKNOWN" else []
    figures = " ".join(f"{each.value}={checked.count(each)}" for each in GRAVEST)
    first = _unbarred("; ".join(told[:4]) or f"{plural(checked.rules, 'rule')}, {counts(checked)}")
    more = [
        _unbarred(f"{one.rule.severity}: {one.rule.id} at {one.said.where}: {one.said.message}")
        for one in found
        if isinstance(one.said, Finding)
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
    told = {finding.key for finding in (*faults, *warnings)}
    return (*faults, *(trouble for trouble in troubles(inventory) if trouble.key not in told), *warnings)


def _troubles_of(checked: CheckResult, severity: Severity) -> Iterator[AttentionItem]:
    """Yield the findings of a severity at what has a row."""
    for ruling in checked.findings:
        at = checked.devices.get(ruling.said.where)
        if at is not None and ruling.rule.severity is severity and isinstance(ruling.said, Finding):
            yield AttentionItem(at, ruling.said.message.rstrip("."), ruling.said.staged)
