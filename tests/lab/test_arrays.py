"""The inventory of md arrays beside what `mdadm --detail` says of the same arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.model import Array, State
from tests.lab.making import Made, Md
from tests.lab.results import Results
from tests.lab.running import run

FOUR = ("nvme0", "nvme1", "scsi0", "scsi1")

MADE = [
    ("raid0", ("--chunk=64",), 4),
    ("raid1", (), 1),
    ("raid4", ("--chunk=128",), 3),
    ("raid5", ("--chunk=64",), 3),
    ("raid6", ("--chunk=256",), 2),
    ("raid10", ("--layout=n2", "--chunk=64"), 2),
    ("raid10", ("--layout=f2", "--chunk=64"), 2),
    ("raid10", ("--layout=o2", "--chunk=512"), 2),
]


def detail(device: str) -> dict[str, str]:
    """`mdadm --detail`, label by label."""
    lines = (line.partition(" : ") for line in run("mdadm", "--detail", device).splitlines())
    return {label.strip(): value.strip() for label, colon, value in lines if colon}


def roles(device: str) -> list[str]:
    """Nodes of the members by their place, of `mdadm --detail`."""
    text = run("mdadm", "--detail", device)
    found = re.findall(r"^\s+\d+\s+\d+\s+\d+\s+(\d+)\s+active sync.*?(/dev/\S+)$", text, re.MULTILINE)
    return [node for _, node in sorted(found, key=lambda one: int(one[0]))]


async def seen(bench: Workbench, made: Made, *, by_all: bool = False) -> Array:
    """The array as the md backend sees it, or as all backends together do: that takes the emulated machine seconds."""
    inventory = await (bench.hardware.probe() if by_all else bench.hardware.machine.backends["md"].inventory())
    found = inventory.find(f"md:{made.kernel}")
    assert isinstance(found, Array), inventory.problems
    return found


def facts(found: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in found.facts}


def chunk_bytes(text: str | None) -> int | None:
    return None if text is None else int(text.removesuffix("K")) * 1024


@pytest.mark.parametrize(("level", "options", "data"), MADE, ids=lambda one: str(one))
async def test_an_array_is_what_mdadm_says(
    workbench: Workbench,
    array: Callable[..., Md],
    table: Results,
    level: str,
    options: Sequence[str],
    data: int,
) -> None:
    made = array(level, FOUR, *options)
    found, told = await seen(workbench, made), detail(made.device)
    shown = facts(found)
    agree = {
        "level": str(found.level) == told["Raid Level"],
        "size": (found.size_bytes or 0) // 1024 == int(told["Array Size"].partition(" ")[0]),
        "chunk": found.strip_bytes == chunk_bytes(told.get("Chunk Size")),
        "layout": shown.get("Layout") == told.get("Layout") or level in ("raid0", "raid4"),
        "metadata": shown["Metadata"] == told["Version"],
        "UUID": shown["UUID"] == told["UUID"],
        "name": found.name == told["Name"].partition(" ")[0],
        "policy": shown["Consistency policy"] == told.get("Consistency Policy"),
        "members": [shown[f"Member {at}"].partition(",")[0] for at in range(4)] == roles(made.device),
        "data members": found.data_drives == data,
        "state": found.state is State.OPTIMAL,
    }
    wrong = [what for what, same in agree.items() if not same]
    name = f"{level} {' '.join(options)}".strip()
    assert table.add("Arrays", name, "equals mdadm --detail", ", ".join(agree), ok=not wrong), wrong


async def test_members_are_the_drives_of_their_vendors(workbench: Workbench, array: Callable[..., Md]) -> None:
    made = array("raid5", ["nvme0", "nvme1", "sata0", "scsi0"])
    found = await seen(workbench, made, by_all=True)
    assert [member.backend for member in found.members] == ["nvme", "nvme", "scsi", "scsi"]


async def test_raid0_over_two_raid5(workbench: Workbench, array: Callable[..., Md], table: Results) -> None:
    lower = [array("raid5", ["nvme0", "nvme1", "nvme2"]), array("raid5", ["scsi0", "scsi1", "scsi2"])]
    upper = array("raid0", lower, "--chunk=256")
    found, told = await seen(workbench, upper), detail(upper.device)
    good = (
        [str(member) for member in found.members] == [f"md:{one.kernel}" for one in lower]
        and facts(found)["Built on"] == "2 x raid5 (RAID 50)"
        and str(found.level) == told["Raid Level"]
    )
    assert table.add("Arrays", "raid0 over 2 x raid5", "nested", facts(found)["Built on"], ok=good)
    below = await seen(workbench, lower[0])
    assert any(use.kind == "holder" for use in below.uses)


async def test_a_mirror_of_a_fast_and_a_write_mostly_slow_disk(
    workbench: Workbench, array: Callable[..., Md], table: Results
) -> None:
    made = array("raid1", ["nvme0", "sata0"])
    Path(f"/sys/block/{made.kernel}/md/dev-{made.members[1].removeprefix('/dev/')}/state").write_text("writemostly")
    line = facts(await seen(workbench, made))["Member 1"]
    assert table.add(
        "Arrays", "raid1 of NVMe and SATA", "write-mostly member", line.partition(", ")[2], ok="write-mostly" in line
    )


async def test_a_failed_member_and_its_rebuild(
    workbench: Workbench, array: Callable[..., Md], blank: Callable[..., tuple[Made, ...]], table: Results
) -> None:
    made = array("raid5", ["nvme0", "nvme1", "scsi0"], size="64M")
    (spare,) = blank("scsi1")
    made.write("md/sync_speed_max", "2000")
    made.fail(made.members[1])
    degraded = await seen(workbench, made)
    run("mdadm", made.device, "--remove", made.members[1])
    run("mdadm", made.device, "--add", spare.device)
    rebuilding = await seen(workbench, made)
    made.write("md/sync_speed_max", "system")
    made.settle()
    after = await seen(workbench, made)
    run("mdadm", "--zero-superblock", made.members[1])
    tasks = [task.kind for task in rebuilding.tasks]
    good = (degraded.state, rebuilding.state, tasks, after.state) == (
        State.DEGRADED,
        State.REBUILDING,
        ["rebuild"],
        State.OPTIMAL,
    )
    text = f"{degraded.state}, {rebuilding.state}, {after.state}"
    made.fail(spare.device)
    run("mdadm", made.device, "--remove", spare.device)
    assert table.add("Arrays", "raid5", "member failed, spare added, rebuilt", text, ok=good)


async def test_a_check_is_a_task_with_progress(workbench: Workbench, array: Callable[..., Md], table: Results) -> None:
    made = array("raid5", ["nvme0", "nvme1", "scsi0"], size="64M")
    made.write("md/sync_speed_max", "2000")
    made.write("md/sync_action", "check")
    found = await seen(workbench, made)
    made.write("md/sync_action", "idle")
    tasks = [task.kind for task in found.tasks]
    assert table.add("Arrays", "raid5", "check", ", ".join(tasks), ok=tasks == ["consistency-check"])
