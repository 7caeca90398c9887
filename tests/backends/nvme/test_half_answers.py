"""Half an answer of nvme-cli: what it does not tell is unknown, told, and not changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.host import Command, Completed, Host
from backends.model import Target
from backends.protocol import InventoryBackend
from backends.testing.truncation import TruncatedOutputTests, every_line
from backends.vendors.nvme.backend import Nvme
from backends.vendors.nvme.sysfs import controller_target
from tests.backends.nvme.drives import PlayedDrive, refused


class JsonOnly(PlayedDrive):
    """What is asked in words instead of JSON is refused, and so is the guard's own look."""

    async def run(self, command: Command) -> Completed:
        words = command.argv[1:]
        if words[:1] in (("id-ctrl",), ("id-ns",), ("smart-log",)) and "json" not in words:
            return refused("not here")
        return await super().run(command)


class TestHalfOfNvme(TruncatedOutputTests):
    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        return lambda: JsonOnly(wctemp=0)  # the limit, told by another answer, stands behind the temperature

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return Nvme

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        return (controller_target("nvme0"),)


@pytest.mark.exhaustive
class TestEveryLineOfNvme(TestHalfOfNvme):
    places = staticmethod(every_line)


async def test_a_value_of_which_the_line_is_torn_is_unknown() -> None:
    class Torn(JsonOnly):
        async def run(self, command: Command) -> Completed:
            done = await super().run(command)
            feature = "get-feature" in command.argv and "--feature-id=6" in command.argv
            return Completed(returncode=0, stdout=done.stdout.rstrip()[:-1], stderr="") if feature else done

    found = (await Nvme(Torn()).read(controller_target("nvme0")))["drive_cache"]
    assert (found.now, found.availability.why_not) == (None, "incomplete output: the last line is truncated")
