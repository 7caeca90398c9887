"""A loop over cases runs all of them and names each one that fails."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.case_loop import loop_over

NUMBERS = (1, 2, 3, 4)


def test_every_case_runs_and_every_failing_one_is_named() -> None:
    ran: list[int] = []

    @loop_over("number", NUMBERS)
    def test(number: int) -> None:
        ran.append(number)
        assert number % 2, f"{number} is even"

    with pytest.raises(AssertionError) as caught:
        test()
    lines = str(caught.value).splitlines()
    assert ran == [1, 2, 3, 4]
    assert lines[0] == "2 of 4 cases failed:"
    assert [line for line in lines if line.startswith("number=")] == [
        "number='2': 2 is even",
        "number='4': 4 is even",
    ]


def test_cases_that_all_pass_pass() -> None:
    loop_over("number", NUMBERS)(lambda number: number)()


async def test_a_coroutine_function_is_awaited_for_every_case() -> None:
    @loop_over("number", NUMBERS)
    async def test(number: int) -> None:
        assert number < 4

    assert inspect.iscoroutinefunction(test)
    with pytest.raises(AssertionError, match="1 of 4 cases failed:\nnumber='4'"):
        await test()


def test_of_two_loops_every_combination_runs() -> None:
    @loop_over("number", NUMBERS)
    @loop_over("letter", "ab")
    def test(number: int, letter: str) -> None:
        assert (number, letter) != (3, "b")

    with pytest.raises(AssertionError, match=r"(?s)^1 of 4 .*number='3': 1 of 2 .*letter='b'"):
        test()


def test_what_is_no_case_is_a_fixture() -> None:
    @loop_over(("number", "half"), [(2, 1), (4, 2)])
    def test(tmp_path: Path, number: int, half: int) -> None:
        assert number == 2 * half

    assert list(inspect.signature(test).parameters) == ["tmp_path"]
    test(tmp_path=Path())


@pytest.mark.parametrize("error", [ValueError("broken"), KeyError("broken")])
def test_another_error_is_named_with_its_type(error: Exception) -> None:
    @loop_over("number", NUMBERS)
    def test(number: int) -> None:
        raise error

    with pytest.raises(AssertionError, match=f"4 of 4 cases failed:\nnumber='1': {type(error).__name__}: .*broken"):
        test()


@pytest.mark.parametrize("end", [pytest.skip, pytest.fail])
def test_a_case_can_neither_skip_nor_leave_out_the_others(end: object) -> None:
    @loop_over("number", NUMBERS)
    def test(number: int) -> None:
        assert callable(end)
        end("ended here")

    with pytest.raises(AssertionError, match=r"(?s)^4 of 4 .*ended here.*ended here"):
        test()


def test_cases_are_named_as_parametrize_names_them() -> None:
    @loop_over("number", [pytest.param(1, id="one"), 2], ids=lambda number: f"no. {number}")
    def test(number: int) -> None:
        raise ValueError

    with pytest.raises(AssertionError, match=r"(?s)\none: .*\nno\. 2: "):
        test()


def test_a_loop_of_no_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="no case for number"):
        loop_over("number", [])


def test_a_case_with_a_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a test of its own"):
        loop_over("number", [pytest.param(1, marks=pytest.mark.root)])


def test_a_case_with_the_wrong_number_of_values_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        loop_over(("number", "half"), [(1, 2, 3)])
