"""A tool that says yes is not believed, and what somebody else has set meanwhile is left alone: on real drives."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.errors import RefusedError
from backends.model import Target
from tests.lab.disks import Disk, Disks, wait_until
from tests.lab.results import Results
from tests.lab.running import ROOT, Outcome, run

SDPARM = shutil.which("sdparm") or "/usr/bin/sdparm"
"""The tool that sets a SAS disk's write cache."""

Lie = Callable[[str], None]


pytestmark = pytest.mark.vendors("block", "scsi")


@pytest.fixture
def lie(tmp_path: Path) -> Iterator[Lie]:
    """`lie("exit 0")`: what sdparm does instead of setting anything; "$real" is the true one. It reads as ever."""
    real, script = tmp_path / "sdparm", tmp_path / "script"
    shutil.copy(SDPARM, real)

    def instead(words: str) -> None:
        script.write_text(f'#!/bin/sh\nreal={real}\ncase "$*" in *--set*) {words};; esac\nexec "$real" "$@"\n')
        script.chmod(0o755)
        run("mount", "--bind", str(script), SDPARM)

    yield instead
    run("umount", SDPARM)
    run(SDPARM, "--set=WCE=1", *(disk.device for disk in Disks() if disk.name.startswith("scsi")))


def caches(disk: Disk) -> str:
    """What the drive itself says of its write cache."""
    said = re.search(r"WCE +([01])", run("sdparm", "--quiet", "--get=WCE", disk.device, status=None))
    assert said is not None
    return {"0": "off", "1": "on"}[said[1]]


async def switched_off(bench: Workbench, disk: Disk) -> tuple[str, str]:
    """The result of switching the write cache off, and the id of the change."""
    ended = await bench.changes.apply(
        await bench.hardware.plan(Target(backend="scsi", address=disk.kernel), "drive_cache", "off")
    )
    return ended.result, ended.id


@pytest.mark.parametrize(
    ("what", "words", "result"),
    [
        ("says yes and sets nothing", "exit 0", "differs"),
        ("sets another disk", 'exec "$real" --set=WCE=0 {other}', "differs"),
        ("sets it and says no", '"$real" "$@"; exit 9', "failed"),
    ],
)
async def test_a_tool_is_judged_by_what_the_drive_says_afterwards(
    workbench: Workbench, disks: Disks, lie: Lie, table: Results, what: str, words: str, result: str
) -> None:
    lie(words.replace("{other}", disks["scsi1"].device))
    seen, _ = await switched_off(workbench, disks["scsi0"])
    assert table.add("Faults", f"sdparm {what}", "the change", seen, ok=seen == result)


async def test_what_a_tool_sets_later_is_taken_back_by_undo(
    workbench: Workbench, disks: Disks, lie: Lie, table: Results, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    late = f'(while [ ! -e {go} ]; do sleep 0.1; done; "$real" "$@") </dev/null >/dev/null 2>&1 & exit 0'
    lie(f"[ -e {go} ] || {{ {late}; }}")
    seen, change = await switched_off(workbench, disks["scsi0"])
    go.touch()
    wait_until(lambda: caches(disks["scsi0"]) == "off", "the drive's cache is off")
    undone = (await workbench.changes.undo(change)).result
    told = f"{seen}, undo: {undone}, cache {caches(disks['scsi0'])}"
    wanted = "differs, undo: verified, cache on"
    assert table.add("Faults", "sdparm sets it later", "change and undo", told, ok=told == wanted)


@pytest.mark.seconds(400)
async def test_what_goes_back_by_itself_is_not_called_kept(workbench: Workbench, disks: Disks, table: Results) -> None:
    disk = disks["scsi0"]
    change = await workbench.hardware.plan(Target(backend="scsi", address=disk.kernel), "drive_cache", "off")
    async with aclosing(workbench.changes.apply_all((change,), trial=300)) as steps:
        (result,) = [ended.result async for _, ended in steps]
    run(SDPARM, "--set=WCE=1", disk.device)
    [(_, ended)] = await workbench.changes.keep_trials()
    seen = f"{result}, kept: {ended.message}"
    for kernels in (disk.sysfs / "device/scsi_disk").glob("*/cache_type"):  # sdparm has told the drive, not the kernel
        kernels.write_text("write back\n")
    assert table.add("Faults", "the drive's cache goes back by itself", "trial", seen, ok=ended.now != "off"), ended


@pytest.mark.seconds(900)
def test_a_slow_sdparm_whose_raidbench_was_killed_is_waited_for(
    disks: Disks, lie: Lie, raidbench: Callable[..., Outcome], state: Path, table: Results, tmp_path: Path
) -> None:
    begun, go, said, disk = tmp_path / "begun", tmp_path / "go", tmp_path / "said", disks["scsi1"]
    run(SDPARM, "--set=WCE=1", disk.device)
    lie(f': >{begun}; while [ ! -e {go} ]; do sleep 0.1; done; exec "$real" "$@"')
    words = (sys.executable, "-m", "app", "set", f"scsi:{disk.kernel}", "drive_cache=off", "--yes")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(state)}
    with open(said, "w") as file:
        killed = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=file, stderr=file)
    wait_until(lambda: begun.exists() or killed.poll() is not None, "sdparm has begun", 300)
    assert begun.exists(), said.read_text()
    killed.kill()
    killed.wait()
    early = raidbench("recover", "--restore")
    meanwhile = caches(disk)
    go.touch()
    wait_until(lambda: caches(disk) == "off", "sdparm has set it")
    late = raidbench("recover", "--restore")
    told = "still running" if "Still running: sdparm (PID " in early.err and "restored" not in early.out else early.err
    seen = f"{early.status}, {told}, {meanwhile}; then {late.status}, cache {caches(disk)}"
    wanted = "3, still running, on; then 0, cache on"
    assert table.add("Faults", "raidbench is killed in a slow sdparm", "recover", seen, ok=seen == wanted), late


async def test_what_somebody_else_sets_is_left_alone(workbench: Workbench, disks: Disks, table: Results) -> None:
    depth = disks["scsi0"].sysfs / "device/queue_depth"
    before = depth.read_text()
    change = await workbench.hardware.plan(Target(backend="scsi", address=disks["scsi0"].kernel), "queue_depth", "7")
    try:
        depth.write_text("9")
        with pytest.raises(RefusedError):
            await workbench.changes.apply(change)
        between = depth.read_text().strip()
        depth.write_text(before)
        ended = await workbench.changes.apply(change)
        depth.write_text("9")
        with pytest.raises(RefusedError, match="Another program changed it"):
            await workbench.changes.undo(ended.id)
        after = depth.read_text().strip()
    finally:
        depth.write_text(before)
    seen = f"before it: refused, {between}; after it: {ended.result}, undo refused, {after}"
    wanted = "before it: refused, 9; after it: verified, undo refused, 9"
    assert table.add("Faults", "somebody else sets the queue depth", "change and undo", seen, ok=seen == wanted)
