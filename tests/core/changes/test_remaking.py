"""What was deleted and not made again is made by whoever types its word, and stays open until it reads as wanted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.core.session import journal as journal_module
from app.core.session.journal import UnresolvedChange
from backends.change import Change
from backends.device_label import DeviceLabel
from backends.errors import BlockedError, RefusedError
from tests.core.doubles import Bench, FakeBackend, planned

PLATE = DeviceLabel(name="volume 1", description="3 drives, 1.8 TiB", token="123456")


@dataclass
class Remaking(FakeBackend):
    """Makes again what it is told of."""

    async def plan_remake(self, change: Change) -> Change:
        return planned(self.value, change.after)


def left_open(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, members: tuple[str, ...] = ("S1", "S2")
) -> UnresolvedChange:
    """A change that somebody died in the middle of."""
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "process_start", lambda pid: "1")
        bench.journal.write_intent("c7", bench.folder, replace(planned("128", "256"), members=members))
    [left] = bench.journal.unresolved()
    return left


@pytest.mark.parametrize("really", ["256", "512"], ids=["as wanted", "otherwise"])
async def test_what_was_made_again_is_no_longer_open_where_it_reads_as_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, really: str
) -> None:
    bench = Bench(tmp_path, Remaking(sets=lambda value: really))
    ended = await bench.changer.remake(left_open(bench, monkeypatch), confirm=PLATE.token, plate=PLATE)
    assert (ended.result == "verified") is (really == "256")
    assert [left.id for left in bench.journal.unresolved()] == ([] if really == "256" else ["c7"])


async def test_without_its_word_nothing_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path, Remaking())
    with pytest.raises(RefusedError, match="uses 3 drives"):
        await bench.changer.remake(left_open(bench, monkeypatch), confirm="volume 1", plate=PLATE)
    assert bench.backend.applied == []


@pytest.mark.parametrize("backend", [FakeBackend(), Remaking()], ids=["none that makes it", "no members"])
async def test_what_cannot_be_made_from_here_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: FakeBackend
) -> None:
    bench = Bench(tmp_path, backend)
    left = left_open(bench, monkeypatch, members=() if isinstance(backend, Remaking) else ("S1",))
    with pytest.raises(BlockedError, match="no longer exists and cannot be re-created from here"):
        await bench.changer.remake(left, confirm=PLATE.token, plate=PLATE)
    assert backend.applied == []
