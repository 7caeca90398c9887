"""A scratch file that a kill left is not free because it is ours: what uses it is named, and nothing is lost."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from app.core.benchmark import scratch_use
from app.core.benchmark.scratch import ScratchPlan, plan_scratch
from app.core.benchmark.scratch_descriptor import ScratchFile, leftover_in_use, remove_scratch
from app.core.benchmark.scratch_manager import LocalScratchManager
from app.core.benchmark.scratch_use import Lease, end_lease, require_unused, take_lease
from app.core.benchmark.scratch_xattr import is_own
from backends.errors import RefusedError
from backends.host import Completed, FileStat
from backends.system.local import LocalHost
from backends.topology.file_users import find_file_users
from backends.topology.scan import probe_path
from tests.backends.fakes import FakeHost
from tests.backends.loops import needs_loops, needs_sight
from tests.cli.conftest import ROOT

SIZE = 8 << 20
RANDOM_DATA = Random(23).randbytes(SIZE)
"""Data without a pattern, the same in every run: of other random data, one file in 30,000 is HFS+ to blkid."""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root sets up loop devices, swap and mounts")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch_use, "_WAITS", (0.01,))


@pytest.fixture(params=["after a kill", pytest.param("kept for the next run", marks=pytest.mark.long)])
async def leftover(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A file that raidbench made, in each state of its mark."""
    file = ScratchFile(plan_scratch(str(tmp_path / "left.dat"), SIZE, writes=True))
    await file.open()
    os.pwrite(file._file, RANDOM_DATA, 0)
    if request.param == "after a kill":
        file._release()
    else:
        await file.close(keep=True)
    path = tmp_path / "left.dat"
    if not is_own(path, path):
        pytest.skip("files cannot be marked here")
    return path


def planned(path: Path) -> ScratchPlan:
    return plan_scratch(str(path), SIZE, writes=True)


async def refusal_of(path: Path) -> str:
    """What is said by each way to write or remove it; all say the same, and the file stays as it is."""
    before = path.read_bytes()
    said = await leftover_in_use(path), await remove_scratch(path)
    words = {str(refusal) for refusal in said}
    for work in (LocalScratchManager().require_free(planned(path)), ScratchFile(planned(path)).open()):
        with pytest.raises(RefusedError) as refusal:
            await work
        words.add(str(refusal.value))
    assert path.read_bytes() == before
    assert is_own(path, path), "the refused file is still known as ours"
    (one,) = words
    assert "neither written nor removed" in one
    assert said[0] is not None
    assert said[0].hint
    return one


async def is_free(path: Path) -> bool:
    """Whether it can be written and then removed."""
    file = ScratchFile(planned(path))
    await file.open()
    await file.close(keep=True)
    return await remove_scratch(path) is None and not path.exists()


async def test_a_leftover_that_nothing_uses_is_written_and_removed(leftover: Path) -> None:
    assert await leftover_in_use(leftover) is None
    assert await is_free(leftover)


def write_header(path: Path, start: bytes) -> None:
    """Write the start of a volume header of HFS Plus over random data, with blocks of 4 KiB, so that blkid takes it."""
    with path.open("r+b") as file:
        file.seek(1024)
        file.write(start)
        file.seek(1024 + 40)
        file.write((4096).to_bytes(4, "big"))


AFTER_A_KILL = pytest.mark.parametrize("leftover", ["after a kill"], indirect=True)


@AFTER_A_KILL
@pytest.mark.parametrize("start", [b"H+", b"HX"])
async def test_two_bytes_of_random_data_are_no_filesystem(leftover: Path, start: bytes) -> None:
    write_header(leftover, start)
    assert [signature.kind for signature in await probe_path(LocalHost(), str(leftover))] == ["hfsplus"]
    assert await is_free(leftover)


@AFTER_A_KILL
@pytest.mark.parametrize("start", [b"H+\0\4", b"HX\0\5"])
async def test_with_a_version_they_are_one(leftover: Path, start: bytes) -> None:
    write_header(leftover, start)
    assert "contains hfsplus, so another program has used it" in await refusal_of(leftover)


# -- programs --------------------------------------------------------------------------------------------------------

