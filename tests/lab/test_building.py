"""Arrays made and deleted with the real mdadm: nothing but what was made is taken apart, and no half is left.

By the engine, as the emulated processor takes minutes for the command line's looks at everything. The end of raidbench
by SIGKILL is tried in a copy of this process, which need not import anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from app.core.changes.arrays.array_journal import ArrayStage
from app.core.changes.arrays.builder import ArrayBuilder
from app.core.changes.arrays.candidates import candidates_of, new_array_name, plan_array
from app.core.session.paths import Paths
from app.core.workbench import Workbench
from backends.array_planning import ArrayMatch, ArrayMatchState, ArrayPlan, ArrayRequest, Candidate, confirm_labels
from backends.device_label import confirm_token
from backends.errors import RaidbenchError, RefusedError
from backends.model import Level
from backends.system.local import LocalHost
from backends.vendors.mdraid import creation as making
from tests.lab.disks import Disk, wait_until
from tests.lab.making import Made, scsi_debug_disks
from tests.lab.results import Results
from tests.lab.running import Outcome, run

pytestmark = [pytest.mark.vendors("block", "md", "nvme"), pytest.mark.seconds(900)]

MOMENTS = (0, 3, 6, 9)
"""Tenths of a second after the intent is on disk at which raidbench is killed, mdadm as well at the odd ones. All ten
take ten minutes of emulation."""

SIX = ("nvme0", "nvme1", "nvme2", "nvme3", "sata0", "sata2")


@pytest.fixture
def six(blank: Callable[..., tuple[Disk, ...]], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Disk, ...]]:
    """Six solid disks; that two of them have another interface is let pass."""
    monkeypatch.setattr(making, "require_alike", lambda _drives: ())
    taken = blank(*SIX)
    yield taken
    for name in arrays():  # the outer array has the lowest number
        run("mdadm", "--stop", f"/dev/{name}", status=None)
    for disk in taken:
        run("mdadm", "--zero-superblock", disk.device, status=None)


def arrays() -> list[str]:
    found = sorted(Path("/sys/block").glob("md1[0-9][0-9]"))
    return [path.name for path in found if (path / "md/array_state").exists()]


def with_members() -> list[str]:
    """Those that have a drive: of an array whose creation failed at its first drive the kernel keeps an empty node."""
    return [name for name in arrays() if any(Path("/sys/block", name, "md").glob("dev-*"))]


def left_on(disks: Sequence[Disk | Made]) -> list[str]:
    """What wipefs finds."""
    return [line for disk in disks for line in run("wipefs", "-n", disk.device).splitlines()[1:]]


async def drives_of(bench: Workbench, disks: Sequence[Disk | Made]) -> tuple[Candidate, ...]:
    inventory = await bench.hardware.probe()
    names = [disk.device for disk in disks]
    free, _ = await candidates_of(bench.hardware.machine, inventory, names)
    by_place = {candidate.place: candidate for candidate in free}
    return tuple(by_place[name] for name in names)


async def planned(
    bench: Workbench, level: Level, drives: tuple[Candidate, ...], strip: int | None = 65536
) -> ArrayPlan:
    wish = ArrayRequest(level=level, drives=drives, strip_bytes=strip, name=new_array_name())
    return await plan_array(bench.hardware.machine, wish)


async def create(bench: Workbench, plan: ArrayPlan) -> ArrayMatch:
    return await bench.arrays.create(plan, assume_clean=False, typed=confirm_token(confirm_labels(plan.request.drives)))


async def test_a_nested_array_is_made_known_again_and_deleted_without_a_trace(
    workbench: Workbench, six: tuple[Disk, ...]
) -> None:
    plan = await planned(workbench, Level.RAID50, await drives_of(workbench, six))
    made = await create(workbench, plan)
    name = plan.request.name
    assert name in run("mdadm", "--detail", str(made.device))
    assert [(entry.array.name, entry.stage) for entry in workbench.arrays.journal.entries()] == [
        (name, ArrayStage.MADE)
    ]
    with pytest.raises(RefusedError, match="not confirmed"):
        await workbench.arrays.delete(name, typed=None)
    await workbench.arrays.delete(name, typed=name)
    assert (arrays(), left_on(six), workbench.arrays.journal.entries()) == ([], [], ())


async def test_a_file_system_made_between_question_and_word_is_kept(
    workbench: Workbench, six: tuple[Disk, ...]
) -> None:
    plan = await planned(workbench, Level.RAID0, await drives_of(workbench, six[:2]))
    run("mkfs.ext4", "-q", "-F", six[1].device)
    with pytest.raises(RefusedError, match="ext4"):
        await create(workbench, plan)
    assert (arrays(), "ext4" in "".join(left_on(six[:2]))) == ([], True)


async def test_what_lies_on_an_array_or_is_another_of_its_name_is_never_deleted(
    workbench: Workbench, six: tuple[Disk, ...]
) -> None:
    plan = await planned(workbench, Level.RAID1, await drives_of(workbench, six[:2]))
    made, name = await create(workbench, plan), plan.request.name
    run("mkfs.ext4", "-q", "-F", str(made.device))
    with pytest.raises(RefusedError, match="is not empty: it contains ext4") as refused:
        await workbench.arrays.delete(name, typed=name)
    assert "mdadm --stop" in refused.value.hint
    run("mdadm", "--stop", str(made.device))
    run("mdadm", "--zero-superblock", six[0].device, six[1].device)
    twin = ("--level=raid1", "--raid-devices=2", "--bitmap=none", f"--name={name}", "--homehost=any")
    run("mdadm", "--create", "/dev/md100", "--run", "--metadata=1.2", *twin, six[0].device, six[1].device)
    with pytest.raises(RefusedError, match="belongs to a different md array"):
        await workbench.arrays.delete(name, typed=name)
    assert arrays() == ["md100"]


def test_the_command_line_asks_for_the_drives_and_for_the_name(
    raidbench: Callable[..., Outcome], six: tuple[Disk, ...]
) -> None:
    words = ("raid1", six[0].kernel, six[1].kernel)
    refused = raidbench("array", "create", *words)
    assert (refused.status, arrays()) == (3, [])
    typed = refused.err.split("--confirm ")[1].split()[0]
    done = raidbench("array", "create", *words, "--confirm", typed, "--json")
    assert (done.status, done.json["array"]["device"]) == (0, "/dev/md100"), done.err
    name = done.json["array"]["name"]
    gone = raidbench("array", "delete", name, "--confirm", name)
    assert (gone.status, arrays(), left_on(six[:2])) == (0, [], []), gone.err


# -- the end of raidbench in the middle -------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def longer(file: Path, than: int) -> bool:
    return size(file) > than


def at_rest(building: ArrayBuilder) -> bool:
    """Whether no program that outlived its raidbench works on an array any more."""
    return all(entry.left_running is None for entry in building.unfinished())


def begun(file: Path, since: int) -> int:
    """How many programs have begun a step, by what was added to the journal behind so many bytes."""
    return file.read_bytes()[since:].count(b'"setter"') if file.exists() else 0


def has_begun(file: Path, since: int, count: int) -> bool:
    return begun(file, since) >= count


async def opened() -> Workbench:
    bench = Workbench(LocalHost(), paths=Paths.of(""))
    await bench.open()
    return bench


async def settled(building: ArrayBuilder) -> list[ArrayMatchState]:
    """Recover what was cut short, delete what turns out whole; what was found of each."""
    standings = []
    for entry in building.unfinished():
        standings.append((await building.find(entry)).state)
        left = await building.resolve(entry, remove=True)
        assert left.state in (ArrayMatchState.ABSENT, ArrayMatchState.COMPLETE), left.sentence
    for entry in building.journal.entries():
        assert entry.stage is ArrayStage.MADE
        await building.delete(entry.array.name, typed=entry.array.name)
    return standings


def test_after_a_kill_at_any_moment_nothing_half_made_is_left_without_a_word(
    state: Path, six: tuple[Disk, ...]
) -> None:
    """Every second time mdadm is killed as well. This process has no threads while it is copied."""
    file, standings = state / "journal" / "arrays.log", list[ArrayMatchState]()
    bench = asyncio.run(opened())
    drives = asyncio.run(drives_of(bench, six[:3]))
    for moment in MOMENTS:
        plan, before = asyncio.run(planned(bench, Level.RAID5, drives)), size(file)
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
        for tool in tools if moment % 2 else ():
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(tool, signal.SIGKILL)
        wait_until(partial(at_rest, bench.arrays), "the end of mdadm", 120)
        standings += asyncio.run(settled(bench.arrays))
        assert (arrays(), left_on(six[:3])) == ([], []), f"moment {moment}: {standings}"
    bench.close()
    assert standings  # else it was never killed in time


STEPS = (2, 5)
"""At which of five steps of a deletion raidbench is killed; at the odd one mdadm is killed as well. All five take four
minutes of emulation."""


def test_after_a_kill_at_any_step_of_a_deletion_it_is_finished_and_no_drive_is_left_claimed(
    state: Path, six: tuple[Disk, ...]
) -> None:
    file, standings = state / "journal" / "arrays.log", list[ArrayMatchState]()
    bench = asyncio.run(opened())
    drives = asyncio.run(drives_of(bench, six))
    for step in STEPS:
        plan = asyncio.run(planned(bench, Level.RAID50, drives))
        name = plan.request.name
        asyncio.run(create(bench, plan))
        before = size(file)
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(bench.arrays.delete(name, typed=name))
            finally:
                os._exit(0)
        wait_until(partial(has_begun, file, before, step), f"step {step}", 240)
        tools = children(child)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for tool in tools if step % 2 else ():
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(tool, signal.SIGKILL)
        wait_until(partial(at_rest, bench.arrays), "the end of mdadm", 120)
        assert [entry.array.name for entry in bench.arrays.unfinished()] == [name]
        standings += asyncio.run(settled(bench.arrays))
        assert (arrays(), left_on(six)) == ([], []), f"step {step}: {standings}"
    bench.close()
    assert ArrayMatchState.PARTIAL in standings


# -- drives that fail meanwhile ---------------------------------------------------------------------------------------

DEBUG = Path("/sys/bus/pseudo/drivers/scsi_debug")
NO_FAULT, TRANSPORT_ERRORS = "0", "16"
"""Values of scsi_debug's `opts`: none; every command fails on its way (drivers/scsi/scsi_debug.c)."""


