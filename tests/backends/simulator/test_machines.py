"""The racks besides the first: what hangs together in them."""

from __future__ import annotations

import json

import pytest

from backends.model import Level
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.queueing_model import WorkloadTarget
from backends.simulator.rack import Rack
from backends.simulator.state_file import rack_data, rack_from_data


def layout(rack: Rack, name: str) -> WorkloadTarget:
    found = rack.layout(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize(
    ("name", "level", "drives", "write_back"),
    [
        ("sda", Level.RAID1, 2, True),
        ("sdb", Level.RAID10, 4, False),
        ("sdc", Level.RAID1, 2, True),
        ("sdd", Level.RAID5, 8, True),
        ("sde", Level.RAID5, 4, True),
        ("dm-0", Level.RAID5, 5, True),
        ("md0", Level.RAID0, 4, False),
    ],
)
def test_an_array_of_the_second_rack_has_the_speed_of_its_members(
    name: str, level: Level, drives: int, write_back: bool
) -> None:
    found = layout(hpe_rack(), name)
    assert (found.level, found.drives, found.write_back) == (level, drives, write_back)


def test_a_path_is_as_fast_as_the_disk_it_leads_to() -> None:
    rack = hpe_rack()
    assert layout(rack, "sdk") == layout(rack, "dm-0") != layout(rack, "sdl")


def test_four_striped_disks_hold_what_four_do() -> None:
    rack = hpe_rack()
    whole = 4 * layout(rack, "sdf").size_bytes
    assert 0.99 * whole < layout(rack, "md0").size_bytes < whole


def test_a_detached_module_is_no_device() -> None:
    rack = hpe_rack()
    rack.flash[0].attached = False
    assert rack.layout("fioa") is None


def test_the_second_rack_outlives_being_written_down() -> None:
    rack = hpe_rack()
    again = rack_from_data(json.loads(json.dumps(rack_data(rack))))
    assert rack_data(again) == rack_data(rack)
    assert (again.smart, again.systems, again.pathed) == (rack.smart, rack.systems, rack.pathed)
