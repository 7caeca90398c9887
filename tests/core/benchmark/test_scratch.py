"""A scratch file is never somebody else's: not overwritten, not removed."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from app.core.benchmark import scratch_xattr
from app.core.benchmark.scratch import DEFAULT_SIZE, NAME, ScratchPlan, device_number, plan_scratch
from app.core.benchmark.scratch_descriptor import ScratchFile, remove_scratch
from backends.errors import InvalidValueError, RefusedError, StorageError

MIB = 1 << 20
GIB = 1 << 30
RANDOM_DATA = Random(23).randbytes(MIB)
"""Data without a pattern, the same in every run: of other random data, one file in 30,000 is HFS+ to blkid."""


def disk(monkeypatch: pytest.MonkeyPatch, *, size: int, free: int) -> None:
    """A filesystem of this size with that much free."""
    answer = SimpleNamespace(f_frsize=4096, f_blocks=size // 4096, f_bavail=free // 4096)
    monkeypatch.setattr(os, "statvfs", lambda path: answer)


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    disk(monkeypatch, size=1000 * GIB, free=900 * GIB)


@pytest.fixture
def marks(tmp_path: Path) -> None:
    """Skips where files cannot be marked as ours."""
    (tmp_path / "probe").touch()
    try:
        os.setxattr(tmp_path / "probe", "user.raidbench.probe", b"1")
    except OSError as error:
        pytest.skip(f"files cannot be marked in {tmp_path}: {error.strerror}")
    finally:
        (tmp_path / "probe").unlink()


async def made(plan: ScratchPlan, data: bytes = b"", *, keep: bool = True) -> Path:
    """The file of a run that is over."""
    file = ScratchFile(plan)
    await file.open()
    Path(file.path).write_bytes(data)
    await file.close(keep=keep)
    return plan.path


async def own(path: Path, data: bytes = b"") -> Path:
    """A file that raidbench made and kept."""
    return await made(plan_scratch(str(path), MIB, writes=True), data)


async def left_by_a_crash(path: Path) -> Path:
    """A file that raidbench was writing when it was killed."""
    file = ScratchFile(plan_scratch(str(path), MIB, writes=True))
    await file.open()
    file._release()
    return path


def foreign(path: Path, text: str = "precious") -> Path:
    path.write_text(text)
    return path


# -- where -----------------------------------------------------------------------------------------------------------


def test_a_folder_gets_a_file_of_our_name(tmp_path: Path) -> None:
    assert plan_scratch(str(tmp_path), MIB, writes=True).path == tmp_path / NAME


def test_a_new_file_is_taken_as_named(tmp_path: Path) -> None:
    assert plan_scratch(str(tmp_path / "x.dat"), MIB, writes=True).path == tmp_path / "x.dat"


def test_planning_makes_nothing(tmp_path: Path) -> None:
    plan_scratch(str(tmp_path), MIB, writes=True)
    assert list(tmp_path.iterdir()) == []


def test_without_a_size_a_new_file_has_the_default(tmp_path: Path) -> None:
    assert plan_scratch(str(tmp_path), None, writes=True).size == DEFAULT_SIZE


def test_a_home_folder_is_known_by_its_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert plan_scratch("~/x.dat", MIB, writes=True).path == tmp_path / "x.dat"


@pytest.mark.parametrize("where", ["/dev/typo", "/dev/disk/by-id/typo", "/dev", "/proc/x", "/sys/block/x"])
def test_a_mistyped_device_is_not_made_into_a_file(where: str) -> None:
    if not Path(where).parent.is_dir():
        pytest.skip(f"no {Path(where).parent} here")
    with pytest.raises(InvalidValueError, match="is not a device"):
        plan_scratch(where, MIB, writes=True)


def test_shared_memory_may_be_measured() -> None:
    assert plan_scratch("/dev/shm/raidbench-x.dat", MIB, writes=True).path == Path("/dev/shm/raidbench-x.dat")


def test_a_link_to_a_mistyped_device_is_no_way_round(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/typo")
    with pytest.raises(InvalidValueError):
        plan_scratch(str(tmp_path / "link"), MIB, writes=True)


@pytest.mark.parametrize("name", ["system", "process", "device", "sysroot"])
def test_a_folder_whose_name_begins_like_a_kernel_folder_is_a_folder(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_dir", lambda self: str(self) == f"/{name}")
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    assert plan_scratch(f"/{name}/x.dat", MIB, writes=True).path == Path(f"/{name}/x.dat")


@pytest.mark.parametrize("where", ["", "a\0b", "/no/such/folder/x.dat", "~nosuchuser/x", "x" * 300, "/" + "y/" * 3000])
def test_a_name_that_cannot_be_is_a_sentence(where: str) -> None:
    with pytest.raises(InvalidValueError):
        plan_scratch(where, MIB, writes=True)


def test_links_in_a_circle_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InvalidValueError):
        plan_scratch(str(tmp_path / "a"), MIB, writes=True)


def test_a_pipe_is_no_target(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidValueError, match="neither a file"):
        plan_scratch(str(tmp_path / "pipe"), MIB, writes=False)


def test_a_control_character_in_a_name_does_not_reach_the_sentence(tmp_path: Path) -> None:
    foreign(tmp_path / "x\x1b[31m")
    with pytest.raises(RefusedError) as refusal:
        plan_scratch(str(tmp_path / "x\x1b[31m"), MIB, writes=True)
    assert "\x1b" not in str(refusal.value)


# -- other people's files --------------------------------------------------------------------------------------------


def test_a_writing_job_refuses_a_foreign_file(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="was not created by raidbench"):
        plan_scratch(str(foreign(tmp_path / "db")), MIB, writes=True)


def test_a_writing_job_refuses_a_foreign_file_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(foreign(tmp_path / "db"))
    with pytest.raises(RefusedError):
        plan_scratch(str(tmp_path / "link"), MIB, writes=True)


def test_a_reading_job_may_read_a_foreign_file(tmp_path: Path) -> None:
    plan = plan_scratch(str(foreign(tmp_path / "db")), None, writes=False)
    assert (plan.own, plan.fill, plan.size) == (False, False, 8)


def test_a_reading_job_is_not_given_more_than_a_foreign_file_holds(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="has 8 bytes"):
        plan_scratch(str(foreign(tmp_path / "db")), MIB, writes=False)


def test_an_empty_foreign_file_is_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError):
        plan_scratch(str(foreign(tmp_path / "db", "")), None, writes=False)


def test_a_foreign_file_of_our_name_is_left_alone(tmp_path: Path) -> None:
    foreign(tmp_path / NAME)
    assert plan_scratch(str(tmp_path), MIB, writes=True).path == tmp_path / "raidbench-scratch-2.dat"


def test_a_link_of_our_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).symlink_to(foreign(tmp_path / "db"))
    assert plan_scratch(str(tmp_path), MIB, writes=True).path == tmp_path / "raidbench-scratch-2.dat"


async def test_a_file_made_by_somebody_since_the_plan_is_refused(tmp_path: Path) -> None:
    plan = plan_scratch(str(tmp_path / "x"), MIB, writes=True)
    foreign(tmp_path / "x")
    with pytest.raises(RefusedError):
        await ScratchFile(plan).open()


async def test_a_link_made_by_somebody_since_the_plan_is_not_followed(tmp_path: Path) -> None:
    plan = plan_scratch(str(tmp_path / "x"), MIB, writes=True)
    (tmp_path / "x").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError):
        await ScratchFile(plan).open()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.usefixtures("marks")
async def test_our_file_replaced_by_somebody_since_the_plan_is_refused(tmp_path: Path) -> None:
    plan = plan_scratch(str(await own(tmp_path / "x")), MIB, writes=True)
    (tmp_path / "x").unlink()
    foreign(tmp_path / "x")
    with pytest.raises(RefusedError, match="replaced"):
        await ScratchFile(plan).open()


@pytest.mark.usefixtures("marks")
async def test_a_foreign_file_is_not_removed(tmp_path: Path) -> None:
    await remove_scratch(foreign(tmp_path / "db"))
    assert (tmp_path / "db").exists()


async def test_a_file_that_took_our_name_during_the_run_is_not_removed(tmp_path: Path) -> None:
    file = ScratchFile(plan_scratch(str(tmp_path / "x"), MIB, writes=True))
    await file.open()
    (tmp_path / "x").rename(tmp_path / "y")
    foreign(tmp_path / "x")
    await file.close(keep=False)
    assert (tmp_path / "x").read_text() == "precious"


async def test_a_link_that_took_our_name_during_the_run_is_neither_followed_nor_removed(tmp_path: Path) -> None:
    file = ScratchFile(plan_scratch(str(tmp_path / "x"), MIB, writes=True))
    await file.open()
    (tmp_path / "x").unlink()
    (tmp_path / "x").symlink_to(foreign(tmp_path / "db"))
    Path(file.path).write_bytes(b"measured")
    await file.close(keep=False)
    assert (tmp_path / "x").is_symlink()
    assert (tmp_path / "db").read_text() == "precious"


async def test_what_took_our_name_during_the_run_is_told(tmp_path: Path) -> None:
    file = ScratchFile(plan_scratch(str(tmp_path / "x"), MIB, writes=True))
    await file.open()
    before = file.moved()
    (tmp_path / "x").unlink()
    foreign(tmp_path / "x")
    assert (before, "moved or replaced" in file.moved()) == ("", True)
    await file.close(keep=False)


async def test_a_folder_exchanged_for_a_link_since_the_plan_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    plan = plan_scratch(str(tmp_path / "mine" / "x"), MIB, writes=True)
    (tmp_path / "mine").rmdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "mine").symlink_to(tmp_path / "theirs")
    with pytest.raises(StorageError):
        await ScratchFile(plan).open()
    assert list((tmp_path / "theirs").iterdir()) == []


@pytest.mark.usefixtures("marks")
async def test_a_copy_of_our_file_is_somebody_elses(tmp_path: Path) -> None:
    subprocess.run(["cp", "--preserve=all", await own(tmp_path / "x", b"ours"), tmp_path / "copy"], check=True)
    assert os.getxattr(tmp_path / "copy", scratch_xattr._MARK)
    with pytest.raises(RefusedError, match="was not created by raidbench"):
        plan_scratch(str(tmp_path / "copy"), MIB, writes=True)


@pytest.mark.usefixtures("marks")
async def test_our_file_under_another_name_is_somebody_elses(tmp_path: Path) -> None:
    (await own(tmp_path / "x", b"ours")).rename(tmp_path / "taken")
    with pytest.raises(RefusedError, match="was not created by raidbench"):
        plan_scratch(str(tmp_path / "taken"), MIB, writes=True)


@pytest.mark.usefixtures("marks")
async def test_our_kept_file_that_somebody_wrote_to_is_his(tmp_path: Path) -> None:
    (await own(tmp_path / "x", b"ours")).write_bytes(b"precious, and longer")
    with pytest.raises(RefusedError, match="was not created by raidbench"):
        plan_scratch(str(tmp_path / "x"), MIB, writes=True)


@pytest.mark.usefixtures("marks")
async def test_our_kept_file_that_somebody_wrote_to_in_place_is_his(tmp_path: Path) -> None:
    path = await own(tmp_path / "x", b"ours")
    with path.open("r+b") as file:
        file.write(b"MINE")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    await remove_scratch(path)
    assert path.read_bytes() == b"MINE"


@pytest.mark.usefixtures("marks")
async def test_our_file_with_a_second_name_is_not_written_to(tmp_path: Path) -> None:
    path = await own(tmp_path / "x", b"ours")
    os.link(path, tmp_path / "y")
    with pytest.raises(RefusedError, match="was not created by raidbench"):
        plan_scratch(str(path), MIB, writes=True)


async def test_two_of_us_do_not_measure_one_file(tmp_path: Path) -> None:
    await own(tmp_path / "x")
    plan = plan_scratch(str(tmp_path / "x"), MIB, writes=True)
    if not plan.own:
        pytest.skip("files cannot be marked here")
    first = ScratchFile(plan)
    await first.open()
    with pytest.raises(RefusedError, match="Another raidbench"):
        await ScratchFile(plan).open()
    await remove_scratch(tmp_path / "x")
    assert (tmp_path / "x").exists()
    await first.close(keep=False)


@pytest.mark.usefixtures("marks")
async def test_a_link_to_our_file_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(await own(tmp_path / "x"))
    await remove_scratch(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()


# -- our files -------------------------------------------------------------------------------------------------------


async def test_what_was_made_is_removed(tmp_path: Path) -> None:
    path = await made(plan_scratch(str(tmp_path / "x"), MIB, writes=True), keep=False)
    assert not path.exists()


@pytest.mark.usefixtures("marks")
async def test_what_a_crash_left_is_removed_by_its_mark_alone(tmp_path: Path) -> None:
    path = await left_by_a_crash(tmp_path / "x")
    await remove_scratch(path)
    assert not path.exists()


async def test_where_files_cannot_be_marked_the_identity_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*args: object, **options: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", unsupported)
    monkeypatch.setattr(os, "getxattr", unsupported)
    path = await own(tmp_path / "x")
    await remove_scratch(path)
    assert not path.exists()


async def test_removing_what_is_gone_is_no_error(tmp_path: Path) -> None:
    await remove_scratch(tmp_path / "x")


async def test_only_its_owner_may_read_a_scratch_file(tmp_path: Path) -> None:
    assert (await own(tmp_path / "x")).stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("marks")
async def test_our_file_is_used_again(tmp_path: Path) -> None:
    await own(tmp_path / NAME)
    plan = plan_scratch(str(tmp_path), MIB, writes=True)
    assert (plan.path, plan.exists, plan.own) == (tmp_path / NAME, True, True)


@pytest.mark.usefixtures("marks")
async def test_our_file_full_of_data_is_not_filled_again(tmp_path: Path) -> None:
    await own(tmp_path / "x", RANDOM_DATA)
    assert not plan_scratch(str(tmp_path / "x"), MIB, writes=True).fill


@pytest.mark.usefixtures("marks")
async def test_our_file_with_holes_is_filled(tmp_path: Path) -> None:
    assert plan_scratch(str(await left_by_a_crash(tmp_path / "x")), MIB, writes=True).fill


@pytest.mark.usefixtures("marks")
async def test_our_empty_file_gets_the_default_size(tmp_path: Path) -> None:
    assert plan_scratch(str(await own(tmp_path / "x")), None, writes=True).size == DEFAULT_SIZE


@pytest.mark.usefixtures("marks")
async def test_a_file_has_its_planned_size_from_the_beginning(tmp_path: Path) -> None:
    path = await left_by_a_crash(tmp_path / "x")
    assert path.stat().st_size == MIB
    assert path.stat().st_blocks * 512 < MIB, "it takes no room before it is written"


@pytest.mark.usefixtures("marks")
@pytest.mark.parametrize("size", [0, 4096, MIB - 1, MIB + 1])
async def test_an_interrupted_file_of_another_size_than_planned_is_somebodys(tmp_path: Path, size: int) -> None:
    path = await left_by_a_crash(tmp_path / "x")
    os.truncate(path, size)
    assert await remove_scratch(path) is None
    assert path.exists()
    with pytest.raises(RefusedError, match="was not created by raidbench"):
        plan_scratch(str(path), MIB, writes=True)
    assert plan_scratch(str(tmp_path), MIB, writes=True).path.name == NAME


@pytest.mark.usefixtures("marks")
async def test_an_interrupted_file_that_somebody_copied_another_into_is_his(tmp_path: Path) -> None:
    path = await left_by_a_crash(tmp_path / "x")
    subprocess.run(["cp", foreign(tmp_path / "db"), path], check=True)
    assert await remove_scratch(path) is None
    assert path.read_text() == "precious"


@pytest.mark.usefixtures("marks")
async def test_a_file_can_be_used_again_with_more_and_with_less(tmp_path: Path) -> None:
    path = await own(tmp_path / "x", RANDOM_DATA)
    for wanted, kept in ((2 * MIB, 2 * MIB), (4096, 2 * MIB)):
        file = ScratchFile(plan_scratch(str(path), wanted, writes=True))
        await file.open()
        assert path.stat().st_size == kept
        await file.close(keep=True)
        assert scratch_xattr.is_own(path, path)


@pytest.mark.usefixtures("marks")
@pytest.mark.parametrize("field", ["owner", "inode", "device", "path", "version"])
async def test_a_mark_that_says_another_file_makes_it_somebodys(tmp_path: Path, field: str) -> None:
    path = await left_by_a_crash(tmp_path / "x")
    words = os.getxattr(path, scratch_xattr._MARK).decode().split(" ", 7)
    number, boot = words[4].split("@")
    changed = {
        "owner": (3, str(os.geteuid() + 1)),
        "inode": (2, str(int(words[2]) + 1)),
        "device": (4, f"{int(number) + 1}@{boot}"),
        "path": (7, str(tmp_path / "y")),
        "version": (0, "2"),
    }[field]
    words[changed[0]] = changed[1]
    os.setxattr(path, scratch_xattr._MARK, " ".join(words).encode())
    assert not scratch_xattr.is_own(path, path)


@pytest.mark.usefixtures("marks")
async def test_a_device_may_have_another_number_after_a_reboot(tmp_path: Path) -> None:
    path = await left_by_a_crash(tmp_path / "x")
    words = os.getxattr(path, scratch_xattr._MARK).decode().split(" ", 7)
    words[4] = "1@another-boot"
    os.setxattr(path, scratch_xattr._MARK, " ".join(words).encode())
    assert scratch_xattr.is_own(path, path)


async def test_a_folder_that_vanished_is_a_sentence(tmp_path: Path) -> None:
    plan = plan_scratch(str(tmp_path / "x"), MIB, writes=True)
    with pytest.raises(StorageError, match="cannot be created"):
        await ScratchFile(replace(plan, path=tmp_path / "gone" / "x")).open()


# -- room ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "reserve"),
    [(1 * GIB, 256 * MIB), (100 * GIB, 5 * GIB), (10_000 * GIB, 10 * GIB)],
    ids=["small", "middling", "large"],
)
def test_a_reserve_stays_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, reserve: int) -> None:
    disk(monkeypatch, size=size, free=reserve + MIB)
    assert plan_scratch(str(tmp_path), MIB, writes=True).size == MIB
    with pytest.raises(RefusedError, match="has too little space"):
        plan_scratch(str(tmp_path), MIB + 1, writes=True)


def test_a_file_that_would_eat_into_the_reserve_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk(monkeypatch, size=100 * GIB, free=5 * GIB + MIB)
    with pytest.raises(RefusedError, match="has too little space"):
        plan_scratch(str(tmp_path), MIB + 4096, writes=True)


@pytest.mark.usefixtures("marks")
async def test_our_full_file_needs_no_more_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await own(tmp_path / "x", RANDOM_DATA)
    disk(monkeypatch, size=100 * GIB, free=0)
    assert not plan_scratch(str(tmp_path / "x"), MIB, writes=True).fill


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_without_the_right_to_write_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(RefusedError, match="No permission to create a file"):
        plan_scratch(str(tmp_path / "locked"), MIB, writes=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
async def test_a_file_below_a_folder_that_may_only_be_searched_is_made_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "searched" / "mine"
    folder.mkdir(parents=True)
    folder.parent.chmod(0o311)
    try:
        file = ScratchFile(plan_scratch(str(folder / "x"), MIB, writes=True))
        await file.open()
        assert (folder / "x").exists()
        await file.close(keep=False)
        assert not (folder / "x").exists()
    finally:
        folder.parent.chmod(0o755)


def test_a_path_lies_on_the_filesystem_of_its_nearest_folder(tmp_path: Path) -> None:
    number = os.stat(tmp_path).st_dev
    assert device_number(tmp_path / "a" / "b") == f"{os.major(number)}:{os.minor(number)}"


def test_the_mark_is_an_attribute_users_may_set() -> None:
    assert scratch_xattr._MARK.startswith("user.")
