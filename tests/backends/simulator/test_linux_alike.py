"""The simulated Linux host answers as real Linux does: the same table is asked of the guest in the laboratory."""

from __future__ import annotations

import pytest

from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import NOW
from tests.linux_alike import KINDS, Place, unlike

PLACE = Place(
    disks={
        "array": "md3",
        "volume": "dm-10",
        "cached": "dm-5",
        "writecached": "dm-2",
        "bcache": "bcache0",
        "multipath": "dm-0",
        "zvol": "zd0",
    },
    volumes={"volume": "vg0/spare", "cached": "vg0/mail", "writecached": "vg0/db"},
    caches={"cached": "fastmail", "writecached": "fastdb"},
)


@pytest.fixture
def host() -> SimulatedHost:
    return SimulatedHost(linux_rack(lambda: NOW), speed=1e9)


async def test_the_simulated_host_tells_what_linux_tells(host: SimulatedHost) -> None:
    assert set(PLACE.disks) == set(KINDS)
    assert await unlike(host, PLACE) == {}


async def test_throttling_that_was_set_can_be_read_from_then_on(host: SimulatedHost) -> None:
    path = "/sys/block/md3/queue/wbt_lat_usec"
    assert (await host.read(path), await host.writable(path)) == (None, None)
    await host.write(path, "3000")
    assert await host.read(path) == "3000"
