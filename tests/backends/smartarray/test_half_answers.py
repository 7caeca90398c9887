"""Half an answer of ssacli or arcconf: nothing is invented, every loss is told, nothing is planned on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from backends.errors import BlockedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import State, Target
from backends.protocol import InventoryBackend
from backends.simulator.smartarray import arcconf, ssacli
from backends.simulator.smartarray.cards import SmartCard
from backends.simulator.tool_output import SimulatedOutput
from backends.testing.truncation import TruncatedOutputTests, every_line, seeded
from backends.tool_output import CUT
from backends.vendors.smartarray.addresses import card_target, drive_target, volume_target
from backends.vendors.smartarray.arcconf.commands import STATUS, WHOLE
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smartarray.ssacli.completeness import missing
from tests.backends.smartarray.cards import HPE, SERIES, SMARTRAID, PlayedCards
from tests.backends.smartarray.test_ssacli_parsing import OLD
from tests.backends.smartarray.texts import NO_COLUMNS, SMART
from tests.backends.smartarray.texts import SERIES as SERIES_TEXT
from tests.case_loop import loop_over

OLD_WHOLE = OLD.replace("SATA HDD, 250", "SATA SSD, 250").replace(
    "\n   unassigned",
    "\n      physicaldrive 1I:1:4\n         Status: Predictive Failure\n"
    "         Interface Type: SATA\n         Size: 100 GB\n\n   unassigned",
)
TWO_IN_ONE_SEAT = SERIES_TEXT.replace(
    "      Device #2\n",
    "      Device #3\n         Device is a Hard drive\n         Reported Channel,Device(T:L) : 0,19(19:0)\n"
    "         Reported Location : Enclosure 0, Slot 1\n      Device #2\n",
)
CONFIG = "ctrl slot=0 show config detail"
HPE_TEXT = ssacli.answer((HPE,), CONFIG.split())[0].text
SMART_TEXT = arcconf.answer((SMARTRAID,), ("getconfig", "1", "al"))[0].text
LOW = replace(HPE, battery="Failed (Replace Batteries)")


def saying(text: str, words: str = CONFIG, **cards: tuple[SmartCard, ...]) -> PlayedCards:
    """A machine whose tool says this text."""
    host = PlayedCards(**(cards or {"hpe": (HPE,)}))  # type: ignore[arg-type]
    host.instead[words] = SimulatedOutput(text=text)
    return host


MACHINES: dict[str, tuple[Callable[[], PlayedCards], tuple[Target, ...]]] = {
    "Smart Array": (lambda: PlayedCards((HPE,)), (card_target("/slot0"), volume_target("/slot0", 1))),
    "Smart Array without its battery": (lambda: PlayedCards((LOW,)), (card_target("/slot0"),)),
    "Smart Array that hands on its drives": (lambda: PlayedCards((replace(HPE, hba=True, volumes=()),)), ()),
    "an old Smart Array": (lambda: saying(OLD_WHOLE), ()),
    "SmartRAID": (lambda: PlayedCards(adaptec=(SMARTRAID,)), (card_target("/arc1"), volume_target("/arc1", 1))),
    "SmartRAID, as recorded": (lambda: saying(SMART, "getconfig", adaptec=(SMARTRAID,)), ()),
    "series 5": (
        lambda: PlayedCards(adaptec=(SERIES,)),
        (card_target("/aac1"), volume_target("/aac1", 0), drive_target("/aac1", "0:2")),
    ),
    "series 6, as recorded": (lambda: saying(SERIES_TEXT, "getconfig", adaptec=(SERIES,)), ()),
    "two drives that tell of one seat": (lambda: saying(TWO_IN_ONE_SEAT, "getconfig", adaptec=(SERIES,)), ()),
    "an old build": (lambda: saying(NO_COLUMNS, "getconfig", adaptec=(SERIES,)), ()),
}


@pytest.mark.long
class TestHalfAnswers(TruncatedOutputTests):
    @pytest.fixture(params=sorted(MACHINES))
    def played(self, request: pytest.FixtureRequest) -> tuple[Callable[[], PlayedCards], tuple[Target, ...]]:
        return MACHINES[request.param]

    @pytest.fixture
    def machine(self, played: tuple[Callable[[], PlayedCards], tuple[Target, ...]]) -> Callable[[], Host]:
        return played[0]

    @pytest.fixture
    def targets(self, played: tuple[Callable[[], PlayedCards], tuple[Target, ...]]) -> tuple[Target, ...]:
        return played[1]

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return SmartArray


@pytest.mark.exhaustive
class TestEveryLine(TestHalfAnswers):
    places = staticmethod(every_line)


def behind(text: str, words: str) -> str:
    """The text up to and with these words."""
    return text[: text.index(words) + len(words)]


DYING = "error while loading shared libraries: libz.so.9: cannot open shared object file"


class Dying(PlayedCards):
    """A machine whose tools die before they say anything."""

    async def run(self, command: Command) -> Completed:
        name = command.argv[0].rpartition("/")[2]
        return Completed(returncode=127, stdout="", stderr=f"{name}: {DYING}\n")


CARDS: list[tuple[dict[str, tuple[SmartCard, ...]], str, str]] = [
    ({"hpe": (HPE,)}, CONFIG, HPE_TEXT),
    ({"adaptec": (SMARTRAID,)}, "getconfig", SMART_TEXT),
]


@pytest.mark.parametrize(("cards", "words", "text"), CARDS, ids=["ssacli", "arcconf"])
async def test_an_exit_status_says_that_an_answer_is_half_of_one_however_it_looks(
    cards: dict[str, tuple[SmartCard, ...]], words: str, text: str
) -> None:
    host = saying(text, words, **cards)
    host.instead[words] = SimulatedOutput(text=text, code=1)
    backend = SmartArray(host)
    found = await backend.inventory()
    assert [problem.message.partition(": ")[2] for problem in found.problems] == [f"{CUT}: exit status 1."]
    with pytest.raises(BlockedError, match=CUT):
        await backend.plan(found.arrays[0].target, "acceleration", "none")


@pytest.mark.parametrize(("cards", "words", "text"), CARDS, ids=["ssacli", "arcconf"])
async def test_nothing_is_planned_on_half_an_answer(
    cards: dict[str, tuple[SmartCard, ...]], words: str, text: str
) -> None:
    whole = SmartArray(saying(text, words, **cards))
    target = (await whole.inventory()).arrays[0].target
    assert (await whole.plan(target, "acceleration", "none")).writes
    for at in seeded(50)(text[: text.rindex("Size")]):
        with pytest.raises((BlockedError, ToolFailedError), match=CUT + "|said"):
            await SmartArray(saying(text[:at], words, **cards)).plan(target, "acceleration", "none")


async def test_an_answer_cut_between_plan_and_change_changes_nothing() -> None:
    host = PlayedCards((HPE,))
    backend = SmartArray(host)
    change = await backend.plan(volume_target("/slot0", 1), "acceleration", "none")
    host.instead[CONFIG] = SimulatedOutput(text=behind(HPE_TEXT, "Unassigned\n"))
    with pytest.raises(BlockedError, match=CUT):
        await backend.apply(change)
    assert host.sets == []


async def test_what_half_an_answer_does_not_tell_is_not_gone() -> None:
    backend = SmartArray(saying(behind(HPE_TEXT, "Array: A\n")))
    assert (await backend.inventory()).arrays == ()
    with pytest.raises(BlockedError, match=CUT):
        await backend.read(volume_target("/slot0", 1))


async def test_a_battery_line_that_was_cut_off_is_no_missing_battery() -> None:
    (card,) = (await SmartArray(saying(behind(OLD, "Battery/Capacito"))).inventory()).controllers
    assert (card.model, card.protection) == ("Smart Array P400i", None)


async def test_a_battery_without_a_status_line_is_judged_by_the_cache_alone() -> None:
    text = OLD.replace("   Battery/Capacitor Status: Failed (Replace Batteries)\n", "")
    (card,) = (await SmartArray(saying(text)).inventory()).controllers
    assert card.protection is not None
    assert card.protection.state == "failed"  # the cache is off, and says that the batteries are low
    silent = text.replace("   Cache Status: Temporarily Disabled\n", "")
    (card,) = (await SmartArray(saying(silent)).inventory()).controllers
    assert card.protection is not None
    assert (card.protection.kind, card.protection.state) == ("bbu", "unknown")


@pytest.mark.parametrize("words", ["Physical Drives", "   Array: A\n", "Unassigned\n", "2I:1:3\n", "Bay: 3\n"])
async def test_a_drive_that_is_only_named_is_never_online(words: str) -> None:
    text = HPE_TEXT[: HPE_TEXT.rindex(words) + len(words)]
    found = await SmartArray(saying(text)).inventory()
    assert all(drive.state is not State.ONLINE for drive in found.drives if drive.target.address.endswith(":3"))


async def test_drives_are_not_counted_where_some_may_be_lost() -> None:
    for cards in ((SERIES,), (replace(SERIES, volumes=(replace(SERIES.volumes[0], level="0"),)),)):
        text = arcconf.answer(cards, ("getconfig", "1", "al"))[0].text
        (whole,) = (await SmartArray(saying(text, "getconfig", adaptec=cards)).inventory()).arrays
        half = saying(behind(text, "Physical Device information\n"), "getconfig", adaptec=cards)
        (array,) = (await SmartArray(half).inventory()).arrays
        assert (whole.data_drives is None, array.data_drives) == (False, None)


async def test_a_missing_member_counts_as_one_of_the_array() -> None:
    text = SERIES_TEXT.replace("6 Reed-Solomon", "6")
    (first, _) = (await SmartArray(saying(text, "getconfig", adaptec=(SERIES,))).inventory()).arrays
    assert first.data_drives == 2


async def test_work_that_half_an_answer_may_hide_blocks_every_change() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    host.instead["getstatus"] = SimulatedOutput(
        text="Controllers found: 1\nLogical device Task:\n   Logical device : 1\n"
    )
    found = await SmartArray(host).inventory()
    assert [problem.message for problem in found.problems] == [
        f"/usr/Arcconf/arcconf getstatus 1: {CUT}: the last line is missing."
    ]
    with pytest.raises(BlockedError, match=CUT):
        await SmartArray(host).plan(volume_target("/arc1", 1), "acceleration", "none")


async def test_a_card_that_refuses_getstatus_is_whole() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    refusal = "Controllers found: 1\nThe requested feature is not supported on this controller.\n\nCommand aborted.\n"
    host.instead["getstatus"] = SimulatedOutput(text=refusal, code=1)
    assert (await SmartArray(host).inventory()).problems == ()


async def test_a_list_that_lost_a_card_is_noticed_by_what_the_kernel_has() -> None:
    host = PlayedCards((HPE, replace(HPE, number="1")))
    for address in ("0000:5c:00.0", "0000:5d:00.0"):
        host.links[f"/sys/bus/pci/drivers/hpsa/{address}"] = f"/sys/devices/pci0000:00/{address}"
    host.instead["ctrl all show"] = SimulatedOutput(text=f"\n{HPE.model} in Slot 0\n")
    (problem,) = (await SmartArray(host).inventory()).problems
    assert (
        problem.message == "The kernel has 2 Smart Array or Adaptec controllers, /usr/sbin/ssacli finds 1 controller."
    )


async def test_a_slot_whose_number_was_cut_is_asked_for_nothing() -> None:
    host = PlayedCards((replace(HPE, number="1"),))
    host.instead["ctrl all show"] = SimulatedOutput(text=f"\n{HPE.model} in Slot 0\n\n{HPE.model} in Slot 1")
    found = await SmartArray(host).inventory()
    assert "ctrl slot=1 show config detail" not in host.ran
    assert any(CUT in problem.message for problem in found.problems)


@pytest.mark.parametrize(("tool", "cards"), [("ssacli", {"hpe": (HPE,)}), ("arcconf", {"adaptec": (SMARTRAID,)})])
async def test_what_a_tool_says_while_it_dies_is_told_once_and_nothing_else(
    tool: str, cards: dict[str, tuple[SmartCard, ...]]
) -> None:
    host = Dying(**cards)  # type: ignore[arg-type]
    host.links["/sys/bus/pci/drivers/smartpqi/0000:05:00.0"] = "/sys/devices/pci0000:00/0000:05:00.0"
    words = [problem.message for problem in await SmartArray(host).diagnose()]
    (said, seen) = words
    assert said.count(DYING) == said.count("exit status 127") == 1
    assert said.count(f"/{tool}") == 1
    assert seen == "The kernel has a Smart Array or Adaptec controller, but no tool finds it."
    assert [problem.message for problem in (await SmartArray(host).inventory()).problems] == words


async def test_a_tool_that_is_installed_and_dies_is_not_to_be_installed() -> None:
    host = Dying((HPE,))
    host.links["/sys/bus/pci/drivers/hpsa/0000:05:00.0"] = "/sys/devices/pci0000:00/0000:05:00.0"
    assert [problem.hint for problem in await SmartArray(host).diagnose()] == [
        "Run the command manually: /usr/sbin/ssacli ctrl all show",
        "Scan the devices again.",
    ]


async def test_a_card_of_a_tool_that_dies_is_not_said_to_be_none() -> None:
    with pytest.raises(ToolFailedError, match=DYING):
        await SmartArray(Dying((HPE,))).read(card_target("/slot0"))


async def test_a_card_that_could_not_be_read_is_not_said_to_be_none() -> None:
    host = saying("\nError: The card sleeps.\n\n")
    with pytest.raises(ToolFailedError, match="The card sleeps"):
        await SmartArray(host).read(card_target("/slot0"))


@loop_over(
    ("until", "words"),
    [
        ("         PHY Count", "it ends in drive 2I:1:3"),
        ("         Serial Number", "it ends in drive 2I:1:3"),
        ("\n   Unassigned", "drive 2I:1:3 is named but not described"),
        ("\n      physicaldrive 2I:1:2", "drive 2I:1:2 is named but not described"),
        ("\n   Array: A", "drive 2I:1:1 is named but not described"),
        ("   Physical Drives", "the output ends before the drives"),
        ("   Cache Status", "the output ends before the drives"),
        ("   SEP", ""),
        ("EP", "the last line is truncated"),
    ],
)
def test_what_half_an_answer_of_ssacli_lacks_is_said(until: str, words: str) -> None:
    assert missing(HPE_TEXT) == ""
    assert missing(HPE_TEXT[: HPE_TEXT.rindex(until)]) == words


def test_an_array_with_too_few_drives_is_half_of_one() -> None:
    """Of a build that lists no drives of the cages."""
    start, end = HPE_TEXT.index("   Physical Drives"), HPE_TEXT.index("\n   Array: A")
    bare = HPE_TEXT[:start] + HPE_TEXT[end:]
    assert missing(bare) == ""
    assert missing(bare[: bare.index("\n      physicaldrive 2I:1:2")]) == (
        "array A names 1 drives, but logical drive 1 needs more"
    )


def test_a_card_without_drives_is_whole() -> None:
    assert missing(OLD_WHOLE) == ""
    assert missing(ssacli.answer((replace(HPE, bays=(), volumes=()),), CONFIG.split())[0].text) == ""


def test_an_array_with_a_logical_drive_that_was_cut_is_half_of_one() -> None:
    """Of a build that lists no drives of the cages, behind an array that is whole."""
    other = replace(HPE.volumes[0], number=2, group="B")
    bays = (*HPE.bays, *(replace(bay, place=f"2I:2:{at}", group="B") for at, bay in enumerate(HPE.bays[:2], 1)))
    text = ssacli.answer((replace(HPE, volumes=(*HPE.volumes, other), bays=bays),), CONFIG.split())[0].text
    bare = text[: text.index("   Physical Drives")] + text[text.index("\n   Array: A") :]
    assert missing(bare) == ""
    assert missing(bare[: bare.rindex("         Drive Type: Data\n")]) == "it ends in logical drive 2"


def test_a_drive_that_failed_may_be_named_without_being_described() -> None:
    row = "      physicaldrive 2I:1:3 (port 2I:box 1:bay 3, SATA SSD, 960 GB, OK)\n"
    assert row in HPE_TEXT
    gone = "      physicaldrive 2I:1:9 (port 2I:box 1:bay 9, SATA SSD, 960 GB, {})\n"
    assert missing(HPE_TEXT.replace(row, row + gone.format("Failed"))) == ""
    assert missing(HPE_TEXT.replace(row, row + gone.format("OK"))) == "drive 2I:1:9 is named but not described"


def test_a_drive_that_the_card_hands_on_is_told_to_its_name() -> None:
    handed_on = HPE_TEXT.replace("         WWID", "         Drive exposed to OS: True\n         WWID")
    text = handed_on[: handed_on.rindex("\n\n   SEP")]
    assert missing(f"{text}\n") == "it ends in drive 2I:1:3"
    assert missing(f"{text}\n         Disk Name: /dev/sda\n") == ""


def test_a_name_that_looks_like_the_last_line_ends_no_answer() -> None:
    done = Completed(returncode=0, stdout="   Logical device name : Command completed successfully.\n", stderr="")
    assert WHOLE.lost(done) == "the last line is missing"
    assert WHOLE.lost(replace(done, stdout="Command completed successfully.\n-----\n\n")) == ""


def test_an_answer_that_is_too_long_or_of_a_killed_tool_is_half_of_one() -> None:
    done = Completed(returncode=0, stdout="Command completed successfully.\n", stderr="")
    assert STATUS.lost(done) == ""
    assert STATUS.lost(replace(done, truncated=True)) == "it is too long"
    assert STATUS.lost(replace(done, returncode=-9, stderr="Killed\n")) == "Killed (ended by signal 9)"


async def test_a_share_of_work_that_was_cut_in_its_figure_is_not_told() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    lines = "Logical device : 1\nCurrent operation : Rebuild\nPercentage complete : 3"
    for more, told in (("5\nCommand completed successfully.\n", [0.35]), ("", [])):
        host.instead["getstatus"] = SimulatedOutput(text=lines + more)
        (array,) = (await SmartArray(host).inventory()).arrays
        assert [task.progress for task in array.tasks] == told


async def test_a_count_of_controllers_that_was_cut_in_its_figure_is_none() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    host.instead["list"] = SimulatedOutput(text="Controllers found: 1")
    (problem,) = (await SmartArray(host).inventory()).problems
    assert problem.message == f"/usr/Arcconf/arcconf list: {CUT}: the last line is missing."
    assert not [line for line in host.ran if line.startswith("getconfig")]


async def test_a_form_of_the_usage_that_was_cut_is_not_used() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    host.instead["setcache"] = SimulatedOutput(text=behind(arcconf.USAGE, "CACHERATIO <read#> <wri"))
    readings = await SmartArray(host).read(card_target("/arc1"))
    assert readings["drive_write_cache"].availability.available
    assert readings["cache_ratio"].availability.why_not == "the arcconf command for it is unknown"


async def test_a_value_on_offer_that_was_cut_in_its_figure_is_not_offered() -> None:
    host = PlayedCards((HPE,))
    host.instead["ctrl slot=0 ld 1 modify ss=?"] = SimulatedOutput(
        text="\nAvailable options are:\n       256\n       10"
    )
    choices = (await SmartArray(host).read(volume_target("/slot0", 1)))["strip_size"].choices
    assert [one.value for one in choices] == [str(256 << 10)]


async def test_the_doctor_hears_of_half_an_answer() -> None:
    (problem,) = await SmartArray(saying(behind(HPE_TEXT, "Array: A\n"))).diagnose()
    assert problem.message == f"/usr/sbin/ssacli {CONFIG}: {CUT}: drive 2I:1:1 is named but not described."


async def test_four_settings_of_a_smartraid_are_set_without_the_word_that_their_usage_has_not() -> None:
    host = PlayedCards(adaptec=(SMARTRAID,))
    backend = SmartArray(host)
    wishes = {
        "cache_ratio": "50/50", "no_battery_write_cache": "enable", "wait_for_cache_room": "enable",
        "write_cache_bypass": "512",
    }  # fmt: skip
    for key, value in wishes.items():
        await backend.apply(await backend.plan(card_target("/arc1"), key, value))
    assert len(host.sets) == len(wishes)
    assert not [line for line in host.sets if "noprompt" in line]
    change = await backend.plan(volume_target("/arc1", 1), "acceleration", "none")
    assert change.writes[0].argv[-1] == "noprompt"
