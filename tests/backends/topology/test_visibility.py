"""Where it cannot be seen what every program has open, nothing is written raw; all else goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from backends import guard
from backends.guard import Intent, judge_device
from backends.host import FileStat
from backends.system.local import LocalHost
from backends.topology import open_files
from tests import seeing
from tests.backends.fakes import FakeHost, disk, machine
from tests.backends.loops import Loop, loop, needs_loops, program
from tests.packages import needs

ROOT = Path(__file__).resolve().parents[3]
OPENER = "import os, sys; os.open(sys.argv[1], os.O_RDONLY); print('ready', flush=True); __import__('time').sleep(60)"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)
    monkeypatch.setattr(open_files, "hidden_processes_reason", seeing.real)
    one = FakeHost(
        machine(disk("sda", devno="8:0", serial="S1")),
        stats={"/dev/sda": FileStat(kind="block", size=0, devno="8:0")},
    )
    one.files |= {"/proc/77/task/77/fd/3": "", "/proc/77/comm": "qemu", "/proc/78/comm": "vault"}
    return one


async def said(host: FakeHost, intent: Intent = Intent.WRITE) -> tuple[str, ...]:
    return (await judge_device(host, "/dev/sda", intent))[1].refused


async def test_where_all_programs_can_be_seen_it_may_be_written_to(host: FakeHost) -> None:
    assert await said(host) == ()


def rights(*without: int) -> str:
    return f"Name:\traidbench\nCapEff:\t{(1 << 41) - 1 & ~sum(1 << one for one in without):016x}\nSeccomp:\t0"


def status(host: FakeHost, text: str) -> None:
    host.files["/proc/self/status"] = text


def space(host: FakeHost, kind: str, said: str) -> None:
    host.links[f"/proc/self/ns/{kind}"] = said


def covered(host: FakeHost) -> None:
    host.files["/proc/self/mountinfo"] += "\n60 25 0:50 / /proc/77 rw - tmpfs none rw"


_UNSEEN = "programs that have it open are not visible "
BLIND: Sequence[tuple[str, Callable[[FakeHost], object]]] = (
    (f"{_UNSEEN}from a container (another PID namespace)", lambda host: space(host, "pid", "pid:[40]")),
    (f"{_UNSEEN}from a container (another PID namespace)", lambda host: host.links.pop("/proc/self/ns/pid")),
    (f"{_UNSEEN}from another user namespace", lambda host: space(host, "user", "user:[4026532001]")),
    (f"{_UNSEEN}without the capability CAP_SYS_PTRACE", lambda host: status(host, rights(open_files._PTRACE))),
    (f"{_UNSEEN}without the capability CAP_SYS_PTRACE", lambda host: status(host, "CapEff: garbled")),
    (f"{_UNSEEN}without the capability CAP_SYS_PTRACE", lambda host: host.files.pop("/proc/self/status")),
    (f"{_UNSEEN}without the capability CAP_DAC_READ_SEARCH", lambda host: status(host, rights(1, 2))),
    ("/proc/77 is covered by another filesystem, so programs that have it open are not visible", covered),
)


@pytest.mark.parametrize(("words", "blind"), BLIND)
async def test_what_blinds_the_guard_is_named_and_refuses_a_write_but_no_read(
    host: FakeHost, words: str, blind: Callable[[FakeHost], object]
) -> None:
    blind(host)
    (sentence,) = await said(host)
    assert sentence.startswith(f"/dev/sda: {words}")
    assert await said(host, Intent.READ) == ()


async def test_one_of_the_two_capabilities_to_look_into_folders_is_enough(host: FakeHost) -> None:
    status(host, rights(1))
    assert await said(host) == ()


async def test_a_program_that_hides_what_it_has_open_is_named(host: FakeHost) -> None:
    host.hidden.add("/proc/77/task/77/fd/3")
    assert await said(host) == ("/dev/sda: the open files of qemu (process 77) are not visible.",)


async def test_a_program_whose_folder_of_open_files_lists_nothing_but_has_some_is_named(host: FakeHost) -> None:
    host.files["/proc/78/task/78/stat"] = ""
    host.stats["/proc/78/task/78/fd"] = FileStat(kind="directory", size=4)
    assert await said(host) == ("/dev/sda: the open files of vault (process 78) are not visible.",)


async def test_a_program_that_has_nothing_open_hides_nothing(host: FakeHost) -> None:
    host.files["/proc/78/task/78/stat"] = ""
    host.stats["/proc/78/task/78/fd"] = FileStat(kind="directory", size=0)
    assert await said(host) == ()


async def test_a_program_that_ended_meanwhile_does_not_count(host: FakeHost) -> None:
    host.hidden.add("/proc/77/task/77/fd/3")
    host.files["/proc/79/task/79/fd/0"] = ""
    listed = host.list

    async def ended(pattern: str) -> tuple[str, ...]:
        found = await listed(pattern)
        return () if pattern == "/proc/77/task/77/fd/3" else found

    host.list = ended  # type: ignore[method-assign]
    assert await said(host) == ()


@pytest.mark.parametrize("number", [3, 9], ids=["reused at that moment", "opened and closed all the time"])
async def test_a_descriptor_that_another_one_took_the_number_of_is_looked_at_again(host: FakeHost, number: int) -> None:
    stats, looks = host.stat, []

    async def late(path: str) -> FileStat | None:
        looks.append(path)
        return None if path.endswith("/fd/3") and looks.count(path) < number else await stats(path)

    host.stat = late  # type: ignore[method-assign]
    assert await said(host) == ()


async def test_many_programs_that_hide_something_are_tried_at_the_same_time(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in range(200, 300):
        host.files[f"/proc/{pid}/task/{pid}/fd/3"] = ""
        host.hidden.add(f"/proc/{pid}/task/{pid}/fd/3")
    running, most, sleep = 0, 0, asyncio.sleep

    async def counted(seconds: float) -> None:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await sleep(0)
        running -= 1

    monkeypatch.setattr("backends.topology.open_files.asyncio.sleep", counted)
    (sentence,) = await said(host)
    assert sentence.endswith("and 97 more are not visible.")
    assert most == 100


async def test_who_has_it_open_is_told_beside_who_hides_something(host: FakeHost) -> None:
    host.files |= {"/proc/79/task/79/fd/3": "", "/proc/79/comm": "dd"}
    host.hidden.add("/proc/77/task/77/fd/3")
    host.stats["/proc/79/task/79/fd/3"] = FileStat(kind="block", size=0, devno="8:0")
    assert await said(host) == (
        "/dev/sda: dd (process 79) has it open.",
        "/dev/sda: the open files of qemu (process 77) are not visible.",
    )


async def test_who_looks_after_a_member_hides_nobody_else(host: FakeHost) -> None:
    host.files |= disk("md0", devno="9:0", md__uuid="1:2")
    host.files |= {"/sys/block/md0/slaves/sda": "", "/sys/block/sda/holders/md0": ""}
    host.files |= {"/proc/79/task/79/fd/3": "", "/proc/79/comm": "mdmon"}
    host.stats |= {f"/{at}": FileStat(kind="block", size=0, devno="8:0") for at in ("dev/sda", "proc/79/task/79/fd/3")}
    host.stats["/dev/md0"] = FileStat(kind="block", size=0, devno="9:0")
    assert (await judge_device(host, "/dev/md0", Intent.WRITE))[1].refused == ()
    host.hidden.add("/proc/77/task/77/fd/3")
    refused = (await judge_device(host, "/dev/md0", Intent.WRITE))[1].refused
    assert refused == ("/dev/md0: the open files of qemu (process 77) are not visible.",)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as inner:
        yield inner


@pytest.fixture
def device(tmp_path: Path, stack: ExitStack) -> Loop:
    made = stack.enter_context(loop(tmp_path / "disk"))
    made.write(0, b"somebody's" * 1000)
    return made


CONTAINER = ("unshare", "--mount", "--pid", "--fork", "--mount-proc")
SHORN = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace")
MAPPED = ("unshare", "--user", "--map-root-user")


AS_IT_IS = ("-m", "app")
ROOMY = (
    "import sys; from tests.seeing import half_free; half_free('.'); from app.__main__ import main; sys.exit(main())"
)


def raidbench(
    within: tuple[str, ...], folder: Path, *words: str, begun: tuple[str, ...] = AS_IT_IS
) -> subprocess.CompletedProcess[str]:
    """The program there, as it is: nothing of the tests has a hand in what it sees of other programs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(folder / "state")}
    argv = [*within, sys.executable, *begun, *words]
    return subprocess.run(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)


