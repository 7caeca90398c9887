"""The first minutes: what is there is shown at once, the slow card follows; the first steps are told once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.terminal import PROGRAM, Terminal, terminal

SLOW = "megaraid:/c3/v0"
"""An array of the card that takes its time."""

WAITING = b"waiting for c3 ..."

DEMO = (*PROGRAM, "--demo", "--demo-speed", "8")

SLOWLY = (*PROGRAM, "--demo", "--demo-speed", "4", "--demo-state", "slow")


@pytest.fixture
def listed(tmp_path: Path) -> Iterator[Terminal]:
    with terminal(tmp_path, [*SLOWLY, "devices"], size=(160, 80)) as found:
        yield found


@pytest.mark.long
def test_the_list_begins_with_what_has_answered(listed: Terminal) -> None:
    listed.wait(lambda: WAITING in listed.raw, "the slow card")
    first = listed.raw.partition(WAITING)[0].decode()
    assert ("md:md0" in first, SLOW in first) == (True, False)


@pytest.mark.long
def test_the_slow_card_follows_and_nothing_is_told_twice(listed: Terminal) -> None:
    listed.end()
    assert (listed.text.count("md:md0"), listed.text.count(SLOW), "waiting for" in listed.text) == (1, 1, False)


@pytest.mark.long
def test_the_workbench_lists_what_has_answered(tmp_path: Path) -> None:
    with terminal(tmp_path, SLOWLY, size=(120, 90)) as found:
        found.wait_for("being read")
        assert "md0" in found.text
        found.wait(lambda: "being read" not in found.text, "the slow card's row")


@pytest.mark.long
def test_the_very_first_start_tells_the_first_steps(tmp_path: Path) -> None:
    with terminal(tmp_path, DEMO, size=(120, 40)) as found:
        found.wait_for("First steps")
        found.wait_for("measure the device under the cursor")


@pytest.mark.long
def test_the_next_start_does_not(tmp_path: Path) -> None:
    with terminal(tmp_path, DEMO, size=(120, 40)) as first:
        first.wait_for("First steps")
        first.keys("q")
        first.end()
    with terminal(tmp_path, DEMO, size=(120, 40)) as found:
        found.wait_for("md0")
        assert "First steps" not in found.text
