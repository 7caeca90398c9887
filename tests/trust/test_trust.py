"""The rows of `make trust` run, and what it says of them is true."""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.case_loop import loop_over
from tests.tally import Tally
from tests.trust import table
from tests.trust.__main__ import SIGNS, status, summary
from tests.trust.row import Result, Row, Standing
from tests.trust.rows import ROWS
from tests.trust.running import run_all
from tests.trust.suite import find_tests

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "dev" / "trust.md"
ROW = Row(number="T1", what="something", mark="10: none fails", least=10, check="tests.trust.test_trust:some")


def some(folder: Path, tries: int, seed: int) -> Tally:
    """A check of which the first try fails where it is asked for 13."""
    tally = Tally()
    for number in range(tries):
        tally.expect(number > 0 or tries != 13, f"number {number}")
    return tally


def skips(folder: Path, tries: int, seed: int) -> Tally:
    """A check that this machine does not allow, or that does nothing without a word."""
    if tries:
        pytest.skip("no loop devices here")
    return Tally()


def dies(folder: Path, tries: int, seed: int) -> Tally:
    """A check whose process does not come back."""
    sys.exit("gone")


def tried(**how: object) -> Result:
    [result] = run_all([Row(**{"number": "T1", "what": "w", "mark": "m", "least": 1} | how)], quick=False)  # type: ignore[arg-type]
    return result


def test_a_row_of_enough_tries_without_a_failure_is_at_its_mark() -> None:
    assert tried(check="tests.trust.test_trust:some", count=10, least=10).standing is Standing.HELD


def test_a_row_of_too_few_tries_is_below_its_mark() -> None:
    assert tried(check="tests.trust.test_trust:some", count=9, least=10).standing is Standing.BELOW


def test_one_failure_is_below_every_mark() -> None:
    result = tried(check="tests.trust.test_trust:some", count=13)
    assert result.standing is Standing.BELOW
    assert (result.tally.tried, result.tally.failed, result.tally.notes) == (13, 1, ["number 0"])


@pytest.mark.parametrize("check", ["tests.trust.test_trust:dies", "tests.trust.test_trust:nothing", "no.such:thing"])
def test_a_check_that_does_not_come_back_is_below_its_mark(check: str) -> None:
    assert tried(check=check).standing is Standing.BELOW


def test_a_row_that_nothing_tries_is_not_tried() -> None:
    result = tried()
    assert (result.standing, result.why) == (Standing.UNTRIED, "nothing tries it yet")


@pytest.mark.parametrize(
    ("count", "why"), [(0, "nothing was tried, and nothing said why"), (1, "no loop devices here")]
)
def test_a_check_that_tried_nothing_is_not_at_its_mark_and_says_why(count: int, why: str) -> None:
    result = tried(check="tests.trust.test_trust:skips", count=count, least=0)
    assert (result.standing, result.why) == (Standing.UNTRIED, why)


@pytest.mark.long
def test_a_test_that_was_skipped_was_not_tried(tmp_path: Path) -> None:
    file = tmp_path / "test_one.py"
    file.write_text("import pytest\ndef test_a(): pass\n@pytest.mark.skip(reason='no disk')\ndef test_b(): pass\n")
    result = tried(tests=(str(file),))
    assert (result.standing, result.tally.tried, result.tally.failed) == (Standing.PARTLY, 1, 0)
    assert "no disk" in result.why


@pytest.mark.long
def test_a_row_whose_tests_were_all_skipped_was_not_tried(tmp_path: Path) -> None:
    file = tmp_path / "test_one.py"
    file.write_text("import pytest\n@pytest.mark.skip(reason='no disk')\ndef test_b(): pass\n")
    assert tried(tests=(str(file),), least=0).standing is Standing.UNTRIED


def test_a_short_cut_reaches_no_mark() -> None:
    row = replace(ROW, quick=10)
    [result] = run_all([row], quick=True)
    assert (result.standing, result.tally.tried) == (Standing.PARTLY, 10)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"check": ROW.check, "quick": 0}, "no short form"),
        ({"check": "", "tests": ("tests/test_wheel.py",)}, "its tests"),
    ],
)
def test_a_short_cut_that_skips_a_row_says_that_it_was_not_tried(how: dict[str, Any], why: str) -> None:
    [result] = run_all([replace(ROW, **how)], quick=True)
    assert (result.standing, result.tally.tried) == (Standing.UNTRIED, 0)
    assert why in result.why


