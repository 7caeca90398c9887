"""Cards that are listed with what their tool says: 3ware with three settings, Areca and Marvell with none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from backends.change import ChangeStep
from backends.errors import BlockedError, DeviceGoneError, NotFoundError, RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import Inventory, Level, State
from backends.protocol import SettingsBackend
from backends.settings import Reading, Risk
from backends.simulator import tw_cli
from backends.simulator.threeware import SimulatedThreeware
from backends.system.wrapped import HostWrapper
from backends.vendors.areca.backend import Areca
from backends.vendors.areca.output_parsing import drives
from backends.vendors.marvell.backend import Marvell
from backends.vendors.threeware import VENDOR
from backends.vendors.threeware.backend import Threeware
from backends.vendors.threeware.inventory import unit_target
from backends.vendors.threeware.settings import rows, values
from tests.backends.fakes import FakeHost
from tests.backends.listed.texts import ARECA, MARVELL, PlayedUnit, Telling, threeware
from tests.case_loop import loop_over

UNIT = unit_target("c0", "u0")


async def areca() -> Inventory:
    return await Areca(Telling("cli64", ARECA)).inventory()


async def marvell() -> Inventory:
    return await Marvell(Telling("mvcli", MARVELL)).inventory()


async def reading(key: str, card: SimulatedThreeware | None = None) -> Reading:
    return (await Threeware(PlayedUnit(card)).read(UNIT))[key]


async def test_a_unit_is_shown_with_its_shape_and_its_disk() -> None:
    (one,) = (await Threeware(PlayedUnit()).inventory()).arrays
    assert (one.level, one.state, one.strip_bytes, one.data_drives, one.device) == (
        Level.RAID5,
        State.OPTIMAL,
        64 << 10,
        3,
        "/dev/sdb",
    )


async def test_the_size_of_a_unit_is_that_of_its_disk_which_is_not_rounded() -> None:
    host = PlayedUnit()
    sectors = int(host.files["/sys/block/sdb/size"]) + 1024
    host.files["/sys/block/sdb/size"] = str(sectors)
    (one,) = (await Threeware(host).inventory()).arrays
    assert one.size_bytes == sectors * 512


async def test_a_disk_of_another_size_is_not_the_unit() -> None:
    host = PlayedUnit()
    host.files["/sys/block/sdb/size"] = "1000"
    assert (await Threeware(host).inventory()).arrays[0].device is None


async def test_the_only_card_on_the_bus_is_the_one_that_tw_cli_sees() -> None:
    assert (await Threeware(PlayedUnit()).inventory()).controllers[0].pci == "0000:02:00.0"


@loop_over(
    ("cache", "write", "read"),
    [
        ("RiW", "write-back", "intelligent"),
        ("RbW", "write-back", "basic"),
        ("Ri", "write-through", "intelligent"),
        ("W", "write-back", "off"),
        ("OFF", "write-through", "off"),
        ("ON", "write-back", None),
        ("-", None, None),
        ("", None, None),
    ],
)
def test_the_cache_column_tells_of_reading_and_writing(cache: str, write: str | None, read: str | None) -> None:
    found = values(cache, "ON")
    assert (found["write_cache"], found["read_cache"]) == (write, read)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("write_cache", "write-through", "/c0/u0 set cache=off quiet"),
        ("read_cache", "basic", "/c0/u0 set rdcache=basic"),
        ("auto_verify", "off", "/c0/u0 set autoverify=off"),
        ("storsave", "perform", "/c0/u0 set storsave=perform quiet"),
        ("qpolicy", "off", "/c0/u0 set qpolicy=off"),
    ],
)
async def test_a_change_is_one_command_that_asks_nothing(key: str, value: str, words: str) -> None:
    host = PlayedUnit()
    await Threeware(host).apply(await Threeware(host).plan(UNIT, key, value))
    assert host.ran == [words]


async def test_an_equal_value_is_not_sent() -> None:
    host = PlayedUnit()
    await Threeware(host).apply(await Threeware(host).plan(UNIT, "write_cache", "write-back"))
    assert host.ran == []


async def test_the_write_cache_is_not_offered_while_the_battery_is_not_ready() -> None:
    found = await reading("write_cache", threeware(battery="Charging", write=False))
    assert (
        found.availability.why_not
        == "the battery is charging, so the controller does not cache writes until it is ready"
    )


@pytest.mark.parametrize(("battery", "risk"), [("OK", Risk.NONE), ("-", Risk.POWER_LOSS)])
async def test_write_back_without_a_battery_risks_data(battery: str, risk: Risk) -> None:
    (choice, _) = (await reading("write_cache", threeware(battery=battery))).choices
    assert choice.risk is risk


async def test_a_refusal_shows_the_words_of_the_tool() -> None:
    host = PlayedUnit(threeware(write=False))
    change = await Threeware(host).plan(UNIT, "write_cache", "write-back")
    host.card.battery = "Charging"
    with pytest.raises(ToolFailedError, match=r"Setting Write Cache Policy on /c0/u0 to \[on\] ... Failed."):
        await Threeware(host).apply(change)


async def test_a_command_that_is_not_of_this_change_is_not_run() -> None:
    host = PlayedUnit()
    change = await Threeware(host).plan(UNIT, "write_cache", "write-through")
    foreign = ChangeStep(argv=("/usr/bin/tw_cli", "/c0/u0", "del", "quiet"))
    with pytest.raises(RefusedError, match="the recorded step does not set write cache"):
        await Threeware(host).apply(replace(change, writes=(foreign,)))
    assert host.ran == []


@pytest.mark.parametrize("address", [("c0", "u1"), ("c9", "u0")])
async def test_a_unit_that_is_gone_is_told_as_such(address: tuple[str, str]) -> None:
    with pytest.raises(DeviceGoneError):
        await Threeware(PlayedUnit()).read(unit_target(*address))


async def test_only_units_of_a_card_that_can_be_asked_have_settings() -> None:
    backend = Threeware(PlayedUnit())
    found = await backend.inventory()
    for target in (*(one.target for one in found.controllers), *(one.target for one in found.drives)):
        assert backend.settings(target) == ()
        assert await backend.read(target) == {}
    for target in (replace(UNIT, backend="areca"), replace(UNIT, address="/c0/u0;x")):
        assert backend.settings(target) == ()
        with pytest.raises(NotFoundError):
            await backend.read(target)
    missing = PlayedUnit()
    missing.which = lambda names: None  # type: ignore[method-assign]
    with pytest.raises(NotFoundError):
        await Threeware(missing).read(UNIT)


async def test_a_change_is_locked_with_the_disk_where_there_is_one() -> None:
    here, elsewhere = PlayedUnit(), PlayedUnit()
    elsewhere.files["/sys/block/sdb/size"] = "1000"
    here.files["/sys/block/sdb/device/vpd_pg80"] = "\0\x80\0\x08WD-12345"
    one = await Threeware(here).plan(UNIT, "read_cache", "off")
    other = await Threeware(elsewhere).plan(UNIT, "read_cache", "off")
    assert (other.lock, one.lock.startswith("disk-")) == ("threeware-c0", True)
    assert one.identity is not None
    assert other.identity is not None
    assert (one.identity.model, one.identity.serial, other.identity.serial) == ("9650SE-4LPML", "WD-12345", None)


@pytest.mark.parametrize(("battery", "asked"), [("OK", True), ("-", False)])
async def test_a_battery_is_asked_about_where_there_is_one(battery: str, asked: bool) -> None:
    heard: list[str] = []

    class Heard(PlayedUnit):
        async def run(self, command: Command) -> Completed:
            heard.append(command.argv[-1])
            return await super().run(command)

    found = await Threeware(Heard(threeware(battery=battery))).inventory()
    assert ("bbustatus" in heard) is asked
    assert (found.controllers[0].protection is not None) is asked


async def test_every_setting_tells_the_word_of_its_own_column() -> None:
    found = await Threeware(PlayedUnit()).read(UNIT)
    assert {key: one.raw for key, one in found.items()} == {
        "write_cache": "RiW",
        "read_cache": "RiW",
        "auto_verify": "ON",
        "storsave": "protection",
        "qpolicy": "on",
    }


async def test_only_perform_risks_what_the_battery_keeps() -> None:
    found = await reading("storsave")
    assert (found.now, {one.value: one.risk for one in found.choices}) == (
        "protect",
        {"protect": Risk.NONE, "balance": Risk.NONE, "perform": Risk.POWER_LOSS},
    )


async def test_a_degraded_unit_that_is_protected_does_not_cache_writes() -> None:
    card = threeware(state="DEGRADED", write=False)
    assert "with StorSave `protect`" in str((await reading("write_cache", card)).availability.why_not)
    card.units[0].storsave = "balance"
    assert (await reading("write_cache", card)).availability.available


@pytest.mark.parametrize(
    ("battery", "state"),
    [("OK", "optimal"), ("Charging", "learning"), ("Testing", "learning"), ("Fault", "failed"), ("-", None)],
)
async def test_a_battery_that_charges_is_not_one_that_failed(battery: str, state: str | None) -> None:
    (card,) = (await Threeware(PlayedUnit(threeware(battery=battery))).inventory()).controllers
    assert (None if card.protection is None else card.protection.state) == state


async def test_a_card_that_tells_of_no_battery_may_have_its_write_cache_turned_on() -> None:
    class Silent(PlayedUnit):
        async def run(self, command: Command) -> Completed:
            done = await super().run(command)
            if command.argv[1:] == ("info",):
                return replace(done, stdout=done.stdout.replace("     OK", "       "))
            rows = [line for line in done.stdout.splitlines(keepends=True) if not line.startswith("bbu")]
            return replace(done, stdout="".join(rows))

    found = await Threeware(Silent(threeware(write=False))).read(UNIT)
    assert found["write_cache"].availability.available
    (card,) = (await Threeware(Silent()).inventory()).controllers
    assert card.protection is not None
    assert card.protection.state == "unknown"


async def test_a_unit_that_is_being_initialised_is_not_whole_yet() -> None:
    (unit,) = (await Threeware(PlayedUnit(threeware(state="INITIALIZING"))).inventory()).arrays
    assert (unit.state, [task.kind for task in unit.tasks]) == (State.REBUILDING, ["initialisation"])


async def test_a_battery_that_is_not_ready_stands_against_the_write_cache_alone() -> None:
    found = await Threeware(PlayedUnit(threeware(battery="Charging", write=False))).read(UNIT)
    assert [key for key, one in found.items() if not one.availability.available] == ["write_cache"]
    without = await Threeware(PlayedUnit(threeware(battery="-", write=False))).read(UNIT)
    assert without["write_cache"].availability.available


@pytest.mark.parametrize(
    ("done", "why"),
    [
        (Completed(returncode=0, stdout="Setting x to [on] ... Done.\n", stderr=""), None),
        (Completed(returncode=0, stdout="Setting x ... Failed.\nmore\n", stderr=""), "Setting x ... Failed."),
        (Completed(returncode=0, stdout="first\n(0x0B:0x0017): Not ready\n", stderr=""), "(0x0B:0x0017): Not ready"),
        (Completed(returncode=0, stdout="", stderr="Error: (CLI:008) Invalid.\n"), "Error: (CLI:008) Invalid."),
        (Completed(returncode=1, stdout="first\nlast\n", stderr=""), "last"),
        (Completed(returncode=3, stdout="\n", stderr=""), "it exited with status 3"),
    ],
)
async def test_what_tw_cli_says_decides_and_its_exit_status_where_it_says_nothing(
    done: Completed, why: str | None
) -> None:
    class Saying(PlayedUnit):
        async def run(self, command: Command) -> Completed:
            return done if command.mutates else await super().run(command)

    host = Saying()
    change = await Threeware(host).plan(UNIT, "read_cache", "off")
    if why is None:
        await Threeware(host).apply(change)
        return
    with pytest.raises(ToolFailedError) as caught:
        await Threeware(host).apply(change)
    assert caught.value.message == f"Read cache of threeware:/c0/u0 could not be set: {why.rstrip('.')}."


async def test_a_unit_that_is_built_again_tells_how_far_it_is() -> None:
    table = ("Unit  UnitType  Status         %RCmpl  %V/I/M", "-" * 40, "u0    RAID-5    REBUILDING     37%     -", "")
    text = "\n".join(table)
    (row,) = rows(text, "Unit")
    assert (row["Status"], row["%RCmpl"], row["%V/I/M"]) == ("REBUILDING", "37%", "-")


@pytest.mark.parametrize("text", ["", "----------\n", "Ctl   Model\n"])
def test_a_system_without_cards_has_no_rows(text: str) -> None:
    assert rows(text, "Ctl") == ()


UNITS = """
Unit  UnitType  Status         %RCmpl  %V/I/M  Stripe  Size(GB)  Cache  AVrfy
------------------------------------------------------------------------------
{row}
"""


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("u0    RAID-1    OK             -       -       -       698.637   ON     -", ("u0", "OK", "ON")),
        (" u0    RAID-1    OK             -       -       -       698.637   ON     -", ("u0", "OK", "ON")),
        (
            "u0    RAID-1    VERIFY-AND-BUILD 12   -       -       698.637   ON     -",
            ("u0", "VERIFY-AND-BUILD", "ON"),
        ),
        ("u0    RAID-1    VERIFY-AND-BUILD 12%  -       -       698.637   ON", None),
    ],
)
def test_a_cell_that_is_wider_than_its_title_moves_no_other(row: str, found: tuple[str, str, str] | None) -> None:
    read = [(one["Unit"], one["Status"], one["Cache"]) for one in rows(UNITS.format(row=row), "Unit", "Status")]
    assert read == ([] if found is None else [found])


@pytest.mark.parametrize("root", [True, False])
async def test_without_root_nothing_is_asked_and_the_reason_is_told(root: bool) -> None:
    for found in (
        await Areca(Telling("cli64", ARECA, root=root)).inventory(),
        await Marvell(Telling("mvcli", MARVELL, root=root)).inventory(),
        await Threeware(PlayedUnit(root=root)).inventory(),
    ):
        assert bool(found.controllers) is root
        assert bool(found.problems) is not root


async def test_an_areca_card_shows_its_caches_as_facts_and_why_nothing_is_set() -> None:
    (card,) = (await areca()).controllers
    told = {fact.label: fact.value for fact in card.facts}
    assert (card.model, card.pci, told["Disk Write Cache Mode"]) == ("ARC-1222", "0000:03:00.0", "Auto")
    assert told["Settings"].startswith("read-only: the cli64 commands")


async def test_areca_drives_have_their_state_and_their_raid_set() -> None:
    found = await areca()
    assert [(one.model, one.state, str(one.array)) for one in found.drives] == [
        ("ST3750640AS", State.ONLINE, "areca:set 1"),
        ("WDC WD7500AYYS-01RCA0", State.FAILED, "None"),
        ("ST3750640AS", State.SPARE, "None"),
    ]
    assert found.arrays[0].state is State.DEGRADED


@pytest.mark.parametrize("place", ["Slot#1 ", "SLOT 01", "Slot 01", "Slot 1 ", "EXTP 01"])
def test_an_areca_drive_in_an_enclosure_has_its_own_model_and_place(place: str) -> None:
    title = "  # Enc# Slot#   ModelName                        Capacity  Usage\n"
    empty = f" 10  02  {place} N.A.                                0.0GB  N.A.\n"
    (one,) = drives(f"{title}  9  02  {place} TOSHIBA MK2001TRKB              2000.4GB  Raid Set # 000\n{empty}")
    assert (one.number, one.model, one.usage) == ("9", "TOSHIBA MK2001TRKB", "Raid Set # 000")
    assert one.place in ("02:1", "02:01")


@pytest.mark.parametrize(
    "row",
    [
        "  9  02  Bay/01  TOSHIBA MK2001TRKB              2000.4GB  Raid Set # 000",
        "  9  2   TOSHIBA MK2001TRKB                      2000.4GB  Raid Set # 000",
    ],
)
def test_a_row_that_does_not_stand_below_its_title_is_no_areca_drive(row: str) -> None:
    assert drives(f"  # Enc# Slot#   ModelName        Capacity  Usage\n{row}\n") == ()


async def test_rows_of_an_areca_card_that_are_not_understood_are_told() -> None:
    strange = ARECA["disk", "info"].replace("02  SLOT 01", "02  Bay/01 ")
    (problem,) = (await Areca(Telling("cli64", {**ARECA, ("disk", "info"): strange})).inventory()).problems
    assert problem.message == "1 row of the output of `cli64 disk info` cannot be parsed."


@pytest.mark.parametrize(
    ("word", "state", "tasks"),
    [("Normal", State.OPTIMAL, []), ("Initializing", State.OPTIMAL, ["initialisation"]), ("Foo", State.UNKNOWN, [])],
)
async def test_an_areca_raid_set_says_what_the_card_does_with_it(word: str, state: State, tasks: list[str]) -> None:
    texts = {**ARECA, ("rsf", "info"): ARECA["rsf", "info"].replace("Degraded", word)}
    (one,) = (await Areca(Telling("cli64", texts)).inventory()).arrays
    assert (one.state, [task.kind for task in one.tasks]) == (state, tasks)


async def test_an_areca_hot_spare_of_any_kind_is_a_spare() -> None:
    texts = {**ARECA, ("disk", "info"): ARECA["disk", "info"].replace("HotSpare", "HotSpare[Global]")}
    assert (await Areca(Telling("cli64", texts)).inventory()).drives[-1].state is State.SPARE


def test_areca_drives_on_channels_are_read_too() -> None:
    (one,) = drives("  # Ch# ModelName       Capacity  Usage\n 12 12  ACME 1          750.2GB  data\n")
    assert (one.number, one.place, one.model, one.usage) == ("12", "12", "ACME 1", "data")


async def test_a_marvell_mirror_is_shown_with_its_drives_behind_any_noise() -> None:
    found = await marvell()
    (one,) = found.arrays
    assert (one.name, one.level, one.state, one.size_bytes, one.strip_bytes) == (
        "boot",
        Level.RAID1,
        State.DEGRADED,
        228872 << 20,
        64 << 10,
    )
    assert [str(drive.array) for drive in found.drives] == ["marvell:0/0", "marvell:0/0"]


async def test_a_marvell_card_says_why_nothing_is_set() -> None:
    (card,) = (await marvell()).controllers
    assert next(fact.value for fact in card.facts if fact.label == "Settings").startswith(
        "none: the controller caches nothing"
    )


@pytest.mark.parametrize("backend", [Areca(Telling("cli64", ARECA)), Marvell(Telling("mvcli", MARVELL))])
def test_what_is_only_listed_sets_nothing(backend: object) -> None:
    assert not isinstance(backend, SettingsBackend)


async def test_a_recording_asks_for_what_no_recorded_answer_tells() -> None:
    card = Asked(Telling("cli64", ARECA))
    assert await Areca(card).ask_legal_values((await areca()).controllers[0].target) == 1
    assert card.lines == ["vsf info"]


class Asked(HostWrapper):
    """Notes what is asked of the tool."""

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self.lines: list[str] = []

    async def run(self, command: Command) -> Completed:
        assert not command.mutates
        self.lines.append(" ".join(command.argv[1:]))
        return await self._inner.run(command)


LIBRARY = "error while loading shared libraries: libstdc++.so.5: cannot open shared object file"


class _Dying(Telling):
    """The tool cannot be loaded."""

    async def run(self, command: Command) -> Completed:
        return Completed(returncode=127, stdout="", stderr=f"{command.argv[0]}: {LIBRARY}\n")


@pytest.mark.parametrize(
    ("backend", "tool"),
    [(Areca(_Dying("cli64", {})), "cli64"), (Marvell(_Dying("mvcli", {})), "mvcli")],
    ids=["cli64", "mvcli"],
)
async def test_what_a_tool_says_while_it_dies_is_told_once(backend: Areca | Marvell, tool: str) -> None:
    (problem,) = (await backend.inventory()).problems
    assert problem.message == f"/usr/bin/{tool} reports: /usr/bin/{tool}: {LIBRARY} (exit status 127)."


class _Cut(HostWrapper):
    """A machine on which one answer stops after so many characters."""

    def __init__(self, inner: Host, words: str, at: int) -> None:
        super().__init__(inner)
        self.words, self.at = words, at

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        return replace(done, stdout=done.stdout[: self.at]) if " ".join(command.argv[1:]) == self.words else done


@pytest.mark.parametrize("word", ["unitstatus", "drivestatus", "bbustatus"])
async def test_each_half_answer_of_tw_cli_is_told_where_devices_are_listed(word: str) -> None:
    (problem,) = (await Threeware(_Cut(PlayedUnit(), f"info c0 {word}", 60)).inventory()).problems
    assert (problem.where, "incomplete output" in problem.message) == ("threeware:/c0", True)


async def test_members_of_an_areca_raid_set_are_not_counted_on_half_a_list() -> None:
    text = ARECA["disk", "info"]
    cut = _Cut(Telling("cli64", ARECA), "disk info", text.index("  3  02"))
    (one,) = (await Areca(cut).inventory()).arrays
    assert one.members == ()


class _WithSpare(PlayedUnit):
    """The fourth drive is a spare."""

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        text = done.stdout.replace("p3    OK             u0", "p3    OK             u1")
        if command.argv[-1] == "info":
            text = text.replace("4        1       0", "4        2       0")
        if command.argv[-1] == "unitstatus":
            text = text.rstrip() + "\nu1    SPARE     OK             -       -       -       465.76    -      -\n"
        return replace(done, stdout=text)


async def test_a_spare_is_no_member_while_it_is_not_known_to_be_one() -> None:
    whole, half = [
        (await Threeware(_Cut(_WithSpare(), "info c0 unitstatus", at)).inventory()).drives[3] for at in (1000, 240)
    ]
    assert (whole.state, whole.array) == (State.SPARE, None)
    assert (half.state, half.array) == (State.UNKNOWN, None)


async def test_write_back_counts_as_a_risk_while_the_battery_is_not_known() -> None:
    at = tw_cli.answer((PlayedUnit().card,), ("info", "c0", "bbustatus")).text.index("bbu ")
    found = (await Threeware(_Cut(PlayedUnit(), "info c0 bbustatus", at)).read(UNIT))["write_cache"]
    assert (found.choices[0].risk, found.availability.available) == (Risk.POWER_LOSS, False)


@pytest.mark.parametrize("words", ["info", "info c0 unitstatus"])
async def test_a_unit_that_half_an_answer_does_not_name_is_not_said_to_be_gone(words: str) -> None:
    with pytest.raises(ToolFailedError, match="incomplete output"):
        await Threeware(_Cut(PlayedUnit(), words, 20)).read(UNIT)


@pytest.mark.parametrize(("words", "at"), [("info c0 drivestatus", 300), ("info c0 bbustatus", 160)])
async def test_nothing_is_planned_on_a_unit_while_an_answer_about_its_card_is_cut(words: str, at: int) -> None:
    with pytest.raises(BlockedError, match="incomplete output"):
        await Threeware(_Cut(PlayedUnit(), words, at)).plan(UNIT, "read_cache", "off")


@pytest.mark.parametrize(("words", "at"), [("info c0 drivestatus", 300), ("info c0 bbustatus", 160)])
async def test_a_way_back_does_not_need_what_its_card_says_of_anything_else(words: str, at: int) -> None:
    back = await Threeware(_Cut(PlayedUnit(), words, at)).back(UNIT, "read_cache", "off", {})
    assert (back.after, len(back.writes)) == ("off", 1)


async def test_members_of_a_unit_are_not_counted_on_half_a_list() -> None:
    (unit,) = (await Threeware(_Cut(PlayedUnit(), "info c0 drivestatus", 300)).inventory()).arrays
    assert (unit.members, unit.data_drives) == ((), None)


async def test_a_battery_of_which_the_answer_was_cut_is_not_said_to_have_failed() -> None:
    (card,) = (await Threeware(_Cut(PlayedUnit(), "info c0 bbustatus", 170)).inventory()).controllers
    assert card.protection is not None
    assert card.protection.state == "unknown"


async def test_a_card_that_tw_cli_does_not_list_and_the_kernel_has_is_told() -> None:
    host = PlayedUnit()
    host.files["/sys/bus/pci/drivers/3w-9xxx/0000:04:00.0/vendor"] = "0x13c1"
    (problem,) = (await Threeware(host).inventory()).problems
    assert problem.message.endswith("incomplete output: the kernel has 2 controllers, tw_cli lists 1.")


async def test_drives_are_not_free_while_the_volumes_of_their_card_are_not_known() -> None:
    cut = _Cut(Telling("mvcli", MARVELL), "info -o vd", 150)
    assert {one.state for one in (await Marvell(cut).inventory()).drives} == {State.UNKNOWN}


@pytest.mark.parametrize(
    ("status", "state", "task"),
    [
        ("REBUILD-PAUSED", State.REBUILDING, "rebuild"),
        ("INIT-PAUSED", State.REBUILDING, "initialisation"),
        ("VERIFY-PAUSED", State.OPTIMAL, "consistency-check"),
        ("MIGRATE-PAUSED", State.OPTIMAL, "reshape"),
        ("RECOVERY", State.DEGRADED, None),
        ("SOMETHING-ELSE", State.UNKNOWN, None),
    ],
)
async def test_a_paused_task_is_told_as_the_same_task(status: str, state: State, task: str | None) -> None:
    (unit,) = (await Threeware(PlayedUnit(threeware(state=status))).inventory()).arrays
    assert (unit.state, [one.kind for one in unit.tasks]) == (state, [] if task is None else [task])
    assert all(one.paused for one in unit.tasks)
    assert unit.why == status.lower().replace("-", " ")


NVME: Mapping[tuple[str, ...], str] = {
    ("info", "-o", "hba"): (
        "NVMe Controller ID                   3\nBus Device Fun:                      5e:00.00\n"
        "Device:                              /dev/nvme3\nSUBNQN:                              Boot   Kit\n"
        "Firmware Version:                    1.2.3\nVID:                                 0x1b4b\n"
        "DID:                                 0x2241\nSupported RAID Mode:                 RAID1\n\n"
        "Total # of HBA:      1\n"
    ),
    ("info", "-o", "vd"): (
        "VD ID:               0\nName:                boot\nStatus:              Degraded\n"
        "RAID Mode:           RAID1\nsize:                447 GB\nPDs:                 0 1 \n"
        "Stripe Block Size:   128K\n\nTotal # of VD:       1\n"
    ),
    ("info", "-o", "pd"): "".join(
        f"PD ID:               {number}\nModel:               ACME 480\nSerial:              S{number}\n"
        f"Sector Size:         512 bytes\nSize:                447 GB\nStatus:              {status}\n\n"
        for number, status in enumerate(("Idle", "Rebuilding", "Idle"))
    )
    + "Total # of PD:       3\n",
}


async def test_an_nvme_boot_card_is_listed_with_its_mirror_and_drives() -> None:
    found = await Marvell(Telling("mnv_cli", NVME)).inventory()
    (card,), (mirror,) = found.controllers, found.arrays
    assert (str(card.target), card.pci, card.firmware) == ("marvell:nvme3", "0000:5e:00.0", "1.2.3")
    assert (mirror.level, mirror.state, mirror.strip_bytes, len(mirror.members)) == (
        Level.RAID1, State.DEGRADED, 131072, 2,
    )  # fmt: skip
    assert [drive.state for drive in found.drives] == [State.ONLINE, State.REBUILDING, State.UNASSIGNED]
    assert found.problems == ()


async def test_of_several_nvme_boot_cards_no_array_is_given_to_any() -> None:
    twice = {**NVME, ("info", "-o", "hba"): NVME["info", "-o", "hba"].replace("Total", "") * 2 + "Total # of HBA: 2\n"}
    twice["info", "-o", "hba"] = twice["info", "-o", "hba"].replace("nvme3", "nvme4", 1)
    found = await Marvell(Telling("mnv_cli", twice)).inventory()
    assert (len(found.controllers), found.arrays, found.drives) == (2, (), ())
    assert "reports 2 controllers" in found.problems[-1].message


@pytest.mark.parametrize(("tool", "answers"), [("mvcli", MARVELL), ("mnv_cli", NVME)])
async def test_a_list_of_virtual_disks_that_is_shorter_than_its_count_is_told(
    tool: str, answers: Mapping[tuple[str, ...], str]
) -> None:
    vd = ("info", "-o", "vd")
    short = {**answers, vd: re.sub(r"(Total # of VD: +)1", r"\g<1>2", answers[vd])}
    found = await Marvell(Telling(tool, short)).inventory()
    assert ["it counts 2 and lists 1" in problem.message for problem in found.problems] == [True]
    assert State.UNASSIGNED not in [drive.state for drive in found.drives]


@pytest.mark.parametrize(("tool", "there"), [("tw_cli", True), ("cli64", False)])
async def test_an_installed_tool_is_asked_whatever_the_kernel_drives(tool: str, there: bool) -> None:
    host = FakeHost({}, tools={tool: Completed(returncode=0, stdout="", stderr="")})
    assert await VENDOR.present(host) is there


async def test_a_task_that_runs_is_not_paused() -> None:
    (unit,) = (await Threeware(PlayedUnit(threeware(state="REBUILDING"))).inventory()).arrays
    assert [(one.kind, one.paused) for one in unit.tasks] == [("rebuild", False)]
