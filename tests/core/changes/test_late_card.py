"""storcli gives up, and its card does what it was told all the same, later: told, and taken back like anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.changes.executor import ChangeExecutor
from backends.vendors.megaraid.addresses import volume_target
from backends.vendors.megaraid.backend import MegaRaid
from tests.backends.megaraid import answers
from tests.backends.megaraid.cards import PlayedCard
from tests.core.doubles import Bench

V1 = volume_target("/c0", 1)


def bench_of(folder: Path, card: PlayedCard) -> Bench:
    """A bench whose changer sets this card."""
    bench = Bench(folder)
    bench.changer = ChangeExecutor(
        backends={"megaraid": MegaRaid(card)},
        journal=bench.journal,
        locks=bench.locks,
        folder=bench.folder,
        emit=bench.emit,
        next_id=lambda: f"c{len(bench.session.changes) + 1}",
    )
    return bench


@pytest.fixture
def card() -> PlayedCard:
    """One that does what it was told only after its tool gave up."""
    made = PlayedCard()
    made.refusals["/c0/v1 set"] = lambda: answers.failure("Command timed out.")
    return made


async def test_what_the_tool_gave_up_is_a_failure_and_nothing_is_said_to_be_sure(
    tmp_path: Path, card: PlayedCard
) -> None:
    bench = bench_of(tmp_path, card)
    ended = await bench.changer.apply(await MegaRaid(card).plan(V1, "write_cache", "write-back"))
    assert (ended.result, ended.now) == ("failed", "write-through")
    assert "Command timed out." in ended.message
    assert "Scan the devices again" in ended.message


async def test_what_came_after_the_tool_gave_up_is_taken_back(tmp_path: Path, card: PlayedCard) -> None:
    bench = bench_of(tmp_path, card)
    await bench.changer.apply(await MegaRaid(card).plan(V1, "write_cache", "write-back"))
    card.refusals.clear()
    card.volume["wrcache"] = "wb"
    ended = await bench.changer.undo(bench.record())
    assert (ended.result, card.volume["wrcache"]) == ("verified", "wt")


async def test_what_comes_between_the_tools_word_and_the_look_is_in_force(tmp_path: Path, card: PlayedCard) -> None:
    def late() -> str:
        card.volume["wrcache"] = "wb"
        return answers.failure("Command timed out.")

    card.refusals["/c0/v1 set"] = late
    bench = bench_of(tmp_path, card)
    ended = await bench.changer.apply(await MegaRaid(card).plan(V1, "write_cache", "write-back"))
    assert (ended.result, ended.now) == ("failed", "write-back")
    assert [change.id for change in bench.session.in_force] == ["c1"]
