"""Check tool output for completeness, and report failing tools; common to all vendors.

The complete lines of truncated output are shown, and the truncation is reported. Facts that are missing from it are
unknown, and no change is planned from it.
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
"""Phrase in front of the reason in every message about truncated output."""

Missing = Callable[[str], str]
"""Function that checks whether output is complete. It returns "" if so, else the reason."""


_BEHIND = " \t\r\n-"
"""Characters that may follow the last line: those of blank lines and of dashed separator lines."""


def last_line(*lines: str) -> Missing:
    """Return a function that checks whether the last line of output is one of `lines`.

    Blank lines and dashed separator lines at the end are ignored.
    """
    wanted = tuple(line.lower() for line in lines)

    def missing(text: str) -> str:
        end = text.rstrip(_BEHIND).rpartition("\n")[2].strip().lower()
        return "" if end in wanted else "the last line is missing"

    return missing


def line_end(text: str) -> str:
    """Return "" if output ends with a newline, as any complete text does, else the reason why it is incomplete."""
    return "" if text.endswith("\n") else "the last line is truncated"


def whole_lines(text: str) -> str:
    """Return a text without an incomplete last line."""
    return text[: text.rfind("\n") + 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessCheck:
    """How to recognise complete output of a tool. docs/dev/vendor-settings.md lists all of them."""

    tool: str
    """The tool, with the kind of output if it has several."""
    mark: str
    """Sign of complete output, in words for users."""
    missing: Missing
    """Function that checks whether output has that sign."""
    hides: str = ""
    """Loss that the check cannot detect, in words for users; "" if there is none."""
    statuses: frozenset[int] = field(default_factory=lambda: frozenset({0}))
    """Exit statuses that complete output may have; empty if the exit status says nothing about completeness."""

    def lost(self, done: Completed) -> str:
        """Return why output counts as truncated; "" if it is complete."""
        if done.truncated:
            return "it is too long"
        if done.returncode < 0 or (self.statuses and done.returncode not in self.statuses):
            return exit_text(done)
        return self.missing(done.stdout)


def exit_text(done: Completed) -> str:
    """Return how a program ended, with its standard error: `exit status 127`, `ended by signal 9`."""
    how = f"ended by signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
    text = first_lines_text(done.stderr)
    return f"{text.rstrip('.')} ({how})" if text else how


def first_lines_text(text: str) -> str:
    """Return the first lines of a program's output, for users."""
    lines = [line for row in text[:20_000].splitlines() if (line := clean(row, 200))]
    return clean(" ".join(lines[:3]), 300)


def truncation_message(command: Command, why: str) -> str:
    """Return a clause about truncated output, without a full stop. `why`: result of `CompletenessCheck.lost`."""
    return f"{clean(command.shown(), 200)}: {CUT}: {why.rstrip('.')}"


def truncation_problem(where: str, command: Command, why: str) -> Problem:
    """Return the problem of the inventory that reports truncated output."""
    return Problem(where=where, message=f"{truncation_message(command, why)}.", hint=manual_run_hint(command))


def unreadable_files_message(folder: str, names: Iterable[str]) -> str:
    """Return a clause about unreadable files in a kernel folder, like `truncation_message`; "" if there are none."""
    untold = sorted(names)
    more = f" and {len(untold) - 3} more" if len(untold) > 3 else ""
    return f"{folder}: {CUT}: {', '.join(untold[:3])}{more} cannot be read" if untold else ""


def truncation_error(subject: object, text: str) -> BlockedError:
    """Return the error for an action on `subject` that truncated output prevents. `text`: from `truncation_message`."""
    return BlockedError(f"Incomplete information about {clean(str(subject))}: {text}.", hint=LOOK_AGAIN)


def failure_sentence(tool: str, text: str, how: str = "") -> str:
    """Return the sentence about a failed tool. `text`: its own message. `how`: ` (exit status 1)`, or ""."""
    return f"{tool} reports: {text.rstrip('.')}{how}." if text else f"{tool} failed without a message{how}."


def unusable_output_error(command: Command, done: Completed, text: str = "") -> ToolFailedError:
    """Return the error for unusable output. It quotes the tool's own message: `text`, else the output."""
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
    """Return the message `text` with the program's `path` in front, unless it begins with that path."""
    return text if text.startswith(path) else f"{path}: {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """Usable output of a tool."""

    text: str = ""
    """The output; if it is truncated, only the complete lines."""
    problem: Problem | None = None
    """Problem if the output is truncated or missing; None if it is complete."""

    @property
    def cut(self) -> bool:
        """Return whether the output is incomplete."""
        return self.problem is not None


async def run_checked(host: Host, check: CompletenessCheck, command: Command, where: str) -> ToolOutput:
    """Run a command and return its checked output.

    `where`: backend or device of a problem. Raises no RaidbenchError.
    """
    try:
        done = await host.run(command)
    except RaidbenchError as error:
        return ToolOutput(problem=Problem(where=where, message=error.message, hint=error.hint))
    return judge_output(check, command, where, done)


def judge_output(check: CompletenessCheck, command: Command, where: str, done: Completed) -> ToolOutput:
    """Return the checked output of a command that has already run; see `run_checked`."""
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
    """Return the problems of several outputs without repeated messages."""
    return deduplicate(answer.problem for answer in answers if answer.problem is not None)


def deduplicate(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems without repeated messages: a failing tool gives the same message for every query."""
    by_message: dict[str, Problem] = {}
    for problem in problems:
        by_message.setdefault(problem.message, problem)
    return tuple(by_message.values())
