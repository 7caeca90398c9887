"""What the engine does differently where the machine is simulated: it judges by the inventory and imagines files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.device_access import DeviceAccess
from app.core.benchmark.runner import BenchmarkRequest
from app.core.benchmark.scratch_manager import LocalScratchManager, SimulatedScratchManager, scratch_manager_for
from app.core.fio.job import Job
from app.core.session.events import RunStarted
from app.core.session.paths import Paths
from app.core.session.results import Phase, Sample
from app.core.session.state import ActiveRun
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.errors import InvalidValueError, NotFoundError, RefusedError
from backends.guard import Intent
from backends.simulator.host import SimulatedHost
from backends.system.local import LocalHost
from backends.vendors.block.backend import BlockBackend
from tests.backends.simulator.asking import still_host


@pytest.fixture
def host() -> SimulatedHost:
    return still_host()


@pytest.fixture
def gate(host: SimulatedHost) -> DeviceAccess:
    return DeviceAccess(host, BlockBackend(host).inventory)


async def test_a_blank_simulated_disk_may_be_written_to(gate: DeviceAccess) -> None:
    judgement = await gate.judge("/dev/sdb", writes=True)
    assert judgement.intent is Intent.WRITE
    assert judgement.refused == ()
    async with gate.hold(judgement, None) as held:
        assert held.path == "/dev/sdb"


async def test_what_lies_on_it_must_be_confirmed(gate: DeviceAccess) -> None:
    judgement = await gate.judge("/dev/sdc", writes=True)
    assert judgement.verdict.confirm_text == "a66d13"  # the end of its WWN
    with pytest.raises(RefusedError):
        async with gate.hold(judgement, None):
            pass
    async with gate.hold(judgement, "a66d13") as held:
        assert held.path == "/dev/sdc"


@pytest.mark.parametrize("device", ["/dev/sda", "/dev/sdd"])
async def test_what_is_in_use_is_never_written_to(gate: DeviceAccess, device: str) -> None:
    assert (await gate.judge(device, writes=True)).refused
    assert not (await gate.judge(device, writes=False)).refused


async def test_a_partition_cannot_be_made_sure_of(gate: DeviceAccess) -> None:
    assert (await gate.judge("/dev/sdd1", writes=True)).refused


async def test_no_such_device(gate: DeviceAccess) -> None:
    with pytest.raises(NotFoundError):
        await gate.judge("/dev/sdz", writes=False)


def test_files_are_imagined_where_the_machine_is(host: SimulatedHost) -> None:
    assert not scratch_manager_for(host).real
    assert isinstance(scratch_manager_for(LocalHost()), LocalScratchManager)


async def test_an_imagined_file_lies_on_what_is_mounted_there(host: SimulatedHost) -> None:
    scratching = SimulatedScratchManager(host)
    plan = await scratching.plan("/srv/vm", None, writes=True)
    assert (str(plan.path), plan.size, plan.own, plan.fill) == ("/srv/vm/raidbench-scratch.dat", 1 << 30, True, True)
    assert await scratching.filesystem_number(plan) == await host.read("/sys/block/sdd/sdd1/dev")
    other = await scratching.plan("/tmp/new.dat", 4096, writes=False)
    assert await scratching.filesystem_number(other) == await host.read("/sys/block/sda/sda2/dev")


@pytest.mark.parametrize("where", ["/no/such/folder/file", "/dev/sdq", "/proc/x", "/sys/y"])
async def test_there_is_no_file_where_there_is_no_folder(host: SimulatedHost, where: str) -> None:
    with pytest.raises(InvalidValueError):
        await SimulatedScratchManager(host).plan(where, None, writes=False)


async def test_a_run_on_a_scratch_file_leaves_nothing_anywhere(host: SimulatedHost, tmp_path: Path) -> None:
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(host, paths=paths, advisor=advise)
    await bench.open()
    ready = await bench.jobs.prepare(
        BenchmarkRequest(where="/srv/vm", name="file", job=Job(runtime=2, ramp=0, size=1 << 28))
    )
    record = await bench.jobs.measure(ready)
    bench.close()
    assert record.start.simulated
    assert record.start.scratch is None
    assert record.figures.read is not None
    assert host.rack.scratch == {}


async def test_a_run_on_an_array_knows_the_cards_settings_and_the_kernels(host: SimulatedHost, tmp_path: Path) -> None:
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(host, paths=paths, advisor=advise)
    await bench.open()
    ready = await bench.jobs.prepare(BenchmarkRequest(where="/dev/sdb", name="array", job=Job(runtime=2, ramp=0)))
    settings = (await bench.jobs.measure(ready)).start.settings
    bench.close()
    assert (settings["write_cache"], settings["read_ahead"]) == ("write-through", "none")
    assert {"strip_size", "nr_requests", "read_ahead_kb"} <= settings.keys()


def test_a_sped_up_run_counts_its_own_time() -> None:
    start = RunStarted(
        at=100.0,
        id="r1",
        target="x",
        device=None,
        profile=None,
        job={},
        title="",
        planned_seconds=70.0,
        settings={},
        destructive=False,
        found=(),
        fio_version="3.33",
        simulated=True,
    )
    sample = Sample(at=42.0, seconds=0.25, phase=Phase.MEASURING, read=None, write=None, stalled=False)
    run = ActiveRun(start=start, phase=Phase.MEASURING, phase_since=100.0, samples=(sample,))
    assert run.passed(103.0) == 42.0
    assert replace(run, start=replace(start, simulated=False)).passed(103.0) == 3.0
    assert replace(run, phase=Phase.STOPPING).passed(103.0) == 3.0
