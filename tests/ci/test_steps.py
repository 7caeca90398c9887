"""The table of steps is that of `.ci/run`, and its notes are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ci.safety import ROOT
from tests.ci.sessions import read_outcomes
from tests.ci.steps import CONFIRM, REPEAT, read_steps

WITHOUT_TESTS = {"make check"}


def test_every_step_has_a_way_to_repeat_one_of_its_tests() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    steps = set(re.findall(r"^(?:(?:\[.*\|\| )?step |end_)([^()\n]+)$", text, re.MULTILINE))
    assert steps == REPEAT.keys() | WITHOUT_TESTS
    assert CONFIRM.keys() <= steps


def test_each_step_is_read_with_the_folder_of_its_records(tmp_path: Path) -> None:
    (tmp_path / "steps").write_text("0\t61\tmake test\n2\t5\t.ci/as-user make test-user\n")
    first, second = read_steps(tmp_path)
    assert (first.name, first.status, first.seconds, first.folder) == ("make test", 0, 61, tmp_path / "1")
    assert (second.name, second.status, second.folder) == (".ci/as-user make test-user", 2, tmp_path / "2")


@pytest.mark.parametrize("text", ["", "0\t61\n", "x\t61\tmake test\n"])
def test_a_run_without_steps_or_with_half_a_line_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "steps").write_text(text)
    with pytest.raises(ValueError, match=r"no step|not enough|invalid literal"):
        read_steps(tmp_path)


FAILED = '{"failed": "tests/x.py::a", "message": "first", "safety": false}\n'
ENDED = '{"ended": 1, "passed": 3}\n'


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        ([FAILED + ENDED], ()),
        ([FAILED + ENDED, '{"ended": 0, "passed": 1}\n'], ()),
        ([], ("no test ran",)),
        ([FAILED + ENDED, ""], ("pytest did not reach its end",)),
        ([FAILED], ("pytest did not reach its end",)),
        ([FAILED + '{"ended": 2, "passed": 3}\n'], ("pytest ended with status 2",)),
        ([FAILED + '{"broken": "a worker died"}\n' + ENDED], ("a worker died",)),
        ([FAILED + "{\n" + ENDED], ("the record of a session is damaged",)),
        ([FAILED + '{"failed": "tests/x.py::b"}\n' + ENDED], ("the record of a session is damaged",)),
        ([FAILED + "[]\n" + ENDED], ("the record of a session is damaged",)),
    ],
)
def test_what_is_no_failed_test_is_told_apart(tmp_path: Path, files: list[str], broken: tuple[str, ...]) -> None:
    for number, text in enumerate(files):
        (tmp_path / f"{number}.jsonl").write_text(text)
    outcomes = read_outcomes(tmp_path)
    assert outcomes.broken == broken
    assert [failure.test for failure in outcomes.failures] == ["tests/x.py::a"] * bool(files)


def test_a_test_that_failed_twice_is_there_once_with_its_first_message(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text(FAILED + FAILED.replace("first", "second") + ENDED)
    [failure] = read_outcomes(tmp_path).failures
    assert failure.message == "first"


def test_the_tests_that_passed_in_all_sessions_are_counted(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text(ENDED)
    (tmp_path / "2.jsonl").write_text(ENDED)
    assert read_outcomes(tmp_path).passed == 6
