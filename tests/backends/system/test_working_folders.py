"""Working folders that killed runs left are known and removed: only empty ones of ours whose process is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from backends.host import Command
from backends.system.local import LocalHost, files
from backends.system.local.files import left_folders, private_folder, remove_folders
from tests.packages import needs

ROOT = Path(__file__).parents[3]
KILLED = """
import os, signal
from backends.system.local.files import private_folder
print(private_folder(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(files, "_tidied", True)
    return tmp_path


@pytest.fixture
def left(temp: Path) -> Path:
    """The folder of a process that was killed."""
    environment = {**os.environ, "TMPDIR": str(temp)}
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, env=environment, capture_output=True, text=True)
    return Path(done.stdout.strip())


def test_the_folder_of_a_killed_process_is_found_and_removed(left: Path) -> None:
    assert left_folders() == (str(left),)
    assert (remove_folders(left_folders()), left.exists()) == (1, False)


def test_the_folder_of_a_living_process_is_not(temp: Path) -> None:
    private_folder()
    assert left_folders() == ()


def test_one_that_holds_something_is_not(left: Path) -> None:
    (left / "storcli.log").touch()
    assert left_folders() == ()


def test_one_that_got_something_since_stays(left: Path) -> None:
    found = left_folders()
    (left / "storcli.log").touch()
    assert (remove_folders(found), left.exists()) == (0, True)


def test_one_in_which_a_program_still_stands_is_not(left: Path) -> None:
    with subprocess.Popen(["/bin/cat"], cwd=left, stdin=subprocess.PIPE) as standing:
        assert left_folders() == ()
        standing.communicate()
    assert left_folders() == (str(left),)


def test_a_link_of_its_name_is_not(left: Path, temp: Path) -> None:
    left.rmdir()
    (temp / "elsewhere").mkdir(mode=0o700)
    left.symlink_to(temp / "elsewhere")
    assert left_folders() == ()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_another_users_is_not(left: Path) -> None:
    os.chown(left, 65534, 65534)
    assert left_folders() == ()


@needs("unshare")
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a pid namespace")
def test_a_container_that_shares_the_folder_takes_nobody_elses(temp: Path) -> None:
    mine = private_folder()
    tidy = (
        "from backends.system.local.files import left_folders, private_folder; print(left_folders(), private_folder())"
    )
    container = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", sys.executable, "-c", tidy)
    environment = {**os.environ, "TMPDIR": str(temp)}
    done = subprocess.run(container, cwd=ROOT, env=environment, capture_output=True, text=True)
    if "unshare" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.stdout.startswith("() "), done
    assert os.path.isdir(mine)
    assert left_folders() == ()  # nor does anybody here take the container's, whose process is gone


@pytest.mark.parametrize("name", ["raidbench-abc", "raidbench-4000000-1", "Raidbench-1-4000000-1-a", "x-1-4000000-1-a"])
def test_a_folder_of_any_other_name_is_not(temp: Path, name: str) -> None:
    (temp / name).mkdir(mode=0o700)
    assert left_folders() == ()


async def test_the_next_start_removes_it_with_its_first_program(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_tidied", False)
    await LocalHost().run(Command(argv=("/bin/true",)))
    assert not left.exists()
