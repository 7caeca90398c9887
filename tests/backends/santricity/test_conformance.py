"""The rules of every backend on simulated web services: by hand, and over a socket of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.model import Scope, Target
from backends.protocol import Backend
from backends.system.https.host import WebHost
from backends.testing.conformance import Conformance
from backends.vendors.santricity.backend import Santricity
from tests.backends.fakes import FakeHost, disk, machine
from tests.backends.santricity.services import WWN, PlayedServer, PlayedServices, PlayedWeb

FAST = Target(backend="santricity", address="lab/array1/fast", scope=Scope.ARRAY)


class TestSantricity(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return Santricity(PlayedWeb())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (FAST,)


class TestSantricityWithoutBattery(TestSantricity):
    @pytest.fixture
    def backend(self) -> Backend:
        return Santricity(PlayedWeb(PlayedServices(battery="failed")))


class TestSantricityOverASocket(TestSantricity):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Iterator[Backend]:
        with PlayedServer(PlayedServices()).running() as server:
            inner = FakeHost(machine(disk("sdb", devno="8:16", device__wwid=f"naa.{WWN}")))
            yield Santricity(WebHost(inner, (server.door(tmp_path),)))

    @pytest.mark.long
    async def test_a_forged_log_adds_no_step(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        await super().test_a_forged_log_adds_no_step(backend, targets)

    @pytest.mark.long
    async def test_values_are_accepted_as_they_are_shown(self, backend: Backend, targets: tuple[Target, ...]) -> None:
        await super().test_values_are_accepted_as_they_are_shown(backend, targets)

    @pytest.mark.long
    async def test_undo_does_not_need_to_understand_the_present_value(
        self, backend: Backend, targets: tuple[Target, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await super().test_undo_does_not_need_to_understand_the_present_value(backend, targets, monkeypatch)
