"""Before it says that it is armed, a watchdog has done what the deadline takes, and is deaf to what ends programs."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.engine.change import watchdog
from app.engine.session.journal import boot_clock
from backends.errors import BlockedError
from backends.hosts.local.detached import STAY
from tests.engine.change.test_trials import Trial, paths
from tests.engine.doubles import FakeBackend, planned

SESSION, UNTIL = "/sessions/one", 4711.5


@pytest.mark.parametrize("why_not", [None, "the disk is rebuilding"], ids=["planned", "refused"])
async def test_a_way_back_that_cannot_be_planned_is_found_out_before_anything_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why_not: str | None
) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    bench.journal.intent("c1", bench.folder, planned("128", "256"), until=until)
    backend = FakeBackend(why_not=why_not)
    machine = SimpleNamespace(of=lambda host: SimpleNamespace(backends={"fake": backend}))
    monkeypatch.setattr(watchdog, "Machine", machine)
    if why_not is None:
        found = await watchdog.rehearse(paths(tmp_path), str(bench.folder), until)
        assert found["fake"] is backend  # type: ignore[comparison-overlap]
    else:
        with pytest.raises(BlockedError, match="the disk is rebuilding"):
            await watchdog.rehearse(paths(tmp_path), str(bench.folder), until)
    assert backend.applied == []


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a watchdog does, in order."""
    steps: list[str] = []

    async def rehearse(*_: object) -> dict[str, object]:
        steps.append("rehearsed")
        return {}

    async def watch(_paths: object, session: str, until: float, _found: object) -> str:
        steps.append(f"watches {session} until {until}")
        return "kept"

    monkeypatch.setattr(watchdog, "load_all", lambda: steps.append("loaded"))
    monkeypatch.setattr(watchdog, "rehearse", rehearse)
    monkeypatch.setattr(watchdog, "watch", watch)
    monkeypatch.setattr(watchdog, "_say", steps.append)
    return steps


async def test_a_watchdog_is_armed_when_all_is_loaded_and_rehearsed(tmp_path: Path, done: list[str]) -> None:
    await watchdog._live(paths(tmp_path), SESSION, UNTIL)
    assert done == ["loaded", "rehearsed", "armed", f"watches {SESSION} until {UNTIL}"]


async def test_a_watchdog_that_cannot_be_armed_says_why_and_watches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str]
) -> None:
    async def fails(*_: object) -> None:
        raise BlockedError("It is rebuilding.")

    monkeypatch.setattr(watchdog, "rehearse", fails)
    await watchdog._live(paths(tmp_path), SESSION, UNTIL)
    assert done == ["loaded", "BlockedError: It is rebuilding."]


@pytest.mark.parametrize(
    ("words", "child", "watches"),
    [([STAY], 7, True), ([], 7, False), ([], 0, True)],
    ids=["kept by a unit", "whoever was started", "its child"],
)
def test_a_watchdog_stays_alone_and_deaf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str], words: list[str], child: int, watches: bool
) -> None:
    deaf: dict[int, object] = {}
    order = {name: str(tmp_path / name) for name in ("sessions", "journal", "locks", "config")}
    order |= {"session": SESSION, "until": str(UNTIL)}
    monkeypatch.setattr(signal, "signal", deaf.setdefault)  # the loop would set its own afterwards
    monkeypatch.setattr(watchdog, "keep_private", lambda: None)
    monkeypatch.setattr(sys, "argv", ["watchdog", *words])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(order) + "\n"))
    monkeypatch.setattr(os, "fork", lambda: child)
    status = watchdog.main()
    assert status == 0
    ends = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)
    assert {number: deaf.get(number) for number in ends} == dict.fromkeys(ends, signal.SIG_IGN)
    assert (f"watches {SESSION} until {UNTIL}" in done) is watches
