"""Two guests of the laboratory run every file of tests between them, and none of them twice."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from tests.lab.__main__ import in_order
from tests.lab.turns import Turns

FOUND = {path.stem.removeprefix("test_") for path in (Path(__file__).parent / "lab").glob("test_*.py")}


def runs(guest: Turns, file: str) -> bool:
    return guest.pytest_runtest_protocol(SimpleNamespace(path=Path(file))) is None  # type: ignore[arg-type]


def test_a_file_is_run_by_the_guest_that_took_it_first_and_there_to_its_last_test(tmp_path: Path) -> None:
    one, other = Turns(tmp_path), Turns(tmp_path)
    assert [runs(one, "tests/lab/test_a.py"), runs(other, "tests/lab/test_a.py")] == [True, False]
    assert [runs(other, "tests/lab/test_b.py"), runs(one, "tests/lab/test_b.py")] == [True, False]
    assert [runs(one, "tests/lab/test_a.py"), runs(other, "tests/lab/test_b.py")] == [True, True]


def test_every_file_is_in_the_list_once_one_that_nobody_placed_between_those_of_both() -> None:
    files = in_order([*FOUND, "new"])
    assert sorted(files) == sorted(f"tests/lab/test_{name}.py" for name in (*FOUND, "new"))
    assert all(f"tests/lab/test_{end}.py" not in (files[0], files[-1]) for end in ("new", "swaps"))
    assert ("tests/lab/test_md.py", "tests/lab/test_new.py") in pairwise(files)
