"""A recording of a machine with a disk system: it answers as the machine did, and nothing tells which one it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.session.redaction import identifiers, spellings
from backends.redaction import Redactor
from backends.simulator.smcli import DiskSystem
from backends.system.recorded import RecordingHost, ReplayHost
from backends.vendors.smcli.backend import Smcli
from tests.backends.smcli.systems import PlayedSystem

WWN = DiskSystem().volumes[0].wwn


@pytest.fixture
async def recording(tmp_path: Path) -> Path:
    host = RecordingHost(PlayedSystem())
    found = await Smcli(host).inventory()
    for target in [one.target for one in found.controllers] + [one.target for one in found.arrays]:
        await Smcli(host).read(target)
    host.save(
        tmp_path, Redactor(serials={one for each in identifiers(found) for one in spellings(each)}, patterns=False)
    )
    return tmp_path


@pytest.mark.parametrize(
    "secret",
    [
        DiskSystem().wwn,
        WWN,
        ":".join(WWN[at : at + 2] for at in range(0, 32, 2)),
        "1T8273014A",
        "1T8273014B",
        "13F0042ZK",
        "3KP00003",
        "20:00:00:14:c3:9f:4e:03",
    ],
)
async def test_no_serial_number_and_no_world_wide_name_is_in_it(recording: Path, secret: str) -> None:
    assert secret not in (recording / "machine.json").read_text(encoding="utf-8")


async def test_it_is_read_as_the_machine_was(recording: Path) -> None:
    found = await Smcli(ReplayHost(recording)).inventory()
    assert [(one.name, one.device) for one in found.arrays] == [("fast", "/dev/sdb")]
