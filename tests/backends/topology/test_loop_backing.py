"""A loop device is what the kernel has open behind it, not what its path leads to now."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from backends import guard
from backends.errors import RefusedError
from backends.guard import Intent, claim_device, judge_device
from backends.host import Completed, FileStat, FilesystemSpace
from backends.system.local import LocalHost
from backends.topology.loop_backing import parse_losetup
from backends.topology.mounts import parse_mountinfo
from tests.backends.fakes import MOUNTS, FakeHost, disk, machine
from tests.backends.loops import Loop, ext4, loop, mounted, needs_loops, program, run
from tests.packages import needs

OPENER = "import os, sys; os.open(sys.argv[1], os.O_RDONLY); print('ready', flush=True); __import__('time').sleep(60)"
ELSEWHERE = (
    "cp {image} {named}.copy && mount -t tmpfs none {folder} && cp {named}.copy {folder}/hidden && "
    "losetup --show --find {folder}/hidden > {named} && echo ready && exec sleep 60"
)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as inner:
        yield inner


def mount(stack: ExitStack, kind: str, point: Path, *options: str) -> Path:
    point.mkdir(exist_ok=True)
    run("mount", "-t", kind, *options, "none", str(point))
    stack.callback(run, "umount", str(point))
    return point


async def refused(device: str) -> str:
    """Why; and nothing hands it over."""
    answer = (await judge_device(LocalHost(), device, Intent.WRITE))[1]
    with pytest.raises(RefusedError):
        async with claim_device(LocalHost(), device, Intent.WRITE, answer.confirm_text or device.removeprefix("/dev/")):
            raise AssertionError("it must not be handed over")
    return " ".join(answer.refused)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A file with something in it, in a folder of its own."""
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "image"
    path.write_bytes(b"somebody's" * 1000 + bytes(16 << 20))
    return path


def overlaid(stack: ExitStack, folder: Path) -> Path:
    """What an overlay makes of a folder, or the test is skipped."""
    work = mount(stack, "tmpfs", folder.with_name("work"))
    upper = work / "upper"
    for name in ("upper", "work"):
        (work / name).mkdir()
    (upper / "image").write_bytes((folder / "image").read_bytes())
    merged = folder.with_name("merged")
    merged.mkdir()
    options = f"lowerdir={folder},upperdir={upper},workdir={work / 'work'}"
    try:
        run("mount", "-t", "overlay", "-o", options, "none", str(merged))
    except Exception:  # the kernel may have none
        pytest.skip("needs overlayfs")
    stack.callback(run, "umount", str(merged))
    return upper / "image"


@needs_loops()
@pytest.mark.root
class TestOnLoops:
    """On loop devices of our own: no byte of what lies behind them changes."""

    async def test_a_path_that_is_covered_by_a_decoy_is_not_what_lies_behind_it(
        self, image: Path, stack: ExitStack
    ) -> None:
        made = stack.enter_context(loop(image, size=image.stat().st_size))
        before = image.read_bytes()
        with ExitStack() as covered:
            mount(covered, "tmpfs", image.parent)
            image.write_bytes(before)
            said = await refused(made.device)
            assert image.read_bytes() == before
        assert f"its backing device or file {image} is no longer the file that the kernel has open" in said
        assert image.read_bytes() == before

    @needs("unshare")
    async def test_one_that_was_set_up_in_another_mount_namespace_is_refused(
        self, image: Path, stack: ExitStack
    ) -> None:
        named = image.parent.with_name("named")
        script = ELSEWHERE.format(folder=image.parent, image=image, named=named)
        stack.enter_context(program("unshare", "--mount", "sh", "-c", script))
        device = named.read_text().strip()
        stack.callback(run, "losetup", "--detach", device)
        (image.parent / "hidden").write_bytes(image.read_bytes())
        said = await refused(device)
        assert (
            f"its backing device or file {image.parent / 'hidden'} is no longer the file that the kernel has open"
            in said
        )
        assert (image.parent / "hidden").read_bytes() == image.read_bytes()

    async def test_a_file_on_an_overlay_is_refused_whatever_has_the_layer_below(
        self, image: Path, stack: ExitStack
    ) -> None:
        upper = overlaid(stack, image.parent)
        merged = image.parent.with_name("merged") / "image"
        before = upper.read_bytes()
        stack.enter_context(program(sys.executable, "-c", OPENER, str(upper)))
        made = stack.enter_context(loop(merged, size=merged.stat().st_size))
        said = await refused(made.device)
        assert f"its backing device or file {merged} is on overlay, where another file may share its data" in said
        assert upper.read_bytes() == before

    async def test_a_file_in_a_layer_of_an_overlay_is_refused(self, image: Path, stack: ExitStack) -> None:
        upper = overlaid(stack, image.parent)
        made = stack.enter_context(loop(upper, size=upper.stat().st_size))
        merged = image.parent.with_name("merged")
        assert f"{upper} is also available below {merged}, which shows the files of" in await refused(made.device)

    @pytest.mark.long
    @needs("mkfs.ext4")
    async def test_a_deleted_file_that_another_loop_device_has_mounted_is_named(
        self, image: Path, stack: ExitStack
    ) -> None:
        ext4(image)
        first = stack.enter_context(loop(image, size=image.stat().st_size))
        second = stack.enter_context(loop(image, size=image.stat().st_size))
        point = stack.enter_context(mounted(first.device, image.with_name("point")))
        kept = image.with_name("kept")
        kept.hardlink_to(image)
        image.unlink()
        said = await refused(second.device)
        kept.rename(image)
        assert f"{second.device} is set up on the same data as {first.device}, mounted on {point}." in said

    async def test_a_file_of_an_ordinary_file_system_is_not_refused_for_that(
        self, image: Path, stack: ExitStack
    ) -> None:
        made: Loop = stack.enter_context(loop(image, size=image.stat().st_size))
        answer = (await judge_device(LocalHost(), made.device, Intent.WRITE))[1]
        assert "its backing device or file" not in " ".join(answer.refused)


