"""Which tool is asked, which is kept, and what the doctor hears of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backends.host import Command, Completed, FileStat
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.tools import search
from tests.backends.fakes import FakeHost, machine
from tests.backends.megaraid import answers

STORCLI = "/opt/MegaRAID/storcli/storcli64"
PERCCLI = "/opt/MegaRAID/perccli/perccli64"
MEGACLI = "/opt/MegaRAID/MegaCli/MegaCli64"
ONE = answers.overview("9280")
TWO = answers.overview("H730", "H830")


class Tools(FakeHost):
    """Tools by path, each with one answer."""

    def __init__(self, tools: Mapping[str, str], *, kernel: int = 0, root: bool = True, links: str = "") -> None:
        files = {f"/sys/bus/pci/drivers/megaraid_sas/0000:0{at}:00.0": "" for at in range(kernel)}
        super().__init__(machine(**files), links={PERCCLI: links} if links else None, root=root)
        self.programs = tools
        self.asked: list[str] = []

    def which(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in self.programs), None)

    async def run(self, command: Command) -> Completed:
        self.asked.append(command.argv[0])
        return Completed(returncode=0, stdout=self.programs[command.argv[0]], stderr="")


class Mixed(Tools):
    """Two cards for the kernel; storcli sees the one at 03:00.0, MegaCli both."""

    def __init__(self) -> None:
        super().__init__({STORCLI: ONE, MEGACLI: ""}, kernel=2)

    async def run(self, command: Command) -> Completed:
        match command.argv[1:]:
            case ("/c0", "show", "all", *_):
                text = answers.answer(answers.show_all() | {"Basics": {"PCI Address": "00:03:00:00"}})
            case ("-adpCount" | "-AdpCount", *_):
                text = "Controller Count: 2.\n\nExit Code: 0x02"
            case ("-AdpGetPciInfo", place, *_):
                bus = {"-a0": 3, "-a1": 8}[place]
                text = f"PCI information for Controller {place[2]}\n{'-' * 32}\nBus Number      : {bus}\n"
                text += "Device Number   : 0\nFunction Number : 0\n\nExit Code: 0x00"
            case _:
                return await super().run(command)
        return Completed(returncode=0, stdout=text, stderr="")


async def kept(host: Tools) -> list[str]:
    return [one.path for one in (await search(host)).kept]


async def test_the_tool_that_sees_most_cards_is_kept() -> None:
    assert await kept(Tools({STORCLI: ONE, PERCCLI: TWO})) == [PERCCLI]


async def test_of_equals_the_first_is_kept() -> None:
    assert await kept(Tools({STORCLI: ONE, PERCCLI: ONE})) == [STORCLI]


async def test_one_program_under_two_names_is_asked_once() -> None:
    host = Tools({STORCLI: ONE, PERCCLI: ONE}, links=STORCLI)
    await search(host)
    assert host.asked == [STORCLI]


async def test_megacli_is_left_alone_where_storcli_sees_a_card() -> None:
    host = Tools({STORCLI: ONE, MEGACLI: ""})
    assert await kept(host) == [STORCLI]
    assert MEGACLI not in host.asked


async def test_megacli_is_asked_where_nothing_else_sees_a_card() -> None:
    host = Tools({STORCLI: answers.NO_CARD, MEGACLI: ""})
    await search(host)
    assert MEGACLI in host.asked


async def test_a_card_that_only_megacli_sees_is_added_to_those_of_storcli() -> None:
    host = Mixed()
    found = await search(host)
    assert [(one.path, one.cards) for one in found.kept] == [(STORCLI, (0,)), (MEGACLI, (1,))]


async def test_storcli_under_the_name_of_megacli_is_no_megacli() -> None:
    words = "CLI Version = 007.1705\nStatus = Failure\nDescription = Deprecated command. Please use the new syntax."
    found = await search(Tools({MEGACLI: words}))
    assert found.kept == ()
    assert found.tries[0].trouble


async def test_a_program_that_may_not_be_run_is_told_with_its_path() -> None:
    host = Tools({})
    host.stats[STORCLI] = FileStat(kind="file", size=1)
    (one,) = (await search(host)).tries
    assert STORCLI in one.sentence()
    assert "other users can overwrite it" in one.sentence()


async def test_a_card_of_the_kernel_that_no_tool_sees_is_a_problem() -> None:
    (none,) = (await MegaRaid(Tools({}, kernel=1)).inventory()).problems
    assert "none is installed" in none.message
    assert "storcli64" in none.hint
    (blind,) = (await MegaRaid(Tools({STORCLI: answers.NO_CARD}, kernel=2)).inventory()).problems
    assert f"{STORCLI} ({answers.VERSION_7}) finds no controller" in blind.message


async def test_without_root_the_hint_is_root() -> None:
    host = Tools({STORCLI: answers.NO_CARD}, kernel=1, root=False)
    (problem,) = (await MegaRaid(host).inventory()).problems
    assert "as root" in problem.hint


async def test_the_doctor_hears_of_every_tool_that_is_not_used() -> None:
    backend = MegaRaid(Tools({STORCLI: ONE, PERCCLI: answers.NO_CARD}))
    told = [problem.message for problem in await backend.diagnose()]
    assert told == [f"{PERCCLI} ({answers.VERSION_7}) finds no controller. raidbench uses another tool."]


async def test_a_machine_without_any_of_it_is_left_in_peace() -> None:
    host = Tools({})
    assert await MegaRaid(host).diagnose() == ()
    assert (await MegaRaid(host).inventory()).problems == ()
    assert host.asked == []
