"""With the packages that `make run` installs, and no others, everything can be imported and a trial reverts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.loops import loop, needs_loops
from tests.packages import needs
from tests.runtime import IMPORT_ALL, after_make_run, needs_uv
from tests.trial import shell, try_trial

pytestmark = [pytest.mark.slow, needs_uv, needs("make")]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return after_make_run(tmp_path_factory.mktemp("sources"))


def python(program: Path, code: str) -> subprocess.CompletedProcess[str]:
    argv = (str(program.with_name("python")), "-I", "-c", code)
    return subprocess.run(argv, cwd="/", env={"LANG": "C.UTF-8"}, capture_output=True, text=True)


@pytest.mark.long
def test_the_tests_have_packages_that_make_run_does_not_install(program: Path) -> None:
    done = python(program, "import backends.testing.conformance")
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'pytest'\n")


@pytest.mark.long
def test_every_module_can_be_imported(program: Path) -> None:
    done = python(program, IMPORT_ALL)
    assert done.stdout == "imported\n", done.stderr


@pytest.mark.long
@pytest.mark.root
@needs_loops()
def test_a_value_on_trial_reverts(program: Path, tmp_path: Path) -> None:
    with loop(tmp_path / "disk") as disk:
        try_trial(str(program), disk, shell(tmp_path / "state"))


@pytest.fixture
def damaged(program: Path) -> Iterator[Path]:
    """The program, one module of which needs what is not there."""
    module = program.parents[2] / "backends" / "vendors" / "zfs" / "backend.py"
    sound = module.read_text()
    module.write_text(f"{sound}\nimport no_such_module\n")
    yield program
    module.write_text(sound)


DAMAGE = "backends.vendors.zfs.backend cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"


@pytest.mark.long
def test_doctor_finds_that_no_trial_would_begin(damaged: Path, tmp_path: Path) -> None:
    done = shell(tmp_path / "state")(f"{damaged} doctor; echo $?")
    [row] = [row for row in done.stdout.splitlines() if row.startswith("missing  trials ")]
    assert (row.endswith(f"{DAMAGE}."), done.stdout.endswith("\n5\n")) == (True, True)


@pytest.mark.root
@needs_loops()
def test_a_trial_that_would_not_revert_sets_nothing(damaged: Path, tmp_path: Path) -> None:
    with loop(tmp_path / "disk") as disk:
        attribute = f"/sys/block/{disk.name}/queue/read_ahead_kb"
        command = f"{damaged} set {disk.sure()} read_ahead_kb=64 --trial 10 --yes"
        done = shell(tmp_path / "state")(f"cat {attribute}; {command} >&2; echo $?; cat {attribute}")
    before, status, after = done.stdout.split()
    assert (status, after) == ("3", before)
    assert f"The watchdog of the trial could not be started: {DAMAGE}. Nothing was set." in done.stderr
