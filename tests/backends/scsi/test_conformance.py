"""The rules for every backend, on SATA and SAS disks with and without their tools."""

from __future__ import annotations

import pytest

from backends.model import Target
from backends.testing.conformance import Conformance
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.scsi.drives import Ata, DriveHost, Kind, Scsi, Volume

SDA = Target(backend="scsi", address="sda")
SDB = Target(backend="scsi", address="sdb")
SDC = Target(backend="scsi", address="sdc")


class TestConformance(Conformance):
    @pytest.fixture(params=["all tools", "no tool"])
    def backend(self, request: pytest.FixtureRequest) -> ScsiBackend:
        tools = ("hdparm", "sdparm", "smartctl") if request.param == "all tools" else ()
        drives: dict[str, Kind] = {
            "sda": Ata(acoustic=254),
            "sdb": Scsi(fixed=()),
            "sdc": Volume(),
            "sdd": Ata(libata=False),
        }
        return ScsiBackend(DriveHost(drives, tools=tools))

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return SDA, SDB, SDC, Target(backend="scsi", address="sdd")
