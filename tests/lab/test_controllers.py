"""Controllers for real: what lspci and lsscsi say too, and a MegaRAID card asked through its driver."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.options import Options
from app.cli.session_context import host_of
from backends.model import Array, Controller, Inventory, Level, State
from backends.registry import MachineBackends, find_vendors
from backends.system.local import LocalHost
from tests.lab.disks import Disks
from tests.lab.results import Results
from tests.lab.running import run

NODE = Path("/dev/megaraid_sas_ioctl_node")
DISKS_THEMSELVES = ("1af4:1001", "1af4:1042")
"""Virtio disks are a function each and no controller."""
CONCERNED = ("block", "hba", "megaraid")
STORAGE = ("0100", "0104", "0106", "0107")


@pytest.fixture
def node() -> Iterator[Path]:
    """The driver's node, as the vendor's tools would make it."""
    found = re.search(r"^ *(\d+) megaraid_sas_ioctl$", Path("/proc/devices").read_text(), re.MULTILINE)
    if found is None:
        pytest.skip("the machine has no MegaRAID card")
    made = not NODE.exists()
    if made:
        os.mknod(NODE, 0o600 | 0o020000, os.makedev(int(found[1]), 0))
    yield NODE
    if made:
        NODE.unlink()


async def probed(*, ask: bool) -> Inventory:
    """What the backends see that know of controllers; the others' tools take the emulated machine seconds."""
    host = LocalHost(firmware_queries=ask)
    return await MachineBackends(host, (one for one in find_vendors().vendors if one.name in CONCERNED)).probe()


def card(found: Inventory) -> Controller:
    return next(one for one in found.controllers if (one.driver or "").startswith("megaraid_sas"))


async def test_every_controller_of_lspci_is_there(table: Results) -> None:
    listed = (line.split() for line in run("lspci", "-D", "-n").splitlines())
    wanted = {
        address for address, kind, ids, *_ in listed if kind.rstrip(":") in STORAGE and ids not in DISKS_THEMSELVES
    }
    found = {one.pci for one in (await probed(ask=False)).controllers if one.target.backend == "hba"}
    assert found == wanted
    table.add(
        "Machine",
        "controllers",
        "every storage controller that lspci lists is found, and no other",
        str(len(found)),
        ok=True,
    )


async def test_disks_hang_from_the_controller_that_lsscsi_names(disks: Disks) -> None:
    found = await probed(ask=False)
    owners = {drive.device: str(drive.controller) for drive in found.drives if drive.target.backend == "block"}
    for disk in (disks["sata0"], disks["scsi0"], disks["mega0"]):
        path = os.path.realpath(disk.sysfs)
        assert owners[disk.device].removeprefix("hba:") in path


async def test_without_its_node_a_card_is_not_asked_and_no_node_is_made() -> None:
    if NODE.exists():
        pytest.skip("the node is there")
    found = await probed(ask=True)
    assert card(found).serial is None
    assert not NODE.exists()


async def test_a_card_says_what_it_is(node: Path, table: Results) -> None:
    found = card(await probed(ask=True))
    assert (found.model, found.serial) == ("LSI MegaRAID SAS 9260-8i", "LABMEGARAID")
    table.add(
        "Machine",
        "controllers",
        "a MegaRAID card without storcli tells product and serial number",
        str(found.serial),
        ok=True,
    )


async def test_its_arrays_are_the_kernels_disks(node: Path, disks: Disks, table: Results) -> None:
    found = await probed(ask=True)
    arrays: dict[str | None, Array] = {array.device: array for array in found.arrays if array.target.backend == "hba"}
    wanted = {disks[f"mega{number}"].device for number in range(4)}
    assert set(arrays) == wanted
    assert {(one.level, one.state, one.strip_bytes) for one in arrays.values()} == {(Level.RAID0, State.OPTIMAL, 4096)}
    assert all(len(one.members) == 1 for one in arrays.values())
    table.add(
        "Machine",
        "controllers",
        "its arrays are found with level, state, strip, member and disk",
        str(len(arrays)),
        ok=True,
    )


async def test_asked_twice_it_answers_the_same(node: Path) -> None:
    assert card(await probed(ask=True)) == card(await probed(ask=True))


async def test_switched_off_it_is_not_asked(node: Path, tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("firmware_queries = false\n")
    host = host_of(Options(config=settings))
    asking = host.firmware
    assert asking is not None
    assert not asking.firmware_queries
    assert not [one for one in (await MachineBackends.of(host).probe()).arrays if one.target.backend == "hba"]
