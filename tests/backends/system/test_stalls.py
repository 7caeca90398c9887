"""A program that gets nowhere is given up and the disk that it waits for named; one that is slow is waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from backends.errors import RefusedError, ToolTimeoutError
from backends.exclusive_open import DeviceClaim, claim
from backends.guard import Intent, judge
from backends.helper_interface import decode_error, encode_error
from backends.host import Command
from backends.identity import Identity
from backends.system.local import LocalHost, command, fd_passing, stalls
from backends.system.local.stalls import Counts, Stall, find_stall
from backends.topology.facts import SILENT, gather_facts
from tests.backends.fakes import one_disk
from tests.backends.hung import HungFile, hung_disk, why_no_hung_disks

# -- programs ----------------------------------------------------------------------------------------------------------


async def given_up(*argv: str) -> ToolTimeoutError:
    with pytest.raises(ToolTimeoutError) as error:
        await LocalHost().run(Command(argv=argv, timeout=600, stall=0.5))
    return error.value


async def test_a_program_that_only_sleeps_is_given_up_long_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalls, "counts", dict)  # another test may have a disk that does not answer
    error = await given_up("/bin/sleep", "600")
    assert error.message == "sleep made no progress for 0.5 s: the device it waits for is unknown."
    assert error.devices == ()


@pytest.mark.long
@pytest.mark.parametrize(
    "work",
    [
        "end = time.process_time() + 1.5\nwhile time.process_time() < end: pass",
        "for _ in range(150): time.sleep(0.01)",
        "subprocess.run([sys.executable, '-c', 'import time\\nfor _ in range(150): time.sleep(0.01)'])",
    ],
    ids=["by computing", "by waking up", "by a program that it started"],
)
async def test_a_program_that_gets_on_slowly_is_waited_for(work: str) -> None:
    code = f"import subprocess, sys, time\n{work}\nprint('done')"
    done = await LocalHost().run(Command(argv=(sys.executable, "-c", code), stall=1.0))
    assert done.stdout == "done\n"


async def test_a_program_of_which_no_progress_is_asked_has_all_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(*_: object) -> Stall:
        return Stall()

    monkeypatch.setattr(command, "stall_of", at_once)
    await given_up("/bin/sleep", "600")
    assert (await LocalHost().run(Command(argv=("/bin/sleep", "0.1")))).returncode == 0


# -- a disk that really does not answer --------------------------------------------------------------------------------

needs_hung_disks = pytest.mark.skipif(bool(why_no_hung_disks()), reason=why_no_hung_disks() or "can be made")


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[tuple[str, HungFile]]:
    with hung_disk(tmp_path) as (device, file):
        file.silence()
        yield device, file


def reading(device: str) -> tuple[str, ...]:
    code = "import mmap, os, sys; os.preadv(os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), [mmap.mmap(-1, 4096)], 0)"
    return (sys.executable, "-c", code, device)


def alive(device: str) -> list[str]:
    """Programs that were told of the device and have not ended."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words, state = (entry / "cmdline").read_bytes(), (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        found += [state] if device.encode() in words.split(b"\0") and entry.name != str(os.getpid()) else []
    return found


@needs_hung_disks
async def test_a_disk_that_stands_still_is_named_and_its_reader_left_to_the_kernel(
    silent: tuple[str, HungFile],
) -> None:
    device, file = silent
    error = await given_up(*reading(device))
    assert error.devices == (device.removeprefix("/dev/"),)
    assert f"{device} has completed no pending request" in error.message
    assert file.asked.is_set()
    assert alive(device) == ["D"]  # not even SIGKILL ends it, and nobody waited for that


