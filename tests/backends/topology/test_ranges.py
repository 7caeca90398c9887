"""Which devices may share a sector, by tables made by hand: what cannot be proven disjoint counts as shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import pytest

from backends.topology.device_mapper import parse_mapped
from backends.topology.loop_backing import Backing
from backends.topology.ranges import RangeMap
from backends.topology.tree import Node, tree_of

_GIB = 1 << 30
_SECTORS = _GIB // 512


class Machine:
    """Block devices by name, with the tables of device-mapper."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._nodes: dict[str, Node] = {}
        self._tables: dict[str, str] = {}
        self._backings: dict[str, Backing] = {}

    def add(
        self,
        name: str,
        *slaves: str,
        parent: str | None = None,
        sectors: int = _SECTORS,
        own: Mapping[str, str] | None = None,
    ) -> str:
        """Add a device with its own sysfs attributes; return its number."""
        number = f"250:{next(self._numbers)}"
        self._nodes[name] = Node(
            name=name, devno=number, size_bytes=sectors * 512, parent=parent, slaves=slaves, attributes=own or {}
        )
        return number

    def number(self, name: str) -> str:
        """Return the number of a device."""
        return self._nodes[name].devno or ""

    def part(self, name: str, start: int | None, sectors: int = 1000) -> str:
        """Add a partition of the disk that its name begins with."""
        own = {} if start is None else {"start": str(start)}
        return self.add(name, parent=name.rstrip("0123456789"), sectors=sectors, own=own)

    def dm(self, name: str, *lines: str, sectors: int = 1000, slaves: tuple[str, ...] = ()) -> str:
        """Add a target; each line of its table begins behind its name."""
        self._tables[name] = "".join(f"{name}: {line}\n" for line in lines)
        return self.add(name, *slaves, sectors=sectors, own={"dm/name": name})

    def loop(self, name: str, on: str, offset: int | None = 0, sectors: int = 1000) -> str:
        """Add a loop device on a block device; offset in bytes."""
        self._backings[name] = Backing(path=f"/dev/{on}", devno=self._nodes[on].devno)
        return self.add(name, sectors=sectors, own={} if offset is None else {"loop/offset": str(offset)})

    def layout(self, *, without_size: str = "") -> RangeMap:
        """Return the layers; the kernel does not say the size of the one that is named."""
        nodes = self._nodes.values()
        tree = tree_of(replace(node, size_bytes=None) if node.name == without_size else node for node in nodes)
        return RangeMap(tree, parse_mapped("".join(self._tables.values()), tree), self._backings)

    def meet(self, one: str, other: str) -> str | None:
        """Return where they meet; both directions have the same answer here."""
        layout = self.layout()
        found = layout.meeting(one, other)
        assert (found is None) == (layout.meeting(other, one) is None)
        return found


@pytest.fixture
def machine() -> Machine:
    made = Machine()
    made.add("sda")
    made.add("sdb")
    return made


@pytest.mark.parametrize(
    ("start", "meets"), [(0, True), (999, True), (1000, False), (5000, False), (None, True)], ids=str
)
def test_a_partition_and_a_target_meet_where_their_ranges_do(machine: Machine, start: int | None, meets: bool) -> None:
    number = machine.number("sda")
    machine.part("sda1", start)
    machine.dm("dm-0", f"0 1000 linear {number} 0")
    assert machine.meet("dm-0", "sda1") == ("sda" if meets else None)


@pytest.mark.parametrize(
    ("offset", "meets"), [(0, True), (999 * 512, True), (1000 * 512, False), (None, True)], ids=str
)
def test_a_loop_device_lies_behind_its_offset(machine: Machine, offset: int | None, meets: bool) -> None:
    machine.part("sda1", 0)
    machine.loop("loop0", "sda", offset)
    assert machine.meet("loop0", "sda1") == ("sda" if meets else None)


def test_a_loop_device_on_a_partition_lies_behind_both_starts(machine: Machine) -> None:
    machine.part("sda1", 5000, sectors=2000)
    machine.loop("loop0", "sda1", 1000 * 512)
    machine.part("sda2", 5000)
    machine.part("sda3", 6000)
    assert (machine.meet("loop0", "sda2"), machine.meet("loop0", "sda3")) == (None, "sda")


