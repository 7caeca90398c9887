"""Racks of any size."""

from __future__ import annotations

import pytest

from backends.simulator.host import SimulatedHost
from backends.simulator.programs import PATHS
from backends.vendors.megaraid.storcli import StorCli7
from tests.backends.simulator.asking import FAST, NOW
from tests.backends.simulator.racks import rack_of
from tests.bench.inventory import reading


@pytest.mark.long
async def test_the_largest_rack_is_read_at_once() -> None:
    assert min(await reading(4, 24, 64, rounds=3)) < 1.0  # against the absurd; `make bench` holds it to 0.1


async def test_all_of_the_largest_rack_is_read() -> None:
    dialect = StorCli7(SimulatedHost(rack_of(4, 24, 64, lambda: NOW), speed=FAST), PATHS["storcli64"])
    found = await dialect.read(3)
    assert (len(found.drives), len(found.volumes)) == (24, 64)
    assert found.problems == ()


async def test_every_volume_of_the_largest_rack_has_a_disk_of_its_own() -> None:
    host = SimulatedHost(rack_of(4, 24, 64, lambda: NOW), speed=FAST)
    names = {volume.device for _, volume in host.rack.volumes()}
    numbers = [await host.read(f"/sys/block/{name}/dev") for name in names]
    assert len(names) == len(set(numbers)) == 256
