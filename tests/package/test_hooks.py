"""What the packages do before and after: nothing is taken away below a raidbench that runs."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.changes import systemd_units
from backends import udev
from backends.vendors.scsi import running
from tools.package import system

WATCHDOG = "app.core.changes.watchdog"
REMOVALS = [("deb", "remove"), ("deb", "upgrade"), ("deb", "failed-upgrade"), ("rpm", "0")]

pytestmark = pytest.mark.exhaustive


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Stands for /usr/lib/raidbench, with a program."""
    (tmp_path / "lib").mkdir()
    shutil.copy(str(shutil.which("sleep")), tmp_path / "lib" / "python")
    return tmp_path / "lib"


@contextmanager
def runs(tree: Path, called: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program out of the tree by that name."""
    with subprocess.Popen((called, "600"), executable=tree / "python") as process:
        try:
            yield process
        finally:
            process.kill()


def script(tree: Path, kind: str, name: str, word: str) -> tuple[str, ...]:
    text = system.hook(kind, name).replace("/usr/lib/raidbench", str(tree)).replace("/usr/bin/raidbench", "/bin/false")
    return ("sh", "-c", text, name, word)


def hook(tree: Path, kind: str, name: str, word: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(script(tree, kind, name, word), capture_output=True, text=True)


@pytest.mark.parametrize(("kind", "word"), REMOVALS)
def test_a_package_is_removed_when_nothing_runs_out_of_it(tree: Path, kind: str, word: str) -> None:
    done = hook(tree, kind, "preremove", word)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("kind", "word"), REMOVALS)
def test_a_package_is_not_removed_below_a_sweep_that_runs(tree: Path, kind: str, word: str) -> None:
    with runs(tree, "app.features.sweep.cli.daemon") as process:
        done = hook(tree, kind, "preremove", word)
        assert (done.returncode, f"(process {process.pid})" in done.stderr) == (1, True)
        assert process.poll() is None


@pytest.mark.parametrize(("kind", "word"), REMOVALS)
def test_a_removal_waits_for_what_is_on_trial(tree: Path, kind: str, word: str) -> None:
    with runs(tree, WATCHDOG) as watchdog:
        removal = subprocess.Popen(script(tree, kind, "preremove", word), stderr=subprocess.PIPE, text=True)
        assert removal.stderr is not None
        assert "is on trial" in removal.stderr.readline()
        assert removal.poll() is None
        watchdog.kill()
        watchdog.wait()
        assert (removal.wait(), removal.stderr.read()) == (0, "")
        removal.stderr.close()


def test_programs_of_another_folder_are_nobodys_concern(tree: Path, tmp_path: Path) -> None:
    shutil.copytree(tree, tmp_path / "library")
    with runs(tmp_path / "library", "app.features.sweep.cli.daemon"):
        assert hook(tree, "deb", "preremove", "remove").returncode == 0


def test_an_rpm_is_put_over_an_older_one_only_when_nothing_runs_out_of_that(tree: Path) -> None:
    with runs(tree, "app.features.sweep.cli.daemon"):
        assert [hook(tree, "rpm", "preinstall", word).returncode for word in ("1", "2")] == [0, 1]


def test_an_rpm_that_gives_way_to_a_newer_one_is_removed_without_a_question(tree: Path) -> None:
    """rpm installs the newer one first: to refuse then would leave both."""
    with runs(tree, "app.features.sweep.cli.daemon"):
        assert hook(tree, "rpm", "preremove", "1").returncode == 0


def test_what_a_crash_left_is_told_before_the_program_that_can_mend_it_is_gone(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "raidbench").write_text(
        "#!/bin/sh\n[ \"$*\" != 'recover --list' ] || echo change c7, read-ahead of sda\n"
    )
    (tmp_path / "raidbench").chmod(0o755)
    text = system.hook("deb", "preremove").replace("/usr/bin/raidbench", str(tmp_path / "raidbench"))
    told = [
        subprocess.run(("sh", "-c", text, "prerm", word), capture_output=True, text=True).stderr.splitlines()[1:]
        for word in ("remove", "upgrade")
    ]
    assert told == [["change c7, read-ahead of sda"], []]


@pytest.mark.parametrize("path", [udev.queue_rules("queue", "disk").path, running.RULES.path, systemd_units.PATH])
def test_every_file_that_raidbench_writes_for_an_administrator_is_named_when_it_stays(path: str) -> None:
    [named] = re.findall(r"for file in (.*?); do", system.hook("deb", "postremove"), re.DOTALL)
    assert any(fnmatch.fnmatch(path, pattern) for pattern in named.replace("\\", " ").split())


def test_the_unit_of_the_package_only_tells() -> None:
    text = system.unit()
    [command] = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    assert command == "/usr/bin/raidbench recover --list"
    assert "--trials" not in text


def test_every_hook_is_a_script_that_a_shell_understands() -> None:
    for kind, names in system.HOOKS.items():
        for name in names:
            done = subprocess.run(("sh", "-n"), input=system.hook(kind, name), capture_output=True, text=True)
            assert (kind, name, done.stderr) == (kind, name, "")