JOB = ("--rw", "randwrite", "--runtime", "1", "--ramp", "0", "--size", "4M")


@pytest.mark.root
@needs_loops()
@needs("unshare", "setpriv")
class TestElsewhere:
    """In what is, or looks like, a container: a program outside has the device open, and nobody there can see it."""

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("within", "words"),
        [
            (CONTAINER, "not visible from a container (another PID namespace)"),
            (SHORN, "not visible without the capability CAP_SYS_PTRACE"),
        ],
    )
    def test_a_device_that_a_program_outside_has_open_is_not_written(
        self, device: Loop, tmp_path: Path, stack: ExitStack, within: tuple[str, ...], words: str
    ) -> None:
        stack.enter_context(program(sys.executable, "-c", OPENER, device.device))
        before = device.backing.read_bytes()
        done = raidbench(within, tmp_path, "bench", device.sure(), *JOB, "--confirm", device.name)
        assert done.returncode == 3, done.stderr
        assert f"{device.device}: programs that have it open are {words}." in done.stderr
        assert "A scratch file can be measured here as well." in done.stderr
        assert device.backing.read_bytes() == before

    @pytest.mark.parametrize("within", [CONTAINER, SHORN])
    def test_a_setting_is_changed_there_as_anywhere(
        self, device: Loop, tmp_path: Path, within: tuple[str, ...]
    ) -> None:
        done = raidbench(within, tmp_path, "set", device.sure(), "read_ahead_kb=512", "--yes")
        assert "verified" in done.stdout, done.stderr
        assert Path(f"/sys/block/{device.name}/queue/read_ahead_kb").read_text().strip() == "512"

    @pytest.mark.long
    @pytest.mark.fio
    @needs("fio")
    @pytest.mark.parametrize("within", [CONTAINER, SHORN])
    def test_a_scratch_file_is_measured_there_as_anywhere(self, tmp_path: Path, within: tuple[str, ...]) -> None:
        done = raidbench(within, tmp_path, "bench", "./scratch", *JOB, begun=("-c", ROOMY))
        assert done.returncode == 0, done.stderr

    async def test_a_first_process_that_hides_what_it_has_open_is_named_on_this_very_machine(
        self, device: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not seeing.hides():
            pytest.skip("process 1 of this machine hides nothing")
        monkeypatch.setattr(open_files, "hidden_processes_reason", seeing.real)
        answer = (await judge_device(LocalHost(), device.device, Intent.WRITE))[1]
        name = Path("/proc/1/comm").read_text().strip()
        assert answer.refused == (f"{device.device}: the open files of {name} (process 1) are not visible.",)
        assert "outside of containers" in answer.hint


async def test_this_very_process_is_judged_by_what_it_is() -> None:
    own = os.readlink("/proc/self/ns/pid")
    words = await open_files.open_files_hidden_reason(LocalHost())
    assert ("another PID namespace" in words) is (own != "pid:[4026531836]")
