"""The rules of every backend on a played MegaRAID card."""

from __future__ import annotations

import pytest

from backends.model import Target
from backends.protocol import Backend
from backends.testing.conformance import Conformance
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from tests.backends.conformance import Destroying, DestroyingConformance
from tests.backends.megaraid.cards import PlayedCard


class TestMegaRaid(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return MegaRaid(PlayedCard())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/c0"), volume_target("/c0", 1))


@pytest.mark.long
class TestMegaRaidWithADeadBattery(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        host = PlayedCard(wrcache="wb", rdcache="ra")
        host.card["battery"] = "Failed"
        return MegaRaid(host)

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/c0"), volume_target("/c0", 1))


class TestDeletedAndMadeAgain(DestroyingConformance):
    @pytest.fixture
    def change(self) -> Destroying:
        host = PlayedCard()
        return Destroying(
            host=host,
            backend=MegaRaid(host),
            target=volume_target("/c0", 1),
            key="strip_size",
            value="262144",
            node="sdb",
            sets=lambda: host.sets,
        )
