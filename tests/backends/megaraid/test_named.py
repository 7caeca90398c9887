"""What storcli and MegaCli say of another card or virtual drive, or of one twice, is believed of none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from backends.errors import BlockedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Level, State
from backends.vendors.megaraid.addresses import volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.megacli.reader import misnaming_reason
from backends.vendors.megaraid.megacli.volumes import parse_background, parse_volumes
from backends.vendors.megaraid.storcli.document import replies
from backends.vendors.megaraid.storcli.named import misnaming_reason as misnamed_reply
from backends.vendors.megaraid.storcli.verdict import judge
from backends.vendors.megaraid.storcli.volumes import volumes
from tests.backends.megaraid import answers
from tests.backends.megaraid import megacli_texts as texts
from tests.backends.megaraid.cards import PlayedCard
from tests.backends.megaraid.test_half_answers import AGREEING, Card
from tests.case_loop import loop_over

V1 = volume_target("/c0", 1)

# -- MegaCli ----------------------------------------------------------------------------------------------------------


@loop_over(
    ("words", "text", "reason"),
    [
        ("-LdPdInfo -a3", "Adapter #3\n\nVirtual Drive: 0 (Target Id: 0)\n", ""),
        ("-LdPdInfo -a3", "Adapter #2\n\nVirtual Drive: 0 (Target Id: 0)\n", "names Adapter 2 instead of Adapter 3"),
        ("-LdPdInfo -a3", "Adapter #3\nAdapter #2\n", "names Adapter 2 in addition to Adapter 3"),
        ("-PDList -a3", "Adapter #3\nAdapter #3\n", "names Adapter 3 2 times"),
        ("-PDList -a3", "Enclosure Device ID: 1\nSlot Number: 1\n", "does not name Adapter 3"),
        ("-LDInfo -LALL -a0", "Adapter 1 -- Virtual Drive Information:\nVirtual Drive: 0\n", "names Adapter 1"),
        ("-LDInfo -LALL -a0", "\r   \nAdapter 0: No Virtual Drive Configured.\n\nExit Code: 0x00\n", ""),
        ("-AdpBbuCmd -a0", "BBU status for Adapter: 1\nBatteryType: BBU\n", "names Adapter 1"),
        ("-AdpBbuCmd -a0", "BBU status for Adapter: 0\nBBU Capacity Info for Adapter: 0\n", ""),
        ("-AdpPR -Info -a0", "Adapter 7: Patrol Read Information:\n", "names Adapter 7"),
        ("-AdpGetPciInfo -a0", "PCI information for Controller 1\n", "names Adapter 1"),
        (
            "-LDBI -GetSetting -LALL -a0",
            "Adapter 1, VD 0: Auto Background Initialization is Enabled\n",
            "names Adapter 1",
        ),
        ("-LDInfo -LALL -a0", "Adapter 0 -- Virtual Drive Information:\nVirtual Drive: 0\nName: Adapter #2\n", ""),
        ("-PDList -a0", "Adapter #\u0660\nEnclosure Device ID: 1\n", "does not name Adapter 0"),
    ],
)
def test_an_answer_of_megacli_names_its_adapter(words: str, text: str, reason: str) -> None:
    found = misnaming_reason(tuple(words.split()), text)
    assert (reason in found) if reason else found == ""


def test_a_virtual_drive_that_is_there_twice_is_believed_in_neither_version() -> None:
    other = texts.volume(1, level="Primary-0, Secondary-0, RAID Level Qualifier-0")
    for text in (texts.volume(0) + texts.volume(1) + other, other + texts.volume(1) + texts.volume(0)):
        found = {one.number: one for one in parse_volumes("Adapter #0\n" + text)}
        assert found[0].level is Level.RAID5
        assert (found[1].level, found[1].state, found[1].size_bytes) == (Level.UNKNOWN, State.UNKNOWN, None)
        assert found[1].refused == "it names virtual drive 1 more than once"


def test_a_property_that_a_virtual_drive_has_twice_refuses_it() -> None:
    text = texts.volume(1, extra="State               : Degraded\n")
    (found,) = parse_volumes("Adapter #0\n" + text)
    assert found.refused == "it gives two different values of State for virtual drive 1"


def test_a_drive_that_a_virtual_drive_has_twice_refuses_it() -> None:
    (found,) = parse_volumes("Adapter #0\n" + texts.volume(1) + "PD: 0\n" + texts.physical(1) + texts.physical(1))
    assert "drive 245:1 of virtual drive 1 more than once" in found.refused


def test_a_setting_that_is_told_both_ways_is_not_known() -> None:
    assert parse_background(
        "Adapter 0, VD 0: is Enabled\nAdapter 0, VD 0: is Disabled\nAdapter 0, VD 1: is Enabled"
    ) == {1: True}


@pytest.mark.parametrize("word", ["-LdPdInfo", "-AdpAllInfo", "-PDList", "-AdpBbuCmd"])
async def test_the_answer_of_another_adapter_is_not_believed_and_nothing_is_planned_on_it(word: str) -> None:
    text = Card().answers[word]
    other = {word: text.replace("Adapter #0", "Adapter #2").replace("Adapter: 0", "Adapter: 2")}
    assert other[word] != text
    with pytest.raises((BlockedError, ToolFailedError), match=f"{word} .*names Adapter 2 instead of Adapter 0"):
        await MegaRaid(Card(other)).plan(V1, "write_cache", "write-back")
    found = await MegaRaid(Card(other)).inventory()
    assert any("unexpected output" in problem.message for problem in found.problems)


async def test_other_virtual_drives_stay_listed_beside_one_that_is_there_twice() -> None:
    said = Card().answers["-LdPdInfo"]
    twice = said.replace("Exit Code", texts.volume(1, state="Degraded") + "Exit Code", 1)
    backend = MegaRaid(Card({"-LdPdInfo": twice, "-LDInfo": AGREEING["-LDInfo"]}))
    found = {array.target.address: array for array in (await backend.inventory()).arrays}
    assert found["/c0/v0"].state is State.OPTIMAL
    assert (found["/c0/v1"].state, found["/c0/v1"].level) == (State.UNKNOWN, Level.UNKNOWN)
    readings = await backend.readings(V1)
    assert "names virtual drive 1 more than once" in (readings["write_cache"].availability.why_not or "")


async def test_what_is_read_after_a_set_is_refused_like_any_answer() -> None:
    card = Card()
    dialect = MegaCli(card, "/opt/MegaRAID/MegaCli/MegaCli64")
    await dialect.cards()
    before = await dialect.read(0)
    card.answers["-LdPdInfo"] = card.answers["-LdPdInfo"].replace("Adapter #0", "Adapter #1")
    with pytest.raises(ToolFailedError, match="names Adapter 1 instead of Adapter 0"):
        await dialect.reread(before, 1)


# -- storcli ----------------------------------------------------------------------------------------------------------


def vall(*numbers: int, **more: Any) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for number in numbers:
        data[f"/c0/v{number}"] = [answers.volume_row(number)]
        data[f"VD{number} Properties"] = answers.properties(**{"SCSI NAA Id": f"{answers.NAA[:-1]}{number}"})
    return data | more


@loop_over(
    ("text", "where", "reason"),
    [
        (answers.answer(vall(0, 1)), "/c0/vall", ""),
        (answers.answer(vall(1)), "/c0/v1", ""),
        (answers.answer(vall(0), card=1), "/c0/vall", "names controller 1 instead of controller 0"),
        (answers.answer(vall(0), card=None), "/c0/vall", "does not name controller 0"),
        (answers.answer(vall(0), card="\u0660"), "/c0/vall", "instead of controller 0"),
        (answers.answer(vall(0)) * 2, "/c0/vall", "names controller 0 2 times"),
        (
            answers.answer(vall(0)) + answers.answer(vall(0), card=1),
            "/c0/vall",
            "controller 1 in addition to controller 0",
        ),
        (answers.answer({"/c1/v0": [answers.volume_row(0)]}), "/c0/vall", "names /c1 instead of /c0"),
        (answers.answer({"Basics": {"Controller": 1}}), "/c0", "names /c1 instead of /c0"),
        (answers.answer(vall(0, 1)), "/c0/v1", "names virtual drive 0 in addition to virtual drive 1"),
        (answers.answer(vall(0)), "/c0/v1", "names virtual drive 0 instead of virtual drive 1"),
        (
            answers.answer({"/c0/v1": [answers.volume_row(1), answers.volume_row(1, State="Dgrd")]}),
            "/c0/v1",
            "virtual drive 1 2 times",
        ),
        (answers.failure("syntax error"), "/c0", ""),
    ],
)
def test_an_answer_of_storcli_names_its_object(text: str, where: str, reason: str) -> None:
    found = misnamed_reply(replies(text), where)
    assert (reason in found) if reason else found == ""


def refused(text: str) -> dict[int, str]:
    (reply,) = replies(text)
    return {one.number: one.refused for one in volumes(0, reply.data)}


def test_a_row_below_the_heading_of_another_refuses_both() -> None:
    found = refused(answers.answer(vall(0, 1, **{"/c0/v0": [answers.volume_row(1)]})))
    assert set(found) == {0, 1}
    assert all(found.values())


def test_properties_that_are_there_twice_refuse_their_virtual_drive_alone() -> None:
    text = answers.answer(vall(0, 1))
    other = json.dumps(answers.properties(**{"Strip Size": "256 KB"}))
    found = refused(text.replace('"VD0 Properties"', f'"VD0 Properties": {other}, "VD0 Properties"', 1))
    assert found == {0: "it has VD0 Properties twice, with different values", 1: ""}


def test_two_virtual_drives_with_one_world_wide_name_are_refused() -> None:
    found = refused(
        answers.answer(vall(0, 1, **{"VD1 Properties": answers.properties(**{"SCSI NAA Id": f"{answers.NAA[:-1]}0"})}))
    )
    assert all("SCSI NAA id of another one" in why for why in found.values())


@pytest.mark.parametrize("state", ["\u041eptl", "Op\x1b[31mtl", "\uff2fptl"])
def test_a_state_that_only_looks_like_a_word_is_unknown(state: str) -> None:
    (reply,) = replies(answers.answer({"/c0/v0": [answers.volume_row(0, State=state)]}))
    assert [one.state for one in volumes(0, reply.data)] == [State.UNKNOWN]


def test_a_level_with_a_digit_of_another_script_is_unknown() -> None:
    (reply,) = replies(answers.answer({"/c0/v0": [answers.volume_row(0, TYPE="RAID\u0665")]}))
    assert [one.level for one in volumes(0, reply.data)] == [Level.UNKNOWN]


def test_a_verdict_on_another_object_is_none() -> None:
    row = {"VD": 1, "Property": "wrCache", "Status": "Success", "ErrCd": 0, "ErrMsg": "-"}
    assert judge(answers.answer(rows=[row]), where="/c0/v1").ok
    assert not judge(answers.answer(rows=[row]), where="/c0/v2").ok
    assert not judge(answers.answer(rows=[row], card=1), where="/c0/v1").ok


class Lying(PlayedCard):
    """A card whose answers to some lines are changed on their way."""

    def __init__(self, change: Callable[[str], str], start: str) -> None:
        super().__init__()
        self.change, self.start = change, start

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        if not " ".join(command.argv[1:]).startswith(self.start):
            return done
        return Completed(returncode=0, stdout=self.change(done.stdout), stderr="")


@pytest.mark.parametrize(
    ("start", "change"),
    [
        ("/c0/vall show all", lambda text: text.replace('"Controller": 0', '"Controller": 1')),
        ("/c0/v1 show all", lambda text: text.replace("/c0/v1", "/c1/v1")),
        ("/c0/v1 show all", lambda text: text + text),
        ("/c0 show all", lambda text: text.replace('"Controller": 0', '"Controller": 1')),
    ],
)
async def test_nothing_is_planned_on_an_answer_about_another_object(start: str, change: Callable[[str], str]) -> None:
    backend = MegaRaid(Lying(change, start))
    await backend.inventory()
    with pytest.raises((BlockedError, ToolFailedError), match="unexpected output"):
        await backend.plan(V1, "write_cache", "write-back")
