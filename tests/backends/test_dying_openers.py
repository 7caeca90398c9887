"""A killed program that another disk does not let go of does not count where it could only read; any other one does."""

from __future__ import annotations

import pytest

from backends.host import FileStat
from backends.topology.open_files import openers
from tests.backends.fakes import FakeHost

OURS, OTHER, GENERIC = "8:0", "8:16", "21:0"
EXITING, KILLED = 0x4, "0000000000000100"


def host(
    *,
    flags: int = EXITING,
    pending: str = "0000000000000000",
    mode: str = "0100000",
    threads: tuple[str, ...] = ("77",),
) -> FakeHost:
    """A program that has our disk, its generic device and another disk open; `flags` of its threads, the last alone."""
    one = FakeHost({})
    for number, kind, devno in (("3", "block", OURS), ("4", "block", OTHER), ("5", "char", GENERIC)):
        one.files[f"/proc/77/task/77/fd/{number}"] = ""
        one.files[f"/proc/77/task/77/fdinfo/{number}"] = f"pos:\t0\nflags:\t{mode}\n"
        one.stats[f"/proc/77/task/77/fd/{number}"] = FileStat(kind=kind, size=0, devno=devno)
    for thread in threads:
        told = flags if thread == threads[-1] else EXITING
        one.files[f"/proc/77/task/{thread}/stat"] = f"{thread} (a (b) c) D 1 77 77 0 -1 {told} 5 5"
        one.files[f"/proc/77/task/{thread}/status"] = f"Name:\tfio\nSigPnd:\t{pending}\nShdPnd:\t0000000000000000\n"
    one.files["/proc/77/comm"] = "fio"
    return one


async def uses(one: FakeHost, wanted: str = OURS) -> bool:
    found, _ = await openers(one, (wanted,))
    return wanted in found


@pytest.mark.parametrize(
    ("one", "used"),
    [
        (host(), False),
        (host(flags=0, pending=KILLED), False),
        (host(flags=0), True),
        (host(flags=0x400001), True),
        (host(flags=0, threads=("77", "78")), True),
        (host(mode="0100002"), True),
        (host(mode="0100001"), True),
        (host(mode="none"), True),
        (host(threads=()), True),
    ],
    ids=[
        *("it ends", "it is killed", "it lives", "it has other flags", "one of its threads lives"),
        *("it could write", "it could only write", "its mode is not told", "its threads are not told"),
    ],
)
async def test_a_program_that_dies_uses_nothing_that_it_could_only_read(one: FakeHost, used: bool) -> None:
    assert await uses(one) is used


async def test_a_program_that_dies_uses_a_generic_device_by_which_it_may_have_written() -> None:
    assert await uses(host(), f"char {GENERIC}")
