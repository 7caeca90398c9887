"""The rules of every backend, kept on every target of the second rack."""

from __future__ import annotations

from itertools import count

import pytest

from backends.model import Scope, Target
from backends.protocol import Backend, InventoryBackend
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.rack import Clock, Rack
from backends.testing.conformance import Conformance, FindsConformance
from backends.vendors.block.backend import BlockBackend
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.hba.backend import HbaBackend
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.scsi.backend import ScsiBackend
from backends.vendors.smartarray.addresses import card_target, drive_target, volume_target
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smcli.backend import Smcli
from backends.vendors.smcli.inventory import system_target
from backends.vendors.smcli.inventory import volume_target as lun_target
from tests.backends.simulator.asking import FAST, NOW

pytestmark = pytest.mark.exhaustive


def still_hpe(clock: Clock = lambda: NOW) -> Rack:
    """The second rack, at a moment that does not pass; its DS4700 takes every size of a cache block."""
    rack = hpe_rack(clock)
    rack.systems[0].blocks = (4, 8, 16, 32)
    return rack


class TestSmartArrayOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return SmartArray(SimulatedHost(still_hpe(), speed=FAST))

    @pytest.fixture(params=["/slot0", "/aac1", "/arc2"])
    def targets(self, request: pytest.FixtureRequest) -> tuple[Target, ...]:
        card = request.param
        numbers = (1, 2, 3) if card == "/slot0" else (0,)
        drives = (drive_target(card, "0:3"),) if card == "/aac1" else ()
        return (card_target(card), *(volume_target(card, number) for number in numbers), *drives)


class TestSmcliOnTheRack(Conformance):
    """Time flies here, so that segments of another size are there before the next look."""

    @pytest.fixture
    def backend(self) -> Backend:
        moments = count(NOW, 1e6)
        return Smcli(SimulatedHost(still_hpe(lambda: next(moments)), speed=FAST))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (system_target("DS4700_A"), lun_target("DS4700_A", "fast"), lun_target("DS4700_A", "data"))


class TestFusionIoOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return FusionIo(SimulatedHost(still_hpe(), speed=FAST))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (Target(backend="fusionio", address="fioa"),)


class TestMdRaidOnTheRack(Conformance):
    """Time flies here, so that each reshape is over before the next look."""

    @pytest.fixture
    async def backend(self) -> Backend:
        moments = count(NOW, 1e6)
        found = MdRaid(SimulatedHost(hpe_rack(lambda: next(moments)), speed=FAST))
        await found.inventory()
        return found

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (Target(backend="md", address="md0", scope=Scope.ARRAY),)


class TestBlockOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return BlockBackend(SimulatedHost(still_hpe(), speed=FAST))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return tuple(Target(backend="block", address=name) for name in ("sdb", "sdd", "sdf", "fioa", "sdj"))


class TestScsiOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return ScsiBackend(SimulatedHost(still_hpe(), speed=FAST))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return tuple(Target(backend="scsi", address=name) for name in ("sdb", "sdd", "sdf"))


class TestHbaOnTheRack(FindsConformance):
    @pytest.fixture
    def backend(self) -> InventoryBackend:
        return HbaBackend(SimulatedHost(still_hpe(), speed=FAST))
