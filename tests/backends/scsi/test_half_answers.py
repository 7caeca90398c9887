"""Half an answer of hdparm, sdparm or smartctl: what it does not tell is unknown, said so, and not changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.host import Host
from backends.model import Target
from backends.protocol import InventoryBackend
from backends.testing.truncation import TruncatedOutputTests, every_line
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.scsi.drives import Ata, DriveHost, Kind, Scsi
from tests.backends.scsi.test_conformance import SDA, SDB


def _machine() -> Host:
    drives: dict[str, Kind] = {"sda": Ata(acoustic=254), "sdb": Scsi(fixed=())}
    return DriveHost(drives, tools=("hdparm", "sdparm", "smartctl"))


class TestHalfOfADrivesTool(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return _machine

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return ScsiBackend

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return SDA, SDB


@pytest.mark.exhaustive
class TestEveryLineOfADrivesTool(TestHalfOfADrivesTool):
    places = staticmethod(every_line)
