"""The one file's launcher: where it unpacks itself, where it never does, and what it hands on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.features.fleet.hosts.standalone_binary import find_binary
from tests.package.fake import build, interpreter, needs_go, start
from tests.packages import needs
from tools.package.tree import INTERPRETER

pytestmark = [pytest.mark.package, needs_go]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts and makes files of others")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return interpreter(tmp_path_factory.mktemp("fake") / "go")


@pytest.fixture(scope="module")
def versions(told: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four versions of the program, oldest first."""
    return [build(tmp_path_factory.mktemp("built"), told, f"version {number}".encode()) for number in range(4)]


@pytest.fixture(scope="module")
def program(versions: list[Path]) -> Path:
    return versions[0]


def trees(base: Path) -> list[str]:
    """What lies in a folder of unpacked trees, hidden ones too."""
    return sorted(os.listdir(base)) if base.exists() else []


def in_(base: Path) -> dict[str, str]:
    return {"RAIDBENCH_UNPACK_DIR": str(base)}


def refused(program: Path, base: Path) -> str:
    """The sentence with which a folder is refused; nothing was unpacked."""
    before = trees(base)
    started = start(program, env=in_(base))
    assert (started.status, started.told, trees(base)) == (1, {}, before)
    return started.said


def test_it_is_known_for_the_one_file_that_hosts_are_sent(program: Path) -> None:
    known = find_binary(program)
    assert known is not None
    assert (known.machine, known.size) == (os.uname().machine, program.stat().st_size)


def test_the_interpreter_is_started_isolated_with_the_words_that_were_typed(program: Path, tmp_path: Path) -> None:
    started = start(program, "set", "block:sda", "a b", env=in_(tmp_path / "base"))
    assert started.told["argv"][1:] == ["-I", "-B", "-m", "app", "set", "block:sda", "a b"]


def test_it_is_called_by_its_own_path_by_which_it_finds_itself_again(program: Path, tmp_path: Path) -> None:
    started = start(program, env=in_(tmp_path / "base"))
    [tree] = trees(tmp_path / "base")
    assert started.told["argv"][0] == started.told["path"] == str(tmp_path / "base" / tree / INTERPRETER)


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"]
)
def test_what_changes_an_interpreter_or_a_loader_is_not_handed_on(program: Path, tmp_path: Path, name: str) -> None:
    assert name not in start(program, env={**in_(tmp_path / "base"), name: "/nowhere"}).environment


@pytest.mark.parametrize("name", ["TERM", "LANG", "NO_COLOR", "SSH_CONNECTION", "RAIDBENCH_STATE_DIR"])
def test_what_a_program_needs_is_handed_on(program: Path, tmp_path: Path, name: str) -> None:
    assert start(program, env={**in_(tmp_path / "base"), name: "as it was"}).environment[name] == "as it was"


