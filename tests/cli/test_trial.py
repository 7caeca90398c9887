"""`set --trial`: the value comes back by itself, unless `keep` was said in time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop, needs_loops
from tests.cli.conftest import program

pytestmark = [needs_loops(), pytest.mark.root, pytest.mark.slow]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk.img") as made:
        yield made


def read_ahead(disk: Loop) -> str:
    return Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").read_text().strip()


def other(value: str) -> str:
    return "1024" if value != "1024" else "2048"


def test_a_trial_that_nobody_keeps_is_taken_back(disk: Loop) -> None:
    before = read_ahead(disk)
    done = program("set", f"block:{disk.name}", f"read_ahead_kb={other(before)}", "--yes", "--trial", "10")
    during = read_ahead(disk)
    deadline = time.monotonic() + 60
    while read_ahead(disk) != before and time.monotonic() < deadline:
        time.sleep(0.2)
    assert (done.status, during, read_ahead(disk)) == (0, other(before), before)


def test_a_kept_trial_stays(disk: Loop) -> None:
    wanted = other(read_ahead(disk))
    program("set", f"block:{disk.name}", f"read_ahead_kb={wanted}", "--yes", "--trial", "10")
    kept = program("keep")
    time.sleep(12)  # longer than the trial: what must not happen has no event to wait for
    assert (kept.status, read_ahead(disk)) == (0, wanted)


def test_what_went_back_by_itself_is_not_called_kept(disk: Loop) -> None:
    before = read_ahead(disk)
    wanted = other(before)
    program("set", f"block:{disk.name}", f"read_ahead_kb={wanted}", "--yes", "--trial", "60")
    Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").write_text(before)
    kept = program("keep")
    assert (kept.status, f"{wanted} did not stay" in kept.out) == (1, True)


def test_nothing_on_trial_is_a_sentence() -> None:
    assert "Nothing is on trial" in program("keep").err


@pytest.mark.parametrize("seconds", ["1", "100000"])
def test_an_odd_length_is_refused_before_anything_is_done(disk: Loop, seconds: str) -> None:
    done = program("set", f"block:{disk.name}", "read_ahead_kb=64", "--yes", "--trial", seconds)
    assert (done.status, "10 to 600" in done.err) == (3, True)
