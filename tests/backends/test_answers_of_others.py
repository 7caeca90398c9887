"""No answer about another object is believed, and none that names one twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.host import Command
from backends.subject import find_repeated, misnamed_reason, refused_text
from tests.backends import answers_of_others


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_what_is_believed_is_the_truth(tmp_path: Path, seed: int) -> None:
    tally = answers_of_others.run(tmp_path, 21, seed)
    assert (tally.failed, tally.notes) == (0, [])
    assert tally.tried >= 21


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        (("slot 3",), ""),
        ((), "it does not name slot 3"),
        (("slot 2",), "it names slot 2 instead of slot 3"),
        (("slot 3", "slot 2"), "it names slot 2 in addition to slot 3"),
        (("slot 3", "slot 3"), "it names slot 3 2 times"),
        (("1", "2", "4", "5", "slot 3"), "it names 1, 2, 4 and 1 more in addition to slot 3"),
    ],
)
def test_an_answer_names_what_was_asked_for_once(named: tuple[str, ...], reason: str) -> None:
    assert misnamed_reason("slot 3", named) == reason


def test_an_answer_that_names_nothing_may_be_allowed() -> None:
    assert misnamed_reason("slot 3", (), required=False) == ""
    assert misnamed_reason("slot 3", ("slot 3", "slot 3"), once=False) == ""


@given(st.lists(st.integers(0, 5)))
def test_what_is_repeated_is_there_twice(names: list[int]) -> None:
    assert find_repeated(names) == {name for name in names if names.count(name) > 1}


def test_a_refusal_names_tool_objects_and_the_next_step() -> None:
    command = Command(argv=("MegaCli64", "-LdPdInfo", "-a3"))
    assert refused_text(command, "it names Adapter 2 instead of Adapter 3") == (
        "MegaCli64 -LdPdInfo -a3: unexpected output: it names Adapter 2 instead of Adapter 3. Run the command "
        "manually and compare its output."
    )