OPENER = "import os, sys, time; f = os.open(sys.argv[1], {}); {}; print('ready', flush=True); time.sleep(600)"
MAPS = (
    "import ctypes; c = ctypes.CDLL(None); c.mmap.argtypes = [ctypes.c_size_t] * 6;"
    " c.mmap.restype = ctypes.c_ssize_t; assert c.mmap(0, 4096, {}, 1, f, 0) != -1; os.close(f)"
)
"""Python's own mmap keeps a copy of the descriptor open."""
READS, WRITES = mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE


@contextmanager
def program(path: Path, flags: str = "os.O_RDONLY", then: str = "0") -> Iterator[int]:
    """A program that has the file open; its process id."""
    words = [sys.executable, "-c", OPENER.format(flags, then), str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


@needs_sight(root=False)
@pytest.mark.parametrize(
    ("flags", "then", "does"),
    [
        ("os.O_RDONLY", "0", "has it open"),
        ("os.O_RDWR", "0", "has it open"),
        ("os.O_RDONLY", MAPS.format(READS), "has it mapped"),
        ("os.O_RDWR", MAPS.format(WRITES), "has it mapped"),
    ],
    ids=["reads", "writes", "maps to read", "maps to write"],
)
async def test_a_program_that_has_it_is_named(leftover: Path, flags: str, then: str, does: str) -> None:
    with program(leftover, flags, then) as pid:
        assert f"python (process {pid}) {does}" in (await refusal_of(leftover)).replace("python3", "python")
    assert await is_free(leftover)


@pytest.mark.long
async def test_what_no_program_shows_counts_all_the_same(leftover: Path) -> None:
    with open(leftover, "rb"):  # by this very process, whose own files are not searched
        assert "that raidbench cannot identify" in await refusal_of(leftover)
    assert await is_free(leftover)


async def test_a_program_that_lets_go_soon_is_waited_for(leftover: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([Lease.USED, Lease.USED])
    monkeypatch.setattr(scratch_use, "_WAITS", (0.0, 0.0, 0.0))
    monkeypatch.setattr(scratch_use, "take_lease", lambda file: next(answers, None) or take_lease(file))
    assert await leftover_in_use(leftover) is None


async def test_nobody_can_open_it_while_it_is_judged_and_removed(leftover: Path) -> None:
    descriptor = os.open(leftover, os.O_RDONLY)
    await require_unused(descriptor, leftover)
    with pytest.raises(BlockingIOError):
        os.open(leftover, os.O_RDONLY | os.O_NONBLOCK)
    end_lease(descriptor)
    os.close(os.open(leftover, os.O_RDONLY | os.O_NONBLOCK))
    os.close(descriptor)


@needs_sight(root=False)
async def test_a_file_that_came_into_use_during_the_run_stays(tmp_path: Path) -> None:
    path = tmp_path / "x"
    file = ScratchFile(planned(path))
    await file.open()
    with program(path):
        assert "has it open" in await file.close(keep=False)
    assert path.exists()
    assert await is_free(path)


# -- filesystems without leases --------------------------------------------------------------------------------------


@pytest.fixture
def no_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch_use, "take_lease", lambda _file: Lease.UNKNOWN)


@pytest.mark.long
@pytest.mark.usefixtures("no_leases")
@needs_sight()
async def test_root_sees_programs_without_leases_too(leftover: Path) -> None:
    with program(leftover) as pid:
        assert f"(process {pid}) has it open" in await refusal_of(leftover)
    with program(leftover, then=MAPS.format(READS)) as pid:
        assert f"(process {pid}) has it mapped" in await refusal_of(leftover)
    assert await is_free(leftover)


@pytest.mark.usefixtures("no_leases")
async def test_without_leases_a_user_removes_only_what_was_kept_unchanged(
    leftover: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    host = FakeHost({}, root=False)
    monkeypatch.setattr(scratch_use, "LocalHost", lambda: host)
    monkeypatch.setattr(scratch_use, "_require_no_content", _nothing)
    refused = await leftover_in_use(leftover)
    killed = "kill" in request.node.callspec.params["leftover"]
    assert (refused is not None) == killed
    assert not killed or "without leases" in str(refused)


async def _nothing(*_args: object, **_options: object) -> None:
    """No content."""


# -- content ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind"),
    [(("mkfs.ext4", "-q", "-F"), "ext4"), (("mkswap",), "swap")],
    ids=["ext4", "swap"],
)
async def test_a_filesystem_in_it_makes_it_somebodys(
    leftover: Path, words: tuple[str, ...], kind: str, tmp_path: Path
) -> None:
    size, times = leftover.stat().st_size, leftover.stat()
    try:
        subprocess.run([*words, leftover], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{words[0]} does not run here")
    os.truncate(leftover, size)
    os.utime(leftover, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert f"contains {kind}" in await refusal_of(leftover)


async def test_content_that_cannot_be_probed_counts_after_a_kill(
    leftover: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("backends.system.local.host.find_program", lambda names: None)
    refused = await leftover_in_use(leftover)
    assert (refused is not None) == ("kill" in request.node.callspec.params["leftover"])
    assert refused is None or "could not be probed" in refused.message


# -- the kernel ------------------------------------------------------------------------------------------------------


@pytest.mark.long
@needs_loops()
async def test_a_mounted_image_is_never_touched(leftover: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        device = run("losetup", "-f", "--show", str(leftover)).strip()
        stack.callback(run, "losetup", "-d", device)
        assert f"is in use by {device}." in await refusal_of(leftover)
        run("mkfs.ext4", "-q", "-F", device)
        point = tmp_path / "point"
        point.mkdir()
        run("mount", device, str(point))
        stack.callback(run, "umount", str(point))
        if is_own(leftover, leftover):  # a file kept for the next run has another time by now
            assert f"is in use by {device}, which is mounted on {point}" in await refusal_of(leftover)
        else:
            assert await remove_scratch(leftover) is None
        assert leftover.exists()


@needs_root
async def test_a_mount_of_the_file_elsewhere_is_named(leftover: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    run("mount", "--bind", str(leftover), str(tmp_path / "elsewhere"))
    try:
        assert f"is mounted on {tmp_path / 'elsewhere'}" in await refusal_of(leftover)
    finally:
        run("umount", str(tmp_path / "elsewhere"))
    assert await is_free(leftover)


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


# -- what only root sets up, told by made-up kernels ------------------------------------------------------------------

PLACE = "8:1:77"
FILE = FileStat(kind="file", size=SIZE, place=PLACE)
OTHER = FileStat(kind="file", size=SIZE, place="8:1:78")
MOUNTS = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
SCSI = "/sys/kernel/config/target/core/fileio_0/img"


async def users(host: FakeHost, path: str = "/srv/x") -> list[str]:
    host.links |= {"/proc/self/ns/mnt": "mnt:[1]", "/proc/9/ns/mnt": "/proc/9/ns/mnt:[9]"}
    host.files = {"/proc/self/mountinfo": MOUNTS, **host.files}
    found, _ = await find_file_users(host, path, PLACE, programs=False)
    return [user.text for user in found]


def looped(name: str = "/srv/x") -> FakeHost:
    files = {"/sys/block/loop0/loop/backing_file": name, "/sys/block/loop0/dev": "7:0"}
    return FakeHost(files, stats={name: FILE})


async def test_what_nothing_uses_has_no_users() -> None:
    assert await users(FakeHost({})) == []


async def test_a_loop_device_is_known_by_its_file_whatever_name_it_was_given() -> None:
    assert await users(looped("/other/name")) == ["is in use by /dev/loop0"]


async def test_a_loop_device_is_known_by_the_number_that_the_kernel_has() -> None:
    host = looped("/gone")
    host.stats = {}
    host.tools["losetup"] = Completed(returncode=0, stdout="/dev/loop0 8:1 77\n", stderr="")
    assert await users(host) == ["is in use by /dev/loop0"]


async def test_a_loop_device_on_another_file_is_none_of_its_users() -> None:
    host = looped("/other")
    host.stats = {"/other": OTHER}
    host.tools["losetup"] = Completed(returncode=0, stdout="/dev/loop0 8:1 78\n", stderr="")
    assert await users(host) == []


async def test_a_mount_of_the_loop_device_is_named_in_any_namespace() -> None:
    host = looped()
    host.files["/proc/9/mountinfo"] = "5 0 7:0 / /mnt/image rw - ext4 /dev/loop0 rw\n"
    assert await users(host) == ["is in use by /dev/loop0, which is mounted on /mnt/image"]


@pytest.mark.parametrize("stat", [FILE, None], ids=["by its number", "by its path"])
async def test_active_swap_is_named(stat: FileStat | None) -> None:
    swaps = "Filename Type Size Used Priority\n/srv/x file 1 0 -2\n"
    assert await users(FakeHost({"/proc/swaps": swaps}, stats={"/srv/x": stat} if stat else {})) == ["is active swap"]


async def test_a_mount_of_it_in_another_namespace_is_named() -> None:
    host = FakeHost({"/proc/9/mountinfo": "5 0 8:1 /srv/x /etc/x rw - ext4 /dev/sda1 rw\n"})
    host.stats = {"/proc/9/root/etc/x": FILE}
    assert await users(host) == ["is mounted on /etc/x in another mount namespace"]


async def test_a_filesystem_mounted_from_the_file_itself_is_named() -> None:
    """As erofs can, without a loop device."""
    mounts = f"{MOUNTS}7 1 0:60 / /mnt/ro ro - erofs /srv/x ro\n"
    assert await users(FakeHost({"/proc/self/mountinfo": mounts})) == ["is mounted on /mnt/ro"]


async def test_mounts_of_other_filesystems_are_not_entered() -> None:
    host = FakeHost({"/proc/self/mountinfo": f"{MOUNTS}7 1 0:60 / /dead rw - nfs server:/x rw\n"})
    host.stats = {"/dead": FILE}
    assert await users(host) == []


@pytest.mark.parametrize(("enabled", "words"), [("1", ""), ("0", " (not enabled)")])
async def test_an_export_is_named_enabled_or_not(enabled: str, words: str) -> None:
    info = "Status: ACTIVATED\n TCM FILEIO ID: 0        File: /srv/x  Size: 1  Mode: O_DSYNC\n"
    host = FakeHost({f"{SCSI}/info": info, f"{SCSI}/enable": enabled}, stats={"/srv/x": FILE})
    assert await users(host) == [f"is exported by the SCSI target img{words}"]


async def test_the_file_below_an_overlay_is_the_same_data() -> None:
    overlay = f"{MOUNTS}7 1 0:60 / /merged rw - overlay overlay rw,lowerdir=/lower,upperdir=/upper,workdir=/w\n"
    host = looped("/upper/x")
    host.files["/proc/self/mountinfo"] = overlay
    host.stats = {"/upper/x": OTHER}
    host.tools["losetup"] = Completed(returncode=0, stdout="/dev/loop0 8:1 78\n", stderr="")
    assert await users(host, "/merged/x") == ["is in use by /dev/loop0"]


# -- without root ----------------------------------------------------------------------------------------------------

AS_A_USER = """
import asyncio, os, sys
from pathlib import Path
from app.core.benchmark import scratch_use
from app.core.benchmark.scratch import plan_scratch
from app.core.benchmark.scratch_descriptor import ScratchFile, remove_scratch
scratch_use._WAITS = (0.01,)
path = Path(sys.argv[1])
async def go():
    file = ScratchFile(plan_scratch(str(path), 1 << 20, writes=True))
    await file.open()
    file._release()
    print("made", flush=True)
    sys.stdin.readline()
    print(str(await remove_scratch(path)), path.exists(), flush=True)
    sys.stdin.readline()
    print(str(await remove_scratch(path)), path.exists(), flush=True)
asyncio.run(go())
"""


@needs_root
def test_a_user_learns_that_root_has_the_file_open_and_removes_it_afterwards(tmp_path: Path) -> None:
    folder = Path("/dev/shm") / f"raidbench-test-{os.getpid()}"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    script = folder / "as_user.py"
    script.write_text(AS_A_USER)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        sys.executable,
        str(script),
        str(folder / "x"),
    ]
    try:
        with subprocess.Popen(
            words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as user:
            assert user.stdin is not None
            assert user.stdout is not None
            assert user.stderr is not None
            if user.stdout.readline() != "made\n":
                pytest.skip(f"nobody cannot run this checkout: {user.stderr.read()[-200:]}")
            with open(folder / "x", "rb"):
                user.stdin.write("\n")
                user.stdin.flush()
                assert "that raidbench cannot identify" in (said := user.stdout.readline())
                assert said.endswith("True\n")
            user.stdin.write("\n")
            user.stdin.flush()
            assert user.stdout.readline() == "None False\n"
    finally:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
