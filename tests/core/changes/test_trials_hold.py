"""A trial comes back whatever becomes of the state folder meanwhile: the value first, what is told of it afterwards."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.changes import watchdog
from app.core.changes.trial import LONGEST_WAIT
from app.core.session.journal import Journal, boot_clock
from app.core.session.journals import trials_elsewhere
from app.core.session.paths import ROOTS_LOCKS, Paths
from backends.change import Change
from backends.errors import RefusedError, StorageError
from backends.host import custody
from tests.backends.loops import ext4, loop, needs_loops, wait_for
from tests.core.broken_disk import taking_nothing
from tests.core.changes.test_trials import PROGRAM, Trial, watch
from tests.core.doubles import FakeBackend, planned
from tests.packages import needs
from tests.watchdogs import marked, watchdogs

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the watchdog waited between its tries; nobody waits in fact."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(watchdog, "asyncio", SimpleNamespace(sleep=sleep))
    return waited


async def on_trial(folder: Path) -> tuple[Trial, float]:
    """A change of 128 to 256 whose deadline is now."""
    bench, until = Trial(folder), boot_clock()
    await bench.changer.apply(planned("128", "256"), until=until)
    return bench, until


@pytest.mark.parametrize("code", [errno.EROFS, errno.EIO, errno.ENOSPC])
async def test_the_value_comes_back_though_nothing_can_be_recorded_and_is_recorded_when_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    bench, until = await on_trial(tmp_path)
    values: list[str | None] = []
    broken = taking_nothing(monkeypatch, tmp_path, code)
    broken.__enter__()

    async def sleep(_seconds: float) -> None:
        values.append(bench.backend.value)
        if len(values) == 3:  # somebody mended the disk
            broken.__exit__(None, None, None)

    monkeypatch.setattr(watchdog, "asyncio", SimpleNamespace(sleep=sleep))
    assert await watch(bench, tmp_path, until) == "restored"
    assert values == ["128"] * 3
    assert bench.backend.applied[-1].after == "128"
    assert len(bench.backend.applied) == 2, "it was set again because it could not be told"
    assert bench.journal.trials() == ()


class WithAProgram(FakeBackend):
    """One whose values are set by a program."""

    async def apply(self, change: Change) -> None:
        made = custody.get()
        assert made is not None
        made.begins(os.getpid(), "sdparm")
        await super().apply(change)


async def test_a_program_that_cannot_be_noted_takes_a_value_back_and_sets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, until = Trial(tmp_path, WithAProgram()), boot_clock()
    await bench.changer.apply(planned("128", "256"), until=until)
    [left] = bench.journal.trials()
    with taking_nothing(monkeypatch, tmp_path, errno.EROFS):
        assert await bench.changer.restore_settings(left) == "restored"
    assert bench.backend.value == "128"
    bench.journal.write_outcome(left.id, bench.folder, "restored")
    with monkeypatch.context() as patch:
        patch.setattr(bench.journal, "write_setter", unable)
        ended = await bench.changer.apply(planned("128", "512"))
    assert (ended.result, bench.backend.value) == ("failed", "128")


def unable(*_: object) -> None:
    raise StorageError("The journal cannot be written.")


@pytest.mark.long
async def test_a_disk_that_takes_nothing_for_an_hour_ends_the_tries_and_not_the_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tries: list[float]
) -> None:
    bench, until = await on_trial(tmp_path)
    now = boot_clock()
    monkeypatch.setattr(watchdog, "boot_clock", lambda: now + sum(tries))
    with taking_nothing(monkeypatch, tmp_path, errno.EROFS):
        assert await watch(bench, tmp_path, until) == "failed"
    assert (bench.backend.value, sum(tries)) == ("128", LONGEST_WAIT)


@pytest.mark.parametrize("what", ["journal", "journal/journal.log"])
async def test_a_journal_that_vanished_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    bench, started = Trial(tmp_path), boot_clock()
    until = started + 10
    await bench.changer.apply(planned("128", "256"), until=until)
    clock = [started]

    async def sleep(seconds: float) -> None:
        clock[0] += max(seconds, 1.0)
        path = tmp_path / what
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    monkeypatch.setattr(watchdog, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(watchdog, "boot_clock", lambda: clock[0])
    await watch(bench, tmp_path, until)
    assert (bench.backend.value, clock[0] >= until) == ("128", True)


async def test_what_was_kept_stays_kept_when_the_journal_vanishes_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, until = await on_trial(tmp_path)
    bench.journal.write_outcome("c1", bench.folder, "kept")
    trials = watchdog._Trials(bench.journal, bench.folder, until)
    assert trials.undecided_trials() == ()
    shutil.rmtree(tmp_path / "journal")
    assert trials.undecided_trials() == ()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own below the state folder; what mounts it has its own mount namespace or none."""
    folder = tmp_path / "state"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.long
@needs_root
@needs_loops()
@pytest.mark.slow
def test_a_real_watchdog_puts_back_what_it_can_tell_nobody(memory: Path, tmp_path: Path) -> None:
    with loop(tmp_path / "disk.img") as disk:
        setting = Path(f"/sys/block/{disk.device.removeprefix('/dev/')}/queue/read_ahead_kb")
        before = setting.read_text().strip()
        wanted = "1024" if before != "1024" else "2048"
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, disk.device, wanted],
            stdout=subprocess.PIPE,
            env={**os.environ, "RAIDBENCH_STATE_DIR": str(memory), "PYTHONPATH": os.getcwd()},
        ) as child:
            assert child.stdout is not None
            told = json.loads(child.stdout.readline())
            child.kill()
        assert (told, setting.read_text().strip()) == ("verified", wanted)
        subprocess.run(["mount", "-o", "remount,ro", memory], check=True)
        wait_for(lambda: setting.read_text().strip() == before, 120)
        assert setting.read_text().strip() == before
        assert Journal(memory / "journal").trials()  # not told yet
        subprocess.run(["mount", "-o", "remount,rw", memory], check=True)
        wait_for(lambda: not Journal(memory / "journal").trials(), 120)
        assert not Journal(memory / "journal").trials()


