"""The programs of a change are known before they do anything, and hold its lock as long as they run."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.errors import StorageError
from backends.host import Command, ProcessTracking, custody
from backends.system.local import LocalHost

ROOT = Path(__file__).parents[2]


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield descriptor
    os.close(descriptor)


def touching(file: Path) -> Command:
    return Command(argv=("/usr/bin/touch", str(file)), mutates=True)


async def test_a_program_is_told_of_before_it_does_anything(tmp_path: Path, lock: int) -> None:
    seen: list[tuple[str, bool]] = []
    custody.set(ProcessTracking(lock=lock, begins=lambda pid, name: seen.append((name, (tmp_path / "made").exists()))))
    await LocalHost().run(touching(tmp_path / "made"))
    assert (seen, (tmp_path / "made").exists()) == ([("touch", False)], True)


async def test_it_is_told_of_by_the_process_that_runs_it(tmp_path: Path, lock: int) -> None:
    told: list[int] = []
    custody.set(ProcessTracking(lock=lock, begins=lambda pid, name: told.append(pid)))
    done = await LocalHost().run(Command(argv=("/bin/sh", "-c", "echo $$"), mutates=True))
    assert [int(done.stdout)] == told


async def test_one_that_cannot_be_told_of_is_not_run(tmp_path: Path, lock: int) -> None:
    def full(pid: int, name: str) -> None:
        raise StorageError("The journal is full.")

    custody.set(ProcessTracking(lock=lock, begins=full))
    with pytest.raises(StorageError):
        await LocalHost().run(touching(tmp_path / "made"))
    assert not (tmp_path / "made").exists()


async def test_it_holds_the_lock_too(tmp_path: Path, lock: int) -> None:
    custody.set(ProcessTracking(lock=lock, begins=lambda pid, name: None))
    done = await LocalHost().run(Command(argv=("/bin/ls", "-l", "/proc/self/fd"), mutates=True))
    assert str(tmp_path / "lock") in done.stdout


async def test_a_program_that_only_reads_does_not(tmp_path: Path, lock: int) -> None:
    custody.set(ProcessTracking(lock=lock, begins=lambda pid, name: None))
    done = await LocalHost().run(Command(argv=("/bin/ls", "-l", "/proc/self/fd")))
    assert str(tmp_path / "lock") not in done.stdout


async def test_one_that_is_missing_is_a_sentence_all_the_same(lock: int) -> None:
    custody.set(ProcessTracking(lock=lock, begins=lambda pid, name: None))
    with pytest.raises(Exception, match="/no/such/program is not installed"):
        await LocalHost().run(Command(argv=("/no/such/program",), mutates=True))


STARTER = """
import os, signal, sys
from backends.host import Command, ProcessTracking
from backends.system.local.command import run_change

def begins(pid, name):
    print(pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
tracking = ProcessTracking(lock=lock, begins=begins)
run_change(Command(argv=("/usr/bin/touch", sys.argv[2]), mutates=True), None, tracking)
"""


def test_whoever_dies_before_it_is_told_of_takes_it_along(tmp_path: Path) -> None:
    made = tmp_path / "made"
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path / "lock"), str(made)], cwd=ROOT, stdout=subprocess.PIPE
    )
    out, _ = starter.communicate(timeout=180)  # the program holds this pipe's end too, until it is gone
    assert (starter.returncode, out.strip().isdigit(), made.exists()) == (-signal.SIGKILL, True, False)
