"""A card read through MegaCli: what is asked, and what is told when something cannot be had."""

from __future__ import annotations

import pytest

from backends.errors import ToolFailedError, ToolTimeoutError
from backends.host import Command, Completed
from backends.model import State
from backends.vendors.megaraid.dialect import Dialect
from backends.vendors.megaraid.megacli import MegaCli
from tests.backends.fakes import FakeHost
from tests.backends.megaraid import megacli_texts as texts

ANSWERS = {
    "-v": texts.VERSION,
    "-adpCount": texts.COUNT,
    "-AdpAllInfo": texts.ADPALLINFO,
    "-AdpGetPciInfo": texts.PCI,
    "-LdPdInfo": texts.LDPDINFO,
    "-LDInfo": texts.LDINFO,
    "-PDList": texts.PDLIST,
    "-AdpBbuCmd": texts.BATTERY,
    "-ELF": texts.FEATURES,
    "-AdpPR": texts.PATROL,
    "-AdpCcSched": texts.CHECK,
    "-AdpGetProp": texts.QUEUEING,
    "-LDBI": texts.BACKGROUND,
    "-LDCC": texts.PROGRESS,
    "-LDInit": texts.code(),
    "-PDRbld": texts.REBUILD,
}


class Machine(FakeHost):
    """Answers by the first word; notes what was asked."""

    def __init__(self, **other: str) -> None:
        super().__init__({}, links={"/sys/bus/pci/devices/0000:0b:00.0/host6": ""})
        self.answers = ANSWERS | {f"-{word}": text for word, text in other.items()}
        self.asked: list[str] = []

    async def run(self, command: Command) -> Completed:
        assert not command.mutates
        assert command.argv[-1] == "-NoLog"
        self.asked.append(" ".join(command.argv[1:-1]))
        text = self.answers[command.argv[1]]
        if text == "too slow":
            raise ToolTimeoutError("It gave no answer in 120 s.")
        return Completed(returncode=1, stdout=text, stderr="")


def cli(host: Machine) -> Dialect:
    return MegaCli(host, "/opt/MegaRAID/MegaCli/MegaCli64")


async def test_cards_are_counted_from_zero() -> None:
    dialect = cli(Machine(adpCount="\nController Count: 2.\n\nExit Code: 0x02\n"))
    assert await dialect.cards() == (0, 1)
    assert dialect.version == "8.07.14"
    assert dialect.tool == "/opt/MegaRAID/MegaCli/MegaCli64"


async def test_no_card_is_none() -> None:
    assert await cli(Machine(adpCount="\nController Count: 0.\n\nExit Code: 0x00\n")).cards() == ()


async def test_cards_are_listed_where_they_are_not_counted() -> None:
    assert await cli(Machine(adpCount="Exit Code: 0x01")).cards() == (0,)


async def test_storcli_under_megaclis_name_is_told() -> None:
    refusal = "Status = Failure\nDescription = Deprecated command. Please use the new syntax.\n"
    with pytest.raises(ToolFailedError, match="is storcli, renamed to MegaCli"):
        await cli(Machine(v=refusal, adpCount=refusal, AdpAllInfo=refusal)).cards()


async def test_a_card_is_read_one_command_after_the_other() -> None:
    host = Machine()
    found = await cli(host).read(0)
    assert host.asked == [
        "-v",
        "-AdpAllInfo -a0",
        "-LdPdInfo -a0",
        "-LDBI -GetSetting -LALL -a0",
        "-PDList -a0",
        "-AdpGetPciInfo -a0",
        "-AdpBbuCmd -a0",
        "-ELF -ControllerFeatures -a0",
        "-AdpPR -Info -a0",
        "-AdpCcSched -Info -a0",
        "-AdpGetProp NCQDsply -a0",
    ]
    assert found.card.model == "LSI MegaRAID SAS 9280-24i4e"
    assert (found.card.pci, found.card.host_number) == ("0b:00.0", 6)
    assert found.card.backup is not None
    assert found.card.backup_known
    assert [job.kind for job in found.card.jobs] == ["patrol-read"]
    assert found.card.values["patrol_read"].value == "auto"
    assert [option.name for option in found.card.options] == ["MegaRAID FastPath", "MegaRAID RAID6"]
    assert [(volume.number, volume.auto_bgi) for volume in found.volumes] == [(0, True), (1, False)]
    assert [drive.volumes for drive in found.drives] == [(1,), (1,), (1,)]
    assert found.problems == ("The controller counts 7 drives, but only 3 were listed.",)


async def test_where_a_card_is_does_not_change() -> None:
    host = Machine()
    dialect = cli(host)
    await dialect.read(0)
    await dialect.read(0)
    assert host.asked.count("-AdpGetPciInfo -a0") == 1


