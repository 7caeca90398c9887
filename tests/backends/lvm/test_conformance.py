"""The rules of every backend, kept on volumes of each kind that the simulated LVM has."""

from __future__ import annotations

from itertools import count

import pytest

from backends.model import Target
from backends.protocol import Backend
from backends.simulator.host import SimulatedHost
from backends.simulator.lvm.volumes import LvmGroup, LvmVolume
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Clock, Rack
from backends.testing.conformance import Conformance
from backends.vendors.lvm.backend import Lvm
from tests.backends.lvm.machines import target
from tests.backends.simulator.asking import NOW

MIB = 1 << 20
LONG = pytest.mark.long


def volumes_rack(clock: Clock) -> Rack:
    """Return the rack with another group: a mirror of a hard disk and a drive, and a RAID 5."""
    rack = linux_rack(clock)
    rack.md.pop("md1")
    rack.lvm["r-1"] = LvmGroup(
        name="r-1",
        places=["sdc", "sdd", "sde"],
        volumes=[
            LvmVolume(name="mir", kind="raid1", size_bytes=64 * MIB, places=["sdc", "sdd"], number=20),
            LvmVolume(
                name="par",
                kind="raid5",
                size_bytes=64 * MIB,
                places=["sdc", "sdd", "sde"],
                number=30,
                stripe_bytes=65536,
            ),
        ],
    )
    return rack


def rack_of(group: str, clock: Clock) -> Rack:
    """Return the rack with only this group and what is below it: all else makes each scan slower."""
    rack = volumes_rack(clock)
    rack.lvm = {group: rack.lvm[group]}
    rack.md = {"md3": rack.md["md3"]}
    for devices in (rack.pools, rack.bcache, rack.caches, rack.pathed):
        devices.clear()
    return rack


class TestLvmOnTheRack(Conformance):
    """Time flies here, so that each flush and reshape is over before the next look."""

    @pytest.fixture
    async def backend(self, request: pytest.FixtureRequest) -> Backend:
        volume = request.node.callspec.params["targets"] if "targets" in request.fixturenames else "r-1/par"
        moments = count(NOW, 1e6)
        found = Lvm(SimulatedHost(rack_of(volume.split("/")[0], lambda: next(moments)), speed=1e9))
        await found.inventory()
        return found

    @pytest.fixture(params=["vg0/db", "vg0/mail", "vg0/spare", pytest.param("r-1/mir", marks=LONG), "r-1/par"])
    def targets(self, request: pytest.FixtureRequest) -> tuple[Target, ...]:
        return (target(request.param),)