def test_tests_that_are_not_there_are_a_failure_in_the_short_cut_too() -> None:
    [result] = run_all([replace(ROW, check="", tests=("tests/test_wheel.py::test_nothing",))], quick=True)
    assert result.standing is Standing.BELOW


@pytest.mark.parametrize(
    ("results", "ends"),
    [
        ([(10, 0, "")], 0),
        ([(10, 0, ""), (0, 0, "needs root")], 3),
        ([(10, 0, ""), (10, 0, "needs root")], 3),
        ([(0, 0, "needs root"), (10, 1, "")], 1),
        ([(10, 0, ""), (9, 0, "")], 1),
    ],
)
def test_only_rows_at_their_marks_end_with_0(results: list[tuple[int, int, str]], ends: int) -> None:
    made = [
        Result(row=ROW, tally=Tally(tried=tried, failed=failed, untried=[why] if why else []), seconds=1.0)
        for tried, failed, why in results
    ]
    assert status(made) == ends


def test_what_was_not_tried_is_counted_apart() -> None:
    other = Result(row=replace(ROW, number="A3"), tally=Tally(untried=["needs root"]), seconds=1.0)
    assert summary([result(), other]) == ["1 of 2 rows at their marks", "not tried: A3"]


def page(*results: Result) -> str:
    return table.with_table(f"before\n{table.BEGIN}\n{table.END}\nafter\n", results, "2026-01-01")


def result(tried: int = 10, failed: int = 0, seconds: float = 1.0) -> Result:
    return Result(row=ROW, tally=Tally(tried=tried, failed=failed), seconds=seconds)


def test_another_time_is_no_difference() -> None:
    assert table.differences(page(result()), [result(seconds=99.0)]) == []


def test_another_number_of_failures_is_a_difference() -> None:
    assert table.differences(page(result()), [result(failed=1)]) == [
        "T1: failed is 1, in docs/dev/trust.md 0",
        "T1: at its mark is **no**, in docs/dev/trust.md yes",
    ]


def test_a_row_that_the_page_does_not_have_is_a_difference() -> None:
    assert table.differences(page(), [result()]) == ["T1: not in docs/dev/trust.md"]


def test_a_row_that_only_the_page_has_is_a_difference() -> None:
    assert table.differences(page(result()), []) == ["T1: in docs/dev/trust.md, and not tried"]


def test_a_row_that_was_not_tried_again_stays_in_the_table() -> None:
    other = Result(row=replace(ROW, number="A3"), tally=Tally(tried=10), seconds=1.0)
    assert table.differences(table.with_table(page(result()), [other], "2026-01-02"), [result(), other]) == []


def test_a_row_that_could_not_be_tried_keeps_what_is_known_of_it() -> None:
    untried = Result(row=ROW, tally=Tally(untried=["needs root"]), seconds=1.0)
    assert table.with_table(page(result()), [untried], "2026-01-02") == page(result())
    assert "T1: at its mark is not tried, in docs/dev/trust.md yes" in table.differences(page(result()), [untried])


def test_no_row_stands_there_twice() -> None:
    numbers = [row.number for row in ROWS]
    assert len(numbers) == len(set(numbers))


@loop_over("row", [row for row in ROWS if row.check], ids=lambda row: row.number)
def test_what_a_row_calls_is_there(row: Row) -> None:
    module, _, name = row.check.partition(":")
    assert callable(getattr(importlib.import_module(module), name))


@loop_over("row", [row for row in ROWS if row.tests or row.lab], ids=lambda row: row.number)
def test_the_tests_of_a_row_are_there(row: Row) -> None:
    assert find_tests((*row.tests, *row.lab)).notes == []


@pytest.mark.long
@pytest.mark.slow
def test_the_short_cut_tries_every_row_that_is_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust", "--quick"], cwd=ROOT, capture_output=True, text=True, timeout=3000
    )
    signs = {
        line[10:14].strip(): line[:10].strip()
        for line in done.stdout.splitlines()
        if line[:10].strip() in SIGNS.values()
    }
    said = done.stdout + done.stderr
    assert set(signs) == {row.number for row in ROWS}, said
    assert set(signs.values()) <= {SIGNS[Standing.PARTLY], SIGNS[Standing.UNTRIED]}, said
    assert done.returncode == 3, said
    assert f"0 of {len(ROWS)} rows at their marks" in done.stdout
