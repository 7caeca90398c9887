"""A recording of the second rack, as `raidbench capture` makes it, answers as the rack did."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from backends.host import Host
from backends.model import Inventory, Target
from backends.protocol import InventoryBackend
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.system.recorded import ReplayHost
from backends.testing.conformance import FindsConformance
from tests.backends.simulator.asking import FAST

VENDORS = ("block", "fusionio", "hba", "md", "scsi", "smartarray", "smcli")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hpe")
    words = ("--demo=hpe", "--demo-speed", "1000", "capture", str(folder / "machine"), "--with-legal-values")
    done = CliRunner(env={"RAIDBENCH_STATE_DIR": str(folder / "state")}).invoke(cli, words)
    assert done.exit_code == 0, done.output
    return folder / "machine"


class TestEveryBackendOnTheRecording(FindsConformance):
    @pytest.fixture(params=VENDORS)
    def backend(self, request: pytest.FixtureRequest, recording: Path) -> InventoryBackend:
        return MachineBackends.of(ReplayHost(recording)).backends[request.param]


def everything(found: Inventory) -> list[Target]:
    targets = [one.target for one in found.controllers] + [one.target for one in found.arrays]
    return targets + [one.target for one in found.drives]


async def found_on(host: Host) -> tuple[MachineBackends, Inventory]:
    machine = MachineBackends.of(host)
    return machine, await machine.probe()


async def test_every_setting_reads_as_it_did_on_the_rack(recording: Path) -> None:
    machine, found = await found_on(ReplayHost(recording))
    live, seen = await found_on(SimulatedHost(hpe_rack(), speed=FAST))
    targets = everything(found)
    assert set(targets) == set(everything(seen))
    assert {one.target: one.device for one in found.arrays} == {one.target: one.device for one in seen.arrays}
    read = 0
    for target in targets:
        recorded, now = await machine.read(target), await live.read(target)
        assert {key: one.now for key, one in recorded.items()} == {key: one.now for key, one in now.items()}
        read += len(recorded)
    assert read > 200


async def test_nothing_in_it_tells_which_rack_it_was(recording: Path) -> None:
    text = (recording / "machine.json").read_text()
    rack = hpe_rack()
    serials = [bay.serial for cards in rack.smart.values() for card in cards for bay in card.bays]
    named = [one.wwn for one in rack.pathed] + [one.wwn for one in rack.systems[0].volumes]
    assert [one for one in (*serials, *named) if one in text] == []
