"""Storage controllers on the PCI bus, compared with those that tools report."""

from __future__ import annotations

import pytest

from backends.model import Controller, Scope, Target
from backends.pci import bus_controllers, find_unreported
from tests.backends.fakes import FakeHost


def bus(**functions: str) -> FakeHost:
    """Return a machine with these functions: `class vendor device driver` by the bus number."""
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    for number, words in functions.items():
        kind, vendor, device, driver = words.split()
        folder = f"/sys/bus/pci/devices/0000:{number.removeprefix('b')}:00.0"
        files |= {f"{folder}/class": kind, f"{folder}/vendor": vendor, f"{folder}/device": device}
        if driver != "-":
            links[f"{folder}/driver"] = f"/sys/bus/pci/drivers/{driver}"
    return FakeHost(files, links=links)


def controller(backend: str, pci: str | None = None) -> Controller:
    return Controller(target=Target(backend=backend, address="/c0", scope=Scope.CONTROLLER), vendor=backend, pci=pci)


RAID, SAS = "0x010400 0x1000 0x0016 megaraid_sas", "0x010700 0x1000 0x0097 mpt3sas"


async def left(host: FakeHost, *controllers: Controller) -> list[str]:
    return [card.address for card in find_unreported(await bus_controllers(host), controllers)]


async def test_a_controller_that_its_tool_does_not_report_is_left() -> None:
    two = bus(b3b=RAID, b5e=RAID)
    assert await left(two, controller("megaraid", "00:5e:00:00")) == ["0000:3b:00.0"]
    assert await left(two) == ["0000:3b:00.0", "0000:5e:00.0"]


@pytest.mark.parametrize("written", ["5e:00.00", "00:5e:00:00", "0:5e:0:0", "0000:5E:00.0"])
async def test_an_address_counts_however_the_tool_writes_it(written: str) -> None:
    assert await left(bus(b5e=RAID), controller("megaraid", written)) == []


async def test_a_controller_without_an_address_accounts_for_one_card() -> None:
    two = bus(b3b=RAID, b5e=RAID)
    assert await left(two, controller("megaraid")) == ["0000:5e:00.0"]
    assert await left(two, controller("megaraid"), controller("megaraid")) == []
    assert await left(two, controller("smartarray"), controller("smartarray")) == ["0000:3b:00.0", "0000:5e:00.0"]


async def test_what_the_kernel_says_of_a_controller_reports_an_adapter_and_no_raid_card() -> None:
    both = bus(b3b=SAS, b5e=RAID)
    assert await left(both, controller("hba", "0000:3b:00.0"), controller("hba", "0000:5e:00.0")) == ["0000:5e:00.0"]


async def test_an_nvme_boot_card_wants_its_own_tool_and_an_nvme_drive_none() -> None:
    host = bus(be5="0x010802 0x1b4b 0x2241 nvme", be6="0x010802 0x144d 0xa80a nvme")
    (card,) = find_unreported(await bus_controllers(host), ())
    assert (card.address, card.vendor) == ("0000:e5:00.0", "marvell")
    assert "mnv_cli" in card.advice
    assert await left(host, controller("marvell", "e5:00.00")) == []


@pytest.mark.parametrize("chipset", ["0x010400 0x8086 0x2826 ahci", "0x010700 0x15ad 0x07c0 vmw_pvscsi"])
async def test_a_chipset_or_a_virtual_adapter_wants_no_tool(chipset: str) -> None:
    assert await bus_controllers(bus(b00=chipset)) == ()


async def test_a_card_without_a_driver_is_known_by_its_maker() -> None:
    (card,) = await bus_controllers(bus(b17="0x010400 0x9005 0x028f -"))
    assert (card.driver, card.vendor) == (None, "smartarray")