ON_IMAGE = "/dev/loop0 254:0 77\n"
"""What losetup says of the file that `host` has."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)
    one = FakeHost(
        machine(disk("loop0", devno="7:0", loop__backing_file="/srv/image")),
        stats={
            "/dev/loop0": FileStat(kind="block", size=0, devno="7:0"),
            "/srv/image": FileStat(kind="file", size=4096, allocated=4096, place="254:0:77"),
        },
    )
    one.spaces["/srv/image"] = FilesystemSpace(size=1 << 40, free=1 << 40)
    one.files["/proc/1/task/1/fd/0"] = ""
    tell(one, ON_IMAGE)
    return one


def tell(host: FakeHost, text: str, code: int = 0) -> None:
    host.tools["losetup"] = Completed(returncode=code, stdout=text, stderr="")


async def said(host: FakeHost) -> tuple[str, ...]:
    """Why, but for the room that it takes."""
    told = (await judge_device(host, "/dev/loop0", Intent.WRITE))[1].refused
    return tuple(one for one in told if "is thin-provisioned on" not in one)


async def test_the_file_that_the_kernel_has_open_is_the_one_behind_it(host: FakeHost) -> None:
    assert await said(host) == ()


UNSURE: Sequence[tuple[str, Callable[[FakeHost], object]]] = (
    ("may be a different file now: losetup does not report it", lambda host: tell(host, "")),
    ("may be a different file now: losetup does not report it", lambda host: tell(host, ON_IMAGE, 1)),
    ("may be a different file now: losetup does not report it", lambda host: tell(host, "/dev/loop0 254:0\n")),
    ("may be a different file now: losetup does not report it", lambda host: host.tools.pop("losetup")),
    ("is no longer the file that the kernel has open", lambda host: tell(host, "/dev/loop0 254:0 78\n")),
    ("is no longer the file that the kernel has open", lambda host: tell(host, "/dev/loop0 254:1 77\n")),
    ("is on fuse.sshfs, where another file may share its data", lambda host: mount_of(host, "fuse.sshfs")),
    ("is on 9p, where another file may share its data", lambda host: mount_of(host, "9p")),
    ("is on nfs4, where another file may share its data", lambda host: mount_of(host, "nfs4")),
    ("is on an unknown filesystem", lambda host: mount_of(host, "ext4", "254:9")),
)


def mount_of(host: FakeHost, kind: str, devno: str = "254:0") -> None:
    host.files["/proc/self/mountinfo"] = f"25 1 {devno} / / rw - {kind} none rw"


@pytest.mark.parametrize(("words", "doubt"), UNSURE)
async def test_what_is_not_sure_to_be_behind_it_is_refused_in_words(
    host: FakeHost, words: str, doubt: Callable[[FakeHost], object]
) -> None:
    doubt(host)
    (sentence,) = await said(host)
    assert sentence.startswith(
        f"/dev/loop0 cannot be verified as unused: its backing device or file /srv/image {words}"
    )


async def test_a_layer_of_an_overlay_in_another_mount_namespace_counts(host: FakeHost) -> None:
    overlay = "50 25 0:50 / /merged rw - overlay overlay rw,lowerdir=/low:/srv,upperdir=/up,workdir=/work"
    host.files |= {"/proc/77/mountinfo": overlay, "/proc/77/comm": "containerd"}
    (sentence,) = await said(host)
    assert "is also available below /merged (in the mount namespace of containerd, process 77)" in sentence


async def test_a_subvolume_has_a_number_of_its_own(host: FakeHost) -> None:
    mount_of(host, "btrfs", "0:31")
    assert await said(host) == ()


def test_the_layers_of_an_overlay_are_read_with_their_escapes() -> None:
    line = r"1 2 0:9 / /m rw - overlay o rw,lowerdir=/a\040b:/c\134:d::/e:l/relative,upperdir=/u,workdir=/w"
    (mount,) = parse_mountinfo(line)
    assert mount.layers == ("/a b", "/c\\:d", "/e", "/u")


def test_a_line_of_losetup_that_is_cut_tells_nothing() -> None:
    assert parse_losetup(
        "/dev/loop0 254:0 77\n/dev/loop1 254:0\n/dev/loop2 254 78\nloop3 1:2 3\n/dev/loop4 a:b 5\n"
    ) == {"loop0": "254:0:77"}


async def test_our_own_root_counts(host: FakeHost) -> None:
    host.files["/proc/self/mountinfo"] = MOUNTS
    assert await said(host) == ()
