"""Every state in which a device must not be written to, on our own loop devices, against every way to write to it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from app.cli.main import cli
from backends.errors import RaidbenchError
from backends.guard import Intent, claim_device
from backends.system.local import LocalHost
from tests.backends import loops
from tests.backends.loops import Loop, ext4, loop, mounted, program, run
from tests.backends.swaps import bytes_but, kernels_own, make_swap
from tests.tally import Tally

OPENER = "import os, sys; os.open(sys.argv[1], os.O_RDONLY); print('ready', flush=True); __import__('time').sleep(600)"
THREAD = (
    "import ctypes, os, sys, threading, time\n"
    "os.open(sys.argv[1], os.O_RDONLY)\n"
    "threading.Thread(target=lambda: (time.sleep(0.3), print('ready', flush=True), time.sleep(600))).start()\n"
    "ctypes.CDLL(None).pthread_exit(None)\n"
)
UNSHARED = "mount {device} {point} && echo ready && exec sleep 600"
SIZE = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A state that was made."""

    device: str
    """What somebody wants to write to."""
    files: tuple[Path, ...]
    """Files of which no byte may change."""
    kernels: tuple[range, ...] = ()
    """Bytes of these that the kernel may write to by itself."""
    named: bool = True
    """Whether the name is given: in use, it must not help; what only lies there needs it, and does not get it."""


Maker = Callable[[Path, ExitStack], Made]


def _disk(folder: Path, stack: ExitStack, *options: str) -> Loop:
    return stack.enter_context(loop(folder / "disk", *options, size=SIZE))


def _ext4(folder: Path, stack: ExitStack, *options: str) -> Loop:
    made = _disk(folder, stack, *options)
    ext4(made.sure())
    return made


def _mount(made: str, folder: Path, stack: ExitStack) -> None:
    stack.enter_context(mounted(made, folder / "point"))
    run("sync", "-f", str(folder / "point"))  # what mounting writes is written


def _lying(offset: int, data: Callable[[], bytes], named: bool = False) -> Maker:
    def make(folder: Path, stack: ExitStack) -> Made:
        made = _disk(folder, stack)
        made.write(offset, data())
        return Made(device=made.device, files=(made.backing,), named=named)

    return make


def _made_by(make_on: Callable[[str], object]) -> Maker:
    def make(folder: Path, stack: ExitStack) -> Made:
        made = _disk(folder, stack)
        make_on(made.sure())
        return Made(device=made.device, files=(made.backing,), named=False)

    return make


def _partitioned(mount: int | None, write: int) -> Maker:
    """Of the disk (0) and its two partitions one is mounted or opened and one is to be written to."""

    def make(folder: Path, stack: ExitStack) -> Made:
        made = _disk(folder, stack, "--partscan")
        nodes = (made.device, *made.partition((2048, 8192), (16384, 8192)))
        made.sure()
        ext4(nodes[1])
        if mount is None:
            stack.enter_context(program(sys.executable, "-c", OPENER, nodes[1]))
        else:
            _mount(nodes[mount], folder, stack)
        return Made(device=nodes[write], files=(made.backing,))

    return make


def _mounted(folder: Path, stack: ExitStack) -> Made:
    made = _ext4(folder, stack)
    _mount(made.device, folder, stack)
    return Made(device=made.device, files=(made.backing,))


def _mounted_read_only(folder: Path, stack: ExitStack) -> Made:
    made = _ext4(folder, stack)
    (folder / "point").mkdir()
    run("mount", "-o", "ro", made.sure(), str(folder / "point"))
    stack.callback(run, "umount", str(folder / "point"))
    return Made(device=made.device, files=(made.backing,))


def _mounted_elsewhere(folder: Path, stack: ExitStack) -> Made:
    made = _ext4(folder, stack)
    (folder / "there").mkdir()
    script = UNSHARED.format(device=made.device, point=folder / "there")
    stack.enter_context(program("unshare", "--mount", "sh", "-c", script))
    os.sync()
    return Made(device=made.device, files=(made.backing,))


def _swap(folder: Path, stack: ExitStack) -> Made:
    made = _disk(folder, stack)
    make_swap(made.sure())
    run("swapon", made.sure())
    stack.callback(run, "swapoff", made.device)
    return Made(device=made.device, files=(made.backing,), kernels=kernels_own())


def _swap_file(folder: Path, stack: ExitStack) -> Made:
    area = folder / "swap"
    area.write_bytes(bytes(1 << 20))
    area.chmod(0o600)
    make_swap(area)
    upper = stack.enter_context(loop(area))
    run("swapon", str(area))
    stack.callback(run, "swapoff", str(area))
    return Made(device=upper.device, files=(area,), kernels=kernels_own())


def _opened_by(script: str) -> Maker:
    def make(folder: Path, stack: ExitStack) -> Made:
        made = _disk(folder, stack)
        stack.enter_context(program(sys.executable, "-c", script, made.device))
        return Made(device=made.device, files=(made.backing,))

    return make


def _image_opened(other_name: bool) -> Maker:
    def make(folder: Path, stack: ExitStack) -> Made:
        made = _disk(folder, stack)
        name = made.backing
        if other_name:
            name = folder / "other-name"
            name.hardlink_to(made.backing)
        stack.enter_context(program(sys.executable, "-c", OPENER, str(name)))
        return Made(device=made.device, files=(made.backing,))

    return make


def _beneath_a_loop(folder: Path, stack: ExitStack) -> Made:
    made = _disk(folder, stack)
    stack.enter_context(loop(Path(made.sure())))
    return Made(device=made.device, files=(made.backing,))


