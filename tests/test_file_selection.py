"""No test is lost because its file was not imported."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.file_selection import RUNS, has_no_test

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "tests").rglob("*.py"))
EXPRESSIONS = re.findall(r'-m "([^"]+)"', (ROOT / "Makefile").read_text(encoding="utf-8"))

NOT_LONG = "not (exhaustive or long)"
ALL_LONG = "pytestmark = [pytest.mark.slow, pytest.mark.long]\n\ndef test_x(): ..."
ONE_LONG = "@pytest.mark.long\ndef test_x(): ..."
NONE_LONG = "def test_x(): ..."


@pytest.mark.parametrize(
    ("text", "expression", "ignored"),
    [
        (ALL_LONG, NOT_LONG, True),
        (ONE_LONG, NOT_LONG, False),
        (NONE_LONG, NOT_LONG, False),
        ("pytestmark = [\n    pytest.mark.slow,\n    pytest.mark.long,\n]", NOT_LONG, True),
        ("LONG = pytest.mark.long", NOT_LONG, False),
        (ALL_LONG, "exhaustive or long", False),
        (ONE_LONG, "exhaustive or long", False),
        ("LONG = pytest.mark.long", "exhaustive or long", False),
        (NONE_LONG, "exhaustive or long", True),
        (ONE_LONG, "exhaustive", True),
        (NONE_LONG, "long and not slow", False),
        (NONE_LONG, "root", False),
        (NONE_LONG, "", False),
    ],
)
def test_a_file_is_ignored_only_if_none_of_its_tests_is_asked_for(text: str, expression: str, ignored: bool) -> None:
    assert has_no_test(text, expression) is ignored


def test_the_makefile_asks_in_a_way_that_is_understood() -> None:
    asked = [words for words in EXPRESSIONS if "exhaustive" in words]
    assert len(asked) >= 3
    assert [words for words in asked if not has_no_test(ALL_LONG if "not" in words else NONE_LONG, words)] == []


def test_a_mark_that_decides_about_the_run_stands_in_the_file_of_the_test() -> None:
    word = re.compile(rf"\bmark\.({'|'.join(sorted(RUNS))})\b")
    elsewhere = [path for path in FILES if not path.name.startswith("test_") and word.search(path.read_text())]
    assert [path for path in elsewhere if path.name not in ("conftest.py", "file_selection.py")] == []
    assert [path for path in elsewhere if "add_marker" in path.read_text()] == []


@pytest.mark.long
def test_no_file_takes_such_a_mark_from_another() -> None:
    marks = {
        target.id
        for path in FILES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign) and any(f"mark.{run}" in ast.unparse(node.value) for run in RUNS)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert "LONG" in marks
    taken = re.compile(rf"^from tests\S* import .*\b({'|'.join(sorted(marks))})\b", re.MULTILINE)
    assert [path for path in FILES if taken.search(path.read_text())] == []
