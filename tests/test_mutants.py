"""The table of what is mutated leads somewhere, and the tool's answers are read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.case_loop import loop_over
from tests.mutants import drawn, left_out
from tests.mutants.breaks import BREAKS, Break, broken
from tests.mutants.copied import copied, notices, passing
from tests.mutants.cosmic import read_dump
from tests.mutants.drawn import Slip, draw, modules
from tests.mutants.importers import importing_tests
from tests.mutants.targets import DRAWN, TARGETS
from tests.trust.rows import ROWS

ROOT = Path(__file__).parents[1]


@loop_over("name", TARGETS)
def test_every_module_and_test_is_there(name: str) -> None:
    target = TARGETS[name]
    assert [path for path in (*target.modules, *target.tests) if not (ROOT / path).exists()] == []


@loop_over("name", TARGETS)
def test_no_test_is_named_beside_its_folder(name: str) -> None:
    """Pytest would then run that one alone, and every mutant of what the others hold survives."""
    tests = [Path(path) for path in TARGETS[name].tests]
    assert [path for path in tests if set(path.parents) & set(tests)] == []


def _line(outcome: str | None, worker: str = "normal") -> str:
    mutation = {
        "module_path": "backends/guard.py",
        "operator_name": "core/AddNot",
        "start_pos": [93, 4],
        "definition_name": "judge",
    }
    return json.dumps([{"mutations": [mutation]}, {"worker_outcome": worker, "test_outcome": outcome}])


def test_a_survivor_is_named_by_its_place() -> None:
    [mutant] = read_dump(_line("survived"))
    assert (mutant.place, mutant.operator, mutant.outcome) == ("backends/guard.py:93 judge", "AddNot", "survived")


def test_what_was_filtered_out_is_not_counted() -> None:
    assert list(read_dump(_line(None, "skipped"))) == []


SLIPS = [Slip("a.py", row, operator, 0) for row in range(1, 50) for operator in ("AddNot", "NumberReplacer")]


def test_the_same_seed_draws_the_same_lines() -> None:
    assert draw(SLIPS, 10, 7) == draw(list(reversed(SLIPS)), 10, 7)


def test_another_seed_draws_others() -> None:
    assert draw(SLIPS, 10, 7) != draw(SLIPS, 10, 8)


def test_no_line_is_drawn_twice() -> None:
    assert len({slip.row for slip in draw(SLIPS, 49, 1)}) == 49


def test_more_lines_than_there_are_cannot_be_drawn() -> None:
    assert len(draw(SLIPS, 1000, 1)) == 49


def test_there_is_something_to_draw_from_in_every_place_that_is_named() -> None:
    assert all(modules([name]) for name in DRAWN)


def test_a_place_that_is_not_there_is_told() -> None:
    with pytest.raises(SystemExit, match="no module is called backends/nothing"):
        modules(["backends/nothing.py"])


@pytest.mark.long
@loop_over("path", modules(DRAWN))
def test_every_module_that_is_drawn_from_has_tests_that_import_it(path: str) -> None:
    assert importing_tests(path), path
    assert [test for test in importing_tests(path) if not (ROOT / test).is_file()] == []


def test_a_module_has_the_tests_that_import_it_through_its_package() -> None:
    """No test imports this one by itself: its backend does."""
    assert "tests/backends/mdraid/test_reading.py" in importing_tests("backends/vendors/mdraid/inventory.py")


def test_a_module_has_the_tests_that_import_what_its_package_hands_on() -> None:
    """Tests of the sampler import it from its package."""
    assert "tests/core/benchmark/device_stats/test_meter.py" in importing_tests(
        "app/core/benchmark/device_stats/sampler.py"
    )


def test_the_nearest_tests_come_first() -> None:
    assert importing_tests("app/core/analysis/comparison.py")[0].startswith("tests/core/analysis/")


SOURCE = """\
def f(x):
    \"\"\"Says.\"\"\"
    guard(
        x,
    )
    if x: raise ValueError
    for y in x:
        continue
    return x
"""


def test_a_statement_is_left_out_and_every_other_row_keeps_its_number() -> None:
    without = left_out.without(SOURCE, 3)
    assert without.splitlines()[2:6] == ["    pass", "", "", "    if x: raise ValueError"]
    compile(without, "f", "exec")


def test_what_can_be_left_out_is_no_docstring_and_stands_alone_in_its_row() -> None:
    assert left_out.statements(SOURCE) == [3, 8]


@pytest.mark.long
def test_a_mutant_is_made_in_a_copy_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a checkout with one module and one test that looks at half of it."""
    checkout = tmp_path / "checkout"
    (checkout / "tests").mkdir(parents=True)
    (checkout / "one.py").write_text("SEEN = []\nOTHER = []\nSEEN.append(1)\nOTHER.append(1)\n")
    (checkout / "tests" / "test_one.py").write_text("import one\n\ndef test_it():\n    assert one.SEEN\n")
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    subprocess.run(["git", "-C", str(checkout), "add", "-A"], check=True)
    slips = [Slip("one.py", row, left_out.OPERATOR, row) for row in (3, 4)]
    places: list[Path] = []

    def known(copy: Path, paths: Sequence[str]) -> list[Slip]:
        places.append(copy)
        return slips

    monkeypatch.setattr("tests.mutants.copied.ROOT", checkout)
    monkeypatch.setattr(drawn, "importing_tests", lambda path: ("tests/test_one.py",))
    monkeypatch.setattr(drawn, "slips_of", known)
    tried = [(each.slip.row, each.outcome, each.change) for each in drawn.run_drawn(["one.py"], 2, 1, 60.0)]
    assert tried == [(3, "killed", "-SEEN.append(1)\n+pass"), (4, "survived", "-OTHER.append(1)\n+pass")]
    assert "pass" not in (checkout / "one.py").read_text()
    assert [place.exists() for place in places] == [False]


@pytest.mark.long
def test_tests_that_fail_without_a_mutant_say_nothing_of_one(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text("def test_it():\n    assert False\n")
    (tmp_path / "test_broken.py").write_text("import nothing_of_that_name\n")
    (tmp_path / "test_good.py").write_text("def test_it():\n    assert True\n")
    assert passing(tmp_path, ["test_bad.py", "test_broken.py", "test_good.py"]) == ("test_good.py",)


@pytest.mark.long
def test_a_mutant_that_does_not_come_to_an_end_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_it():\n    while True: pass\n")
    assert notices(tmp_path, ["test_one.py"], 1.0)


@pytest.mark.long
def test_the_copy_has_what_git_knows() -> None:
    with copied() as copy:
        assert (copy / "backends" / "guard.py").read_bytes() == (ROOT / "backends" / "guard.py").read_bytes()
        assert not (copy / ".venv").exists()


@loop_over("each", BREAKS, ids=lambda each: each.name)
def test_a_line_that_is_to_be_broken_stands_where_it_is_looked_for(each: Break) -> None:
    source = (ROOT / each.module).read_text(encoding="utf-8")
    compile(broken(source, each), each.module, "exec")


@loop_over("each", BREAKS, ids=lambda each: each.name)
def test_what_has_to_notice_a_broken_line_is_there(each: Break) -> None:
    assert [test for test in each.tests if not (ROOT / test).exists()] == []
    assert set(each.rows) <= {row.number for row in ROWS}
    assert each.tests
    assert each.rows


def test_a_line_that_moved_is_told() -> None:
    with pytest.raises(ValueError, match="has 0 times"):
        broken("nothing", BREAKS[0])
