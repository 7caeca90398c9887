"""Completeness of tool output, and errors of failing tools; common to all vendors.

Truncated output is shown as far as it goes and reported as truncated. Facts that it lacks are unknown, and nothing is
planned on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from backends.change_steps import LOOK_AGAIN, evidence_of
from backends.errors import BlockedError, RaidbenchError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import Problem
from backends.text import clean
from backends.values import dataclass

CUT = "incomplete output"
"""Introduces the reason why output counts as truncated."""

Missing = Callable[[str], str]
"""Check for the end of complete output. Returns "" for it, else the reason to complete "the answer was cut: "."""


_BEHIND = " \t\r\n-"
"""Characters that may follow the last line: blank lines, a dashed rule."""


def last_line(*lines: str) -> Missing:
    """Return a check for output that ends in one of these lines, apart from blank lines and rules."""
    wanted = tuple(line.lower() for line in lines)

    def missing(text: str) -> str:
        end = text.rstrip(_BEHIND).rpartition("\n")[2].strip().lower()
        return "" if end in wanted else "the last line is missing"

    return missing


def line_end(text: str) -> str:
    """Check that output ends with a newline, the minimum for any text."""
    return "" if text.endswith("\n") else "the last line is truncated"


def whole_lines(text: str) -> str:
    """Return a text without an incomplete last line."""
    return text[: text.rfind("\n") + 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessCheck:
    """Declares how to recognise complete output of a tool. Listed in docs/dev/vendor-settings.md."""

    tool: str
    """The tool, with the kind of output if they differ."""
    mark: str
    """Mark of complete output, for users."""
    missing: Missing
    """Check for that mark."""
    hides: str = ""
    """What truncation can still hide, for users; "" for nothing."""
    statuses: frozenset[int] = field(default_factory=lambda: frozenset({0}))
    """Exit statuses of complete output; empty if the tool's exit status says nothing about that."""

    def lost(self, done: Completed) -> str:
        """Return why output is truncated, to complete "the answer was cut: "; "" if it is complete."""
        if done.truncated:
            return "it is too long"
        if done.returncode < 0 or (self.statuses and done.returncode not in self.statuses):
            return exit_text(done)
        return self.missing(done.stdout)


def exit_text(done: Completed) -> str:
    """Return how a program ended, `exit status 127`, `ended by signal 9`, with its standard error."""
    how = f"ended by signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
    text = first_lines_text(done.stderr)
    return f"{text.rstrip('.')} ({how})" if text else how


def first_lines_text(text: str) -> str:
    """Return the first lines of a program's output, for users."""
    lines = [line for row in text[:20_000].splitlines() if (line := clean(row, 200))]
    return clean(" ".join(lines[:3]), 300)


def truncation_message(command: Command, why: str) -> str:
    """Return a clause about truncated output, without a full stop. `why`: from `CompletenessCheck.lost`."""
    return f"{clean(command.shown(), 200)}: {CUT}: {why.rstrip('.')}"


def truncation_problem(where: str, command: Command, why: str) -> Problem:
    """Return truncated output as a problem of the inventory."""
    return Problem(where=where, message=f"{truncation_message(command, why)}.", hint=manual_run_hint(command))


def unreadable_files_message(folder: str, names: Iterable[str]) -> str:
    """Return a clause about unreadable files in a kernel folder, as `truncation_message`; "" if there are none."""
    untold = sorted(names)
    more = f" and {len(untold) - 3} more" if len(untold) > 3 else ""
    return f"{folder}: {CUT}: {', '.join(untold[:3])}{more} cannot be read" if untold else ""


def truncation_error(subject: object, text: str) -> BlockedError:
    """Return the error if truncated output is not enough for `subject`. `text`: from `truncation_message`."""
    return BlockedError(f"Incomplete information about {clean(str(subject))}: {text}.", hint=LOOK_AGAIN)


def failure_sentence(tool: str, text: str, how: str = "") -> str:
    """Return the sentence about a tool that failed. `text`: its own message; `how`: ` (exit status 1)`, or ""."""
    return f"{tool} reports: {text.rstrip('.')}{how}." if text else f"{tool} failed without a message{how}."


def unusable_output_error(command: Command, done: Completed, text: str = "") -> ToolFailedError:
    """Return the error for unusable output, with the tool's own message: `text`, else its output."""
    died = done.returncode != 0 and done.stderr.strip()
    text = text or first_lines_text(done.stderr if died else done.stdout or done.stderr)
    how = f" ({exit_text(Completed(returncode=done.returncode, stdout='', stderr=''))})" if done.returncode else ""
    tool = clean(command.argv[0], 200)
    return ToolFailedError(
        failure_sentence(tool, text, how),
        hint=manual_run_hint(command),
        evidence=evidence_of(command, done),
    )


def manual_run_hint(command: Command) -> str:
    """Return the hint for a tool whose output is unusable."""
    return f"Run the command manually: {command.shown()}"


def with_tool_name(path: str, text: str) -> str:
    """Return a sentence about a program that begins with the program's name, without repeating it."""
    return text if text.startswith(path) else f"{path}: {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """Usable output of a tool."""

    text: str = ""
    """The output; of truncated output the complete lines."""
    problem: Problem | None = None
    """Problem if the output is truncated or missing; None if it is complete."""

    @property
    def cut(self) -> bool:
        """Return whether the output is incomplete."""
        return self.problem is not None


async def run_checked(host: Host, check: CompletenessCheck, command: Command, where: str) -> ToolOutput:
    """Return the output of a command; `where` (a backend or device) locates a problem. Raises no RaidbenchError."""
    try:
        done = await host.run(command)
    except RaidbenchError as error:
        return ToolOutput(problem=Problem(where=where, message=error.message, hint=error.hint))
    return judge_output(check, command, where, done)


def judge_output(check: CompletenessCheck, command: Command, where: str, done: Completed) -> ToolOutput:
    """Return output that was already read, checked as by `run_checked`."""
    why = check.lost(done)
    if not why:
        return ToolOutput(text=done.stdout)
    if not done.stdout.strip() and (done.returncode or done.stderr.strip()):
        died = unusable_output_error(command, done)
        return ToolOutput(problem=Problem(where=where, message=died.message, hint=died.hint))
    if (text := first_lines_text(done.stderr)) and text not in why:
        why = f"{why}; {text.rstrip('.')}"
    return ToolOutput(text=whole_lines(done.stdout), problem=truncation_problem(where, command, why))


def collect_problems(answers: Iterable[ToolOutput]) -> tuple[Problem, ...]:
    """Return the problems of several outputs, each message once."""
    return deduplicate(answer.problem for answer in answers if answer.problem is not None)


def deduplicate(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems, each message once: a failing tool gives the same message for every query."""
    by_message: dict[str, Problem] = {}
    for problem in problems:
        by_message.setdefault(problem.message, problem)
    return tuple(by_message.values())
