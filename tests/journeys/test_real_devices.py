"""A loop device of our own, its settings changed and taken back by keys in the real program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop, needs_loops
from tests.journeys.terminal import Terminal, terminal

pytestmark = [needs_loops(), pytest.mark.root]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Loop]:
    """On a file of this test's, detached at its end."""
    with loop(tmp_path / "disk.img") as made:
        yield made


def ahead(device: Loop) -> str:
    return Path(f"/sys/block/{device.name}/queue/read_ahead_kb").read_text().strip()


def choose(made: Terminal, device: Loop) -> None:
    """Its settings, the cursor on read-ahead."""
    made.wait_for(" REC ")
    made.wait_for(device.name)
    made.keys("/", *f"block:{device.name}", "\r")
    made.wait_for(f"{device.name} · ")
    made.keys("\r")
    made.wait_for("Queue size")
    made.keys("\x1b[B")


def change(made: Terminal, device: Loop) -> None:
    device.sure()
    choose(made, device)
    made.keys(" ")
    made.wait_for("1 staged")
    made.keys("a")
    made.wait_for(f"block:{device.name}")
    made.press("y", "Apply 1 change")
    made.wait_for("verified")


@pytest.mark.long
def test_a_setting_is_changed_by_keys(tmp_path: Path, own: Loop) -> None:
    before = int(ahead(own))
    with terminal(tmp_path, size=(120, 40)) as made:
        change(made, own)
        assert int(ahead(own)) == 2 * before


@pytest.mark.long
def test_a_setting_is_taken_back_by_keys(tmp_path: Path, own: Loop) -> None:
    before = ahead(own)
    with terminal(tmp_path, size=(120, 40)) as made:
        change(made, own)
        made.keys("u")
        made.press("y", "Undo read-ahead of")
        made.wait_for("undone")
        assert ahead(own) == before


@pytest.mark.long
def test_leaving_restores_what_was_changed_when_asked_to(tmp_path: Path, own: Loop) -> None:
    before = ahead(own)
    with terminal(tmp_path, size=(120, 40)) as made:
        change(made, own)
        made.keys("q")
        made.press("r", "still in force")
        assert (made.end(), ahead(own)) == (0, before)
