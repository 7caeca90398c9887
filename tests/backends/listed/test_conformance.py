"""The rules of every backend on a simulated 3ware card, and on what cli64 and mvcli say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.host import Host
from backends.model import Target
from backends.protocol import Backend, InventoryBackend
from backends.testing.conformance import Conformance, FindsConformance
from backends.testing.truncation import TruncatedOutputTests, every_line
from backends.vendors.areca.backend import Areca
from backends.vendors.marvell.backend import Marvell
from backends.vendors.threeware.backend import Threeware
from backends.vendors.threeware.inventory import unit_target
from tests.backends.listed.texts import ARECA, MARVELL, PlayedUnit, Telling, threeware


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
        return Threeware(PlayedUnit(threeware(battery="-")))


class TestAreca(FindsConformance):
    @pytest.fixture
    def backend(self) -> InventoryBackend:
        return Areca(Telling("cli64", ARECA))


class TestMarvell(FindsConformance):
    @pytest.fixture
    def backend(self) -> InventoryBackend:
        return Marvell(Telling("mvcli", MARVELL))


class TestHalfOfThreeware(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return PlayedUnit

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return Threeware

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (unit_target("c0", "u0"),)


class TestHalfOfAreca(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return lambda: Telling("cli64", ARECA)

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return Areca


class TestHalfOfMarvell(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return lambda: Telling("mvcli", MARVELL)

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return Marvell


@pytest.mark.exhaustive
class TestEveryLineOfThreeware(TestHalfOfThreeware):
    places = staticmethod(every_line)


@pytest.mark.exhaustive
class TestEveryLineOfAreca(TestHalfOfAreca):
    places = staticmethod(every_line)


@pytest.mark.exhaustive
class TestEveryLineOfMarvell(TestHalfOfMarvell):
    places = staticmethod(every_line)
