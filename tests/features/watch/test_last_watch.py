"""What one watch keeps for the next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.features.watch.last_watch import WatchState, changes_since, load, save

BEFORE = WatchState(
    kernel="6.12.0",
    settings={"block:sda": {"read_ahead_kb": "128", "scheduler": "none"}},
    firmware={"megaraid:/c0": "1"},
)


def test_what_changed_is_said_versions_first() -> None:
    now = replace(
        BEFORE,
        kernel="6.17.0",
        settings={"block:sda": {"read_ahead_kb": "4096", "scheduler": "none"}, "block:sdb": {}},
        firmware={"megaraid:/c0": "2"},
    )
    assert list(changes_since(BEFORE, now)) == [
        "kernel 6.12.0 -> 6.17.0",
        "firmware of megaraid:/c0 1 -> 2",
        "block:sdb is new",
        "Kernel read-ahead of block:sda 128 KiB -> 4096 KiB",
    ]
    assert "block:sdb disappeared" in changes_since(now, BEFORE)


def test_the_same_is_no_change() -> None:
    assert list(changes_since(BEFORE, BEFORE)) == []


def test_a_value_that_nobody_tells_by_now_is_no_change() -> None:
    assert list(changes_since(BEFORE, replace(BEFORE, settings={"block:sda": {"scheduler": "none"}}))) == []


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    save(tmp_path / "state" / "w.json", BEFORE)
    assert load(tmp_path / "state" / "w.json") == BEFORE
    assert [one.name for one in (tmp_path / "state").iterdir()] == ["w.json"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 2}', '{"format": 1, "settings": 3, "kernel": "", "firmware": {}}']
)
def test_what_cannot_be_read_is_as_if_there_were_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "w.json").write_text(text)
    assert load(tmp_path / "w.json") is None
