"""The questions at the door, on the way out and on the way in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.worker import WorkerFailed

from app.core.analysis.pair_design import RULE
from app.core.session.event_codec import encode
from app.core.session.events import ChangeIntended, ExperimentStarted
from app.core.session.flag_files import EXPERIMENT
from app.core.session.store import SessionLog, load
from app.tui.app import WorkbenchApp
from app.tui.base import WorkbenchScreen
from app.tui.devices.device_list import DeviceList
from tests.core import sessions
from tests.journeys.bench_walk import start
from tests.journeys.test_settings import AHEAD, apply, stage
from tests.tui.stage import Table, answer, app_of, heard, notices, opened, set_table, text_of, until
from widgets.question import QuestionDialog

SESSION = "2026-11-21-120000"


def screen_of(pilot: Pilot[int]) -> WorkbenchScreen:
    assert isinstance(pilot.app.screen, WorkbenchScreen)
    return pilot.app.screen


async def asked(pilot: Pilot[int]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
    await heard(pilot)


async def left(pilot: Pilot[int]) -> None:
    await until(pilot, lambda: pilot.app._exit)


async def test_with_nothing_to_ask_q_leaves_at_once(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("q")
        await left(pilot)
        assert pilot.app.return_value == 0


async def test_a_running_job_is_asked_about(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        await start(pilot, table)
        await pilot.press("q")
        await asked(pilot)
        assert "A job is running." in text_of(pilot)


@pytest.mark.long
async def test_staying_lets_the_job_run_on(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        await start(pilot, table)
        await pilot.press("q")
        await answer(pilot, "escape")
        assert (pilot.app._exit, table.bench.jobs.running) == (False, True)


async def test_asking_twice_asks_once(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        await start(pilot, table)
        await pilot.press("q")
        await asked(pilot)
        await pilot.press("ctrl+q", "escape")
        await pilot.pause()
        assert (len(pilot.app.screen_stack), pilot.app._exit) == (1, False)


async def experiment_cut_short(table: Table, now: str) -> None:
    """A killed A/B of sda's read-ahead, 128 against 256, and what it is now."""
    folder = table.bench.paths.sessions / SESSION
    intent, ended = sessions.change()
    assert isinstance(intent, ChangeIntended)
    planned = await table.bench.hardware.plan(sessions.SDA, "read_ahead_kb", "256")
    intent = replace(intent, change=planned)
    begun = ExperimentStarted(
        at=1001.5,
        id="e1",
        target=sessions.SDA,
        key=planned.key,
        label=planned.label,
        a="128",
        b="256",
        order=("A", "B"),
        title="t",
        measured="block:sda",
        rule=RULE,
    )
    sessions.written(folder, sessions.started(simulated=table.bench.host.simulated), begun, intent, ended)
    EXPERIMENT.create(folder)
    table.host.files[AHEAD] = now


@pytest.mark.long
@pytest.mark.parametrize(
    ("now", "key", "then", "asks_again"),
    [("256", "r", "128", False), ("256", "k", "256", False), ("256", "escape", "256", True), ("512", "r", "512", True)],
)
async def test_an_experiment_that_was_killed_is_offered_at_the_next_start(
    table: Table, now: str, key: str, then: str, asks_again: bool
) -> None:
    await experiment_cut_short(table, now)
    async with opened(table) as pilot:
        await asked(pilot)
        assert "Read-ahead of block:sda" in text_of(pilot)
        await answer(pilot, key)
        if key == "r":
            told = ("Read-ahead of block:sda is 128 KiB again", "Another program changed it.")
            await until(pilot, lambda: any(words in notices(pilot) for words in told))
    assert table.host.files[AHEAD] == then
    mark = table.bench.paths.sessions / SESSION / "experiment.active"
    assert mark.exists() is asks_again


async def changed(pilot: Pilot[int]) -> None:
    """Read-ahead of sda is 256, and somebody wants to leave."""
    await stage(pilot)
    await apply(pilot)
    await pilot.press("q")
    await asked(pilot)


@pytest.mark.long
async def test_changes_in_force_are_listed(table: Table) -> None:
    async with opened(table) as pilot:
        await changed(pilot)
        assert "Read-ahead of block:sda: 128 KiB -> 256 KiB" in text_of(pilot)


@pytest.mark.parametrize(("key", "value", "leaves"), [("k", "256", True), ("r", "128", True), ("escape", "256", False)])
async def test_keep_restore_or_stay(table: Table, key: str, value: str, leaves: bool) -> None:
    async with opened(table) as pilot:
        await changed(pilot)
        await pilot.press(key)
        if leaves:
            await left(pilot)
        assert (table.host.files[AHEAD], pilot.app._exit) == (value, leaves)


@pytest.mark.long
async def test_what_cannot_be_restored_keeps_the_workbench_open(table: Table) -> None:
    async with opened(table) as pilot:
        await changed(pilot)
        table.host.files[AHEAD] = "777"
        await pilot.press("r")
        await until(pilot, lambda: "was not restored" in notices(pilot))
        assert not pilot.app._exit


@pytest.mark.long
async def test_a_job_is_stopped_before_settings_are_restored(table: Table) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        await apply(pilot)
        await pilot.press("2")
        await start(pilot, table)
        await pilot.press("q")
        await answer(pilot, "s")
        await asked(pilot)
        assert not table.bench.jobs.running


