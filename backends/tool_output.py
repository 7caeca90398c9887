"""Whether a tool's answer is whole, and what a tool says while it dies: judged alike for all vendors.

Half an answer is shown as far as it goes and said to be cut, what it does not tell is unknown, and nothing is planned
on it.
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

CUT = "the answer was cut"
"""What is said of half an answer, before the reason."""

Missing = Callable[[str], str]
"""What a text lacks of the mark of a whole answer, to complete "the answer was cut: "; "" where it has it."""


_BEHIND = " \t\r\n-"
"""What may stand behind a last line: blank lines, a dashed rule."""


def last_line(*lines: str) -> Missing:
    """The mark of answers that end in one of these lines, whatever blank lines or rules follow."""
    wanted = tuple(line.lower() for line in lines)

    def missing(text: str) -> str:
        end = text.rstrip(_BEHIND).rpartition("\n")[2].strip().lower()
        return "" if end in wanted else "its last line is missing"

    return missing


def line_end(text: str) -> str:
    """The least mark of any text: its last line is not torn."""
    return "" if text.endswith("\n") else "its last line is torn"


def whole_lines(text: str) -> str:
    """A text without a torn last line."""
    return text[: text.rfind("\n") + 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletenessCheck:
    """How the whole answers of a tool are known. What is declared so stands in docs/vendors.md."""

    tool: str
    """The tool, and which of its answers where they differ."""
    mark: str
    """What a whole answer has that half of one has not, for people."""
    missing: Missing
    """The same, of a text."""
    hides: str = ""
    """What a cut can hide all the same, for people; "" for nothing."""
    statuses: frozenset[int] = field(default_factory=lambda: frozenset({0}))
    """Exit statuses that come with whole answers; empty where the tool's statuses say nothing of that."""

    def lost(self, done: Completed) -> str:
        """Why an answer is not whole, to complete "the answer was cut: "; "" where it is."""
        if done.truncated:
            return "it is longer than can be read"
        if done.returncode < 0 or (self.statuses and done.returncode not in self.statuses):
            return exit_text(done)
        return self.missing(done.stdout)


def exit_text(done: Completed) -> str:
    """How a program ended: `exit status 127`, `ended by signal 9`, with what it said on standard error."""
    how = f"ended by signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
    text = first_lines_text(done.stderr)
    return f"{text.rstrip('.')} ({how})" if text else how


def first_lines_text(text: str) -> str:
    """The first lines of what a tool printed, for a person."""
    lines = [line for row in text[:20_000].splitlines() if (line := clean(row, 200))]
    return clean(" ".join(lines[:3]), 300)


def truncation_message(command: Command, why: str) -> str:
    """Half an answer, in words without a full stop. `why`: as `CompletenessCheck.lost` says."""
    return f"{clean(command.shown(), 200)}: {CUT}: {why.rstrip('.')}"


def truncation_problem(where: str, command: Command, why: str) -> Problem:
    """Half an answer, as a problem of the inventory."""
    return Problem(where=where, message=f"{truncation_message(command, why)}.", hint=manual_run_hint(command))


def unreadable_files_message(folder: str, names: Iterable[str]) -> str:
    """Files of a folder of the kernel that are there and cannot be read, as `truncation_message`; "" for none."""
    untold = sorted(names)
    more = f" and {len(untold) - 3} more" if len(untold) > 3 else ""
    return f"{folder}: {CUT}: {', '.join(untold[:3])}{more} cannot be read" if untold else ""


def truncation_error(subject: object, text: str) -> BlockedError:
    """What is raised where half an answer is not enough for `subject`. `text`: `truncation_message`."""
    return BlockedError(f"Not enough is known of {clean(str(subject))}: {text}.", hint=LOOK_AGAIN)


def unusable_output_error(command: Command, done: Completed, text: str = "") -> ToolFailedError:
    """The error for an answer that is of no use, in the tool's own words: `text`, else what it printed."""
    died = done.returncode != 0 and done.stderr.strip()
    text = text or first_lines_text(done.stderr if died else done.stdout or done.stderr)
    how = f" ({exit_text(Completed(returncode=done.returncode, stdout='', stderr=''))})" if done.returncode else ""
    tool = clean(command.argv[0], 200)
    return ToolFailedError(
        f"{tool} said: {text.rstrip('.')}{how}." if text else f"{tool} said nothing{how}.",
        hint=manual_run_hint(command),
        evidence=evidence_of(command, done),
    )


def manual_run_hint(command: Command) -> str:
    """What to do about a tool that gives no good answer."""
    return f"Run it by hand: {command.shown()}"


def with_tool_name(path: str, text: str) -> str:
    """A sentence about a program that names it, once."""
    return text if text.startswith(path) else f"{path}: {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool answered, as far as it can be used."""

    text: str = ""
    """All of it; of half an answer the lines that are whole."""
    problem: Problem | None = None
    """What is told of half an answer, or of none; None where it is whole."""

    @property
    def cut(self) -> bool:
        """Whether it is not all."""
        return self.problem is not None


async def run_checked(host: Host, whole: CompletenessCheck, command: Command, where: str) -> ToolOutput:
    """The answer to a question; of half of one is told at `where`, a backend or thing. Raises nothing of ours."""
    try:
        done = await host.run(command)
    except RaidbenchError as error:
        return ToolOutput(problem=Problem(where=where, message=error.message, hint=error.hint))
    return judge_output(whole, command, where, done)


def judge_output(whole: CompletenessCheck, command: Command, where: str, done: Completed) -> ToolOutput:
    """The same of an answer that is there."""
    why = whole.lost(done)
    if not why:
        return ToolOutput(text=done.stdout)
    if not done.stdout.strip() and (done.returncode or done.stderr.strip()):
        died = unusable_output_error(command, done)
        return ToolOutput(problem=Problem(where=where, message=died.message, hint=died.hint))
    if (text := first_lines_text(done.stderr)) and text not in why:
        why = f"{why}; {text.rstrip('.')}"
    return ToolOutput(text=whole_lines(done.stdout), problem=truncation_problem(where, command, why))


def deduplicated_problems(answers: Iterable[ToolOutput]) -> tuple[Problem, ...]:
    """The problems of several answers, each sentence once."""
    return deduplicated(answer.problem for answer in answers if answer.problem is not None)


def deduplicated(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Each sentence once: a tool that dies says the same to every question."""
    by_message: dict[str, Problem] = {}
    for problem in problems:
        by_message.setdefault(problem.message, problem)
    return tuple(by_message.values())
