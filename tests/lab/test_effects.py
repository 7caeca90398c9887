"""Side effects of settings, measured on the laboratory's kernel: which write moves which other setting of a queue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.model import Target
from backends.vendors.block.settings import BY_KEY, SIDE_EFFECTS
from tests.backends.queue_effects import ODD, effects_words, measured_effects
from tests.lab.disks import Disk, Disks
from tests.lab.making import Made, Md
from tests.lab.results import Results

pytestmark = pytest.mark.vendors("block", "md", "nvme", "scsi")

Blank = Callable[..., tuple[Disk, ...]]


def proved(table: Results, name: str, queue: Path) -> dict[str, dict[str, set[str]]]:
    """Measure a disk; a row for each setting that it has. Nothing may move that is not declared."""
    found = measured_effects(queue)
    for key in BY_KEY:
        if (queue / key).exists():
            moved = set(found.get(key, {}))
            declared = moved <= set(SIDE_EFFECTS.get(key, ()))
            assert table.add("Side effects", name, key, effects_words(found, key), ok=declared), found
    return found


def state(disk: Disk | Made) -> dict[str, str]:
    """All settings of a queue."""
    return {key: (disk.sysfs / "queue" / key).read_text().strip() for key in BY_KEY if _readable(disk, key)}


def _readable(disk: Disk | Made, key: str) -> bool:
    try:
        (disk.sysfs / "queue" / key).read_text()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("name", ["nvme0", "sata0", "scsi0", "mega0"])
def test_a_write_moves_what_the_table_says_on_a_disk(blank: Blank, table: Results, name: str) -> None:
    (disk,) = blank(name)
    proved(table, name, disk.sysfs / "queue")


def test_a_write_moves_what_the_table_says_on_a_pretended_disk(scsi_debug: Callable[..., Made], table: Results) -> None:
    proved(table, "scsi_debug", scsi_debug().sysfs / "queue")


def test_a_write_moves_what_the_table_says_on_an_array(array: Callable[..., Md], table: Results) -> None:
    proved(table, "md raid5", array("raid5", ["nvme0", "nvme1", "nvme2"]).sysfs / "queue")


def test_a_write_moves_what_the_table_says_on_a_mapped_device(
    blank: Blank, dm: Callable[[str], Made], table: Results
) -> None:
    (disk,) = blank("nvme0")
    proved(table, "dm linear", dm(f"0 65536 linear {disk.device} 0").sysfs / "queue")


def test_a_member_moves_nothing_of_its_array(array: Callable[..., Md], table: Results) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2"])
    member = Path("/sys/block") / made.members[0].removeprefix("/dev/") / "queue"
    before, largest = state(made), (member / "max_sectors_kb").read_text()
    try:
        (member / "max_sectors_kb").write_text("64")
        after = state(made)
    finally:
        (member / "max_sectors_kb").write_text(largest)
    moved = sorted(key for key in before if before[key] != after[key])
    words = ", ".join(moved) or "nothing"
    assert table.add("Side effects", "md raid5", "max_sectors_kb of a member", words, ok=not moved)


@pytest.mark.parametrize("name", ["sata0", "scsi0"])
async def test_a_switched_cache_moves_what_it_says_on_the_kernels_disk(
    workbench: Workbench, disks: Disks, table: Results, name: str
) -> None:
    disk = disks[name]
    (disk.sysfs / "queue" / "read_ahead_kb").write_text(ODD["read_ahead_kb"])
    before = state(disk)
    change = await workbench.hardware.plan(Target(backend="scsi", address=disk.kernel), "drive_cache", "off")
    ended = await workbench.changes.apply(change)
    after = state(disk)
    moved = {key for key in before if before[key] != after[key]}
    told = {one.key for one in ended.moved or () if one.target.backend == "block" and one.explained}
    undone = await workbench.changes.undo(ended.id)
    good = moved == told and undone.result == "verified" and state(disk) == before
    assert table.add("Side effects", name, "drive_cache", ", ".join(sorted(moved)) or "nothing", ok=good), (moved, told)


@pytest.mark.parametrize("key", ["max_sectors_kb", "write_cache", "iostats", "scheduler"])
async def test_a_change_and_its_undo_leave_everything_as_it_was(workbench: Workbench, blank: Blank, key: str) -> None:
    (disk,) = blank("sata0")
    target = Target(backend="block", address=disk.kernel)
    before = state(disk)
    reading = (await workbench.hardware.read(target))[key]
    others = [choice.value for choice in reading.choices if choice.value != reading.now] or ["64"]
    ended = await workbench.changes.apply(await workbench.hardware.plan(target, key, others[0]))
    assert (ended.result, (await workbench.changes.undo(ended.id)).result) == ("verified", "verified")
    assert state(disk) == before
