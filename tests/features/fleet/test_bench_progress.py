"""What is told of many hosts while they measure."""

from __future__ import annotations

import asyncio
import io
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.features.fleet.cli.bench_progress import MultiHostProgress, host_progress_line
from app.features.fleet.multihost.coordinator import Coordinator, HostSession
from tests.backends.passing import counted

NOW = 5000.0
"""What the clock says all the time."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def peers() -> tuple[HostSession, ...]:
    return (
        HostSession(host="a", doing="measuring", rate=(NOW, 1000.0, 4096000.0)),
        HostSession(host="b", doing="measuring", rate=(NOW, 500.0, 2048000.0)),
        HostSession(host="c", doing="lost", lost="the connection closed", over=True),
        HostSession(host="d", doing="checking"),
    )


def live(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, lines: int = 24) -> MultiHostProgress:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setattr("app.features.fleet.cli.bench_progress.time", SimpleNamespace(monotonic=lambda: NOW))
    known: Any = SimpleNamespace(peers=peers(), pending_hosts=lambda: ("d",))
    return MultiHostProgress(cast(Coordinator, known))


def told(shown: MultiHostProgress) -> None:
    """It tells at least once."""

    async def tells() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(6.0):
                await shown.report()

    counted(tells)


TOGETHER = "2 of 4 hosts measuring · 1.50k IOPS · 5.86 MiB/s · lost: c · waiting for d"


def test_a_terminal_has_a_line_a_host_and_one_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    told(live(monkeypatch, screen))
    first = screen.getvalue().split("\x1b")[0].splitlines()
    assert first == [
        "a: measuring · 1.00k IOPS · 3.91 MiB/s",
        "b: measuring · 500 IOPS · 1.95 MiB/s",
        "c: lost · the connection closed",
        "d: checking",
        TOGETHER,
    ]


def test_lines_are_drawn_anew_in_their_place_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    shown = live(monkeypatch, screen)
    told(shown)
    shown.say("c: gone")
    assert screen.getvalue().endswith("\x1b[5A\r\x1b[Jc: gone\n")
    shown.clear()
    assert screen.getvalue().endswith("c: gone\n")


def test_more_hosts_than_lines_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    told(live(monkeypatch, screen, lines=6))
    assert screen.getvalue().split("\x1b")[0].splitlines()[-2:] == ["and 2 more", TOGETHER]


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    told(live(monkeypatch, stream))
    assert stream.getvalue().splitlines()[0] == TOGETHER.replace("·", "-")  # nobody says that it shows more


def test_what_a_host_says_is_cleaned() -> None:
    assert "\x1b" not in host_progress_line(HostSession(host="a", lost="x\x1b[2J"), 0.0)


def test_figures_that_are_old_are_not_shown() -> None:
    assert (
        host_progress_line(HostSession(host="a", doing="measuring", rate=(NOW - 10, 1.0, 1.0)), NOW) == "a: measuring"
    )
