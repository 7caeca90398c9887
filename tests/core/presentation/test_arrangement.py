"""How devices are arranged for screen and text: each once, members under their arrays, in the order of addresses."""

from __future__ import annotations

from dataclasses import replace

from app.core.presentation.device_table import hidden_cells_text
from app.core.presentation.device_tree import DeviceTreeNode, address_sort_key, build_device_tree, state_reason
from app.core.presentation.table import Column, Row, Table
from backends.merge_inventory import join_views
from backends.model import Array, Controller, Drive, Fact, Inventory, Scope, State, Target, Task
from tests.case_loop import loop_over


def target(text: str, scope: Scope = Scope.DRIVE) -> Target:
    backend, _, address = text.partition(":")
    return Target(backend=backend, address=address, scope=Scope.ARRAY if backend == "md" else scope)


def drive(text: str, *, controller: str | None = None, state: State = State.ONLINE) -> Drive:
    where = None if controller is None else target(controller, Scope.CONTROLLER)
    return Drive(target=target(text), device=f"/dev/{text.partition(':')[2]}", controller=where, state=state)


def array(text: str, *members: str, state: State = State.OPTIMAL, controller: str | None = None, **facts: str) -> Array:
    where = None if controller is None else target(controller, Scope.CONTROLLER)
    return Array(
        target=target(text, Scope.ARRAY),
        device=f"/dev/{text.partition(':')[2]}",
        members=tuple(target(member) for member in members),
        state=state,
        controller=where,
        facts=tuple(Fact(label=label.replace("_", " "), value=value) for label, value in facts.items()),
    )


def test_cells_that_are_not_shown_are_named_once_and_empty_ones_not_at_all() -> None:
    columns = tuple(Column(title=key.capitalize(), key=key) for key in ("name", "strip", "model", "kind"))
    table = Table(columns=columns, rows=(Row(key="a", cells=("md0", "64K", "", "md")),))
    assert hidden_cells_text(table, "a", frozenset(("name",))) == "strip 64K · md"
    assert hidden_cells_text(table, "a", frozenset(("name", "strip", "kind"))) == ""
    assert hidden_cells_text(table, "b", frozenset()) == ""


def card(text: str) -> Controller:
    return Controller(target=target(text, Scope.CONTROLLER), vendor=text.partition(":")[0])


def shape(branches: tuple[DeviceTreeNode, ...]) -> list[object]:
    """Addresses, nested as the branches are."""
    return [[str(one.device.target), shape(one.below)] if one.below else str(one.device.target) for one in branches]


def seen(
    *, controllers: tuple[Controller, ...] = (), arrays: tuple[Array, ...] = (), drives: tuple[Drive, ...]
) -> list[object]:
    return shape(build_device_tree(join_views(Inventory(controllers=controllers, arrays=arrays, drives=drives))))


def test_a_disk_that_two_vendors_see_is_shown_once() -> None:
    assert seen(drives=(drive("block:nvme0n1"), drive("nvme:nvme0n1"))) == ["nvme:nvme0n1"]


def test_a_member_is_under_its_array_and_not_under_its_controller() -> None:
    disks = (drive("block:sda"), drive("scsi:sda", controller="hba:a"), drive("scsi:sdb", controller="hba:a"))
    found = seen(controllers=(card("hba:a"),), arrays=(array("md:md0", "block:sda"),), drives=disks)
    assert found == [["hba:a", ["scsi:sdb"]], ["md:md0", ["scsi:sda"]]]


def test_an_array_that_is_a_member_is_under_the_outer_one() -> None:
    arrays = (array("md:md1", "block:sda"), array("md:md0", "md:md1"))
    found = seen(arrays=arrays, drives=(drive("block:sda"), drive("block:md1"), drive("block:md0")))
    assert found == [["md:md0", [["md:md1", ["block:sda"]]]]]


def test_arrays_that_claim_each_other_are_shown_all_the_same() -> None:
    arrays = (array("md:md0", "md:md1"), array("md:md1", "md:md0"))
    assert seen(arrays=arrays, drives=()) == [["md:md0", ["md:md1"]]]


def test_trouble_moves_nothing_from_its_place() -> None:
    arrays = (array("md:md1", state=State.DEGRADED), array("md:md0"))
    assert seen(arrays=arrays, drives=()) == ["md:md0", "md:md1"]


def test_cards_are_in_the_order_of_their_numbers_whoever_answered_first() -> None:
    cards = tuple(card(f"megaraid:/c{number}") for number in (10, 2, 0))
    assert seen(controllers=cards, drives=()) == ["megaraid:/c0", "megaraid:/c2", "megaraid:/c10"]


def test_another_order_is_kept_within_each_place() -> None:
    disks = tuple(replace(drive(f"block:sd{name}"), size_bytes=size) for name, size in (("a", 1), ("b", 3), ("c", 2)))
    found = build_device_tree(Inventory(drives=disks), order=lambda one: -(one.size_bytes or 0))
    assert shape(found) == ["block:sdb", "block:sdc", "block:sda"]


@loop_over(
    ("before", "after"),
    [
        ("block:sdz", "block:sdaa"),
        ("block:sdb", "block:vda"),
        ("block:vdz", "block:nvme0n1"),
        ("block:nvme2n1", "block:nvme10n1"),
        ("megaraid:/c0/e245/s9", "megaraid:/c0/e245/s10"),
        ("megaraid:/c0/v1", "megaraid:/c1/v0"),
        ("hba:0000:02:00.0", "hba:0000:1f:00.0"),
        ("block:sda", "scsi:sdb"),
        ("scsi:sda", "block:sdb"),
    ],
)
def test_addresses_are_in_the_order_in_which_people_count(before: str, after: str) -> None:
    assert address_sort_key(target(before)) < address_sort_key(target(after))


def test_a_disk_in_two_arrays_is_under_the_first() -> None:
    arrays = (array("md:md0", "block:sda"), array("md:md1", "block:sda"))
    assert seen(arrays=arrays, drives=(drive("block:sda"),)) == [["md:md0", ["block:sda"]], "md:md1"]


def test_a_member_has_the_role_that_its_array_tells() -> None:
    found = build_device_tree(
        join_views(
            Inventory(
                arrays=(array("md:md0", "block:sda", Member_0="/dev/sda, in sync"),), drives=(drive("block:sda"),)
            )
        )
    )
    assert found[0].below[0].role == "in sync"


def test_an_array_that_is_missing_members_says_so() -> None:
    broken = replace(array("md:md0", state=State.DEGRADED), why="1 of 2 members missing")
    assert state_reason(broken) == "1 of 2 members missing"


def test_an_array_that_is_rebuilt_says_how_far() -> None:
    rebuilt = Array(
        target=target("md:md0", Scope.ARRAY), state=State.REBUILDING, tasks=(Task(kind="rebuild", progress=0.43),)
    )
    assert state_reason(rebuilt) == "rebuild 43 %"


def test_an_array_that_is_well_needs_no_reason() -> None:
    assert state_reason(array("md:md0", Array_state="active, being written")) == ""


def test_drives_are_in_the_kernels_order_whoever_has_them() -> None:
    disks = (drive("block:sda"), drive("block:vda"), drive("scsi:sda"))
    assert seen(drives=disks) == ["scsi:sda", "block:vda"]
