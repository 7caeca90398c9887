"""The table of what is mutated leads somewhere, and the tool's answers are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mutants.__main__ import read_dump
from tests.mutants.targets import TARGETS

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", TARGETS)
def test_every_module_and_test_is_there(name: str) -> None:
    target = TARGETS[name]
    assert [path for path in (*target.modules, *target.tests) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", TARGETS)
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