def set_state(disk: Made, text: str) -> None:
    (disk.sysfs / "device/state").write_text(f"{text}\n")


def fail_all(opts: str) -> None:
    (DEBUG / "every_nth").write_text("0" if opts == NO_FAULT else "1")
    (DEBUG / "opts").write_text(opts)


def take_away(disk: Made) -> None:
    (disk.sysfs / "device/delete").write_text("1")


def find_again(_disk: Made) -> None:
    for adapter in Path("/sys/class/scsi_host").iterdir():
        if (adapter / "proc_name").read_text().strip() == "scsi_debug":
            (adapter / "scan").write_text("- - -")


def debug_disks() -> list[Made]:
    """The disks of scsi_debug by their names now."""
    models = Path("/sys/block").glob("sd*/device/model")
    return [Made(f"/dev/{model.parts[3]}") for model in models if model.read_text().strip() == "scsi_debug"]


FAULTS: dict[str, tuple[Callable[[Made], None], Callable[[Made], None]]] = {
    "goes offline": (lambda disk: set_state(disk, "offline"), lambda disk: set_state(disk, "running")),
    "is taken away": (take_away, find_again),
    "and all others give I/O errors": (lambda _disk: fail_all(TRANSPORT_ERRORS), lambda _disk: fail_all(NO_FAULT)),
}
"""What happens to a drive when mdadm has begun, and how that ends."""


