"""The rules of every backend, and of every change that destroys data, on a simulated ioMemory card."""

from __future__ import annotations

import pytest

from backends.model import Target
from backends.protocol import Backend
from backends.testing.conformance import Conformance
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.fusionio.inventory import drive_target
from tests.backends.conformance import Destroying, DestroyingConformance
from tests.backends.fusionio.cards import PlayedCard


class TestIoMemory(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return FusionIo(PlayedCard())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (drive_target("fioa"),)


class TestSectorSize(DestroyingConformance):
    @pytest.fixture
    def change(self) -> Destroying:
        host = PlayedCard()
        return Destroying(
            host=host,
            backend=FusionIo(host),
            target=drive_target("fioa"),
            key="sector_size",
            value="4096",
            node="fioa",
            sets=lambda: host.ran,
        )
