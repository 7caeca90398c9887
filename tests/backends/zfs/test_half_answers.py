"""Half an answer of zpool or zfs: it is told, the kernel's view of the pools stays, and nothing is planned on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from backends.errors import RaidbenchError
from backends.host import Command, Completed, Host
from backends.model import Scope, Target
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.system.wrapped import HostWrapper
from backends.testing.truncation import every_line, seeded
from backends.vendors.zfs.backend import Zfs

FILES = Target(backend="zfs", address="tank/files", scope=Scope.ARRAY)


class Cut(HostWrapper):
    """What a command prints is made half of."""

    def __init__(self, inner: Host, words: str, half: Callable[[str], str]) -> None:
        super().__init__(inner)
        self.words, self.half = words, half
        self.whole = ""

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        if self.words not in command.shown():
            return done
        self.whole = done.stdout
        return replace(done, stdout=self.half(done.stdout))


def rack() -> Host:
    return SimulatedHost(linux_rack(lambda: 1.7e9), speed=1e9)


async def untold(words: str, places: Callable[[str], Iterable[int]]) -> list[int]:
    """Where an answer may be cut without a word in the list of devices."""
    whole = Cut(rack(), words, lambda text: text)
    assert (await Zfs(whole).inventory()).problems == ()
    silent = []
    for at in places(whole.whole.rstrip()):
        found = await Zfs(Cut(rack(), words, lambda text, at=at: text[:at])).inventory()  # type: ignore[misc]
        if not any("incomplete output" in problem.message for problem in found.problems):
            silent.append(at)
    return silent


ANSWERS = ("zpool status", "zpool get", "name,property,value,received,source type,guid")


@pytest.mark.parametrize("words", ANSWERS)
async def test_half_an_answer_is_told(words: str) -> None:
    assert await untold(words, seeded(12)) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("words", ANSWERS[::2])
async def test_an_answer_cut_at_any_line_is_told(words: str) -> None:
    assert await untold(words, every_line) == []


@pytest.mark.parametrize("words", ["zpool list", "zfs list"])
async def test_a_torn_line_of_a_list_is_told(words: str) -> None:
    found = await Zfs(Cut(rack(), words, lambda text: text[:-3])).inventory()
    assert any("the last line is truncated" in problem.message for problem in found.problems)


async def test_a_pool_that_the_kernel_has_and_zpool_does_not_list_is_told() -> None:
    found = await Zfs(Cut(rack(), "zpool list", lambda _: "")).inventory()
    assert [problem.message for problem in found.problems] == [
        "zpool list: incomplete output: the pool tank is not in it."
    ]


@pytest.mark.parametrize("words", ["zpool get", "name,property,value,received,source type,guid"])
async def test_nothing_is_planned_on_half_an_answer(words: str) -> None:
    with pytest.raises(RaidbenchError, match="incomplete output"):
        await Zfs(Cut(rack(), words, lambda text: text[: text.index("\n") + 1])).plan(FILES, "atime", "on")
