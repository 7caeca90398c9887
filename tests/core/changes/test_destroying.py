"""What destroys data is never done by itself: not at the end of a trial, not after a crash, not by an undo of many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.journal import UnresolvedChange
from backends.change import Change
from backends.device_label import device_label
from backends.errors import RefusedError
from backends.identity import Identity
from backends.settings import Effect, Risk
from tests.core.doubles import TARGET, Bench, FakeBackend, planned

PLATE = device_label(Identity(name="sda", serial="AB12345678"), name=str(TARGET))
REMADE = replace(planned("128", "256"), risk=Risk.DESTROYS_DATA, effect=Effect.RECREATED)


async def test_what_a_way_back_may_do_is_the_backends_word_and_not_that_of_the_log(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(risk=Risk.DESTROYS_DATA))
    await bench.changer.apply(replace(REMADE, risk=Risk.NONE))
    with pytest.raises(RefusedError, match="destroys the data currently on it"):
        await bench.changer.undo(bench.record())
    assert bench.backend.value == "256"


async def test_an_undo_that_nobody_confirmed_by_its_word_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(risk=Risk.DESTROYS_DATA))
    await bench.changer.apply(REMADE)
    with pytest.raises(RefusedError, match="destroys the data currently on it"):
        await bench.changer.undo(bench.record())
    assert bench.backend.value == "256"


async def test_an_undo_confirmed_by_another_word_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(risk=Risk.DESTROYS_DATA))
    await bench.changer.apply(REMADE)
    with pytest.raises(RefusedError):
        await bench.changer.undo(bench.record(), confirm="other", plate=PLATE)


async def test_an_undo_confirmed_by_its_word_is_done(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(risk=Risk.DESTROYS_DATA))
    await bench.changer.apply(REMADE)
    await bench.changer.undo(bench.record(), confirm=PLATE.token, plate=PLATE)
    assert bench.backend.value == "128"


@pytest.mark.parametrize(
    "change",
    [
        REMADE,
        *(replace(planned("128", "256"), effect=one) for one in Effect if one is not Effect.AT_ONCE),
        replace(planned("128", "256"), undo=()),
    ],
    ids=["destroys", *(one.value for one in Effect if one is not Effect.AT_ONCE), "has no way back"],
)
async def test_what_must_not_come_back_by_itself_has_no_trial(tmp_path: Path, change: Change) -> None:
    bench = Bench(tmp_path)
    with pytest.raises(RefusedError, match="does not support trials"):
        await bench.changer.apply(change, until=1e12)
    assert bench.backend.applied == []


async def test_after_a_crash_it_is_not_put_back_without_being_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(risk=Risk.DESTROYS_DATA))
    bench.journal.write_intent("c1", bench.folder, REMADE, until=1e12)
    bench.backend.value = "256"
    with pytest.raises(RefusedError, match="destroys the data currently on it"):
        await bench.changer.recover(_left(bench))
    assert bench.backend.value == "256"


async def test_after_a_crash_that_came_before_it_there_is_nothing_to_put_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.journal.write_intent("c1", bench.folder, REMADE, until=1e12)
    assert await bench.changer.recover(_left(bench)) == "restored"


def _left(bench: Bench) -> UnresolvedChange:
    return bench.journal.trials()[0]
