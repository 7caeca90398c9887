"""Units that tw_cli makes: what is planned, what half an answer or another card stands against, what is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.core.changes.arrays.candidates import candidates_of, choose, plan_array
from backends.array_planning import ArrayMatch, ArrayMatchState, ArrayPlan, ArrayRequest, CreatedArray
from backends.errors import (
    BlockedError,
    DeviceGoneError,
    InvalidValueError,
    RaidbenchError,
    RefusedError,
    ToolFailedError,
)
from backends.host import Command, Completed, Host
from backends.model import Array, Level
from backends.protocol import ArrayCreator
from backends.registry import MachineBackends
from backends.simulator import programs
from backends.simulator.host import SimulatedHost
from backends.simulator.threeware import INITIALISING_SECONDS, SimulatedThreeware
from backends.system.wrapped import HostWrapper
from backends.vendors.threeware.creation import plan_array as planned_alone
from backends.vendors.threeware.inventory import ThreewareCard
from tests.backends.simulator.asking import NOW
from tests.backends.simulator.making import drives_of, new_host, planned, seen

PORTS = tuple(f"p{port}" for port in range(8))
TOOL = "/opt/3ware/CLI/tw_cli"


def card_of(host: SimulatedHost) -> SimulatedThreeware:
    (card,) = host.rack.threeware
    return card


def builder(host: Host) -> ArrayCreator:
    backend = MachineBackends.of(host).backends["threeware"]
    assert isinstance(backend, ArrayCreator)
    return backend


async def made(host: SimulatedHost, level: Level = Level.RAID5, count: int = 3) -> tuple[ArrayPlan, CreatedArray]:
    plan = await planned(host, level, PORTS[:count], name="rb-1")
    await builder(host).run_making(plan.request.drives[0].controller, plan.steps)
    return plan, plan.created_array()


async def standing(host: Host, array: CreatedArray) -> ArrayMatch:
    return await builder(host).find_made(array)


async def unit(host: SimulatedHost) -> Array:
    (found,) = [one for one in (await seen(host)).arrays if one.target.backend == "threeware"]
    return found


class Changed(HostWrapper):
    """A machine on which one answer of tw_cli is another."""

    def __init__(self, inner: Host, words: str, change: Callable[[str], str]) -> None:
        super().__init__(inner)
        self.words, self.change = words, change

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        hit = command.argv[0] == TOOL and " ".join(command.argv[1:]) == self.words
        return replace(done, stdout=self.change(done.stdout)) if hit else done


# -- the plan ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "count", "words", "line", "size"),
    [
        (Level.RAID0, 1, {}, "type=single disk=0 nocache name=rb-1", 1),
        (Level.RAID0, 4, {}, "type=raid0 disk=0:1:2:3 stripe=64 nocache name=rb-1", 4),
        (Level.RAID1, 2, {}, "type=raid1 disk=0:1 nocache name=rb-1", 1),
        (Level.RAID5, 3, {"strip": 256 << 10}, "type=raid5 disk=0:1:2 stripe=256 nocache name=rb-1", 2),
        (Level.RAID5, 3, {"write_cache": "write-back"}, "type=raid5 disk=0:1:2 stripe=64 name=rb-1", 2),
        (
            Level.RAID10,
            4,
            {"storsave": "balance"},
            "type=raid10 disk=0:1:2:3 stripe=64 group=2 nocache name=rb-1 storsave=balance",
            2,
        ),
        (Level.RAID50, 8, {"spans": 2}, "type=raid50 disk=0:1:2:3:4:5:6:7 stripe=64 group=4 nocache name=rb-1", 6),
    ],
)
async def test_one_line_makes_it_and_its_capacity_is_told(
    level: Level, count: int, words: dict[str, object], line: str, size: int
) -> None:
    host = new_host()
    plan = await planned(host, level, PORTS[:count], name="rb-1", **words)  # type: ignore[arg-type]
    assert [step.argv for step in plan.steps] == [(TOOL, "/c2", "add", *line.split())]
    assert plan.size_bytes is not None
    assert (plan.data_drives, plan.cost) == (size, count - size)
    await builder(host).run_making(plan.request.drives[0].controller, plan.steps)
    found = await standing(host, plan.created_array())
    assert (found.state, found.device) == (ArrayMatchState.COMPLETE, "/dev/" + str(card_of(host).units[1].device))
    assert abs((await unit(host)).size_bytes or 0) == pytest.approx(plan.size_bytes, rel=0.01)
    before, named = await unit(host), card_of(host).units[1]
    assert (named.name, named.write) == ("rb-1", "nocache" not in line)
    await builder(host).run_making(plan.request.drives[0].controller, found.remove)
    assert before.target not in [one.target for one in (await seen(host)).arrays]


@pytest.mark.parametrize(
    ("level", "count", "words", "why"),
    [
        (Level.RAID6, 5, {}, "cannot create RAID6 with tw_cli"),
        (Level.RAID1, 4, {}, "has exactly two drives"),
        (Level.RAID10, 8, {"spans": 2}, "of pairs"),
        (Level.RAID50, 8, {"spans": 4}, "cannot be divided into 4 spans"),
        (Level.RAID5, 3, {"strip": 128 << 10}, "does not support strips of 128 KiB"),
        (Level.RAID5, 3, {"drive_cache": "on"}, "drive_cache cannot be set when creating an array"),
        (Level.RAID5, 3, {"write_cache": "always"}, "write-back or write-through"),
        (Level.RAID5, 3, {"storsave": "fast"}, "protect or balance or perform when creating an array"),
    ],
)
async def test_what_the_card_does_not_make_is_a_sentence(
    level: Level, count: int, words: dict[str, object], why: str
) -> None:
    with pytest.raises(InvalidValueError, match=why):
        await planned(new_host(), level, PORTS[:count], name="rb-1", **words)  # type: ignore[arg-type]


async def test_groups_of_a_raid50_have_three_to_six_drives() -> None:
    host = new_host()
    drives = await drives_of(host, PORTS[:8])
    more = [replace(drives[0], drive=replace(drives[0].drive, address=f"/c2/p{at}")) for at in range(20, 34)]
    wish = ArrayRequest(level=Level.RAID50, drives=tuple(more), name="rb-1", spans=2)
    card = ThreewareCard(row={"Ctl": "c2", "Model": "9690SA-8I"}, units=(), ports=())
    with pytest.raises(InvalidValueError, match="are 7 in each"):
        planned_alone(wish, card, TOOL)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda card: setattr(card.units[0], "state", "MIGRATING"), "a unit is migrating on the controller"),
        (lambda card: card.units.extend([replace(card.units[0], number=at, ports=()) for at in range(1, 33)]), "32"),
    ],
)
async def test_what_stands_against_the_whole_card_is_told_of_each_drive(
    spoil: Callable[[SimulatedThreeware], None], why: str
) -> None:
    host = new_host()
    spoil(card_of(host))
    with pytest.raises(RefusedError, match=why):
        await drives_of(host, PORTS[:3])


async def test_drives_that_are_not_free_say_why() -> None:
    host = new_host()
    card = card_of(host)
    twin = replace(card.ports[2], serial=card.ports[3].serial)
    broken = replace(card.ports[1], status="DEVICE-ERROR")
    busy = replace(card.ports[4], status="VERIFYING")
    card.ports = [card.ports[0], broken, twin, card.ports[3], busy, *card.ports[5:]]
    machine = MachineBackends.of(host)
    found, _ = await candidates_of(machine, await machine.probe())
    told = {one.place: " ".join(one.why_not) for one in found if one.drive.backend == "threeware"}
    assert told["p0"] == ""
    assert told["p1"] == "the controller reports it as device error (DEVICE-ERROR)"
    assert told["p4"] == "the controller reports it as verifying"
    assert told["p2"] == told["p3"] == "its serial number is missing or not unique"
    assert told["p8"] == "it is a hot spare (u0)"


async def test_a_drive_that_was_swapped_since_it_was_shown_makes_no_array() -> None:
    plan = await planned(host := new_host(), Level.RAID5, PORTS[:3])
    card = card_of(host)
    card.ports = [replace(card.ports[0], serial="9QMOTHER"), *card.ports[1:]]
    with pytest.raises(DeviceGoneError):
        await plan_array(MachineBackends.of(host), plan.request)


async def test_a_battery_that_is_not_ready_stands_against_write_back_alone() -> None:
    host = new_host()
    card_of(host).battery = "Charging"
    with pytest.raises(BlockedError, match=r"would not cache writes: the battery is charging"):
        await planned(host, Level.RAID5, PORTS[:3], write_cache="write-back")
    assert (await planned(host, Level.RAID5, PORTS[:3])).warnings == ()


async def test_what_loses_writes_at_a_power_cut_is_a_warning() -> None:
    host = new_host()
    assert (await planned(host, Level.RAID5, PORTS[:3], write_cache="write-back")).warnings == ()
    assert "perform" in " ".join((await planned(host, Level.RAID5, PORTS[:3], storsave="perform")).warnings)
    card_of(host).battery = "-"
    (warning,) = (await planned(host, Level.RAID5, PORTS[:3], write_cache="write-back")).warnings
    assert "power failure" in warning


async def test_a_card_without_storsave_is_not_given_one() -> None:
    plan = await planned(host := new_host(), Level.RAID5, PORTS[:3])
    older = MachineBackends.of(Changed(host, "info", lambda text: text.replace("9690SA-8I", "9500S-8  ")))
    with pytest.raises(InvalidValueError, match="storsave cannot be set when creating an array on this controller"):
        await plan_array(older, replace(plan.request, policies={"storsave": "balance"}))


async def test_a_card_that_keeps_no_names_makes_nothing() -> None:
    plan = await planned(host := new_host(), Level.RAID5, PORTS[:3])
    oldest = MachineBackends.of(Changed(host, "info", lambda text: text.replace("9690SA-8I", "8006-2LP ")))
    with pytest.raises(RefusedError, match="a 3ware 8006-2LP stores no unit names"):
        await plan_array(oldest, plan.request)


@pytest.mark.parametrize(("level", "count", "begins"), [(Level.RAID5, 4, False), (Level.RAID5, 5, True)])
async def test_what_the_card_initialises_is_said_and_is_a_task_until_it_is_done(
    level: Level, count: int, begins: bool
) -> None:
    host = new_host()
    plan, _ = await made(host, level, count)
    assert ("initialises it in the background" in plan.initialising) is begins
    assert "AutoVerify" in plan.initialising
    assert [task.kind for task in (await unit(host)).tasks] == (["initialisation"] if begins else [])
    host.rack.clock = lambda: NOW + INITIALISING_SECONDS
    assert (await unit(host)).tasks == ()


# -- what is found, and what is not its own ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "cut"),
    [
        ("info", 40),
        ("info c2 unitstatus", 200),
        ("info c2 drivestatus", 400),
        ("/c2/p1 show serial", 18),
        ("/c2/u1 show all", 200),
        ("/c2/u1 show all", 700),
        ("/c2/u0 show all", 40),
    ],
)
async def test_nothing_is_deleted_or_made_on_half_an_answer(words: str, cut: int) -> None:
    host = new_host()
    plan, array = await made(host)
    half = Changed(host, words, lambda text: text[:cut])
    if words == "info":  # then the card itself is not told
        with pytest.raises(ToolFailedError, match="incomplete output"):
            await standing(half, array)
    else:
        found = await standing(half, array)
        assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
        assert "incomplete output" in found.sentence
    await builder(host).run_making(plan.request.drives[0].controller, (await standing(host, array)).remove)
    if "u1" not in words:
        with pytest.raises(RaidbenchError):
            await plan_array(MachineBackends.of(half), plan.request)


@pytest.mark.parametrize(
    ("words", "old", "new", "why"),
    [
        ("/c2/u1 show all", "name = rb-1", "name = mine", "is called mine"),
        ("/c2/u1 show all", "name = rb-1", "name = ", "has no name"),
        ("/c2/u1 show all", "/c2/u1 name = rb-1\n", "", "its name is not reported"),
        ("/c2/u1 show all", "volume(s) = 1", "volume(s) = 2", "divided into 2 volumes"),
        ("/c2/u1 show all", "p2 ", "p7 ", "the list of its drives is incomplete"),
        ("/c2/u1 show all", "-       -         \n", "-       -       p7\n", "does not report which drives"),
        ("info c2 unitstatus", "RAID-5", "RAID-6", "is RAID6, not RAID5"),
        ("/c2/p2 show serial", "Serial = ", "Serial = X", "is not on the controller"),
    ],
)
async def test_one_that_is_not_what_was_made_is_left_alone(words: str, old: str, new: str, why: str) -> None:
    host = new_host()
    _, array = await made(host)
    found = await standing(Changed(host, words, lambda text: text.replace(old, new)), array)
    assert (found.state, found.remove, why in found.sentence) == (ArrayMatchState.UNKNOWN, (), True), found.sentence


async def test_the_disk_of_another_unit_is_not_looked_at_for_it() -> None:
    host = new_host()
    _, array = await made(host)
    host.rack.threeware[0].units[1].serial = "ANOTHERUNIT"
    found = await standing(Changed(host, "/c2/u1 show all", lambda text: text.replace("ANOTHERUNIT", "ITSOWN")), array)
    assert (found.state, found.device, found.remove) == (ArrayMatchState.COMPLETE, None, ())
    assert "The kernel has no disk for it" in found.sentence


async def test_a_disk_without_a_serial_number_is_its_own_only_behind_the_one_card_there_is() -> None:
    host = new_host()
    _, array = await made(host)
    card_of(host).units[1].serial = ""
    assert (await standing(host, array)).device is not None
    host.rack.threeware.append(SimulatedThreeware(number=3, pci="0000:19:00.0", model="9690SA-8I", host=6, units=[]))
    assert (await standing(host, array)).device is None


# -- the question before a deletion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        "Deleting /c2/u2 will cause the data on the unit to be permanently lost.\nDo you want to continue ? Y|N [N]: ",
        "Unit /c2/u1 is in use. Do you want to continue ? Y|N [N]: ",
    ],
)
async def test_a_question_in_other_words_is_not_answered_and_nothing_is_deleted(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = new_host()
    plan, array = await made(host)
    other = replace(programs.PROGRAMS["tw_cli"], question=lambda words: asked if "del" in words else "")
    monkeypatch.setitem(programs.PROGRAMS, "tw_cli", other)
    found = await standing(host, array)
    with pytest.raises(ToolFailedError, match=r"did not confirm the change, but reported: (Deleting|Unit)") as caught:
        await builder(host).run_making(plan.request.drives[0].controller, found.remove)
    assert f"Run the command manually: {TOOL} /c2/u1 del" in (caught.value.hint or "")
    assert (await standing(host, array)).state is ArrayMatchState.COMPLETE


async def test_nothing_is_asked_that_only_making_needs_when_devices_are_listed() -> None:
    asked: list[str] = []

    class Heard(HostWrapper):
        async def run(self, command: Command) -> Completed:
            if command.argv[0] == TOOL:
                asked.append(" ".join(command.argv[1:]))
            return await super().run(command)

    host = new_host()
    machine = MachineBackends.of(Heard(host))
    found, _ = await candidates_of(machine, await machine.probe())
    assert len(choose(found, PORTS)) == 8
    cells = ("info", *(f"info c2 {word}" for word in ("unitstatus", "drivestatus", "bbustatus")))
    assert sorted(asked) == sorted([*cells, *(f"/c2/p{at} show serial" for at in range(9))])
