"""What is said between a run and whoever starts it from another host."""

from __future__ import annotations

import pytest

from app.core.session.results import DirectionSample, Phase, Sample
from app.features.fleet.multihost.protocol import (
    Ping,
    RunCommand,
    StartCommand,
    StopCommand,
    parse_command,
    refused_start,
    tick,
)
from backends.errors import InvalidValueError
from tests.case_loop import loop_over


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"ping a-1", Ping(id="a-1")),
        (b"go 1795712968.25", StartCommand(at=1795712968.25)),
        (b"go 12\r", StartCommand(at=12.0)),
        (b"bye", StopCommand()),
    ],
)
def test_three_words_are_known(line: bytes, word: RunCommand) -> None:
    assert parse_command(line) == word


@loop_over(
    "line",
    [
        b"",
        b"bye now",
        b"ping",
        b"ping " + b"x" * 41,
        b"ping a b",
        b"go",
        b"go nan",
        b"go -1",
        b"go 1e9",
        b"go 1.",
        b"go " + "١".encode(),
        b"\xff\x1b[2J",
        b"go 1\nbye",
    ],
)
def test_nothing_else_is_a_word(line: bytes) -> None:
    with pytest.raises(InvalidValueError, match="is not a valid command") as told:
        parse_command(line)
    assert "\x1b" not in told.value.message


@pytest.mark.parametrize(("at", "refused"), [(998.9, True), (999.1, False), (1059.9, False), (1060.1, True)])
def test_a_start_is_neither_long_ago_nor_far_ahead(at: float, refused: bool) -> None:
    assert bool(refused_start(at, now=1000.0)) is refused


def test_a_tick_has_the_ios_bytes_and_histogram_of_its_interval_alone() -> None:
    read = DirectionSample(iops=400.0, bytes_per_second=4000.0, ios=100)
    taken = Sample(at=1.0, seconds=0.25, phase=Phase.MEASURING, read=read)
    told = tick(taken, {"read": ((128, 40), (256, 60))}, monotonic=7.5)
    assert told["read"] == {"ios": 100, "bytes": 1000, "bins": [[128, 40], [256, 60]]}
    assert (told["kind"], told["write"], told["mono"], told["seconds"]) == ("tick", None, 7.5, 0.25)
