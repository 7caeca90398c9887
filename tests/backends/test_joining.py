"""Putting together what several vendors saw of the same thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.identity import Identity, Use
from backends.merge_inventory import join_views
from backends.model import Array, Controller, Drive, Fact, Inventory, Media, Scope, State, Target

MOUNTED = (Use(kind="mount", detail="/srv", part="nvme0n1p1"),)
KERNELS = Drive(
    target=Target(backend="block", address="nvme0n1"),
    model="Example SSD",
    media=Media.NVME,
    size_bytes=10**12,
    state=State.ONLINE,
    device="/dev/nvme0n1",
    read_only=True,
    scheduler="none",
    identity=Identity(name="nvme0n1", serial="S1"),
    uses=MOUNTED,
    partitions=("nvme0n1p1",),
    facts=(Fact(label="NUMA node", value="0"), Fact(label="Path", value="pci")),
)
NAMESPACE = Drive(
    target=Target(backend="nvme", address="nvme0n1"),
    controller=Target(backend="nvme", address="nvme0", scope=Scope.CONTROLLER),
    model="Example SSD 980 PRO",
    serial="S1",
    device="/dev/nvme0n1",
    facts=(Fact(label="NUMA node", value="0 of 2"),),
)


def array(name: str, *members: str, device: str | None = None, **more: object) -> Array:
    parts = tuple(Target(backend="block", address=member) for member in members)
    found = Array(
        target=Target(backend="md", address=name, scope=Scope.ARRAY), device=device or f"/dev/{name}", members=parts
    )
    return replace(found, **more)  # type: ignore[arg-type]


def kernels(name: str, **more: object) -> Drive:
    return replace(Drive(target=Target(backend="block", address=name), device=f"/dev/{name}"), **more)  # type: ignore[arg-type]


def controller(backend: str, address: str, pci: str | None, **more: object) -> Controller:
    target = Target(backend=backend, address=address, scope=Scope.CONTROLLER)
    return replace(Controller(target=target, vendor=backend, pci=pci), **more)  # type: ignore[arg-type]


BUS = controller(
    "hba", "0000:03:00.0", "0000:03:00.0", driver="megaraid_sas 07.719", facts=(Fact(label="a", value="1"),)
)
CARD = controller("megaraid", "/c0", "0000:03:00.0", model="9361-8i", facts=(Fact(label="a", value="2"),))

BOTH = Inventory(drives=(KERNELS, NAMESPACE))


@pytest.mark.parametrize("field", ["size_bytes", "scheduler", "identity", "uses", "partitions", "read_only", "state"])
def test_what_a_vendors_drive_lacks_is_the_kernels(field: str) -> None:
    assert getattr(join_views(BOTH).drives[1], field) == getattr(KERNELS, field)


def test_what_the_vendor_says_itself_stands() -> None:
    assert join_views(BOTH).drives[1].model == "Example SSD 980 PRO"


def test_facts_of_a_label_are_the_vendors_and_the_others_the_kernels() -> None:
    assert [(fact.label, fact.value) for fact in join_views(BOTH).drives[1].facts] == [
        ("NUMA node", "0 of 2"),
        ("Path", "pci"),
    ]


def test_the_kernels_disk_learns_what_the_vendor_knows() -> None:
    twin = join_views(BOTH).drives[0]
    assert (twin.serial, twin.controller) == ("S1", NAMESPACE.controller)


def test_an_identity_is_never_changed() -> None:
    assert join_views(BOTH).drives[0].identity == KERNELS.identity


def test_an_array_learns_its_size_and_its_uses_of_its_disk() -> None:
    disk = kernels("md0", size_bytes=4096, uses=MOUNTED)
    found = join_views(Inventory(arrays=(array("md0"),), drives=(disk,))).arrays[0]
    assert (found.size_bytes, found.uses) == (4096, MOUNTED)


def test_members_are_known_by_their_vendors_address() -> None:
    found = join_views(Inventory(arrays=(array("md0", "nvme0n1", "sdz"),), drives=BOTH.drives))
    assert [str(member) for member in found.arrays[0].members] == ["nvme:nvme0n1", "block:sdz"]


def test_members_know_their_array_as_both() -> None:
    found = join_views(Inventory(arrays=(array("md0", "nvme0n1"),), drives=BOTH.drives))
    assert [str(drive.array) for drive in found.drives] == ["md:md0", "md:md0"]


def test_an_array_may_be_a_member() -> None:
    arrays = (array("md0", "md1"), array("md1", "sda"))
    found = join_views(Inventory(arrays=arrays, drives=(kernels("md1"), kernels("sda"))))
    assert [str(member) for member in found.arrays[0].members] == ["md:md1"]


def test_a_disk_with_a_partition_in_each_of_two_arrays_is_the_firsts() -> None:
    found = join_views(Inventory(arrays=(array("md0", "sda"), array("md1", "sda")), drives=(kernels("sda"),)))
    assert str(found.drives[0].array) == "md:md0"


def test_a_card_on_the_bus_is_the_one_its_tool_knows() -> None:
    found = join_views(Inventory(controllers=(BUS, CARD))).controllers
    assert [(str(one.target), one.driver) for one in found] == [("megaraid:/c0", "megaraid_sas 07.719")]


def test_what_the_tool_says_of_a_card_stands() -> None:
    assert join_views(Inventory(controllers=(BUS, CARD))).controllers[0].facts == CARD.facts


def test_what_hangs_from_a_card_on_the_bus_moves_to_the_one_its_tool_knows() -> None:
    disk = kernels("sda", controller=BUS.target)
    volume = array("v0", controller=BUS.target)
    found = join_views(Inventory(controllers=(BUS, CARD), arrays=(volume,), drives=(disk,)))
    assert {str(found.drives[0].controller), str(found.arrays[0].controller)} == {"megaraid:/c0"}


def test_cards_without_an_address_are_not_taken_for_each_other() -> None:
    cards = (controller("hba", "a", None), controller("megaraid", "/c0", None))
    assert len(join_views(Inventory(controllers=cards)).controllers) == 2


def test_a_card_that_no_tool_sees_stays_on_the_bus() -> None:
    assert join_views(Inventory(controllers=(BUS,))).controllers == (BUS,)


def test_joining_twice_is_joining_once() -> None:
    inventory = Inventory(
        controllers=(BUS, CARD), arrays=(array("md0", "nvme0n1"),), drives=(*BOTH.drives, kernels("md0"))
    )
    assert join_views(join_views(inventory)) == join_views(inventory)


def test_a_disk_is_the_twin_of_its_vendors_drive() -> None:
    assert BOTH.twins == {KERNELS.target}


def test_a_vendors_drive_is_the_twin_of_the_array_at_its_node() -> None:
    disk = replace(NAMESPACE, device="/dev/md0")
    found = Inventory(arrays=(array("md0"),), drives=(disk, kernels("md0")))
    assert {str(target) for target in found.twins} == {"nvme:nvme0n1", "block:md0"}


def test_drives_behind_a_card_without_nodes_are_nobodys_twins() -> None:
    nodeless = replace(NAMESPACE, device=None)
    assert Inventory(arrays=(replace(array("v0"), device=None),), drives=(nodeless,)).twins == frozenset()
