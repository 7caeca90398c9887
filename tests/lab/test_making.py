"""What `array create --dry-run` shows makes that array, with the real mdadm; what is free, and what is not.

That it is made, known again and deleted: `test_building`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.disks import Disk
from tests.lab.running import Outcome, run

pytestmark = [pytest.mark.vendors("block", "md", "nvme"), pytest.mark.seconds(400)]

FOUR = ("nvme0", "nvme1", "nvme2", "nvme3")


def detail(node: str) -> dict[str, str]:
    """What `mdadm --detail` says, by label."""
    return dict(re.findall(r"^\s*([A-Z][\w ]+) : (.*?)\s*$", run("mdadm", "--detail", node), re.MULTILINE))


@pytest.fixture
def four(blank: Callable[..., tuple[Disk, ...]]) -> Iterator[tuple[Disk, ...]]:
    taken = blank(*FOUR)
    yield taken
    for folder in sorted(Path("/sys/block").glob("md1[0-9][0-9]")):  # the outer array has the lowest number
        run("mdadm", "--stop", f"/dev/{folder.name}", status=None)
    for disk in taken:
        run("mdadm", "--zero-superblock", disk.device, status=None)


def planned(raidbench: Callable[..., Outcome], level: str, drives: tuple[Disk, ...], *more: str) -> dict[str, Any]:
    done = raidbench("array", "create", level, *(disk.kernel for disk in drives), *more, "--dry-run", "--json")
    assert done.status == 0, done.err
    found: dict[str, Any] = done.json["array"]
    return found


LEVELS = [
    ("raid1", (), None),
    ("raid10", ("--strip", "64k"), "64K"),
    ("raid6", ("--strip", "64k", "--assume-clean"), "64K"),
]


@pytest.mark.parametrize(("level", "more", "chunk"), LEVELS, ids=[level for level, _, _ in LEVELS])
def test_the_commands_make_the_array_that_is_told(
    raidbench: Callable[..., Outcome], four: tuple[Disk, ...], level: str, more: tuple[str, ...], chunk: str | None
) -> None:
    plan = planned(raidbench, level, four, *more)
    assert not list(Path("/sys/block").glob("md1*"))
    for step in plan["steps"]:
        run(*step)
    node = plan["steps"][-1][2]
    told = detail(node)
    assert (told["Raid Level"], told["Raid Devices"], told.get("Chunk Size")) == (level, "4", chunk)
    assert told["UUID"] in " ".join(plan["steps"][-1])
    assert told["Name"].split()[0].endswith(plan["name"])
    size = int(told["Array Size"].split()[0]) << 10
    assert plan["size_bytes"] <= size < plan["size_bytes"] + plan["data_drives"] * (129 << 20)
    refused = raidbench("array", "create", level, *(disk.kernel for disk in four), "--dry-run")
    assert (refused.status, "is built on it" in refused.err or "is a member" in refused.err) == (3, True)


@pytest.mark.parametrize("kind", ["ext4", "LUKS", "LVM"])
def test_what_lies_on_a_drive_is_told_or_rules_it_out(
    raidbench: Callable[..., Outcome], four: tuple[Disk, ...], kind: str
) -> None:
    disk = four[0]
    if kind == "ext4":
        run("mkfs.ext4", "-q", "-F", disk.device)
    elif kind == "LUKS":
        run("cryptsetup", "-q", "--type", "luks1", "--iter-time", "1", "luksFormat", disk.device, "-", stdin="secret")
    else:
        run("pvcreate", "-y", disk.device)
    if kind == "ext4":
        plan = planned(raidbench, "raid0", four[:2])
        assert any("ext4" in line for line in plan["warnings"])
    else:
        refused = raidbench("array", "create", "raid0", disk.kernel, four[1].kernel, "--dry-run")
        assert (refused.status, kind.lower() in refused.err.lower()) == (3, True)
    run("wipefs", "-a", disk.device)
