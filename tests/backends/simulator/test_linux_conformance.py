"""The rules of every backend, kept on the rack without a RAID controller."""

from __future__ import annotations

from itertools import count

import pytest

from backends.model import Scope, Target
from backends.protocol import Backend, InventoryBackend
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.testing.conformance import Conformance, FindsConformance
from backends.vendors.bcache.backend import Bcache
from backends.vendors.block.backend import BlockBackend
from backends.vendors.dm.backend import Dm
from backends.vendors.hba.backend import HbaBackend
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.simulator.asking import FAST, NOW

pytestmark = pytest.mark.exhaustive


def host() -> SimulatedHost:
    return SimulatedHost(linux_rack(lambda: NOW), speed=FAST)


class TestMdRaidOnTheRack(Conformance):
    """Time flies here, so that each reshape is over before the next look."""

    @pytest.fixture
    async def backend(self) -> Backend:
        moments = count(NOW, 1e6)
        found = MdRaid(SimulatedHost(linux_rack(lambda: next(moments)), speed=FAST))
        await found.inventory()
        return found

    @pytest.fixture(params=["md0", "md1", "md2"])
    def targets(self, request: pytest.FixtureRequest) -> tuple[Target, ...]:
        return (Target(backend="md", address=request.param, scope=Scope.ARRAY),)


class TestBcacheOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return Bcache(host())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (Target(backend="bcache", address="bcache0", scope=Scope.ARRAY),)


class TestBlockOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return BlockBackend(host())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return tuple(Target(backend="block", address=name) for name in ("nvme0n1", "sda", "sdc", "sdg", "bcache0"))


class TestScsiOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return ScsiBackend(host())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return tuple(Target(backend="scsi", address=name) for name in ("sda", "sdc", "sdg"))


class TestDmOnTheRack(FindsConformance):
    @pytest.fixture
    def backend(self) -> InventoryBackend:
        return Dm(host())


class TestHbaOnTheRack(FindsConformance):
    @pytest.fixture
    def backend(self) -> InventoryBackend:
        return HbaBackend(host())


async def test_no_vendors_card_is_on_it() -> None:
    found = await MachineBackends.of(host()).probe()
    assert {one.target.backend for one in found.controllers} == {"hba", "zfs"}
    assert {one.target.backend for one in found.arrays} == {"bcache", "dm", "lvm", "md", "zfs"}
    assert found.problems == ()


async def test_two_paths_are_told_of_one_disk() -> None:
    found = await MachineBackends.of(host()).probe()
    paths = {one.paths for one in found.drives if one.paths}
    assert paths == {("/dev/sdg", "/dev/sdi"), ("/dev/sdh", "/dev/sdj")}
