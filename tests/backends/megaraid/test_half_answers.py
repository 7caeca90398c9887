"""Half an answer of MegaCli or storcli: nothing invented, every loss told, nothing planned on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.errors import BlockedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import Target
from backends.protocol import InventoryBackend
from backends.testing.truncation import TruncatedOutputTests, every_line
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.megacli import MegaCli
from tests.backends.fakes import FakeHost
from tests.backends.megaraid import answers
from tests.backends.megaraid import megacli_texts as texts
from tests.backends.megaraid.cards import PlayedCard
from tests.backends.megaraid.test_megacli_dialect import ANSWERS

TOOL = "/opt/MegaRAID/MegaCli/MegaCli64"


_MIRRORED = "Primary-1, Secondary-3, RAID Level Qualifier-0"
AGREEING = {
    "-AdpAllInfo": texts.ADPALLINFO.replace("Disks           : 7", "Disks           : 3"),
    "-LDInfo": texts.BLANK
    + "Adapter 0 -- Virtual Drive Information:\n"
    + texts.volume(0, level=_MIRRORED, drives="Number Of Drives per span:2", depth=2)
    + texts.volume(1)
    + texts.code(),
    "-LDCC": texts.code(),
}
"""As many drives as are listed, and the same drives and work in every answer."""


class Card(FakeHost):
    """One card that MegaCli alone sees."""

    def __init__(self, said: dict[str, str] | None = None, errors: str = "") -> None:
        super().__init__({TOOL: "", "/sys/bus/pci/drivers/megaraid_sas/0000:0b:00.0/vendor": "0x1000"})
        self.answers = ANSWERS | AGREEING | (said or {})
        self.errors = errors

    def which(self, names: object) -> str | None:
        return TOOL if isinstance(names, (tuple, list)) and TOOL in names else None

    async def run(self, command: Command) -> Completed:
        if command.argv[0] != TOOL:
            return await super().run(command)
        assert not command.mutates
        return Completed(returncode=0, stdout=self.answers[command.argv[1]], stderr=self.errors)


class TestHalfOfMegaCli(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return Card

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return MegaRaid

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/c0"), volume_target("/c0", 1))


@pytest.mark.exhaustive
class TestEveryLineOfMegaCli(TestHalfOfMegaCli):
    places = staticmethod(every_line)


class Played(PlayedCard):
    """A card behind storcli, whose drives' cache is as its lists say; it is busy for what it is not asked usually."""

    def __init__(self) -> None:
        super().__init__()
        self.volume["pdcache"] = "default"

    async def run(self, command: Command) -> Completed:
        if command.argv[1:3] in (("/c0", "show"), ("/c0/vall", "show"), ("/c0/eall/sall", "show")) and (
            command.argv[3] in ("J", "nolog")
        ):
            return Completed(returncode=0, stdout=answers.failure("Controller is busy", 3), stderr="")
        return await super().run(command)


@pytest.mark.long
class TestHalfOfStorcli(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return Played

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return MegaRaid

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (card_target("/c0"), volume_target("/c0", 1))


@pytest.mark.exhaustive
class TestEveryLineOfStorcli(TestHalfOfStorcli):
    places = staticmethod(every_line)


async def test_a_whole_answer_of_every_kind_is_no_problem() -> None:
    assert (await MegaRaid(Card()).inventory()).problems == ()


async def test_a_build_that_never_prints_an_exit_code_is_believed() -> None:
    bare = {word: text.split("\nExit Code:")[0] + "\n" for word, text in Card().answers.items()}
    found = await MegaRaid(Card(bare)).inventory()
    assert (len(found.arrays), len(found.drives), found.problems) == (2, 3, ())


@pytest.mark.parametrize("word", ["-PDList", "-LdPdInfo", "-AdpBbuCmd", "-AdpAllInfo"])
async def test_nothing_is_planned_on_a_card_of_which_an_answer_was_cut(word: str) -> None:
    text = Card().answers[word]
    cut = {word: text[: len(text) // 2]}
    with pytest.raises((BlockedError, ToolFailedError), match=f"{word}: incomplete output"):
        await MegaRaid(Card(cut)).plan(volume_target("/c0", 1), "write_cache", "write-back")


async def test_a_battery_of_which_the_answer_was_cut_is_neither_there_nor_missing() -> None:
    cut = {"-AdpBbuCmd": texts.BATTERY[: len(texts.BATTERY) // 2]}
    (card,) = (await MegaRaid(Card(cut)).inventory()).controllers
    assert card.protection is None


async def test_where_a_card_is_on_the_bus_is_asked_again_after_half_an_answer() -> None:
    host = Card({"-AdpGetPciInfo": texts.PCI[:60]})
    dialect = MegaCli(host, TOOL)
    await dialect.cards()
    assert (await dialect.read(0)).card.pci is None
    host.answers["-AdpGetPciInfo"] = texts.PCI
    assert (await dialect.read(0)).card.pci == "0b:00.0"


async def test_the_version_is_asked_for_again_after_half_an_answer() -> None:
    host = Card({"-v": texts.VERSION[:40]})
    dialect = MegaCli(host, TOOL)
    await dialect.cards()
    assert dialect.version is None
    host.answers["-v"] = texts.VERSION
    await dialect.read(0)
    assert dialect.version == "8.07.14"


async def test_what_megacli_says_while_it_dies_is_told_in_its_words() -> None:
    dying = Card(dict.fromkeys(ANSWERS, ""), "MegaCli64: error while loading shared libraries: libstorelibir.so")
    (problem,) = (await MegaRaid(dying).inventory()).problems
    assert problem.message.count("error while loading shared libraries: libstorelibir.so") == 1


@pytest.mark.parametrize("word", ["-PDList", "-AdpBbuCmd", "-AdpAllInfo"])
async def test_a_way_back_needs_its_own_answer_whole_and_no_other(word: str) -> None:
    text = Card().answers[word]
    cut = {word: text[: len(text) * 9 // 10]}
    now = (await MegaRaid(Card(cut)).read(volume_target("/c0", 1)))["write_cache"].now
    other = "write-back" if now == "write-through" else "write-through"
    back = await MegaRaid(Card(cut)).back(volume_target("/c0", 1), "write_cache", other, {})
    assert (back.before, back.after) == (now, other)


@pytest.mark.parametrize("word", ["-LdPdInfo", "-LDBI"])
async def test_half_an_answer_about_the_drive_itself_stands_against_its_way_back(word: str) -> None:
    text = Card().answers[word]
    cut = {word: text[: len(text) // 2]}
    now = (await MegaRaid(Card(cut)).read(volume_target("/c0", 1)))["write_cache"].now
    other = "write-back" if now == "write-through" else "write-through"
    with pytest.raises((BlockedError, ToolFailedError)):
        await MegaRaid(Card(cut)).back(volume_target("/c0", 1), "write_cache", other, {})
