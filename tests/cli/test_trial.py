"""`set --trial`: the value comes back by itself, unless `keep` was said in time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop, needs_loops, wait_for
from tests.cli.conftest import ROOT, program
from tests.watchdogs import marked, watchdogs

pytestmark = [needs_loops(), pytest.mark.root, pytest.mark.slow]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk.img") as made:
        yield made


def read_ahead(disk: Loop) -> str:
    return Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").read_text().strip()


def other(value: str) -> str:
    return "1024" if value != "1024" else "2048"


@pytest.mark.long
def test_a_trial_that_nobody_keeps_is_taken_back(disk: Loop) -> None:
    before = read_ahead(disk)
    done = program("set", f"block:{disk.name}", f"read_ahead_kb={other(before)}", "--yes", "--trial", "15")
    during = read_ahead(disk)
    wait_for(lambda: read_ahead(disk) == before, 120)
    assert (done.status, during, read_ahead(disk)) == (0, other(before), before)


@pytest.mark.long
def test_a_kept_trial_stays(disk: Loop, tmp_path: Path) -> None:
    wanted = other(read_ahead(disk))
    own = {"PYTHONPATH": marked(ROOT, tmp_path)}
    program("set", f"block:{disk.name}", f"read_ahead_kb={wanted}", "--yes", "--trial", "60", env=own)
    assert watchdogs(tmp_path)
    kept = program("keep")
    wait_for(lambda: not watchdogs(tmp_path), 120)  # who would take it back
    assert (kept.status, read_ahead(disk)) == (0, wanted)


@pytest.mark.long
def test_what_went_back_by_itself_is_not_called_kept(disk: Loop) -> None:
    before = read_ahead(disk)
    wanted = other(before)
    program("set", f"block:{disk.name}", f"read_ahead_kb={wanted}", "--yes", "--trial", "120")
    Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").write_text(before)
    kept = program("keep")
    assert (kept.status, f"the value {wanted} did not last" in kept.out) == (1, True)


def test_nothing_on_trial_is_a_sentence() -> None:
    assert "There is no trial" in program("keep").err


@pytest.mark.parametrize("seconds", ["1", "100000"])
def test_an_odd_length_is_refused_before_anything_is_done(disk: Loop, seconds: str) -> None:
    done = program("set", f"block:{disk.name}", "read_ahead_kb=64", "--yes", "--trial", seconds)
    assert (done.status, "10 to 600" in done.err) == (3, True)
