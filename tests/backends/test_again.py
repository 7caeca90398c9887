"""The program is started again with what it was started from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backends import self_exec as module
from backends.self_exec import LAUNCHER, persistent_argv, self_exec_argv

ROOT = Path(__file__).parents[2]


def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a tree: no isolated interpreter finds the program by itself."""
    monkeypatch.setattr(module, "_default_search_path", lambda: iter(()))


@pytest.mark.parametrize("found", [True, False])
def test_more_words_come_to_the_module(found: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not found:
        elsewhere(monkeypatch)
    words = [*self_exec_argv("app"), "glossary", "--", "a", "b c", "d"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, "unexpected extra arguments (b c d)" in done.stderr) == (2, True), done.stderr


def test_what_is_started_again_starts_itself_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elsewhere(monkeypatch)
    words = list(self_exec_argv("app"))
    code = f"import sys, {self_exec_argv.__module__} as one; one._default_search_path = list; "
    code += "print(*one.self_exec_argv('app'), sep='\\n')"
    words[words.index("-c") + 1] = f"import sys; end = sys.argv.index('--'); sys.path[:] = sys.argv[2:end]; {code}"
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == list(self_exec_argv("app")), done.stderr


def test_an_installed_program_is_named_as_a_rule_of_sudo_can_name_it() -> None:
    assert self_exec_argv("app.privsep") == (sys.executable, "-I", "-m", "app.privsep")


@pytest.mark.parametrize(("flags", "carried"), [(["-I", "-B"], ["-I", "-B"]), (["-I"], ["-I"]), (["-B"], ["-I"])])
def test_an_interpreter_that_leaves_no_bytecode_is_started_so_again(flags: list[str], carried: list[str]) -> None:
    code = "from backends.self_exec import self_exec_argv; print(*self_exec_argv('app')[1:-2])"
    done = subprocess.run([sys.executable, *flags, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == carried, done.stderr


def test_an_interpreter_that_does_not_know_its_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    if not os.path.exists(os.readlink("/proc/self/exe")):  # a chroot, in which a worker has mounts of its own
        pytest.skip("the kernel names the interpreter by a path that is not in this root")
    assert Path(self_exec_argv("app")[0]).samefile("/proc/self/exe")


@pytest.mark.parametrize(("mode", "before"), [(0o755, []), (0o644, [sys.executable, "-I"])])
def test_what_lasts_is_the_file_that_a_person_starts(
    mode: int, before: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "raidbench"
    launcher.touch()
    launcher.chmod(mode)
    monkeypatch.setenv(LAUNCHER, str(launcher))
    assert persistent_argv() == (*before, str(launcher))


def test_without_such_a_file_the_program_lasts_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LAUNCHER, raising=False)
    assert persistent_argv() == self_exec_argv("app")


def test_only_what_has_no_more_rights_looks_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert str(tmp_path) in self_exec_argv("app", with_pythonpath=True)
    assert str(tmp_path) not in self_exec_argv("app.privsep")
