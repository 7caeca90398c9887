"""A disk that stands still uncounted is found by reading from it; who waits for it uses no other disk by that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backends.errors import ToolTimeoutError
from backends.host import Command
from backends.system.local import LocalHost, stalls
from backends.system.local.stalls import find_unanswered
from backends.topology.open_files import openers
from tests.backends.hung import HungFile, hung_disk, why_no_hung_disks
from tests.backends.loops import loop, needs_sight

needs_hung_disks = pytest.mark.skipif(bool(why_no_hung_disks()), reason=why_no_hung_disks() or "can be made")


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[tuple[str, HungFile]]:
    with hung_disk(tmp_path) as (device, file):
        file.silence()
        yield device, file


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    with loop(tmp_path / "other") as made:
        yield made.device


WAITS = """
import mmap, os, sys
flags, other, hung = sys.argv[1:]
if other:
    os.open(other, int(flags))
os.preadv(os.open(hung, os.O_RDONLY | os.O_DIRECT), [mmap.mmap(-1, 4096)], 0)
"""
"""Waits for one disk, and has another one open if it is told of one."""


@needs_hung_disks
async def test_a_disk_of_which_the_kernel_counts_no_requests_is_found_by_reading_from_it(
    silent: tuple[str, HungFile], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung, _ = silent
    monkeypatch.setattr(stalls, "counts", dict)  # so it is of multipath that queues, and of a delay of device-mapper
    code = WAITS.replace("sys.argv[1:]", repr((os.O_RDONLY, device, hung)))
    with pytest.raises(ToolTimeoutError) as error:
        await LocalHost().run(Command(argv=(sys.executable, "-c", code), timeout=600, stall=2.0))
    assert error.value.devices == (hung.removeprefix("/dev/"),)
    assert f"{hung} does not respond to a read of its first bytes" in error.value.message


@needs_hung_disks
async def test_disks_that_answer_are_not_named(device: str) -> None:
    assert await find_unanswered((device, "/dev/null", "/dev/gone"), 0.5) == ()


@contextmanager
def waiting(file: HungFile, flags: int, other: str, hung: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen((sys.executable, "-c", WAITS, str(flags), other, hung))
    try:
        assert file.asked.wait(120)
        yield process
        assert process.poll() is None
    finally:
        file.answer()
        process.kill()
        process.wait()


async def openers_of(device: str) -> list[str]:
    stat = await LocalHost().stat(device)
    assert stat is not None
    assert stat.devno is not None
    found, _ = await openers(LocalHost(), (stat.devno,))
    return [one.pid for one in found.get(stat.devno, ())]


@needs_hung_disks
@needs_sight()
@pytest.mark.parametrize(
    ("flags", "killed", "uses"),
    [(os.O_RDONLY, True, False), (os.O_RDWR, True, True), (os.O_RDONLY, False, True)],
    ids=["killed, read only", "killed, could write", "not killed"],
)
async def test_a_killed_program_that_another_disk_does_not_let_go_of_uses_none_that_it_could_only_read(
    silent: tuple[str, HungFile], device: str, flags: int, killed: bool, uses: bool
) -> None:
    hung, file = silent
    with waiting(file, flags, device, hung) as process:
        if killed:
            process.kill()
        assert await openers_of(device) == ([str(process.pid)] if uses else [])


@needs_hung_disks
@needs_sight()
async def test_a_killed_program_still_uses_the_only_disk_that_it_has_open(silent: tuple[str, HungFile]) -> None:
    hung, file = silent
    with waiting(file, os.O_RDONLY, "", hung) as process:
        process.kill()
        assert await openers_of(hung) == [str(process.pid)]
