"""Half an answer of fio-status: what is there is shown, and no format is planned on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.host import Command, Completed, Host
from backends.model import Target
from backends.protocol import InventoryBackend
from backends.testing.truncation import TruncatedOutputTests, every_line
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.fusionio.inventory import drive_target
from backends.vendors.fusionio.text import missing_part
from tests.backends.fusionio.cards import PlayedCard
from tests.case_loop import loop_over


class TestHalfOfFioStatus(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        def card() -> Host:
            made = PlayedCard()
            made.tools["wipefs"] = Completed(returncode=0, stdout="", stderr="")  # the guard's, and not on trial here
            return made

        return card

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return FusionIo

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (drive_target("fioa"),)


@pytest.mark.exhaustive
class TestEveryLineOfFioStatus(TestHalfOfFioStatus):
    places = staticmethod(every_line)


TWO = """Found 2 ioMemory devices in this system
Driver version: 3.2.16 build 1731

Adapter: Dual Adapter
\tConnected ioMemory modules:
\t  fct0:\tSN:1
\t  fct1:\tSN:2

fct0\tAttached
\tContained VSUs:
\t  fioa:\tID:0

fioa\tState: Online, Type: block device
\t320.00 GBytes device size

fct1\tDetached
\tPCI:0c:00.0, Slot Number:10
"""


@loop_over(
    ("text", "why"),
    [
        (TWO, ""),
        (TWO.rstrip(), "the last line is truncated"),
        (TWO.partition("fct1\tDetached")[0], "it counts 2 devices and describes 1"),
        (TWO.replace("\t320.00 GBytes device size\n", ""), "fioa is named but not described"),
        (TWO.replace("Detached", "Attached"), "fct1 is attached, but its block device is missing"),
        ("Driver version: 3.2.16\n", "it does not report the number of devices"),
        ("", "it does not report the number of devices"),
        ("No devices were found in this system. Please check.\n", ""),
        ("No Fusion-io drives were found in this system.\n", ""),
    ],
)
def test_what_half_an_answer_lacks_is_told(text: str, why: str) -> None:
    assert missing_part(text) == why


async def test_a_version_that_has_no_json_is_no_problem() -> None:
    class Old(PlayedCard):
        async def run(self, command: Command) -> Completed:
            if command.argv[1:] == ("-fj",):
                return Completed(returncode=1, stdout="", stderr="fio-status: invalid option -- f")
            return await super().run(command)

    assert (await FusionIo(Old()).inventory()).problems == ()


async def test_what_fio_status_says_while_it_dies_is_told_once() -> None:
    class Dying(PlayedCard):
        async def run(self, command: Command) -> Completed:
            return Completed(returncode=127, stdout="", stderr="fio-status: no library")

    (problem,) = (await FusionIo(Dying()).inventory()).problems
    assert problem.message == "/usr/bin/fio-status reports: fio-status: no library (exit status 127)."
