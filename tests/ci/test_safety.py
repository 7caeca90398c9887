"""Tests of guard, journal, trial and helper are known as such, new ones too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_loop import loop_over
from tests.ci.safety import ROOT, SUBJECTS, Subject, safety_subject

FILES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
MODULES = sorted({module for subject in SUBJECTS for module in subject.modules})


@loop_over(
    "file",
    [
        "tests/backends/test_guard.py",
        "tests/backends/test_guard_verdict.py",
        "tests/backends/test_held_look.py",
        "tests/backends/topology/test_visibility.py",
        "tests/core/benchmark/test_scratch.py",
        "tests/lab/test_guard.py",
        "tests/lab/test_swaps.py",
        "tests/lab/test_scratch.py",
        "tests/core/session/test_journal.py",
        "tests/core/session/test_locks.py",
        "tests/core/session/test_own_file.py",
        "tests/cli/test_trial.py",
        "tests/tui/test_trial_countdown.py",
    ],
)
def test_a_file_of_a_subject_is_known(file: str) -> None:
    assert file in FILES
    assert safety_subject(f"{file}::test_x")


@pytest.mark.parametrize("folder", ["tests/privsep", "tests/trust", "tests/core/changes"])
def test_no_file_of_such_a_folder_is_repeated(folder: str) -> None:
    files = [file for file in FILES if file.startswith(f"{folder}/")]
    assert files
    assert [file for file in files if not safety_subject(f"{file}::test_x")] == []


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_word_is_in_the_path_of_a_test(subject: Subject) -> None:
    assert [word for word in subject.words if not any(word in file for file in FILES)] == []


@loop_over("module", MODULES)
def test_every_module_is_there(module: str) -> None:
    path = ROOT.joinpath(*module.split("."))
    assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@loop_over("word", [word for subject in SUBJECTS for word in subject.words])
@loop_over("form", ["tests/new/test_{}_of_new.py::test_x", "tests/new/test_x.py::test_the_{}[a]"])
def test_a_new_test_is_known_by_its_name(tmp_path: Path, word: str, form: str) -> None:
    test = form.format(word)
    write(tmp_path / test.partition("::")[0], "")
    assert safety_subject(test, tmp_path) in [subject.name for subject in SUBJECTS if word in subject.words]


@loop_over("module", MODULES)
@loop_over("form", ["import {0}", "from {0} import x", "def f():\n    from {0}.y import x", "from {1}"])
def test_a_new_test_is_known_by_its_imports(tmp_path: Path, module: str, form: str) -> None:
    package, _, name = module.rpartition(".")
    write(tmp_path / "tests/new/test_x.py", form.format(module, f"{package} import {name}"))
    assert safety_subject("tests/new/test_x.py::test_y", tmp_path)


@pytest.mark.parametrize("text", ["import backends.guarded", "from backends import names\nfrom . import x", ""])
def test_a_test_of_anything_else_is_repeated(tmp_path: Path, text: str) -> None:
    write(tmp_path / "tests/new/test_x.py", text)
    assert safety_subject("tests/new/test_x.py::test_y", tmp_path) == ""


@pytest.mark.parametrize("text", [None, "def f(:", "\0"])
def test_a_file_that_cannot_be_read_is_not_repeated(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        write(tmp_path / "tests/new/test_x.py", text)
    assert safety_subject("tests/new/test_x.py::test_y", tmp_path) == "the guard"


def test_most_tests_are_repeated() -> None:
    """Else a run fails through timing as before."""
    some = FILES[::10]
    assert sum(not safety_subject(f"{file}::test_x") for file in some) > len(some) / 2


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
