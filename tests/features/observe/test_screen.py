"""O on Devices: the sentences of an observation, which are refreshed and recorded."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.session.events import NoteAdded
from app.core.workbench import Workbench
from app.features.observe.observer import Observer
from app.features.observe.screen import ObservationScreen
from app.tui.app import WorkbenchApp
from app.tui.devices.screen import DevicesScreen
from app.tui.options import ScreenOptions
from backends.errors import ToolFailedError
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import FAST
from tests.tui.stage import app_of, notices, paths_in, settled, text_of, until

SENTENCE = re.compile(r"md0, (\d+) s: no I/O\.")


@asynccontextmanager
async def devices(folder: Path, name: str) -> AsyncIterator[Pilot[int]]:
    """The devices of the simulated rack, with the cursor on the one of this name."""
    bench = Workbench(SimulatedHost(linux_rack(), speed=FAST), paths=paths_in(folder))
    app = WorkbenchApp(bench, ScreenOptions(session=folder / "session"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("slash", *name, "enter", "O")
        yield pilot


def notes(pilot: Pilot[int]) -> list[str]:
    return [event.text for event in app_of(pilot).session.events if isinstance(event, NoteAdded)]


async def test_the_sentences_are_refreshed_and_become_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.features.observe.screen.READING_S", 0.02)
    async with devices(tmp_path, "md0") as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ObservationScreen))
        await until(pilot, lambda: SENTENCE.search(text_of(pilot)))
        first = SENTENCE.findall(text_of(pilot))
        await until(pilot, lambda: SENTENCE.findall(text_of(pilot)) != first)
        assert "Who waits: services not known" in " ".join(text_of(pilot).split())
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, DevicesScreen))
        assert [note.split("\n")[0] for note in notes(pilot)] == ["Observed by the kernel's counters:"]


async def test_a_filesystem_without_a_block_device_is_a_sentence(tmp_path: Path) -> None:
    async with devices(tmp_path, "tank/files") as pilot:
        await until(pilot, lambda: "has no block device whose I/O the kernel counts" in notices(pilot))
        assert isinstance(pilot.app.screen, DevicesScreen)


async def test_a_helper_that_ends_is_an_error_and_the_last_sentences_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.features.observe.screen.READING_S", 0.02)
    async with devices(tmp_path, "md0") as pilot:
        await until(pilot, lambda: SENTENCE.search(text_of(pilot)))

        async def ended(_: Observer) -> None:
            raise ToolFailedError("The root helper has ended.")

        monkeypatch.setattr(Observer, "take", ended)
        await until(pilot, lambda: "The root helper has ended." in notices(pilot))
        assert SENTENCE.search(text_of(pilot))


async def test_an_observation_that_is_left_at_once_is_no_note(tmp_path: Path) -> None:
    async with devices(tmp_path, "md0") as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ObservationScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, DevicesScreen))
        assert notes(pilot) == []
