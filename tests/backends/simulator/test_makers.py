"""Every maker of arrays on the rack: made, found by its drives, deleted; what is refused, and what is another's."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from app.core.changes.arrays.candidates import candidates_of
from backends.array_planning import ArrayMatch, ArrayMatchState, ArrayPlan, CreatedArray
from backends.change import ChangeStep
from backends.errors import InvalidValueError, RaidbenchError, RefusedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Array, Level, State, Target
from backends.protocol import ArrayCreator
from backends.registry import MachineBackends
from backends.simulator.state_file import rack_data
from backends.values import dataclass
from tests.backends.simulator.making import drives_of, new_host, planned, seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """A tool and a card of it with free drives."""

    backend: str
    card: str
    places: tuple[str, ...]
    used: str | None
    """A drive of the card that is not free."""
    other: str
    """What somebody says to make another array called NAME of DRIVES, as one line."""
    between: str = ","
    """What stands between drives there."""
    levels: tuple[Level, ...] = (Level.RAID0, Level.RAID1, Level.RAID5, Level.RAID6, Level.RAID10)
    """Levels that it makes."""
    alone: Level = Level.RAID0
    """What it calls an array of one drive."""

    @property
    def controller(self) -> Target:
        return Target(backend=self.backend, address=self.card, scope="controller")  # type: ignore[arg-type]

    def names(self, first: int, count: int) -> tuple[str, ...]:
        """Addresses of free drives."""
        return tuple(f"{self.card}/{place}" for place in self.places[first : first + count])


MAKERS = {
    "storcli": Maker(
        backend="megaraid",
        card="/c0",
        places=tuple(f"e252/s{slot}" for slot in range(6)),
        used="e252/s10",
        other="/opt/MegaRAID/storcli/storcli64 /c0 add vd r5 name=NAME drives=DRIVES wt nora direct strip=64",
    ),
    "ssacli": Maker(
        backend="smartarray",
        card="/slot0",
        places=tuple(f"2I:1:{bay}" for bay in range(1, 7)),
        used="2I:1:7",
        other="/usr/sbin/ssacli ctrl slot=0 create type=ld drives=DRIVES raid=5 ss=64 logicaldrivelabel=NAME forced",
    ),
    "arcconf": Maker(
        backend="smartarray",
        card="/aac2",
        places=tuple(f"0:{device}" for device in range(8)),
        used=None,
        other="/usr/Arcconf/arcconf create 2 logicaldrive name NAME stripesize 64 max 5 DRIVES noprompt",
        between=" ",
    ),
    "arcconf of a SmartRAID": Maker(
        backend="smartarray",
        card="/arc1",
        places=tuple(f"0:{device}" for device in range(8)),
        used=None,
        other="/usr/Arcconf/arcconf create 1 logicaldrive name NAME stripesize 64 max 5 DRIVES noprompt",
        between=" ",
    ),
    "tw_cli": Maker(
        backend="threeware",
        card="/c2",
        places=tuple(f"p{port}" for port in range(8)),
        used="p8",
        other="/opt/3ware/CLI/tw_cli /c2 add type=raid5 disk=DRIVES stripe=64 name=NAME",
        between=":",
        levels=(Level.RAID0, Level.RAID1, Level.RAID5, Level.RAID10),
        alone=Level.JBOD,
    ),
}

ALL = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
NEW = pytest.mark.parametrize(
    "maker",
    [one for name, one in MAKERS.items() if name != "storcli"],
    ids=[name for name in MAKERS if name != "storcli"],
)
"""Those whose rules are tried nowhere else."""


OTHER_SHAPES = ((Level.RAID0, 1), (Level.RAID1, 2), (Level.RAID6, 4), (Level.RAID10, 4), (Level.RAID50, 6))


class Bench:
    """The rack, and an array that is planned with one maker."""

    def __init__(self, maker: Maker) -> None:
        self.maker, self.host = maker, new_host()

    @property
    def builder(self) -> ArrayCreator:
        backend = MachineBackends.of(self.host).backends[self.maker.backend]
        assert isinstance(backend, ArrayCreator)
        return backend

    async def plan(
        self, level: Level = Level.RAID5, count: int = 3, first: int = 0, name: str = "rb-1", spans: int | None = None
    ) -> ArrayPlan:
        return await planned(self.host, level, self.maker.names(first, count), name=name, strip=64 << 10, spans=spans)

    async def take(self, steps: tuple[ChangeStep, ...]) -> None:
        await self.builder.run_making(self.maker.controller, steps)

    async def made(self, level: Level = Level.RAID5, count: int = 3, spans: int | None = None) -> CreatedArray:
        plan = await self.plan(level, count, spans=spans)
        await self.take(plan.steps)
        return plan.created_array()

    async def find(self, array: CreatedArray) -> ArrayMatch:
        return await self.builder.find_made(array)

    async def by_hand(self, name: str, first: int, count: int = 3) -> Completed:
        """Somebody else makes an array."""
        places = [place.replace("e252/s", "252:") for place in self.maker.places[first : first + count]]
        if self.maker.between == " ":
            places = [place.replace(":", " ") for place in places]
        line = self.maker.other.replace("NAME", name).replace("DRIVES", self.maker.between.join(places))
        line = line.replace("disk=p", "disk=").replace(":p", ":")
        return await self.host.run(Command(argv=tuple(line.split()), mutates=True))

    async def arrays(self) -> dict[str, Array]:
        """By address, those of the card."""
        found = (await seen(self.host)).arrays
        return {str(one.target): one for one in found if str(one.target).startswith(f"{self.maker.controller}/")}

    async def free(self) -> list[str]:
        machine = MachineBackends.of(self.host)
        found, _ = await candidates_of(machine, await machine.probe())
        return [one.place for one in found if one.free and one.controller == self.maker.controller]


@ALL
@pytest.mark.parametrize(
    ("level", "count"),
    [
        (Level.RAID5, 3),
        *(pytest.param(*shape, marks=pytest.mark.long) for shape in OTHER_SHAPES),
    ],
    ids=lambda one: getattr(one, "value", one),
)
async def test_what_is_made_is_listed_and_deleted_without_a_trace(maker: Maker, level: Level, count: int) -> None:
    if level not in maker.levels:
        pytest.skip("it makes none of these")
    bench = Bench(maker)
    before, free = await bench.arrays(), await bench.free()
    plan = await bench.plan(level, count)
    array = plan.created_array()
    assert (await bench.find(array)).state is ArrayMatchState.ABSENT
    await bench.take(plan.steps)
    ((address, made),) = [(key, one) for key, one in (await bench.arrays()).items() if key not in before]
    called = level if count > 1 else maker.alone
    assert (made.level, len(made.members), made.device is not None) == (called, count, True)
    assert made.strip_bytes in (64 << 10, None)
    assert len(await bench.free()) == len(free) - count
    found = await bench.find(array)
    assert (found.state, str(found.target), found.device) == (ArrayMatchState.COMPLETE, address, made.device), (
        found.sentence
    )
    assert found.looked_at == (made.device,)
    await bench.take(found.remove)
    assert (await bench.find(array)).state is ArrayMatchState.ABSENT
    assert (await bench.arrays()).keys() == before.keys()
    assert await bench.free() == free


@ALL
async def test_a_drive_that_is_used_by_now_makes_no_array(maker: Maker) -> None:
    bench = Bench(maker)
    plan = await bench.plan()
    assert (await bench.by_hand("other", 2)).returncode == 0
    with pytest.raises(RefusedError, match=r".* cannot be used for an array: it is in "):
        await bench.builder.plan_array(plan.request, maker.controller, assume_clean=False)
    with pytest.raises(ToolFailedError):
        await bench.take(plan.steps)
    found = await bench.find(plan.created_array())
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())


@ALL
async def test_a_drive_that_is_not_free_is_named_with_the_reason(maker: Maker) -> None:
    if maker.used is None:
        pytest.skip("every drive of this card is free")
    bench = Bench(maker)
    with pytest.raises(RefusedError, match="cannot be used for an array"):
        await drives_of(bench.host, (*maker.names(0, 2), f"{maker.card}/{maker.used}"))


@ALL
async def test_an_array_of_the_same_name_and_level_by_somebody_else_is_never_its_own(maker: Maker) -> None:
    bench = Bench(maker)
    plan = await bench.plan(Level.RAID0, 1)
    last = len(maker.places) - 3
    assert (await bench.by_hand("rb-1", last)).returncode == 0
    found = await bench.find(plan.created_array())
    assert (found.state, found.remove) == (ArrayMatchState.ABSENT, ())


@ALL
async def test_one_over_its_very_drives_that_bears_another_name_is_left_alone(maker: Maker) -> None:
    bench = Bench(maker)
    plan = await bench.plan()
    assert (await bench.by_hand("mine", 0)).returncode == 0
    found = await bench.find(plan.created_array())
    assert (found.state, found.remove, found.target) == (ArrayMatchState.UNKNOWN, (), None)
    assert "is called mine, not rb-1" in found.sentence


@ALL
async def test_one_of_the_same_name_over_its_drives_that_was_there_before_is_not_it(maker: Maker) -> None:
    bench = Bench(maker)
    plan = await bench.plan()
    assert (await bench.by_hand("rb-1", 0)).returncode == 0
    before = (await bench.plan(Level.RAID0, 1, first=3)).before
    found = await bench.find(replace(plan.created_array(), before=before))
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
    assert "existed before" in found.sentence


@NEW
@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"level": Level.RAID6}, "is RAID5, not RAID6"),
        ({"strip_bytes": 1 << 20}, "strips of 64 KiB"),
    ],
)
async def test_one_that_is_made_otherwise_is_another(maker: Maker, other: dict[str, object], why: str) -> None:
    bench = Bench(maker)
    array = await bench.made()
    found = await bench.find(replace(array, **other))  # type: ignore[arg-type]
    assert (found.state, found.remove, why in found.sentence) == (ArrayMatchState.UNKNOWN, (), True), found.sentence


@NEW
async def test_one_over_more_or_fewer_drives_is_another(maker: Maker) -> None:
    bench = Bench(maker)
    array = await bench.made()
    more = (await bench.plan(Level.RAID0, 1, first=3)).created_array().members
    for members in (array.members[:2], (*array.members, *more)):
        found = await bench.find(replace(array, members=members))
        assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())


@NEW
async def test_a_step_that_does_anything_else_is_not_taken(maker: Maker) -> None:
    bench = Bench(maker)
    plan = await bench.plan()
    made = plan.steps[0].argv
    number = next(iter(bench.host.rack.smart["ssacli"])).volumes[0].number
    strange = [
        ("/bin/rm", "-rf", "/"),
        ("/bin/rm", *made[1:]),
        (*made, "extra"),
        (made[0], "ctrl", "slot=3", "ld", str(number), "delete", "forced"),
        (made[0], "ctrl", "slot=0", "ld", "all", "delete", "forced"),
        (made[0], "ctrl", "slot=0", "array", "A", "delete", "forced"),
        (made[0], "ctrl", "slot=0", "modify", "clearconfigdata", "forced"),
        (made[0], "delete", "9", "logicaldrive", "0", "noprompt"),
        (made[0], "delete", "2", "logicaldrive", "all", "noprompt"),
        (made[0], "delete", "1", "array", "0", "noprompt"),
        (made[0], "/c2/u0", "del", "quiet"),
        (made[0], "/c0/u0", "del"),
        (made[0], "/c2/p0", "del"),
        (made[0], "/c2", "add", "type=spare", "disk=0", "name=rb-1"),
        (made[0], "/c2", "add", "type=raid5", "disk=0:1:2", "name=rb-1", "noscan"),
    ]
    before = await bench.arrays()
    for argv in strange:
        with pytest.raises(RefusedError):
            await bench.take((*plan.steps, ChangeStep(argv=argv)))
    assert (await bench.arrays()).keys() == before.keys()


@NEW
async def test_what_the_card_refuses_is_told_in_its_words(maker: Maker) -> None:
    bench = Bench(maker)
    plan = await bench.plan()
    assert (await bench.by_hand("rb-1", 1)).returncode == 0
    with pytest.raises(ToolFailedError, match=r"in use already|exists already|not available"):
        await bench.take(plan.steps)


@NEW
@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (partial(Bench.plan, level=Level.RAID1, count=4), "two drives"),
        (
            partial(Bench.plan, level=Level.RAID6, count=3),
            "at least 4 drives|does not support RAID6|cannot create RAID6",
        ),
        (partial(Bench.plan, level=Level.RAID50, count=6, spans=3), "cannot be divided into 3 spans"),
        (partial(Bench.plan, level=Level.RAID10, count=4, spans=1), "cannot be divided into 1 spans"),
    ],
)
async def test_a_shape_that_it_does_not_make_is_a_sentence(maker: Maker, ask: partial[object], why: str) -> None:
    with pytest.raises(InvalidValueError, match=why):
        await ask(Bench(maker))  # type: ignore[misc]


@NEW
@pytest.mark.parametrize(("level", "count", "data"), [(Level.RAID50, 6, 4), (Level.RAID60, 8, 4)])
async def test_groups_with_a_parity_of_their_own_are_made_found_and_deleted(
    maker: Maker, level: Level, count: int, data: int
) -> None:
    bench = Bench(maker)
    if count > len(maker.places) or (maker.backend, level) == ("threeware", Level.RAID60):
        pytest.skip("this card has too few drives, or makes no RAID 60")
    before = await bench.arrays()
    plan = await bench.plan(level, count)
    assert (plan.request.spans, plan.data_drives, plan.cost) == (2, data, count - data)
    assert plan.full_stripe_bytes == data * (64 << 10)
    await bench.take(plan.steps)
    array = plan.created_array()
    (made,) = [one for key, one in (await bench.arrays()).items() if key not in before]
    listed = (None, None) if maker.backend == "threeware" else (2, data)  # `unitstatus` tells no groups
    assert (made.level, made.spans, made.data_drives) == (level, *listed)
    assert made.size_bytes == pytest.approx(plan.size_bytes, rel=0.01)
    found = await bench.find(array)
    assert found.state is ArrayMatchState.COMPLETE, found.sentence
    other = await bench.find(replace(array, spans=3))
    assert (other.state, other.remove, "2 spans, not 3" in other.sentence) == (ArrayMatchState.UNKNOWN, (), True)
    await bench.take(found.remove)
    assert (await bench.find(array)).state is ArrayMatchState.ABSENT


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "/usr/Arcconf/arcconf create 1 logicaldrive name x legs 3 max 50 {six} noprompt",
            "Space for creation not available",
        ),
        ("/usr/Arcconf/arcconf create 1 logicaldrive name x legs 2 max 5 {six} noprompt", "Invalid arguments"),
        ("/usr/Arcconf/arcconf create 1 logicaldrive name x legs two max 50 {six} noprompt", "Invalid arguments"),
        (
            "/usr/Arcconf/arcconf create 1 logicaldrive name x rcache ron max 5 {six} noprompt",
            "rcache is not supported",
        ),
        (
            "/usr/Arcconf/arcconf create 2 logicaldrive name x ldcache lon max 5 {six} noprompt",
            "ldcache is not supported",
        ),
        ("/usr/Arcconf/arcconf create 2 logicaldrive name x wcache always max 5 {six} noprompt", "Invalid arguments"),
        (
            "/usr/sbin/ssacli ctrl slot=0 create type=ld drives={three} raid=5 numberparitygroups=2 forced",
            "not a valid parameter",
        ),
        (
            "/usr/sbin/ssacli ctrl slot=0 create type=ld drives={three} raid=5 caching=maybe forced",
            "not a valid option",
        ),
    ],
)
async def test_the_simulated_tools_refuse_what_the_cards_do(line: str, says: str) -> None:
    host = new_host()
    six, three = " ".join(f"0 {device}" for device in range(6)), "2I:1:1,2I:1:2,2I:1:3"
    argv = tuple(line.format(six=six, three=three).split())
    before = rack_data(host.rack)
    done = await host.run(Command(argv=argv, mutates=True))
    assert (done.returncode != 0, says in done.stdout, rack_data(host.rack) == before) == (True, True, True), (
        done.stdout
    )


async def test_arcconf_without_legs_divides_them_in_two_as_its_usage_says() -> None:
    bench = Bench(MAKERS["arcconf"])
    plan = await bench.plan(Level.RAID50, 6)
    told = " ".join(plan.steps[0].argv)
    assert " legs 2 " in told
    await bench.host.run(Command(argv=tuple(told.replace(" legs 2 ", " ").split()), mutates=True))
    assert (await bench.find(plan.created_array())).state is ArrayMatchState.COMPLETE


async def test_its_letter_and_number_are_not_what_it_is_known_by() -> None:
    bench = Bench(MAKERS["ssacli"])
    array = await bench.made()
    (card,) = bench.host.rack.smart["ssacli"]
    assert card.volumes[-1].group == "B"
    words = ("ctrl", "slot=0", "ld", "1", "delete", "forced")
    await bench.host.run(Command(argv=("/usr/sbin/ssacli", *words), mutates=True))
    (card,) = bench.host.rack.smart["ssacli"]
    assert [volume.group for volume in card.volumes] == ["A"]
    found = await bench.find(array)
    assert (found.state, str(found.target)) == (ArrayMatchState.COMPLETE, "smartarray:/slot0/ld2")


async def test_with_a_spare_of_its_own_it_is_not_deleted() -> None:
    bench = Bench(MAKERS["ssacli"])
    array = await bench.made()
    (card,) = bench.host.rack.smart["ssacli"]
    bays = tuple(replace(bay, group="B", spare=True) if bay.place == "2I:1:6" else bay for bay in card.bays)
    bench.host.rack.smart["ssacli"] = (replace(card, bays=bays),)
    found = await bench.find(array)
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
    assert "2I:1:6 was added as spare" in found.sentence


async def test_with_a_second_logical_drive_in_its_array_it_is_not_deleted() -> None:
    bench = Bench(MAKERS["ssacli"])
    array = await bench.made()
    (card,) = bench.host.rack.smart["ssacli"]
    second = replace(card.volumes[-1], number=9, name="mine", device="/dev/sdy", wwn="600508b1001c00000000000000000009")
    bench.host.rack.smart["ssacli"] = (replace(card, volumes=(*card.volumes, second)),)
    found = await bench.find(array)
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
    assert "Several logical drives use its drives: 2 and 9." in found.sentence


async def test_a_drive_of_it_of_which_the_words_are_not_known_leaves_it_open() -> None:
    bench = Bench(MAKERS["ssacli"])
    array = (await bench.plan()).created_array()
    (card,) = bench.host.rack.smart["ssacli"]
    bays = tuple(replace(bay, state="Strange") if bay.place == "2I:1:1" else bay for bay in card.bays)
    bench.host.rack.smart["ssacli"] = (replace(card, bays=bays),)
    found = await bench.find(array)
    assert found.state is ArrayMatchState.UNKNOWN
    assert "in an unknown state (Strange)" in found.sentence


@pytest.mark.parametrize(
    ("state", "why"), [("Erase In Progress", "Erase In Progress"), ("Erase Complete. Reenable Before Using.", "Erase")]
)
async def test_an_erased_drive_is_not_free_before_it_is_enabled(state: str, why: str) -> None:
    bench = Bench(MAKERS["ssacli"])
    (card,) = bench.host.rack.smart["ssacli"]
    bays = tuple(replace(bay, state=state) if bay.place == "2I:1:1" else bay for bay in card.bays)
    bench.host.rack.smart["ssacli"] = (replace(card, bays=bays),)
    with pytest.raises(RefusedError, match=why):
        await bench.plan()


@pytest.mark.parametrize(
    ("more", "why"), [({"hba": True}, "is in HBA mode"), ({"cache_problem": True}, "CACHE STATUS PROBLEM")]
)
async def test_a_card_that_takes_no_changes_makes_nothing(more: dict[str, bool], why: str) -> None:
    bench = Bench(MAKERS["ssacli"])
    (card,) = bench.host.rack.smart["ssacli"]
    bench.host.rack.smart["ssacli"] = (replace(card, **more),)  # type: ignore[arg-type]
    with pytest.raises(RaidbenchError, match=why):
        await bench.plan()


async def test_a_card_that_rebuilds_makes_nothing_beside_it() -> None:
    bench = Bench(MAKERS["ssacli"])
    (card,) = bench.host.rack.smart["ssacli"]
    volumes = (replace(card.volumes[0], state="Recovering, 12% complete"),)
    bench.host.rack.smart["ssacli"] = (replace(card, volumes=volumes),)
    with pytest.raises(RefusedError, match="a rebuild is running on the controller"):
        await bench.plan()


BORN = {
    "storcli": (
        {"write_cache": "write-through", "read_ahead": "none", "io_policy": "direct"},
        {"write_cache": "always-write-back", "read_ahead": "read-ahead", "io_policy": "cached", "drive_cache": "off"},
    ),
    "ssacli": ({"acceleration": "none"}, {"acceleration": "controller-cache"}),
    "arcconf": (
        {"write_cache": "write-through", "read_cache": "off"},
        {"write_cache": "always-write-back", "read_cache": "on"},
    ),
    "arcconf of a SmartRAID": ({"acceleration": "none"}, {"acceleration": "controller-cache"}),
    "tw_cli": ({"write_cache": "write-through"}, {"write_cache": "write-back", "storsave": "balance"}),
}
"""Policies at birth where nobody says, and others."""


@pytest.mark.parametrize("name", MAKERS)
async def test_policies_at_birth_are_the_settings_that_are_read_afterwards(name: str) -> None:
    maker, (usual, others) = MAKERS[name], BORN[name]
    for policies in ({}, others):
        bench = Bench(maker)
        plan = await planned(bench.host, Level.RAID5, maker.names(0, 3), **policies)  # type: ignore[arg-type]
        assert plan.request.policies == {**usual, **policies}
        await bench.take(plan.steps)
        found = await bench.find(plan.created_array())
        assert found.target is not None
        readings = await MachineBackends.of(bench.host).read(found.target)
        assert {key: readings[key].now for key in plan.request.policies} == plan.request.policies


@pytest.mark.parametrize(
    ("name", "policy", "why"),
    [
        (
            "ssacli",
            {"write_cache": "write-back"},
            "write_cache cannot be set when creating an array on this controller",
        ),
        (
            "ssacli",
            {"acceleration": "smart-path"},
            "acceleration must be none or controller-cache when creating an array",
        ),
        ("arcconf", {"read_ahead": "none"}, "read_ahead cannot be set when creating an array"),
        (
            "arcconf",
            {"write_cache": "sometimes"},
            "write_cache must be write-through or write-back or always-write-back",
        ),
        ("arcconf of a SmartRAID", {"read_cache": "on"}, "read_cache cannot be set when creating an array"),
        ("storcli", {"auto_bgi": "off"}, "auto_bgi cannot be set when creating an array"),
    ],
)
async def test_what_a_tool_cannot_be_told_at_birth_is_refused_with_what_it_can(
    name: str, policy: dict[str, str], why: str
) -> None:
    with pytest.raises(InvalidValueError, match=why):
        await planned(new_host(), Level.RAID0, MAKERS[name].names(0, 2), **policy)  # type: ignore[arg-type]


async def test_states_of_drives_are_told_beside_what_they_are_used_for() -> None:
    found = await seen(new_host())
    states = {drive.target.address: drive.state for drive in found.drives}
    assert (states["/slot0/1I:1:3"], states["/slot0/2I:1:1"]) == (State.SPARE, State.UNASSIGNED)


async def test_an_old_answer_after_a_kill_is_not_taken_for_nothing_there() -> None:
    bench = Bench(MAKERS["arcconf of a SmartRAID"])
    plan = await bench.plan()
    builder = bench.builder
    await builder.find_made(plan.created_array())
    await bench.host.run(Command(argv=plan.steps[0].argv, mutates=True))
    assert "1" in bench.host.rack.late  # the next answer is that of before
    assert (await builder.find_made(plan.created_array())).state is ArrayMatchState.COMPLETE
