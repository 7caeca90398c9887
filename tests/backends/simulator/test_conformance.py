"""The rules of every backend, kept by the real ones on the rack."""

from __future__ import annotations

import pytest

from backends.model import Target
from backends.protocol import Backend
from backends.testing.conformance import Conformance
from backends.vendors.block.backend import BlockBackend
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from tests.backends.simulator.asking import still_host


class TestMegaRaidOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return MegaRaid(still_host())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/c0"), volume_target("/c0", 1))


@pytest.mark.long
class TestMegaRaidOnTheDegradedCard(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return MegaRaid(still_host())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/c2"), volume_target("/c2", 0))


class TestMegaRaidByMegaCli(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return MegaRaid(still_host())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/c3"), volume_target("/c3", 0))


class TestBlockOnTheRack(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return BlockBackend(still_host())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return tuple(Target(backend="block", address=name) for name in ("sda", "sdb", "nvme0n1"))
