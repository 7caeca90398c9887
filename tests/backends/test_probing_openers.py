"""A program that only probes disks does not keep them in use, if it lets go of them in time; one that stays does."""

from __future__ import annotations

import asyncio

import pytest

from backends.host import FileStat
from backends.topology import open_files as module
from backends.topology.open_files import OpenFileHolder, lasting_openers
from tests.backends.fakes import FakeHost

DISK = "8:0"


class Passing(FakeHost):
    """A host on which programs have a disk open at the first looks only."""

    def __init__(self, *programs: str, looks: int) -> None:
        super().__init__({"/proc/1/task/1/fd/0": ""})
        self.looks = looks
        for pid, name in enumerate(programs, 70):
            self.files |= {f"/proc/{pid}/task/{pid}/fd/3": "", f"/proc/{pid}/comm": name}
            self.stats[f"/proc/{pid}/task/{pid}/fd/3"] = FileStat(kind="block", size=0, devno=DISK)

    async def list(self, pattern: str) -> tuple[str, ...]:
        if pattern.startswith("/proc/[0-9]*/task"):
            self.looks -= 1
            if self.looks < 0:
                self.files = {path: text for path, text in self.files.items() if not path.startswith("/proc/7")}
        return await super().list(pattern)


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited, without waiting them."""
    seconds: list[float] = []

    async def sleep(delay: float) -> None:
        seconds.append(delay)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return seconds


async def left(host: FakeHost) -> list[str]:
    found, unseen = await lasting_openers(host, (DISK,))
    assert unseen is None
    return [program.name for program in found.get(DISK, ())]


@pytest.mark.parametrize("name", sorted(module.PROBERS))
async def test_one_that_probes_and_goes_is_waited_for(name: str, waited: list[float]) -> None:
    assert await left(Passing(name, looks=1)) == []
    assert len(waited) == 1


async def test_one_that_stays_counts_after_three_seconds(waited: list[float]) -> None:
    assert await left(Passing("lsblk", looks=100)) == ["lsblk"]
    assert sum(waited) == 3.0


async def test_nobody_is_waited_for_beside_a_program_that_uses_the_disk(waited: list[float]) -> None:
    assert await left(Passing("lsblk", "qemu", looks=1)) == ["lsblk", "qemu"]
    assert waited == []


async def test_nothing_is_waited_for_where_nobody_has_it_open(waited: list[float]) -> None:
    assert await lasting_openers(Passing(looks=1), (DISK,)) == ({}, None)
    assert waited == []


def test_the_names_are_as_long_as_the_kernel_gives_them() -> None:
    assert all(len(name) <= 15 for name in module.PROBERS)
    assert OpenFileHolder("lsblk", "7").name in module.PROBERS
