"""The rules of every backend on the pool of the simulated rack."""

from __future__ import annotations

import pytest

from backends.model import Scope, Target
from backends.protocol import Backend
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from backends.testing.conformance import Conformance
from backends.vendors.zfs.backend import Zfs
from backends.vendors.zfs.inventory import MODULE, target_of
from tests.backends.simulator.asking import FAST


def pool_rack() -> Rack:
    """Return the rack with the pool and the system disk only: its other disks make each scan slower."""
    rack = linux_rack()
    for devices in (rack.md, rack.lvm, rack.bcache, rack.caches, rack.pathed):
        devices.clear()
    rack.nvme = {name: model for name, model in rack.nvme.items() if name in rack.lying}
    rack.sata = {name: model for name, model in rack.sata.items() if name in rack.lying}
    return rack


async def zfs(rack: Rack) -> Zfs:
    found = Zfs(SimulatedHost(rack, speed=FAST))
    await found.inventory()
    return found


class TestThePool(Conformance):
    @pytest.fixture
    async def backend(self) -> Backend:
        return await zfs(pool_rack())

    @pytest.fixture(params=["tank", pytest.param("tank/files", marks=pytest.mark.long), "tank/vm"])
    def targets(self, request: pytest.FixtureRequest) -> tuple[Target, ...]:
        return (target_of(request.param),)


class TestTheModule(Conformance):
    @pytest.fixture
    async def backend(self) -> Backend:
        return await zfs(pool_rack())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (MODULE,)


class TestReceivedValues(Conformance):
    """A value that came with a stream, and one that stands over it."""

    @pytest.fixture
    async def backend(self) -> Backend:
        rack = pool_rack()
        files = rack.pools["tank"].datasets["tank/files"]
        files.received |= {"compression": "zstd", "sync": "always"}
        files.values["sync"] = "standard"
        return await zfs(rack)

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (Target(backend="zfs", address="tank/files", scope=Scope.ARRAY),)
