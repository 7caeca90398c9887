"""A state folder on an odd filesystem works with a way back, or is refused by its name with a next step.

Nothing is set without a journal on disk, and no command ends in a report of a defect.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from app.core.session.journal import FILE, Journal
from app.core.session.paths import Paths
from app.core.session.trusted_file import UntrustedFileError, is_absent, next_step
from tests.backends.loops import Loop, loop, needs_loops, run
from tests.cli.conftest import Cli, Outcome, program

pytestmark = [needs_loops(), pytest.mark.root]

DEFECT = "Internal error"


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loop]:
    """A loop device for all of these tests: none leaves a value of its own."""
    with loop(tmp_path_factory.mktemp("disk") / "disk.img", size=16 << 20) as made:
        yield made


@pytest.fixture
def disk(device: Loop) -> Iterator[Loop]:
    """The device at the value with which each test begins."""
    queue(device).write_text("128")
    yield device
    queue(device).write_text("128")


def queue(disk: Loop) -> Path:
    return Path(f"/sys/block/{disk.name}/queue/read_ahead_kb")


def value(disk: Loop) -> str:
    return queue(disk).read_text().strip()


def set_value(cli: Cli, disk: Loop, *more: str) -> Outcome:
    return cli("set", disk.sure(), "read_ahead_kb=512", "--yes", *more)


@contextmanager
def on(point: Path, kind: str, options: str, source: str = "none") -> Iterator[Path]:
    """A filesystem that is mounted here; skips where that is not possible."""
    point.mkdir()
    done = subprocess.run(["mount", "-t", kind, "-o", options, source, point], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount {kind} here: {done.stderr.strip()}")
    try:
        yield point
    finally:
        run("umount", "--lazy", str(point))


def assert_works(cli: Cli, disk: Loop, state: Path) -> None:
    """A value is set with its journal in the folder, and is undone."""
    done = set_value(cli, disk)
    assert (done.status, value(disk)) == (0, "512"), done.err
    assert (state / "journal" / FILE).stat().st_size > 0
    done = cli("undo", "--yes")
    assert (done.status, value(disk)) == (0, "128"), done.err


def assert_refused(done: Outcome, disk: Loop, place: Path, *steps: str) -> None:
    """Nothing is set; the sentence names the folder and a next step."""
    assert done.status not in (0, None)
    assert value(disk) == "128"
    assert DEFECT not in done.err
    assert str(place) in done.err
    for step in steps:
        assert step in done.err


READS: tuple[tuple[str, ...], ...] = (
    ("devices",),
    ("runs",),
    ("undo", "--yes"),
    ("recover",),
    ("log", "--list"),
    ("doctor",),
)


def assert_no_defect(cli: Cli, disk: Loop) -> None:
    for words in (*READS, ("bench", disk.sure(), "--profile", "randread-4k", "--runtime", "1", "--dry-run")):
        assert DEFECT not in cli(*words).err, words


def fill(file: Path) -> None:
    """Write to a file until its filesystem takes no more."""
    with suppress(OSError), open(file, "wb", buffering=0) as filler:
        while filler.write(bytes(4096)):
            pass


# -- mounted -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_full_filesystem_is_refused_until_there_is_room(
    cli: Cli, disk: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on(tmp_path / "m", "tmpfs", "size=128k") as point:
        monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(point / "state"))
        filler = point / "filler"
        fill(filler)
        assert_refused(set_value(cli, disk), disk, point / "state", "Free disk space or inodes on the filesystem of")
        assert_no_defect(cli, disk)
        filler.unlink()
        assert_works(cli, disk, point / "state")


def test_a_filesystem_without_room_for_files_is_refused(
    cli: Cli, disk: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on(tmp_path / "m", "tmpfs", "size=1m,nr_inodes=4") as point:
        monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(point / "state"))
        assert_refused(set_value(cli, disk), disk, point / "state", "Free disk space or inodes")


def test_a_filesystem_that_became_read_only_keeps_the_way_back(
    cli: Cli, disk: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on(tmp_path / "m", "tmpfs", "size=4m,noexec") as point:
        monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(point))
        assert set_value(cli, disk).status == 0
        run("mount", "-o", "remount,ro", str(point))
        refused = cli("undo", "--yes")
        assert (refused.status, value(disk)) == (1, "512")
        assert "Mount the filesystem" in refused.err
        assert DEFECT not in cli("recover").err
        run("mount", "-o", "remount,rw", str(point))
        assert (cli("undo", "--yes").status, value(disk)) == (0, "128")


@pytest.mark.long
@pytest.mark.parametrize("name", [b"a b", b"a\nb", b"\xff\xfe", b"%s{}"], ids=ascii)
def test_a_folder_with_an_odd_name_works(
    cli: Cli, disk: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes
) -> None:
    folder = tmp_path / os.fsdecode(name)
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(folder))
    assert_works(cli, disk, folder)


@pytest.mark.long
def test_a_home_with_an_odd_name_works(disk: Loop, tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode(b"a\n b\xff")
    home.mkdir()
    places = {"HOME": str(home), "RAIDBENCH_STATE_DIR": str(home / "state")}
    done = program("set", disk.sure(), "read_ahead_kb=512", "--yes", env=places)
    assert (done.status, value(disk)) == (0, "512"), done.err
    assert (program("undo", "--yes", env=places).status, value(disk)) == (0, "128")


def test_a_very_long_path_works(cli: Cli, disk: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path.joinpath(*["d" * 200] * 18)
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(folder))
    assert_works(cli, disk, folder)


@pytest.mark.parametrize("name", ["d" * 300, "/".join(["d" * 200] * 25)], ids=["a name", "a path"])
def test_a_path_that_is_too_long_is_refused(
    cli: Cli, disk: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / name))
    assert_refused(set_value(cli, disk), disk, tmp_path, "File name too long", "RAIDBENCH_STATE_DIR")
    assert DEFECT not in cli("devices").err


def test_a_file_in_the_place_of_the_folder_is_refused(cli: Cli, disk: Loop, state: Path) -> None:
    state.write_text("")
    assert_refused(set_value(cli, disk), disk, state, "Not a directory")
    assert_no_defect(cli, disk)


# -- by what the kernel answers ----------------------------------------------------------------------------------------


def is_below(state: Path, where: int | str | Path) -> bool:
    shown = os.readlink(f"/proc/self/fd/{where}") if isinstance(where, int) else os.fsdecode(where)
    return shown.startswith(str(state))


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, state: Path, code: int) -> Iterator[None]:
    """A call that fails on everything below the state folder."""
    real = getattr(module, name)

    def call(where: int | str | Path, *more: Any, **named: Any) -> Any:
        if is_below(state, where):
            raise OSError(code, os.strerror(code), None if isinstance(where, int) else where)
        return real(where, *more, **named)

    with monkeypatch.context() as patched:
        patched.setattr(module, name, call)
        yield


@pytest.mark.long
@pytest.mark.parametrize("code", [errno.EIO, errno.EINVAL, errno.EROFS])
def test_a_filesystem_whose_fsync_fails_sets_nothing(
    cli: Cli, disk: Loop, state: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    with failing(monkeypatch, os, "fsync", state, code):
        assert_refused(
            set_value(cli, disk), disk, state, os.strerror(code), next_step(OSError(code, ""), Path()).split()[0]
        )
        assert_refused(set_value(cli, disk, "--trial", "10"), disk, state, os.strerror(code))
        assert cli("doctor").status == 5
    assert Journal(Paths.of("").journal).trials() == ()


@pytest.mark.long
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EIO])
def test_a_filesystem_without_locks_sets_nothing_and_doctor_says_so(
    cli: Cli, disk: Loop, state: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    with failing(monkeypatch, fcntl, "flock", state, code):
        assert_refused(set_value(cli, disk), disk, state, os.strerror(code))
        doctor = cli("doctor")
        assert (doctor.status, os.strerror(code) in doctor.out) == (5, True)


def test_a_filesystem_without_extended_attributes_works(
    cli: Cli, disk: Loop, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        failing(monkeypatch, os, "setxattr", state, errno.EOPNOTSUPP),
        failing(monkeypatch, os, "getxattr", state, errno.EOPNOTSUPP),
    ):
        assert_works(cli, disk, state)


def for_all(info: os.stat_result) -> os.stat_result:
    """What a file is like on vfat that is mounted for everybody, whatever its mode was to be."""
    return os.stat_result((info.st_mode | stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO, *tuple(info)[1:]))


@contextmanager
def without_permissions(monkeypatch: pytest.MonkeyPatch, state: Path) -> Iterator[None]:
    with monkeypatch.context() as patched:
        for name in ("stat", "lstat", "fstat"):
            real: Callable[..., os.stat_result] = getattr(os, name)

            def call(
                where: Any, *more: Any, real: Callable[..., os.stat_result] = real, **named: Any
            ) -> os.stat_result:
                info = real(where, *more, **named)
                return for_all(info) if is_below(state, where) else info

            patched.setattr(os, name, call)
        yield


@pytest.mark.long
def test_a_journal_that_everybody_can_write_is_not_believed(
    cli: Cli, disk: Loop, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set_value(cli, disk).status == 0
    queue(disk).write_text("128")
    with without_permissions(monkeypatch, state):
        assert_refused(set_value(cli, disk), disk, state, "can be written by other users", "no permissions (vfat")
        recover = cli("recover", "--restore")
        assert (recover.status, value(disk)) == (1, "128")
        assert f"{state / 'journal' / FILE} can be written by other users" in recover.err
        assert cli("doctor").status == 5
        assert_no_defect(cli, disk)


@contextmanager
def vanished(monkeypatch: pytest.MonkeyPatch, state: Path, code: int) -> Iterator[None]:
    """A folder on a server that does not answer, on a filesystem that died, or that this user may not search."""
    with monkeypatch.context() as patched:
        for module, name in (
            *((os, name) for name in ("stat", "lstat", "open", "mkdir", "scandir", "listdir", "unlink", "utime")),
            (io, "open"),
        ):
            real = getattr(module, name)

            def call(where: Any = ".", *more: Any, real: Any = real, **named: Any) -> Any:
                if not isinstance(where, int) and is_below(state, where):
                    raise OSError(code, os.strerror(code), where)
                return real(where, *more, **named)

            patched.setattr(module, name, call)
        yield


@pytest.mark.long
@pytest.mark.parametrize("code", [errno.ESTALE, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("named", [False, True], ids=["", "--config"])
def test_a_folder_that_does_not_answer_is_refused_and_is_not_taken_for_an_empty_one(
    cli: Cli, disk: Loop, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, named: bool
) -> None:
    config = tmp_path / "config.toml"
    config.touch()
    options = ("--config", str(config)) if named else ()
    assert set_value(cli, disk).status == 0
    with vanished(monkeypatch, state, code):
        for words in (
            *READS,
            ("keep",),
            ("history",),
            ("set", disk.sure(), "read_ahead_kb=256", "--yes"),
            ("bench", disk.sure()),
        ):
            done = cli(*options, *words)
            assert DEFECT not in done.err, words
            assert done.status != 0, words
            if words != ("doctor",) or not named:
                assert (str(state) in done.err, os.strerror(code) in done.err) == (True, True), words
    assert value(disk) == "512"
    assert cli("undo", "--yes").status == 0


def test_a_folder_that_is_removed_after_a_change_does_not_hide_what_a_new_one_does(
    cli: Cli, disk: Loop, state: Path
) -> None:
    assert set_value(cli, disk).status == 0
    state.rename(state.with_name("away"))
    assert "no change is in force" in cli("undo", "--yes").out + cli("undo", "--yes").err
    state.with_name("away").rename(state)
    assert (cli("undo", "--yes").status, value(disk)) == (0, "128")


@pytest.mark.parametrize("code", [errno.EIO, errno.ESTALE, errno.EACCES])
def test_what_cannot_be_examined_is_not_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    assert is_absent(tmp_path / "a" / "b")
    with failing(monkeypatch, os, "lstat", tmp_path, code):
        assert not is_absent(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    assert not is_absent(tmp_path / "file")
    assert not is_absent(tmp_path / "file" / "b")


def test_each_error_has_a_next_step_that_names_the_place() -> None:
    steps = {next_step(OSError(code, os.strerror(code)), Path("/a")) for code in errno.errorcode}
    assert all("/a" in step for step in steps)
    assert len(steps) >= 6
    assert next_step(UntrustedFileError(Path("/a"), "is odd", "Do this."), Path("/b")) == "Do this."
