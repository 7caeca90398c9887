"""Another device under the same name is another device: a hundred times out of a hundred, for runs and for changes."""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from backends.change import Change
from backends.errors import DeviceGoneError
from backends.exclusive_open import DeviceClaim
from backends.identity import Identity
from backends.model import Target
from backends.system.local import LocalHost
from backends.vendors.block.backend import BlockBackend
from tests.lab.disks import BLOCK, Disk
from tests.lab.making import Made, dm_target
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.writing import Writer

_SET, _CLEAR = 0x4C00, 0x4C01
"""LOOP_SET_FD and LOOP_CLR_FD of linux/loop.h: a program each time would take the emulated processor minutes."""

Exchange = Callable[[tuple[Disk, Disk], int], AbstractContextManager[str]]
"""Makes a device over one of two disks in turn; each time it has the same name."""


@contextmanager
def _loop(disks: tuple[Disk, Disk], turn: int) -> Iterator[str]:
    node = "/dev/loop0"
    _control(node, _SET, disks[turn % 2].device)
    try:
        yield node
    finally:
        _control(node, _CLEAR, node)


def _control(node: str, order: int, over: str) -> None:
    with open(node, "rb") as loop, open(over, "r+b", buffering=0) as file:
        fcntl.ioctl(loop, order, file.fileno())


@contextmanager
def _target(disks: tuple[Disk, Disk], turn: int) -> Iterator[str]:
    with dm_target(f"0 65536 linear {disks[turn % 2].device} 0") as made:
        yield made.device


def planned(device: str) -> Change:
    """A change of its queue, as it is now."""
    target = Target(backend="block", address=Made(device).kernel)
    return asyncio.run(BlockBackend(LocalHost()).plan(target, "read_ahead_kb", "4096"))


def taken(device: str, identity: Identity, change: Change) -> list[str]:
    """What of a run and of a change took the device, although both were meant for another one."""
    found: list[str] = []
    try:
        claim = DeviceClaim(device, identity, write=True)
        claim.open()
        claim.close()
        found.append("held for a run")
    except DeviceGoneError:
        pass
    try:
        asyncio.run(BlockBackend(LocalHost()).apply(change))
        found.append("changed")
    except DeviceGoneError:
        pass
    return found


@pytest.mark.parametrize(
    ("kind", "exchange", "times"), [("loop device", _loop, 90), ("device-mapper target", _target, 10)]
)
def test_a_device_exchanged_under_its_name_is_never_taken_for_the_one_that_was_meant(
    writer: Writer,
    blank: Callable[..., tuple[Disk, ...]],
    table: Results,
    kind: str,
    exchange: Exchange,
    times: int,
) -> None:
    one, two = blank("nvme0", "nvme1")
    run("modprobe", "loop")
    run("losetup", "--find")  # makes the node
    with exchange((one, two), 0) as meant:
        shown = writer.ready(meant)
        change = planned(meant)
    assert change.identity is not None
    wrong: list[str] = []
    for turn in range(1, times + 1):
        with exchange((one, two), turn) as device:
            assert device == meant
            before = (BLOCK / Made(device).kernel / "queue/read_ahead_kb").read_text()
            wrong += taken(device, change.identity, change)
            assert (BLOCK / Made(device).kernel / "queue/read_ahead_kb").read_text() == before
    with exchange((one, two), 1):
        result, _ = writer.measured(shown, shown.confirm_text)
    seen = "refused each time" if not wrong and result == "refused" else f"{result}: {', '.join(wrong)}"
    what = f"{kind} exchanged under its name, {times} times"
    assert table.add("Faults", what, "run and change", seen, ok=seen == "refused each time")
