"""What is known for good while some still answer."""

from __future__ import annotations

from backends.model import Array, Controller, Drive, Inventory, Scope, Target
from backends.partial_inventory import LOCAL, PartialInventory, PartialInventoryListener
from backends.protocol import Vendor, placeholder_inventory
from backends.registry import MachineBackends, find_vendors
from backends.vendors.hba.tools import TOOLS
from tests.backends.fakes import FakeHost
from tests.case_loop import loop_over

AHCI = "0000:00:17.0"
CARD = "0000:03:00.0"
DISK = Drive(target=Target(backend="block", address="sda"), device="/dev/sda")
MD = Array(target=Target(backend="md", address="md0", scope=Scope.ARRAY), members=(DISK.target,))
BUS = Controller(target=Target(backend="hba", address=AHCI), vendor="intel", pci=AHCI)
RAID = Controller(target=Target(backend="acme", address="/c0"), vendor="acme", pci=CARD)
FOUND = Inventory(controllers=(BUS, RAID), arrays=(MD,), drives=(DISK,))

OF_KERNEL: tuple[tuple[Controller | Array | Drive, ...], ...] = ((BUS,), (MD, DISK), (DISK,))
"""Groups of which no vendor has told."""


def known(
    *waited_for: str, anywhere: bool = False, unread: str = "", way: str = "", found: Inventory = FOUND
) -> PartialInventory:
    """So much of the machine; `way`: the function through which its disk is reached."""
    return PartialInventory(
        inventory=found,
        waited_for=frozenset(waited_for),
        anywhere=anywhere,
        unread=frozenset({unread} - {""}),
        ways={"/dev/sda": frozenset({way} - {""})},
    )


def test_a_card_that_has_answered_is_settled_whoever_else_is_waited_for() -> None:
    assert known("smcli", anywhere=True).is_settled([RAID])


@loop_over("name", sorted(LOCAL))
def test_nothing_is_while_the_kernels_own_are_waited_for(name: str) -> None:
    assert [known(name).is_settled(group) for group in ((RAID,), *OF_KERNEL)] == [False] * 4


def test_a_card_that_is_being_read_is_not() -> None:
    (card,) = placeholder_inventory(RAID.target).controllers
    assert not known("acme").is_settled([card])


def test_an_array_of_the_kernel_is_where_its_disks_are_behind_no_card_that_is_waited_for() -> None:
    assert [known("acme", unread=CARD, way=way).is_settled([MD, DISK]) for way in (AHCI, CARD)] == [True, False]


def test_nothing_of_the_kernel_is_while_somebody_may_have_any_disk() -> None:
    assert [known("smcli", anywhere=True).is_settled(group) for group in OF_KERNEL] == [False] * 3


def test_a_disk_that_will_hang_from_a_controller_is_not_and_nor_is_that() -> None:
    assert [known("acme", way=AHCI).is_settled(group) for group in ([DISK], [BUS], [RAID])] == [False, False, True]
    assert not known("acme", way=CARD).is_settled([RAID])


def test_a_disk_behind_nothing_is() -> None:
    assert known("acme", unread=CARD).is_settled([DISK])


def test_a_bus_controller_that_a_tool_may_manage_is_not_until_its_card_has_answered() -> None:
    assert [known("acme", unread=card).is_settled([BUS]) for card in (AHCI, CARD)] == [False, True]


def test_the_other_path_of_a_disk_counts() -> None:
    two = Drive(target=DISK.target, device="/dev/sdx", paths=("/dev/sdx", "/dev/sda"))
    assert not known("acme", unread=CARD, way=CARD).is_settled([MD, two])


def test_each_vendor_names_the_drivers_of_the_cards_that_its_tool_manages() -> None:
    drivers = {vendor.name: vendor.drivers for vendor in find_vendors(plugins=()).vendors}
    managed = {driver: tool.backend for driver, tool in TOOLS.items() if tool.backend is not None}
    assert [driver for driver, name in managed.items() if driver not in drivers[name]] == []


async def test_cards_that_have_told_of_themselves_and_vendors_that_have_not_are_known() -> None:
    drivers = "/sys/bus/pci/drivers/acme_sas"
    vendors = [Vendor(name=name, backend=lambda _host: None, drivers=("acme_sas",)) for name in ("acme", "late")]  # type: ignore[arg-type, return-value]
    here = MachineBackends(FakeHost({f"{drivers}/{CARD}": "", f"{drivers}/0000:04:00.0": ""}), vendors)
    here.waited_for = frozenset({"acme", "late"})
    parts = PartialInventoryListener(here)
    second = Target(backend="acme", address="/c1")
    parts.add_part("acme:/c0", Inventory(controllers=(RAID,)))
    parts.add_part(str(second), placeholder_inventory(second))
    assert [one if isinstance(one, str) else one.target for one in parts.pending()] == [second, "late"]
    known = await parts.read_present()
    assert (known.unread, known.anywhere) == (frozenset({"0000:04:00.0"}), False)
    here.waited_for = frozenset()
    assert parts.pending() == ()
