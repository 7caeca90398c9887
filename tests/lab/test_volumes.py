"""Volumes made in the free extents of a real volume group and removed: others' stay, and nothing is left of one's own.

By the engine; the end of raidbench by SIGKILL is tried in a copy of this process, as in test_building.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from app.core.changes.arrays.array_journal import ArrayStage
from app.core.changes.arrays.candidates import candidates_of, choose, new_array_name, plan_array
from app.core.workbench import Workbench
from backends.array_planning import ArrayMatch, ArrayMatchState, ArrayPlan, ArrayRequest, confirm_labels
from backends.device_label import confirm_token
from backends.errors import RefusedError, ToolFailedError
from backends.model import Level
from backends.vendors.lvm import creation
from tests.lab.disks import Disk, wait_until
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.test_building import at_rest, children, has_begun, longer, opened, settled, size

pytestmark = [pytest.mark.vendors("block", "lvm"), pytest.mark.seconds(900)]

GROUP = "rbvg"
SIX = ("nvme0", "nvme1", "nvme2", "nvme3", "sata0")
SHAPES = ((Level.RAID0, 3), (Level.RAID1, 2), (Level.RAID5, 3), (Level.RAID6, 5), (Level.RAID10, 4))
MOMENTS = (0, 2, 4, 6)
"""Tenths of a second after the intent is on disk at which raidbench is killed, lvcreate as well at every second one."""


@pytest.fixture
def group(blank: Callable[..., tuple[Disk, ...]], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Disk, ...]]:
    """A group of five drives, with somebody's volume on the last one; that one has another interface is let pass."""
    monkeypatch.setattr(creation, "require_alike", lambda _drives: ())
    # LVM gets a clean environment from raidbench, as all programs do: what is set there for the laboratory is not
    Path("/etc/lvm").mkdir(exist_ok=True)
    Path("/etc/lvm/lvm.conf").write_text(Path(os.environ["LVM_SYSTEM_DIR"], "lvm.conf").read_text())
    os.environ["LVM_SUPPRESS_FD_WARNINGS"] = "1"
    run("modprobe", "-a", "dm-raid", "dm-snapshot")
    taken = blank(*SIX)
    devices = [disk.device for disk in taken]
    run("pvcreate", "--yes", *devices)
    run("vgcreate", "--yes", "--physicalextentsize=1M", GROUP, *devices)
    run("lvcreate", "--yes", "--extents=8", "--name=mail", GROUP, devices[-1])
    yield taken
    run("vgremove", "--yes", "--force", GROUP)
    run("pvremove", "--yes", *devices)


def volumes() -> list[str]:
    return sorted(run("lvs", "--noheadings", "-a", "-o", "lv_name", GROUP).split())


async def planned(bench: Workbench, level: Level, disks: tuple[Disk, ...], *, mib: int = 16) -> ArrayPlan:
    found, problems = await candidates_of(bench.hardware.machine, await bench.hardware.probe(), ())
    assert problems == ()
    drives = choose(found, (GROUP, *(disk.device for disk in disks)))
    wish = ArrayRequest(level=level, drives=drives, strip_bytes=65536, size_bytes=mib << 20, name=new_array_name())
    return await plan_array(bench.hardware.machine, wish)


async def create(bench: Workbench, plan: ArrayPlan) -> ArrayMatch:
    return await bench.arrays.create(plan, assume_clean=False, typed=confirm_token(confirm_labels(plan.request.drives)))


async def test_a_volume_of_each_level_is_made_found_and_removed_without_a_trace(
    workbench: Workbench, group: tuple[Disk, ...], table: Results
) -> None:
    for level, count in SHAPES:
        plan = await planned(workbench, level, group[:count])
        made = await create(workbench, plan)
        columns = "lv_size,stripes,stripe_size,lv_tags"
        told = run(
            "lvs", "--noheadings", "--units=b", "--nosuffix", "-o", columns, f"{GROUP}/{plan.request.name}"
        ).split()
        strip = "0" if level is Level.RAID1 else "65536"
        assert told == [str(plan.size_bytes), str(count), strip, plan.uuids[1]]
        entry = workbench.arrays.journal.entry(plan.request.name)
        assert entry is not None
        assert (entry.stage, entry.array.uuids) == (ArrayStage.MADE, made.uuids)
        with pytest.raises(RefusedError, match="not confirmed"):
            await workbench.arrays.delete(plan.request.name, typed=None)
        await workbench.arrays.delete(plan.request.name, typed=plan.request.name)
        assert (volumes(), workbench.arrays.journal.entries()) == (["mail"], ())
    levels = ", ".join(level.value for level, _ in SHAPES)
    assert table.add("Arrays", "LVM, free extents of a group", "volumes made and removed", levels, ok=True)


