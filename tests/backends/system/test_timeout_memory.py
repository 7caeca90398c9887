"""One disk that does not answer takes nothing else with it: what is asked, for how long, and what is still told.

No clock on the wall: the loop's time passes only when everything waits, so the seconds are those of the time-outs.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.errors import RaidbenchError, ToolTimeoutError
from backends.guard import Intent, judge_device
from backends.host import STALL, Command, Completed
from backends.model import Array, Inventory, State
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.system.local.command import REAP
from backends.system.local.stalls import PACE
from backends.system.timeout_memory import AGAIN, UnresponsiveDeviceCache
from backends.system.wrapped import HostWrapper
from backends.vendors.lvm.lvs import SOON
from tests.backends.fakes import FakeHost
from tests.backends.lvm.machines import target as volume
from tests.backends.passing import counted

MOST = 15.0
"""Seconds that a look may take on a machine with one silent disk."""


class Noting(HostWrapper):
    """Notes what is asked."""

    def __init__(self, disk: str | None) -> None:
        rack = linux_rack()
        rack.states = [f"hung:{disk}"] if disk else []
        super().__init__(SimulatedHost(rack))
        self.asked: list[tuple[str, ...]] = []

    async def run(self, command: Command) -> Completed:
        self.asked.append(command.argv)
        return await super().run(command)

    def names(self) -> list[str]:
        return [argv[0].rsplit("/", 1)[-1] for argv in self.asked]


def looked(disk: str | None) -> tuple[Inventory, float, Noting]:
    host = Noting(disk)
    found, seconds = counted(lambda: MachineBackends.of(host).probe())
    return found, seconds, host


def by_name(found: Inventory) -> dict[str, Array]:
    return {one.name or "": one for one in found.arrays}


@pytest.fixture(scope="module")
def sound() -> Inventory:
    return looked(None)[0]


# -- a disk that nothing else needs ------------------------------------------------------------------------------------


def test_a_silent_disk_leaves_everything_else_as_it_is(sound: Inventory) -> None:
    found, seconds, _ = looked("sde")
    assert seconds <= MOST
    assert found.arrays == sound.arrays
    assert found.drives == sound.drives


def test_the_silent_disk_is_named_in_one_sentence() -> None:
    found, _, _ = looked("sde")
    told = [one for one in found.problems if "sde" in one.message]
    assert len(told) == 1
    assert "lvs made no progress for 10 s: /dev/sde has completed no" in told[0].message


def test_lvs_is_asked_once_and_then_without_the_disk() -> None:
    _, _, host = looked("sde")
    asked = [argv for argv in host.asked if argv[0].endswith("/lvs")]
    assert ["--config" in argv for argv in asked] == [False, True]
    assert 'devices/filter=["r|^/dev/sde$|","r|^/dev/md1$|"]' in asked[1]


def test_every_part_of_a_look_together_waits_once() -> None:
    host = Noting("sde")

    async def everything() -> tuple[bool, str | None]:
        here = MachineBackends.of(host)
        found = await here.probe()
        again = await here.probe()
        values = await here.read(volume("vg0/spare"))
        await judge_device(here.host, "/dev/dm-10", Intent.WRITE)
        return found.arrays == again.arrays, values["lv_read_ahead"].now

    (same, ahead), seconds = counted(everything)
    assert same
    assert ahead == "auto"
    assert seconds <= MOST
    assert sum("--config" not in argv for argv in host.asked if argv[0].endswith("/lvs")) == 1


def test_nothing_is_changed_that_would_wait_for_the_disk() -> None:
    async def plan() -> str:
        here = MachineBackends.of(Noting("sde"))
        await here.probe()
        with pytest.raises(RaidbenchError) as refused:
            await here.setter(volume("vg0/spare")).plan(volume("vg0/spare"), "lv_read_ahead", "none")
        return refused.value.message

    words, seconds = counted(plan)
    assert "lvchange would hang" in words
    assert "/dev/sde" in words
    assert seconds <= MOST


def test_both_times_that_lvs_may_get_nowhere_are_within_the_time_of_a_look() -> None:
    assert STALL + SOON + 2 * (PACE + REAP) <= MOST


# -- a disk that others lie on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("disk", ["nvme3n1", "sdk"])
def test_volumes_on_the_silent_disk_keep_name_size_and_node_and_say_why_the_rest_is_unknown(
    sound: Inventory, disk: str
) -> None:
    found, seconds, _ = looked(disk)
    assert seconds <= MOST
    for name, before in by_name(sound).items():
        now = by_name(found)[name]
        assert (now.device, now.size_bytes) == (before.device, before.size_bytes)
        if name.startswith("vg0/"):
            assert now.state is State.UNKNOWN
            assert f"/dev/{disk} has completed no" in now.why
        else:
            assert now == before


def test_a_volume_of_which_nothing_is_known_is_not_said_to_be_gone() -> None:
    async def read() -> ToolTimeoutError:
        here = MachineBackends.of(Noting("nvme3n1"))
        with pytest.raises(ToolTimeoutError) as error:
            await here.read(volume("vg0/mail"))
        return error.value

    error, seconds = counted(read)
    assert "/dev/nvme3n1" in error.message
    assert seconds <= MOST


def test_a_pool_with_a_silent_disk_stays_in_the_list_with_its_volumes(sound: Inventory) -> None:
    found, seconds, _ = looked("sdn")
    assert seconds <= MOST
    pool, zvol = by_name(found)["tank"], by_name(found)["tank/vm"]
    assert "/dev/sdn" in pool.why
    assert (zvol.device, zvol.size_bytes) == ("/dev/zd0", by_name(sound)["tank/vm"].size_bytes)
    assert by_name(found)["vg0/mail"] == by_name(sound)["vg0/mail"]


def test_what_lies_on_a_silent_disk_counts_as_unknown_and_the_disk_is_asked_once() -> None:
    host = Noting("sdf")

    async def judge() -> tuple[str, ...]:
        facts, _ = await judge_device(UnresponsiveDeviceCache(host), "/dev/sdf", Intent.WRITE)
        return tuple(one.kind for one in facts.signatures)

    kinds, seconds = counted(judge)
    assert "unknown" in kinds
    assert seconds <= MOST
    assert host.names().count("blkid") == 1
    assert "wipefs" not in host.names()


# -- what is remembered ------------------------------------------------------------------------------------------------


class Silent(FakeHost):
    """A machine on which a disk keeps every program waiting."""

    def __init__(self) -> None:
        super().__init__({}, tools={"smartctl": Completed(returncode=0, stdout="", stderr="")})
        self.asked: list[tuple[str, ...]] = []

    async def run(self, command: Command) -> Completed:
        self.asked.append(command.argv)
        if command.mutates:
            return Completed(returncode=0, stdout="", stderr="")
        raise ToolTimeoutError("It gave no answer.", hint="Wait.", devices=("sdb",))


def asking(*argv: str, stall: float | None = 10.0, mutates: bool = False) -> Command:
    return Command(argv=argv, stall=stall, mutates=mutates)


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def machine() -> Silent:
    return Silent()


@pytest.fixture
def host(machine: Silent, clock: list[float]) -> UnresponsiveDeviceCache:
    return UnresponsiveDeviceCache(machine, clock=lambda: clock[0])


Asks = Callable[[Command], None]


async def refused(host: UnresponsiveDeviceCache, command: Command) -> ToolTimeoutError:
    with pytest.raises(ToolTimeoutError) as error:
        await host.run(command)
    return error.value


async def test_what_gave_no_answer_is_not_asked_again_and_says_the_same(
    machine: Silent, host: UnresponsiveDeviceCache
) -> None:
    first, second = [await refused(host, asking("/sbin/lvs", "-a")) for _ in range(2)]
    assert len(machine.asked) == 1
    assert (second.message, second.hint, second.devices) == (first.message, first.hint, first.devices)


async def test_another_program_is_not_asked_of_the_disk_that_kept_the_first_waiting(
    machine: Silent, host: UnresponsiveDeviceCache
) -> None:
    await refused(host, asking("/sbin/lvs"))
    error = await refused(host, asking("/sbin/smartctl", "-a", "/dev/sdb"))
    assert error.message == "smartctl was skipped for /dev/sdb: the device does not respond."
    assert len(machine.asked) == 1


async def test_other_disks_are_asked(machine: Silent, host: UnresponsiveDeviceCache) -> None:
    await refused(host, asking("/sbin/lvs"))
    await refused(host, asking("/sbin/smartctl", "-a", "/dev/sdc"))
    assert len(machine.asked) == 2


async def test_after_a_while_it_is_asked_again(
    machine: Silent, host: UnresponsiveDeviceCache, clock: list[float]
) -> None:
    await refused(host, asking("/sbin/lvs"))
    clock[0] = AGAIN
    await refused(host, asking("/sbin/lvs"))
    assert len(machine.asked) == 2


async def test_after_a_change_everything_is_asked_anew(machine: Silent, host: UnresponsiveDeviceCache) -> None:
    await refused(host, asking("/sbin/lvs"))
    await host.run(asking("/sbin/lvchange", stall=None, mutates=True))
    await refused(host, asking("/sbin/lvs"))
    await host.write("/sys/block/sda/queue/nr_requests", "64")
    await refused(host, asking("/sbin/lvs"))
    assert [argv[0] for argv in machine.asked] == ["/sbin/lvs", "/sbin/lvchange", "/sbin/lvs", "/sbin/lvs"]


async def test_the_tool_of_a_card_is_always_asked(machine: Silent, host: UnresponsiveDeviceCache) -> None:
    for _ in range(2):
        await refused(host, asking("/opt/storcli64", "/c0", "show", stall=None))
    assert len(machine.asked) == 2


async def test_a_change_is_made_although_its_disk_is_silent(machine: Silent, host: UnresponsiveDeviceCache) -> None:
    await refused(host, asking("/sbin/lvs"))
    assert (await host.run(asking("/sbin/sdparm", "/dev/sdb", stall=None, mutates=True))).returncode == 0