def test_two_volumes_on_an_array_are_divided_there_although_both_reach_every_member(machine: Machine) -> None:
    array = machine.add("md0", "sda", "sdb")
    machine.dm("dm-0", f"0 1000 linear {array} 0")
    machine.dm("dm-1", f"0 1000 linear {array} 1000")
    machine.dm("dm-2", f"0 1000 linear {array} 1999")
    assert machine.meet("dm-0", "dm-1") is None
    assert machine.meet("dm-1", "dm-2") == "md0"


def test_a_partition_of_a_member_meets_a_volume_on_the_array(machine: Machine) -> None:
    array = machine.add("md0", "sda", "sdb")
    machine.dm("dm-0", f"0 1000 linear {array} 0")
    machine.part("sdb1", 900_000)
    assert machine.meet("dm-0", "sdb1") == "sdb"


def test_an_array_on_partitions_does_not_meet_the_partitions_beside_them(machine: Machine) -> None:
    for disk in ("sda", "sdb"):
        machine.part(f"{disk}1", 0)
        machine.part(f"{disk}2", 1000)
    machine.add("md0", "sda2", "sdb2")
    assert machine.meet("md0", "sda1") is None
    machine.loop("loop0", "sdb2")
    assert machine.meet("md0", "loop0") == "sdb2"


def test_a_part_of_a_target_is_followed_sector_for_sector(machine: Machine) -> None:
    disk = machine.number("sda")
    lower = machine.dm("dm-0", f"0 500 linear {disk} 7000", f"500 500 linear {disk} 100")
    machine.dm("dm-1", f"0 400 linear {lower} 550", sectors=400)  # sectors 150 to 549 of the disk
    machine.part("sda1", 7000)
    machine.part("sda2", 100, sectors=50)
    machine.part("sda3", 549, sectors=1)
    machine.part("sda4", 550, sectors=50)
    found = {part: machine.meet("dm-1", part) for part in ("sda1", "sda2", "sda3", "sda4")}
    assert found == {"sda1": None, "sda2": None, "sda3": "sda", "sda4": None}


def test_stripes_and_whole_devices_are_not_followed_sector_for_sector(machine: Machine) -> None:
    one, two = machine.number("sda"), machine.number("sdb")
    lower = machine.dm("dm-0", f"0 1000 striped 2 128 {one} 0 {two} 0")
    machine.dm("dm-1", f"0 10 linear {lower} 0", sectors=10)
    machine.part("sda1", 400, sectors=10)
    machine.part("sda2", 500, sectors=10)
    assert (machine.meet("dm-1", "sda1"), machine.meet("dm-1", "sda2")) == ("sda", None)


def test_what_is_without_a_table_takes_all_of_what_is_below(machine: Machine) -> None:
    machine.dm("dm-0", slaves=("sda",))
    machine.part("sda1", 900_000)
    assert machine.meet("dm-0", "sda1") == "sda"


def test_volumes_of_one_thin_pool_do_not_meet_unless_they_are_one(machine: Machine) -> None:
    disk = machine.number("sda")
    pool = machine.dm("dm-0", f"0 1000 linear {disk} 0")
    for name, thin in (("dm-1", 1), ("dm-2", 2), ("dm-3", 1)):
        machine.dm(name, f"0 1000 thin {pool} {thin}")
    machine.dm("dm-4", f"0 1000 linear {pool} 0")
    machine.part("sda1", 10)
    assert machine.meet("dm-1", "dm-2") is None
    assert machine.meet("dm-1", "dm-3") == machine.meet("dm-1", "dm-4") == "dm-0"
    assert machine.meet("dm-1", "sda1") == "sda"


def test_devices_that_share_a_cache_or_a_pool_are_divided_by_it(machine: Machine) -> None:
    machine.add("sdc")
    machine.part("sdc1", 0)
    for pair in (("bcache0", "bcache1"), ("zd0", "zd16")):
        machine.add(pair[0], "sda", "sdc1")
        machine.add(pair[1], "sdb", "sdc1")
        assert machine.meet(*pair) is None
        machine.loop("loop0", "sdc1")
        assert machine.meet(pair[0], "loop0") == "sdc1"


VOLUME: Mapping[str, str] = {
    "md/metadata_version": "external:/md127/0",
    "md/reshape_position": "none",
    "md/dev-sda/size": "500",
}


