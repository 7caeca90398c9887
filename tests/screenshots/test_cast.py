"""The animation in the repository, played in a terminal emulator: it shows the whole loop."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyte
import pytest

from tests.screenshots.cast import CAST, PAUSE_S, cast

LOOP = ("First steps", "r1 done", "1 staged", "rdcache=ra", "verified", "r2 done", "rdcache=nora")
"""What is to be seen, one after the other."""


def rows() -> list[str]:
    return CAST.read_text(encoding="utf-8").splitlines()


def screens() -> Iterator[str]:
    """Each screen, as a terminal shows it."""
    header = json.loads(rows()[0])
    screen = pyte.Screen(header["width"], header["height"])
    stream = pyte.Stream(screen)
    for row in rows()[1:]:
        stream.feed(json.loads(row)[2])
        yield "\n".join(screen.display)


def test_it_is_an_asciicast_of_version_2() -> None:
    assert json.loads(rows()[0])["version"] == 2


@pytest.mark.long
def test_it_shows_the_loop_from_its_beginning_to_its_end() -> None:
    wanted = list(LOOP)
    for text in screens():
        while wanted and wanted[0] in text:
            wanted.pop(0)
    assert wanted == []


def test_nobody_waits_for_it() -> None:
    at = [json.loads(row)[0] for row in rows()[1:]]
    assert max(after - before for before, after in zip(at, at[1:], strict=False)) <= PAUSE_S + 0.001  # noqa: RUF007


@pytest.mark.parametrize(
    ("events", "times"), [([(0.5, "a"), (0.9, "b")], [0.5, 0.9]), ([(9, "a"), (60, "b")], [1.2, 2.4])]
)
def test_a_long_wait_is_shortened(events: list[tuple[float, str]], times: list[float]) -> None:
    assert [json.loads(row)[0] for row in cast(events).splitlines()[1:]] == times


def test_nothing_of_the_machine_it_was_made_on_is_in_it() -> None:
    import socket

    text = CAST.read_text(encoding="utf-8")
    assert (socket.gethostname() in text.split("rack-demo")[0], "/home/" in text, "/root/" in text) == (
        False,
        False,
        False,
    )
