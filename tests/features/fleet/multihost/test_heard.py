"""What hosts say is read without believing it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.fleet.multihost.messages import (
    EndMessage,
    HelloMessage,
    IntervalMessage,
    ProtocolMismatchError,
    ProtocolViolationError,
    RateLimiter,
    ReadyMessage,
    parse_message,
)
from tests.case_loop import loop_over

TICK: dict[str, Any] = {
    "kind": "tick",
    "mono": 10.0,
    "at": 1.0,
    "seconds": 0.25,
    "phase": "measuring",
    "stalled": False,
    "read": {"ios": 3, "bytes": 12288, "bins": [[100, 1], [101, 2]]},
    "write": None,
}
HELLO = {"kind": "hello", "protocol": 1, "host": "pear", "boot": "b", "version": "1.0", "lease": 5}


def line(body: object) -> bytes:
    return json.dumps(body).encode()


def test_a_tick_is_read() -> None:
    tick = parse_message(line(TICK))
    assert isinstance(tick, IntervalMessage)
    assert (tick.monotonic, tick.seconds, tick.measuring) == (10.0, 0.25, True)
    assert dict(tick.sides["read"].histogram.counts) == {100: 1, 101: 2}
    assert set(tick.sides) == {"read"}


def test_a_latency_between_two_buckets_is_that_of_its_own() -> None:
    tick = parse_message(line(TICK | {"read": {"ios": 3, "bytes": 1, "bins": [[1000, 1], [1004, 2]]}}))
    assert isinstance(tick, IntervalMessage)
    assert dict(tick.sides["read"].histogram.counts) == {1004: 3}


def test_of_the_ramp_nothing_counts() -> None:
    tick = parse_message(line(TICK | {"phase": "ramp"}))
    assert isinstance(tick, IntervalMessage)
    assert not tick.measuring


@loop_over(
    "change",
    [
        {"seconds": 0},
        {"seconds": -1},
        {"seconds": 1e9},
        {"seconds": True},
        {"mono": "1"},
        {"mono": -5},
        {"mono": 1e300},
        {"read": {"ios": -1, "bytes": 1, "bins": []}},
        {"read": {"ios": 1.5, "bytes": 1, "bins": []}},
        {"read": {"ios": 1 << 70, "bytes": 1, "bins": []}},
        {"read": {"ios": 1, "bytes": 1, "bins": [[1, -1]]}},
        {"read": {"ios": 1, "bytes": 1, "bins": [[1]]}},
        {"read": {"ios": 1, "bytes": 1, "bins": [[1, 1]] * 2001}},
        {"read": {"ios": 1, "bytes": 1}},
        {"read": []},
        {"kind": "tock"},
        {"kind": 7},
    ],
)
def test_what_cannot_be_is_no_tick(change: dict[str, Any]) -> None:
    with pytest.raises(ProtocolViolationError):
        parse_message(line(TICK | change))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_lie(text: bytes) -> None:
    with pytest.raises(ProtocolViolationError) as told:
        parse_message(text)
    assert told.value.message.isprintable()


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"kind":"end"}x', b"NaN", b'{"kind":"end","why":1}', b"\x1b[2J\x07"]
)
def test_no_text_breaks_it(text: bytes) -> None:
    with pytest.raises(ProtocolViolationError) as told:
        parse_message(text)
    assert "\x1b" not in told.value.message


def test_a_host_speaks_of_itself_alone() -> None:
    ready = {"kind": "ready", "host": "plum", "target": "x", "job": {}, "seconds": 1, "fio": "3.33"}
    assert isinstance(parse_message(line(ready), "plum"), ReadyMessage)
    with pytest.raises(ProtocolViolationError, match="message of another host, plum"):
        parse_message(line(ready), "pear")


def test_another_protocol_is_named() -> None:
    with pytest.raises(
        ProtocolMismatchError, match=r"raidbench 9\.9 there uses another protocol version \(2, here 1\)"
    ):
        parse_message(line(HELLO | {"protocol": 2, "version": "9.9"}))


def test_texts_are_cleaned_and_bounded() -> None:
    hello, end = (
        parse_message(line(HELLO | {"host": "a\x1b]0;x\x07" + "b" * 999})),
        parse_message(line({"kind": "end", "message": "x\n" * 999})),
    )
    assert isinstance(hello, HelloMessage)
    assert isinstance(end, EndMessage)
    assert hello.host.isprintable()
    assert len(hello.host) <= 253
    assert len(end.message) <= 1000


def test_nothing_measured_is_followed_for_ever() -> None:
    ready = parse_message(line({"kind": "ready", "host": "a", "target": "x", "job": {}, "seconds": 1e10, "fio": ""}))
    assert isinstance(ready, ReadyMessage)
    assert ready.seconds == 30 * 86400


def say(flood: RateLimiter, lines: int, size: int) -> None:
    """So many lines at one moment."""
    for _ in range(lines):
        flood.take(size, now=1.0)


def test_a_million_lines_are_too_many() -> None:
    with pytest.raises(ProtocolViolationError, match="too much output"):
        say(RateLimiter(), 1_000_000, size=20)


def test_much_in_long_lines_is_too_much() -> None:
    with pytest.raises(ProtocolViolationError):
        say(RateLimiter(), 20, size=1 << 20)


def test_what_a_run_says_is_not() -> None:
    flood = RateLimiter()
    for number in range(4 * 3600):
        flood.take(40_000, now=number / 4)
        flood.take(60, now=number / 4)