@pytest.mark.long
async def test_the_question_about_a_job_goes_when_the_job_has_ended(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        await start(pilot, table, samples=8)
        await pilot.press("q")
        await asked(pilot)
        table.load.finish()
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await until(pilot, lambda: "The job has ended in the meantime" in text_of(pilot))
        assert not pilot.app._exit


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of another process, which put its intent on disk and was killed."""
    folder = tmp_path_factory.mktemp("crashed")
    program = """
import sys
from pathlib import Path
from app.core.session.journal import Journal
from backends.change import Change, ChangeStep
from backends.identity import Identity
from backends.model import Target
from backends.settings import Persistence
path = "/sys/block/sda/queue/read_ahead_kb"
Journal(Path(sys.argv[1]) / "journal").write_intent("c1", Path(sys.argv[1]) / "sessions" / "old", Change(
    target=Target(backend="block", address="sda"), key="read_ahead_kb", label="Read-ahead", before="128",
    after="256", writes=(ChangeStep(path=path, text="256"),), undo=(ChangeStep(path=path, text="128"),),
    identity=Identity(name="sda", model="ST4000NM0035", size_bytes=4 << 40, devno="8:0", diskseq="9"),
    persistence=Persistence.STORED))
"""
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, cwd=root, env=os.environ)
    return folder / "journal"


async def test_after_a_crash_the_next_start_says_what_was_under_way(
    table: Table, tmp_path: Path, crashed: Path
) -> None:
    shutil.copytree(crashed, tmp_path / "journal")
    async with opened(table) as pilot:
        await asked(pilot)
        words = " ".join(text_of(pilot).replace("│", " ").split())
        assert "Read-ahead of block:sda" in words


@pytest.mark.long
@pytest.mark.parametrize(("key", "value", "left"), [("r", "128", 0), ("k", "256", 0), ("escape", "256", 1)])
async def test_restore_keep_or_later(
    table: Table, tmp_path: Path, crashed: Path, key: str, value: str, left: int
) -> None:
    shutil.copytree(crashed, tmp_path / "journal")
    table.host.files[AHEAD] = "256"
    async with opened(table) as pilot:
        await asked(pilot)
        await pilot.press(key)
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await pilot.app.workers.wait_for_complete()
        assert (table.host.files[AHEAD], len(table.bench.changes.journal.unresolved())) == (value, left)


async def test_a_value_of_somebody_elses_is_not_clobbered_after_a_crash(
    table: Table, tmp_path: Path, crashed: Path
) -> None:
    shutil.copytree(crashed, tmp_path / "journal")
    table.host.files[AHEAD] = "777"
    async with opened(table) as pilot:
        await asked(pilot)
        await pilot.press("r")
        await until(pilot, lambda: "neither the old nor the new value" in notices(pilot))
        assert table.host.files[AHEAD] == "777"


async def test_a_session_that_another_program_writes_is_not_written(table: Table, tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    other = SessionLog(tmp_path / "sessions" / SESSION)
    try:
        async with opened(table) as pilot:
            assert ("NOT RECORDED" in text_of(pilot), "Another raidbench" in notices(pilot)) == (True, True)
    finally:
        other.close()


async def test_without_a_record_nothing_is_changed(table: Table, tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file where a folder should be")
    async with opened(table) as pilot:
        await stage(pilot)
        await pilot.press("a")
        await answer(pilot, "enter")
        await until(pilot, lambda: "Not applied" in notices(pilot))
        assert table.host.written == []


@pytest.mark.long
async def test_a_session_is_gone_on_with(table: Table, tmp_path: Path) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        await apply(pilot)
    table.bench.close()
    again = set_table(tmp_path, table.host)
    async with opened(again) as pilot:
        assert [change.id for change in app_of(pilot).workbench.changes.undoable()] == ["c1"]


async def test_what_the_screen_showed_is_what_is_on_disk(table: Table, tmp_path: Path) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        await apply(pilot)
        shown = app_of(pilot).session
    table.bench.close()
    kept = load(tmp_path / "sessions" / SESSION).session
    first, second = ([(encode(one.intent), one.end, one.undone_by) for one in each.changes] for each in (shown, kept))
    assert first == second != []


async def leave_with(
    table: Table, monkeypatch: pytest.MonkeyPatch, news: Callable[[WorkbenchApp, WorkbenchScreen], object]
) -> None:
    """Leave while a worker has something to show, at every moment until no screen is left, and once more then."""
    async with opened(table) as pilot:
        app, screen = app_of(pilot), screen_of(pilot)
        close = app._close_all

        async def tell() -> None:
            while app.screen_stack:
                news(app, screen)
                await asyncio.sleep(0)
            news(app, screen)

        async def closing() -> None:
            telling = app.run_worker(tell())
            await close()
            with contextlib.suppress(WorkerFailed):
                await telling.wait()

        monkeypatch.setattr(app, "_close_all", closing)
    assert app.crash is None


async def test_news_on_the_way_out_are_for_nobody(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def news(app: WorkbenchApp, screen: WorkbenchScreen) -> None:
        screen.on_screen_resume()
        app.refresh_screen()
        app.show_background("sweep")
        app.notify("late")
        app.screen.set_focus(None)
        screen.query_one(DeviceList)

    await leave_with(table, monkeypatch, news)


async def test_what_breaks_on_the_way_out_is_still_told(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(app: WorkbenchApp, screen: WorkbenchScreen) -> None:
        raise ZeroDivisionError

    with pytest.raises(WorkerFailed):
        await leave_with(table, monkeypatch, broken)
