"""The rules of every backend on a simulated disk system."""

from __future__ import annotations

import pytest

from backends.model import Target
from backends.protocol import Backend
from backends.simulator.smcli import DiskSystem
from backends.testing.conformance import Conformance
from backends.vendors.smcli.backend import Smcli
from backends.vendors.smcli.inventory import system_target, volume_target
from tests.backends.smcli.systems import PlayedSystem


class TestSmcli(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return Smcli(_FourSizes())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (system_target("DS4700_A"), volume_target("DS4700_A", "fast"))


class TestSmcliWithoutRoot(TestSmcli):
    @pytest.fixture
    def backend(self) -> Backend:
        return Smcli(PlayedSystem(root=False))


class TestSmcliWithoutBattery(TestSmcli):
    @pytest.fixture
    def backend(self) -> Backend:
        return Smcli(_FourSizes(DiskSystem(battery="Failed")))


class _FourSizes(PlayedSystem):
    """A model that takes cache blocks of 32 KiB, too."""

    def __init__(self, system: DiskSystem | None = None) -> None:
        super().__init__(system)
        self.system.blocks = (4, 8, 16, 32)
