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
from app.core.session.journal import Journal
from backends import udev
from backends.vendors.scsi import running
from tests.core.doubles import planned
from tools.package import system
from tools.package.tree import VERSION

WATCHDOG = "app.core.changes.watchdog"
REMOVALS = [("deb", "remove"), ("rpm", "0")]
UPGRADES = [("deb", "upgrade"), ("deb", "failed-upgrade"), ("rpm", "1")]

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
    text = text.replace("/var/lib/raidbench", str(tree.parent / "state")).replace("systemd-tmpfiles", "no-such-program")
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


@pytest.mark.parametrize(("kind", "word"), UPGRADES)
@pytest.mark.parametrize("called", [WATCHDOG, "app.features.sweep.cli.daemon"])
def test_an_upgrade_waits_for_nothing(tree: Path, kind: str, word: str, called: str) -> None:
    """Not for the hook of an older version either: dpkg then asks that of the newer one (failed-upgrade)."""
    with runs(tree, called):
        done = hook(tree, kind, "preremove", word)
        assert (done.returncode, done.stderr) == (0, "")


def version(tree: Path, name: str) -> Path:
    (tree / name / "bin").mkdir(parents=True)
    shutil.copy(tree / "python", tree / name / "bin" / "python")
    return tree / name


def names(tree: Path) -> set[str]:
    return {path.name for path in tree.iterdir()}


STEPS = {
    "deb": (("preinstall", "upgrade"), ("postinstall", "configure")),
    "rpm": (("preinstall", "2"), ("posttrans", "1")),
}


def upgrade(tree: Path, kind: str, old: str, new: str) -> None:
    """What dpkg and rpm do, with the hooks of the newer package."""
    (before, first), (after, then) = STEPS[kind]
    assert hook(tree, kind, before, first).returncode == 0
    if not (tree / new).exists():
        version(tree, new)
    if old != new:
        shutil.rmtree(tree / old)
    done = hook(tree, kind, after, then)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_a_version_that_runs_keeps_its_files_until_an_upgrade_after_its_end(tree: Path, kind: str) -> None:
    old = version(tree, "0.1.8")
    with runs(old / "bin", "workbench"):
        upgrade(tree, kind, "0.1.8", "0.1.9")
        assert (names(tree), (old / "bin" / "python").exists()) == ({"python", "0.1.8", "0.1.9"}, True)
        upgrade(tree, kind, "0.1.9", "0.2.9")
        assert names(tree) == {"python", "0.1.8", "0.2.9"}
    upgrade(tree, kind, "0.2.9", "0.3.9")
    assert names(tree) == {"python", "0.3.9"}


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_a_version_that_runs_nowhere_leaves_nothing_at_an_upgrade(tree: Path, kind: str) -> None:
    version(tree, "0.1.8")
    upgrade(tree, kind, "0.1.8", "0.1.9")
    assert names(tree) == {"python", "0.1.9"}


def test_a_version_that_is_installed_again_is_no_longer_one_that_only_runs(tree: Path) -> None:
    (version(tree, VERSION) / ".kept").touch()
    assert hook(tree, "deb", "postinstall", "configure").returncode == 0
    assert (tree / VERSION / "bin" / "python").exists()


def test_what_an_upgrade_kept_is_removed_with_the_package(tree: Path) -> None:
    (version(tree, "0.1.8") / ".kept").touch()
    assert hook(tree, "deb", "postremove", "remove").returncode == 0
    assert names(tree) == {"python"}


def purged(tmp_path: Path) -> tuple[bool, str]:
    """Whether the state is gone, and what was said. Root's state is `tmp_path`/state."""
    text = system.hook("deb", "postremove").replace("/var/lib/raidbench", str(tmp_path / "state"))
    done = subprocess.run(("sh", "-c", text, "postrm", "purge"), capture_output=True, text=True)
    assert done.returncode == 0
    return not (tmp_path / "state").exists(), done.stderr


LATER = 1e12
"""The end of a trial, in seconds of CLOCK_BOOTTIME."""


@pytest.mark.parametrize(
    ("until", "results", "gone"),
    [
        (None, ["verified"], True),
        (None, ["failed"], True),
        (None, [], False),
        (LATER, ["verified"], False),
        (LATER, ["verified", "kept"], True),
        (LATER, ["restored"], True),
    ],
)
def test_a_purge_removes_only_a_state_without_open_changes(
    tmp_path: Path, until: float | None, results: list[str], gone: bool
) -> None:
    """As the journal itself sees them."""
    journal, session = Journal(tmp_path / "state" / "journal"), tmp_path / "state" / "a session"
    journal.write_intent("c1", session, planned("128", "256"))
    journal.write_outcome("c1", session, "verified")
    journal.write_intent("c2", session, planned("128", "256"), until=until)
    for result in results:
        journal.write_outcome("c2", session, result)
    assert list(journal._newest_open_first()) == [] if gone else [journal.intent_of("c2", session)]
    done, told = purged(tmp_path)
    assert (done, "( c2 )" in told, "raidbench recover" in told) == (gone, not gone, not gone)


def test_a_purge_keeps_a_journal_that_it_cannot_read(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "journal"
    folder.mkdir(parents=True)
    (folder / "journal.log").write_text('deadbeef 19 {"kind":"intent","of":"a newer form"}\n')
    assert purged(tmp_path)[0] is False
    shutil.rmtree(folder)
    assert purged(tmp_path) == (True, "")


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
