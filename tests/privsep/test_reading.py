"""The table of what root reads, held against what the vendors' modules ask."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import backends.vendors
from app.privsep import read_policy
from backends import registry
from backends.change import Change
from backends.host import Command, Completed, Host
from backends.protocol import InventoryBackend, SettingsBackend
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.system.wrapped import HostWrapper
from backends.vendors.areca.backend import Areca
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.lvm.backend import Lvm
from backends.vendors.marvell.backend import Marvell
from backends.vendors.megaraid.megacli import commands as megacli
from backends.vendors.nvme.facts import ControllerId
from backends.vendors.nvme.tool import NvmeCli
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smcli.backend import Smcli
from backends.vendors.threeware.backend import Threeware
from tests.backends.fakes import FakeHost
from tests.backends.fusionio.cards import PlayedCard
from tests.backends.listed.texts import ARECA, MARVELL, PlayedUnit, Telling
from tests.backends.lvm.machines import KINDS
from tests.backends.lvm.machines import host as of_volumes
from tests.backends.simulator.asking import still_rack
from tests.backends.smartarray.cards import HPE, SMARTRAID, PlayedCards
from tests.backends.smcli.systems import PlayedSystem
from tests.case_loop import loop_over
from tests.privsep.forbidden import PATHS, READERS, SETTERS

NO_ROOT = ("fio", "lspci", "lsblk", "udevadm", "blkid", "wipefs")
"""Programs that only the user's side starts, or only the guard itself."""


@pytest.fixture(autouse=True)
def every_tool_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words count here: programs and devices of the table are all there."""
    monkeypatch.setattr(read_policy, "find_program", lambda names: names[0])
    monkeypatch.setattr(read_policy, "node_of", lambda path: path if read_policy._NODE.fullmatch(path) else None)


class Listening(HostWrapper):
    """Notes the command lines."""

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self.reads: list[tuple[str, ...]] = []
        self.changes: list[tuple[str, ...]] = []

    async def run(self, command: Command) -> Completed:
        (self.changes if command.mutates else self.reads).append(command.argv)
        return await self._inner.run(command)


def refused(lines: Sequence[Sequence[str]]) -> list[str]:
    wanted = [argv for argv in lines if os.path.basename(argv[0]) not in NO_ROOT]
    return sorted({" ".join(argv) for argv in wanted if read_policy.command_of(argv) is None})


async def looked_at(host: Listening) -> list[Change]:
    """Everything read; one value of every setting of a controller, an array and a drive planned."""
    machine = MachineBackends.of(host)
    inventory = await machine.probe()
    plans: list[Change] = []
    for target in (inventory.controllers[0].target, inventory.arrays[0].target, inventory.drives[0].target):
        for key, one in (await machine.read(target)).items():
            other = next((choice.value for choice in one.choices if choice.value != one.now), None)
            if one.availability.available and other is not None:
                plans.append(await machine.setter(target).plan(target, key, other))
    return plans


async def test_all_that_a_rack_is_asked_is_in_the_table_and_nothing_that_it_is_set_to() -> None:
    host = Listening(SimulatedHost(still_rack()))

    plans = await looked_at(host)

    steps = [write.argv for change in plans for write in (*change.writes, *change.undo) if write.argv]
    assert steps
    assert len(host.reads) > 5
    assert refused(host.reads) == []
    assert [argv for argv in (*steps, *host.changes) if read_policy.command_of(argv) is not None] == []


async def test_every_question_to_nvme_drives_is_in_the_table() -> None:
    said = Completed(returncode=0, stdout="get-feature:0x6 (Volatile Write Cache), Current value:0x00000001", stderr="")
    host = Listening(FakeHost({}, tools={"nvme": said}))
    tool = NvmeCli(host, "nvme")

    await tool.id_ctrl("/dev/nvme0")
    await tool.id_ns("/dev/nvme0n1")
    await tool.smart_log("/dev/nvme0")
    await tool.list_ns("/dev/nvme0")
    await tool.feature("/dev/nvme0", 6, ControllerId(oncs=1 << 4))

    assert len(host.reads) >= 8
    assert refused(host.reads) == []


@pytest.mark.parametrize("disk", ["sde", "sdk", "nvme3n1"])
async def test_lvs_is_asked_by_root_to_leave_a_silent_disk_alone(disk: str) -> None:
    rack = linux_rack()
    rack.states = [f"hung:{disk}"]
    host = Listening(SimulatedHost(rack, speed=1000))

    await MachineBackends.of(host).probe()

    without = [argv for argv in host.reads if "--config" in argv]
    assert without
    assert refused(without) == []


def test_every_question_to_megacli_is_in_the_table() -> None:
    asked = [
        megacli.VERSION, megacli.COUNT, megacli.ADAPTERS,
        *(megacli.on_card(12, words) for words in (
            megacli.ADAPTER, megacli.PCI, megacli.VOLUMES, megacli.VOLUMES_AND_MEMBERS, megacli.DRIVES, megacli.BATTERY,
            megacli.FEATURES, megacli.PATROL_READ, megacli.CONSISTENCY_CHECK, megacli.QUEUEING, megacli.BACKGROUND,
        )),
        megacli.progress(0, "-LDCC"), megacli.rebuild_progress(0, ("245:1", ":2")),
    ]  # fmt: skip

    assert refused([("MegaCli64", *words) for words in asked]) == []


async def test_every_question_to_ssacli_and_arcconf_is_in_the_table_and_nothing_that_cards_are_set_to() -> None:
    host = Listening(PlayedCards((HPE,), (SMARTRAID,)))
    backend = SmartArray(host)
    found = await backend.inventory()
    lines = []
    for target in (*(card.target for card in found.controllers), *(array.target for array in found.arrays)):
        await backend.ask_legal_values(target)
        for key, one in (await backend.read(target)).items():
            if one.availability.available and one.choices:
                plan = await backend.plan(target, key, one.choices[-1].value)
                lines += [write.argv for write in (*plan.writes, *plan.undo)]

    assert len({argv[0] for argv in host.reads}) == len({argv[0] for argv in lines}) == 2
    assert refused(host.reads) == []
    assert [argv for argv in lines if read_policy.command_of(argv) is not None] == []


@loop_over("argv", READERS, ids=" ".join)
def test_a_line_of_the_table_is_taken(argv: tuple[str, ...]) -> None:
    assert read_policy.command_of(argv) == argv


@loop_over("argv", SETTERS, ids=" ".join)
def test_what_changes_something_is_not_taken(argv: tuple[str, ...]) -> None:
    assert read_policy.command_of(argv) is None


def test_a_program_from_another_folder_is_exchanged_for_roots_own() -> None:
    assert read_policy.command_of(("/home/user/bin/nvme", "id-ctrl", "/dev/nvme0")) == ("nvme", "id-ctrl", "/dev/nvme0")


@loop_over("path", PATHS)
def test_no_other_file_is_read_than_the_mounts_of_process_1(path: str) -> None:
    assert read_policy.may_read("/proc/1/mountinfo")
    assert not read_policy.may_read(path)


@pytest.mark.parametrize(
    ("backend", "host"),
    [
        (Lvm, of_volumes(*KINDS)),
        (FusionIo, PlayedCard()),
        (Smcli, PlayedSystem()),
        (Threeware, PlayedUnit()),
        (Areca, Telling("cli64", ARECA)),
        (Marvell, Telling("mvcli", MARVELL)),
    ],
)
async def test_what_is_asked_of_other_cards_is_in_the_table(backend: type[InventoryBackend], host: Host) -> None:
    listening = Listening(host)
    one = backend(listening)  # type: ignore[call-arg]
    found = await one.inventory()
    if isinstance(one, SettingsBackend):
        for array in found.arrays:
            await one.read(array.target)
    assert listening.reads
    assert refused(listening.reads) == []


# -- who may add to the table ------------------------------------------------------------------------------------------

STARTED = {
    "CmdTool2", "CmdTool264", "CmdTool2_64", "MegaCli", "MegaCli64", "SMcli", "arcconf", "areca-cli", "cli64",
    "dmsetup", "fio-status", "hdparm", "hpacucli", "hpssacli", "lvs", "mdadm", "megacli", "megacli64", "megaraid-cli",
    "mnv_cli", "mvcli", "nvme", "perccli", "perccli2", "perccli64", "pvs", "sdparm", "smartctl", "ssacli", "storcli",
    "storcli2", "storcli64", "tw-cli", "tw_cli",
}  # fmt: skip
"""Every program that root starts for a user. One more is a decision, taken here, too."""

OTHER_VENDOR = """
from backends.protocol import Vendor

