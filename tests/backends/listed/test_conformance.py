"""The rules of every backend on a simulated 3ware card, and on what cli64 and mvcli say."""

from __future__ import annotations

import pytest

from backends.conformance import Conformance, FindsConformance
from backends.hosts.simulated.tw_cli import ThreewareDemo
from backends.model import Target
from backends.protocol import Backend, Finds
from backends.vendors.areca.backend import Areca
from backends.vendors.marvell.backend import Marvell
from backends.vendors.threeware.backend import Threeware
from backends.vendors.threeware.inventory import unit_target
from tests.backends.listed.texts import ARECA, MARVELL, PlayedUnit, Telling


class TestThreeware(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return Threeware(PlayedUnit())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (unit_target("c0", "u0"),)


class TestThreewareWithoutBattery(TestThreeware):
    @pytest.fixture
    def backend(self) -> Backend:
        return Threeware(PlayedUnit(ThreewareDemo(battery="-")))


class TestAreca(FindsConformance):
    @pytest.fixture
    def backend(self) -> Finds:
        return Areca(Telling("cli64", ARECA))


class TestMarvell(FindsConformance):
    @pytest.fixture
    def backend(self) -> Finds:
        return Marvell(Telling("mvcli", MARVELL))
