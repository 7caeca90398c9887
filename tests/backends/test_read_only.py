"""In read-only mode no vendor's tool changes anything, by whatever step: each command that does is marked as such."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.errors import RaidbenchError, RefusedError
from backends.host import Host
from backends.model import Target
from backends.protocol import Backend
from backends.system.wrapped import ReadOnlyHost
from backends.testing.conformance import candidates
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.megaraid.addresses import volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.nvme.backend import Nvme
from backends.vendors.nvme.sysfs import controller_target, namespace_target
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.mdraid.machines import MD0, MdHost, array
from tests.backends.megaraid.cards import PlayedCard
from tests.backends.nvme.drives import PlayedDrive
from tests.backends.scsi.drives import Ata, DriveHost, Scsi

SDA, SDB = Target(backend="scsi", address="sda"), Target(backend="scsi", address="sdb")
MACHINES: dict[str, tuple[Callable[[Host], Backend], Callable[[], Host], tuple[Target, ...]]] = {
    "mdraid": (MdRaid, lambda: MdHost(array("raid5")), (MD0,)),
    "megaraid": (MegaRaid, PlayedCard, (volume_target("/c0", 1),)),
    "nvme": (Nvme, PlayedDrive, (controller_target("nvme0"), namespace_target("nvme0n1"))),
    "scsi": (
        ScsiBackend,
        lambda: DriveHost({"sda": Ata(acoustic=254), "sdb": Scsi(fixed=())}, tools=("hdparm", "sdparm", "smartctl")),
        (SDA, SDB),
    ),
}


@pytest.mark.parametrize("vendor", MACHINES)
async def test_every_change_by_a_tool_is_refused_in_read_only_mode(vendor: str) -> None:
    backend_on, machine, targets = MACHINES[vendor]
    host = machine()
    plain, shut = backend_on(host), backend_on(ReadOnlyHost(host))
    refused = 0
    for target in targets:
        await plain.inventory()
        await shut.inventory()
        for key, reading in (await plain.read(target)).items():
            for value in candidates(reading) if reading.availability.available else ():
                change = await plain.plan(target, key, value)
                if value != reading.now and change.writes[0].path is None:
                    with pytest.raises(RaidbenchError, match="Read-only mode") as caught:
                        await shut.apply(change)
                    assert isinstance(caught.value, RefusedError), f"{key}={value}"
                    refused += 1
    assert refused > 1
