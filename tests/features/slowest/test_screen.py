"""S on Devices: the members of an array read in turn, one row each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.workbench import Workbench
from app.features.slowest.engine import MemberPlan, MemberRead
from app.features.slowest.screen import SlowestScreen
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from backends.errors import ToolFailedError
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import FAST
from tests.tui.stage import notices, paths_in, settled, text_in, text_of, until

MEMBERS = ("/dev/sdc", "/dev/sdd", "/dev/sde", "/dev/sdf")


@asynccontextmanager
async def sheet(folder: Path, *, speed: float = FAST) -> AsyncIterator[Pilot[int]]:
    """The sheet of md1 of the simulated rack."""
    bench = Workbench(SimulatedHost(linux_rack(), speed=speed), paths=paths_in(folder))
    app = WorkbenchApp(bench, ScreenOptions(session=folder / "session"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *"md1", "enter", "S")
        await until(pilot, lambda: isinstance(app.screen, SlowestScreen))
        yield pilot


def rows(pilot: Pilot[int]) -> list[list[str]]:
    """Those of members, word by word."""
    return [line.strip("> ").split() for line in text_in(pilot, "#slowest-members").splitlines() if "/dev/" in line]


def planted(monkeypatch: pytest.MonkeyPatch, rounds: int = 5, error: Exception | None = None) -> None:
    """Reads that take 10 ms, and 15 ms of sde; the last round ends with the error, if any."""

    async def reads(
        bench: Workbench, plan: MemberPlan, stopped: Callable[[], bool], seed: int | None = None
    ) -> AsyncGenerator[MemberRead, None]:
        for number in range(1, rounds + 1):
            for at, node in enumerate(MEMBERS):
                if stopped():
                    return
                latency = (15e6 if node == "/dev/sde" else 10e6) * (1 + 0.002 * ((at + number) % 3))
                yield MemberRead(round=number, device=node, latency_ns=latency)
        if error is not None:
            raise error

    monkeypatch.setattr("app.features.slowest.screen.member_reads", reads)


async def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        shown = " ".join(text_of(pilot).split())
        assert "4 drives in 5 rounds: 40 s of reading. In at least 8 of 10" in shown
        assert "Press r to start." in shown
        assert [row[0] for row in rows(pilot)] == list(MEMBERS)
        assert pilot.app.session.runs == ()  # type: ignore[attr-defined]


async def test_the_slow_one_comes_first_with_its_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch)
    async with sheet(tmp_path) as pilot:
        await pilot.press("r")
        await until(pilot, lambda: "Slower than the others: /dev/sde." in text_in(pilot, "#slowest-words"))
        first = rows(pilot)[0]
        assert (first[0], first[-1], first[-5].startswith(("+49.", "+50.")), "[+" in " ".join(first)) == (
            "/dev/sde",
            "slow",
            True,
            True,
        )
        assert sum(row[-1] == "slow" for row in rows(pilot)) == 1


async def test_a_reading_that_fails_judges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, rounds=4, error=ToolFailedError("/dev/sdf could not be read: it is gone."))
    async with sheet(tmp_path) as pilot:
        await pilot.press("r")
        await until(pilot, lambda: "there is no result" in text_of(pilot))
        assert "it is gone" in notices(pilot)
        assert "slow" not in {row[-1] for row in rows(pilot)}


@pytest.mark.long
async def test_it_reads_on_while_one_looks_elsewhere(tmp_path: Path) -> None:
    """On the simulated rack, whose members are alike."""
    async with sheet(tmp_path) as pilot:
        await pilot.press("r", "escape")
        await until(pilot, lambda: len(pilot.app.session.runs) >= 2)  # type: ignore[attr-defined]
        await pilot.press("S")
        await until(pilot, lambda: "No member is significantly slower" in text_in(pilot, "#slowest-words"))
        runs = pilot.app.session.runs  # type: ignore[attr-defined]
        assert (len(runs), {run.start.device for run in runs}) == (20, set(MEMBERS))


async def test_x_ends_it(tmp_path: Path) -> None:
    async with sheet(tmp_path, speed=5.0) as pilot:
        await pilot.press("r")
        await until(pilot, lambda: pilot.app.session.runs)  # type: ignore[attr-defined]
        await pilot.press("x")
        await until(pilot, lambda: "Stopped before all reads were complete, so there is no result." in text_of(pilot))
        assert len(pilot.app.session.runs) < 20  # type: ignore[attr-defined]


async def test_what_has_no_members_is_a_sentence(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        await pilot.press("escape", "escape", "slash", *"nvme0n1", "enter", "S")
        assert "is a drive and has no members" in notices(pilot)
