"""The list of known flaky tests: its own entries, and what is no entry."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, date, datetime

import pytest

from tests.case_loop import loop_over
from tests.ci.known import FILE, read_entries
from tests.ci.safety import ROOT

TODAY = date(2026, 3, 20)
GOOD = {"test": '"tests/widgets/test_x.py::test_y[z]"', "cause": '"It waits for a clock."', "added": "2026-03-10"}


def entry(**values: str) -> str:
    return "[[flaky]]\n" + "".join(f"{key} = {value}\n" for key, value in (GOOD | values).items() if value)


@pytest.fixture(autouse=True)
def readable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the entries name need not be there, unless they are of a subject."""
    monkeypatch.setattr("tests.ci.known.safety_subject", lambda test: "the guard" if "guard" in test else "")


def test_an_entry_is_read() -> None:
    [found] = read_entries(entry(), TODAY)
    assert (found.test, found.cause) == ("tests/widgets/test_x.py::test_y[z]", "It waits for a clock.")
    assert found.added == date(2026, 3, 10)


def test_an_entry_holds_for_fourteen_days() -> None:
    [found] = read_entries(entry(), TODAY)
    assert [found.is_expired(date(2026, 3, day)) for day in (10, 24, 25)] == [False, False, True]


def test_three_words_are_a_cause_and_a_date_may_be_that_of_tomorrow() -> None:
    """It is tomorrow already in some time zones."""
    [found] = read_entries(entry(cause='"It is slow"', added="2026-03-21"), TODAY)
    assert not found.is_expired(TODAY)


def test_an_expired_entry_can_still_be_read() -> None:
    [found] = read_entries(entry(added="2025-01-01"), TODAY)
    assert found.is_expired(TODAY)


@loop_over(
    ("text", "message"),
    [
        (entry(cause=""), "has the keys"),
        (entry(added=""), "has the keys"),
        (entry(why='"no such key"'), "has the keys"),
        (entry(test='"test_y"'), "test is a node id"),
        (entry(test='"other/test_x.py::test_y"'), "test is a node id"),
        (entry(test="1"), "test is a node id"),
        (entry(test='"tests/widgets/test_x.py"'), "test is a node id"),
        (entry(cause='"bad timing"'), "cause is a sentence"),
        (entry(cause="1"), "cause is a sentence"),
        (entry(added='"2026-03-10"'), "added is a date"),
        (entry(added="2026-03-10T10:00:00"), "added is a date"),
        (entry(added="2026-03-22"), "in the future"),
        (entry(test='"tests/backends/test_guard.py::test_y"'), "never repeated"),
        ("[[flakey]]\n", r"only \[\[flaky\]\]"),
        ('flaky = "a test"\n', r"only \[\[flaky\]\]"),
        ("[[flaky]]\ntest = \n", "Invalid value"),
    ],
)
def test_a_malformed_entry_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_entries(text, TODAY)


def test_the_list_of_this_checkout_names_tests_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    entries = read_entries(FILE.read_text(encoding="utf-8"), datetime.now(UTC).date())
    assert missing_tests([each.test for each in entries]) == []


@pytest.mark.long
def test_a_test_that_does_not_exist_is_noticed() -> None:
    here = "tests/ci/test_known.py"
    real, missing = f"{here}::test_a_malformed_entry_is_refused", f"{here}::test_of_yesterday"
    assert missing_tests([real, missing]) == [missing]


def missing_tests(tests: list[str]) -> list[str]:
    """Return those that pytest cannot collect, one call for each: only one id of several would be named."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-n", "0"]
    environment = os.environ | {"RAIDBENCH_LAB": "1"}  # else the laboratory's tests are not collected here
    return [
        test
        for test in tests
        if subprocess.run([*command, test], cwd=ROOT, env=environment, capture_output=True).returncode
    ]
