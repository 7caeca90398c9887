"""Containers and volumes of Intel's metadata for real, on a machine without the firmware: mdadm is told not to mind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from app.core.workbench import Workbench
from backends.guard import Intent, judge_device
from backends.model import Array, Scope, Target
from backends.system.local import LocalHost
from backends.vendors.mdraid.backend import MdRaid
from tests.lab.disks import Disk, wait_until
from tests.lab.making import Made
from tests.lab.results import Results
from tests.lab.running import ProgramError, run

pytestmark = pytest.mark.vendors("block", "md")

DISKS = ("scsi0", "scsi1", "scsi2", "sata0")
"""The last one is the container's spare."""
MD126 = Target(backend="md", address="md126", scope=Scope.ARRAY)


def mdadm(*words: str) -> None:
    """mdadm on a machine that Intel did not make."""
    run("env", "IMSM_NO_PLATFORM=1", "mdadm", *words)


@pytest.fixture
def volume(blank: Callable[..., tuple[Disk, ...]]) -> Iterator[Made]:
    """A RAID 5 of three disks in a container of four."""
    nodes = [disk.device for disk in blank(*DISKS)]
    mdadm("--create", "/dev/md127", "--run", "--metadata=imsm", "--raid-devices=4", *nodes)
    made = Made("/dev/md126")
    try:
        mdadm("--create", made.device, "--run", "--level=5", "--raid-devices=3", "--size=32M", "/dev/md127")
        wait_until(lambda: made.read("md/sync_action") == "idle", "the volume is in sync", 120)
        yield made
    finally:
        wait_until(lambda: stopped("md126"), "the volume stops", 60)
        wait_until(lambda: stopped("md127"), "the container stops", 60)


def stopped(name: str) -> bool:
    """Whether an array is gone, after being told to stop."""
    with suppress(ProgramError):
        mdadm("--stop", f"/dev/{name}")
    made = Made(f"/dev/{name}")
    return not (made.sysfs / "md/array_state").exists() or made.read("md/array_state") == "clear"


async def test_container_and_volume_are_told_apart(volume: Made, table: Results) -> None:
    arrays = {one.target.address: one for one in (await MdRaid(LocalHost()).inventory()).arrays}

    def shown(array: Array, *labels: str) -> str:
        facts = {fact.label: fact.value for fact in array.facts}
        return "; ".join([array.level.value, array.state.value, *(facts[label] for label in labels)])

    seen = f"{shown(arrays['md127'], 'Volumes', 'Platform')}. {shown(arrays['md126'], 'Kind')}"
    wanted = (
        "unknown; online; md126; none: mdadm finds no Intel RAID firmware. raid5; optimal; volume of the container "
        "md127 (imsm)"
    )
    assert table.add("Arrays", "imsm, 3 of 4 disks", "container and volume", seen, ok=seen == wanted)
    assert len(arrays["md127"].members) == 4
    assert len(arrays["md126"].members) == 3


async def test_the_parity_log_of_a_volume_is_set_and_taken_back(
    workbench: Workbench, volume: Made, table: Results
) -> None:
    before = volume.read("md/consistency_policy")
    ended = await workbench.changes.apply(await workbench.hardware.plan(MD126, "consistency_policy", "ppl"))
    assert ended.result == "verified", ended.message
    seen = volume.read("md/consistency_policy")
    undone = await workbench.changes.undo(ended.id)
    assert undone.result == "verified", undone.message
    assert table.setting(
        backend="md",
        on="raid5 in imsm",
        setting="consistency_policy",
        before=before,
        after="ppl",
        read_back=seen,
        undone=volume.read("md/consistency_policy"),
    )


async def test_disks_of_a_container_are_not_written_to(volume: Made, table: Results) -> None:
    inside = sorted(path.name for path in volume.sysfs.glob("slaves/*"))
    every = sorted(path.name for path in Made("/dev/md127").sysfs.glob("slaves/*"))
    (spare,) = set(every) - set(inside)
    for what, device in (("a volume's disk", inside[0]), ("the spare", spare), ("the container", "md127")):
        _, answer = await judge_device(LocalHost(), f"/dev/{device}", Intent.WRITE)
        words = " ".join(answer.refused).replace(device, "sdX")
        told = "size is 0" in words if what == "the container" else "a disk of the container /dev/md127 (imsm)" in words
        assert table.add("Arrays", "imsm, 3 of 4 disks", f"raw write to {what}", "refused", ok=told), words
    _, answer = await judge_device(LocalHost(), volume.device, Intent.WRITE)
    assert table.add("Arrays", "imsm, 3 of 4 disks", "raw write to the volume", "may be", ok=answer.ok), answer.refused
