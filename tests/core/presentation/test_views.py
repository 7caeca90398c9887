"""One block device under several addresses: whose setting is whose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.core.session.paths import Paths
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.change import Change
from backends.errors import BlockedError, NotFoundError
from backends.host import Host
from backends.model import Drive, Inventory, Problem, Target
from backends.protocol import Vendor
from backends.registry import MachineBackends
from backends.settings import Reading, Setting
from backends.vendors.block import VENDOR as BLOCK
from tests.backends.fakes import FakeHost, disk, machine

NVME = Target(backend="nvme", address="nvme0n1")
KERNELS = Target(backend="block", address="nvme0n1")
VWC = Setting(key="drive_cache", label="Drive cache", help="The drive's own cache.")


class Namespaces:
    """One namespace with one setting."""

    def __init__(self, host: Host) -> None:
        """Of any host."""

    async def inventory(self) -> Inventory:
        return Inventory(drives=(Drive(target=NVME, device="/dev/nvme0n1"),))

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()

    def settings(self, target: Target) -> tuple[Setting, ...]:
        return (VWC,)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        return {"drive_cache": Reading(now="on")}

    async def plan(self, target: Target, key: str, value: str) -> Change:
        if key != "drive_cache":
            raise NotFoundError(f"{target} has no setting {key}.")
        return Change(target=target, key=key, label=VWC.label, before="on", after=value, writes=(), undo=())

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        return await self.plan(target, key, value)

    async def apply(self, change: Change) -> None:
        raise AssertionError("nothing is applied here")


@pytest.fixture
async def bench(tmp_path: Path) -> Workbench:
    host = FakeHost(machine(disk("nvme0n1")))
    folder = tmp_path / "state"
    made = Workbench(
        host,
        paths=Paths(sessions=folder / "s", journal=folder / "j", locks=folder / "l", config=folder / "c"),
        advisor=advise,
    )
    made.hardware.machine = MachineBackends(host, (BLOCK, Vendor(name="nvme", backend=Namespaces)))
    await made.hardware.probe()
    return made


async def test_a_queue_setting_of_a_vendors_drive_is_the_kernels_disks(bench: Workbench) -> None:
    assert (await bench.hardware.plan(NVME, "read_ahead_kb", "256")).target == KERNELS


async def test_a_vendors_setting_of_the_kernels_disk_is_the_vendors(bench: Workbench) -> None:
    assert (await bench.hardware.plan(KERNELS, "drive_cache", "off")).target == NVME


async def test_a_setting_of_its_own_stays_its_own(bench: Workbench) -> None:
    assert (await bench.hardware.plan(KERNELS, "scheduler", "none")).target == KERNELS
    assert (await bench.hardware.plan(NVME, "drive_cache", "off")).target == NVME


async def test_what_no_view_has_is_not_found(bench: Workbench) -> None:
    with pytest.raises(NotFoundError, match="no setting nonsense"):
        await bench.hardware.plan(NVME, "nonsense", "1")


async def test_a_setting_of_a_view_without_such_files_is_refused(bench: Workbench) -> None:
    with pytest.raises(BlockedError, match="nvme0n1 does not support persistent settings"):
        await bench.keeping.plan_rules(NVME, {"drive_cache": "off", "read_ahead_kb": "256"})


async def test_both_addresses_lead_to_what_they_name(bench: Workbench) -> None:
    assert [(await bench.hardware.find(str(one))).target for one in (NVME, KERNELS)] == [NVME, KERNELS]


async def test_a_bare_name_is_the_vendors_drive(bench: Workbench) -> None:
    assert (await bench.hardware.find("nvme0n1")).target == NVME
