"""A host whose messages contradict each other, or that speaks after its lease, is left out of the sum and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.session.results import DirectionSample, Phase, Sample
from app.features.fleet.multihost.account import HostAccount
from app.features.fleet.multihost.messages import (
    EndMessage,
    IntervalMessage,
    ProtocolViolationError,
    ResultMessage,
    parse_message,
)
from app.features.fleet.multihost.protocol import tick
from app.features.fleet.multihost.record import IN_WINDOW, LOST
from tests.features.fleet.multihost.test_conductor import TICK, HostDouble, Table, states

LEASE = 5.0
SIDE = {"ios": 100, "bytes": 409_600, "bins": [[100, 100]]}
TOTALS = {"total_ios": 2000, "total_bytes": 8_192_000, "iops": 2000.0, "bytes_per_second": 8_192_000.0, "seconds": 1.0}


def told(**more: Any) -> Any:
    """Return a message as it is read."""
    return parse_message(json.dumps(more).encode())


def interval(end: float, *, seconds: float = 1.0, phase: str = "measuring", **sides: Any) -> IntervalMessage:
    found = told(kind="tick", mono=end, seconds=seconds, phase=phase, **(sides or {"read": SIDE}))
    assert isinstance(found, IntervalMessage)
    return found


def result(status: str = "ok", **run: Any) -> ResultMessage:
    found = told(kind="result", run={"id": "r1", "status": status, "session": "/s", **run})
    assert isinstance(found, ResultMessage)
    return found


def totals(**more: Any) -> dict[str, Any]:
    return {"read": TOTALS | more}


# -- one message ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "side",
    [
        {"ios": 100, "bytes": 1, "bins": [[100, 99]]},
        {"ios": 100, "bytes": 1, "bins": [[100, 101]]},
        {"ios": 0, "bytes": 1, "bins": [[100, 1]]},
        {"ios": 100, "bytes": 1, "bins": [[100, 50], [128, 51]]},
        {"ios": 10**12, "bytes": 1, "bins": [[100, 10**12]]},
        {"ios": 1, "bytes": 1 << 60, "bins": [[100, 1]]},
    ],
)
def test_an_interval_that_contradicts_itself_is_a_lie(side: dict[str, Any]) -> None:
    with pytest.raises(ProtocolViolationError, match=r"^(Protocol error|Implausible result): "):
        interval(10.0, read=side)


@given(st.integers(0, 1000), st.lists(st.integers(0, 1000), max_size=4))
def test_only_a_histogram_of_all_the_ios_is_read(ios: int, counts: list[int]) -> None:
    side = {"ios": ios, "bytes": 0, "bins": [[value, count] for value, count in enumerate(counts)]}
    try:
        found = interval(10.0, read=side)
    except ProtocolViolationError:
        assert sum(counts) not in (0, ios)
    else:
        assert found.sides["read"].histogram.total in (0, ios)


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"tick","mono":1,"seconds":1,"seconds":9,"phase":"measuring"}',
        b'{"kind":"tick","mono":NaN,"seconds":1,"phase":"measuring"}',
        b'{"kind":"tick","mono":1,"seconds":Infinity,"phase":"measuring"}',
        b'{"kind":"result","run":{"id":"r1","status":"ok","read":{"total_ios":1}}}',
        b'{"kind":"hello","protocol":1,"host":"a","boot":"","version":"","lease":-1}',
    ],
)
def test_a_line_with_a_key_twice_or_a_number_that_is_none_is_a_lie(line: bytes) -> None:
    with pytest.raises(ProtocolViolationError):
        parse_message(line)


def test_an_unknown_field_is_ignored() -> None:
    assert parse_message(json.dumps({"kind": "started", "news": [1]}).encode()) == parse_message(b'{"kind":"started"}')


def test_what_a_run_says_of_an_interval_adds_up() -> None:
    """fio counts I/Os and latencies a moment apart: those of the histogram are said."""
    sample = Sample(
        at=1.0, seconds=1.0, phase=Phase.MEASURING, read=DirectionSample(iops=101.0, bytes_per_second=4096.0, ios=101)
    )
    found = told(**tick(sample, {"read": [[100, 100]]}, monotonic=5.0, go=3.0))
    assert (found.sides["read"].ios, found.go) == (100, 3.0)
    plain = told(**tick(sample, {}, monotonic=5.0, timed=False))
    assert plain.sides["read"].ios == 101


def test_flushes_of_an_interval_are_said_apart() -> None:
    flushes = DirectionSample(iops=9.0, bytes_per_second=0.0, ios=9)
    sample = Sample(at=1.0, seconds=1.0, phase=Phase.MEASURING, sync=flushes)
    found = told(**tick(sample, {"sync": [[5000, 9]]}, monotonic=5.0))
    assert (found.sides["sync"].ios, found.sides["sync"].bytes, found.sides["sync"].histogram.total) == (9, 0, 9)


# -- messages held against each other ---------------------------------------------------------------------------------


def test_a_host_that_tells_the_truth_is_believed() -> None:
    account = HostAccount(LEASE)
    for number in range(1, 21):
        account.pong(number, 100.0 + number / 20)
        account.tick(interval(100.01 + number / 20, seconds=0.05))
    account.result(result(**totals()), {"bs": "4k"})
    account.end(EndMessage(why="done", message=""))


FLUSHES = TOTALS | {"total_bytes": 0, "bytes_per_second": 0.0}


def test_flushes_move_no_bytes_and_are_believed() -> None:
    account = HostAccount(LEASE)
    for number in range(1, 21):
        account.tick(interval(100.0 + number * TICK, seconds=TICK, write=SIDE, sync=SIDE | {"bytes": 0}))
    account.result(result(write=TOTALS, sync=FLUSHES), {"bs": "4k"})


def test_a_host_of_the_first_release_has_flushes_in_its_result_alone() -> None:
    account = HostAccount(LEASE)
    ticks(account)
    account.result(result(**totals(), sync=FLUSHES), {"bs": "4k"})


def test_flushes_that_do_not_fit_the_intervals_are_a_lie() -> None:
    account = HostAccount(LEASE)
    for number in range(1, 21):
        account.tick(interval(100.0 + number * TICK, seconds=TICK, sync=SIDE | {"bytes": 0}))
    with pytest.raises(ProtocolViolationError, match=r"2000 I/Os .sync., the result has 9"):
        account.result(result(sync=FLUSHES | {"total_ios": 9, "iops": 9.0}), {"bs": "4k"})


def ticks(account: HostAccount, count: int = 20, **side: Any) -> None:
    for number in range(1, count + 1):
        account.tick(interval(100.0 + number * TICK, seconds=TICK, read=SIDE | side))


@pytest.mark.parametrize(
    ("told_totals", "reason"),
    [
        (totals(total_ios=1000, iops=1000.0), "2000 I/Os .read., the result has 1000"),
        (totals(total_ios=9000, iops=9000.0), "2000 I/Os .read., the result has 9000"),
        ({"write": TOTALS}, "the result has"),
        (totals(iops=90_000.0), "a rate of 90000/s"),
        (totals(bytes_per_second=9.0), "a rate of 9/s"),
    ],
)
def test_totals_that_do_not_fit_the_intervals_are_a_lie(told_totals: dict[str, Any], reason: str) -> None:
    account = HostAccount(LEASE)
    ticks(account)
    with pytest.raises(ProtocolViolationError, match=reason):
        account.result(result(**told_totals), {})


def test_bytes_that_do_not_fit_the_block_size_are_a_lie() -> None:
    account = HostAccount(LEASE)
    ticks(account, bytes=100)
    with pytest.raises(ProtocolViolationError, match="of 4096 bytes"):
        account.result(result(), {"bs": "4k"})


@pytest.mark.parametrize("job", [{"bs": "4k-64k"}, {"bs": "4k", "bssplit": "512/90:4k/10"}, {}])
def test_a_run_of_several_block_sizes_is_believed(job: dict[str, str]) -> None:
    account = HostAccount(LEASE)
    ticks(account, bytes=100)
    account.result(result(), job)


@pytest.mark.parametrize("end", [100.0, 99.0])
def test_an_interval_twice_or_a_clock_that_goes_back_is_a_lie(end: float) -> None:
    account = HostAccount(LEASE)
    account.tick(interval(100.0))
    with pytest.raises(ProtocolViolationError, match="repeated interval, or clock stepped back"):
        account.tick(interval(end))


def test_more_time_than_passed_is_a_lie() -> None:
    account = HostAccount(LEASE)
    account.tick(interval(100.0))
    with pytest.raises(ProtocolViolationError, match="longer than the elapsed time"):
        account.tick(interval(101.0, seconds=2.1))


def test_latencies_of_some_intervals_alone_are_a_lie() -> None:
    account = HostAccount(LEASE)
    account.tick(interval(100.0))
    with pytest.raises(ProtocolViolationError, match="only some I/Os have latencies"):
        account.tick(interval(101.0, read=SIDE | {"bins": []}))


def test_fio_may_have_no_latencies_before_the_ramp_is_over() -> None:
    account = HostAccount(LEASE)
    account.tick(interval(99.0, phase="ramping", read=SIDE | {"bins": []}))
    account.tick(interval(100.0))
    assert account.untimed_directions == ()


def test_a_host_without_any_latencies_is_known_as_such() -> None:
    account = HostAccount(LEASE)
    account.tick(interval(100.0, read=SIDE | {"bins": []}))
    assert account.untimed_directions == ("read",)


def test_a_ping_answered_twice_is_a_lie() -> None:
    account = HostAccount(LEASE)
    account.pong(1, 100.0)
    with pytest.raises(ProtocolViolationError, match="two responses to one ping"):
        account.pong(1, 100.1)


def test_a_clock_that_goes_back_between_pings_is_a_lie() -> None:
    account = HostAccount(LEASE)
    account.pong(1, 100.0)
    with pytest.raises(ProtocolViolationError, match="clock stepped back"):
        account.pong(2, 99.0)


@pytest.mark.parametrize("late", ["pong", "tick", "result"])
def test_an_answer_after_the_lease_is_not_counted_and_says_so(late: str) -> None:
    account = HostAccount(LEASE)
    account.pong(1, 100.0)
    last = told(kind="result", mono=107.0, run={"id": "r1", "status": "ok"})
    answers: dict[str, Callable[[], None]] = {
        "pong": lambda: account.pong(2, 107.0),
        "tick": lambda: account.tick(interval(107.0)),
        "result": lambda: account.result(last, {}),
    }
    with pytest.raises(ProtocolViolationError, match="longer than the lease of 5 s; later messages are ignored"):
        answers[late]()


def test_an_answer_within_the_lease_counts() -> None:
    account = HostAccount(LEASE)
    account.pong(1, 100.0)
    account.tick(interval(104.9))
    account.pong(2, 104.9)


def test_an_interval_after_the_result_is_a_lie() -> None:
    account = HostAccount(LEASE)
    account.result(result("stopped"), {})
    with pytest.raises(ProtocolViolationError, match="interval after the result"):
        account.tick(interval(100.0))


def test_a_result_twice_is_a_lie() -> None:
    account = HostAccount(LEASE)
    account.result(result("stopped"), {})
    with pytest.raises(ProtocolViolationError, match="two results"):
        account.result(result("stopped"), {})


def test_a_result_without_an_interval_is_a_lie() -> None:
    with pytest.raises(ProtocolViolationError, match="result without intervals"):
        HostAccount(LEASE).result(result(**totals()), {})


@pytest.mark.parametrize("why", ["silence", "input ended", "nobody reads", "word", "signal", "bye"])
def test_a_whole_run_that_ended_by_itself_is_a_lie(why: str) -> None:
    account = HostAccount(LEASE)
    account.result(result(), {})
    with pytest.raises(ProtocolViolationError, match="reported as complete"):
        account.end(EndMessage(why=why, message=""))


# -- in a run with others ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        pytest.param({"lies_at": 8, "lie": {"bins": [[100, 5]]}}, "100 I/Os, but 5 latencies", id="histogram"),
        pytest.param({"doubles": 8}, "repeated interval", id="interval twice"),
        pytest.param({"results": 2}, "two results", id="two results"),
        pytest.param({"go": 17.5}, "message of another run", id="another run"),
        pytest.param({"totals": totals(total_ios=10, iops=10.0)}, "the result has 10", id="totals"),
        pytest.param({"why": "silence"}, "its lease had ended", id="silence"),
        pytest.param(
            {"says_at": 8, "says": b'{"kind":"started"}\n' * 2}, "protocol error: two start messages", id="starts twice"
        ),
        pytest.param(
            {"says_at": 8, "says": b'{"kind":"ready","target":"x","job":{},"seconds":1,"fio":"3"}\n'},
            "two ready messages",
            id="ready twice",
        ),
        pytest.param(
            {"says_at": 8, "says": b'{"kind":"pong","id":"7","mono":1,"wall":1}\n'},
            "a ping that was not sent",
            id="the pong of another run",
        ),
    ],
)
def test_a_host_that_lies_is_left_out_and_named(tmp_path: Path, wrong: dict[str, Any], reason: str) -> None:
    record, said = Table(HostDouble("a"), HostDouble("b", **wrong)).run(tmp_path)
    assert states(record) == {"a": IN_WINDOW, "b": LOST}
    assert reason in record.hosts[1].reason
    assert set(record.figures.hosts) == {"a"}
    assert record.figures.sides["read"].iops == pytest.approx(100 / TICK)
    assert [sentence.startswith("b: ") for sentence in said] == [True]


def test_a_host_that_measures_on_after_its_lease_is_left_out_and_named(tmp_path: Path) -> None:
    late = HostDouble("b", ticks=60, deaf_at=5)
    record, said = Table(HostDouble("a", ticks=60), late).run(tmp_path, lease=0.5)
    assert states(record) == {"a": IN_WINDOW, "b": LOST}
    assert "longer than the lease of 0.5 s" in record.hosts[1].reason
    assert set(record.figures.hosts) == {"a"}
    assert len(said) == 1


def test_a_word_after_the_last_one_is_a_lie() -> None:
    account = HostAccount(LEASE)
    account.end(EndMessage(why="done", message=""))
    with pytest.raises(ProtocolViolationError, match="message after the last one"):
        account.require_open()


def test_a_host_with_another_lease_than_granted_is_left_out(tmp_path: Path) -> None:
    hello = json.dumps({"kind": "hello", "protocol": 1, "host": "b", "boot": "", "version": "", "lease": 60})
    liar = HostDouble("b", mute=True, before=hello.encode() + b"\n")
    record, _ = Table(HostDouble("a"), liar).run(tmp_path, lease=5.0)
    assert "a lease of 5 s was granted, but 60 s are reported" in record.hosts[1].reason
    assert set(record.figures.hosts) == {"a"}