def test_volumes_of_one_container_have_parts_of_the_same_disks(machine: Machine) -> None:
    machine.add("md126", "sda", own={**VOLUME, "md/dev-sda/offset": "0"})
    machine.add("md125", "sda", own={**VOLUME, "md/dev-sda/offset": "1000"})
    machine.add("md124", "sda", own={**VOLUME, "md/dev-sda/offset": "1999"})
    assert machine.meet("md126", "md125") is None
    assert machine.meet("md125", "md124") == "sda"


@pytest.mark.parametrize(
    "changed",
    [
        {"md/metadata_version": "1.2"},
        {"md/metadata_version": "external:imsm"},
        {"md/reshape_position": "4096"},
        {"md/dev-sda/size": "many"},
    ],
    ids=str,
)
def test_an_array_whose_part_is_not_certain_takes_all_of_the_disk(machine: Machine, changed: Mapping[str, str]) -> None:
    machine.add("md126", "sda", own={**VOLUME, "md/dev-sda/offset": "0"})
    machine.add("md125", "sda", own={**VOLUME, "md/dev-sda/offset": "1000", **changed})
    assert machine.meet("md126", "md125") == "sda"


def test_a_volume_of_a_pool_on_a_partition_does_not_meet_the_partition_beside_it(machine: Machine) -> None:
    machine.part("sda1", 0)
    machine.part("sda2", 1000)
    machine.add("zd0", "sda2")
    assert machine.meet("zd0", "sda1") is None
    machine.loop("loop0", "sda", 1999 * 512)
    assert machine.meet("zd0", "loop0") == "sda"


def test_a_part_of_a_target_that_ends_where_the_other_begins_has_nothing_of_it(machine: Machine) -> None:
    disk = machine.number("sda")
    lower = machine.dm("dm-0", f"0 500 linear {disk} 7000", f"500 500 linear {disk} 100")
    machine.dm("dm-1", f"0 500 linear {lower} 500", sectors=500)
    machine.part("sda1", 7000)
    assert machine.meet("dm-1", "sda1") is None


def test_a_device_of_unknown_size_takes_all_of_what_is_below(machine: Machine) -> None:
    machine.part("sda1", 0)
    machine.part("sda2", 5000)
    layout = machine.layout(without_size="sda2")
    assert layout.meeting("sda1", "sda2") == "sda"


def test_what_is_only_read_meets_nobody_and_is_met(machine: Machine) -> None:
    origin, store = machine.number("sda"), machine.number("sdb")
    machine.dm("dm-0", f"0 1000 snapshot {origin} {store} P 8")
    machine.part("sda1", 0)
    layout = machine.layout()
    assert layout.meeting("dm-0", "sda1") is None
    assert layout.meeting("sda1", "dm-0") == "sda"


def test_other_disks_do_not_meet(machine: Machine) -> None:
    machine.part("sda1", 0)
    machine.part("sdb1", 0)
    assert machine.meet("sda1", "sdb1") is machine.meet("sda", "sdb") is None


def test_a_cycle_in_a_recording_proves_nothing_and_ends(machine: Machine) -> None:
    machine.add("dm-8", "dm-9", "sda")
    machine.add("dm-9", "dm-8")
    machine.add("dm-7", "dm-7")
    machine.part("sda1", 0)
    assert machine.layout().meeting("dm-7", "sda1") == "dm-7"
    assert machine.layout().layers("dm-9") == {"dm-8", "dm-9", "sda"}
    assert machine.layout().meeting("dm-9", "sda1") is not None


def test_a_thousand_pieces_against_a_thousand_are_compared_in_order_not_in_pairs(machine: Machine) -> None:
    disk = machine.number("sda")
    for name, first in (("dm-0", 0), ("dm-1", 1)):
        lines = [f"{at} 1 linear {disk} {2 * at + first}" for at in range(1000)]
        machine.dm(name, *lines)
    machine.dm("dm-2", *(f"{at} 1 linear {disk} {2 * at + (at == 999)}" for at in range(1000)))
    assert machine.meet("dm-0", "dm-1") is None
    assert machine.meet("dm-0", "dm-2") == machine.meet("dm-1", "dm-2") == "sda"
