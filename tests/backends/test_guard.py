"""The guard on real loop devices: every way a device can be in use is refused, what lies on it is named."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from backends import exclusive_open
from backends.errors import AnotherDeviceError, DeviceGoneError, RefusedError
from backends.exclusive_open import DeviceClaim, claim
from backends.guard import GuardResult, Intent, claim_device, judge, judge_device, require, require_free
from backends.identity import Signature
from backends.system.local import LocalHost
from backends.topology.device_identity import identity
from backends.topology.tree import read_node
from tests.backends import loops
from tests.backends.loops import Loop, ext4, loop, mounted, needs_loops, program, run
from tests.backends.swaps import bytes_but, kernels_own, make_swap
from tests.packages import needs

pytestmark = [pytest.mark.root, needs_loops()]

UNSHARED = "mount {device} {point} && echo ready && exec sleep 60"
FIRST = "6f1a3c52-8d0b-4e7f-9a21-000000000001"
OPENER = "import os, sys; os.open(sys.argv[1], os.O_RDONLY); print('ready', flush=True); __import__('time').sleep(60)"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as inner:
        yield inner


@pytest.fixture
def device(tmp_path: Path, stack: ExitStack) -> Loop:
    return stack.enter_context(loop(tmp_path / "disk", "--partscan"))


async def verdict(path: str, intent: Intent = Intent.WRITE) -> GuardResult:
    return (await judge_device(LocalHost(), path, intent))[1]


async def test_a_blank_device_may_be_written(device: Loop) -> None:
    answer = await verdict(device.device)
    assert replace(answer, label=None) == GuardResult(device=device.device, ok=True)


@needs("mkfs.ext4")
async def test_an_unmounted_filesystem_needs_the_typed_name(device: Loop) -> None:
    ext4(device.sure(), "-L", "data", "-U", FIRST)
    answer = await verdict(device.device)
    assert answer.needs_confirmation
    assert answer.confirm_text == device.name
    assert answer.content == (f"{device.device}: ext4 'data', 64 MiB, UUID {FIRST}",)
    assert [answer.confirmed_by(typed) for typed in (None, "", device.device, device.name)] == [False] * 3 + [True]


@needs("mkfs.ext4")
async def test_a_mounted_filesystem_is_refused_with_its_mount_point(device: Loop, tmp_path: Path) -> None:
    ext4(device.sure())
    with mounted(device.device, tmp_path / "here") as point:
        answer = await verdict(device.device)
    assert answer.refused == (f"{device.device} is mounted on {point}.",)
    assert "Unmount it first" in answer.hint


@needs("mkfs.ext4")
async def test_a_device_mounted_in_another_mount_namespace_only_is_refused(
    device: Loop, tmp_path: Path, stack: ExitStack
) -> None:
    ext4(device.sure())
    (tmp_path / "there").mkdir()
    script = UNSHARED.format(device=device.device, point=tmp_path / "there")
    process = stack.enter_context(program("unshare", "--mount", "sh", "-c", script))
    answer = await verdict(device.device)
    assert not answer.ok
    assert re.search(rf"in the mount namespace of (sh|sleep), process {process.pid}", answer.refused[0])


@pytest.mark.long
@needs("mkfs.ext4")
async def test_parent_and_sibling_of_a_mounted_partition_are_refused(device: Loop, tmp_path: Path) -> None:
    first, second = device.partition((2048, 32768), (65536, 32768))
    device.sure()
    ext4(first)
    with mounted(first, tmp_path / "here") as point:
        answers = [await verdict(path) for path in (device.device, first, second)]
    assert {answer.refused for answer in answers} == {(f"{first} is mounted on {point}.",)}


@needs("mkfs.ext4")
async def test_a_partition_of_a_mounted_disk_is_refused(device: Loop, tmp_path: Path) -> None:
    ext4(device.sure())
    device.add_partition(1, 2048, 8192)
    with mounted(device.device, tmp_path / "here") as point:
        answer = await verdict(f"{device.device}p1")
    assert answer.refused == (f"{device.device} is mounted on {point}.",)


@needs("mkfs.ext4")
async def test_a_disk_is_confirmed_with_all_that_lies_on_its_partitions(device: Loop) -> None:
    (first,) = device.partition((2048, 32768))
    device.sure()
    ext4(first)
    answer = await verdict(device.device)
    assert answer.needs_confirmation
    assert [line.split(",")[0] for line in answer.content] == [f"{device.device}: dos", f"{first}: ext4"]


async def test_a_blank_partition_may_be_written_while_its_disk_has_a_table(device: Loop) -> None:
    (first,) = device.partition((2048, 32768))
    assert replace(await verdict(first), label=None) == GuardResult(device=first, ok=True)


@pytest.mark.long
@needs("mkswap")
async def test_active_swap_is_refused_and_inactive_swap_is_found(device: Loop) -> None:
    run("mkswap", device.sure())
    before = await verdict(device.device)
    run("swapon", device.sure())
    try:
        answer = await verdict(device.device)
    finally:
        run("swapoff", device.device)
    assert before.needs_confirmation
    assert answer.refused == (f"{device.device} is active swap.",)


SIGNATURES: dict[str, tuple[int, Callable[[], bytes], bool]] = {
    "gpt": (0, loops.gpt, True),
    "LVM2_member": (512, loops.lvm_label, False),
    "crypto_LUKS": (0, loops.luks_header, True),
    "linux_raid_member": (4096, loops.md_superblock, False),
}


@pytest.mark.parametrize("kind", SIGNATURES)
async def test_what_lies_on_an_idle_device_is_found(device: Loop, kind: str) -> None:
    offset, data, may_be_confirmed = SIGNATURES[kind]
    device.write(offset, data())
    facts, answer = await judge_device(LocalHost(), device.device, Intent.WRITE)
    assert kind in {signature.kind for signature in facts.signatures}
    assert answer.ok is may_be_confirmed
    assert answer.needs_confirmation is may_be_confirmed


async def test_an_inactive_raid_member_is_refused_without_override(device: Loop) -> None:
    device.write(4096, loops.md_superblock())
    answer = await verdict(device.device)
    assert "member of a RAID" in answer.refused[0]
    with pytest.raises(RefusedError):
        require(answer, device.name)


@needs("mkfs.ext4")
async def test_two_signatures_at_once_are_found_whatever_the_prober_makes_of_it(device: Loop) -> None:
    ext4(device.sure())
    device.write(512, loops.lvm_label())
    answer = await verdict(device.device)
    assert answer.needs_confirmation or not answer.ok


async def test_a_plain_opener_is_named_and_refused(device: Loop, stack: ExitStack) -> None:
    process = stack.enter_context(program(sys.executable, "-c", OPENER, device.device))
    answer = await verdict(device.device)
    name = Path(f"/proc/{process.pid}/comm").read_text().strip()
    assert answer.refused == (f"{device.device}: {name} (process {process.pid}) has it open.",)


async def test_a_partition_opened_by_a_program_makes_its_disk_used(device: Loop, stack: ExitStack) -> None:
    (first,) = device.partition((2048, 32768))
    stack.enter_context(program(sys.executable, "-c", OPENER, first))
    assert not (await verdict(device.device)).ok


async def test_a_loop_device_set_up_on_it_makes_it_used(device: Loop, stack: ExitStack) -> None:
    inner = stack.enter_context(loop(Path(device.sure())))
    answer = await verdict(device.device)
    assert answer.refused == (f"{device.device}: {inner.device} is set up on it.",)


async def test_a_device_held_by_a_thread_whose_program_ended_its_first_is_refused(
    device: Loop, stack: ExitStack
) -> None:
    script = (
        "import ctypes, os, sys, threading, time\n"
        "os.open(sys.argv[1], os.O_RDONLY)\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), print('ready', flush=True), time.sleep(60))).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    process = stack.enter_context(program(sys.executable, "-c", script, device.device))
    assert not list(Path(f"/proc/{process.pid}/fd").iterdir())
    answer = await verdict(device.device)
    assert f"(process {process.pid}) has it open" in answer.refused[0]


@needs("mkfs.ext4")
async def test_a_loop_device_over_a_mounted_device_is_refused(device: Loop, tmp_path: Path, stack: ExitStack) -> None:
    ext4(device.sure())
    upper = stack.enter_context(loop(Path(device.sure())))
    with mounted(device.device, tmp_path / "here") as point:
        answer = await verdict(upper.device)
    assert answer.refused == (f"{upper.device} is set up on {device.device}, mounted on {point}.",)


@needs("mkfs.ext4")
@pytest.mark.parametrize("options", [(), ("--offset", "1048576")])
async def test_a_second_loop_device_over_a_mounted_image_is_refused(
    device: Loop, tmp_path: Path, stack: ExitStack, options: tuple[str, ...]
) -> None:
    ext4(device.sure())
    with mounted(device.device, tmp_path / "here") as point:
        second = stack.enter_context(loop(device.backing, *options))
        answer = await verdict(second.device)
    assert answer.refused == (f"{second.device} is set up on the same data as {device.device}, mounted on {point}.",)


async def test_an_image_that_a_program_holds_open_is_not_written_through_its_loop_device(
    device: Loop, stack: ExitStack
) -> None:
    process = stack.enter_context(program(sys.executable, "-c", OPENER, str(device.backing)))
    answer = await verdict(device.device)
    name = Path(f"/proc/{process.pid}/comm").read_text().strip()
    assert answer.refused == (
        f"{device.device} is set up on {device.backing}: {name} (process {process.pid}) has it open.",
    )


async def test_an_image_known_by_another_name_is_the_same_image(device: Loop, stack: ExitStack, tmp_path: Path) -> None:
    (tmp_path / "other-name").hardlink_to(device.backing)
    stack.enter_context(program(sys.executable, "-c", OPENER, str(tmp_path / "other-name")))
    assert not (await verdict(device.device)).ok


@needs("mkswap")
async def test_a_loop_device_over_an_active_swap_file_is_refused(tmp_path: Path, stack: ExitStack) -> None:
    area = tmp_path / "swap"
    area.write_bytes(bytes(1 << 20))
    area.chmod(0o600)
    run("mkswap", str(area))
    device = stack.enter_context(loop(area))
    if subprocess.run(["swapon", str(area)], check=False, capture_output=True).returncode:
        pytest.skip("no swap file can be made here")
    try:
        answer = await verdict(device.device)
    finally:
        run("swapoff", str(area))
    assert answer.refused == (f"{device.device} is set up on {area}, active swap.",)


async def _with_swap_inside(device: Loop, point: Path, lazily: bool) -> tuple[GuardResult, bytes, bytes]:
    """The verdict while a swap file on it is active, and its bytes before and after, but what the kernel swaps."""
    ext4(device.sure())
    with ExitStack() as stack:
        stack.enter_context(mounted(device.device, point))
        area = point / "swap"
        area.write_bytes(bytes(1 << 20))
        area.chmod(0o600)
        make_swap(area)
        own = kernels_own(area)
        if subprocess.run(["swapon", str(area)], check=False, capture_output=True).returncode:
            pytest.skip("no swap file can be made here")
        held = os.open(area, os.O_RDONLY)
        stack.callback(os.close, held)
        stack.callback(ctypes.CDLL(None).swapoff, f"/proc/self/fd/{held}".encode())  # its path may lead nowhere by then
        before = bytes_but(device.backing, own)
        if lazily:
            run("umount", "--lazy", str(point))
            stack.callback(run, "mount", device.device, str(point))  # what mounted it takes it away once more
        answer = await verdict(device.device)
        with pytest.raises(RefusedError):
            async with claim_device(LocalHost(), device.device, Intent.WRITE, device.name):
                raise AssertionError("it must not be handed over")
        return answer, before, bytes_but(device.backing, own)


@pytest.mark.long
@needs("mkfs.ext4", "mkswap")
async def test_a_swap_file_inside_is_named_beside_the_mount(device: Loop, tmp_path: Path) -> None:
    answer, before, after = await _with_swap_inside(device, tmp_path / "here", lazily=False)
    assert f"{device.device} is mounted on {tmp_path / 'here'}." in answer.refused
    assert f"{device.device} is below an active swap file." in answer.refused
    assert before == after


@pytest.mark.long
@needs("mkfs.ext4", "mkswap")
async def test_a_swap_file_inside_what_was_unmounted_lazily_still_uses_it(device: Loop, tmp_path: Path) -> None:
    answer, before, after = await _with_swap_inside(device, tmp_path / "here", lazily=True)
    assert not answer.ok
    assert before == after


async def test_a_claim_that_is_under_way_in_a_socket_is_refused(device: Loop) -> None:
    sent, waiting = socket.socketpair()
    with sent, waiting:
        claimed = os.open(device.sure(), os.O_RDONLY | os.O_EXCL)
        socket.send_fds(sent, [b"x"], [claimed])
        os.close(claimed)  # from here on no table of open files has it
        answer = await verdict(device.device)
        assert answer.refused == (f"{device.device}: the kernel or a program has opened it exclusively.",)


async def test_a_loop_device_whose_file_was_deleted_counts_as_in_use(device: Loop) -> None:
    kept = device.backing.with_name("kept")
    kept.hardlink_to(device.backing)
    device.backing.unlink()
    answer = await verdict(device.device)
    kept.rename(device.backing)
    assert f"its backing device or file {device.backing} cannot be read" in answer.refused[0]


async def test_what_lies_beneath_is_held_with_it(device: Loop, stack: ExitStack) -> None:
    upper = stack.enter_context(loop(Path(device.sure())))
    async with claim_device(LocalHost(), upper.device, Intent.WRITE):
        assert claim(device.device, "7:0") == "the kernel or a program has opened it exclusively"


async def test_a_loop_device_made_read_only_is_refused(tmp_path: Path) -> None:
    with loop(tmp_path / "disk", "--read-only") as device:
        answer = await verdict(device.device)
    assert f"{device.device} is read-only." in answer.refused


async def test_a_device_of_size_zero_is_refused(tmp_path: Path) -> None:
    with loop(tmp_path / "empty", size=0) as device:
        answers = [await verdict(device.device, intent) for intent in Intent]
    assert [answer.refused for answer in answers] == [(f"{device.device} has no medium: its size is 0.",)] * 2


async def test_the_root_disk_is_refused_before_anything_is_opened() -> None:
    root = next(
        (line.split()[2] for line in Path("/proc/self/mountinfo").read_text().splitlines() if line.split()[4] == "/"),
        "0:0",
    )
    if not Path(f"/sys/dev/block/{root}").exists():
        pytest.skip("the root filesystem lies on no block device")
    node = "/dev/" + Path(f"/sys/dev/block/{root}").resolve().name
    answer = await verdict(node)
    assert any("the running system is on it" in reason for reason in answer.refused)
    with pytest.raises(RefusedError):
        async with claim_device(LocalHost(), node, Intent.WRITE, Path(node).name):
            raise AssertionError("the root disk must never be held for writing")


async def test_the_disk_that_holds_a_loop_devices_file_is_used(device: Loop) -> None:
    facts, _ = await judge_device(LocalHost(), device.device, Intent.WRITE)
    assert facts.identity is not None
    assert facts.identity.backing == str(device.backing)
    info = os.stat(device.backing)
    number = f"{os.major(info.st_dev)}:{os.minor(info.st_dev)}"
    if not Path(f"/sys/dev/block/{number}").exists():
        pytest.skip("the test's files lie on no block device")
    node = "/dev/" + Path(f"/sys/dev/block/{number}").resolve().name
    below, _ = await judge_device(LocalHost(), node, Intent.READ)
    assert any(use.kind == "loop" and str(device.backing) in use.detail for use in below.uses)


async def test_what_is_no_block_device_is_refused_and_never_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    paths = [str(tmp_path / "file"), "/dev/null", str(tmp_path), "/dev/no-such-disk"]
    answers = [await verdict(path, intent) for path in paths for intent in Intent]
    assert not any(answer.ok for answer in answers)
    assert not Path("/dev/no-such-disk").exists()


async def test_a_link_leads_to_the_kernels_name(device: Loop, tmp_path: Path) -> None:
    (tmp_path / "link:with colon").symlink_to(device.device)
    assert (await verdict(str(tmp_path / "link:with colon"))).device == device.device


async def test_a_read_is_allowed_although_mounted(device: Loop, tmp_path: Path) -> None:
    ext4(device.sure())
    with mounted(device.device, tmp_path / "here"):
        async with claim_device(LocalHost(), device.device, Intent.READ) as hold:
            with open(hold.path, "rb") as file:
                assert len(file.read(4096)) == 4096


@pytest.mark.long
async def test_nothing_else_can_take_a_device_that_is_held(device: Loop) -> None:
    async with claim_device(LocalHost(), device.device, Intent.WRITE) as hold:
        assert claim(device.device, "7:0") == "the kernel or a program has opened it exclusively"
        with open(hold.path, "wb", buffering=0) as file:
            assert file.write(bytes(4096)) == 4096
        with pytest.raises(RefusedError):
            DeviceClaim(device.device, hold.identity, write=True).open()
    assert replace(await verdict(device.device), label=None) == GuardResult(device=device.device, ok=True)


async def test_a_program_that_opens_it_just_before_it_is_held_is_seen_while_it_is(
    device: Loop, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = DeviceClaim.open

    def late(hold: DeviceClaim) -> None:
        stack.enter_context(program(sys.executable, "-c", OPENER, device.device))
        opened(hold)

    monkeypatch.setattr(DeviceClaim, "open", late)
    with pytest.raises(RefusedError, match="has it open"):
        async with claim_device(LocalHost(), device.device, Intent.WRITE):
            raise AssertionError("it must not be handed over")


async def test_another_name_that_came_just_before_it_was_held_is_not_left_out_of_the_hold(
    device: Loop, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = DeviceClaim.open

    def late(hold: DeviceClaim) -> None:
        stack.enter_context(loop(device.backing))
        opened(hold)

    monkeypatch.setattr(DeviceClaim, "open", late)
    with pytest.raises(AnotherDeviceError, match="changed since the last scan"):
        async with claim_device(LocalHost(), device.device, Intent.WRITE):
            raise AssertionError("it must not be handed over")


async def test_a_loop_device_without_a_backing_file_cannot_be_told_from_another(device: Loop) -> None:
    facts, _ = await judge_device(LocalHost(), device.device, Intent.WRITE)
    assert facts.identity is not None
    unbacked = judge(replace(facts, identity=replace(facts.identity, backing=None)), Intent.WRITE)
    assert unbacked.refused == (
        f"{device.device} has no serial number and no WWN, so raidbench cannot distinguish it from another disk.",
    )


@pytest.mark.long
async def test_a_device_that_is_not_blank_is_held_only_with_its_name(device: Loop) -> None:
    device.write(0, loops.gpt())
    with pytest.raises(RefusedError, match="contains data"):
        async with claim_device(LocalHost(), device.device, Intent.WRITE):
            pass
    async with claim_device(LocalHost(), device.device, Intent.WRITE, device.name) as hold:
        assert hold.path.startswith("/proc/")


@needs("mkfs.ext4")
async def test_what_was_made_on_it_after_the_question_is_not_covered_by_the_answer(device: Loop) -> None:
    shown = (await verdict(device.device)).content
    ext4(device.sure())
    with pytest.raises(RefusedError, match=r"changed after you confirmed it: /dev/loop\d+: ext4"):
        async with claim_device(LocalHost(), device.device, Intent.WRITE, device.name, shown=shown):
            raise AssertionError("it must not be handed over")


@pytest.mark.long
@needs("mkfs.ext4")
async def test_a_filesystem_made_anew_after_the_question_is_not_the_one_that_was_confirmed(device: Loop) -> None:
    ext4(device.sure(), "-L", "data")
    shown = (await verdict(device.device)).content
    ext4(device.sure(), "-L", "data")
    before = device.backing.read_bytes()
    with pytest.raises(RefusedError, match=r"changed after you confirmed it: .*ext4 'data', 64 MiB, UUID"):
        async with claim_device(LocalHost(), device.device, Intent.WRITE, device.name, shown=shown):
            raise AssertionError("it must not be handed over")
    with pytest.raises(RefusedError, match="changed after you confirmed it"):
        await require_free(LocalHost(), device.device, (Signature(kind="ext4", label="data", size_bytes=128 << 20),))
    assert device.backing.read_bytes() == before


async def test_another_device_than_the_one_that_was_chosen_is_not_even_read(device: Loop) -> None:
    facts, _ = await judge_device(LocalHost(), device.device, Intent.READ)
    assert facts.identity is not None
    chosen = replace(facts.identity, diskseq="1")
    with pytest.raises(AnotherDeviceError, match="is now a different device: disk sequence number was 1, is"):
        async with claim_device(LocalHost(), device.device, Intent.READ, None, chosen):
            raise AssertionError("it must not be held")


@pytest.mark.parametrize("number", [errno.ENXIO, errno.ENODEV])
async def test_a_device_that_the_kernel_lets_nobody_open_is_not_said_to_be_in_use(
    device: Loop, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def closed(path: str, flags: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(exclusive_open, "probe_open", closed)
    answer = await verdict(device.device)
    assert answer.refused == (f"{device.device}: it is offline or removed: the kernel refuses to open it.",)
    assert answer.hint.startswith("Read the kernel log for the cause")


async def test_a_device_that_left_after_it_was_chosen_is_said_to_be_gone(device: Loop) -> None:
    facts, _ = await judge_device(LocalHost(), device.device, Intent.READ)
    with pytest.raises(DeviceGoneError, match="is gone"):
        async with claim_device(LocalHost(), "/dev/no-such-disk", Intent.READ, None, facts.identity):
            raise AssertionError("it must not be held")


async def test_another_device_under_the_same_name_is_not_held(tmp_path: Path) -> None:
    with loop(tmp_path / "one") as first:
        node = await read_node(LocalHost(), first.name)
        assert node is not None
        wanted = identity(node)
    with loop(tmp_path / "two") as second:
        if second.device != first.device:
            pytest.skip("the kernel gave another number meanwhile")
        with pytest.raises(DeviceGoneError, match="disk sequence number"):
            DeviceClaim(second.device, wanted, write=True).open()


async def test_a_device_that_vanishes_is_gone(tmp_path: Path) -> None:
    with loop(tmp_path / "one") as device:
        facts, _ = await judge_device(LocalHost(), device.device, Intent.WRITE)
    assert facts.identity is not None
    with pytest.raises((DeviceGoneError, RefusedError)):
        DeviceClaim(device.device, facts.identity, write=True).open()


async def test_without_the_prober_a_device_counts_as_not_blank(device: Loop) -> None:
    class WithoutBlkid(LocalHost):
        def which(self, names: Sequence[str]) -> str | None:
            return None if "blkid" in names else super().which(names)

    facts, answer = await judge_device(WithoutBlkid(), device.device, Intent.WRITE)
    assert [signature.kind for signature in facts.signatures] == ["unknown"]
    assert answer.needs_confirmation


async def test_a_check_that_fails_counts_as_in_use(device: Loop) -> None:
    class Blind(LocalHost):
        async def read(self, path: str) -> str | None:
            return None if path == "/proc/swaps" else await super().read(path)

    facts, answer = await judge_device(Blind(), device.device, Intent.WRITE)
    assert facts.unknown
    assert not answer.ok
    assert "cannot be verified as unused" in answer.refused[0]


async def test_not_being_root_counts_as_in_use(device: Loop) -> None:
    class User(LocalHost):
        @property
        def is_root(self) -> bool:
            return False

    facts, answer = await judge_device(User(), device.device, Intent.WRITE)
    assert "unknown" in {use.kind for use in facts.uses}
    assert not judge(facts, Intent.WRITE).ok
    assert "as root" in answer.hint


@pytest.fixture
async def held(device: Loop) -> AsyncIterator[DeviceClaim]:
    async with claim_device(LocalHost(), device.device, Intent.WRITE) as hold:
        yield hold


async def test_the_hold_is_not_inherited_by_programs(held: DeviceClaim) -> None:
    descriptor = held.path.rsplit("/", 1)[1]
    assert os.get_inheritable(int(descriptor)) is False


@pytest.mark.long
@pytest.mark.fio
@needs("fio")
async def test_fio_writes_through_the_hold_and_nobody_else_can_format_meanwhile(device: Loop, tmp_path: Path) -> None:
    async with claim_device(LocalHost(), device.device, Intent.WRITE) as hold:
        done = subprocess.run(
            ["fio", "--name=t", f"--filename={hold.path}", "--rw=write", "--bs=64k", "--size=1m", "--thread"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        other = subprocess.run(["mkfs.ext4", "-F", "-q", device.sure()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert device.backing.read_bytes()[: 1 << 20].count(0) < 1 << 19
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk"]
    assert other.returncode != 0