async def test_an_old_tool_is_asked_for_progress() -> None:
    host = Machine(v=texts.VERSION.replace("8.07.14", "5.00.12"))
    found = await cli(host).read(0)
    assert {"-LDInit -ShowProg -LALL -a0", "-LDBI -ShowProg -LALL -a0", "-LDCC -ShowProg -LALL -a0"} <= set(host.asked)
    assert [job.kind for job in found.volumes[1].jobs] == ["consistency-check"]


async def test_a_rebuilding_drive_is_asked_how_far_it_is() -> None:
    host = Machine(
        PDList="Adapter #0\n\n" + texts.physical(2, state="Rebuild") + texts.physical(3, state="Rebuild") + texts.code()
    )
    found = await cli(host).read(0)
    assert "-PDRbld -ShowProg -PhysDrv[245:2,245:3] -a0" in host.asked
    assert found.drives[0].state is State.REBUILDING
    assert [job.progress for job in found.drives[0].jobs] == [0.31]


async def test_virtual_drives_that_one_list_leaves_out_come_from_the_other() -> None:
    host = Machine(LdPdInfo="Adapter #0\n\n" + texts.volume(0) + texts.code())
    found = await cli(host).read(0)
    assert [volume.number for volume in found.volumes] == [0, 1]


async def test_an_absent_battery_is_known_without_asking() -> None:
    host = Machine(AdpAllInfo=texts.ADPALLINFO.replace("BBU              : Present", "BBU              : Absent"))
    card = (await cli(host).read(0)).card
    assert (card.backup, card.backup_known) == (None, True)
    assert not any(line.startswith("-AdpBbuCmd") for line in host.asked)


async def test_what_cannot_be_read_is_a_problem_and_the_rest_stands() -> None:
    found = await cli(Machine(AdpBbuCmd="too slow", AdpPR="")).read(0)
    assert (found.card.backup, found.card.backup_known) == (None, False)
    assert len(found.volumes) == 2
    assert found.problems[-2:] == (
        "The battery could not be read: It gave no answer in 120 s.",
        "The patrol read could not be read: /opt/MegaRAID/MegaCli/MegaCli64 failed without a message (exit status 1).",
    )


async def test_a_card_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(ToolTimeoutError):
        await cli(Machine(AdpAllInfo="too slow")).read(0)
    with pytest.raises(ToolFailedError):
        await cli(Machine()).read(4)


async def test_one_virtual_drive_is_read_again_by_two_commands() -> None:
    host = Machine()
    dialect = MegaCli(host, "/MegaCli64")
    before = await dialect.read(0)
    host.asked.clear()
    host.answers["-LdPdInfo"] = texts.LDPDINFO.replace("WriteThrough", "WriteBack")
    after = await dialect.reread(before, 1)
    assert host.asked == ["-LdPdInfo -a0", "-LDBI -GetSetting -LALL -a0"]
    assert after.volumes[0] == before.volumes[0]
    assert after.volumes[1].configured.write_cache != before.volumes[1].configured.write_cache
    assert (after.volumes[1].auto_bgi, after.card, after.drives) == (False, before.card, before.drives)


async def test_a_virtual_drive_that_is_gone_is_left_out_and_silence_is_no_proof() -> None:
    host = Machine()
    dialect = MegaCli(host, "/MegaCli64")
    before = await dialect.read(0)
    host.answers["-LdPdInfo"] = "Adapter #0\n\nNumber of Virtual Disks: 1\n" + texts.volume(0) + texts.code()
    assert [volume.number for volume in (await dialect.reread(before, 1)).volumes] == [0]
    host.answers["-LdPdInfo"] = ""
    with pytest.raises(ToolFailedError):
        await dialect.reread(before, 1)


async def test_the_cards_own_settings_are_read_again() -> None:
    host = Machine()
    dialect = MegaCli(host, "/MegaCli64")
    before = await dialect.read(0)
    host.asked.clear()
    host.answers["-AdpAllInfo"] = texts.ADPALLINFO.replace("30%", "60%")
    host.answers["-AdpPR"] = texts.PATROL.replace("Auto", "Manual")
    after = await dialect.reread(before, None)
    assert host.asked == ["-AdpAllInfo -a0", "-AdpPR -Info -a0", "-AdpCcSched -Info -a0", "-AdpGetProp NCQDsply -a0"]
    assert (after.card.values["rebuild_rate"].value, after.card.values["patrol_read"].value) == ("60", "manual")
    assert (after.card.options, after.card.backup) == (before.card.options, before.card.backup)
    assert after.volumes == before.volumes