async def test_what_a_former_volume_left_is_wiped_and_what_lies_on_a_new_one_is_kept(
    workbench: Workbench, group: tuple[Disk, ...], table: Results
) -> None:
    one, two = (disk.device for disk in group[:2])
    run("lvcreate", "--yes", "--extents=16", "--stripes=2", "--stripesize=64k", "--name=old", GROUP, one, two)
    run("mkfs.ext4", "-q", "-F", f"/dev/{GROUP}/old")
    run("lvremove", "--yes", f"{GROUP}/old")
    made = await create(workbench, plan := await planned(workbench, Level.RAID0, group[:2]))
    assert run("wipefs", "-n", str(made.device)) == ""
    run("mkfs.ext4", "-q", "-F", str(made.device))
    with pytest.raises(RefusedError, match="is not empty: it contains ext4") as refused:
        await workbench.arrays.delete(plan.request.name, typed=plan.request.name)
    ok = "lvremove" in refused.value.hint and plan.request.name in volumes()
    seen = "the old signature is wiped; the new volume is kept"
    assert table.add("Arrays", "LVM, free extents of a group", "a file system before, and one on it", seen, ok=ok)


async def test_a_group_that_is_held_is_refused_at_once_and_a_snapshot_keeps_its_origin(
    workbench: Workbench, group: tuple[Disk, ...], table: Results
) -> None:
    plan = await planned(workbench, Level.RAID0, group[:2])
    lock = f"/run/lock/lvm/V_{GROUP}"
    holder = await asyncio.create_subprocess_exec("flock", lock, "cat", stdin=asyncio.subprocess.PIPE)
    wait_until(lambda: bool(children(holder.pid)), "the lock", 60)
    with pytest.raises(ToolFailedError, match="Can't get lock"):
        await create(workbench, plan)
    holder.terminate()
    await holder.communicate()
    assert (volumes(), workbench.arrays.journal.entries()) == (["mail"], ())
    made = await create(workbench, await planned(workbench, Level.RAID0, group[:2]))
    name = made.target.address.partition("/")[2] if made.target is not None else ""
    run("lvcreate", "--yes", "--snapshot", "--extents=8", "--name=snap", f"{GROUP}/{name}")
    with pytest.raises(RefusedError, match="now has dependents"):
        await workbench.arrays.delete(name, typed=name)
    assert "not removed" not in run(*made.remove[0].argv)  # LVM itself passes it over
    ok = name in volumes() and "snap" in volumes()
    seen = "refused at once; the origin is kept, by LVM as well"
    assert table.add("Arrays", "LVM, free extents of a group", "lock held; snapshot taken since", seen, ok=ok)


def test_after_a_kill_at_any_moment_nothing_half_made_is_left_without_a_word(
    state: Path, group: tuple[Disk, ...]
) -> None:
    """Every second time lvcreate is killed as well. This process has no threads while it is copied."""
    file, standings = state / "journal" / "arrays.log", list[ArrayMatchState]()
    bench = asyncio.run(opened())
    for moment in MOMENTS:
        plan, before = asyncio.run(planned(bench, Level.RAID5, group[:3])), size(file)
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(create(bench, plan))
            finally:
                os._exit(0)
        wait_until(partial(longer, file, before), "the intent", 120)
        time.sleep(moment * 0.1)
        tools = children(child)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for tool in tools if moment % 4 else ():
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(tool, signal.SIGKILL)
        wait_until(partial(at_rest, bench.arrays), "the end of lvcreate", 120)
        standings += asyncio.run(settled(bench.arrays))
        assert volumes() == ["mail"], f"moment {moment}: {standings}"
    bench.close()
    assert standings  # else it was never killed in time


def test_after_a_kill_in_a_deletion_the_volume_is_there_or_gone_and_is_named(
    state: Path, group: tuple[Disk, ...]
) -> None:
    """The first time lvremove comes to its end, the second time it is killed as well."""
    file = state / "journal" / "arrays.log"
    bench = asyncio.run(opened())
    for with_tool in (False, True):
        plan = asyncio.run(planned(bench, Level.RAID5, group[:3]))
        name = plan.request.name
        asyncio.run(create(bench, plan))
        before = size(file)
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(bench.arrays.delete(name, typed=name))
            finally:
                os._exit(0)
        wait_until(partial(has_begun, file, before, 1), "lvremove", 240)
        tools = children(child)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for tool in tools if with_tool else ():
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(tool, signal.SIGKILL)
        wait_until(partial(at_rest, bench.arrays), "the end of lvremove", 120)
        assert [entry.array.name for entry in bench.arrays.unfinished()] == [name]
        asyncio.run(settled(bench.arrays))
        assert volumes() == ["mail"]
    bench.close()