def _over_a_mounted_device(folder: Path, stack: ExitStack) -> Made:
    made = _ext4(folder, stack)
    upper = stack.enter_context(loop(Path(made.sure())))
    _mount(made.device, folder, stack)
    return Made(device=upper.device, files=(made.backing,))


def _second_over_a_mounted_image(*options: str) -> Maker:
    def make(folder: Path, stack: ExitStack) -> Made:
        made = _ext4(folder, stack)
        _mount(made.device, folder, stack)
        second = stack.enter_context(loop(made.backing, *options))
        return Made(device=second.device, files=(made.backing,))

    return make


def _image_deleted(folder: Path, stack: ExitStack) -> Made:
    made = _disk(folder, stack)
    kept = folder / "kept"
    kept.hardlink_to(made.backing)
    made.backing.unlink()
    stack.callback(lambda: kept.rename(made.backing))
    return Made(device=made.device, files=(kept,))


def _read_only(folder: Path, stack: ExitStack) -> Made:
    made = _disk(folder, stack, "--read-only")
    return Made(device=made.device, files=(made.backing,))


def _no_size(folder: Path, stack: ExitStack) -> Made:
    made = stack.enter_context(loop(folder / "empty", size=0))
    return Made(device=made.device, files=(made.backing,))


def _held_by_another(folder: Path, stack: ExitStack) -> Made:
    made = _disk(folder, stack)
    holder = "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_EXCL); print('ready', flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", holder, made.device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def let_go() -> None:
        process.communicate("\n")

    stack.callback(let_go)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    return Made(device=made.device, files=(made.backing,))


STATES: Mapping[str, Maker] = {
    "mounted": _mounted,
    "mounted read-only": _mounted_read_only,
    "mounted in another mount namespace only": _mounted_elsewhere,
    "disk of a mounted partition": _partitioned(1, 0),
    "sibling of a mounted partition": _partitioned(1, 2),
    "partition of a mounted disk": _partitioned(1, 1),
    "disk of a partition that a program has open": _partitioned(None, 0),
    "active swap": _swap,
    "over an active swap file": _swap_file,
    "opened by a program": _opened_by(OPENER),
    "opened by a thread whose program ended its first": _opened_by(THREAD),
    "claimed by a program for itself": _held_by_another,
    "beneath a loop device": _beneath_a_loop,
    "over a mounted device": _over_a_mounted_device,
    "over a mounted image": _second_over_a_mounted_image(),
    "over a mounted image at an offset": _second_over_a_mounted_image("--offset", "1048576"),
    "over an image that a program has open": _image_opened(other_name=False),
    "over an image that a program has open by another name": _image_opened(other_name=True),
    "over a deleted image": _image_deleted,
    "read-only": _read_only,
    "without a medium": _no_size,
    "member of an inactive array": _lying(4096, loops.md_superblock, named=True),
    "physical volume of a group that is not active": _lying(512, loops.lvm_label, named=True),
    "ext4, not named": _made_by(ext4),
    "swap, not named": _made_by(lambda device: run("mkswap", device)),
    "GPT, not named": _lying(0, loops.gpt),
    "LUKS, not named": _lying(0, loops.luks_header),
}
"""What a device may be, by its name for people."""

REFUSED = (2, 3)
"""Exit statuses of what cannot be meant (a partition that has no settings, an empty device) and of a refusal."""
SHORT = ("--runtime", "1", "--ramp", "0")


async def _hold(device: str, name: str | None) -> None:
    async with claim_device(LocalHost(), device, Intent.WRITE, name):
        pass


def _held(device: str, name: str | None) -> str:
    try:
        asyncio.run(_hold(device, name))
    except RaidbenchError:
        return ""
    return "it was handed over"


def _command(*words: str) -> Callable[[str, str | None], str]:
    def went(device: str, name: str | None) -> str:
        confirm = () if name is None else ("--confirm", name)
        other = "1" if _nomerges(device) == "2" else "2"
        line = [{"DEVICE": device, "OTHER": f"nomerges={other}"}.get(word, word) for word in words]
        done = CliRunner().invoke(cli, [*line, *confirm], prog_name="raidbench")
        return "" if done.exit_code in REFUSED else f"exit {done.exit_code}: {done.stderr[-200:]}"

    return went


WAYS: Mapping[str, Callable[[str, str | None], str]] = {
    "held": _held,
    "bench": _command("bench", "DEVICE", "--profile", "randwrite-4k", *SHORT),
    "precondition": _command("precondition", "DEVICE"),
    "ab": _command("ab", "DEVICE", "OTHER", "--profile", "randwrite-4k", "--yes", *SHORT),
}
"""Every way to write to a device: each says what happened, "" if it was refused."""


def run_states(folder: Path, tries: int, seed: int) -> Tally:
    """So many states (the first ones), each against every way; below four states only against the first way."""
    tally = Tally()
    for number, (state, make) in enumerate(list(STATES.items())[:tries]):
        place = folder / str(number)
        place.mkdir()
        with ExitStack() as stack:
            made = make(place, stack)
            name = made.device.removeprefix("/dev/") if made.named else None
            before = [_sum(file, made.kernels) for file in made.files]
            for way, go in WAYS.items() if tries >= 4 else (("held", _held),):
                happened = go(made.device, name)
                tally.expect(not happened, f"{state}: {way}: {happened}")
            after = [_sum(file, made.kernels) for file in made.files]
            tally.expect(after == before, f"{state}: it was written to")
    return tally


def _nomerges(device: str) -> str:
    file = Path(f"/sys/block/{device.removeprefix('/dev/')}/queue/nomerges")
    return file.read_text().strip() if file.exists() else ""


def _sum(file: Path, kernels: tuple[range, ...]) -> str:
    return hashlib.sha256(bytes_but(file, kernels)).hexdigest()
