"""Whoever holds a disk by one of its paths holds it: nothing is set, and nothing taken back, by the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.core.benchmark.device_access import DeviceAccess
from app.core.session.locks import hold_lock
from app.core.workbench import Workbench
from backends.errors import HeldError
from backends.model import Target
from backends.registry import MachineBackends
from backends.vendors.block import VENDOR as BLOCK
from tests.backends.fakes import WWN, FakeHost, half_told, one_disk
from tests.tui.stage import paths_in

EITHER = ["sdk", "sdl"]
LOCK = f"disk-wwn {WWN}"


def kernel(host: FakeHost, path: str, text: str) -> None:
    host.files[path] = text


def vanish(host: FakeHost, name: str) -> None:
    """A path goes."""
    host.files = {path: text for path, text in host.files.items() if f"/{name}/" not in path}


def half(*, without: str = "") -> FakeHost:
    """A disk of whose two paths one alone tells the WWN; one of them may be gone."""
    one = half_told()
    one.kernel = kernel
    vanish(one, without)
    return one


@pytest.fixture
def host() -> FakeHost:
    one = one_disk()
    one.kernel = kernel
    return one


async def on(host: FakeHost, folder: Path) -> Workbench:
    one = Workbench(host, paths=paths_in(folder))
    one.hardware.machine = MachineBackends(one.host, (BLOCK,))
    await one.open(fresh=True)
    await one.hardware.probe()
    return one


@pytest.fixture
async def bench(host: FakeHost, tmp_path: Path) -> Workbench:
    return await on(host, tmp_path)


@pytest.fixture
def measured(bench: Workbench) -> Iterator[None]:
    """Somebody measures it: by whichever path, it is locked as what it is."""
    with hold_lock(bench.locks, LOCK, "a run"):
        yield


@pytest.mark.parametrize("path", EITHER)
async def test_nothing_is_set_by_either_path(bench: Workbench, measured: None, path: str) -> None:
    change = await bench.hardware.plan(Target(backend="block", address=path), "read_ahead_kb", "256")

    with pytest.raises(HeldError, match="a run"):
        await bench.changes.apply(change)


@pytest.mark.parametrize("path", EITHER)
async def test_nothing_is_taken_back_by_either_path(bench: Workbench, path: str) -> None:
    made = await bench.changes.apply(
        await bench.hardware.plan(Target(backend="block", address=path), "read_ahead_kb", "256")
    )

    with hold_lock(bench.locks, LOCK, "a run"), pytest.raises(HeldError, match="a run"):
        await bench.changes.undo(made.id)


async def test_a_path_that_vanished_leaves_the_disk_under_the_lock_of_its_change(
    bench: Workbench, host: FakeHost
) -> None:
    made = await bench.changes.apply(
        await bench.hardware.plan(Target(backend="block", address="sdk"), "read_ahead_kb", "256")
    )
    vanish(host, "sdk")
    other = await bench.hardware.plan(Target(backend="block", address="sdl"), "read_ahead_kb", "512")

    record = bench.session.change(made.id)
    assert record is not None
    with hold_lock(bench.locks, record.change.locks[0], "an undo"), pytest.raises(HeldError, match="an undo"):
        await bench.changes.apply(other)


@pytest.mark.parametrize("path", EITHER)
async def test_who_sees_one_path_alone_finds_the_disk_measured(tmp_path: Path, path: str) -> None:
    (other,) = set(EITHER) - {path}
    bench = await on(half(without=other), tmp_path)
    change = await bench.hardware.plan(Target(backend="block", address=path), "read_ahead_kb", "256")
    with ExitStack() as held:
        for lock in await DeviceAccess(half()).locks("/dev/sdk"):
            held.enter_context(hold_lock(bench.locks, lock, "a run"))
        with pytest.raises(HeldError, match="a run"):
            await bench.changes.apply(change)


@pytest.mark.parametrize("path", EITHER)
@pytest.mark.parametrize("later", EITHER)
async def test_a_disk_that_was_locked_by_one_path_alone_is_held_when_the_other_comes(
    tmp_path: Path, path: str, later: str
) -> None:
    (other,) = set(EITHER) - {path}
    bench = await on(half(), tmp_path)
    change = await bench.hardware.plan(Target(backend="block", address=later), "read_ahead_kb", "256")
    (lock,) = await DeviceAccess(half(without=other)).locks(f"/dev/{path}")
    with hold_lock(bench.locks, lock, "a run"), pytest.raises(HeldError, match="a run"):
        await bench.changes.apply(change)
