"""Consistency checks for the messages of one host in one run: each message must fit the earlier ones. No I/O.

`messages.parse_message` checks each message alone. This module checks the order of the messages and their sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

from app.core.analysis.metric_kinds import SYNC
from app.core.fio.sizes import parse_size
from app.features.fleet.multihost.messages import EndMessage, IntervalMessage, ProtocolViolationError, ResultMessage
from backends.errors import InvalidValueError

SLACK_S = 1.0
"""Tolerance in seconds for times that a host reports: a busy host reports an interval late."""

_CLOCK_S = 1e-3
"""Seconds by which a clock may seem to step back because of rounding."""

_MORE, _FEW = 0.05, 64
"""The I/Os of all intervals may exceed fio's total by this share plus this number of I/Os.

fio counts intervals and totals at different moments.
"""

_COVERED = 0.9
"""Minimum share of the run that the intervals must cover for their I/Os to be compared with the total."""

_HALF = 0.5
"""Minimum share of a run's I/Os that its intervals must contain, if they cover the run.

Also the relative error up to which a reported rate fits the reported amount and time.
"""

_SIZES = (0.5, 2.0)
"""Allowed ratio of the mean I/O size to the block size: fio counts bytes and I/Os separately."""

_MANY = 100
"""Minimum number of I/Os for their mean size to be checked."""

_BY_ITSELF = {
    "silence": "its lease had ended",
    "input ended": "its input had ended",
    "nobody reads": "its output was no longer read",
    "word": "it received an unknown command",
    "signal": "a signal ended it",
    "bye": "it was asked to stop",
}
"""Reasons why a run ends early, as clauses, keyed by the code in the run's `end` message."""


class HostAccount:
    """Tracks the messages from one host, and checks that they follow the protocol."""

    def __init__(self, lease_s: float) -> None:
        """`lease_s`: seconds without a message from the controlling host after which the run must stop."""
        self.lease_s = lease_s
        self._asked = -1
        self._heard: float | None = None
        self._first: float | None = None
        self._last: float | None = None
        self._seconds = 0.0
        self._measured = 0.0
        self._ios: dict[str, int] = {}
        self._bytes: dict[str, int] = {}
        self._timed: dict[str, bool] = {}
        self._result: ResultMessage | None = None
        self._end = False

    @property
    def untimed_directions(self) -> tuple[str, ...]:
        """Return the directions that have I/Os but no latencies."""
        return tuple(name for name, timed in self._timed.items() if not timed)

    def require_open(self) -> None:
        """Raise ProtocolViolationError if the host has already sent its last message."""
        if self._end:
            raise ProtocolViolationError("Protocol error: message after the last one")

    def pong(self, number: int, monotonic: float) -> None:
        """Record the answer to the ping `number`. Raises ProtocolViolationError if the answer is inconsistent."""
        if number <= self._asked:
            raise ProtocolViolationError("Protocol error: two responses to one ping")
        if self._heard is not None and monotonic < self._heard - _CLOCK_S:
            raise ProtocolViolationError("Its clock stepped back")
        self._require_lease(monotonic)
        self._asked, self._heard = number, monotonic

    def tick(self, tick: IntervalMessage) -> None:
        """Record an interval. Raises ProtocolViolationError if it contradicts earlier messages."""
        if self._result is not None:
            raise ProtocolViolationError("Protocol error: interval after the result")
        if self._last is not None and tick.monotonic <= self._last:
            raise ProtocolViolationError("Protocol error: repeated interval, or clock stepped back")
        self._require_lease(tick.monotonic)
        if self._first is None:
            self._first = tick.monotonic - tick.seconds
        self._last = tick.monotonic
        self._seconds += tick.seconds
        if self._seconds > self._last - self._first + SLACK_S:
            raise ProtocolViolationError("Protocol error: the intervals are longer than the elapsed time")
        for name, side in tick.sides.items():
            if not tick.measuring:  # fio reports no latencies until the ramp is over
                continue
            if side.ios:
                timed = bool(side.histogram.counts)
                if self._timed.setdefault(name, timed) is not timed:
                    raise ProtocolViolationError("Protocol error: only some I/Os have latencies")
            self._ios[name] = self._ios.get(name, 0) + side.ios
            self._bytes[name] = self._bytes.get(name, 0) + side.bytes
        self._measured += tick.seconds if tick.measuring else 0.0

    def result(self, result: ResultMessage, job: Mapping[str, str]) -> None:
        """Record the result. Raises ProtocolViolationError if its totals do not match the intervals."""
        if self._result is not None:
            raise ProtocolViolationError("Protocol error: two results")
        if self._first is None and result.status == "ok" and any(total.ios for total in result.totals.values()):
            raise ProtocolViolationError("Protocol error: result without intervals")
        if result.monotonic is not None:
            self._require_lease(result.monotonic)
        self._result = result
        self._require_sizes(job)
        if result.status == "ok" and result.totals:
            self._require_totals(result)

    def end(self, end: EndMessage) -> None:
        """Record the last message. Raises ProtocolViolationError if it contradicts the result."""
        self._end = True
        if self._result is not None and self._result.status == "ok" and end.why in _BY_ITSELF:
            raise ProtocolViolationError(
                f"Protocol error: the run is reported as complete, but also that it ended because {_BY_ITSELF[end.why]}"
            )

    def _require_lease(self, monotonic: float) -> None:
        """Raise ProtocolViolationError if the host sent a message although its lease had expired by then."""
        if self._heard is not None and monotonic - self._heard > self.lease_s + SLACK_S:
            raise ProtocolViolationError(
                f"No contact for {monotonic - self._heard:.0f} s, longer than the lease of {self.lease_s:g} s; later"
                " messages are ignored"
            )

    def _require_totals(self, result: ResultMessage) -> None:
        for name in {*self._ios, *result.totals}:
            total, number = result.totals.get(name), self._ios.get(name, 0)
            ios = 0 if total is None else total.ios
            if number > ios * (1 + _MORE) + _FEW:
                raise ProtocolViolationError(
                    f"Implausible result: the intervals have {number} I/Os ({name}), the result has {ios}"
                )
            if total is None or not total.seconds or self._measured < _COVERED * total.seconds:
                continue
            if name == SYNC and name not in self._ios:  # raidbench 0.2.0 reports flushes only in the result
                continue
            if ios > _FEW and number < ios * _HALF:
                raise ProtocolViolationError(
                    f"Implausible result: the intervals have {number} I/Os ({name}), the result has {ios}"
                )
        for name, total in result.totals.items():
            for text, rate, amount in (("I/Os", total.iops, total.ios), ("bytes", total.rate, total.bytes)):
                expected = amount / total.seconds if total.seconds else rate
                if amount > _FEW and not isclose(rate, expected, rel_tol=_HALF):
                    raise ProtocolViolationError(
                        f"Implausible result: {amount} {text} ({name}) in {total.seconds:g} s at a rate of {rate:.0f}/s"
                    )

    def _require_sizes(self, job: Mapping[str, str]) -> None:
        try:
            size = parse_size(job.get("bs", ""))
        except InvalidValueError:
            return  # the job has no single block size
        if {"bssplit", "bsrange", "blocksize_range", "bs_write"} & job.keys():
            return
        for name, ios in self._ios.items():
            if name == SYNC:  # flushes move no bytes
                continue
            moved = self._bytes.get(name, 0)
            if ios >= _MANY and not _SIZES[0] * size <= moved / ios <= _SIZES[1] * size:
                raise ProtocolViolationError(
                    f"Implausible result: {moved} bytes in {ios} I/Os ({name}) of {size} bytes"
                )
