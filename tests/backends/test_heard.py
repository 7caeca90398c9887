"""What is made of an answer that is not whole: its whole lines, and one sentence that says why."""

from __future__ import annotations

import pytest

from backends.errors import ToolTimeoutError
from backends.host import Command, Completed
from backends.model import Problem
from backends.tool_output import CompletenessCheck, ToolOutput, deduplicate, last_line, run_checked, whole_lines
from tests.backends.fakes import FakeHost

ASKED = Command(argv=("/usr/bin/tool", "info"))
WHOLE = CompletenessCheck(
    tool="tool", mark="its last line is `Done.`", missing=last_line("Done."), statuses=frozenset()
)


async def heard(text: str, status: int = 0, error: str = "") -> ToolOutput:
    done = Completed(returncode=status, stdout=text, stderr=error)
    return await run_checked(FakeHost({}, tools={"tool": done}), WHOLE, ASKED, "here")


async def test_a_whole_answer_is_no_problem_whatever_its_exit_status() -> None:
    assert await heard("a\nDone.\n", 46) == ToolOutput(text="a\nDone.\n")


async def test_of_half_an_answer_the_whole_lines_are_used_and_the_cut_is_told() -> None:
    found = await heard("first\nsecond\nthi")
    assert (found.text, found.cut) == ("first\nsecond\n", True)
    assert found.problem is not None
    assert found.problem.where == "here"
    assert found.problem.message == "/usr/bin/tool info: incomplete output: the last line is missing."


async def test_what_a_tool_said_while_it_died_stands_behind_the_cut() -> None:
    found = await heard("first\n", 1, "Segmentation fault\n")
    assert found.problem is not None
    assert found.problem.message.endswith("incomplete output: the last line is missing; Segmentation fault.")


async def test_what_a_killed_tool_said_is_told_once() -> None:
    found = await heard("first\n", -11, "Segmentation fault\n")
    assert found.problem is not None
    assert found.problem.message.count("Segmentation fault") == 1


@pytest.mark.parametrize(("status", "error"), [(127, "tool: no library"), (0, "tool: no library")])
async def test_a_tool_that_only_complains_is_told_in_its_words(status: int, error: str) -> None:
    found = await heard("", status, error)
    assert found.problem is not None
    assert found.problem.message.startswith("/usr/bin/tool reports: tool: no library")


async def test_a_tool_that_gives_no_answer_in_time_is_a_problem_and_no_error() -> None:
    class Slow(FakeHost):
        async def run(self, command: Command) -> Completed:
            raise ToolTimeoutError("It gave no answer in 60 s.", hint="Try again.")

    found = await run_checked(Slow({}), WHOLE, ASKED, "here")
    assert found.problem == Problem(where="here", message="It gave no answer in 60 s.", hint="Try again.")


def test_a_torn_line_is_left_out_and_a_whole_one_stays() -> None:
    assert [whole_lines(text) for text in ("", "a", "a\n", "a\nb")] == ["", "", "a\n", "a\n"]


def test_the_same_sentence_is_told_once() -> None:
    one, other = Problem(where="a", message="x"), Problem(where="b", message="x")
    assert deduplicate((one, other, Problem(where="a", message="y"))) == (one, Problem(where="a", message="y"))
