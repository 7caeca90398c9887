"""The rules of every backend on simulated cards of each kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backends.model import Target
from backends.protocol import Backend, InventoryBackend
from backends.system.recorded import RecordingHost, ReplayHost
from backends.testing.conformance import Conformance, FindsConformance
from backends.vendors.smartarray.addresses import card_target, drive_target, volume_target
from backends.vendors.smartarray.backend import SmartArray
from tests.backends.smartarray.cards import HPE, SERIES, SMARTRAID, PlayedCards


class TestSmartArray(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return SmartArray(PlayedCards((HPE,)))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/slot0"), volume_target("/slot0", 1))


@pytest.mark.long
class TestADeadBattery(TestSmartArray):
    @pytest.fixture
    def backend(self) -> Backend:
        return SmartArray(PlayedCards((replace(HPE, battery="Failed (Replace Batteries)"),)))


class TestACardInHbaMode(TestSmartArray):
    @pytest.fixture
    def backend(self) -> Backend:
        return SmartArray(PlayedCards((replace(HPE, hba=True),)))


class TestACardWithACacheProblem(TestSmartArray):
    @pytest.fixture
    def backend(self) -> Backend:
        return SmartArray(PlayedCards((replace(HPE, cache_problem=True),)))


@pytest.mark.long
class TestSmartPath(TestSmartArray):
    @pytest.fixture
    def backend(self) -> Backend:
        volumes = tuple(replace(HPE.volumes[0], number=number, acceleration="path") for number in (1, 2))
        return SmartArray(PlayedCards((replace(HPE, volumes=volumes),)))


class TestSmartRaid(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return SmartArray(PlayedCards(adaptec=(SMARTRAID,)))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/arc1"), volume_target("/arc1", 1))


class TestSeries5(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return SmartArray(PlayedCards(adaptec=(SERIES,)))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/aac1"), volume_target("/aac1", 0), drive_target("/aac1", "0:2"))


class TestRecorded(FindsConformance):
    @pytest.fixture
    async def backend(self, tmp_path: Path) -> InventoryBackend:
        recording = RecordingHost(PlayedCards((HPE,), (SMARTRAID,)))
        live = SmartArray(recording)
        for controller in (await live.inventory()).controllers:
            await live.read(controller.target)
        recording.save(tmp_path / "machine")
        return SmartArray(ReplayHost(tmp_path / "machine"))

    async def test_it_reads_as_the_live_one_did(self, backend: SmartArray) -> None:
        live = SmartArray(PlayedCards((HPE,), (SMARTRAID,)))
        assert await backend.inventory() == await live.inventory()
        for target in (card_target("/slot0"), card_target("/arc1")):
            recorded = await backend.read(target)
            assert {key: one.now for key, one in recorded.items()} == {
                key: one.now for key, one in (await live.read(target)).items()
            }
