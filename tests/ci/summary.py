"""The text at the end of `.ci/run`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.ci.decision import MOST_UNLISTED, Failed, Flaky, Verdict
from tests.ci.known import Entry
from tests.ci.steps import SKIPPED, Step

LIMIT = 55 * 60
"""Seconds that a run may take."""


def summary_text(
    steps: Sequence[Step], verdict: Verdict, expired: Iterable[Entry], *, before: int, repeated: int
) -> str:
    """Return the flaky tests, the failures, the skipped steps, the result and the table of times.

    `before`: the seconds from the start to the end of the last step; less than the sum of the steps, since some run
    at the same time.
    `repeated`: the seconds that the repetitions took.
    """
    skipped = [step.name for step in steps if step.status == SKIPPED]
    lines = [""]
    for entry in expired:
        lines.append(f"expired: {entry.test}: added {entry.added}; fix it, or find its cause and list it again")
    for flaky in verdict.flaky:
        lines += _flaky_lines(flaky)
    for failed in verdict.failed:
        lines += _failed_lines(failed)
    if verdict.has_too_many_unlisted:
        number = len(verdict.unlisted)
        lines.append(f"failed: {number} flaky tests are not listed in tests/flaky.toml; at most {MOST_UNLISTED} pass")
    lines += [f"skipped: {_bracketed(skipped)}"] if skipped else []
    if failing := list(dict.fromkeys(failed.step.name for failed in verdict.failed)):
        lines.append(f"failed: {_bracketed(failing)}")
    if verdict.passes and not skipped:
        lines.append("all passed")
    return "\n".join((*lines, "", *_times(steps, verdict, before, repeated)))


def _flaky_lines(flaky: Flaky) -> list[str]:
    known = f"listed: {flaky.entry.cause}" if flaky.entry else "not listed"
    return [f"flaky: {flaky.failure.test} [{flaky.step.name}] ({known})", *_indented(flaky.failure.message)]


def _failed_lines(failed: Failed) -> list[str]:
    if failed.failure is None:
        return [f"failed: [{failed.step.name}]: {failed.reason}"]
    return [
        f"failed: {failed.failure.test} [{failed.step.name}]",
        *_indented(failed.failure.message),
        *_indented(failed.reason),
    ]


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _bracketed(names: Iterable[str]) -> str:
    return " ".join(f"[{name}]" for name in names)


def _times(steps: Sequence[Step], verdict: Verdict, before: int, repeated: int) -> list[str]:
    failing = {failed.step for failed in verdict.failed}
    flaky = {each.step for each in verdict.flaky}
    rows = []
    for step in steps:
        if step.status == SKIPPED:
            result = "skipped"
        elif step in failing:
            result = "failed"
        else:
            result = "flaky" if step in flaky else "passed"
        rows.append((step.name, result, step.seconds))
    total = before + repeated
    over = f", over the limit of {_clock(LIMIT)}" if total > LIMIT else ""
    rows += [("repetitions and decision", "", repeated), ("total", "", total)]
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{name:{width}}  {result:7}  {_clock(seconds):>6}" for name, result, seconds in rows]
    return [*lines[:-1], lines[-1] + over]


def _clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"