@pytest.fixture
def dying(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A state folder on a disk of its own, and what lets every read and write of that disk fail from then on.

    Its image lies on a file system in memory: cut off and with no room to grow again, it is what dm-error is.
    """
    room = tmp_path / "room"
    room.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", room], check=True)
    folder = tmp_path / "state"

    def die() -> None:
        os.truncate(room / "image", 0)
        with suppress(OSError), open(room / "rest", "wb", buffering=0) as rest:
            while rest.write(bytes(1 << 20)):
                pass

    try:
        with loop(room / "image", size=32 << 20) as disk:
            ext4(disk.sure())
            folder.mkdir()
            subprocess.run(["mount", disk.device, folder], check=True)
            try:
                yield folder, die
            finally:
                subprocess.run(["umount", "-l", folder], check=True)
    finally:
        subprocess.run(["umount", "-l", room], check=True)


@contextmanager
def ends_what_it_leaves(mark: Path) -> Iterator[None]:
    """Ends the watchdog that bears this mark, which would try to tell what it did for an hour."""
    try:
        yield
    finally:
        for one in watchdogs(mark):
            one.kill()
            one.wait(60)


@pytest.mark.long
@needs_root
@needs_loops()
@needs("mkfs.ext4")
@pytest.mark.slow
def test_a_real_watchdog_puts_back_though_the_disk_of_its_state_folder_has_died(
    dying: tuple[Path, Callable[[], None]], tmp_path: Path
) -> None:
    state, die = dying
    with loop(tmp_path / "disk.img", size=16 << 20) as disk, ends_what_it_leaves(tmp_path):
        setting = Path(f"/sys/block/{disk.device.removeprefix('/dev/')}/queue/read_ahead_kb")
        before = setting.read_text().strip()
        wanted = "1024" if before != "1024" else "2048"
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, disk.device, wanted],
            stdout=subprocess.PIPE,
            env={**os.environ, "RAIDBENCH_STATE_DIR": str(state), "PYTHONPATH": marked(os.getcwd(), tmp_path)},
        ) as child:
            assert child.stdout is not None
            told = json.loads(child.stdout.readline())
            child.kill()
        assert (told, setting.read_text().strip()) == ("verified", wanted)
        die()
        write = ["dd", "if=/dev/zero", f"of={state / 'more'}", "bs=4096", "count=1", "conv=fsync"]
        assert subprocess.run(write, check=False, capture_output=True).returncode
        wait_for(lambda: setting.read_text().strip() == before, 120)
        assert setting.read_text().strip() == before
        assert watchdogs(tmp_path)  # not told yet


# -- root keeps its things in two places ----------------------------------------------------------------------------


def at(folder: Path, bench: Trial) -> Trial:
    """Another raidbench with the same device and the same locks, and all else in a folder of its own."""
    other = Trial(folder, bench.backend)
    other.locks = bench.locks
    other.changer.locks = bench.locks
    return other


async def test_what_is_on_trial_elsewhere_is_not_changed_from_here(tmp_path: Path) -> None:
    bench = Trial(tmp_path / "a")
    await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    other = at(tmp_path / "b", bench)
    with pytest.raises(RefusedError, match="The trial of Read-ahead of fake:disk0 is not decided"):
        await other.set("512", before="256")
    bench.journal.write_outcome("c1", bench.folder, "kept")
    assert (await other.set("512", before="256")).result == "verified"


async def test_a_trial_that_others_cannot_see_does_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Trial(tmp_path)
    with (
        taking_nothing(monkeypatch, bench.locks / "journals", errno.ENOSPC),
        pytest.raises(StorageError, match=r"announced to other users: No space left on device. Nothing was"),
    ):
        await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    assert (bench.backend.applied, bench.armed, bench.journal.trials()) == ([], [], ())


@pytest.mark.parametrize("line", ["", "{", '"/nowhere"', "7", '"\\u0000"', "[" * 2000], ids=str.__len__)
async def test_a_list_of_journals_that_is_spoiled_keeps_nobody_from_seeing_the_rest(tmp_path: Path, line: str) -> None:
    bench = Trial(tmp_path / "a")
    bench.locks.mkdir(parents=True)
    (bench.locks / "journals").write_text(f"{line}\n")
    (bench.locks / "journals").chmod(0o600)
    await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)
    with pytest.raises(RefusedError, match=r"^The trial of .* is not decided"):
        await at(tmp_path / "b", bench).set("512", before="256")


async def test_what_somebody_else_wrote_of_journals_is_not_followed(tmp_path: Path) -> None:
    bench = Trial(tmp_path / "a")
    bench.locks.mkdir(parents=True)
    os.mkfifo(bench.locks / "journals")
    assert trials_elsewhere(bench.locks, bench.journal) == ()
    with pytest.raises(StorageError, match="not a regular file"):
        await bench.changer.apply(planned("128", "256"), until=boot_clock() + 60)


@needs_root
def test_the_locks_of_root_lie_in_one_place_whatever_its_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = []
    for name in ("a", "b"):
        monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / name))
        places.append(Paths.of("").locks)
    assert places == [ROOTS_LOCKS] * 2
    assert ROOTS_LOCKS.parts[:2] == ("/", "run")
