"""The host of the rack: one machine, seen by every backend."""

from __future__ import annotations

import pytest

from backends.errors import NotFoundError, ToolFailedError, ToolMissingError, ToolTimeoutError
from backends.host import Command
from backends.model import Array, Inventory, Level, State
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import apply_states
from backends.simulator.programs import PATHS
from backends.topology import scan_topology
from tests.backends.simulator.asking import still_host, still_rack


@pytest.fixture
def host() -> SimulatedHost:
    return still_host()


async def inventory(host: SimulatedHost) -> Inventory:
    return await MachineBackends.of(host).probe()


def array(found: Inventory, address: str) -> Array:
    thing = found.find(f"megaraid:{address}")
    assert isinstance(thing, Array)
    return thing


async def test_it_says_that_it_is_simulated(host: SimulatedHost) -> None:
    assert (host.name, host.simulated, host.is_root) == ("rack-demo", True, True)


async def test_the_articles_machines_are_found_by_the_real_backends(host: SimulatedHost) -> None:
    found = await inventory(host)
    models = [controller.model for controller in found.controllers]
    assert models[:3] == [
        "LSI MegaRAID SAS 9280-24i4e",
        "AVAGO MegaRAID SAS 9361-8i",
        "Intel(R) RAID Controller RS2BL080",
    ]
    assert found.controllers[0].firmware == "2.120.43-1223"
    first = array(found, "/c0/v1")
    assert (first.level, first.strip_bytes, first.device, first.data_drives) == (Level.RAID5, 65536, "/dev/sdb", 2)
    assert len(array(found, "/c1/v0").members) == 6


async def test_the_lame_array_rebuilds_with_a_failed_battery(host: SimulatedHost) -> None:
    found = await inventory(host)
    lame = array(found, "/c2/v0")
    assert lame.state in (State.DEGRADED, State.REBUILDING)
    assert [task.kind for task in lame.tasks] == ["rebuild"]
    assert lame.tasks[0].progress == pytest.approx(0.37)
    protection = found.controllers[2].protection
    assert protection is not None
    assert protection.state == "failed"


async def test_arrays_are_matched_with_their_disks_and_what_uses_them(host: SimulatedHost) -> None:
    found = await inventory(host)
    assert "root" in {use.kind for use in array(found, "/c0/v0").uses}
    assert [use.detail for use in array(found, "/c2/v0").uses] == ["mounted on /srv/vm"]
    assert array(found, "/c0/v1").uses == ()


async def test_the_kernel_s_view_has_no_blind_spot(host: SimulatedHost) -> None:
    assert (await scan_topology(host, everywhere=True)).blind == ()


async def test_queue_settings_are_written_as_the_kernel_takes_them(host: SimulatedHost) -> None:
    base = "/sys/block/sdb/queue"
    await host.write(f"{base}/read_ahead_kb", "4096")
    assert await host.read(f"{base}/read_ahead_kb") == "4096"
    await host.write(f"{base}/scheduler", "mq-deadline")
    assert await host.read(f"{base}/scheduler") == "none [mq-deadline] kyber bfq"
    assert await host.read(f"{base}/nr_requests") == "256"
    with pytest.raises(ToolFailedError, match="Invalid argument"):
        await host.write(f"{base}/scheduler", "cfq")
    with pytest.raises(NotFoundError):
        await host.write("/sys/block/sdq/queue/scheduler", "none")


async def test_programs_are_found_where_their_packages_put_them(host: SimulatedHost) -> None:
    assert host.which(("storcli2", "storcli64")) == PATHS["storcli64"]
    assert host.which((PATHS["MegaCli64"],)) == PATHS["MegaCli64"]
    assert host.which(("ssacli", "/usr/bin/storcli64")) is None
    with pytest.raises(ToolMissingError):
        await host.run(Command(argv=("/usr/bin/ssacli",)))


async def test_a_read_that_takes_too_long_times_out(host: SimulatedHost) -> None:
    apply_states(host.rack, ["slow"])
    command = Command(argv=(PATHS["MegaCli64"], "-AdpAllInfo", "-a3", "-NoLog"), timeout=2.0)
    with pytest.raises(ToolTimeoutError):
        await host.run(command)


async def test_nothing_is_written_to_this_machine(host: SimulatedHost) -> None:
    await host.install("/etc/udev/rules.d/99-raidbench.rules", b"text", before=None)
    assert await host.read("/etc/udev/rules.d/99-raidbench.rules") == "text"
    await host.install("/etc/udev/rules.d/99-raidbench.rules", b"", before=b"text")
    assert await host.read("/etc/udev/rules.d/99-raidbench.rules") is None


async def test_folders_given_are_there_with_all_above_them() -> None:
    host = SimulatedHost(still_rack(), folders=("/srv/here",))
    kinds = [(await host.stat(path)) for path in ("/srv", "/srv/here", "/srv/there")]
    assert [None if kind is None else kind.kind for kind in kinds] == ["directory", "directory", None]
