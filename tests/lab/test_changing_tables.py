"""Tables and snapshots that change beneath a run: it is ended, and says what was hit."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from backends.system.local.mapper import read_tables
from tests.lab.disks import BLOCK, Disk, wait_until
from tests.lab.making import Dm, dm_node, dm_target
from tests.lab.results import Results
from tests.lab.running import Outcome, run
from tests.lab.uses import mount

pytestmark = [pytest.mark.vendors("block", "lvm"), pytest.mark.seconds(900)]

Blank = Callable[..., tuple[Disk, ...]]
Raidbench = Callable[..., Outcome]

SECTORS = 131072
PIECE = 4096
FAILED = 1
"""Exit status of a run that did not come to its end."""
WRAPPER = Path("/usr/local/sbin/dmsetup")
SLOW = Path("/run/raidbench-lab-slow-dmsetup")


@dataclass
class During:
    """A run in the middle of which something is done."""

    raidbench: Raidbench
    device: str
    typed: str
    runtime: str = "60"

    def measure(self, act: Callable[[], object], *, writes: int = 1) -> tuple[Outcome, str]:
        """What the command came to, and what it said. `writes`: after how many of them `act` is called."""
        counts = BLOCK / self.device.removeprefix("/dev/") / "stat"
        failed: list[BaseException] = []
        before = int(counts.read_text().split()[4])

        def side() -> None:
            try:
                wait_until(lambda: int(counts.read_text().split()[4]) >= before + writes, "the run writes", 300)
                act()
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=side)
        thread.start()
        words = ("--profile", "randwrite-4k", "--runtime", self.runtime, "--ramp", "0", "--confirm", self.typed)
        outcome = self.raidbench("bench", self.device, *words)
        thread.join()
        assert not failed, failed
        return outcome, " ".join(f"{outcome.out} {outcome.err}".split())


def contents(device: str) -> bytes:
    """The first 64 MiB, past the page cache."""
    run("sync")
    run("blockdev", "--flushbufs", device)
    with open(device, "rb") as file:
        return file.read(SECTORS * 512)


def overwritten(before: bytes, after: bytes) -> int:
    """How many pieces of 4 KiB differ."""
    return sum(before[at : at + PIECE] != after[at : at + PIECE] for at in range(0, len(before), PIECE))


@contextmanager
def dmsetup_is(seconds: int) -> Iterator[Callable[[str, str], None]]:
    """dmsetup takes so long for each answer from the moment on that a new table is in force; loads that table."""
    real = run("sh", "-c", "command -v dmsetup").strip()
    WRAPPER.write_text(f'#!/bin/sh\n[ -e {SLOW} ] && sleep {seconds}\nexec {real} "$@"\n')
    WRAPPER.chmod(0o755)

    def load(name: str, table: str) -> None:
        for words in (("suspend", "--noflush", "--nolockfs"), ("load",), ("resume",)):
            stdin = table if words == ("load",) else None
            subprocess.run([real, *words, name], input=stdin, text=True, check=True)
        if seconds:
            SLOW.touch()

    try:
        yield load
    finally:
        SLOW.unlink(missing_ok=True)
        WRAPPER.unlink()


@pytest.mark.parametrize("seconds", [0, 7, 600], ids=["answers", "slow", "hangs"])
@pytest.mark.parametrize("place", ["another disk", "another part of the disk"])
def test_a_table_loaded_onto_a_mounted_range_ends_the_run(
    blank: Blank, raidbench: Raidbench, table: Results, stack: ExitStack, tmp_path: Path, place: str, seconds: int
) -> None:
    first, second = blank("nvme0", "nvme3")
    victim, offset = (second, 0) if place == "another disk" else (first, SECTORS)
    theirs: Dm = stack.enter_context(dm_target(f"0 {SECTORS} linear {victim.device} {offset}"))
    ours: Dm = stack.enter_context(dm_target(f"0 {SECTORS} linear {first.device} 0"))
    load = stack.enter_context(dmsetup_is(seconds))
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", theirs.device)
    with mount(theirs.device, tmp_path / "point"):
        run("sync")
        before = contents(theirs.device)
        table_then = f"0 {SECTORS} linear {victim.device} {offset}"
        outcome, said = During(raidbench, ours.device, ours.name).measure(lambda: load(ours.name, table_then))
        lost = overwritten(before, contents(theirs.device))
    print(f"{place}, dmsetup after {seconds} s: {lost} of {SECTORS * 512 // PIECE} blocks; {said[-400:]}")
    named = f"/dev/mapper/{theirs.name}, mounted on" in said
    seen = re.search(r"Stopped: [^.]*?(was loaded|was changed|has not told for 15 s)", said)
    told = "dmsetup is blind for 15 s" if seen is not None and "told" in seen[1] else "another table"
    ok = outcome.status == FAILED and seen is not None and (named or seconds > 0)
    how = {0: "dmsetup answers", 7: "dmsetup takes 7 s", 600: "dmsetup hangs"}[seconds]
    assert table.add("Faults", f"table onto a mounted range of {place}", how, f"ended: {told}", ok=ok), said


@contextmanager
def volume(disk: Disk) -> Iterator[str]:
    """A linear volume of 96 MiB."""
    run("modprobe", "dm-snapshot")
    run("lvm", "pvcreate", "--yes", disk.device)
    run("lvm", "vgcreate", "--yes", "--physicalextentsize=1M", "labtables", disk.device)
    try:
        run("lvm", "lvcreate", "--yes", "-Zn", "-Wn", "--size=96M", "--name=lin", "labtables")
        yield dm_node("labtables-lin")
    finally:
        run("lvm", "vgremove", "--force", "--yes", "labtables")
        run("lvm", "pvremove", "--yes", disk.device)


@pytest.mark.parametrize("size", ["2M", "8M", "64M"])
@pytest.mark.parametrize("writes", [1, 2000], ids=["at the first write", "in the middle"])
def test_a_snapshot_created_during_a_run_ends_it_and_is_named(
    blank: Blank, raidbench: Raidbench, table: Results, stack: ExitStack, size: str, writes: int
) -> None:
    (disk,) = blank("nvme0")
    device = stack.enter_context(volume(disk))
    words = ("lvm", "lvcreate", "--yes", "--snapshot", f"--size={size}", "--name=snap", "labtables/lin")
    outcome, said = During(raidbench, device, "labtables/lin").measure(lambda: run(*words), writes=writes)
    state = run("lvm", "lvs", "--noheadings", "-o", "data_percent,lv_snapshot_invalid", "labtables/snap").strip()
    print(f"snapshot of {size} after {writes} writes: {state}; {said[-400:]}")
    ok = outcome.status == FAILED and "the origin of the active snapshot labtables/snap" in said
    when = "at the first write" if writes == 1 else "in the middle of a run"
    assert table.add("Faults", f"LVM snapshot of {size}", when, "ended, the snapshot named", ok=ok), said


def test_a_snapshot_made_without_lvm_ends_the_run_and_is_named(
    blank: Blank, raidbench: Raidbench, table: Results, stack: ExitStack
) -> None:
    first, second = blank("nvme0", "nvme3")
    run("modprobe", "dm-snapshot")
    below: Dm = stack.enter_context(dm_target(f"0 {SECTORS} linear {first.device} 0"))
    made: Dm = stack.enter_context(dm_target(f"0 {SECTORS} linear {below.device} 0"))
    names: list[str] = []

    def act() -> None:
        snap: Dm = stack.enter_context(dm_target(f"0 {SECTORS} snapshot {below.device} {second.device} N 8"))
        names.append(snap.name)
        made.load(f"0 {SECTORS} snapshot-origin {below.device}")

    outcome, said = During(raidbench, made.device, made.name).measure(act)
    made.load(f"0 {SECTORS} linear {below.device} 0")
    print(said[-400:])
    ok = outcome.status == FAILED and f"the origin of the active snapshot {names[0]}" in said
    assert table.add("Faults", "snapshot by dmsetup", "at the first write", "ended, the snapshot named", ok=ok), said


def test_the_kernel_tells_what_dmsetup_tells(blank: Blank, table: Results, stack: ExitStack) -> None:
    first, second = blank("nvme0", "nvme3")
    linear: Dm = stack.enter_context(dm_target(f"0 2048 linear {first.device} 8\n2048 2048 error"))
    striped: Dm = stack.enter_context(dm_target(f"0 2048 striped 2 128 {second.device} 0 {linear.device} 0"))
    for made in (linear, striped):
        number = made.read("dev")
        told = read_tables([number]).replace(f"{number}: ", "")
        assert told.split() == run("dmsetup", "table", made.name).split()
    assert read_tables(["253:99"]) == ""
    assert table.add("Faults", "tables of device-mapper", "asked of the kernel", "as dmsetup tells them", ok=True)


def test_a_neighbour_that_is_made_during_a_run_does_not_end_it(
    blank: Blank, raidbench: Raidbench, table: Results, stack: ExitStack
) -> None:
    (disk,) = blank("nvme0")
    device = stack.enter_context(volume(disk))

    def act() -> None:
        run("lvm", "lvcreate", "--yes", "-Zn", "-Wn", "--size=16M", "--name=beside", "labtables")
        run("mkfs.ext4", "-q", dm_node("labtables-beside"))

    outcome, said = During(raidbench, device, "labtables/lin", runtime="5").measure(act)
    ok = outcome.status == 0
    assert table.add("Faults", "LVM volume beside it", "during a run", "goes on to its end", ok=ok), said