@needs_hung_disks
async def test_a_disk_that_is_not_in_the_command_is_found_by_what_the_program_has_open(
    silent: tuple[str, HungFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    device, _ = silent
    code = "import mmap, os; os.preadv(os.open('" + device + "', os.O_RDONLY | os.O_DIRECT), [mmap.mmap(-1, 4096)], 0)"
    error = await given_up(sys.executable, "-c", code)
    assert error.devices == (device.removeprefix("/dev/"),)


# -- whose fault it is -------------------------------------------------------------------------------------------------


@pytest.fixture
def sysfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """dm-1 on a partition of sda and on sdb, dm-2 on dm-1, sdc by itself."""
    for name in ("sda", "sdb", "sdc", "dm-1", "dm-2"):
        (tmp_path / "block" / name / "slaves").mkdir(parents=True)
    (tmp_path / "block/sda/sda1").mkdir()
    (tmp_path / "block/sda/sda1/partition").write_text("1")
    for above, lower in (("dm-1", "sda/sda1"), ("dm-1", "sdb"), ("dm-2", "dm-1")):
        (tmp_path / f"block/{above}/slaves/{lower.rsplit('/', maxsplit=1)[-1]}").symlink_to(tmp_path / "block" / lower)
    monkeypatch.setattr(stalls, "SYS", str(tmp_path))
    return tmp_path


def counts(**waiting: tuple[int, int]) -> Counts:
    idle: dict[str, tuple[int, int]] = dict.fromkeys(("sda", "sdb", "sdc", "dm-1", "dm-2"), (0, 10))
    return idle | {name.replace("_", "-"): value for name, value in waiting.items()}


OPEN: Mapping[str, bool] = {"sda": False, "sdb": False, "sdc": False, "dm-2": False}


@pytest.mark.usefixtures("sysfs")
@pytest.mark.parametrize(
    ("before", "now", "devices"),
    [
        (counts(sdb=(1, 10)), counts(sdb=(1, 10)), ("sdb",)),
        (counts(sdb=(1, 10)), counts(sdb=(3, 10)), ("sdb",)),
        (counts(sdb=(1, 10)), counts(sdb=(1, 11)), ()),
        (counts(sdb=(0, 10)), counts(sdb=(1, 10)), ()),
        (counts(sdb=(1, 10)), counts(sdb=(0, 10)), ()),
        (counts(sda=(1, 1), dm_1=(1, 1), dm_2=(1, 1)), counts(sda=(1, 1), dm_1=(1, 1), dm_2=(1, 1)), ("sda",)),
        (counts(dm_2=(1, 1), dm_1=(1, 1)), counts(dm_2=(1, 1), dm_1=(1, 1)), ("dm-1",)),
        (counts(sdc=(1, 1), sda=(1, 1)), counts(sdc=(1, 1), sda=(1, 1)), ("sda", "sdc")),
    ],
    ids=["stands still", "more come", "one ended", "new", "none wait", "lowest", "a layer alone", "two"],
)
def test_the_lowest_disk_of_which_no_request_ended_is_named(
    before: Counts, now: Counts, devices: tuple[str, ...]
) -> None:
    assert find_stall(OPEN, before, now).devices == devices


@pytest.mark.usefixtures("sysfs")
def test_a_disk_that_stands_still_but_does_not_concern_the_program_is_not_named() -> None:
    assert find_stall({"sdb": False}, counts(sdc=(1, 1)), counts(sdc=(1, 1))).devices == ("sdb",)
    assert find_stall({"sda": False, "sdb": False}, counts(sdc=(1, 1)), counts(sdc=(1, 1))) == Stall()


@pytest.mark.usefixtures("sysfs")
def test_of_a_program_that_has_no_disk_open_the_one_that_stands_still_is_named() -> None:
    assert find_stall({}, counts(sdc=(1, 1)), counts(sdc=(1, 1))).devices == ("sdc",)
    assert find_stall({}, counts(), counts()) == Stall()


def test_a_suspended_device_is_said_to_be_suspended(sysfs: Path) -> None:
    (sysfs / "block/dm-1/dm").mkdir()
    (sysfs / "block/dm-1/dm/suspended").write_text("1\n")
    found = find_stall({"dm-2": False, "sdc": False}, counts(), counts())
    assert (found.devices, found.why) == (("dm-1",), "/dev/dm-1 is suspended")


@pytest.mark.usefixtures("sysfs")
def test_where_nothing_stands_still_the_only_disk_is_named_or_the_one_in_the_command() -> None:
    assert find_stall({"sdb": False}, counts(), counts()).why == "it waits for /dev/sdb"
    assert find_stall({"sda": False, "sdb": True}, counts(), counts()).devices == ("sdb",)
    assert find_stall({"sda": True, "sdb": True}, counts(), counts()) == Stall()


def test_the_root_helper_names_the_disk_as_well() -> None:
    error = decode_error(encode_error(ToolTimeoutError("lvs: no answer.", devices=("dm-5",))))
    assert isinstance(error, ToolTimeoutError)
    assert error.devices == ("dm-5",)


# -- a device of which not even opening comes to an end ----------------------------------------------------------------


@pytest.fixture
def unopenable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A disk whose partitions the kernel is about to read: until its cache is on the disk nobody can open it."""
    monkeypatch.setattr(fd_passing, "SECONDS", 0.5)
    with hung_disk(tmp_path, "--partscan") as (device, file), open(device, "r+b", buffering=0) as cached:
        file.silence()
        cached.write(b"x" * 4096)
        with subprocess.Popen(("blockdev", "--rereadpt", device), stderr=subprocess.DEVNULL) as reader:
            assert file.asked.wait(120)
            yield device
            file.answer()
            reader.wait()


@needs_hung_disks
def test_a_disk_that_cannot_be_opened_is_not_waited_for(unopenable: str) -> None:
    number = os.stat(unopenable).st_rdev
    assert claim(unopenable, f"{os.major(number)}:{os.minor(number)}") == SILENT


async def test_a_disk_that_cannot_be_opened_is_tried_once_and_never_written_to() -> None:
    host = one_disk()
    tried: list[str] = []

    def silent(device: str, _devno: str) -> str:
        tried.append(device)
        return SILENT

    facts = await gather_facts(host, "/dev/sdk", claim=silent, probe=False)
    assert tried == ["/dev/sdk"]  # neither by its other path
    assert f"/dev/sdk: {SILENT}." in judge(facts, Intent.WRITE).refused


@needs_hung_disks
async def test_to_hold_what_cannot_be_opened_is_refused(unopenable: str) -> None:
    identity = Identity(name=unopenable.removeprefix("/dev/"))
    with pytest.raises(RefusedError, match="could not be opened: the device does not respond"):
        async with DeviceClaim(unopenable, identity, write=False):
            pass