def test_the_file_that_was_started_is_told_and_not_believed_from_outside(program: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(program)
    started = start(tmp_path / "link", env={**in_(tmp_path / "base"), "RAIDBENCH_LAUNCHER": "/bin/sh"})
    assert started.environment["RAIDBENCH_LAUNCHER"] == str(program)


def test_a_second_start_takes_what_the_first_unpacked(program: Path, tmp_path: Path) -> None:
    start(program, env=in_(tmp_path / "base"))
    [tree] = trees(tmp_path / "base")
    mark = tmp_path / "base" / tree / "mark"
    mark.touch()
    start(program, env=in_(tmp_path / "base"))
    assert (trees(tmp_path / "base"), mark.exists()) == ([tree], True)


def test_first_starts_at_once_all_work_and_leave_one_tree(program: Path, tmp_path: Path) -> None:
    many = [subprocess.Popen(program, env=in_(tmp_path / "base"), stdout=subprocess.PIPE) for _ in range(6)]
    statuses = [(one.communicate(), one.returncode)[1] for one in many]
    assert (statuses, len(trees(tmp_path / "base"))) == ([0] * 6, 1)


def test_the_folder_is_for_its_user_alone_whatever_the_umask_is(program: Path, tmp_path: Path) -> None:
    words = ("sh", "-c", 'umask 0; exec "$0"', program)
    subprocess.run(words, env={**in_(tmp_path / "base"), "PATH": os.environ["PATH"]}, check=True, capture_output=True)
    places = [tmp_path / "base", *(tmp_path / "base").rglob("*")]
    assert [path for path in places if path.stat().st_mode & 0o022] == []


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_may_write_to_is_refused(program: Path, tmp_path: Path, mode: int) -> None:
    base = tmp_path / "base"
    base.mkdir()
    base.chmod(mode)
    assert f"other users can write to {base}" in refused(program, base)


def test_a_folder_below_one_that_everybody_may_write_to_is_refused(program: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "base").mkdir(0o700)
    assert f"other users can write to {tmp_path}/open" in refused(program, tmp_path / "open" / "base")


def test_a_link_in_the_place_of_the_folder_is_refused(program: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "base").symlink_to(tmp_path / "real")
    assert "is not a folder" in refused(program, tmp_path / "base")


@needs_root
def test_a_folder_of_somebody_else_is_refused(program: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir(0o700)
    os.chown(base, 65534, 65534)
    assert f"{base} belongs to another user" in refused(program, base)


@needs_root
def test_a_tree_that_somebody_else_has_planted_is_not_run(program: Path, tmp_path: Path) -> None:
    start(program, env=in_(tmp_path / "base"))
    [tree] = trees(tmp_path / "base")
    os.chown(tmp_path / "base" / tree, 65534, 65534)
    assert "belongs to another user" in refused(program, tmp_path / "base")


@needs_root
def test_root_unpacks_below_no_folder_of_a_user(program: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(0o755)
    os.chown(tmp_path / "home", 65534, 65534)
    (tmp_path / "home" / "base").mkdir(0o700)
    assert f"{tmp_path}/home belongs to another user" in refused(program, tmp_path / "home" / "base")


def mounted(options: str, base: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run with an empty file system at `base`, which only this run sees; then tell what lies there."""
    script = f'mount -t tmpfs -o mode=700,{options} none {base} && {{ "$@"; echo "left: $(ls -A {base})"; }}'
    argv = ("unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", *words)
    return subprocess.run(argv, env={**os.environ, **in_(base)}, capture_output=True, text=True)


@needs_root
@needs("unshare", "mount")
def test_a_file_system_mounted_noexec_is_named(program: Path, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    done = mounted("noexec", tmp_path / "base", str(program))
    assert f"{tmp_path}/base is on a filesystem mounted noexec" in done.stderr
    assert (done.stdout, "RAIDBENCH_UNPACK_DIR" in done.stderr) == ("left: \n", True)


@needs_root
@needs("unshare", "mount")
def test_a_full_disk_is_a_sentence_and_leaves_nothing(program: Path, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    done = mounted("size=256k", tmp_path / "base", str(program))
    assert f"there is not enough free space in {tmp_path}/base" in done.stderr
    assert (done.stdout, "94 MB" in done.stderr) == ("left: \n", True)


@needs_root
@needs("setpriv")
def test_a_user_takes_the_tree_that_root_has_unpacked(program: Path, tmp_path: Path) -> None:
    """Only out of root's own tree may the helper run that is root for a user."""
    script = (
        'mkdir -p /var/cache && mount -t tmpfs none /var/cache && "$1" >/dev/null'
        " && exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nowhere $1"
    )
    copied = Path("/var/tmp") / f"raidbench-test-{os.getpid()}"
    shutil.copy(program, copied)
    try:
        argv = ("unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", str(copied))
        environment = {name: value for name, value in os.environ.items() if name != "RAIDBENCH_UNPACK_DIR"}
        done = subprocess.run(argv, env=environment, capture_output=True, text=True)
    finally:
        copied.unlink()
    assert '"path":"/var/cache/raidbench/' in done.stdout, done.stderr


def test_an_interrupted_first_start_leaves_nothing(told: Path, tmp_path: Path) -> None:
    """On a busy machine it may be through before the signal comes: then that was none, and it starts anew."""
    program = build(tmp_path, told, bytes(400_000_000))
    for attempt in range(50):
        base = tmp_path / f"base{attempt}"
        process = subprocess.Popen(program, env=in_(base), stdout=subprocess.DEVNULL)
        while not trees(base) and process.poll() is None:
            pass
        process.send_signal(signal.SIGTERM)
        if process.wait() != 0:
            assert (process.returncode, trees(base)) == (128 + signal.SIGTERM, [])
            return
        shutil.rmtree(base)
    pytest.fail("it was never interrupted while it unpacked")


@contextmanager
def staying(program: Path, base: Path) -> Iterator[None]:
    """The program as long as somebody uses it."""
    process = subprocess.Popen(
        program, env={**in_(base), "STAY": "yes"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.communicate()


def test_the_newest_two_trees_are_kept(versions: list[Path], tmp_path: Path) -> None:
    base = tmp_path / "base"
    after = [(start(one, env=in_(base)).status, frozenset(trees(base)))[1] for one in versions]
    assert [len(one) for one in after] == [1, 2, 2, 2]
    assert (len(after[3] - after[2]), len(after[3] & (after[2] - after[1]))) == (1, 1)


def test_an_old_tree_stays_as_long_as_something_runs_out_of_it(versions: list[Path], tmp_path: Path) -> None:
    base = tmp_path / "base"
    with staying(versions[0], base):
        [used] = trees(base)
        for version in versions[1:3]:
            start(version, env=in_(base))
        assert used in trees(base)
    start(versions[3], env=in_(base))
    assert used not in trees(base)


def test_what_a_killed_start_left_is_removed_when_it_is_old(program: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    for name, age in ((".new-old", 7200), (".new-fresh", 0)):
        (base / name).mkdir(parents=True)
        os.utime(base / name, (time.time() - age,) * 2)
    base.chmod(0o700)
    start(program, env=in_(base))
    assert [name for name in trees(base) if name.startswith(".new")] == [".new-fresh"]


def test_other_things_in_the_folder_are_left_alone(versions: list[Path], tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "notes").mkdir(parents=True)
    base.chmod(0o700)
    for version in versions:
        start(version, env=in_(base))
    assert "notes" in trees(base)
