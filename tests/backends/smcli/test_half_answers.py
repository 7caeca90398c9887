"""Half an answer of SMcli: whole sections of a profile are shown, the rest is unknown, and nothing is planned on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.errors import ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import Target
from backends.protocol import InventoryBackend
from backends.testing.truncation import TruncatedOutputTests, every_line
from backends.vendors.smcli.backend import Smcli
from backends.vendors.smcli.facts import complete_sections
from backends.vendors.smcli.inventory import system_target, volume_target
from tests.backends.smcli.systems import PlayedSystem


class TestHalfOfSmcli(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return PlayedSystem

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return Smcli

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (system_target("DS4700_A"), volume_target("DS4700_A", "fast"))


@pytest.mark.exhaustive
class TestEveryLineOfSmcli(TestHalfOfSmcli):
    places = staticmethod(every_line)


class Cut(PlayedSystem):
    """Its profile stops there."""

    def __init__(self, behind: str) -> None:
        super().__init__()
        self.behind = behind

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        text = done.stdout.partition(self.behind)[0] if "profile" in command.argv[-1] else done.stdout
        return Completed(returncode=0, stdout=text, stderr="")


def test_of_half_a_profile_the_section_that_may_go_on_is_left_out() -> None:
    text = "PROFILE\nSUMMARY------\n   a: 1\nDRIVES-------\n   b: 2\n"
    assert complete_sections(text) == "PROFILE\nSUMMARY------\n   a: 1\n"
    assert complete_sections("PROFILE FOR") == ""


async def test_a_disk_system_of_which_half_is_told_is_shown_as_far_as_it_goes() -> None:
    found = await Smcli(Cut("DRIVES-----")).inventory()
    (card,) = found.controllers
    assert (card.model is not None, card.protection, found.drives) == (True, None, ())
    assert [problem.message for problem in found.problems if "incomplete output" in problem.message]


async def test_a_logical_drive_that_half_a_profile_does_not_name_is_not_said_to_be_gone() -> None:
    with pytest.raises(ToolFailedError, match="incomplete output"):
        await Smcli(Cut("STANDARD LOGICAL DRIVES")).read(volume_target("DS4700_A", "fast"))


@pytest.mark.parametrize("doctor", [False, True])
async def test_what_smcli_says_while_it_dies_is_told_once(doctor: bool) -> None:
    class Dying(PlayedSystem):
        async def run(self, command: Command) -> Completed:
            return Completed(returncode=127, stdout="", stderr="SMcli: java: cannot execute binary file")

    backend = Smcli(Dying())
    (problem,) = await backend.diagnose() if doctor else (await backend.inventory()).problems
    assert problem.message.count("java: cannot execute binary file") == 1
