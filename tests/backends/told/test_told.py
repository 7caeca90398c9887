"""What a person is told of a thing comes out of its vendor's answers, to the last word."""

from __future__ import annotations

from tests.backends.told import FOLDER, MACHINES, told
from tests.case_loop import loop_over


@loop_over("name", MACHINES)
def test_every_field_and_fact_of_a_machine_is_told(name: str) -> None:
    """`python -m tests.backends.told` writes the files anew; read the difference."""
    assert told(name) == FOLDER.joinpath(f"{name}.txt").read_text(encoding="utf-8")


def test_no_file_is_left_of_a_machine_that_is_not_played() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(MACHINES)