@pytest.mark.parametrize("name", FAULTS)
async def test_a_drive_that_fails_while_an_array_is_made_leaves_no_half_without_a_word(
    workbench: Workbench, state: Path, table: Results, stack: ExitStack, name: str
) -> None:
    disks = stack.enter_context(scsi_debug_disks(3))
    fail, heal = FAULTS[name]
    file = state / "journal" / "arrays.log"
    plan, before = await planned(workbench, Level.RAID1, await drives_of(workbench, disks)), size(file)
    making = asyncio.create_task(create(workbench, plan))
    while not has_begun(file, before, 1) and not making.done():
        await asyncio.sleep(0.02)
    fail(disks[-1])
    came = "made"
    try:
        await making
    except RaidbenchError as error:
        came = f"{type(error).__name__}: {error.message}"
    finally:
        heal(disks[-1])
    known = [entry.array.name for entry in workbench.arrays.journal.entries()]
    wait_until(lambda: len(debug_disks()) == len(disks), "the drives are there again")
    claimed = bool(with_members() or left_on(debug_disks()))
    assert known == [plan.request.name] or not claimed, came
    assert came == "made" or plan.request.name in came
    await settled_here(workbench.arrays)
    left = (with_members(), left_on(debug_disks()), workbench.arrays.journal.entries())
    for empty in arrays():
        run("mdadm", "--stop", f"/dev/{empty}", status=None)
    seen = "no half is left without a word"
    assert table.add("Arrays", "md", f"a drive {name} while it is made", seen, ok=left == ([], [], ())), (came, left)


async def settled_here(building: ArrayBuilder) -> None:
    """Take apart what was made or half made by this process itself."""
    for entry in building.journal.entries():
        if entry.stage is ArrayStage.MADE:
            await building.delete(entry.array.name, typed=entry.array.name)
        else:
            await building.resolve(entry, remove=True)
