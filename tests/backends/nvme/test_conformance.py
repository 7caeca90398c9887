"""The rules of every backend on a played NVMe drive."""

from __future__ import annotations

import pytest

from backends.model import Target
from backends.protocol import Backend
from backends.testing.conformance import Conformance
from backends.vendors.nvme.backend import Nvme
from backends.vendors.nvme.sysfs import controller_target, namespace_target
from tests.backends.conformance import Destroying, DestroyingConformance
from tests.backends.nvme.drives import PlayedDrive

TARGETS = (controller_target("nvme0"), namespace_target("nvme0n1"))


class TestNvme(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return Nvme(PlayedDrive())

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return TARGETS


class TestNvmeWithoutCache(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return Nvme(PlayedDrive(vwc=0))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return TARGETS


class TestNvmeWithoutRoot(Conformance):
    @pytest.fixture
    def backend(self) -> Backend:
        return Nvme(PlayedDrive(root=False))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return TARGETS


class TestFormat(DestroyingConformance):
    @pytest.fixture
    def change(self) -> Destroying:
        host = PlayedDrive()
        return Destroying(
            host=host,
            backend=Nvme(host),
            target=TARGETS[1],
            key="lba_format",
            value="4096",
            node="nvme0n1",
            sets=lambda: host.sets,
        )