ROOT_READS = {("id",): (("-u",),)}
VENDOR = Vendor(name="other", backend=lambda host: host, root_reads=f"{__name__}:ROOT_READS")
"""


def test_root_starts_these_programs_and_no_others() -> None:
    assert {os.path.basename(name) for name in read_policy._SHAPES} == STARTED


def test_a_vendor_of_another_package_adds_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other_vendor.py").write_text(OTHER_VENDOR)
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint(name="other", value="other_vendor:VENDOR", group=registry.GROUP)
    found = registry.find_vendors(plugins=[point])

    assert "other" in {vendor.name for vendor in found.vendors}
    assert read_policy._load_shapes() == read_policy._SHAPES
    assert "id" not in read_policy._SHAPES


def test_a_folder_on_the_search_path_of_the_vendors_adds_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.py").write_text(OTHER_VENDOR)
    monkeypatch.setattr(backends.vendors, "__path__", [*backends.vendors.__path__, str(tmp_path)])
    found = registry.find_vendors(plugins=())
    monkeypatch.delitem(sys.modules, "backends.vendors.other")

    assert "other" in {vendor.name for vendor in found.vendors}
    assert read_policy._load_shapes() == read_policy._SHAPES


def test_a_module_in_the_place_of_a_vendor_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "areca.py").write_text(OTHER_VENDOR)
    monkeypatch.setattr(backends.vendors, "__path__", [str(tmp_path), *backends.vendors.__path__])
    monkeypatch.setattr(backends.vendors, "areca", sys.modules["backends.vendors.areca"])
    monkeypatch.delitem(sys.modules, "backends.vendors.areca")
    try:
        with pytest.raises(ImportError, match="areca was loaded from"):
            read_policy._load_shapes()
    finally:
        sys.modules.pop("backends.vendors.areca", None)


def test_a_vendor_that_has_bytecode_alone_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    areca = sys.modules["backends.vendors.areca"]
    monkeypatch.setattr(areca, "__file__", f"{areca.__file__}c")
    assert "areca" in {vendor.name for vendor in registry.own_vendors()}


def test_two_vendors_cannot_declare_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    vendors = tuple(registry.own_vendors())
    twice = replace(next(vendor for vendor in vendors if vendor.name == "areca"), name="again")
    monkeypatch.setattr(read_policy, "own_vendors", lambda: (*vendors, twice))
    with pytest.raises(ValueError, match="again declares a program"):
        read_policy._load_shapes()
