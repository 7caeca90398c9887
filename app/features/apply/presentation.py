"""Settings files as text and JSON: differences, plans and results. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.presentation import json_schema
from app.features.apply.applying import ApplyResult, DesiredPlan, StepOutcome
from app.features.apply.drift import Drift, DriftKind
from app.features.apply.exporting import ExportedTarget
from backends.text import clean

_WORDS = {
    DriftKind.SETTABLE: "differs",
    DriftKind.ANEW: "manual",
    DriftKind.BLOCKED: "blocked",
    DriftKind.MISSING: "missing",
    DriftKind.UNREAD: "unread",
    DriftKind.NOT_KEPT: "not kept",
}
"""First word of the line about a difference, by kind of difference."""


def drift_line(drift: Drift) -> str:
    """Return a line such as `differs  megaraid:/c0/v1  write_cache is write-through, should be write-back (line 9)`."""
    head = f"{_WORDS[drift.kind]:<8}  {drift.target or '-'}"
    where = f" (line {drift.line})" if drift.line else ""
    if drift.key:
        now = drift.now if drift.now is not None else "unknown"
        why = f": {drift.why}" if drift.why else ""
        command = f"; manually: {drift.command}" if drift.command else ""
        return f"{head}  {clean(f'{drift.key} is {now}, should be {drift.wanted}{where}{why}{command}', 700)}"
    return f"{head}  {clean(f'{drift.why}{where}', 700)}"


def diff_lines(drifts: tuple[Drift, ...]) -> Iterator[str]:
    """Yield the differences in the form of a diff, grouped by target."""
    last = None
    for drift in drifts:
        if str(drift.target) != last:
            last = str(drift.target)
            yield f"@@ {last if drift.target is not None else 'missing'} @@"
        if not drift.key:
            yield f"  {drift.why}"
            continue
        yield f"-{drift.key} = {drift.now if drift.now is not None else '?'}"
        yield f"+{drift.key} = {drift.wanted}" + ("" if drift.kind is DriftKind.SETTABLE else f"  # {drift.why}")


def drift_json(drift: Drift) -> json_schema.Json:
    """Return a difference as JSON."""
    named = json_schema.pick(drift, "kind", "target", "key", "now", "wanted", "why", "line", "command")
    return {key: value or None for key, value in named.items()}


def plan_json(plan: DesiredPlan) -> json_schema.Json:
    """Return the planned changes and files as JSON."""
    return {
        "changes": [json_schema.change(change) for change in plan.changes],
        "files": [{"path": keep.rule.path, "text": keep.rule.text} for keep in plan.keeps],
    }


def outcome_json(outcome: ApplyResult) -> json_schema.Json:
    """Return the result of applying a set of changes as JSON."""
    return {
        "changes": [_step(step) for step in outcome.steps],
        "not_done": [json_schema.change(change) for change in outcome.left],
        "files": [planned.rule.path for planned in outcome.kept],
        "files_not_written": dict(outcome.unkept),
    }


def _step(step: StepOutcome) -> json_schema.Json:
    back = None if step.back is None else json_schema.change_end(step.back)
    ended = json_schema.change_end(step.ended)
    return {
        **json_schema.change(step.change),
        "outcome": ended,
        "taken_back": back,
        "not_taken_back": step.stuck or None,
    }


def export_json(targets: tuple[ExportedTarget, ...]) -> list[json_schema.Json]:
    """Return the exported devices with their settings as JSON."""
    return [
        {
            "select": dict(target.select),
            "about": target.comment,
            "set": {value.key: value.value for value in target.values},
            "expect": {value.key: value.value for value in target.expect},
            "confirm": target.word,
        }
        for target in targets
    ]
